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

OF_THE_NOTE = (
    ArithmeticError, LookupError, TypeError, ValueError, RecursionError, sqlite3.DataError,
    sqlite3.IntegrityError, sqlite3.InterfaceError,
)  # fmt: skip
"""What is wrong with what a note or its offers hold: whatever that is, the others are taken up."""

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
        return None, left_out(name, stamp, str(error))
    except OF_THE_NOTE as error:
        return None, left_out(name, stamp, f"It holds what cannot be kept: {error}")


def left_out(name: str, stamp: str, fault: str) -> writing.Kept:
    """Return what is kept of a note that is left out, and tell the log."""
    log.warning("the episode %s is left out: %s", name, fault)
    return writing.Kept(name, stamp, fault=fault.encode("utf-8", "replace").decode())


def _put_all(
    connection: sqlite3.Connection, rows: Sequence[tuple[Projected | None, writing.Kept]]
) -> None:
    for row, kept in rows:
        put_or_drop(connection, row, kept)


def put_or_drop(connection: sqlite3.Connection, row: Projected | None, kept: writing.Kept) -> None:
    """Have the rows of an episode, or none of it at all where what it holds cannot be kept.

    Nothing of what it said before stays: words may have been erased from it.
    """
    if row is not None:
        connection.execute("SAVEPOINT one_note")
        try:
            writing.put(connection, row, kept)
        except OF_THE_NOTE as error:
            connection.execute("ROLLBACK TO one_note")
            kept = left_out(kept.name, kept.stamp, f"It holds what cannot be kept: {error}")
            row = None
        connection.execute("RELEASE one_note")
    if row is None:
        writing.drop(connection, kept.name)
        writing.keep(connection, kept)


def _drop_all(connection: sqlite3.Connection, names: Sequence[str]) -> None:
    for name in names:
        writing.drop(connection, name)


def _batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for at in range(0, len(names), BATCH):
        yield names[at : at + BATCH]
