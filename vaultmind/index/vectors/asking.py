"""What is near in meaning, asked of the store."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vaultmind.index.db import Database
from vaultmind.index.embedders.embed import EmbedderAway
from vaultmind.index.embedders.patient import Patient
from vaultmind.index.vectors.cached import vectors_of
from vaultmind.index.vectors.store import OwnedStore

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

log = logging.getLogger(__name__)


class Asking:
    """Implements ports.Nearest. Any thread; whoever owns the store says what is served."""

    def __init__(self, database: Database, store: OwnedStore) -> None:
        self._database = database
        self._store = store
        self._serving: Patient | None = None
        """The embedder whose vectors are searched."""
        self._ready = False

    @property
    def embedder(self) -> Patient | None:
        """Return the one in use, once it is loaded and while it answers."""
        embedder = self._serving
        return None if embedder is None or embedder.away else embedder

    @property
    def embedder_id(self) -> str:
        """Return the id of the embedder whose vectors are searched; empty when there is none."""
        embedder = self._serving
        return embedder.id if embedder else ""

    @property
    def answering(self) -> str:
        """Return the same, empty too while it is away or its vectors cannot be searched."""
        embedder = self.embedder
        return embedder.id if embedder and self._ready else ""

    def distrust(self) -> None:
        """Take note that the store failed."""

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
        embedder = self._serving
        if embedder is None or embedder.dim not in (0, len(vector)):
            return None
        try:
            found = [hit for name in collections for hit in self._store.query(name, vector, limit)]
        except Exception:  # Chroma's native part raises what it likes; words still find
            if self._ready:
                log.exception("vectors could not be searched")
                self.distrust()
            return None
        return sorted(found, key=lambda hit: (hit[1], hit[0]))[:limit]

    def vectors(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors of those chunks that have one, from the cache."""
        return vectors_of(self._database, ids, self.embedder_id)

    def query_vector(self, query: str) -> Matrix | None:
        """Return a question's vector; None while there is none."""
        embedder = self._serving
        if embedder is None or embedder.away or not self._ready:
            return None
        try:
            return embedder.embed_query(query)
        except EmbedderAway as error:
            log.warning("a question could not be embedded: %s", error)
        except Exception:  # a model raises what it likes; words still find
            log.exception("a question could not be embedded")
        return None
