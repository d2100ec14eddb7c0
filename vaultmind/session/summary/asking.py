"""How likely a sentence is to ask that something be not kept, told by small linear models.

One sees words; the other sees the sentence's vector of the bundled embedder beside them, and is
asked where that embedder is there. Trained by benchmarks/train_unkept.py on ways to ask and on
sentences that only look like it; a third model tells what a request means.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.memory.weights import VECTORS, WORDS, Weights, hashed, knows, read_weights
from vaultmind.memory.words import fold, tokens

if TYPE_CHECKING:
    from vaultmind.ports import Embedder, Matrix

FOLDER = Path(__file__).parent / "weights"
TRAINER = "benchmarks/train_unkept.py"
PLACES = 1 << 14
SCOPE_PLACES = 1 << 12
ASKS = ("asks",)
SCOPES = ("this", "before", "after", "topic")
"""What a request means: itself, what was said before it, what comes next, or all on a matter."""
SCOPE = "scope"
"""The model of what a request means; by words alone."""
BY_WORDS, BY_VECTORS = 0.55, 0.85
"""Likelihood from which a sentence asks, by words alone and with vectors: chosen on the training
set, held out fold by fold."""
MAYBE = 0.05
"""Likelihood by words from which a sentence is worth a vector."""
BEGINNING, ENDING, APART = 5, 3, 4
"""Letters by which forms of one word are alike; in which Polish and Russian say who speaks and
when; and words that two may be apart to be seen together."""
MOST_WORDS = 60
LEAST, LEAST_LETTERS = 2, 6
"""Words and letters of a request that the models may hear: less says nothing."""
LEAST_OF_A_HEAD = 5
"""Words before a colon that are weighed by themselves: `look at this:` says too little."""


def features(text: str) -> Iterator[str]:
    """Yield what the models see of a sentence."""
    words = [fold(token) for token in tokens(text) if token[0].isalnum()][:MOST_WORDS]
    words = ["#" if word.isdigit() else word for word in words]
    begun = [word[:BEGINNING] for word in words]
    for at, word in enumerate(words):
        yield f"w {word}"
        if len(word) > BEGINNING:
            yield f"b {begun[at]}"
        if len(word) > ENDING:
            yield f"e {word[-ENDING:]}"
        if at:
            yield f"2 {begun[at - 1]} {begun[at]}"
        yield from (f"k {begun[at]} {other}" for other in begun[at + 2 : at + 1 + APART])
    if begun:
        yield f"f {begun[0]}"
        yield f"l {begun[-1]}"
    yield from (mark for mark in ":?" if mark in text)


def pieces(sentence: str) -> Iterator[str]:
    """Yield a sentence, and what stands before its colon: `not for your notes: I have debts`."""
    if not sentence.rstrip().endswith(":") or len(sentence.split()) >= LEAST_OF_A_HEAD:
        yield sentence
    head, colon, tail = sentence.partition(": ")
    if colon and tail.strip() and len(head.split()) >= LEAST_OF_A_HEAD:
        yield f"{head}:"


def asks(sentence: str, embedder: Embedder | None = None) -> bool:
    """Tell whether a sentence asks that something be not kept: by either model.

    So with the embedder no fewer are heard than by words.
    """
    return any(_asks(piece, embedder) for piece in pieces(sentence))


def _asks(sentence: str, embedder: Embedder | None) -> bool:
    if len(sentence.split()) < LEAST or sum(map(str.isalnum, sentence)) < LEAST_LETTERS:
        return False
    by_words = likely(sentence)
    if by_words >= BY_WORDS:
        return True
    if embedder is None or not knows(embedder):
        return False
    return by_words >= MAYBE and _with_vector(sentence, Eyes(embedder)) >= BY_VECTORS


@lru_cache(maxsize=8192)
def likely(sentence: str) -> float:
    """Return how likely a sentence asks that something be not kept, by its words alone."""
    return probability(model(WORDS), sentence)


def probability(weights: Weights, sentence: str, vector: Matrix | None = None) -> float:
    """Return what a model makes of a sentence and its vector."""
    seen = hashed(features(sentence), PLACES)
    beside: Sequence[float] = () if vector is None else vector.tolist()
    (score,) = weights.scores([(seen, 1.0)], beside)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


@lru_cache(maxsize=2048)
def scopes(sentence: str) -> Mapping[str, float]:
    """Return how likely a request has each meaning; they add up to 1."""
    found = scope_model().scores([(hashed(features(sentence), SCOPE_PLACES), 1.0)])
    powers = [math.exp(one - max(found)) for one in found]
    return {name: power / sum(powers) for name, power in zip(SCOPES, powers, strict=True)}


@cache
def model(name: str) -> Weights:
    """Return a model that ships with the package."""
    return read_weights(_file(name), name, ASKS, PLACES, TRAINER)


@cache
def scope_model() -> Weights:
    """Return the model of what a request means."""
    return read_weights(_file(SCOPE), SCOPE, SCOPES, SCOPE_PLACES, TRAINER)


def _file(name: str) -> bytes:
    return (FOLDER / f"{name}.weights").read_bytes()


class Eyes:
    """An embedder that is the same to a cache as another of its id."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Eyes) and self.embedder.id == other.embedder.id

    def __hash__(self) -> int:
        return hash(self.embedder.id)


@lru_cache(maxsize=8192)
def _with_vector(sentence: str, eyes: Eyes) -> float:
    return probability(model(VECTORS), sentence, eyes.embedder.embed([sentence])[0])
