"""Remember, replace, forget: the gate decides; what it will write, it has evidence of first.

The words asked with are logged just before the write, marked as a request: they are evidence, no
part of the conversation, and never recalled. A request that comes to nothing leaves none. The
words of a request to forget say once more what is to be forgotten: they are hidden as well.
"""

from __future__ import annotations

from dataclasses import replace

from vaultmind.errors import BadArgument
from vaultmind.index.when import with_dates
from vaultmind.memory.gate import Gate
from vaultmind.ports import Clock
from vaultmind.session.log import SessionLog
from vaultmind.types import MemoryWrite, Message, MessageRef, Outcome


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

        def witness() -> MessageRef | None:
            nonlocal said
            said = said or self._logged(write, words.strip(), message_id)
            if said and write.op == "forget":
                self._gate.hide_request(said, write.caller)
            return said

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
