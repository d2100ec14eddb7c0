"""Small linear models that ship as files: one line of JSON, then one signed byte a weight.

Features are strings hashed into a fixed number of places, so that a model trained on one machine
reads the same on another. Sums over some hundred places take microseconds and need no numpy.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from zlib import crc32

from vaultmind.errors import ConfigError

if TYPE_CHECKING:
    from vaultmind.ports import Embedder

WORDS, VECTORS = "words", "use"
"""The models that ship: by words alone, and with vectors of the embedder of that name."""


@dataclass(frozen=True, slots=True)
class Weights:
    """One weight a class and place, and one a class that every sentence gets."""

    places: int
    numbers: array[int]
    """Class after class, each of `places` signed bytes."""
    scale: float
    """What a byte of 1 weighs."""
    bias: tuple[float, ...]
    meaning: tuple[tuple[float, ...], ...] = ()
    """Class after class, one weight a number of the vectors beside; none for words alone."""
    head: Mapping[str, Any] = field(default_factory=dict)
    """What else the file says."""

    def scores(
        self, seen: Iterable[tuple[Sequence[int], float]], vector: Sequence[float] = ()
    ) -> list[float]:
        """Return what groups of places, each with its weight, come to: one score a class."""
        scores = list(self.bias)
        for places, weighs in seen:
            share = weighs * self.scale / math.sqrt(max(1, len(places)))
            for at in range(len(scores)):
                first = at * self.places
                scores[at] += share * sum(self.numbers[first + one] for one in places)
        if vector:
            for at, own in enumerate(self.meaning):
                scores[at] += math.fsum(a * b for a, b in zip(own, vector, strict=True))
        return scores


def hashed(names: Iterable[str], places: int) -> list[int]:
    """Return the places of features, each once, in order."""
    return sorted({crc32(name.encode()) % places for name in names})


def knows(embedder: Embedder) -> bool:
    """Tell whether the models that ship were trained with the vectors of an embedder."""
    return embedder.id.partition("-")[0] == VECTORS


def read_weights(
    data: bytes, name: str, classes: Sequence[str], places: int, trainer: str
) -> Weights:
    """Return the model of a file's bytes; raises ConfigError for a file of another shape."""
    line, _, body = data.partition(b"\n")
    head = json.loads(line)
    size, dim = places * len(classes), int(head["dim"])
    if head["classes"] != list(classes) or len(body) != size + dim * len(classes):
        raise ConfigError(
            f"The weights {name} hold {len(body)} numbers for {head['classes']}; {size} for "
            f"{list(classes)} are needed, and {dim} each for vectors.",
            hint=f"Train them again: python {trainer}",
        )
    scale, meaning = float(head["vector_scale"]), array("b", body[size:])
    return Weights(
        places,
        array("b", body[:size]),
        float(head["scale"]),
        tuple(head["bias"]),
        tuple(
            tuple(scale * weight for weight in meaning[at * dim : (at + 1) * dim])
            for at in range(len(classes) if dim else 0)
        ),
        head,
    )
