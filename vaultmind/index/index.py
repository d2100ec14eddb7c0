"""The index of one vault: its database, its threads, and what may be asked of it.

Two threads: one keeps the database in step with the vault, one gives chunks their vectors
(and one more, watchdog's own, sends hints). Texts are searchable while vectors follow.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from vaultmind.config import Config
from vaultmind.errors import IndexUnavailable, VaultMindError
from vaultmind.index.columns import Columns
from vaultmind.index.db import Database, file_records, file_stamps
from vaultmind.index.erasing import Erasing
from vaultmind.index.fetch import Fetch
from vaultmind.index.folder import Watcher
from vaultmind.index.outlet import Outlet
from vaultmind.index.related import Relations
from vaultmind.index.search import Finder, Search
from vaultmind.index.sync import Describe, Sync
from vaultmind.index.vectors import Vectors
from vaultmind.ports import Clock, Embedder, Report, silent
from vaultmind.types import Fault, IndexState, Progress

_RETRY_SECONDS = 30.0
"""How long after a failed comparison the next one is tried."""

log = logging.getLogger(__name__)


class Index:
    """Opens at once and does its work in the background. Implements ports.FileIndexer."""

    def __init__(
        self,
        config: Config,
        outlet: Outlet,
        *,
        clock: Clock,
        embedder: Callable[[], Embedder | None],
        describe: Describe = lambda file, lang: b"",
    ) -> None:
        """Take what filters the ways out of a vault, or of another folder to be the index of.

        `embedder` opens what gives vectors, if anything is to; `describe` makes the records of
        files for those that plan.
        """
        named = self._config = config.index
        self._stopping = self._busy = False
        self._phase: Any = "starting"
        self._failure = self._watch_note = ""
        self._next_compare = float("-inf")
        self._comparing = threading.Lock()
        self._stepped = threading.Condition()
        self._counts: tuple[Any, ...] = ()
        self._database = Database(config.state_dir / "index.db")
        self.journal = self._database.journal
        """Tells which files were stored, and that none was."""
        self.records = partial(file_records, self._database)
        """Returns what was described of files, with their stamps; raises IndexUnavailable."""
        self._columns = Columns(self._database)
        least = config.auto_rag.min_message_tokens
        sync = Sync(self._database, outlet.folder, least, describe)
        self._sync, self.mark, self.everything = sync, sync.mark, partial(sync.mark, [""])
        if self._database.get("patterns") != (patterns := repr(config.redact.patterns)):
            sync.forget_all()  # its texts were masked by others
            self._database.set("patterns", patterns)
        chroma = config.state_dir / "chroma", named.chroma_url
        self._embedding = Vectors(self._columns, *chroma, embedder, self._step)
        self._embedding.owns_embedder = outlet.folder.what == "vault"
        self.outlet = outlet
        """The filter of every way out, for those that show vault text without searching."""
        memory = outlet.paths.root / outlet.paths.memory_dir
        self._finder = Finder(self._columns, self._embedding, memory, clock)
        self.raw = Search(self._finder, self.outlet, self, self.state)
        """What a text finds, chunk by chunk: for what ranks files by it, or trains a ranker."""
        self.search = self.raw.search
        """Returns the best hits, each checked against the disk. Raises IndexUnavailable."""
        self.fetch = Fetch(self._database, self.outlet).fetch
        """Returns the whole text of a hit's id, a path, or `path#anchor`, fresh from disk."""
        self.relations = Relations(self._finder, self.outlet)
        """What is tied to what a search found. Implements ports.Related."""
        self.erasing = Erasing(self._finder, sync, self._embedding)
        """What finds what is to be forgotten, and takes erased texts out of the index."""
        self._watcher = Watcher(outlet.folder, self.mark)
        self._thread = threading.Thread(target=self._run, name="sync", daemon=True)

    # --- life ----------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to load, to compare and to follow the vault; returns at once."""
        self._thread.start()

    def close(self) -> None:
        """Stop the threads after their current batch and let go of every file."""
        self._stopping = True
        self._sync.stop()
        if self._thread.ident is not None:
            self._thread.join()
        self._embedding.close()
        self._step()
        self._database.close()

    def wait_ready(self, timeout: float, *, vectors: bool = False, report: Report = silent) -> bool:
        """Return once all texts (and vectors) known now are searchable; False on a timeout."""
        deadline = time.monotonic() + timeout
        with self._stepped:
            while not self._is_ready(vectors):
                left = deadline - time.monotonic()
                if left <= 0 or self._stopping or self._phase == "failed":
                    return False
                self._stepped.wait(min(left, 0.5))
                report(self._progress())
        return True

    def reindex(self, report: Report = silent) -> None:
        """Throw the index away and make it anew from the vault; cached vectors are used again."""
        with self._comparing:
            self._phase = "indexing"
            self._sync.forget_all()
            self._embedding.renew()
            self._compare(report)
        if self._stopping:
            raise IndexUnavailable("The index was closed before it was rebuilt.")

    # --- asking and telling --------------------------------------------------------------

    def state(self) -> IndexState:
        """Return how far the index is."""
        files, chunks, faults = self._counted()
        vectors, embeddable = self._columns.vector_counts()
        known = files + sum(fault.severity == "skipped" for fault in faults)
        meaning = self._embedding.note
        if vectors < embeddable and not meaning:
            meaning = (
                f"Search by meaning covers {vectors:,} of {embeddable:,} chunks so far; "
                "search by words covers all."
            )
        notes = (self._database.note, self._failure, meaning, self._watch_note)
        return IndexState(
            phase="failed" if self._database.damaged else self._phase,
            files=known if self._phase == "ready" else max(known, self._sync.total),
            indexed=files,
            chunks=chunks,
            vectors=vectors,
            embeddable=embeddable,
            loading=self._embedding.loading,
            embedder=self._embedding.embedder_id,
            sends_to=self._embedding.sends_to,
            faults=faults,
            notes=tuple(filter(None, (*notes, *self._finder.registry().faults))),
        )

    def paths(self) -> Collection[str]:
        """Return the files that the index has; none until it has all. Raises IndexUnavailable."""
        return file_stamps(self._database) if self._phase == "ready" else ()

    def refresh(self, paths: Iterable[str], patience: float = -1) -> None:
        """Index the vault-relative paths as they stand on disk now (or drop them).

        With `patience` it waits no longer than so many seconds for its turn.
        """
        self._sync.refresh(paths, patience)
        self._embedding.wake()

    # --- the sync thread -----------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping:
            self._busy = True
            try:
                self._round()
            except Exception as error:  # whatever it was, searching goes on and it is tried again
                is_known = isinstance(error, VaultMindError | OSError)
                log.warning("indexing failed and is tried again: %s", error, exc_info=not is_known)
                self._failure = f"Indexing failed: {error} It will be retried soon."
                self._phase = "ready" if self._phase == "ready" else "failed"
                self._next_compare = time.monotonic() + _RETRY_SECONDS
            self._busy = False
            self._step()
            with self._sync.condition:
                left = max(0.0, self._next_compare - time.monotonic())
                has_news = self._sync.condition.wait_for(self._has_news, left)
            if has_news and not self._stopping:  # a save is several events
                time.sleep(self._config.debounce_ms / 1000)
        self._watcher.stop()
        self._step()

    def _round(self) -> None:
        """Do what is due."""
        if self._phase == "starting":
            self._finder.warm()  # before the embedder loads, which holds back others' imports
        paths = self._sync.take()
        if "" in paths or time.monotonic() >= self._next_compare:
            with self._comparing:
                self._compare(silent)
        if paths := paths - {""}:
            self._sync.refresh(paths)
            self._columns.follow()
            self._embedding.wake()

    def _compare(self, report: Report) -> None:
        """Compare the whole vault, watching it first, so that no change falls between."""
        minutes = self._config.reconcile_minutes
        self._next_compare = time.monotonic() + minutes * 60

        def tell(progress: Progress) -> None:
            report(progress)
            self._step()

        if self._phase != "ready":
            self._phase = "indexing"
        if self._config.watch and not self._watcher.alive:
            reason = self._watcher.start()
            self._watch_note = reason and (
                f"Changes are not noticed at once ({reason}): "
                f"VaultMind checks every {minutes:g} minutes."
            )
        self._sync.reconcile(tell)
        self._columns.follow()
        self._phase, self._failure = "ready", ""
        self._embedding.release()
        self.erasing.resume()

    # --- numbers -------------------------------------------------------------------------

    def _step(self) -> None:
        with self._stepped:
            self._stepped.notify_all()

    def _has_news(self) -> bool:
        return self._stopping or bool(self._sync.marked)

    def _is_ready(self, vectors: bool) -> bool:
        if self._phase != "ready" or self._has_news() or self._busy:
            return False
        return not vectors or self._embedding.settled

    def _progress(self) -> Progress:
        state = self.state()
        if self._phase != "ready":
            return Progress(state.indexed, state.files, "indexing text")
        return Progress(state.vectors, state.embeddable, "indexing meaning")

    def _counted(self) -> tuple[int, int, tuple[Fault, ...]]:
        """Return files, chunks and faults of the database, counted anew only after a write."""
        now = (self.journal.version, self._sync.scan_faults)
        if self._counts[:2] != now and not self._database.damaged:
            with suppress(IndexUnavailable), self._database.read() as connection:
                files, chunks = connection.execute(
                    "SELECT (SELECT count(*) FROM files WHERE severity != 'skipped'),"
                    " (SELECT count(*) FROM chunks)"
                ).fetchone()
                self._counts = (*now, files, chunks, self._sync.faults())
        return self._counts[2:] if self._counts else (0, 0, ())
