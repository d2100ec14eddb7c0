"""The vectors of the chunks: made in the background, kept in the database, in memory and in Chroma.

The cache in the database is the truth; the columns, which are searched, and Chroma are filled from
it, and a Chroma that fails is filled anew. What was embedded before is never embedded again. Until
a new embedder's vectors are there, words find.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from vaultmind.errors import IndexUnavailable
from vaultmind.index.chroma import BATCH, ChromaStore, blank_freed_memory
from vaultmind.index.columns import Columns
from vaultmind.index.db import SOME
from vaultmind.index.embed import EmbedderAway, embedded_text, learn_scale, scale_of
from vaultmind.ports import Embedder

if TYPE_CHECKING:
    from vaultmind.ports import Closeness, Matrix

PAUSES = (0.0, 15.0, 30.0, 60.0, 120.0, 300.0)
"""Seconds after the first failure in a row, the second, and so on."""
ORPHANS = 20_000
"""Cached vectors that nothing needs are kept up to so many: a text often comes back."""
_IDLE_SECONDS = 60.0
_PATIENCE_SECONDS = 0.3
"""How long a close waits for a thread that is loading."""
_KEYS = "SELECT text_hash FROM embeddings WHERE embedder = ? AND length(vector) = ?"
_SOME_VECTORS = """SELECT text_hash, vector FROM embeddings
    WHERE embedder = ? AND text_hash IN ({})"""
log = logging.getLogger(__name__)


class Vectors:
    """Embeds in a thread of its own. Implements ports.MessageMeaning."""

    def __init__(
        self,
        columns: Columns,
        store: ChromaStore,
        open_embedder: Callable[[], Embedder | None],
        on_step: Callable[[], None],
    ) -> None:
        self._columns, self._database, self._store = columns, columns.database, store
        self._open_embedder, self._on_step = open_embedder, on_step
        self.owns_embedder = True
        """Whether closing it closes the embedder too."""
        self._opened: Embedder | None = None
        self._serving: Embedder | None = None
        """The embedder whose vectors are searched."""
        self._is_away = False
        """Whether the embedder does not answer."""
        self._storing = threading.Lock()
        self._stored: set[bytes] | None = None
        """What Chroma holds; None: it is to be opened and compared with the cache."""
        self._is_store_broken = self._stopping = False
        self._failures = 0
        self._wanted, self._done = 0, -1
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)
        self.note = "Vectors are still being loaded: search by words only."
        """What a person should know about the vectors; empty when all is well."""
        self.ended = False
        """Whether there are no vectors: no embedder is set."""

    # --- asking --------------------------------------------------------------------------

    @property
    def embedder(self) -> Embedder | None:
        """Return the one in use, once its vectors are searched and while it answers."""
        return None if self._is_away else self._serving

    @property
    def embedder_id(self) -> str:
        """Return its id; empty when there is none."""
        return self.embedder.id if self.embedder else ""

    @property
    def settled(self) -> bool:
        """Return whether all that was known at the last wake has its vector, as far as can be."""
        return self.ended or self._done == self._wanted

    @property
    def loading(self) -> bool:
        """Tell whether an embedder is still to come."""
        return not (self.ended or self._serving or self._is_away)

    @property
    def sends_to(self) -> str:
        """Return the host that texts are sent to, to be embedded; empty when they stay here."""
        return str(getattr(self._opened, "sends_to", ""))

    def query_vector(self, query: str) -> Matrix | None:
        """Return a question's vector, shape (dim,); None while vectors cannot be searched."""
        if (embedder := self.embedder) is not None:
            try:
                return embedder.embed_query(query)
            except Exception as error:  # a model raises what it likes; words still find
                self._note_failure(EmbedderAway(f"{error}"))
                self.wake()
        return None

    def closeness(self, path: str, query: str) -> Closeness | None:
        """Return how near the pieces of a session's messages are in meaning to a question.

        None while meaning cannot be searched; what was not embedded yet is left out.
        """
        vector, columns = self.query_vector(query), self._columns
        if vector is None or columns.embedder != self.embedder_id:
            return None
        columns.follow()
        with columns.lock:
            slots = columns.embedded(path)
            numbers, near = columns.rows["message"][slots], columns.closeness(slots, vector)
        scale = scale_of(columns.embedder)
        return numbers, ((near - scale.nothing) / (scale.same - scale.nothing)).clip(0.0, 1.0)

    # --- life ----------------------------------------------------------------------------

    def release(self) -> None:
        """Begin to load and to embed: the texts, which go first, are searchable or soon will be.

        A model that loads beside them would take half of the interpreter's time.
        """
        if self._thread.ident is None:
            self._thread.start()
        self.wake()

    def wake(self) -> None:
        """Say that there are new chunks, or chunks less."""
        self._wanted += 1
        self._wake.set()

    def renew(self) -> None:
        """Throw Chroma's files away; new ones are filled from the cache in the background."""
        with self._storing:
            blank_freed_memory(True)
            self._store.destroy()
            self._stored = None
        self.wake()

    def close(self) -> None:
        """Stop after the current batch and close the store.

        A thread that only loads, and has written nothing, is left behind: it ends by itself.
        """
        self._stopping = True
        self._wake.set()
        if self.owns_embedder and (close := getattr(self._opened, "close", None)):
            close()
        if self._thread.ident is not None:
            self._thread.join(None if self._serving else _PATIENCE_SECONDS)
        self._serving = None
        self._store.close()

    # --- the thread ----------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping and not self.ended:
            self._wake.clear()
            wanted, pause = self._wanted, _IDLE_SECONDS
            try:
                self._work(wanted)
                self._failures = 0
            except Exception as error:  # Chroma's native part raises what it likes
                if self._stopping:
                    return
                self._note_failure(error)
                pause = PAUSES[min(self._failures, len(PAUSES) - 1)]
                self._failures += 1
            if pause:
                self._done = wanted
            self._on_step()
            self._wake.wait(pause)

    def _note_failure(self, error: Exception) -> None:
        if isinstance(error, EmbedderAway):
            self._is_away = True
            self.note = f"{error} Search goes by words only; it is asked again."
        elif isinstance(error, IndexUnavailable):
            self.note = f"{error} New vectors wait."
        else:
            self._is_store_broken, self._stored = True, None
            self.note = f"The vector store failed ({error}). It is filled again from the cache."
        log.warning("vectors: %s", self.note, exc_info=error)

    def _work(self, wanted: int) -> None:
        """Embed what lacks a vector, until there is news; then bring Chroma up to it."""
        if not self._serving or self._is_away:
            self._embedded(["warm"])
        if (embedder := self._opened) is None:
            self.ended = True
            self.note = "No embedder is set (index.embedder = none): search by words only."
            return
        if self._stopping:
            return
        learn_scale(embedder)
        self._columns.follow()
        self._columns.take_vectors(embedder.id, embedder.dim)
        self._serving, self._is_away = embedder, False
        self._on_step()
        waiting = self._columns.lacking()
        while waiting and not self._stopping and wanted == self._wanted:
            self._embed(embedder, waiting[:BATCH])
            waiting = waiting[BATCH:]
            self._on_step()
        with self._storing:
            self._fill_store(embedder)
        self.note = ""

    def _embedded(self, texts: Sequence[str]) -> Matrix | None:
        """Return the vectors of texts by the embedder, opened now if it was not; None for none."""
        try:
            self._opened = self._opened or self._open_embedder()
            return self._opened.embed(texts) if self._opened else None
        except EmbedderAway:
            raise
        except Exception as error:  # a model raises what it likes
            raise EmbedderAway(f"The embedder failed: {error}.") from error

    def _embed(self, embedder: Embedder, rowids: Sequence[int]) -> None:
        """Give some chunks their vectors: in the cache, and from there in memory."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT text_hash, title, text FROM chunks c WHERE rowid {SOME} AND NOT EXISTS"
                " (SELECT 1 FROM embeddings e WHERE e.text_hash = c.text_hash AND e.embedder = ?"
                " AND length(e.vector) = ?)",
                (json.dumps(rowids), embedder.id, 4 * embedder.dim),
            )
            texts = {key: embedded_text(title, text) for key, title, text in rows}
        made = self._embedded([*texts.values()]) if texts else None
        if made is not None:
            fresh = [
                (key, embedder.id, row.astype("<f4").tobytes(), key)
                for key, row in zip(texts, made, strict=True)
            ]
            with self._database.write() as connection:
                connection.executemany(  # nothing of a chunk that was erased meanwhile
                    "INSERT OR REPLACE INTO embeddings SELECT ?, ?, ?"
                    " WHERE EXISTS (SELECT 1 FROM chunks WHERE text_hash = ?)",
                    fresh,
                )
        self._columns.read_vectors(rowids)

    def _fill_store(self, embedder: Embedder) -> None:
        """Bring Chroma to what the cache holds: at opening, after a loss, and of late."""
        import numpy as np

        cached = self._cached(embedder)
        if self._stored is None:
            self._store.open(embedder.id, fresh=self._is_store_broken)
            self._stored = {bytes.fromhex(name) for name in self._store.names()}
        if self._stored - cached:  # Chroma never uses a place again: begun anew it is smaller
            self._store.open(embedder.id, fresh=True)
            self._stored = set()
        left = sorted(cached - self._stored)
        for at in range(0, len(left), BATCH):
            if self._stopping:
                return
            some = left[at : at + BATCH]
            with self._database.read() as connection:
                read = connection.execute(
                    _SOME_VECTORS.format(",".join("?" * len(some))), (embedder.id, *some)
                )
                rows = dict(read.fetchall())
            if rows:
                vectors = np.frombuffer(b"".join(rows.values()), "<f4").reshape(len(rows), -1)
                self._store.add([key.hex() for key in rows], vectors)
                self._stored.update(rows)
        blank_freed_memory(False)
        self._is_store_broken = False

    def _cached(self, embedder: Embedder) -> set[bytes]:
        """Return the keys of the cached vectors, without orphans once there are many of them."""
        values = (embedder.id, 4 * embedder.dim)
        with self._database.read() as connection:
            (needed,) = connection.execute("SELECT count(*) FROM chunks").fetchone()
            found = {row[0] for row in connection.execute(_KEYS, values)}
        if len(found) > needed + max(ORPHANS, needed):
            with self._database.write() as connection:
                connection.execute(
                    "DELETE FROM embeddings WHERE text_hash NOT IN (SELECT text_hash FROM chunks)"
                )
                found = {row[0] for row in connection.execute(_KEYS, values)}
        return found
