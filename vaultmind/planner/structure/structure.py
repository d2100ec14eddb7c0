"""What is known of the files of one source, kept in step with its index."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from vaultmind import __version__
from vaultmind.errors import IndexUnavailable, VaultNotFound
from vaultmind.index.db import NEVER, FileRow, Journal
from vaultmind.index.outlet import Outlet
from vaultmind.index.taken import is_secret_file
from vaultmind.planner.structure.facets import FACETS, changed_layers
from vaultmind.planner.structure.git import History
from vaultmind.planner.structure.graph import Graph
from vaultmind.planner.structure.reading import Reading
from vaultmind.planner.structure.records import FileRecord
from vaultmind.planner.structure.store import Kept, Store
from vaultmind.planner.types import CacheStatus, Layer
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Progress
from vaultmind.vault.files import VaultReader

FILE = "structure.db"
"""Beside the index of a source, in its state folder."""
_BATCH_FILES = 32
_REST_SECONDS = 0.002
"""Between two files in the background, so that questions are answered meanwhile."""
_READY_SECONDS = 2.0
_NICE = 15

log = logging.getLogger(__name__)


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
    """Records and the graph of one source. Safe for many threads.

    The memory folder is no part of it: what an agent's memory says reaches other agents by no
    title, heading, link or task. Memory is recalled by search, which filters for each caller.
    """

    def __init__(
        self, name: str, database: Path, index: Followed, reader: VaultReader, *, clock: Clock
    ) -> None:
        """`database` is the file that keeps the records; it is opened when first needed."""
        self.name = name
        self.reader = reader
        self.clock = clock
        self.version = 0
        """Another one after any record changed."""
        self.cache: dict[Any, Any] = {}
        """What is made of the records and kept by whoever makes it; see `layers.cache`."""
        root = reader.paths.root
        self.history = History(
            root, self._visible, self._named, lambda: index.outlet.rules, secret=self._secret
        )
        """What git says of the source."""
        self._database = database
        self._index = index
        self._reading = Reading(reader)
        self._store: Store | None = None
        self._kept: dict[str, Kept] = {}
        self._records: dict[str, FileRecord] = {}
        self._snapshot: tuple[int, Mapping[str, FileRecord]] = (0, MappingProxyType({}))
        self._shown: tuple[object, dict[str, bool]] = (None, {})
        """Rules, and what they say of the files that were asked for."""
        self._stamps: dict[Layer, int] = dict.fromkeys(FACETS, 0)
        self._graph = Graph.of({})
        self._graph_due: dict[str, FileRecord | None] = {}
        self._seen = NEVER
        """The journal's version that the records stand at."""
        self._waiting: dict[str, FileRow | None] = {}
        self._total = 0
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"structure {name}", daemon=True)

    # --- life ----------------------------------------------------------------------------

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

    def settle(self, timeout_seconds: float) -> CacheStatus:
        """Bring what changed in the index up to date, as far as there is time.

        `hit`: nothing had changed; `partial`: some files had, or there was not time for all;
        `rebuilt`: all were read.
        """
        if self._seen == self._index.journal.version and not self._waiting:
            return "hit"
        deadline = time.monotonic() + timeout_seconds
        with self._lock:
            before = len(self._records)
            try:
                self._look()
            except IndexUnavailable:  # what was known serves on
                return "partial"
            waiting = len(self._waiting)
            while self._waiting and time.monotonic() < deadline and not self._stopping.is_set():
                if not self._take(_BATCH_FILES, deadline):
                    break
            if self._waiting:
                return "partial"
            if not waiting:
                return "hit"
            return "rebuilt" if waiting >= max(before, 1) else "partial"

    @property
    def progress(self) -> Progress:
        """Return how many of the files are read."""
        waiting = len(self._waiting)
        return Progress(max(0, self._total - waiting), self._total, "reading structure")

    @property
    def fault(self) -> str:
        """Return what does not work, in words; nothing when all does."""
        return self._store.fault if self._store else ""

    @property
    def settled(self) -> bool:
        """Tell whether nothing waits: index and records are as the last change left them."""
        known = self._seen == self._index.journal.version and not self._waiting
        return known and self._index.wait_ready(0.0)

    # --- asking --------------------------------------------------------------------------

    def record(self, path: str) -> FileRecord | None:
        """Return what is known of a file."""
        return self._records.get(path)

    def records(self) -> Mapping[str, FileRecord]:
        """Return all records by path, as of now: what it returned never changes."""
        version, held = self._snapshot
        if version != self.version:
            with self._lock:
                held = MappingProxyType(dict(self._records))
                self._snapshot = (self.version, held)
        return held

    def kept(self, path: str) -> Kept | None:
        """Return a record with its file's stamp and times."""
        return self._kept.get(path)

    def stamp(self, *wanted: Layer) -> tuple[int, ...]:
        """Return what differs once some layers see a difference. Costs nothing."""
        return tuple(self._stamps[layer] for layer in wanted)

    @property
    def graph(self) -> Graph:
        """Return the edges between the files, as of now."""
        with self._lock:
            due, self._graph_due = self._graph_due, {}
            if due:
                many = len(due) * 4 > len(self._records)
                self._graph = Graph.of(self._records) if many else self._graph.with_changed(due)
            return self._graph

    def shows(self, path: str) -> bool:
        """Tell whether a file may be shown, by the rules in force now."""
        return self._visible(path)

    def verify(self, paths: Collection[str]) -> bool:
        """Look whether files are on disk as they were read; read anew those that are not.

        Returns whether all were. Of the files that were not, the index is told as well. Raises
        VaultNotFound while the source itself is not there.
        """
        stale = self._stale(paths)
        if not stale:
            return True
        self._index.outlet.ground.check()  # an unplugged disk drops no file
        self._index.mark(stale)
        self.reread(stale)
        return False

    def reread(self, paths: Iterable[str]) -> None:
        """Read files as they stand on disk now, whatever the index has."""
        with self._lock:
            length = self.history.oid_length
            changed: dict[str, Kept | None] = {}
            for path in paths:
                held = self._kept.get(path)
                language = held.record.language if held and held.record.shape == "note" else ""
                shown = self._visible(path)
                changed[path] = self._reading.read(path, language, length) if shown else None
            self._store_all(changed)

    # --- following -----------------------------------------------------------------------

    def _run(self) -> None:
        """Follow the index, at low priority."""
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        try:
            while not self._stopping.is_set():
                with suppress(IndexUnavailable):  # it is being made anew
                    self._follow()
                    continue
                self._stopping.wait(_READY_SECONDS)
        except Exception as error:  # the thread's last word; settle goes on in the foreground
            if not self._stopping.is_set():
                log.exception("the structure of %s no longer follows: %s", self.name, error)

    def _follow(self) -> None:
        """Take what has changed, a file at a time; then wait for the next change."""
        journal = self._index.journal
        if not self._index.wait_ready(_READY_SECONDS) and self._seen == NEVER:
            return
        with self._lock:
            self._look()
        while self._waiting and not self._stopping.is_set():
            with self._lock:
                if not self._take(1, float("inf")):
                    break
            self._stopping.wait(_REST_SECONDS)
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
        rows = {row.path: row for row in self._index.rows(paths) if self._visible(row.path)}
        gone = self._kept if paths is None else paths
        for path in [one for one in gone if one not in rows]:
            self._waiting.pop(path, None)
            if path in self._kept:
                self._waiting[path] = None
        for path, row in rows.items():
            held = self._kept.get(path)
            if held is None or held.stat != row.stat or held.record.sha != row.sha:
                self._waiting[path] = row
            elif path in self._waiting:
                del self._waiting[path]
        self._total = len(rows) if paths is None else len(self._kept.keys() | rows.keys())
        self._seen = version

    def _open(self) -> None:
        """Open what was kept from the last time."""
        self._store = Store(self._database, self._format())
        self._keep(self._store.load())

    def _format(self) -> str:
        """Return what else a record depends on: the version, and which grammars there are."""
        from vaultmind.planner.structure.code import grammars

        return f"{__version__} {sorted(grammars().items())}"

    def _take(self, most: int, deadline: float) -> bool:
        """Read some of the files that wait; False while the source is not there. Under the lock."""
        changed: dict[str, Kept | None] = {}
        is_there = True
        while self._waiting and len(changed) < most and time.monotonic() < deadline:
            path, row = next(iter(self._waiting.items()))
            try:
                changed[path] = self._read(path, row) if row else None
            except VaultNotFound:  # it waits on
                is_there = False
                break
            del self._waiting[path]
        self._store_all(changed)
        return is_there

    def _read(self, path: str, row: FileRow) -> Kept | None:
        held = self._kept.get(path)
        if held is not None and held.record.sha == row.sha and row.sha:
            return replace(held, stat=row.stat)  # touched, not changed
        return self._reading.read(path, row.lang, self.history.oid_length)

    def _store_all(self, changed: dict[str, Kept | None]) -> None:
        """Keep what was read, here and in the database. Under the lock."""
        now = self.clock().timestamp()
        for path, kept in changed.items():
            held = self._kept.get(path)
            if kept and held and kept.record.sha != held.record.sha:
                changed[path] = replace(kept, seen_at=now)
            elif kept and held:
                changed[path] = replace(kept, seen_at=held.seen_at)
        if changed:
            self._keep(changed)
            if self._store is not None:
                self._store.put(changed)

    def _keep(self, changed: Mapping[str, Kept | None]) -> None:
        for path, kept in changed.items():
            before = self._records.get(path)
            after = kept.record if kept else None
            if kept is None:
                self._kept.pop(path, None)
                self._records.pop(path, None)
            else:
                self._kept[path] = kept
                self._records[path] = kept.record
            if before == after:
                continue
            self.version += 1
            self._graph_due[path] = after
            for layer in changed_layers(before, after):
                self._stamps[layer] += 1

    def _stale(self, paths: Collection[str]) -> list[str]:
        """Return the files that are not on disk as they were read, or not to be shown."""
        root, lstat, held = f"{os.fspath(self.reader.paths.root)}/", os.lstat, self._kept
        rules, known = self._shown
        known = known if rules is self._index.outlet.rules else {}
        stale = []
        for path in paths:
            kept = held.get(path)
            if kept is None or not (known.get(path) or self._visible(path)):
                stale.append(path)
                continue
            try:
                found = lstat(root + path)
            except OSError:
                stale.append(path)
                continue
            stat, size = kept.stat, found.st_size
            is_same = found.st_mtime_ns == stat.mtime_ns and found.st_ctime_ns == stat.ctime_ns
            if not is_same or size != stat.size:
                stale.append(path)
        return stale

    def _visible(self, path: str) -> bool:
        """Tell whether a file may be shown to everybody who may see the source at all."""
        outlet = self._index.outlet
        rules, known = self._shown
        if rules is not outlet.rules:
            known = {}
            self._shown = (outlet.rules, known)
        shown = known.get(path)
        if shown is None:
            shown = not outlet.paths.in_memory(path) and outlet.shows(path, PERSON)
            known[path] = shown
        return shown

    def _secret(self, path: str) -> bool:
        """Tell whether a file is hidden for its name alone, which says that it holds secrets."""
        return is_secret_file(path) and self._named(f"{path.rpartition('/')[0]}/")

    def _named(self, path: str) -> bool:
        """Tell whether words about a file may be shown, be it of a kind that is not indexed."""
        paths, outlet = self.reader.paths, self._index.outlet
        memory = f"{paths.memory_dir}/".casefold()
        return not path.casefold().startswith(memory) and not outlet.excludes(path)
