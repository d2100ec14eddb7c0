"""A source: a folder with its index, and what is known of its files: records, graph, names, past.

The index stores a record with each file that it reads; here they are held in memory.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from vaultmind.episodes.watch import Commit
from vaultmind.errors import IndexUnavailable, PathRefused
from vaultmind.index.db import NEVER
from vaultmind.planner.git import History
from vaultmind.planner.graph import Graph, WordTable, path_words, told_by
from vaultmind.planner.types import CacheStatus, FileRecord
from vaultmind.ports import Clock
from vaultmind.tables import adapter
from vaultmind.types import PERSON
from vaultmind.vault.files import FileStat

if TYPE_CHECKING:
    from vaultmind.index.index import Index

SourceKind = Literal["vault", "linked"]
KEPT_SECONDS = 1800.0
"""How long the records of files (5 KB each, with what is made of them) are kept for the next plan.
"""
Kept = tuple[FileRecord, FileStat]
"""A record, and the stamp of its file when it was read."""


class Source:
    """A folder with its index. Paths in it are relative, with `/`. Any thread; tables under `lock`.

    The memory folder is no part of it: what an agent's memory says reaches other agents by no
    title, heading, link or task. Memory is recalled by search, which filters for each caller.
    """

    def __init__(self, name: str, kind: SourceKind, index: Index, clock: Clock) -> None:
        self.name, self.kind, self.index, self.clock = name, kind, index, clock
        self.reader, self.lock = index.outlet.reader, threading.RLock()
        """`reader` reads its files, and refuses symlinks and what leads out."""
        self.root = self.reader.paths.root
        self.history = History(self.root, self.shows, self._may_be_named)
        self.uncommitted = self.history.uncommitted
        """Returns what differs from the last commit, and when each file changed."""
        """Rules, and what they say of the files that were asked for."""
        self._used = float("-inf")
        """When somebody last planned or worked here."""
        self._forget()

    def _forget(self) -> None:
        self._kept: dict[str, Kept] = {}
        self.graph = Graph()
        """The edges between the files."""
        self._names = WordTable[str](), WordTable[str]()
        self._names_due: dict[str, FileRecord | None] = {}
        self._seen = NEVER
        """The journal's version that the records stand at."""

    # --- asking --------------------------------------------------------------------------

    @property
    def settled(self) -> bool:
        """Tell whether index, records and history are as the last change left them."""
        is_current = self._seen == self.index.journal.version and self.index.wait_ready(0.0)
        return is_current and not self.history.moved()

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
    def names(self) -> tuple[WordTable[str], WordTable[str]]:
        """Return the words of what files are called, and of what they define or are about.

        Of 10,000 notes they take 60 MB: they are made once somebody plans.
        """
        with self.lock:
            while self._names_due:
                path, record = self._names_due.popitem()
                self._names[0].put(path, path_words(record) if record else None)
                self._names[1].put(path, " ".join(told_by(record)) if record else None)
            return self._names

    def shows(self, path: str) -> bool:
        """Tell whether a file may be shown to whoever may see the source, by the rules now."""
        outlet = self.index.outlet
        return not outlet.paths.in_memory(path) and outlet.shows(path, PERSON)

    def _may_be_named(self, path: str) -> bool:
        """Tell whether words about a file may be shown, be it of a kind that is not indexed."""
        memory = f"{self.reader.paths.memory_dir}/".casefold()
        return not path.casefold().startswith(memory) and not self.index.outlet.excludes(path)

    def verify(self, paths: Collection[str]) -> bool:
        """Look whether files are on disk as they were read; read anew those that are not.

        Returns whether all were. Raises VaultNotFound while the source itself is not there.
        """
        stale = [path for path in paths if not self._is_same(path)]
        if stale:
            with suppress(IndexUnavailable):
                self.index.refresh(stale)
            self.follow()
        return not stale

    def _is_same(self, path: str) -> bool:
        kept = self._kept.get(path) if self.shows(path) else None
        with suppress(PathRefused):
            return kept is not None and self.reader.stat(path) == kept[1]
        return False

    # --- what is done in it --------------------------------------------------------------

    def relative(self, path: Path) -> str:
        """Return a file's path in the source; empty for one that is not of it or not shown.

        A link is followed: what counts is the file that was read or changed. An agent's memory is
        no part of the work.
        """
        self._used = time.monotonic()
        try:
            inside = path.resolve().relative_to(self.root).as_posix()
        except (OSError, RuntimeError, ValueError):
            return ""
        return inside if self.shows(inside) else ""

    def commits(self, since: float) -> tuple[Commit, ...]:
        """Return the commits that were made here since then and still stand, oldest first."""
        return tuple(one for one in self.history.commits_made(since) if one.changed)

    # --- following -----------------------------------------------------------------------

    def settle(self, timeout_seconds: float) -> CacheStatus:
        """Take what the index has stored, and the history as far as there is time.

        `hit`: nothing had changed; `rebuilt`: what had is read; `partial`: not all of it.
        """
        self._used = time.monotonic()
        deadline, seen = self._used + timeout_seconds, self._seen
        is_known = self.follow() and self.history.settle(deadline - time.monotonic())
        return "partial" if not is_known else "hit" if self._seen == seen else "rebuilt"

    def tend(self) -> None:
        """Keep in step while somebody works here; after that hold no files' records in memory."""
        if time.monotonic() < self._used + KEPT_SECONDS:
            self.follow()
        elif self._kept:
            with self.lock:
                self._forget()
        self.history.read()

    def follow(self) -> bool:
        """Take the records that the index has stored since the last time.

        False while the index cannot be read: what was known serves on.
        """
        with self.lock:
            version, written = self.index.journal.since(self._seen)
            if version == self._seen:
                return True
            try:
                stored = self.index.records(written)
            except IndexUnavailable:
                return False
            read, changed = adapter(FileRecord).validate_json, dict[str, FileRecord | None]()
            for path in {*(self._kept if written is None else written), *stored}:
                before, after = self._kept.pop(path, (None,))[0], None
                if path in stored and self.shows(path):
                    raw, stat = stored[path]
                    after = read(raw)
                    self._kept[path] = after, stat
                if before != after:
                    changed[path] = after
            self.graph.update(changed)
            self._names_due |= changed
            self._seen = version
        return True
