"""Bringing the tables up to date with the notes: by their stamps first, then by their hashes."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Protocol

from vaultmind.episodes.notes.files import Listed
from vaultmind.episodes.tables import writing
from vaultmind.episodes.tables.database import Database
from vaultmind.episodes.tables.projecting import Projected, projected
from vaultmind.episodes.types import Episode, Offer
from vaultmind.errors import VaultMindError
from vaultmind.vault.files import FileStat, FileText

BATCH = 50
"""Episodes of one transaction: others who write wait no longer than that takes."""

log = logging.getLogger(__name__)


class Notes(Protocol):
    """Where episodes lie: `EpisodeFiles`."""

    def listed(self) -> Sequence[Listed]:
        """Return the notes there are; none of them is opened."""
        ...

    def opened(self, name: str) -> tuple[Episode, FileText]:
        """Return an episode and its file as it stands. Raises NotFound and UnreadableNote."""
        ...

    def offers(self, name: str) -> Sequence[Offer]:
        """Return what plans offered in an episode; nothing where nobody kept it."""
        ...


def stamp_of(*stats: FileStat | None) -> str:
    """Return what differs once a note, or what was offered in it, may have changed."""
    return " ".join(f"{one.mtime_ns}:{one.ctime_ns}:{one.size}" if one else "-" for one in stats)


def follow(database: Database, notes: Notes) -> int:
    """Take what changed, drop what is gone; return how many episodes that were."""
    stamps = {one.name: stamp_of(one.stat, getattr(one, "offers", None)) for one in notes.listed()}
    known = database.read(_known)
    changed = [name for name, stamp in stamps.items() if known.get(name) != writing.stamped(stamp)]
    gone = [name for name in known if name not in stamps]
    for batch in _batches(gone):
        database.write(lambda it, names=batch: _drop_all(it, names))  # type: ignore[misc]
    for batch in _batches(changed):
        rows = [_read(notes, name, stamps[name]) for name in batch]
        database.write(lambda it, rows=rows: _put_all(it, rows))  # type: ignore[misc]
    return len(changed) + len(gone)


def _known(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT episode, stamp FROM notes").fetchall())


def _read(notes: Notes, name: str, stamp: str) -> tuple[Projected | None, writing.Kept]:
    try:
        episode, file = notes.opened(name)
        kept = writing.Kept(name, stamp, file.sha, episode.flaw)
        return projected(episode, tuple(notes.offers(name))), kept
    except VaultMindError as error:
        log.warning("the episode %s is left out: %s", name, error)
        return None, writing.Kept(name, stamp, fault=str(error))


def _put_all(
    connection: sqlite3.Connection, rows: Sequence[tuple[Projected | None, writing.Kept]]
) -> None:
    for row, kept in rows:
        if row is None:
            writing.drop(connection, kept.name)
            writing.keep(connection, kept)
        else:
            writing.put(connection, row, kept)


def _drop_all(connection: sqlite3.Connection, names: Sequence[str]) -> None:
    for name in names:
        writing.drop(connection, name)


def _batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for at in range(0, len(names), BATCH):
        yield names[at : at + BATCH]
