"""The steps that bring vectors into the store. Each can be done twice, whatever broke it off."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from vaultmind.errors import VaultMindError
from vaultmind.index.db import EMBEDDED, WAITING, Database
from vaultmind.index.embedders.embed import EmbedderAway, embedded_text
from vaultmind.index.vectors.cached import Piece, cached, waiting
from vaultmind.index.vectors.store import BATCH, OwnedStore, collection_of
from vaultmind.ports import Embedder

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

_DELETES = 500

log = logging.getLogger(__name__)


class EmbedderFailed(VaultMindError):
    """The embedder cannot be used; search does without vectors."""


class Filling:
    """Vectors for chunks."""

    def __init__(self, database: Database, store: OwnedStore, stopping: Callable[[], bool]) -> None:
        self._database = database
        self._store = store
        self._stopping = stopping

    def begin_anew(self) -> None:
        """Note that the store is empty: all chunks wait again."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE chunks SET embedded = ? WHERE embedded = ?", (WAITING, EMBEDDED)
            )
            connection.execute("DELETE FROM vector_deletes")

    def delete_some(self) -> bool:
        """Take some vectors out that belong to no chunk; tell if there were any."""
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

    def embed_some(self, embedder: Embedder) -> bool:
        """Give some chunks that wait their vector; tell whether there were any."""
        pieces = waiting(self._database)
        if not pieces:
            return False
        self._put(embedder, pieces)
        done = [(EMBEDDED, piece.id, piece.text_hash) for piece in pieces]
        with self._database.write() as connection:
            connection.executemany(
                "UPDATE chunks SET embedded = ? WHERE id = ? AND text_hash = ?", done
            )
        return True

    def rebuild_one(self, embedder: Embedder) -> bool:
        """Make a collection anew from which too much was deleted; tell whether there was one."""
        for collection in self._store.bloated():
            log.info("rebuilding the vectors of %s: too much was deleted there", collection)
            self._store.rebuild(collection, partial(self._all_of, collection, embedder))
            return True
        return False

    def _put(self, embedder: Embedder, pieces: Sequence[Piece]) -> None:
        """Put the vectors of some chunks into the cache and into the store."""
        vectors, fresh = self._vectors(embedder, pieces)
        groups: dict[str, list[int]] = defaultdict(list)
        for place, piece in enumerate(pieces):
            groups[collection_of(piece.kind, piece.agent)].append(place)
        with self._database.write() as connection:
            connection.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)", fresh)
        for collection, places in groups.items():
            self._store.upsert(collection, [pieces[place].id for place in places], vectors[places])

    def _vectors(
        self, embedder: Embedder, pieces: Sequence[Piece]
    ) -> tuple[Matrix, list[tuple[bytes, str, bytes]]]:
        """Return a row a piece, and the rows that were not in the cache, to be put there."""
        import numpy as np

        known = cached(self._database, [piece.text_hash for piece in pieces], embedder.id)
        lacking = {p.text_hash: p for p in pieces if p.text_hash not in known}
        try:
            texts = [embedded_text(p.title, p.text) for p in lacking.values()]
            made: Sequence[Matrix] | Matrix = embedder.embed(texts) if texts else ()
        except EmbedderAway:
            raise
        except Exception as error:  # a model raises what it likes
            raise EmbedderFailed(f"the embedder {embedder.id} failed: {error}") from error
        fresh = [
            (text_hash, embedder.id, row.astype("<f4").tobytes())
            for text_hash, row in zip(lacking, made, strict=True)
        ]
        known.update((text_hash, raw) for text_hash, _, raw in fresh)
        rows = [np.frombuffer(known[piece.text_hash], dtype="<f4") for piece in pieces]
        return np.asarray(np.stack(rows), dtype=np.float32), fresh

    def _all_of(self, collection: str, embedder: Embedder) -> Iterator[tuple[list[str], Matrix]]:
        """Yield every vector of a collection, from the cache, in batches."""
        kind, _, agent = collection.partition("-")
        last = 0
        while not self._stopping():
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
            yield [piece.id for piece in pieces], self._vectors(embedder, pieces)[0]
        raise InterruptedError("stopping")
