"""The file behind the tables of episodes: SQLite in WAL mode, for many threads and processes.

Everything in it is made from notes. A file that is damaged, that a later version wrote, or whose
tables are not those of its steps, is set aside and begun anew.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from vaultmind.episodes.tables.retrying import BUSY_TIMEOUT_SECONDS, Retrying, retried
from vaultmind.errors import IndexUnavailable
from vaultmind.index.storage.damage import is_damage

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

ASIDE = ".aside"
"""What the name of a file that was set aside ends in; the next one takes its place."""
_PARTS = ("", "-wal", "-shm")
_LOCK_SECONDS = 30.0
_HEADER_BYTES = 100
_POOLED_READERS = 4
_EPOCHS = 1 << 32
_LOG_TRIES, _LOG_PAUSE_SECONDS = 40, 0.05

log = logging.getLogger(__name__)


class _Other(sqlite3.DatabaseError):
    """The file was written by a later version, or its tables are not those of its steps."""


class Database:
    """One file, one writing connection a process, readers that do not wait for it. Any thread."""

    def __init__(self, path: Path, how: Retrying | None = None) -> None:
        """Open it, or begin it anew. Raises IndexUnavailable where neither can be done."""
        self.path = path
        self.renewed = ""
        """Why it was begun anew; empty when it was not."""
        self._how = how or Retrying()
        self._lock = threading.RLock()
        self._pool: list[sqlite3.Connection] = []
        self._pool_lock = threading.Lock()
        self._epoch = 0
        self._watch: sqlite3.Connection | None = None
        """Writes nothing itself: it sees whoever does."""
        self._watched = -1
        self._watch_lock = threading.Lock()
        self._closed = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = self._opened()
        except (OSError, sqlite3.Error) as error:
            raise self._unavailable(error) from error

    def write(self, work: Work[T]) -> T:
        """Run some work as one transaction, again while others write; return what it returns.

        It may run several times. Raises IndexUnavailable where nothing could be written.
        """
        with self._lock:
            return self._mended(lambda: retried(lambda: self._transaction(work), self._how))

    def read(self, work: Work[T]) -> T:
        """Run some work on one state of the tables; return what it returns."""
        return self._mended(lambda: retried(lambda: self._snapshot(work), self._how))

    def version(self) -> int:
        """Return another number once anybody wrote, in this process or another. Cheap."""
        with self._watch_lock:
            self._check()
            if self._watched != self._epoch:
                if self._watch is not None:
                    self._watch.close()
                self._watch, self._watched = self._plain(), self._epoch
            try:
                found = retried(self._data_version, self._how)
            except sqlite3.Error as error:
                raise self._unavailable(error) from error
        return self._watched * _EPOCHS + found

    @property
    def epoch(self) -> int:
        """Return how often the file was begun anew since it was opened."""
        return self._epoch

    def scrub(self) -> str:
        """Write the file anew without what was deleted, empty the log, drop what was set aside.

        Returns why that could not be done whole; nothing when it was.
        """
        with self._lock:
            self._check()
            try:
                retried(lambda: self._writer.execute("VACUUM"), self._how)
                busy = retried(self._emptied_log, self._how)
            except (sqlite3.Error, IndexUnavailable) as error:
                return f"the tables of episodes could not be written anew ({error})"
            for part in _PARTS:
                Path(f"{self.path}{ASIDE}{part}").unlink(missing_ok=True)
            return "the log of the episodes' tables is still being read" if busy else ""

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._let_go()
        with self._watch_lock:
            if self._watch is not None:
                self._watch.close()

    # --- work ------------------------------------------------------------------------------

    def _transaction(self, work: Work[T]) -> T:
        self._check()
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            done = work(self._writer)
            self._writer.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._writer.execute("ROLLBACK")
            raise
        return done

    def _snapshot(self, work: Work[T]) -> T:
        connection, epoch = self._borrowed()
        try:
            connection.execute("BEGIN")
            return work(connection)
        finally:
            with suppress(sqlite3.Error):
                connection.rollback()
            self._give_back(connection, epoch)

    def _mended(self, work: Callable[[], T]) -> T:
        """Run some work; where the file turns out to be damaged, once more on a new one."""
        epoch = self._epoch
        try:
            return work()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise self._unavailable(error) from error
            self._renew(str(error), epoch)
        try:
            return work()
        except sqlite3.Error as error:
            raise self._unavailable(error) from error

    def _emptied_log(self) -> bool:
        """Empty the write-ahead log; return whether readers were in the way all the time."""
        for _ in range(_LOG_TRIES):
            busy, *_ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy:
                return False
            self._how.sleep(_LOG_PAUSE_SECONDS)
        return True

    def _data_version(self) -> int:
        assert self._watch is not None
        return int(self._watch.execute("PRAGMA data_version").fetchone()[0])

    # --- connections -----------------------------------------------------------------------

    def _opened(self) -> sqlite3.Connection:
        """Return a writing connection to a file that can be used, if need be a new one."""
        try:
            return retried(self._connected, self._how)
        except sqlite3.OperationalError as error:
            if not is_damage(error):
                raise
        except sqlite3.DatabaseError as error:
            log.debug("the tables of episodes cannot be used: %s", error)
        return self._begun_anew()

    def _begun_anew(self) -> sqlite3.Connection:
        """Set the file aside and open a new one, unless another process just did so."""
        from filelock import FileLock

        with FileLock(f"{self.path}.lock", timeout=_LOCK_SECONDS):
            try:
                return retried(self._connected, self._how)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError) and not is_damage(error):
                    raise
                self._set_aside(str(error))
            return retried(self._connected, self._how)

    def _connected(self) -> sqlite3.Connection:
        if self._is_cut():
            raise _Other("it is cut off before its first page ends")
        connection = self._plain()
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON")
            migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _is_cut(self) -> bool:
        """Tell whether a file in use has lost its beginning: SQLite takes it for new, and as long
        as somebody has it open for busy. One that is just being made has no log yet.

        It is not opened to see that: closing it again would let go of this process's locks on it.
        """
        try:
            return self.path.stat().st_size < _HEADER_BYTES and Path(f"{self.path}-shm").exists()
        except FileNotFoundError:
            return False

    def _plain(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self.path, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False
        )

    def _borrowed(self) -> tuple[sqlite3.Connection, int]:
        with self._pool_lock:
            self._check()
            if self._pool:
                return self._pool.pop(), self._epoch
            epoch = self._epoch
        connection = self._plain()
        connection.execute("PRAGMA query_only = ON")
        return connection, epoch

    def _give_back(self, connection: sqlite3.Connection, epoch: int) -> None:
        with self._pool_lock:
            if epoch == self._epoch and not self._closed and len(self._pool) < _POOLED_READERS:
                self._pool.append(connection)
                return
        connection.close()

    def _let_go(self) -> None:
        with self._pool_lock:
            self._epoch += 1
            pooled, self._pool = self._pool, []
        for connection in (*pooled, self._writer):
            connection.close()

    def _renew(self, reason: str, epoch: int) -> None:
        """Begin anew, once for all threads that saw the same file damaged."""
        with self._lock:
            self._check()
            if epoch != self._epoch:
                return
            self._let_go()
            try:
                self._writer = self._begun_anew()
            except (OSError, sqlite3.Error) as error:
                raise self._unavailable(error) from error
            self.renewed = self.renewed or reason

    def _set_aside(self, reason: str) -> None:
        log.warning("%s is set aside (%s): the notes fill a new one", self.path, reason)
        self.renewed = reason
        for part in _PARTS:
            file = Path(f"{self.path}{part}")
            if file.exists():
                file.replace(f"{self.path}{ASIDE}{part}")

    def _check(self) -> None:
        if self._closed:
            raise IndexUnavailable("The tables of episodes are closed.")

    def _unavailable(self, error: Exception) -> IndexUnavailable:
        return IndexUnavailable(
            f"The tables of episodes in {self.path} cannot be used: {error}.",
            hint="Check that the state folder can be written and the disk has room.",
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Apply the steps that a file lacks, each in one transaction with its record.

    Several processes may do so at once. Raises _Other for a file with steps that are not ours, and
    for one whose tables are not those that its steps make.
    """
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)")
    steps = dict(steps_there_are())
    done = _done(connection)
    if unknown := sorted(done - steps.keys()):
        raise _Other(f"written by a later version: {unknown[-1]}")
    for name, statements in steps.items():
        if name not in done:
            _apply_to_what_stands(connection, name, statements)
    made, found = _made(), _shape(connection)
    if found != made:
        other = sorted(name for name, _ in found ^ made)
        raise _Other(f"not the tables of its steps: {', '.join(dict.fromkeys(other))}")


def _apply_to_what_stands(
    connection: sqlite3.Connection, name: str, statements: tuple[str, ...]
) -> None:
    try:
        _apply(connection, name, statements)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise
        raise _Other(f"{name} cannot be applied to its tables: {error}") from error


@cache
def _made() -> frozenset[tuple[str, str]]:
    """Return what all steps together make."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY)")
        for name, statements in steps_there_are():
            _apply(connection, name, statements)
        return _shape(connection)


def _shape(connection: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    """Return the tables and indexes of a file by name, and what they are."""
    query = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
    with closing(connection.execute(query)) as rows:
        return frozenset((name, " ".join(sql.split())) for name, sql in rows)


def steps_there_are() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the name and the statements of each step, in order."""
    folder = files(__package__) / "migrations"
    found = (one for one in folder.iterdir() if one.name.endswith(".sql"))
    for file in sorted(found, key=lambda one: one.name):
        yield file.name.removesuffix(".sql"), tuple(_statements(file.read_text("utf-8")))


def _apply(connection: sqlite3.Connection, name: str, statements: tuple[str, ...]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if name not in _done(connection):  # another process came first
            for statement in statements:
                connection.execute(statement)
            connection.execute("INSERT INTO migrations VALUES (?)", (name,))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _done(connection: sqlite3.Connection) -> set[str]:
    with closing(connection.execute("SELECT name FROM migrations")) as rows:
        return {name for (name,) in rows}


def _statements(script: str) -> Iterator[str]:
    """Split a script at the semicolons that end a statement."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
