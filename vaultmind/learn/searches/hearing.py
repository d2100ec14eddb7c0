"""How it comes to be heard what searches were worth: put together before the gate is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from vaultmind.learn.searches.feedback import Keeping, SearchFeedback, Where
from vaultmind.learn.searches.recent import Recent
from vaultmind.learn.searches.verdicts import FEEDBACK, Queries
from vaultmind.ports import Clock
from vaultmind.session.capture.capture import Log
from vaultmind.session.records.adding import Logged
from vaultmind.session.records.shelf import Head
from vaultmind.types import Caller, Message
from vaultmind.vault.files import VaultReader


class Cites(Protocol):
    """What hears what assistants say."""

    def __call__(self, caller: Caller, text: str, time: str = "") -> None:
        """Take it in."""
        ...


class Hearing:
    """What forgetting and erasing must know of feedback, and then what takes it down."""

    erasable = FEEDBACK

    def __init__(self, reader: VaultReader) -> None:
        self._reader = reader
        self._recent = Recent()
        self.kind = Queries(reader, self._recent)

    def feedback(
        self,
        gate: Keeping,
        device: str,
        agent_of: Callable[[Caller], str],
        days: float,
        clock: Clock,
    ) -> SearchFeedback:
        """Return what hears of searches and writes down what they were worth."""
        where = Where(self._reader, device, agent_of, days)
        return SearchFeedback(gate, where, clock, self._recent)


@dataclass(frozen=True, slots=True)
class Citing:
    """Tells what captured assistants said, besides writing it down. Implements `capture.Log`."""

    log: Log
    cites: Cites

    def log_many(
        self,
        agent: str,
        messages: Sequence[Message],
        *,
        caller: Caller | None = None,
        conversation: str = "",
    ) -> Logged:
        """Append messages to a conversation's session, and hear what they cite."""
        logged = self.log.log_many(agent, messages, caller=caller, conversation=conversation)
        hear(self.cites, agent, messages)
        return logged

    def new_segment(
        self, agent: str, *, conversation: str = "", caller: Caller | None = None
    ) -> Logged:
        """Begin a segment in a conversation's session."""
        return self.log.new_segment(agent, conversation=conversation, caller=caller)

    def end(self, agent: str, *, conversation: str = "", caller: Caller | None = None) -> str:
        """End a conversation's open session; return its id."""
        return self.log.end(agent, conversation=conversation, caller=caller)

    def heads(self, agent: str) -> tuple[Head, ...]:
        """Return what the front matters of an agent's sessions say."""
        return self.log.heads(agent)


def hear(cites: Cites, agent: str, messages: Sequence[Message]) -> None:
    """Tell what the assistant among some messages said, with when."""
    caller = Caller("agent", agent)
    for message in messages:
        if message.role == "assistant" and message.text:
            cites(caller, message.text, message.time)
