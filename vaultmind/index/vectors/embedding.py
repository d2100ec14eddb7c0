"""The background thread that gives every chunk its vector, and keeps Chroma in step.

The database is the truth: a chunk is WAITING until Chroma has its vector, what Chroma must
delete stands in `vector_deletes`, and every step can be done twice. Vectors are cached by
content, so that a lost Chroma folder costs no embedding. Another embedder than before begins anew:
until its vectors are there, words find.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable

from vaultmind.errors import IndexUnavailable
from vaultmind.index.db import Database
from vaultmind.index.embedders.calibration import learn_scale, recognise
from vaultmind.index.embedders.embed import EmbedderAway
from vaultmind.index.embedders.patient import Patient, Warming
from vaultmind.index.vectors.asking import Asking
from vaultmind.index.vectors.cached import compare, keep_only, prune
from vaultmind.index.vectors.filling import EmbedderFailed, Filling
from vaultmind.index.vectors.renewal import Renewal
from vaultmind.index.vectors.store import OwnedStore
from vaultmind.index.vectors.trust import Trust
from vaultmind.ports import Embedder

_IN_USE = "embedder"
"""Key of the database: id of the embedder that made the vectors."""
_IDLE_SECONDS = 60.0
_PATIENCE_SECONDS = 0.3
"""How long a close waits for a thread that is loading."""

_WORDS_ONLY = "Search goes by words only; it is tried again."

log = logging.getLogger(__name__)


class Embedding(Asking):
    """Implements ports.Nearest. `open_embedder` and the store do their loading in the thread."""

    def __init__(
        self,
        database: Database,
        store: OwnedStore,
        open_embedder: Callable[[], Embedder | None],
        on_step: Callable[[], None],
    ) -> None:
        super().__init__(database, store)
        self._open_embedder = open_embedder
        self._on_step = on_step
        self._configured: Patient | None = None
        self._stopping = self._loading = self._loaded = False
        self._gate = threading.Lock()
        self._wanted = 0
        self._done = -1
        self._wake = threading.Event()
        self._released = threading.Event()
        self._renewal = Renewal(database)
        self._trust = Trust(lambda: self._stopping, database.path.parent)
        self._filling = Filling(database, store, lambda: self._stopping)
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)
        self._note = "Vectors are still being loaded: search by words only."
        self.ended = False
        """Whether there will be no vectors (any more) in this process."""

    @property
    def note(self) -> str:
        """Return what a person should know about the vectors; empty when all is well."""
        configured = self._configured
        if self._note or configured is None or not configured.away:
            return self._note
        return f"{configured.reason} Search goes by words only; it is asked again."

    @property
    def settled(self) -> bool:
        """Return whether all that was known at the last wake has its vector, or never will."""
        return self.ended or self._done == self._wanted

    @property
    def loading(self) -> bool:
        """Tell whether an embedder is still to come."""
        configured = self._configured
        return not (self.ended or self._serving or (configured and configured.away))

    @property
    def sends_to(self) -> str:
        """Return the host that texts are sent to, to be embedded; empty when they stay here."""
        return str(getattr(self._configured and self._configured.inner, "sends_to", ""))

    def start(self) -> None:
        """Make the thread ready; it loads when it is released."""
        self._loading = True
        self._thread.start()

    def release(self) -> None:
        """Begin to load and to embed: the texts, which go first, are searchable or soon will be.

        A model that loads beside them would take half of the interpreter's time.
        """
        self._released.set()
        self.wake()

    def wake(self) -> None:
        """Say that there are new chunks, or chunks less."""
        self._wanted += 1
        self._wake.set()

    def distrust(self) -> None:
        """Make the thread throw the store away and fill a fresh one from the cache."""
        self._trust.lost = True
        self.wake()

    def renew(self, seconds: float) -> str:
        """Throw the store's files away and fill new ones from the cache, in the background.

        Returns once the old ones are gone, or why they are not, in words.
        """
        if self._configured is not None:
            self._configured.forget()
        if self.ended or self._thread.ident is None:
            self._store.destroy()
            return ""
        asked = self._renewal.ask()
        self.wake()
        if self._renewal.wait(asked, seconds, lambda: self.ended, self._store.destroy):
            return ""
        return "the old vectors are still there: they go when the store is loaded"

    def close(self) -> None:
        """Stop after the current batch and close the store.

        A thread that only loads, and has written nothing, is left behind: it ends by itself.
        """
        with self._gate:
            self._stopping, loading = True, self._loading
        self._wake.set()
        self._released.set()
        if self._configured is not None:
            self._configured.close()
        if loading:
            self._store.abandon()
        if self._thread.ident is not None:
            self._thread.join(_PATIENCE_SECONDS if loading else None)
        self._ready = False
        self._store.close()

    def _run(self) -> None:
        try:
            self._released.wait()
            while not self._stopping and not self.ended:
                self._wake.clear()
                self._round()
                self._on_step()
                pause = self._trust.pause_seconds(_IDLE_SECONDS)
                configured = self._configured
                away = configured is not None and configured.away
                self._wake.wait(configured.due_seconds if configured and away else pause)
        except Exception as error:  # the thread's last word; search goes on with words
            log.exception("vectors are given up")
            self._give_up(f"Vectors are not available ({error}): search by words only.")

    def _round(self) -> None:
        """Do all there is to do; what the database refuses is tried again a while later."""
        wanted = self._wanted
        try:
            if not self._loaded:
                self._load()
                self._loaded = True
            self._try_again()
            if self._catch_up(wanted) and self.answering:
                prune(self._database, (self.embedder_id,))
        except sqlite3.Error as error:
            log.exception("the index database failed the vectors")
            rest = "New vectors wait." if self.answering else _WORDS_ONLY
            self._note = f"{self._trust.why(error)} {rest}"
        except EmbedderAway:
            self._note = ""
            self._done = wanted

    def _give_up(self, note: str) -> None:
        self._ready, self.ended, self._note = False, True, note
        self._renewal.filled()
        self._on_step()

    def _load(self) -> None:
        """Load the embedder while the store is probed, which is another process's work.

        Can be done again when the database refused it.
        """
        self._store.close()
        embedder = self._open_embedder()
        if embedder is None:
            self._give_up("No embedder is set (index.embedder = none): search by words only.")
            return
        self._configured = Patient(embedder, self._wake.set)
        warming = Warming(embedder)
        self._trust.guarded(self._store.prepare)
        if not self._may_write():
            return
        self._trust.guarded(self._store.open)
        self._take(self._configured, warming)

    def _take(self, embedder: Patient, warming: Warming) -> None:
        """Wait for the embedder and begin to use it; a failure is told or raised."""
        if not warming.done(lambda: self._stopping):
            return
        try:
            if warming.failure is not None:
                raise warming.failure
            self._arrived(embedder)
            embedder.answered()
        except (EmbedderAway, sqlite3.Error) as error:
            embedder.rest(self._trust.why(error))
            self._note = ""
        except IndexUnavailable:
            raise
        except Exception as error:  # a model raises what it likes
            raise EmbedderFailed(f"the embedder {embedder.id} failed: {error}") from error

    def _try_again(self) -> None:
        """Ask an embedder that is away and due; it begins its work when it answers."""
        embedder = self._configured
        if embedder and embedder.away and not embedder.due_seconds:
            self._take(embedder, Warming(embedder.inner))

    def _arrived(self, embedder: Patient) -> None:
        """Begin to use the embedder; vectors of another are thrown away."""
        self._note = ""
        before = embedder.id
        recognise(self._database, embedder.inner)
        if embedder is self._serving and embedder.id == before:
            return
        self._serving, self._ready = None, False
        learn_scale(self._database, embedder.inner)
        self._trust.guarded(lambda: self._agree(embedder.id))
        self._serving, self._ready = embedder, not self._trust.lost

    def _agree(self, embedder_id: str) -> None:
        """Make store and database agree on vectors of an embedder; begin anew for another's."""
        previous = self._database.get(_IN_USE)
        if previous != embedder_id and (previous or self._store.collections()):
            log.info("the vectors of %s make room for those of %s", previous, embedder_id)
            keep_only(self._database, (previous, embedder_id))
            self._store.reset()
            self._filling.begin_anew()
        self._database.set(_IN_USE, embedder_id)
        compare(self._database, self._store)

    def _may_write(self) -> bool:
        """Tell whether the loading may go on to what writes: not when it was closed meanwhile."""
        with self._gate:
            self._loading = False
            return not self._stopping

    def _catch_up(self, wanted: int) -> bool:
        """Do all there is to do; return whether that was possible."""
        while not self._stopping and not self.ended:
            if self._trust.resting:
                self._ready, self._done = False, wanted
                self._note = f"{self._trust.reason} {_WORDS_ONLY}"
                return False
            if self._trust.lost:
                self._start_over()
            elif not self._trust.guarded(self._step) and not self._trust.lost:
                if self.answering:
                    self._renewal.filled()
                    self._note = ""
                self._done = wanted
                return True
            self._on_step()
        return False

    def _step(self) -> bool:
        """Do one piece of work; return whether there was any."""
        embedder = self._serving
        if self._renewal.done_with(self._empty) or self._filling.delete_some():
            return True
        if embedder is None or embedder.away:
            return False
        if self._filling.embed_some(embedder):
            self._trust.gained()
            return True
        return self._filling.rebuild_one(embedder)

    def _start_over(self) -> None:
        """Fill a fresh store from the cache."""
        if self._trust.reason:
            self._note = f"{self._trust.reason} The vectors are being rebuilt."
        self._trust.start_over(self._empty)

    def _empty(self) -> None:
        """Begin with a fresh store: what was in the old one comes out of the cache."""
        self._ready = False
        self._filling.begin_anew()
        self._store.reset()
        if self._serving is not None:
            self._database.set(_IN_USE, self._serving.id)
            self._ready = True
