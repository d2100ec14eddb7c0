"""The small linear models that tell what a sentence is to memory; their weights ship as data.

One sees words and cues; the other sees the sentence's vector of the bundled embedder beside them
and is the better one where that embedder is there. A file is one JSON line (classes, scales, how
it was trained) and then one signed byte a weight. Sums over some hundred features take
microseconds, so that the first needs no numpy.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.consolidate.facts.features import PLACES, features, leading
from vaultmind.consolidate.facts.types import Category
from vaultmind.errors import ConfigError

if TYPE_CHECKING:
    from vaultmind.ports import Embedder, Matrix

FOLDER = Path(__file__).parent / "weights"
WORDS, VECTORS = "words", "use"
"""The models that ship: by words alone, and with vectors of the embedder of that name."""
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
    """One weight a class and place, and one a class that every sentence gets."""

    weights: array[int]
    """Class after class, each of `PLACES` signed bytes."""
    scale: float
    """What a byte of 1 weighs."""
    bias: tuple[float, ...]
    meaning: tuple[tuple[float, ...], ...] = ()
    """Class after class, one weight a number of the sentence's vector and then one a number of
    the talk's; none for words alone."""
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
        scores = list(self.bias)
        for places, weighs in ((features(text), 1.0), (leading(whole), LED)):
            share = weighs * self.scale / math.sqrt(max(1, len(places)))
            for at in range(len(scores)):
                scores[at] += share * sum(self.weights[at * PLACES + one] for one in places)
        if self.meaning and vector is not None:
            numbers = vector.tolist()
            near = around.tolist() if around is not None else [0.0] * len(numbers)
            alike = math.fsum(a * b for a, b in zip(numbers, near, strict=True))
            for at, own in enumerate(self.meaning):
                both = zip(own, [*numbers, *near], strict=True)
                scores[at] += math.fsum(a * b for a, b in both) + self.beside[at] * alike
        return softmax(scores)


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


def knows(embedder: Embedder) -> bool:
    """Tell whether a model that ships was trained with the vectors of an embedder."""
    return embedder.id.partition("-")[0] == VECTORS


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
    head, _, body = data.partition(b"\n")
    described = json.loads(head)
    places, dim = PLACES * len(CLASSES), int(described["dim"])
    if tuple(described["classes"]) != CLASSES or len(body) != places + dim * len(CLASSES):
        raise ConfigError(
            f"The weights {name} hold {len(body)} numbers for {described['classes']}; "
            f"{places} for {list(CLASSES)} are needed, and {dim} each for vectors.",
            hint="Train them again: python benchmarks/train_extractive.py",
        )
    scale, meaning = float(described["vector_scale"]), array("b", body[places:])
    return Linear(
        array("b", body[:places]),
        float(described["scale"]),
        tuple(described["bias"]),
        tuple(
            tuple(scale * weight for weight in meaning[at * dim : (at + 1) * dim])
            for at in range(len(CLASSES) if dim else 0)
        ),
        tuple(described.get("beside", ())),
    )
