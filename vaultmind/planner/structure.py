"""What is known of the files of one source, kept in step with its index and between runs."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from vaultmind import __version__
from vaultmind.errors import IndexUnavailable, NotFound, PathRefused, UnreadableNote, VaultNotFound
from vaultmind.index.db import NEVER, FileRow, Journal
from vaultmind.index.outlet import Outlet
from vaultmind.planner.code import grammars
from vaultmind.planner.git import History
from vaultmind.planner.graph import Graph
from vaultmind.planner.records import record_of, unreadable
from vaultmind.planner.types import CacheStatus, FileRecord
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Progress
from vaultmind.vault.files import FileStat, VaultReader

FILE = "structure.db"
"""Beside the index of a source, in its state folder."""
FORMAT = "5"
"""Raise it when the same bytes would give another record: all files are then read anew."""
_BATCH = 32
_REST_SECONDS = 0.002
"""Between two files in the background, so that questions are answered meanwhile."""
_READY_SECONDS = 2.0
_NICE = 15
log = logging.getLogger(__name__)
Kept = tuple[FileRecord, FileStat]
"""A record, and the stamp of its file when it was read."""


class Followed(Protocol):
    """What a structure follows: an index. Its rows are the files that may be looked into."""

    @property
    def journal(self) -> Journal:
        """Return what tells which files were stored."""
        ...

    @property
    def outlet(self) -> Outlet:
        """Return the filter of every way out."""
        ...

    def rows(self, paths: Sequence[str] | None = None) -> list[FileRow]:
        """Return the files that are indexed: all, or those of some paths."""
        ...

    def wait_ready(self, timeout: float) -> bool:
        """Return once all texts known now are indexed; False on a timeout."""
        ...

    def mark(self, paths: Iterable[str]) -> None:
        """Say that files changed."""
        ...


class Structure:
    """Records and the graph of one source. Any thread.

    The memory folder is no part of it: what an agent's memory says reaches other agents by no
    title, heading, link or task. Memory is recalled by search, which filters for each caller.
    """

    def __init__(
        self, name: str, database: Path, index: Followed, reader: VaultReader, *, clock: Clock
    ) -> None:
        """`database` is the file that keeps the records; it is opened when first needed."""
        self.name, self.reader, self.clock = name, reader, clock
        self.version = 0
        """Another one after any record changed."""
        self.cache: dict[Any, Any] = {}
        """What layers make of the records."""
        self.history = History(reader.paths.root, self.shows, self._may_be_named)
        self._database, self._index = database, index
        self._store: sqlite3.Connection | None = None
        self._kept: dict[str, Kept] = {}
        self._snapshot: tuple[int, Mapping[str, FileRecord]] = (0, MappingProxyType({}))
        self._shown: tuple[object, dict[str, bool]] = (None, {})
        """Rules, and what they say of the files that were asked for."""
        self._graph = Graph()
        self._graph_due: dict[str, FileRecord | None] = {}
        self._seen = NEVER
        """The journal's version that the records stand at."""
        self._waiting: dict[str, FileRow | None] = {}
        self._total = 0
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"structure {name}", daemon=True)

    def start(self) -> None:
        """Begin to read in the background, once the index has the texts; returns at once."""
        self._thread.start()

    def close(self) -> None:
        """Stop after the current file and let go of the database."""
        self._stopping.set()
        with self._index.journal.changed:
            self._index.journal.changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()
        with self._lock:
            if self._store is not None:
                self._store.close()
            self._store = None

    # --- asking --------------------------------------------------------------------------

    @property
    def progress(self) -> Progress:
        """Return how many of the files are read."""
        waiting = len(self._waiting)
        return Progress(max(0, self._total - waiting), self._total, "reading structure")

    @property
    def settled(self) -> bool:
        """Tell whether nothing waits: index and records are as the last change left them."""
        known = self._seen == self._index.journal.version and not self._waiting
        return known and self._index.wait_ready(0.0)

    def record(self, path: str) -> FileRecord | None:
        """Return what is known of a file."""
        kept = self._kept.get(path)
        return kept[0] if kept else None

    def changed_at(self, path: str) -> float:
        """Return when a file changed, by its time on disk; 0 for one that is not known."""
        kept = self._kept.get(path)
        return kept[1].mtime_ns / 1e9 if kept else 0.0

    def records(self) -> Mapping[str, FileRecord]:
        """Return all records by path, as of now: what it returned never changes."""
        version, held = self._snapshot
        if version != self.version:
            with self._lock:
                held = MappingProxyType({path: kept[0] for path, kept in self._kept.items()})
                self._snapshot = (self.version, held)
        return held

    @property
    def graph(self) -> Graph:
        """Return the edges between the files, as of now."""
        with self._lock:
            due, self._graph_due = self._graph_due, {}
            if due:
                self._graph.update(due)
            return self._graph

    def shows(self, path: str) -> bool:
        """Tell whether a file may be shown to whoever may see the source, by the rules now."""
        outlet = self._index.outlet
        rules, known = self._shown
        if rules is not outlet.rules:
            known = {}
            self._shown = (outlet.rules, known)
        if path not in known:
            known[path] = not outlet.paths.in_memory(path) and outlet.shows(path, PERSON)
        return known[path]

    @property
    def rules(self) -> object:
        """Return what says which files may be shown: another object once it has changed."""
        return self._index.outlet.rules

    def _may_be_named(self, path: str) -> bool:
        """Tell whether words about a file may be shown, be it of a kind that is not indexed."""
        memory = f"{self.reader.paths.memory_dir}/".casefold()
        return not path.casefold().startswith(memory) and not self._index.outlet.excludes(path)

    def verify(self, paths: Collection[str]) -> bool:
        """Look whether files are on disk as they were read; read anew those that are not.

        Returns whether all were. Of the files that were not, the index is told as well. Raises
        VaultNotFound while the source itself is not there.
        """
        root = f"{os.fspath(self.reader.paths.root)}/"
        stale = [path for path in paths if not (self.shows(path) and self._is_same(root, path))]
        if not stale:
            return True
        self._index.outlet.ground.check()  # an unplugged disk drops no file
        self._index.mark(stale)
        with self._lock:
            languages = {path: one.language for path in stale if (one := self.record(path))}
            self._take({path: self._read(path, languages.get(path, "")) for path in stale})
        return False

    def _is_same(self, root: str, path: str) -> bool:
        kept = self._kept.get(path)
        try:
            found = os.lstat(root + path)
        except OSError:
            return False
        now = (found.st_mtime_ns, found.st_ctime_ns, found.st_size)
        return kept is not None and now == (kept[1].mtime_ns, kept[1].ctime_ns, kept[1].size)

    # --- following -----------------------------------------------------------------------

    def settle(self, timeout_seconds: float) -> CacheStatus:
        """Bring what changed in the index up to date, as far as there is time.

        `hit`: nothing had changed; `partial`: some files had, or there was not time for all;
        `rebuilt`: all were read.
        """
        if self._seen == self._index.journal.version and not self._waiting:
            return "hit"
        deadline = time.monotonic() + timeout_seconds
        with self._lock:
            before = len(self._kept)
            try:
                self._look()
            except IndexUnavailable:  # what was known serves on
                return "partial"
            waiting = len(self._waiting)
            while self._waiting and time.monotonic() < deadline and not self._stopping.is_set():
                if not self._catch_up(_BATCH, deadline):
                    break
            if self._waiting:
                return "partial"
            return "hit" if not waiting else "rebuilt" if waiting >= max(before, 1) else "partial"

    def _run(self) -> None:
        """Follow the index, at low priority."""
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        try:
            while not self._stopping.is_set():
                try:
                    self._follow()
                except IndexUnavailable:  # it is being made anew
                    self._stopping.wait(_READY_SECONDS)
        except Exception:  # the thread's last word; settle goes on in the foreground
            if not self._stopping.is_set():
                log.exception("the structure of %s no longer follows its index", self.name)

    def _follow(self) -> None:
        """Take what has changed, a file at a time; then wait for the next change."""
        journal = self._index.journal
        if not self._index.wait_ready(_READY_SECONDS) and self._seen == NEVER:
            return
        with self._lock:
            self._look()
        while self._waiting and not self._stopping.wait(_REST_SECONDS):
            with self._lock:
                if not self._catch_up(1, float("inf")):
                    break
        if self._stopping.is_set():
            return
        self.graph  # noqa: B018  # made here rather than when somebody asks
        with journal.changed:
            journal.changed.wait_for(
                lambda: journal.version != self._seen or self._stopping.is_set(), _READY_SECONDS
            )

    def _look(self) -> None:
        """Find out which files have changed since the last look. Under the lock."""
        version, written = self._index.journal.since(self._seen)
        if version == self._seen:
            return
        if self._store is None:
            self._open()
        paths = None if written is None else sorted(written)
        rows = {row.path: row for row in self._index.rows(paths) if self.shows(row.path)}
        for path in [one for one in (self._kept if paths is None else paths) if one not in rows]:
            self._waiting.pop(path, None)
            if path in self._kept:
                self._waiting[path] = None
        for path, row in rows.items():
            held = self._kept.get(path)
            if held is None or held[1] != row.stat or held[0].sha != row.sha:
                self._waiting[path] = row
            else:
                self._waiting.pop(path, None)
        self._total = len(rows) if paths is None else len(self._kept.keys() | rows.keys())
        self._seen = version

    def _catch_up(self, most: int, deadline: float) -> bool:
        """Read some of the files that wait; False while the source is not there. Under the lock."""
        changed: dict[str, Kept | None] = {}
        is_there = True
        while self._waiting and len(changed) < most and time.monotonic() < deadline:
            path, row = next(iter(self._waiting.items()))
            held = self._kept.get(path)
            try:
                if row is not None and held and held[0].sha == row.sha and row.sha:
                    changed[path] = held[0], row.stat  # touched, not changed
                else:
                    changed[path] = self._read(path, row.lang) if row else None
            except VaultNotFound:  # it waits on
                is_there = False
                break
            del self._waiting[path]
        self._take(changed)
        return is_there

    def _read(self, path: str, language: str) -> Kept | None:
        """Return what a file holds; None when there is none that may be read."""
        if not self.shows(path):
            return None
        try:
            file = self.reader.read(path)
        except (NotFound, PathRefused):
            return None
        except UnreadableNote as error:
            stat = self.reader.stat(path)
            return (unreadable(path, error.reason), stat) if stat else None
        return record_of(file, language), file.stat

    def _take(self, changed: Mapping[str, Kept | None]) -> None:
        """Keep what was read, here and in the database. Under the lock."""
        for path, kept in changed.items():
            before = self.record(path)
            if kept is None:
                self._kept.pop(path, None)
            else:
                self._kept[path] = kept
            after = kept[0] if kept else None
            if before != after:
                self.version += 1
                self._graph_due[path] = after
        if self._store is not None and changed:
            rows = [
                (path, kept[1].mtime_ns, kept[1].ctime_ns, kept[1].size, _json(kept[0]))
                for path, kept in changed.items()
                if kept is not None
            ]
            gone = [(path,) for path, kept in changed.items() if kept is None]
            try:
                with self._store:
                    self._store.executemany("DELETE FROM records WHERE path = ?", gone)
                    self._store.executemany(
                        "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?)", rows
                    )
            except sqlite3.Error as error:
                log.warning("%s cannot be written: %s", self._database, error)

    # --- between runs --------------------------------------------------------------------

    def _open(self) -> None:
        """Open what was kept from the last time; a file that is old or damaged is made anew."""
        for _ in range(2):
            try:
                self._store = _opened(self._database)
                rows = self._store.execute("SELECT * FROM records").fetchall()
                kept = {row[0]: (_record(row[4]), FileStat(*row[1:4])) for row in rows}
            except (OSError, ValueError, sqlite3.Error) as error:
                log.warning("%s is made anew: %s", self._database, error)
                with suppress(OSError):
                    self._database.unlink(missing_ok=True)
            else:
                self._kept = kept
                self._graph_due = {path: record for path, (record, _) in kept.items()}
                self.version += 1
                return
        self._store = sqlite3.connect(":memory:", check_same_thread=False)


def _opened(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    store = sqlite3.connect(path, timeout=10.0, check_same_thread=False)
    for pragma in ("journal_mode = TRUNCATE", "synchronous = NORMAL", "secure_delete = ON"):
        store.execute(f"PRAGMA {pragma}")  # no byte is kept of what was erased
    store.execute("CREATE TABLE IF NOT EXISTS meta (format TEXT)")
    store.execute(
        "CREATE TABLE IF NOT EXISTS records (path TEXT PRIMARY KEY, mtime_ns INTEGER, "
        "ctime_ns INTEGER, size INTEGER, record TEXT) WITHOUT ROWID"
    )
    wanted = f"{FORMAT} {__version__} {','.join(grammars())}"
    held = store.execute("SELECT format FROM meta").fetchone()
    if held is None or held[0] != wanted:
        with store:
            store.execute("DELETE FROM records")
            store.execute("DELETE FROM meta")
            store.execute("INSERT INTO meta VALUES (?)", (wanted,))
    return store


def _json(record: FileRecord) -> str:
    return str(_adapter().dump_json(record), "utf-8")


def _record(line: str) -> FileRecord:
    record: FileRecord = _adapter().validate_json(line)
    return record


@cache
def _adapter() -> Any:  # noqa: ANN401
    from pydantic import TypeAdapter

    return TypeAdapter(FileRecord)
