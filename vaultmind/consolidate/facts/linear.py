"""The small linear model that tells what a sentence is to memory; its weights ship as data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from vaultmind.consolidate.facts.features import PLACES, features, leading
from vaultmind.consolidate.facts.types import Category
from vaultmind.memory.weights import WORDS, Weights, read_weights

FOLDER = Path(__file__).parent / "weights"
LED = 0.5
"""What the beginning of a sentence, as it was said, weighs beside its words."""
CLASSES: tuple[Category, ...] = ("CORE", "PREFERENCE", "DECISION", "PROJECT", "SKIP")


@dataclass(frozen=True, slots=True)
class Linear:
    """The weights of a model, and what it does with a sentence."""

    weights: Weights

    def probabilities(self, text: str, *, whole: str = "") -> Mapping[Category, float]:
        """Return how likely a sentence is of each class; they add up to 1.

        `whole`: the sentence as it was said; empty where there is no more than the statement.
        """
        return softmax(self.weights.scores(((features(text), 1.0), (leading(whole), LED))))


def softmax(scores: Sequence[float]) -> dict[Category, float]:
    """Return scores, one a class, as probabilities."""
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    return {name: power / sum(powers) for name, power in zip(CLASSES, powers, strict=True)}


def probabilities(text: str, whole: str = "") -> Mapping[Category, float]:
    """Return how likely a statement is of each class."""
    return model().probabilities(text, whole=whole)


@cache
def model() -> Linear:
    """Return the model that ships with the package."""
    return read((FOLDER / f"{WORDS}.weights").read_bytes(), WORDS)


def read(data: bytes, name: str) -> Linear:
    """Return the model of a file's bytes; raises ConfigError for a file of another shape."""
    return Linear(read_weights(data, name, CLASSES, PLACES, "benchmarks/train_extractive.py"))
