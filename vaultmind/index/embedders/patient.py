"""An embedder that may be away for a while: nobody waits for it twice, and it is asked again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from vaultmind.index.embedders.embed import EmbedderAway
from vaultmind.ports import Embedder

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

PAUSES_SECONDS = (0.0, 15.0, 30.0, 60.0, 120.0, 300.0)
"""After the first failure it is asked again at once, with patience: it may have been loading."""
_STEP_SECONDS = 0.05


@runtime_checkable
class Closing(Protocol):
    """What holds something that is to be let go of."""

    def close(self) -> None:
        """Let go of it."""
        ...


class Pauses:
    """When something that failed is to be tried again: at once, then after longer and longer."""

    def __init__(self) -> None:
        self._failures = 0
        self._due = 0.0

    @property
    def due_seconds(self) -> float:
        """Return in how many seconds it is to be tried again."""
        return max(0.0, self._due - time.monotonic())

    def failed(self) -> None:
        """Note that it failed (again)."""
        pause = PAUSES_SECONDS[min(self._failures, len(PAUSES_SECONDS) - 1)]
        self._failures += 1
        self._due = time.monotonic() + pause

    def over(self) -> None:
        """Note that it went well."""
        self._failures = 0


class Patient:
    """An embedder that keeps the vector of the last question, since several ask it in turn.

    While it is away (`EmbedderAway`) whoever asks is told so at once; `due_seconds` says when it
    is to be tried again, with `try_again`.
    """

    def __init__(self, embedder: Embedder, on_away: Callable[[], None] = lambda: None) -> None:
        self.inner = embedder
        """The embedder itself."""
        self._on_away = on_away
        self._last: tuple[str, Matrix] | None = None
        self._pauses = Pauses()
        self.reason = ""
        """Why it is away; empty while it answers."""

    @property
    def id(self) -> str:
        """Return the name of the embedder behind it."""
        return self.inner.id

    @property
    def dim(self) -> int:
        """Return the length of a vector."""
        return self.inner.dim

    @property
    def away(self) -> bool:
        """Tell whether it did not answer when it was last asked."""
        return bool(self.reason)

    @property
    def due_seconds(self) -> float:
        """Return in how many seconds it is to be tried again."""
        return self._pauses.due_seconds

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one L2-normalised row a text; raises EmbedderAway."""
        self._check()
        try:
            return self.inner.embed(texts)
        except EmbedderAway as error:
            self.rest(error)
            raise

    def embed_query(self, text: str) -> Matrix:
        """Return the vector of a question; raises EmbedderAway."""
        held = self._last
        if held is not None and held[0] == text:
            return held[1]
        self._check()
        try:
            vector = self.inner.embed_query(text)
        except EmbedderAway as error:
            self.rest(error)
            raise
        self._last = (text, vector)
        return vector

    def forget(self) -> None:
        """Forget the last question."""
        self._last = None

    def rest(self, reason: Exception | str) -> None:
        """Note that it does not answer, and when it is to be asked again."""
        self._pauses.failed()
        self.reason = str(reason)
        self._on_away()

    def answered(self) -> None:
        """Note that it answers (again)."""
        self._pauses.over()
        self.reason = ""

    def close(self) -> None:
        """Let go of what the embedder holds; whoever waits for it does so no longer."""
        if isinstance(self.inner, Closing):
            self.inner.close()

    def _check(self) -> None:
        if self.reason:
            raise EmbedderAway(self.reason)


class Warming:
    """The loading of an embedder in a thread of its own: no one who stops waits for it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._failed: list[Exception] = []
        self._thread = threading.Thread(target=self._warm, name="embedder", daemon=True)
        self._thread.start()

    def done(self, stopping: Callable[[], bool]) -> bool:
        """Wait for the end; return False where it is stopped before."""
        while self._thread.is_alive():
            self._thread.join(_STEP_SECONDS)
            if stopping():
                return False
        return True

    @property
    def failure(self) -> Exception | None:
        """Return why it failed; None where it did not."""
        return self._failed[0] if self._failed else None

    def _warm(self) -> None:
        try:
            self._embedder.embed_query("warm")
        except Exception as error:  # a model raises what it likes
            self._failed.append(error)
