"""Rows of the index for what was found: chunks, and the stamps of their files."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence

from vaultmind.errors import VaultMindError
from vaultmind.index.storage.database import CHUNK_COLUMNS, chunk_from
from vaultmind.index.storage.where import Where
from vaultmind.types import Chunk, Hit
from vaultmind.vault.files import FileStat, VaultReader

BESIDE = 4
"""Chunks before and after one that are looked at with it."""
_BATCH = 400
_COLUMNS = ", ".join(f"c.{name.strip()}" for name in CHUNK_COLUMNS.split(","))
_CHUNKS = f"""SELECT c.rowid, {_COLUMNS} FROM json_each(?) s
    CROSS JOIN chunks c ON c.rowid = s.value"""
"""One statement for any number of them: each is prepared once."""


_PASSING = """SELECT c.rowid FROM json_each(?) s CROSS JOIN chunks c ON c.rowid = s.value
    WHERE {condition}"""
"""In this order: SQLite would rather go through all chunks of a kind."""


def passing(connection: sqlite3.Connection, rowids: Sequence[int], where: Where) -> set[int]:
    """Return those of some chunks that pass a filter."""
    if not rowids or where == Where():
        return set(rowids)
    condition, values = where.sql()
    rows = connection.execute(_PASSING.format(condition=condition), (json.dumps(rowids), *values))
    return {row[0] for row in rows}


def chunks_of(connection: sqlite3.Connection, rowids: Sequence[int]) -> dict[int, Chunk]:
    """Return the chunks that have these rowids."""
    if not rowids:
        return {}
    rows = connection.execute(_CHUNKS, (json.dumps(rowids),))
    return {row[0]: chunk_from(row[1:]) for row in rows}


def chunks_beside(connection: sqlite3.Connection, chunk: Chunk) -> list[Chunk]:
    """Return the chunks around one in its file, in order, itself among them."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM chunks o JOIN chunks c ON c.path = o.path"
        " AND c.ordinal BETWEEN o.ordinal - ? AND o.ordinal + ?"
        " WHERE o.id = ? ORDER BY c.ordinal",
        (BESIDE, BESIDE, chunk.id),
    )
    return [chunk_from(row) for row in rows]


def hit_of(chunk: Chunk, title: str, text: str, score: float) -> Hit:
    """Return a chunk as a hit, with what is shown of it and how well it matches."""
    return Hit(
        id=chunk.id,
        path=chunk.path,
        anchor=chunk.anchor,
        kind=chunk.kind,
        agent=chunk.agent,
        title=title,
        text=text,
        score=score,
        lang=chunk.lang,
        time=chunk.time,
        session=chunk.session,
        message=chunk.message,
        speaker=chunk.speaker,
    )


def rows_of(
    connection: sqlite3.Connection, ids: Sequence[str], where: Where
) -> dict[str, tuple[int, str]]:
    """Return (rowid, language) of each chunk with one of these ids that passes a filter."""
    condition, values = where.sql()
    found: dict[str, tuple[int, str]] = {}
    for at in range(0, len(ids), _BATCH):
        some = ids[at : at + _BATCH]
        rows = connection.execute(
            f"SELECT c.id, c.rowid, c.lang FROM chunks c WHERE c.id IN ({_marks(some)})"
            f" AND {condition}",
            (*some, *values),
        )
        found.update((row[0], (row[1], row[2])) for row in rows)
    return found


def stamps_of(connection: sqlite3.Connection, paths: Collection[str]) -> dict[str, FileStat]:
    """Return the stamps that files had when they were indexed."""
    statement = f"SELECT path, mtime_ns, ctime_ns, size FROM files WHERE path IN ({_marks(paths)})"
    return {row[0]: FileStat(*row[1:]) for row in connection.execute(statement, tuple(paths))}


def changed_on_disk(
    connection: sqlite3.Connection, reader: VaultReader, paths: Collection[str]
) -> set[str]:
    """Return those files that are not on disk as they were indexed."""
    indexed = stamps_of(connection, paths)
    changed = set()
    for path in paths:
        try:
            if reader.stat(path) == indexed.get(path, False):
                continue
        except VaultMindError:
            pass
        changed.add(path)
    return changed


def chunk_by_id(connection: sqlite3.Connection, chunk_id: str) -> Chunk | None:
    """Return the chunk of a hit's id, if it is still there."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM chunks c WHERE c.id = ?", (chunk_id,)
    ).fetchone()
    return chunk_from(row) if row else None


def _marks(items: Collection[object]) -> str:
    return ", ".join("?" * len(items))
