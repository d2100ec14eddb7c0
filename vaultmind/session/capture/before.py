"""What was captured of a conversation before: a transcript that is read from its start again
brings back nothing that the person has deleted since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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

    def without_deleted(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages but those that were captured once and are gone.

        A transcript is read in order: what is older than something captured was read before.
        """
        if self.newest is None:
            return list(messages)
        since = self.newest - OUT_OF_ORDER
        return [one for one in messages if one.id in self.ids or not _is_before(one, since)]


def captured_before(
    reader: VaultReader, agent: str, conversation: str, heads: Iterable[Head]
) -> Before:
    """Return what stands of a conversation in an agent's sessions; only its own are read."""
    ids: set[str] = set()
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
            time = time_or_none(message.time) if message.how == "captured" else None
            newest = max(filter(None, (newest, time)), default=None)
    return Before(frozenset(ids - {""}), newest)


def _is_before(message: Message, moment: datetime) -> bool:
    time = time_or_none(message.time)
    return time is not None and time < moment
