"""What was captured of a conversation before: a transcript that is read from its start again
brings back nothing that the person has deleted since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from vaultmind.errors import NotFound, UnreadableNote
from vaultmind.session.records.shelf import Head
from vaultmind.session.records.store import time_or_none
from vaultmind.types import Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.transcript import parse_session

OUT_OF_ORDER = timedelta(minutes=2)
"""A host may write a line so much later than the time that it bears."""


@dataclass(frozen=True, slots=True)
class Before:
    """The messages of a conversation that stand in its sessions."""

    ids: frozenset[str] = frozenset()
    newest: datetime | None = None
    """When the last of those was said that were captured; None where none was."""
    coming: frozenset[str] = frozenset()
    """Those that were captured and were not met yet while the transcript is read again."""

    def without_deleted(self, messages: Sequence[Message]) -> tuple[list[Message], Before]:
        """Return the messages but those that were captured once and are gone, and what is left.

        A transcript is read in order: what is older than something captured, and stands before
        it, was read before. What stands after all of it is new whatever its time: a clock that
        was ahead may have been set back.
        """
        if self.newest is None:
            return list(messages), self
        since = self.newest - OUT_OF_ORDER
        coming, kept = set(self.coming), list[Message]()
        for one in messages:
            coming.discard(one.id)
            if one.id in self.ids or not coming or not _is_before(one, since):
                kept.append(one)
        return kept, replace(self, coming=frozenset(coming))


def captured_before(
    reader: VaultReader, agent: str, conversation: str, heads: Iterable[Head]
) -> Before:
    """Return what stands of a conversation in an agent's sessions; only its own are read."""
    ids: set[str] = set()
    captured: set[str] = set()
    newest: datetime | None = None
    for head in heads:
        if not head.is_of(conversation):
            continue
        try:
            text = reader.read(reader.paths.session(agent, head.id)).text
        except (NotFound, UnreadableNote):
            continue
        for message in (placed.message for placed in parse_session(text).messages):
            ids.add(message.id)
            if message.how == "captured":
                captured.add(message.id)
                newest = max(filter(None, (newest, time_or_none(message.time))), default=None)
    return Before(frozenset(ids - {""}), newest, frozenset(captured - {""}))


def _is_before(message: Message, moment: datetime) -> bool:
    time = time_or_none(message.time)
    return time is not None and time < moment
