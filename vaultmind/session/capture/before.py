"""What was captured of a conversation before: a transcript that is read from its start again
brings back nothing that the person has deleted since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from vaultmind.errors import NotFound, UnreadableNote
from vaultmind.session.store import parse_time, session_ids
from vaultmind.types import Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.transcript import parse_session

NEWEST = 50
"""Sessions of an agent among which those of a conversation are looked for."""
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


def captured_before(reader: VaultReader, agent: str, conversation: str) -> Before:
    """Return what stands of a conversation in an agent's newest sessions."""
    ids: set[str] = set()
    newest: datetime | None = None
    for session in session_ids(reader.paths, agent)[-NEWEST:]:
        try:
            text = reader.read(reader.paths.session(agent, session)).text
        except (NotFound, UnreadableNote):
            continue
        if conversation not in text:
            continue
        transcript = parse_session(text)
        if transcript.meta.conversation != conversation:
            continue
        for message in (placed.message for placed in transcript.messages):
            ids.add(message.id)
            time = _time(message.time) if message.how == "captured" else None
            newest = max(filter(None, (newest, time)), default=None)
    return Before(frozenset(ids - {""}), newest)


def _is_before(message: Message, moment: datetime) -> bool:
    time = _time(message.time)
    return time is not None and time < moment


def _time(text: str) -> datetime | None:
    try:
        return parse_time(text)
    except ValueError:
        return None
