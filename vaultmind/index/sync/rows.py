"""One file's rows in the database: the difference between what is there and what should be."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vaultmind import tokens
from vaultmind.index.chunking.draft import Chunked
from vaultmind.index.chunking.files import Place
from vaultmind.index.embedders.embed import embedded_text
from vaultmind.index.fulltext.text_index import TextIndex
from vaultmind.index.relations.ties import drop_ties, store_ties
from vaultmind.index.storage.database import CHUNK_COLUMNS, NOT_EMBEDDED, WAITING
from vaultmind.index.storage.migrations import full_text
from vaultmind.index.vectors.store import collection_of
from vaultmind.types import Chunk
from vaultmind.vault.files import FileStat, FileText

MIN_MESSAGE_TOKENS = 10
"""Shorter messages ("ok, thanks") are found by their words alone."""
_HASH_BYTES = 16
_NOWHERE = FileStat(0, 0, 0)

_COLUMNS = f"{CHUNK_COLUMNS}, ordinal, block, text_hash"
_INSERT = f"INSERT INTO chunks ({_COLUMNS}, embedded) VALUES ({', '.join('?' * 20)})"
_UPDATE = (
    f"UPDATE chunks SET ({_COLUMNS}) = ({', '.join('?' * 19)}), "
    "embedded = CASE WHEN text_hash = ? THEN embedded ELSE ? END WHERE rowid = ?"
)
_SAVE_FILE = f"INSERT OR REPLACE INTO files VALUES ({', '.join('?' * 13)})"
_SEARCHED = (5, 6, 9, 10)
"""Of CHUNK_COLUMNS those that full text is made of: title, text, lang, tags."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A file that was read and cut into chunks. Not cut: its bytes are those of the index."""

    path: str
    place: Place
    file: FileText
    chunked: Chunked | None

    @property
    def stat(self) -> FileStat | None:
        """Return the file's stamp when it was read."""
        return self.file.stat


@dataclass(frozen=True, slots=True)
class Gone:
    """A path at which there is nothing to index (any more)."""

    path: str
    excluded: bool = False
    """Whether it is not indexed whatever lies there."""
    stat: FileStat | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that is there and cannot be taken: it leaves the index and stays a fault."""

    path: str
    place: Place
    reason: str
    stat: FileStat | None


Prepared = Taken | Gone | Unreadable


def store(
    connection: sqlite3.Connection,
    text: TextIndex,
    prepared: Prepared,
    now: str,
    min_message_tokens: int = MIN_MESSAGE_TOKENS,
) -> None:
    """Bring one file's rows to what was prepared. Inside the caller's transaction."""
    text.database.touch(prepared.path)
    if isinstance(prepared, Taken) and prepared.chunked is None:
        _stamp(connection, prepared.path, prepared.file.stat)
        return
    if isinstance(prepared, Taken) and prepared.chunked is not None:
        chunks = prepared.chunked.chunks
        _store_chunks(connection, text, prepared.path, chunks, min_message_tokens)
        store_ties(connection, prepared.path, chunks)
        _save_file(connection, prepared, prepared.chunked, now)
        return
    drop(connection, text, prepared.path)
    if isinstance(prepared, Unreadable):
        stat = prepared.stat or _NOWHERE
        place, reason = prepared.place, prepared.reason
        stamp = (stat.mtime_ns, stat.ctime_ns, stat.size)
        values = (prepared.path, place.kind, place.agent, *stamp, "", "", "", "", now)
        connection.execute(_SAVE_FILE, (*values, reason, "skipped"))


def drop(connection: sqlite3.Connection, text: TextIndex, path: str) -> None:
    """Remove all rows of a file. Inside the caller's transaction."""
    rows = connection.execute(
        "SELECT id, rowid, kind, agent, embedded FROM chunks WHERE path = ?", (path,)
    ).fetchall()
    _remove(connection, text, rows)
    drop_ties(connection, path)
    connection.execute("DELETE FROM files WHERE path = ?", (path,))


def drop_all(connection: sqlite3.Connection) -> None:
    """Remove all rows of all files. Inside the caller's transaction."""
    connection.execute(
        "INSERT OR IGNORE INTO vector_deletes (id, collection) "
        "SELECT id, iif(agent = '', kind, kind || '-' || agent) FROM chunks WHERE embedded != ?",
        (NOT_EMBEDDED,),
    )
    connection.execute("DROP TABLE fts")
    full_text(connection)
    connection.execute("DELETE FROM chunks")
    connection.execute("DELETE FROM ties")
    connection.execute("DELETE FROM files")


def text_hash(chunk: Chunk) -> bytes:
    """Return the key under which a chunk's vector is cached."""
    text = embedded_text(chunk.title, chunk.text)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=_HASH_BYTES).digest()


def _store_chunks(
    connection: sqlite3.Connection, text: TextIndex, path: str, chunks: Sequence[Chunk], least: int
) -> None:
    found = connection.execute(
        f"SELECT {_COLUMNS}, embedded, rowid FROM chunks WHERE path = ?", (path,)
    )
    held = {row[0]: row for row in found}
    wanted = {chunk.id: (chunk, _values(n, chunk)) for n, chunk in enumerate(chunks)}
    removed = [row for name, row in held.items() if name not in wanted]
    _remove(connection, text, [(row[0], row[20], row[2], row[3], row[19]) for row in removed])
    added = []
    for name, (chunk, values) in wanted.items():
        row = held.get(name)
        if row is None:
            added.append((_insert(connection, values, chunk, least), chunk))
        elif row[:19] != values:
            connection.execute(_UPDATE, (*values, values[18], _embedded(chunk, least), row[20]))
            if any(row[place] != values[place] for place in _SEARCHED):
                text.remove([row[20]])
                added.append((row[20], chunk))
    text.add(added)


def _stamp(connection: sqlite3.Connection, path: str, stat: FileStat) -> None:
    """Note a new stamp of a file whose content is what is indexed."""
    connection.execute(
        "UPDATE files SET mtime_ns = ?, ctime_ns = ?, size = ? WHERE path = ?",
        (stat.mtime_ns, stat.ctime_ns, stat.size, path),
    )


def _insert(
    connection: sqlite3.Connection, values: tuple[object, ...], chunk: Chunk, least: int
) -> int:
    cursor = connection.execute(_INSERT, (*values, _embedded(chunk, least)))
    collection = collection_of(chunk.kind, chunk.agent)
    connection.execute(
        "DELETE FROM vector_deletes WHERE id = ? AND collection = ?", (chunk.id, collection)
    )
    return int(cursor.lastrowid or 0)


def _remove(
    connection: sqlite3.Connection, text: TextIndex, rows: Iterable[tuple[str, int, str, str, int]]
) -> None:
    """Delete chunks given as (id, rowid, kind, agent, embedded), and order their vectors' end."""
    gone = list(rows)
    if not gone:
        return
    text.remove([row[1] for row in gone])
    connection.executemany("DELETE FROM chunks WHERE rowid = ?", [(row[1],) for row in gone])
    connection.executemany(
        "INSERT OR IGNORE INTO vector_deletes (id, collection) VALUES (?, ?)",
        [(row[0], collection_of(row[2], row[3])) for row in gone if row[4] != NOT_EMBEDDED],
    )


def _values(ordinal: int, chunk: Chunk) -> tuple[object, ...]:
    """Return a chunk's values in the order of _COLUMNS."""
    tags = f" {' '.join(chunk.tags)} " if chunk.tags else ""
    block = chunk.anchor[2:] if chunk.anchor.startswith("#^") else ""
    head = (chunk.id, chunk.path, chunk.kind, chunk.agent, chunk.anchor, chunk.title, chunk.text)
    body = (chunk.start, chunk.end, chunk.lang, tags, chunk.time, chunk.session, chunk.message)
    return (*head, *body, chunk.speaker, chunk.role, ordinal, block, text_hash(chunk))


def _embedded(chunk: Chunk, least: int) -> int:
    """Return whether a new chunk waits for a vector: tools' and very short messages do not."""
    if chunk.kind != "message":
        return WAITING
    is_said = chunk.role in ("user", "assistant")
    return WAITING if is_said and tokens.count(chunk.text) >= least else NOT_EMBEDDED


def _save_file(connection: sqlite3.Connection, taken: Taken, chunked: Chunked, now: str) -> None:
    stat, faults = taken.file.stat, chunked.faults
    connection.execute(
        _SAVE_FILE,
        (
            taken.path,
            taken.place.kind,
            taken.place.agent,
            stat.mtime_ns,
            stat.ctime_ns,
            stat.size,
            taken.file.sha,
            chunked.title,
            chunked.lang,
            chunked.time,
            now,
            "; ".join(fault.reason for fault in faults),
            "partial" if faults else "",
        ),
    )
