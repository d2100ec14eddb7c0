"""The background thread that gives every chunk its vector, and keeps Chroma in step.

The database is the truth: a chunk is WAITING until Chroma has its vector, what Chroma must
delete stands in `vector_deletes`, and every step can be done twice. Vectors are cached by
content, so that a lost Chroma folder costs no embedding.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from vaultmind.errors import IndexUnavailable, VaultMindError
from vaultmind.index.cached import Piece, cached, compare, prune, vectors_of, waiting
from vaultmind.index.calibration import learn_scale
from vaultmind.index.database import EMBEDDED, WAITING, Database
from vaultmind.index.embed import Remembering, embedded_text, warm
from vaultmind.index.renewal import Renewal
from vaultmind.index.vectors import BATCH, OwnedStore, collection_of
from vaultmind.ports import Embedder

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

_MAX_RESETS = 3
"""Fresh starts of a store that keeps failing, before the index does without it."""
_DELETES = 500
_IDLE_SECONDS = 60.0
_PATIENCE_SECONDS = 0.3
"""How long a close waits for a thread that is loading."""
_STEP_SECONDS = 0.05

log = logging.getLogger(__name__)


class EmbedderFailed(VaultMindError):
    """The embedder cannot be used; search does without vectors."""


class Embedding:
    """Implements ports.Nearest. `open_embedder` and the store do their loading in the thread."""

    def __init__(
        self,
        database: Database,
        store: OwnedStore,
        open_embedder: Callable[[], Embedder | None],
        on_step: Callable[[], None],
    ) -> None:
        self._database = database
        self._store = store
        self._open_embedder = open_embedder
        self._on_step = on_step
        self.embedder: Remembering | None = None
        """The one in use, once it is loaded."""
        self._ready = False
        self._suspect = False
        self._resets = 0
        self._stopping = self._loading = False
        self._gate = threading.Lock()
        self._wanted = 0
        self._done = -1
        self._wake = threading.Event()
        self._released = threading.Event()
        self._renewal = Renewal(database)
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)
        self.note = "Vectors are still being loaded: search by words only."
        """What a person should know about the vectors; empty when all is well."""
        self.ended = False
        """Whether there will be no vectors (any more) in this process."""

    @property
    def settled(self) -> bool:
        """Return whether all that was known at the last wake has its vector, or never will."""
        return self.ended or self._done == self._wanted

    @property
    def embedder_id(self) -> str:
        """Return the id of the embedder in use; empty when there is none."""
        return self.embedder.id if self.embedder else ""

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
        self._suspect = True
        self.wake()

    def renew(self, seconds: float) -> str:
        """Throw the store's files away and fill new ones from the cache, in the background.

        Returns once the old ones are gone, or why they are not, in words.
        """
        if self.embedder is not None:
            self.embedder.forget()
        if self.ended or self._thread.ident is None:
            self._store.destroy()
            return ""
        done = self._renewal.ask()
        self.wake()
        if done.wait(seconds):
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
        if loading:
            self._store.abandon()
        if self._thread.ident is not None:
            self._thread.join(_PATIENCE_SECONDS if loading else None)
        self._ready = False
        self._store.close()

    def nearest(
        self, query: str, collections: Sequence[str], limit: int
    ) -> list[tuple[str, float]] | None:
        """Return (chunk id, cosine distance), nearest first; None while that cannot be told."""
        vector = self.query_vector(query)
        return None if vector is None else self.nearest_to(vector, collections, limit)

    def nearest_to(
        self, vector: Matrix, collections: Sequence[str], limit: int
    ) -> list[tuple[str, float]] | None:
        """Return the same for a vector."""
        try:
            found = [hit for name in collections for hit in self._store.query(name, vector, limit)]
        except Exception:  # Chroma's native part raises what it likes; words still find
            log.exception("vectors could not be searched")
            self.distrust()
            return None
        return sorted(found, key=lambda hit: (hit[1], hit[0]))[:limit]

    def closeness(self, query: str, ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine of the query and each of some chunks that has a vector."""
        vector = self.query_vector(query) if ids else None
        if vector is None:
            return {}
        return {name: float(row @ vector) for name, row in self.vectors(ids).items()}

    def vectors(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors of those chunks that have one, from the cache."""
        return vectors_of(self._database, ids, self.embedder_id)

    def query_vector(self, query: str) -> Matrix | None:
        """Return a question's vector; None while there is none."""
        embedder = self.embedder
        if embedder is None or not self._ready:
            return None
        try:
            return embedder.embed_query(query)
        except Exception:  # a model raises what it likes; words still find
            log.exception("a question could not be embedded")
            return None

    def _run(self) -> None:
        try:
            self._released.wait()
            if not self._stopping:
                self._load()
            while not self._stopping and not self.ended:
                self._wake.clear()
                self._round()
                self._on_step()
                self._wake.wait(_IDLE_SECONDS)
        except Exception as error:  # the thread's last word; search goes on with words
            log.exception("vectors are given up")
            self._give_up(f"Vectors are not available ({error}): search by words only.")

    def _round(self) -> None:
        """Do all there is to do; what the database refuses is tried again a while later."""
        wanted = self._wanted
        try:
            if self._catch_up():
                self._renewal.filled()
                prune(self._database, self.embedder_id)
                self._done, self.note = wanted, ""
        except sqlite3.Error as error:
            log.exception("the index database failed the vectors")
            self.note = f"Vectors wait for the index database ({error})."

    def _give_up(self, note: str) -> None:
        self._ready, self.ended, self.note = False, True, note
        self._renewal.filled()
        self._on_step()

    def _load(self) -> None:
        """Load the embedder while the store is probed, which is another process's work."""
        embedder = self._open_embedder()
        if embedder is None:
            self._give_up("No embedder is set (index.embedder = none): search by words only.")
            return
        failed: list[Exception] = []
        warming = threading.Thread(
            target=warm, args=(embedder, failed), name="embedder", daemon=True
        )
        warming.start()
        self._guarded(self._store.prepare)
        if not self._may_write():
            return
        self._guarded(self._store.open)
        while warming.is_alive():
            warming.join(_STEP_SECONDS)
            if self._stopping:
                return
        if failed:
            raise EmbedderFailed(f"the embedder {embedder.id} failed: {failed[0]}")
        learn_scale(self._database, embedder)
        self.embedder = Remembering(embedder)
        self._guarded(self._agree)
        if not self._suspect:
            self._ready, self.note = True, ""

    def _may_write(self) -> bool:
        """Tell whether the loading may go on to what writes: not when it was closed meanwhile."""
        with self._gate:
            self._loading = False
            return not self._stopping

    def _agree(self) -> None:
        """Make store and database agree; start over when the vectors are another embedder's."""
        previous = self._database.get("embedder")
        if previous != self.embedder_id and (previous or self._store.collections()):
            self._store.reset()
            self._wait_for_all()
        self._database.set("embedder", self.embedder_id)
        compare(self._database, self._store)

    def _catch_up(self) -> bool:
        """Do all there is to do; return whether that was possible."""
        while not self._stopping and not self.ended:
            if self._suspect:
                self._start_over()
            elif not self._guarded(self._step):
                return True
            self._on_step()
        return False

    def _step(self) -> bool:
        """Do one piece of work; return whether there was any."""
        return self._renew_all() or self._delete_some() or self._embed_some() or self._rebuild_one()

    def _renew_all(self) -> bool:
        if not self._renewal.due:
            return False
        self._ready = False
        self._renewal.begin()
        self._wait_for_all()
        self._store.reset()
        self._ready = True
        self._renewal.end()
        return True

    def _guarded(self, work: Callable[[], bool | None]) -> bool:
        """Do something with the store; when it fails, distrust the store."""
        try:
            return bool(work())
        except (sqlite3.Error, IndexUnavailable, EmbedderFailed):
            raise
        except Exception as error:  # Chroma's native part raises what it likes
            if self._stopping:
                return False
            log.exception("the vector store failed")
            self._suspect = True
            self.note = f"The vectors are being rebuilt ({error})."
            return True

    def _start_over(self) -> None:
        """Fill a fresh store from the cache; give up when even that keeps failing."""
        self._resets += 1
        if self._resets > _MAX_RESETS:
            self._give_up(f"{self.note} That failed {_MAX_RESETS} times: search by words only.")
            return
        self._ready, self._suspect = False, False
        self._wait_for_all()
        self._guarded(self._store.reset)
        if not self._suspect:
            self._ready, self.note = True, ""

    def _wait_for_all(self) -> None:
        with self._database.write() as connection:
            connection.execute(
                "UPDATE chunks SET embedded = ? WHERE embedded = ?", (WAITING, EMBEDDED)
            )
            connection.execute("DELETE FROM vector_deletes")
            self._database.set("embedder", self.embedder_id)

    def _delete_some(self) -> bool:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT id, collection FROM vector_deletes LIMIT ?", (_DELETES,)
            ).fetchall()
        groups: dict[str, list[str]] = defaultdict(list)
        for name, collection in rows:
            groups[collection].append(name)
        for collection, names in groups.items():
            self._store.delete(collection, names)
        if rows:
            with self._database.write() as connection:
                connection.executemany(
                    "DELETE FROM vector_deletes WHERE id = ? AND collection = ?", rows
                )
        return bool(rows)

    def _embed_some(self) -> bool:
        pieces = waiting(self._database)
        if not pieces:
            return False
        vectors, fresh = self._vectors(pieces)
        groups: dict[str, list[int]] = defaultdict(list)
        for place, piece in enumerate(pieces):
            groups[collection_of(piece.kind, piece.agent)].append(place)
        with self._database.write() as connection:
            connection.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)", fresh)
        for collection, places in groups.items():
            self._store.upsert(collection, [pieces[place].id for place in places], vectors[places])
        done = [(EMBEDDED, piece.id, piece.text_hash) for piece in pieces]
        with self._database.write() as connection:
            connection.executemany(
                "UPDATE chunks SET embedded = ? WHERE id = ? AND text_hash = ?", done
            )
        self._resets = 0
        return True

    def _vectors(self, pieces: Sequence[Piece]) -> tuple[Matrix, list[tuple[bytes, str, bytes]]]:
        """Return a row a piece, and the rows that were not in the cache, to be put there."""
        import numpy as np

        embedder = self.embedder
        if embedder is None:
            raise EmbedderFailed("no embedder is loaded")
        known = cached(self._database, [piece.text_hash for piece in pieces], embedder.id)
        lacking = {p.text_hash: p for p in pieces if p.text_hash not in known}
        try:
            made = embedder.embed([embedded_text(p.title, p.text) for p in lacking.values()])
        except Exception as error:  # a model raises what it likes
            raise EmbedderFailed(f"the embedder {embedder.id} failed: {error}") from error
        fresh = [
            (text_hash, embedder.id, row.astype("<f4").tobytes())
            for text_hash, row in zip(lacking, made, strict=True)
        ]
        known.update((text_hash, raw) for text_hash, _, raw in fresh)
        rows = [np.frombuffer(known[piece.text_hash], dtype="<f4") for piece in pieces]
        return np.asarray(np.stack(rows), dtype=np.float32), fresh

    def _rebuild_one(self) -> bool:
        for collection in self._store.bloated():
            log.info("rebuilding the vectors of %s: too much was deleted there", collection)
            self._store.rebuild(collection, partial(self._all_of, collection))
            return True
        return False

    def _all_of(self, collection: str) -> Iterator[tuple[list[str], Matrix]]:
        """Yield every vector of a collection, from the cache, in batches."""
        kind, _, agent = collection.partition("-")
        last = 0
        while not self._stopping:
            with self._database.read() as connection:
                rows = connection.execute(
                    "SELECT rowid, id, kind, agent, text_hash, title, text FROM chunks WHERE "
                    "kind = ? AND agent = ? AND embedded = ? AND rowid > ? ORDER BY rowid LIMIT ?",
                    (kind, agent, EMBEDDED, last, BATCH),
                ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            pieces = [Piece(*row[1:]) for row in rows]
            yield [piece.id for piece in pieces], self._vectors(pieces)[0]
        raise InterruptedError("stopping")
