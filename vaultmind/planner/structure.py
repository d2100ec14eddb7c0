"""What is known of the files of one source: records, graph, names, past; kept between runs."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
import zlib
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind import __version__
from vaultmind.errors import IndexUnavailable, NotFound, PathRefused, UnreadableNote, VaultNotFound
from vaultmind.index.db import NEVER, FileRow
from vaultmind.planner.code import grammars
from vaultmind.planner.git import History
from vaultmind.planner.graph import Graph
from vaultmind.planner.names import WordTable, path_words, told_by
from vaultmind.planner.records import record_of
from vaultmind.planner.types import CacheStatus, FileRecord
from vaultmind.ports import Clock
from vaultmind.tables import adapter
from vaultmind.types import PERSON, Progress
from vaultmind.vault.files import FileStat

if TYPE_CHECKING:
    from vaultmind.index.index import Index

FILE = "structure.db"
"""Beside the index of a source, in its state folder."""
FORMAT = "8"
"""Raise it when the same bytes would give another record: all files are then read anew."""
BATCH = 16
"""Files that are read before somebody else has a turn."""
STEP_SECONDS = 0.05
log = logging.getLogger(__name__)
Kept = tuple[FileRecord, FileStat]
"""A record, and the stamp of its file when it was read."""


class Structure:
    """Records of one source and what is made of them. Any thread; tables only under `lock`.

    The memory folder is no part of it: what an agent's memory says reaches other agents by no
    title, heading, link or task. Memory is recalled by search, which filters for each caller.
    """

    def __init__(self, name: str, database: Path, index: Index, *, clock: Clock) -> None:
        """`database` is the file that keeps the records; it is opened when first needed."""
        self.name, self.clock, self.lock = name, clock, threading.RLock()
        self.by_path, self.by_definition = WordTable[str](), WordTable[str]()
        """Words of what files are called, and of what they define or are about."""
        self.version = 0
        """Another one after any record changed."""
        self.wants_names = False
        """Of 10,000 notes the names take 60 MB: they are made once somebody plans."""
        self.reader = index.outlet.reader
        self.history = History(self.reader.paths.root, self.shows, self._may_be_named)
        self._database, self._index = database, index
        self._store: sqlite3.Connection | None = None
        self._kept: dict[str, Kept] = {}
        self._shown: tuple[object, dict[str, bool]] = (None, {})
        """Rules, and what they say of the files that were asked for."""
        self._graph = Graph()
        self._graph_due: dict[str, FileRecord | None] = {}
        self._names_due: dict[str, FileRecord | None] = {}
        self._seen = NEVER
        """The journal's version that the records stand at."""
        self._waiting: dict[str, FileRow | None] = {}
        self._total = 0

    def close(self) -> None:
        """Let go of the database."""
        with self.lock:
            if self._store is not None:
                self._store.close()
            self._store = None

    # --- asking --------------------------------------------------------------------------

    @property
    def progress(self) -> Progress:
        """Return how many of the files are read."""
        done = max(0, self._total - len(self._waiting))
        return Progress(done, self._total, "reading structure")

    @property
    def settled(self) -> bool:
        """Tell whether nothing waits: index and records are as the last change left them."""
        is_known = self._is_current() and not self.history.moved()
        return is_known and self._index.wait_ready(0.0)

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
        with self.lock:
            return {path: kept[0] for path, kept in self._kept.items()}

    @property
    def graph(self) -> Graph:
        """Return the edges between the files, as of now; the words of names are then known, too."""
        with self.lock:
            self._graph.update(self._graph_due)
            self._graph_due = {}
            while self.wants_names and self._names_due:
                path, record = self._names_due.popitem()
                self.by_path.put(path, path_words(record) if record else None)
                self.by_definition.put(path, " ".join(told_by(record)) if record else None)
            return self._graph

    def shows(self, path: str) -> bool:
        """Tell whether a file may be shown to whoever may see the source, by the rules now."""
        outlet = self._index.outlet
        if self._shown[0] is not outlet.folder.rules:
            self._shown = (outlet.folder.rules, {})
        known = self._shown[1]
        if path not in known:
            known[path] = not outlet.paths.in_memory(path) and outlet.shows(path, PERSON)
        return known[path]

    def _may_be_named(self, path: str) -> bool:
        """Tell whether words about a file may be shown, be it of a kind that is not indexed."""
        memory = f"{self.reader.paths.memory_dir}/".casefold()
        return not path.casefold().startswith(memory) and not self._index.outlet.excludes(path)

    def verify(self, paths: Collection[str]) -> bool:
        """Look whether files are on disk as they were read; read anew those that are not.

        Returns whether all were. Of the files that were not, the index is told as well. Raises
        VaultNotFound while the source itself is not there.
        """
        stale = [path for path in paths if not self._is_same(path)]
        if stale:
            self._index.outlet.folder.check()  # an unplugged disk drops no file
            self._index.mark(stale)
            with self.lock:
                self._take({path: self._read(path) for path in stale})
        return not stale

    def _is_same(self, path: str) -> bool:
        kept = self._kept.get(path) if self.shows(path) else None
        with suppress(PathRefused):
            return kept is not None and self.reader.stat(path) == kept[1]
        return False

    # --- following -----------------------------------------------------------------------

    def settle(self, timeout_seconds: float) -> CacheStatus:
        """Bring what changed in the index up to date, as far as there is time.

        `hit`: nothing had changed; `rebuilt`: what had is read; `partial`: not all of it.
        """
        deadline, was_current = time.monotonic() + timeout_seconds, self._is_current()
        while not self._is_current() and self._advance(deadline) and time.monotonic() < deadline:
            pass
        is_known = self.history.settle(deadline - time.monotonic()) and self._is_current()
        return "partial" if not is_known else "hit" if was_current else "rebuilt"

    def step(self) -> bool:
        """Read a few files, for whoever follows in the background; tell whether more wait."""
        is_first = self._seen == NEVER and not self._index.wait_ready(0.0)
        if is_first or self._is_current() or not self._advance(time.monotonic() + STEP_SECONDS):
            return False
        if not self._waiting:
            self.graph  # noqa: B018  # made here rather than when somebody asks
        return not self._is_current()

    def _is_current(self) -> bool:
        return self._seen == self._index.journal.version and not self._waiting

    def _advance(self, deadline: float) -> bool:
        """Read some of the files that wait.

        False while the index or the source is not there: what was known serves on.
        """
        changed: dict[str, Kept | None] = {}
        with self.lock:
            try:
                self._look()
                while self._waiting and len(changed) < BATCH and time.monotonic() < deadline:
                    path, row = next(iter(self._waiting.items()))
                    held = self._kept.get(path)
                    if row is not None and held and held[0].sha == row.sha and row.sha:
                        changed[path] = held[0], row.stat  # touched, not changed
                    else:
                        changed[path] = self._read(path, row.lang) if row else None
                    del self._waiting[path]
            except (IndexUnavailable, VaultNotFound):
                return False
            finally:
                self._take(changed)
        return True

    def _look(self) -> None:
        """Find out which files have changed since the last look. Under the lock."""
        version, written = self._index.journal.since(self._seen)
        if version == self._seen:
            return
        if self._store is None:
            self._open()
        paths = None if written is None else sorted(written)
        rows = {row.path: row for row in self._index.rows(paths) if self.shows(row.path)}
        for path in {*(self._kept if paths is None else paths), *rows}:
            row, held = rows.get(path), self._kept.get(path)
            self._waiting.pop(path, None)
            if held if row is None else not held or held[1] != row.stat or held[0].sha != row.sha:
                self._waiting[path] = row
        self._total = len(rows) if paths is None else len(self._kept.keys() | rows.keys())
        self._seen = version

    def _read(self, path: str, language: str = "") -> Kept | None:
        """Return what a file holds; None when there is none that may be read."""
        held = self.record(path)
        language = language or (held.language if held else "")
        try:
            file = self.reader.read(path) if self.shows(path) else None
            return (record_of(file, language), file.stat) if file else None
        except (NotFound, PathRefused):
            return None
        except UnreadableNote as error:
            stat, name = self.reader.stat(path), path.rpartition("/")[2]
            fault = FileRecord(path, "", "text", "", name, 0, fault=error.reason)
            return (fault, stat) if stat else None

    def _take(self, changed: Mapping[str, Kept | None]) -> None:
        """Keep what was read, here and in the database. Under the lock."""
        for path, kept in changed.items():
            before, after = self.record(path), kept[0] if kept else None
            self._kept.pop(path, None)
            if kept is not None:
                self._kept[path] = kept
            if before != after:
                self.version += 1
                self._graph_due[path] = self._names_due[path] = after
        if self._store is None or not changed:
            return
        try:
            with self._store as store:
                store.executemany("DELETE FROM records WHERE path = ?", [(it,) for it in changed])
                rows = [(path, adapter(Kept).dump_json(it)) for path, it in changed.items() if it]
                store.executemany("INSERT INTO records VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            log.warning("%s cannot be written: %s", self._database, error)

    def _open(self) -> None:
        """Open what was kept from the last time; a damaged file is made anew."""
        self._database.parent.mkdir(parents=True, exist_ok=True)
        try:
            rows = self._rows()
        except sqlite3.Error as error:
            log.warning("%s is made anew: %s", self._database, error)
            self._database.unlink(missing_ok=True)
            rows = self._rows()
        self._kept = {name: adapter(Kept).validate_json(row) for name, row in rows}
        self._graph_due = {path: record for path, (record, _) in self._kept.items()}
        self._names_due = dict(self._graph_due)
        self.version += 1

    def _rows(self) -> list[tuple[str, bytes]]:
        """Open the database and return its rows; none of those that another version made."""
        made = zlib.crc32(f"{FORMAT} {__version__} {','.join(grammars())}".encode()) >> 1
        self._store = store = sqlite3.connect(self._database, 10.0, check_same_thread=False)
        store.executescript("PRAGMA journal_mode = TRUNCATE; PRAGMA secure_delete = ON;")
        if store.execute("PRAGMA user_version").fetchone() != (made,):
            store.executescript(
                f"DROP TABLE IF EXISTS records; PRAGMA user_version = {made};"
                "CREATE TABLE records (path TEXT PRIMARY KEY, kept BLOB)"
            )
        return store.execute("SELECT path, kept FROM records").fetchall()
