"""The index database: SQLite in WAL mode, one writer, readers that never wait for it."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vaultmind.errors import IndexUnavailable
from vaultmind.index.storage.journal import Journal
from vaultmind.index.storage.migrations import migrate
from vaultmind.types import Chunk

WAITING, EMBEDDED, NOT_EMBEDDED = 0, 1, -1
"""Values of `chunks.embedded`: its vector is to come, is in Chroma, is never made."""

CHUNK_COLUMNS = (
    'id, path, kind, agent, anchor, title, text, start, "end", lang, tags, time, '
    "session, message, speaker, role"
)
"""What `chunk_from` takes, to be selected from `chunks` in this order."""

_BUSY_SECONDS = 30.0
_POOLED_READERS = 8
_LOG_TRIES, _LOG_PAUSE_SECONDS = 40, 0.05

log = logging.getLogger(__name__)


def chunk_from(row: tuple[object, ...]) -> Chunk:
    """Return the chunk of a row selected by CHUNK_COLUMNS."""
    values = list(row)
    values[10] = tuple(str(row[10]).split())
    return Chunk(*values)  # type: ignore[arg-type]


class Database:
    """Opens, migrates and guards one database file. All of it can be rebuilt from the vault.

    `write()` gives the one writing connection inside a transaction and can be nested (the
    inner one joins the outer). `read()` gives a connection with a snapshot of its own; in a
    thread that is writing it gives the writing connection, so that it sees its own changes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.was_clean = True
        """Whether the last process closed it in good order."""
        self.renewed = ""
        """Why the database was started anew; empty when it was not."""
        self.version = 0
        """Grows with every committed write: a key for cached counts."""
        self.journal = Journal()
        """Whose rows were written, for whoever keeps what he made of them."""
        self._touching: list[str] = []
        self._lock = threading.RLock()
        self._depth = 0
        self._writing_thread = 0
        self._pool: list[sqlite3.Connection] = []
        self._pool_lock = threading.Lock()
        self._epoch = 0
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
            self._set_aside(str(error))
            self._writer = self._open()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Give the writing connection; commit at the end, roll back on an error."""
        with self._lock:
            self._check_open()
            if self._depth:
                yield self._writer
                return
            self._writer.execute("BEGIN IMMEDIATE")
            self._depth, self._writing_thread = 1, threading.get_ident()
            try:
                yield self._writer
                with self.journal.committing():
                    self._writer.execute("COMMIT")
                    self.version += 1
                    self.journal.add(self._touching)
            except BaseException:
                with suppress(sqlite3.Error):
                    self._writer.execute("ROLLBACK")
                raise
            finally:
                self._depth, self._writing_thread = 0, 0
                self._touching.clear()

    @contextmanager
    def between_writes(self) -> Iterator[None]:
        """Hold back other threads' writes: what is read meanwhile is all that was written."""
        with self._lock:
            yield

    @property
    def is_written_here(self) -> bool:
        """Tell whether this thread is writing: it reads what is not committed yet."""
        return self._writing_thread == threading.get_ident()

    def touch(self, path: str) -> None:
        """Say, inside a transaction, that a file's rows become others in it."""
        self._touching.append(path)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that sees one state of the database throughout."""
        if self.is_written_here:
            yield self._writer
            return
        connection, epoch = self._borrow()
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            self._give_back(connection, epoch)

    def get(self, key: str, default: str = "") -> str:
        """Return a single value of `meta`."""
        with self.read() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else default

    def set(self, key: str, value: str) -> None:
        """Store a single value in `meta`."""
        with self.write() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def check(self) -> str:
        """Return what is wrong with the file, or nothing. Reads all of it."""
        try:
            with self.read() as connection:
                found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
        except sqlite3.DatabaseError as error:
            return str(error)
        return "" if found == "ok" else found

    def renew(self, reason: str) -> None:
        """Put a damaged file aside and start with an empty one; the vault fills it again."""
        with self._lock:
            self._check_open()
            if self._depth:
                raise IndexUnavailable("The index cannot be renewed inside a transaction.")
            with self._pool_lock:  # who connects now would have the old file, and think it the new
                self._drop_connections()
                self._set_aside(reason)
                self._writer = self._open()
            self.version += 1
            self.journal.everything()

    def compact(self) -> str:
        """Write the file anew without what was deleted, and empty the log beside it.

        Returns why that could not be done whole; nothing when it was.
        """
        with self._lock:
            self._check_open()
            if self._depth:
                raise IndexUnavailable("The index cannot be compacted inside a transaction.")
            try:
                self._writer.execute("PRAGMA temp_store = FILE")
                self._writer.execute("VACUUM")
                busy = self._truncate_log()
            except sqlite3.Error as error:
                return f"the index database could not be written anew ({error})"
            finally:
                self._writer.execute("PRAGMA temp_store = MEMORY")
            self.version += 1
            self.journal.everything()  # memory is to hold nothing else than the file
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self.path}.damaged{suffix}").unlink(missing_ok=True)
        return "the log of the index database is still being read" if busy else ""

    def _truncate_log(self) -> bool:
        """Empty the write-ahead log; return whether readers were in the way all the time."""
        for _ in range(_LOG_TRIES):
            busy, *_ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy:
                return False
            time.sleep(_LOG_PAUSE_SECONDS)
        return True

    def close(self) -> None:
        """Close all connections and note that this was in good order."""
        with self._lock:
            if self._closed:
                return
            with suppress(sqlite3.Error):
                self.set("clean", "1")
            self._closed = True
            with self._pool_lock:
                self._drop_connections()

    def _open(self) -> sqlite3.Connection:
        connection = self._connect()
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA cache_size = -16000")
            migrate(connection)
            row = connection.execute("SELECT value FROM meta WHERE key = 'clean'").fetchone()
            self.was_clean = row is None or row[0] == "1"
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('clean', '0')")
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA temp_store = MEMORY")
        return connection

    def _borrow(self) -> tuple[sqlite3.Connection, int]:
        with self._pool_lock:
            self._check_open()
            if self._pool:
                return self._pool.pop(), self._epoch
            connection = self._connect()
            try:
                connection.execute("PRAGMA query_only = ON")
                connection.execute("PRAGMA schema_version")  # opens the log beside the file, too
            except BaseException:
                connection.close()
                raise
            return connection, self._epoch

    def _give_back(self, connection: sqlite3.Connection, epoch: int) -> None:
        with suppress(sqlite3.Error):
            connection.rollback()
        with self._pool_lock:
            if epoch == self._epoch and not self._closed and len(self._pool) < _POOLED_READERS:
                self._pool.append(connection)
                return
        connection.close()

    def _drop_connections(self) -> None:
        """Close what is open. Under the pool's lock."""
        self._epoch += 1
        pooled, self._pool = self._pool, []
        for connection in (*pooled, self._writer):
            connection.close()

    def _set_aside(self, reason: str) -> None:
        """Keep one damaged copy for whoever wants to look; the next one replaces it."""
        log.warning("index database %s is damaged (%s): starting a new one", self.path, reason)
        self.renewed = reason
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):  # the last reader takes the log with it
                Path(f"{self.path}{suffix}").replace(f"{self.path}.damaged{suffix}")

    def _check_open(self) -> None:
        if self._closed:
            raise IndexUnavailable("The index is closed.")
