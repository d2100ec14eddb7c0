"""Records kept between runs: one SQLite file a source. A damaged or old one is made anew."""

from __future__ import annotations

import json
import logging
import sqlite3
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from vaultmind.planner.structure.records import (
    Definition,
    FileRecord,
    Heading,
    Link,
    Task,
)
from vaultmind.vault.files import FileStat

FORMAT = "3"
"""Raise it when the same bytes would give another record: all files are then read anew."""
_BUSY_SECONDS = 10.0
_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS records (
        path TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
        size INTEGER NOT NULL, blob TEXT NOT NULL, seen_at REAL NOT NULL, record TEXT NOT NULL
    ) WITHOUT ROWID""",
)
_SAVE = "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?)"
_PARTS: dict[str, type[Any]] = {
    "headings": Heading, "definitions": Definition, "links": Link, "tasks": Task,
}  # fmt: skip
_NAMES = tuple(one.name for one in fields(FileRecord))

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kept:
    """A record, and what else is known of its file."""

    record: FileRecord
    stat: FileStat
    """When it was read: another one on disk means that the record may be old."""
    blob: str = ""
    """What git calls these bytes."""
    seen_at: float = 0.0
    """When its bytes were seen to have changed, in seconds since 1970; 0: never since the first
    reading. A synced file may come with an old time of its own."""


class Store:
    """One database. Safe for many threads; without a file that can be written it keeps nothing."""

    def __init__(self, path: Path, format_: str = "") -> None:
        """Open it. With another `format_` than the last time it is emptied."""
        self.path = path
        self.fault = ""
        """Why nothing is kept; the records are then read anew at each start."""
        self._format = f"{FORMAT} {sys.version_info[0]} {format_}"
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        try:
            self._connection = self._opened()
        except (OSError, sqlite3.OperationalError) as error:
            self._fail(error)
        except sqlite3.DatabaseError as error:
            self._renew(error)

    def load(self) -> dict[str, Kept]:
        """Return all that is kept, by path."""
        found = self._do(lambda it: it.execute("SELECT * FROM records ORDER BY path").fetchall())
        kept: dict[str, Kept] = {}
        for path, mtime, ctime, size, blob, seen_at, record in found or ():
            with suppress(ValueError, TypeError):  # an odd row: its file is read again
                kept[path] = Kept(decoded(record), FileStat(mtime, ctime, size), blob, seen_at)
        return kept

    def put(self, changed: Mapping[str, Kept | None]) -> None:
        """Keep records; drop those of the paths that have none."""
        gone = [(path,) for path, kept in changed.items() if kept is None]
        rows = [_row(path, kept) for path, kept in changed.items() if kept is not None]

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.executemany("DELETE FROM records WHERE path = ?", gone)
                connection.executemany(_SAVE, rows)
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise

        self._do(work)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _do(self, work: Any) -> Any:  # noqa: ANN401
        """Run some work on the connection; what cannot be written is told once and done without."""
        with self._lock:
            if self._connection is None:
                return None
            try:
                return work(self._connection)
            except sqlite3.OperationalError as error:
                self._fail(error)
            except sqlite3.DatabaseError as error:
                self._connection.close()
                self._renew(error)
        return None

    def _opened(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = TRUNCATE")  # keeps no byte of what was
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON")
            for table in _TABLES:
                connection.execute(table)
            held = connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
            if held is None or held[0] != self._format:
                connection.execute("DELETE FROM records")
                connection.execute(
                    "INSERT OR REPLACE INTO meta VALUES ('format', ?)", (self._format,)
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _renew(self, error: sqlite3.DatabaseError) -> None:
        """Throw a damaged file away: the source fills the new one."""
        log.warning("%s is damaged (%s) and is made anew", self.path, error)
        try:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
            self._connection = self._opened()
        except (OSError, sqlite3.DatabaseError) as again:
            self._fail(again)

    def _fail(self, error: Exception) -> None:
        log.warning("%s cannot be used: %s", self.path, error)
        self.fault = f"What is known of the files is not kept between runs: {error}."


def encoded(record: FileRecord) -> str:
    """Return a record as a line of JSON: its values in the order of the fields."""
    values = [getattr(record, name) for name in _NAMES]
    packed = [
        [_values(one) for one in value] if name in _PARTS else value
        for name, value in zip(_NAMES, values, strict=True)
    ]
    return json.dumps(packed, ensure_ascii=False, separators=(",", ":"))


def decoded(line: str) -> FileRecord:
    """Return the record of a line; raise ValueError or TypeError for what is none."""
    values = json.loads(line)
    if len(values) != len(_NAMES):
        raise ValueError(f"{len(values)} values for {len(_NAMES)} fields")
    whole = [_whole(name, value) for name, value in zip(_NAMES, values, strict=True)]
    return FileRecord(*whole)


def _whole(name: str, value: Any) -> Any:  # noqa: ANN401
    if not isinstance(value, list):
        return value
    kind = _PARTS.get(name)
    if kind is None:
        return tuple(tuple(one) if isinstance(one, list) else one for one in value)
    return tuple(kind(*map(_tupled, one)) for one in value)


def _tupled(value: Any) -> Any:  # noqa: ANN401
    return tuple(value) if isinstance(value, list) else value


def _values(part: Any) -> list[Any]:  # noqa: ANN401
    return [getattr(part, one) for one in part.__slots__]


def _row(path: str, kept: Kept) -> tuple[Any, ...]:
    stat = kept.stat
    stamp = (stat.mtime_ns, stat.ctime_ns, stat.size)
    return (path, *stamp, kept.blob, kept.seen_at, encoded(kept.record))
