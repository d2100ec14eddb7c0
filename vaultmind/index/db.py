"""The index database: SQLite in WAL mode, one writer, readers that never wait for it.

It is derived from the vault and the linked folders, and thrown away in doubt: a database of another
version is replaced by an empty one, and so is a damaged one.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from vaultmind.errors import IndexUnavailable, VaultMindError
from vaultmind.types import Chunk, Hit
from vaultmind.vault.files import FileStat, VaultReader

VERSION = 13
"""Raise it when the tables change: an index of another version is made anew."""
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
_SCHEMA = Path(__file__).with_name("schema.sql")
_BUSY_SECONDS = 30.0
_POOLED_READERS = 8
_LOG_TRIES, _LOG_PAUSE_SECONDS = 40, 0.05
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
        self.changed = threading.Condition()
        """Notified at every change."""
        self._paths: deque[str] = deque(maxlen=_MOST_NOTED)
        self._end = 0
        """Writes so far, forgotten ones too."""

    @property
    def version(self) -> int:
        """Return how much was written so far. To be asked before the rows are read."""
        with self.changed:
            return self._end

    def add(self, paths: Collection[str]) -> None:
        """Note files whose rows were written, or taken out, and are committed."""
        with self.changed:
            self._paths.extend(paths)
            self._end += len(paths)
            self.changed.notify_all()

    def everything(self) -> None:
        """Note that any row may be another now."""
        with self.changed:
            self._paths.clear()
            self._end += 1
            self.changed.notify_all()

    def since(self, version: int) -> tuple[int, frozenset[str] | None]:
        """Return the version now, and the files that were written since another one.

        None: everything may have been. To be asked before the rows are read, or a write between
        would be missed.
        """
        with self.changed:
            new = self._end - version
            if new > len(self._paths):
                return self._end, None
            return self._end, frozenset(list(self._paths)[len(self._paths) - new :])


class Database:
    """Opens and guards one database file.

    `write()` gives the one writing connection inside a transaction and can be nested (the
    inner one joins the outer). `read()` gives a connection with a snapshot of its own; in a
    thread that is writing it gives the writing connection, so that it sees its own changes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.renewed = ""
        """Why the database was started anew; empty when it was not."""
        self.version = 0
        """Grows with every committed write: a key for cached counts."""
        self.journal = Journal()
        self._touching: list[str] = []
        self._lock = threading.RLock()
        self._writing_thread = 0
        self._pool: list[sqlite3.Connection] = []
        self._pool_lock = threading.Lock()
        self._closed = False
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._writer = self._open()
        except sqlite3.OperationalError as error:
            raise IndexUnavailable(
                f"The index {path} cannot be opened: {error}.",
                hint="Check that the state folder can be written and the disk has room.",
            ) from error
        except sqlite3.DatabaseError as error:
            self._delete(str(error))
            self._writer = self._open()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Give the writing connection; commit at the end, roll back on an error."""
        with self._lock:
            self._check_open()
            if self._writing_thread:
                yield self._writer
                return
            self._writer.execute("BEGIN IMMEDIATE")
            self._writing_thread = threading.get_ident()
            try:
                yield self._writer
                with self.journal.changed:  # nobody sees rows that are not noted
                    self._writer.execute("COMMIT")
                    self.version += 1
                    self.journal.add(self._touching)
            except BaseException:
                with suppress(sqlite3.Error):
                    self._writer.execute("ROLLBACK")
                raise
            finally:
                self._writing_thread = 0
                self._touching.clear()

    def touch(self, path: str) -> None:
        """Say, inside a transaction, that a file's rows become others in it."""
        self._touching.append(path)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that sees one state of the database throughout."""
        if self._writing_thread == threading.get_ident():
            yield self._writer
            return
        with self._pool_lock:
            self._check_open()
            pool = self._pool
            connection = pool.pop() if pool else self._connect()
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            with suppress(sqlite3.Error):
                connection.rollback()
            with self._pool_lock:  # another pool stands there once the file is another
                is_kept = pool is self._pool and len(pool) < _POOLED_READERS
                if is_kept:
                    pool.append(connection)
            if not is_kept:
                connection.close()

    def get(self, key: str, default: str = "") -> str:
        """Return a single value of `meta`."""
        with self.read() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else default

    def set(self, key: str, value: str) -> None:
        """Store a single value in `meta`."""
        with self.write() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def renew(self, reason: str) -> None:
        """Replace a damaged file by an empty one; the vault fills it again."""
        with self._lock:
            self._check_open()
            with self._pool_lock:  # who connects now would have the old file, and think it the new
                self._drop_connections()
                self._delete(reason)
                self._writer = self._open()
            self.version += 1
            self.journal.everything()

    def compact(self) -> str:
        """Write the file anew without what was deleted, and empty the log beside it.

        Returns why that could not be done whole; nothing when it was.
        """
        with self._lock:
            self._check_open()
            try:
                self._writer.execute("PRAGMA temp_store = FILE")
                self._writer.execute("VACUUM")
                self._writer.execute("PRAGMA temp_store = MEMORY")
                self.version += 1
                self.journal.everything()  # memory is to hold nothing else than the file
                for _ in range(_LOG_TRIES):
                    busy, *_ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                    if not busy:
                        return ""
                    time.sleep(_LOG_PAUSE_SECONDS)
            except sqlite3.Error as error:
                return f"the index database could not be written anew ({error})"
        return "the log of the index database is still being read"

    def close(self) -> None:
        """Close all connections."""
        with self._lock, self._pool_lock:
            if not self._closed:
                self._closed = True
                self._drop_connections()

    def _open(self) -> sqlite3.Connection:
        connection = self._connect(writes=True)
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version != VERSION and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                connection.close()
                self._delete()
                connection = self._connect(writes=True)
            for pragma in ("journal_mode = WAL", "secure_delete = ON", "cache_size = -16000"):
                connection.execute(f"PRAGMA {pragma}")
            if version != VERSION:
                made = f"{_SCHEMA.read_text()} PRAGMA user_version = {VERSION};"
                connection.executescript(f"BEGIN; {made} COMMIT;")
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self, *, writes: bool = False) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            pragmas = ["temp_store = MEMORY", "synchronous = NORMAL"]
            if not writes:  # the second opens the log beside the file, too
                pragmas += ["query_only = ON", "schema_version"]
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _drop_connections(self) -> None:
        """Close what is open. Under the pool's lock."""
        pooled, self._pool = self._pool, []
        for connection in (*pooled, self._writer):
            connection.close()

    def _delete(self, reason: str = "") -> None:
        if reason:
            log.warning("index database %s is damaged (%s): starting anew", self.path, reason)
            self.renewed = reason
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)

    def _check_open(self) -> None:
        if self._closed:
            raise IndexUnavailable("The index is closed.")


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Tell whether an error says that the file itself is damaged.

    A full disk, a lock or a connection that was closed for a new file say no such thing.
    """
    code = getattr(error, "sqlite_errorcode", 0)
    return not {code, code & 0xFF}.isdisjoint(_DAMAGED) or type(error) is sqlite3.DatabaseError


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as the index has it. `sha` is empty for one that could not be read."""

    path: str
    sha: str
    lang: str
    stat: FileStat


def file_rows(database: Database, paths: Collection[str] | None = None) -> list[FileRow]:
    """Return the files that the index has: all of them, or those of some paths."""
    condition, values = (
        ("", ()) if paths is None else (f"WHERE path {SOME}", (json.dumps([*paths]),))
    )
    statement = (
        "SELECT path, CASE severity WHEN 'skipped' THEN '' ELSE sha END, lang, mtime_ns, ctime_ns,"
        f" size FROM files {condition}"
    )
    with database.read() as connection:
        rows = connection.execute(statement, values).fetchall()
    return [FileRow(path, sha, lang, FileStat(*stamp)) for path, sha, lang, *stamp in rows]


def chunk_from(row: Sequence[object]) -> Chunk:
    """Return the chunk of a row selected by CHUNK_COLUMNS."""
    values = [*row[:10], tuple(str(row[10]).split()), *row[11:]]
    return Chunk(*values)  # type: ignore[arg-type]


def chunks_of(
    connection: sqlite3.Connection, keys: Collection[int] | Collection[str], by: str = "rowid"
) -> dict[int, Chunk]:
    """Return the chunks that have these rowids, or what else `by` names, by rowid."""
    rows = connection.execute(
        f"SELECT rowid, {CHUNK_COLUMNS} FROM chunks WHERE {by} {SOME}", (json.dumps([*keys]),)
    )
    return {row[0]: chunk_from(row[1:]) for row in rows}


def chunks_with_ids(connection: sqlite3.Connection, ids: Collection[str]) -> dict[str, Chunk]:
    """Return the chunks that have these ids."""
    return {chunk.id: chunk for chunk in chunks_of(connection, ids, "id").values()}


def chunks_beside(
    connection: sqlite3.Connection, name: str, before: int = BESIDE, after: int = BESIDE
) -> list[Chunk]:
    """Return the chunks around one, by its id, in its file, in order, itself among them."""
    columns = ", ".join(f"c.{name.strip()}" for name in CHUNK_COLUMNS.split(","))
    rows = connection.execute(
        f"SELECT {columns} FROM chunks o JOIN chunks c ON c.path = o.path"
        " AND c.ordinal BETWEEN o.ordinal - ? AND o.ordinal + ?"
        " WHERE o.id = ? ORDER BY c.ordinal",
        (before, after, name),
    )
    return [chunk_from(row) for row in rows]


def changed_on_disk(database: Database, reader: VaultReader, paths: Collection[str]) -> set[str]:
    """Return those files that are not on disk as they were indexed."""
    indexed = {row.path: row.stat for row in file_rows(database, paths)}
    changed = set(paths)
    for path in paths:
        with suppress(VaultMindError):
            if reader.stat(path) == indexed.get(path, False):
                changed.discard(path)
    return changed


def hit_of(chunk: Chunk, title: str, text: str, score: float) -> Hit:
    """Return a chunk as a hit, with what is shown of it and how well it matches."""
    names = ("id", "path", "anchor", "kind", "agent", "lang", "time", "session", "message")
    told = {name: getattr(chunk, name) for name in names}
    return Hit(**told, speaker=chunk.speaker, title=title, text=text, score=score)
