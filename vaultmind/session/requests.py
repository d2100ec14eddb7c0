"""Remember, replace, forget: the gate decides; what it will write, it has evidence of first.

The words asked with are logged just before the write, marked as a request: they are evidence, no
part of the conversation, and never recalled. A request that comes to nothing leaves none. The
words of a request to forget say once more what is to be forgotten: they are hidden as well.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from vaultmind.errors import BadArgument, VaultMindError
from vaultmind.index.when import with_dates
from vaultmind.language.reader import intents_of
from vaultmind.memory.gate import Gate
from vaultmind.ports import Clock
from vaultmind.session.files import read_session
from vaultmind.session.log import SessionLog
from vaultmind.session.unkept import BEYOND_DOUBT, unkept
from vaultmind.types import Caller, MemoryWrite, Message, MessageRef, Outcome
from vaultmind.vault.files import VaultReader

log = logging.getLogger(__name__)


class Requests:
    """What a person asks of a memory, through an agent or the command line."""

    def __init__(self, gate: Gate, sessions: SessionLog, clock: Clock) -> None:
        self._gate, self._clock = gate, clock
        self.sessions = sessions

    def ask(
        self,
        write: MemoryWrite,
        words: str = "",
        message_id: str = "",
        said: MessageRef | None = None,
    ) -> Outcome:
        """Make a change, with what its relative dates mean.

        `words`: what the person said, else the text; `said`: the message that asks for it, where it
        is written down already.
        """
        if not write.text.strip():
            raise BadArgument("text", write.text, "one fact, in words")
        evidence = [said] if said else []

        def witness() -> MessageRef | None:
            if not evidence and (ref := self._logged(write, words.strip(), message_id)):
                evidence.append(ref)
            if evidence and write.op == "forget":
                self._gate.hide_request(evidence[0], write.caller)
            return evidence[0] if evidence else None

        if write.op != "forget":
            write = replace(write, text=with_dates(write.text, self._clock()))
        return self._gate.write(write, witness)

    def _logged(self, write: MemoryWrite, words: str, message_id: str) -> MessageRef | None:
        """Log the words in the session of who was spoken to; not for an agent kept read-only.

        Without the person's words it is the agent's own wording, and logged as the agent's.
        """
        caller, is_person = write.caller, write.caller.kind == "person"
        spoken_to = write.agent if is_person else caller.agent
        if not self._gate.keeps_records(spoken_to):
            return None
        message = Message(
            "user" if words or is_person else "assistant",
            words or write.text,
            "",
            id=message_id,
            how="cli" if is_person else "reported",
            asked=write.op,
        )
        return self.sessions.log(
            spoken_to, message, caller=caller, conversation=caller.conversation
        )


class Unkept:
    """Hides what a person asked in so many words not to keep, once it is written down."""

    def __init__(self, reader: VaultReader, hide: Callable[[MessageRef, Caller], object]) -> None:
        """`hide` hides a message from every recall."""
        self._reader = reader
        self._hide = hide
        self._asked: set[tuple[str, str]] = set()
        """Sessions in which something was asked not to be kept: what follows may repeat it."""

    def look(self, agent: str, session: str, messages: Sequence[Message]) -> None:
        """Hide what the new messages of a session ask not to keep, and what repeats it.

        Only a wish that is beyond doubt counts here.
        """
        own = [one.text.strip() for one in messages if one.role == "user" and not one.asked]
        asked = (one for one in intents_of(own) if one.intent == "skip")
        if any(one.confidence >= BEYOND_DOUBT for one in asked):
            self._asked.add((agent, session))
        if (agent, session) not in self._asked:
            return
        try:
            transcript = read_session(self._reader, agent, session)[1]
            said = [placed.message for placed in transcript.messages]
            for at in unkept(said, least=BEYOND_DOUBT):
                if not said[at].asked:
                    ref = MessageRef(agent, session, said[at].block, said[at].id)
                    self._hide(ref, Caller("agent", agent))
        except VaultMindError as error:  # what was said is written down; it stays out of facts
            log.warning("what %s asks not to keep was not hidden: %s", session, error)
