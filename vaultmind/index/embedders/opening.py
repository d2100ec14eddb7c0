"""One embedder for several indexes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from vaultmind.ports import Embedder

if TYPE_CHECKING:
    from vaultmind.ports import Matrix


class Shared:
    """One embedder for several indexes: opened once, and closed by the first one's owner alone."""

    def __init__(self, opens: Callable[[], Embedder | None]) -> None:
        self._opens = opens
        self._lock = threading.Lock()
        self._held: Embedder | None = None

    def open(self) -> Embedder | None:
        """Return the embedder, opened now if it was not; None where none is set."""
        with self._lock:
            self._held = self._held or self._opens()
            return self._held

    def lend(self) -> Embedder | None:
        """Return the same for another index, which cannot close it."""
        embedder = self.open()
        return Lent(embedder) if embedder else None


class Lent:
    """Another's embedder. Implements ports.Embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def id(self) -> str:
        """Return its name."""
        return self._embedder.id

    @property
    def dim(self) -> int:
        """Return the length of a vector."""
        return self._embedder.dim

    @property
    def sends_to(self) -> str:
        """Return the host that texts are sent to; empty when they stay here."""
        return str(getattr(self._embedder, "sends_to", ""))

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one L2-normalised row a text."""
        return self._embedder.embed(texts)

    def embed_query(self, text: str) -> Matrix:
        """Return the vector of a question."""
        return self._embedder.embed_query(text)
