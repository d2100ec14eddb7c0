"""Remember, replace, forget: the gate decides; what it will write, it has evidence of first.

The words asked with are logged just before the write, marked as a request: they are evidence, no
part of the conversation, and never recalled. A request that comes to nothing leaves none. The
words of a request to forget say once more what is to be forgotten: they are hidden as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from vaultmind.errors import BadArgument
from vaultmind.index.when import with_dates
from vaultmind.index.words.clauses import facts_in
from vaultmind.ports import Clock
from vaultmind.session.log import SessionLog
from vaultmind.types import Caller, How, MemoryWrite, Message, MessageRef, Outcome, Role, Section


class Memory(Protocol):
    """The part of the gate that changes facts."""

    def write(self, write: MemoryWrite, witness: Callable[[], MessageRef | None]) -> Outcome:
        """Change one agent's facts, or say why not; `witness` logs the evidence first."""
        ...

    def hide_request(self, ref: MessageRef, caller: Caller) -> None:
        """Hide the words of a request to forget, which say what was forgotten once more."""
        ...

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent's conversations are written down."""
        ...


class Requests:
    """What a person asks of a memory, through an agent or the command line."""

    def __init__(self, gate: Memory, sessions: SessionLog, clock: Clock) -> None:
        self._gate = gate
        self._sessions = sessions
        self._clock = clock

    def remember(
        self,
        caller: Caller,
        target: str,
        text: str,
        *,
        section: Section | None = None,
        words: str = "",
        message_id: str = "",
    ) -> Outcome:
        """Add a fact to the target's brain. `words`: what the person said, else the text."""
        write = MemoryWrite("remember", target, caller, text, section=section)
        return self.ask(write, words, message_id)

    def replace(  # noqa: PLR0913 - the arguments of the operation, each named
        self,
        caller: Caller,
        target: str,
        text: str,
        old: str,
        *,
        section: Section | None = None,
        words: str = "",
        message_id: str = "",
    ) -> Outcome:
        """Put a fact in the place of an old one, which is named by its words or block id."""
        write = MemoryWrite("replace", target, caller, text, old=old, section=section)
        return self.ask(write, words, message_id)

    def forget(
        self, caller: Caller, target: str, text: str, *, words: str = "", message_id: str = ""
    ) -> Outcome:
        """Forget a fact, named by its words or block id, and every message that said it."""
        return self.ask(MemoryWrite("forget", target, caller, text), words, message_id)

    def ask(self, write: MemoryWrite, words: str = "", message_id: str = "") -> Outcome:
        """Make a change; of several facts in one request, the first that changes something."""
        outcomes = self.ask_each(write, words, message_id)
        first = next((one for one in outcomes if one.outcome != "unchanged"), outcomes[0])
        return replace(first, message="\n".join(one.message for one in outcomes))

    def ask_each(
        self,
        write: MemoryWrite,
        words: str = "",
        message_id: str = "",
        said: MessageRef | None = None,
    ) -> tuple[Outcome, ...]:
        """Make a change for each fact that is named, with what its relative dates mean.

        `said`: the message that asks for it, where it is written down already.
        """
        if not write.text.strip():
            raise BadArgument("text", write.text, "one fact, in words")
        logged = [said] if said else []

        def witness() -> MessageRef | None:
            if not logged and (ref := self._logged(write, words.strip(), message_id)):
                logged.append(ref)
            evidence = logged[0] if logged else None
            if evidence is not None and write.op == "forget":
                self._gate.hide_request(evidence, write.caller)
            return evidence

        texts = facts_in(write.text) if write.op == "remember" else (write.text,)
        if write.op != "forget":
            texts = tuple(with_dates(text, self._clock()) for text in texts)
        return tuple(self._gate.write(replace(write, text=text), witness) for text in texts)

    def session(self, caller: Caller, agent: str) -> str:
        """Return the open session that a caller speaks in; empty where none tells which."""
        talk = caller.conversation
        return self._sessions.open_session(agent, talk) if talk else ""

    def _logged(self, write: MemoryWrite, words: str, message_id: str) -> MessageRef | None:
        """Log the words in the session of who was spoken to; not for an agent kept read-only.

        Without the person's words it is the agent's own wording, and logged as the agent's.
        """
        caller = write.caller
        spoken_to = caller.agent if caller.kind == "agent" else write.agent
        if not self._gate.keeps_records(spoken_to):
            return None
        how: How = "cli" if caller.kind == "person" else "reported"
        role: Role = "user" if words or caller.kind == "person" else "assistant"
        message = Message(role, words or write.text, "", id=message_id, how=how, asked=write.op)
        talk = caller.conversation
        return self._sessions.log(spoken_to, message, caller=caller, conversation=talk)
