"""The linear scorer: a weight for each feature, from a JSON file that says where it is from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from vaultmind.types import Reason

FOLDER = Path(__file__).parent / "weights"
Stuff = Literal["code", "notes"]
"""What a source mostly is: each has weights of its own."""
MAX_WEIGHT = 1_000.0
LEAST_SHARE = 0.05
"""Of what lifts a file, that is told as a reason."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of named features."""

    name: str
    weights: Mapping[str, float]
    words: Mapping[str, str]
    """What each feature says in a reason."""
    learnt_on: tuple[str, ...] = ()

    def score(self, features: Mapping[str, float]) -> float:
        """Return the score of a file: higher is better. A feature that is not there counts 0."""
        return sum(weight * features.get(name, 0.0) for name, weight in self.weights.items())

    def lifts(self, features: Mapping[str, float]) -> dict[str, float]:
        """Return how much each feature lifts a file; not those that hold it down."""
        each = {name: weight * features.get(name, 0.0) for name, weight in self.weights.items()}
        return {name: lift for name, lift in each.items() if lift > 0}

    def common(self, files: Sequence[Mapping[str, float]]) -> dict[str, float]:
        """Return the means of what lifts some files: what says least of any of them."""
        each = [self.lifts(features) for features in files]
        names = sorted({name for lifts in each for name in lifts})
        return {name: math.fsum(one.get(name, 0.0) for one in each) / len(each) for name in names}

    def reasons(
        self, features: Mapping[str, float], common: Mapping[str, float]
    ) -> tuple[Reason, ...]:
        """Return what lifts a file, first what lifts it most above what is common to all."""
        lifts = self.lifts(features)
        total = math.fsum(lifts.values()) or 1.0
        ranked = sorted(lifts.items(), key=lambda one: (common.get(one[0], 0.0) - one[1], one[0]))
        return tuple(
            Reason(self.words.get(name, name), lift / total, name)
            for name, lift in ranked
            if lift / total >= LEAST_SHARE
        )


@cache
def built_in(name: Stuff) -> Weights:
    """Return weights that come with the program: for sources of code, or of notes."""
    told = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return Weights(told["name"], told["weights"], told["words"], tuple(told["learnt_on"]))
