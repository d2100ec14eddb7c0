"""The background thread that gives every chunk its vector, and keeps Chroma in step.

The database is the truth: a chunk is WAITING until Chroma has its vector, what Chroma must
delete stands in `vector_deletes`, and every step can be done twice. Vectors are cached by
content, so that a lost Chroma folder costs no embedding. For another embedder: see `change`.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable

from vaultmind.errors import IndexUnavailable
from vaultmind.index.embedders.calibration import learn_scale, recognise
from vaultmind.index.embedders.embed import EmbedderAway
from vaultmind.index.embedders.opening import Former, opened_both
from vaultmind.index.embedders.patient import Patient, Warming, away_note, pause_seconds
from vaultmind.index.storage.database import Database
from vaultmind.index.vectors import change as changing
from vaultmind.index.vectors.asking import Asking
from vaultmind.index.vectors.cached import compare, prune
from vaultmind.index.vectors.change import IN_USE, IN_USE_SPEC, Change, Made, agree
from vaultmind.index.vectors.filling import EmbedderFailed, Filling
from vaultmind.index.vectors.renewal import Renewal
from vaultmind.index.vectors.store import OwnedStore
from vaultmind.index.vectors.trust import Trust
from vaultmind.ports import Embedder
from vaultmind.types import Progress

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
        former: Former | None = None,
    ) -> None:
        """Take as `former` what opens the embedder of an earlier configuration."""
        super().__init__(database, store)
        self._open_embedder = open_embedder
        self._on_step = on_step
        self._former = former or Former()
        self._configured: Patient | None = None
        self._change: Change | None = None
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
        self._change_note = ""
        self.ended = False
        """Whether there will be no vectors (any more) in this process."""

    @property
    def note(self) -> str:
        """Return what a person should know about the vectors; empty when all is well."""
        change = self._change
        away = away_note(self._serving, None if change else self._configured)
        rest = change.note(self.answering) if change else self._change_note
        return self._note or " ".join(filter(None, (away, rest)))

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

    @property
    def progress(self) -> Progress | None:
        """Return how far a change of embedder is; None where there is none."""
        change = self._change
        return change.progress if change else None

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
        for embedder in (self._serving, self._configured):
            if embedder is not None:
                embedder.forget()
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
        for embedder in (self._serving, self._configured):
            if embedder is not None:
                embedder.close()
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
                self._wake.wait(pause_seconds((self._configured, self._serving), pause))
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
                change = self._change
                prune(self._database, (self.embedder_id, change.embedder.id if change else ""))
        except sqlite3.Error as error:
            log.exception("the index database failed the vectors")
            rest = "New vectors wait." if self.answering else _WORDS_ONLY
            self._note = f"{self._trust.why(error)} {rest}"
        except EmbedderAway:
            self._note = ""
            self._done = wanted

    def _give_up(self, note: str) -> None:
        self._ready, self.ended, self._note = False, True, note
        self._on_step()

    def _load(self) -> None:
        """Load the embedder while the store is probed, which is another process's work.

        If the vectors are another's, that one is loaded first: they are searched meanwhile.
        Can be done again when the database refused it.
        """
        self._store.close()
        spec = self._database.get(IN_USE_SPEC)
        opened = opened_both(self._open_embedder, self._former, spec, self._database.get(IN_USE))
        embedder, old, wrong = opened.embedder, opened.former, opened.wrong
        if embedder is not None:
            self._configured = Patient(embedder, self._wake.set)
        if not (first := old or embedder):
            self._give_up("No embedder is set (index.embedder = none): search by words only.")
            return
        warming = Warming(first)
        self._trust.guarded(self._store.prepare)
        if not self._may_write():
            return
        self._trust.guarded(self._store.open)
        self._trust.guarded(lambda: changing.finish(self._database, self._store))
        if old is None:
            self._take(warming)
        elif warming.done(lambda: self._stopping):
            self._serve_on(Patient(old, self._wake.set), warming.failure)
            if embedder is not None:
                self._take(Warming(embedder))
            elif wrong is not None and self._serving is None:
                raise wrong
            elif wrong is not None:
                self._change_note = f"{wrong} {wrong.hint} {self.embedder_id} is used as before."

    def _serve_on(self, old: Patient, failure: Exception | None) -> None:
        """Search the old vectors with the embedder that made them, if both are whole."""
        if failure or self._trust.lost or self._store.made_by not in ("", old.id):
            old.close()
            return
        learn_scale(self._database, old.inner)
        self._trust.guarded(lambda: compare(self._database, self._store))
        self._serving = old
        self._ready, self._note = not self._trust.lost, ""
        self._on_step()

    def _take(self, warming: Warming) -> None:
        """Wait for the configured embedder and begin to use it; a failure is told or raised."""
        configured = self._configured
        if configured is None or not warming.done(lambda: self._stopping):
            return
        try:
            if warming.failure is not None:
                raise warming.failure
            self._arrived(configured)
            configured.answered()
        except (EmbedderAway, sqlite3.Error) as error:
            configured.rest(self._trust.why(error))
            self._note = self._change_note = ""
        except IndexUnavailable:
            raise
        except Exception as error:  # a model raises what it likes
            self._refused(configured, error)

    def _try_again(self) -> None:
        """Ask those that are away and due; the configured one begins its work when it answers."""
        old, configured = self._serving, self._configured
        if configured and configured.away and not configured.due_seconds:
            self._take(Warming(configured.inner))
        if old and old is not configured and old.away and not old.due_seconds:
            warming = Warming(old.inner)
            if warming.done(lambda: self._stopping):
                old.rest(warming.failure) if warming.failure else old.answered()

    def _arrived(self, embedder: Patient) -> None:
        """Begin to use the configured embedder: at once, or when it has embedded everything."""
        self._note = self._change_note = ""
        before = embedder.id
        recognise(self._database, embedder.inner)
        known = embedder is self._serving or (self._change and embedder is self._change.embedder)
        if known and embedder.id == before:
            return
        if embedder is self._serving:
            self._serving = None
        learn_scale(self._database, embedder.inner)
        previous = self._database.get(IN_USE)
        if previous in ("", embedder.id) or not self._store.collections():
            self._trust.guarded(
                lambda: agree(self._database, self._store, self._filling, self._made(embedder))
            )
            self._serving, self._ready = embedder, not self._trust.lost
            return
        change = Change(self._database, self._store, embedder, self._made(embedder))
        self._trust.guarded(change.begin)
        self._change = change

    def _made(self, embedder: Patient) -> Made:
        """Return what is kept of an embedder beside its vectors."""
        new = embedder is self._configured
        return Made(embedder.id, self._former.spec if new else self._database.get(IN_USE_SPEC))

    def _refused(self, configured: Patient, error: Exception) -> None:
        """Go on with the old embedder, if there is one, since the new one cannot be used."""
        if self._serving is None:
            raise EmbedderFailed(f"the embedder {configured.id} failed: {error}") from error
        log.warning("the embedder %s failed", configured.id, exc_info=error)
        self._change = None
        self._change_note = (
            f"The embedder {configured.id} failed ({error}): {self.embedder_id} is used as before."
        )

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
                    self._note = ""
                if self._serving or not self._change or self._change.embedder.away:
                    self._done = wanted
                if not self._trust.guarded(self._change_step):
                    return True
                wanted = self._wanted
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
            if self._change is None:
                self._trust.gained()
            return True
        return self._filling.rebuild_one(embedder)

    def _change_step(self) -> bool:
        """Do one piece of work for the embedder that is changed to; at the end it is used."""
        change = self._change
        if change is None or change.embedder.away:
            return False
        try:
            if change.step(self._filling):
                self._trust.gained()
                return True
        except EmbedderAway:
            return False
        except EmbedderFailed as error:
            self._refused(change.embedder, error)
            return False
        self._swap(change.embedder)
        return True

    def _swap(self, embedder: Patient) -> None:
        """Search the new vectors from now on, with the new embedder."""
        old = self._serving
        self._ready = False
        self._swaps += 1
        changing.promote(self._database, self._store)
        self._serving, self._change = embedder, None
        self._ready = True
        compare(self._database, self._store)
        if old is not None:
            old.close()

    def _start_over(self) -> None:
        """Fill a fresh store from the cache."""
        if self._trust.reason:
            self._note = f"{self._trust.reason} The vectors are being rebuilt."
        self._trust.start_over(self._empty)

    def _empty(self) -> None:
        """Begin with a fresh store: what was in the old one comes out of the cache.

        A change goes on if the old vectors can still be searched; else the new ones are, from now.
        """
        self._ready = False
        self._swaps += 1
        self._filling.begin_anew()
        self._store.reset()
        change = self._change
        if change and self._serving:
            changing.own(self._database, self._store, self._made(self._serving))
            change.begin()
        elif embedder := change.embedder if change else self._serving:
            self._change, self._serving = None, embedder
            changing.own(self._database, self._store, self._made(embedder))
        self._ready = self._serving is not None
