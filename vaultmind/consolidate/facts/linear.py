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

from vaultmind.consolidate.facts.features import PLACES, features
from vaultmind.consolidate.facts.types import Category
from vaultmind.errors import ConfigError

if TYPE_CHECKING:
    from vaultmind.ports import Embedder, Matrix

FOLDER = Path(__file__).parent / "weights"
WORDS, VECTORS = "words", "use"
"""The models that ship: by words alone, and with vectors of the embedder of that name."""
CLASSES: tuple[Category, ...] = ("CORE", "PREFERENCE", "DECISION", "PROJECT", "SKIP")


@dataclass(frozen=True, slots=True)
class Linear:
    """One weight a class and place, and one a class that every sentence gets."""

    weights: array[int]
    """Class after class, each of `PLACES` signed bytes."""
    scale: float
    """What a byte of 1 weighs."""
    bias: tuple[float, ...]
    meaning: tuple[tuple[float, ...], ...] = ()
    """Class after class, one weight a number of the sentence's vector; none for words alone."""

    def probabilities(self, text: str, vector: Matrix | None = None) -> Mapping[Category, float]:
        """Return how likely a sentence is of each class; they add up to 1."""
        places = features(text)
        share = self.scale / math.sqrt(max(1, len(places)))
        scores = [
            bias + share * sum(self.weights[at * PLACES + place] for place in places)
            for at, bias in enumerate(self.bias)
        ]
        if self.meaning and vector is not None:
            numbers = vector.tolist()
            for at, own in enumerate(self.meaning):
                scores[at] += math.fsum(a * b for a, b in zip(own, numbers, strict=True))
        return softmax(scores)


def softmax(scores: Sequence[float]) -> dict[Category, float]:
    """Return scores, one a class, as probabilities."""
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    return {name: power / sum(powers) for name, power in zip(CLASSES, powers, strict=True)}


def probabilities(
    texts: Sequence[str], embedder: Embedder | None = None
) -> list[Mapping[Category, float]]:
    """Return how likely each sentence is of each class, by the better model there is."""
    if embedder is None or embedder.id.partition("-")[0] != VECTORS or not texts:
        return [model(WORDS).probabilities(text) for text in texts]
    vectors = embedder.embed(texts)
    return [
        model(VECTORS).probabilities(text, vector)
        for text, vector in zip(texts, vectors, strict=True)
    ]


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
    )
