"""The small linear models that tell what a sentence is to memory; their weights ship as data.

One sees words and cues; the other sees the sentence's vector of the bundled embedder beside them
and is the better one where that embedder is there. The first needs no numpy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.consolidate.facts.features import PLACES, features, leading
from vaultmind.consolidate.types import Category
from vaultmind.memory.weights import VECTORS, WORDS, Weights, knows, read_weights

if TYPE_CHECKING:
    from vaultmind.ports import Embedder, Matrix

FOLDER = Path(__file__).parent.parent / "weights"
LED = 0.5
"""What the beginning of a sentence, as it was said, weighs beside its words."""
HEARD = 600
"""Characters of a message that tell what it is about."""
AMONG = 2
"""Messages from which one has others beside it."""
CLASSES: tuple[Category, ...] = ("CORE", "PREFERENCE", "DECISION", "PROJECT", "SKIP")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A statement to weigh, and where it was said."""

    text: str
    whole: str = ""
    """The sentence as it was said; empty where there is no more than the statement."""
    at: int = -1
    """The number of its message; -1: it stands by itself."""


@dataclass(frozen=True, slots=True)
class Linear:
    """The weights of a model, and what it does with a sentence."""

    weights: Weights
    beside: tuple[float, ...] = ()
    """Class after class, what it weighs that a sentence means the same as the talk around it."""

    def probabilities(
        self,
        text: str,
        vector: Matrix | None = None,
        *,
        whole: str = "",
        around: Matrix | None = None,
    ) -> Mapping[Category, float]:
        """Return how likely a sentence is of each class; they add up to 1.

        `around`: the direction of what else the person said in the talk.
        """
        seen = ((features(text), 1.0), (leading(whole), LED))
        if not self.weights.meaning or vector is None:
            return softmax(self.weights.scores(seen))
        numbers = vector.tolist()
        near = around.tolist() if around is not None else [0.0] * len(numbers)
        alike = math.fsum(a * b for a, b in zip(numbers, near, strict=True))
        scores = self.weights.scores(seen, [*numbers, *near])
        return softmax([one + own * alike for one, own in zip(scores, self.beside, strict=True)])


def softmax(scores: Sequence[float]) -> dict[Category, float]:
    """Return scores, one a class, as probabilities."""
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    return {name: power / sum(powers) for name, power in zip(CLASSES, powers, strict=True)}


def probabilities(
    texts: Sequence[str], embedder: Embedder | None = None
) -> list[Mapping[Category, float]]:
    """Return how likely each statement is of each class, by the better model there is."""
    return weighed([Sentence(text) for text in texts], embedder)


def weighed(
    sentences: Sequence[Sentence],
    embedder: Embedder | None = None,
    around: Mapping[int, Matrix] | None = None,
) -> list[Mapping[Category, float]]:
    """Return how likely each sentence of a talk is of each class, by the better model there is.

    `around`: what `surroundings` tells of the talk.
    """
    if embedder is None or not knows(embedder) or not sentences:
        own = model(WORDS)
        return [own.probabilities(one.text, whole=one.whole) for one in sentences]
    own, near = model(VECTORS), around or {}
    vectors = embedder.embed([one.text for one in sentences])
    return [
        own.probabilities(one.text, vector, whole=one.whole, around=near.get(one.at))
        for one, vector in zip(sentences, vectors, strict=True)
    ]


def surroundings(messages: Mapping[int, str], embedder: Embedder | None) -> dict[int, Matrix]:
    """Return, for each message of a person by its number, the direction of all the others.

    What lasts is mostly said by the way: it lies off what the rest of a talk is about.
    """
    if embedder is None or not knows(embedder) or len(messages) < AMONG:
        return {}
    vectors = embedder.embed([text[:HEARD] for text in messages.values()])
    total = vectors.sum(axis=0)
    found = {}
    for at, vector in zip(messages, vectors, strict=True):
        rest = total - vector
        length = math.sqrt(float(rest @ rest))
        if length > 0:
            found[at] = rest / length
    return found


@cache
def model(name: str) -> Linear:
    """Return a model that ships with the package."""
    return read((FOLDER / f"{name}.weights").read_bytes(), name)


def read(data: bytes, name: str) -> Linear:
    """Return the model of a file's bytes; raises ConfigError for a file of another shape."""
    found = read_weights(data, name, CLASSES, PLACES, "benchmarks/train_extractive.py")
    return Linear(found, tuple(found.head.get("beside", ())))
