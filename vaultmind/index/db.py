"""The index database: SQLite in WAL mode, one writer, readers that never wait for it.

It is derived from the vault and the linked folders, and disposable: a database of another version,
or one that was found damaged, is replaced by an empty one at the next opening.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from vaultmind.errors import IndexUnavailable, VaultMindError
from vaultmind.types import Chunk, Hit
from vaultmind.vault.files import FileStat, VaultReader

VERSION = 17
"""Raise it when other things are stored in the same tables: an index of another version, or with
other tables, is made anew."""
NEVER = -1
"""The version of whoever has seen nothing of a journal yet."""
CHUNK_COLUMNS = (
    'id, path, kind, agent, anchor, title, text, start, "end", lang, tags, time, '
    "session, message, speaker, role"
)
"""What `chunk_from` takes, to be selected from `chunks` in this order."""
BESIDE = 4
"""Chunks before and after one that are looked at with it."""
SOME = "IN (SELECT value FROM json_each(?))"
ROOM = "Check that the state folder can be written and the disk has room."
RESTART = "Stop VaultMind (`vaultmind daemon stop`): the next start rebuilds the index."
_SCHEMA = Path(__file__).with_name("schema.sql")
_MADE = VERSION << 16 | crc32(_SCHEMA.read_bytes()) & 0xFFFF
_BUSY_SECONDS = 30.0
_MOST_NOTED = 4_096
"""Writes that a journal remembers; whoever is further behind looks at everything."""
_DAMAGED = {
    *(sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR_READ),
    *(sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS),
}
"""A file that was cut short is no longer to be read, and that is no DatabaseError of Python's."""

log = logging.getLogger(__name__)


class Journal:
    """Which files' rows were written, in order: whoever follows looks at these alone."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.version = 0
        """How much was written so far. To be asked before the rows are read."""
        self._paths: deque[str] = deque(maxlen=_MOST_NOTED)

    def add(self, paths: Collection[str]) -> None:
        """Note files whose rows were written, or taken out, and are committed."""
        with self.lock:
            self._paths.extend(paths)
            self.version += len(paths)

    def everything(self) -> None:
        """Note that any row may be another now."""
        with self.lock:
            self._paths.clear()
            self.version += 1

    def since(self, version: int) -> tuple[int, frozenset[str] | None]:
        """Return the version now, and the files that were written since another one.

        None: everything may have been. To be asked before the rows are read, or a write between
        would be missed.
        """
        with self.lock:
            first = len(self._paths) - (self.version - version)
            return self.version, None if first < 0 else frozenset([*self._paths][first:])


class Database:
    """Opens and guards one database file; what SQLite raises becomes IndexUnavailable.

    `write()` gives the one writing connection inside a transaction and can be nested (the
    inner one joins the outer). `read()` gives a connection with a snapshot of its own; in a
    thread that is writing it gives the writing connection, so that it sees its own changes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = False
        """Whether it can no longer be trusted: it is deleted when it is closed."""
        self.note = ""
        """What a person should know: that it is damaged, or was and is begun anew."""
        self.journal = Journal()
        self._touched: list[str] = []
        self._lock = threading.RLock()
        self._writing_thread = 0
        self._pool: list[sqlite3.Connection] = []
        self._closed = False
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._guarded():
            try:
                self._writer = self._open()
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                self._delete(str(error))
                self._writer = self._open()

    @contextmanager
    def write(self, *touched: str) -> Iterator[sqlite3.Connection]:
        """Give the writing connection; commit at the end, roll back on an error.

        `touched` are the files whose rows become others in it.
        """
        with self._lock, self._guarded():
            self._touched += touched
            if self._writing_thread:
                yield self._writer
                return
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                self._writing_thread = threading.get_ident()
                yield self._writer
                with self.journal.lock:  # nobody sees rows that are not noted
                    self._writer.execute("COMMIT")
                    self.journal.add(self._touched)
            except BaseException:
                with suppress(sqlite3.Error):
                    self._writer.execute("ROLLBACK")
                raise
            finally:
                self._writing_thread = 0
                self._touched.clear()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that sees one state of the database throughout."""
        with self._guarded():
            if self._writing_thread == threading.get_ident():
                yield self._writer
                return
            try:
                connection = self._pool.pop()
            except IndexError:
                connection = self._connect()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                with suppress(sqlite3.Error):
                    connection.rollback()
                if self._closed:
                    connection.close()
                else:
                    self._pool.append(connection)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Say what a fault means, and remember one of the file itself."""
        if self._closed:
            raise IndexUnavailable("The index is closed.")
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0)
            if not _DAMAGED.isdisjoint((code, code & 0xFF)):
                log.warning("index database %s is damaged: %s", self.path, error)
                self.damaged = True
                self.note = f"The index database is damaged ({error}). {RESTART}"
            told, hint = ("is damaged", RESTART) if self.damaged else ("failed", ROOM)
            raise IndexUnavailable(f"The index {self.path} {told} ({error}).", hint=hint) from error

    def get(self, key: str, default: str = "") -> str:
        """Return a single value of `meta`."""
        with self.read() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else default

    def set(self, key: str, value: str) -> None:
        """Store a single value in `meta`."""
        with self.write() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def compact(self) -> None:
        """Write the file anew without what was deleted, and empty the log beside it.

        Raises IndexUnavailable where that cannot be done whole.
        """
        with self._lock, self._guarded():
            self._writer.execute("VACUUM")
            self.journal.everything()  # memory is to hold nothing else than the file
            busy, *_ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                raise IndexUnavailable("The log of the index database is still being read.")

    def close(self) -> None:
        """Close all connections; what is damaged is begun anew at the next opening."""
        with self._lock:
            self._closed = True
            for connection in (*self._pool, self._writer):
                connection.close()
            if self.damaged:
                self._delete()

    def _open(self) -> sqlite3.Connection:
        connection = self._connect()
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version not in (0, _MADE):
                connection.close()
                self._delete()
                return self._open()
            connection.executescript(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;"
            )
            if not version:
                made = f"{_SCHEMA.read_text()} PRAGMA user_version = {_MADE};"
                connection.executescript(f"BEGIN; {made} COMMIT;")
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )

    def _delete(self, reason: str = "") -> None:
        if reason:
            log.warning("index database %s is damaged (%s): starting anew", self.path, reason)
            self.note = f"The index database was damaged ({reason}) and has been rebuilt."
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)


def file_stamps(
    database: Database, paths: Collection[str] | None = None
) -> dict[str, FileStat | None]:
    """Return the files that the index has, all or those of some paths, with their stamps.

    None for one that could not be read.
    """
    rows = _rows(database, "path, sha, mtime_ns, ctime_ns, size FROM files", paths)
    return {path: FileStat(*stamp) if sha else None for path, sha, *stamp in rows}


def file_records(
    database: Database, paths: Collection[str] | None = None
) -> dict[str, tuple[bytes, FileStat]]:
    """Return what is known of files for planning, with their stamps: of all, or of some paths."""
    what = "path, record, mtime_ns, ctime_ns, size FROM records JOIN files USING (path)"
    rows = _rows(database, what, paths)
    return {path: (record, FileStat(*stamp)) for path, record, *stamp in rows if record}


def _rows(database: Database, what: str, paths: Collection[str] | None) -> list[tuple[Any, ...]]:
    some = () if paths is None else (json.dumps([*paths]),)
    with database.read() as connection:
        where = f" WHERE path {SOME}" if some else ""
        return connection.execute(f"SELECT {what}{where}", some).fetchall()


def chunk_from(row: Sequence[object]) -> Chunk:
    """Return the chunk of a row selected by CHUNK_COLUMNS."""
    values = [*row[:10], tuple(str(row[10]).split()), *row[11:]]
    return Chunk(*values)  # type: ignore[arg-type]


def chunks_of(
    connection: sqlite3.Connection, keys: Collection[int] | Collection[str], by: str = "rowid"
) -> dict[int, Chunk]:
    """Return the chunks that have these rowids (or `id`s, if that is `by`), by rowid."""
    rows = connection.execute(
        f"SELECT rowid, {CHUNK_COLUMNS} FROM chunks WHERE {by} {SOME}", (json.dumps([*keys]),)
    )
    return {row[0]: chunk_from(row[1:]) for row in rows}


def chunks_beside(
    connection: sqlite3.Connection, name: str, before: int = BESIDE, after: int = BESIDE
) -> list[Chunk]:
    """Return the chunks around one, by its id, in its file, in order, itself among them."""
    rows = connection.execute(
        f"SELECT {CHUNK_COLUMNS} FROM chunks,"
        " (SELECT path AS here, ordinal AS at FROM chunks WHERE id = ?)"
        " WHERE path = here AND ordinal BETWEEN at - ? AND at + ? ORDER BY ordinal",
        (name, before, after),
    )
    return [chunk_from(row) for row in rows]


def changed_on_disk(database: Database, reader: VaultReader, paths: Collection[str]) -> set[str]:
    """Return those files that are not on disk as they were indexed."""
    indexed, changed = file_stamps(database, paths), set(paths)
    for path in paths:
        with suppress(VaultMindError):
            if reader.stat(path) == indexed.get(path, False):
                changed.discard(path)
    return changed


def hit_of(chunk: Chunk, text: str, score: float, **more: Any) -> Hit:  # noqa: ANN401
    """Return a chunk as a hit, with what is shown of it, how well it matches, and more."""
    names = ("id", "path", "anchor", "kind", "agent", "lang", "time", "session", "message")
    told = {name: getattr(chunk, name) for name in names} | more
    return Hit(**told, speaker=chunk.speaker, title=chunk.title, text=text, score=score)
