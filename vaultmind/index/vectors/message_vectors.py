"""The vectors of a session's messages, read from the cache. Implements ports.MessageVectors.

No second embedder: what the index has embedded is used again, and what it has not is left out. So
an embedding that failed is repaired by indexing again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from vaultmind.index.db import EMBEDDED, Database
from vaultmind.index.vectors.cached import marks
from vaultmind.index.vectors.embedding import Embedding

if TYPE_CHECKING:
    from vaultmind.ports import Embedder, Matrix

_FEW = 200
"""So many messages are asked for by name; of more than that the whole session is looked through."""

_ROWS = (
    "SELECT c.block, c.message, e.vector FROM chunks c JOIN embeddings e"
    " ON e.text_hash = c.text_hash AND e.embedder = ?"
    f" WHERE c.path = ? AND c.embedded = {EMBEDDED}"
)


class MessageVectors:
    """Any thread."""

    def __init__(
        self, database: Database, embedding: Embedding, wait: Callable[[float], bool]
    ) -> None:
        """Take as `wait` what waits for all vectors, at most so many seconds."""
        self._database = database
        self._embedding = embedding
        self._wait = wait

    @property
    def embedder_id(self) -> str:
        """Return the id of the embedder in use; empty while there is none."""
        return self._embedding.embedder_id

    @property
    def embedder(self) -> Embedder | None:
        """Return what embeds a question, once it is loaded: it keeps the vector of the last."""
        return self._embedding.embedder

    @property
    def vector_state(self) -> object:
        """Return what differs when there may be vectors that were not there before."""
        return self._database.version, self._embedding.embedder_id

    def message_vectors(self, path: str, wanted: Collection[str]) -> dict[str, Matrix]:
        """Return the vectors of messages of a session's file, by block id (or own id without)."""
        pieces: dict[str, list[bytes]] = defaultdict(list)
        if wanted and self.embedder_id:
            for block, own, raw in self._rows(path, wanted):
                if (name := block or own) in wanted:
                    pieces[name].append(raw)
        return {name: _mean(raws) for name, raws in pieces.items()}

    def wait_for_vectors(self, timeout_seconds: float) -> bool:
        """Return once all that is known now has its vector or never will; False on a timeout."""
        return self._wait(timeout_seconds)

    def _rows(self, path: str, wanted: Collection[str]) -> Iterator[tuple[str, str, bytes]]:
        statement = _ROWS
        values: tuple[str, ...] = (self.embedder_id, path)
        if len(wanted) <= _FEW:
            names = marks([*wanted])
            statement += f" AND (c.block IN ({names}) OR (c.block = '' AND c.message IN ({names})))"
            values = (*values, *wanted, *wanted)
        with self._database.read() as connection:
            yield from connection.execute(statement, values)


def _mean(raws: list[bytes]) -> Matrix:
    """Return the direction that some vectors have together."""
    import numpy as np

    rows = [np.frombuffer(raw, dtype="<f4") for raw in raws]
    if len(rows) == 1:
        return np.asarray(rows[0], dtype=np.float32)
    total = np.sum(rows, axis=0, dtype=np.float32)
    return np.asarray(total / max(float(np.linalg.norm(total)), 1e-9), dtype=np.float32)
