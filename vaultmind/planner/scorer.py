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

    def reasons(
        self, features: Mapping[str, float], among: Sequence[Mapping[str, float]]
    ) -> tuple[Reason, ...]:
        """Return what lifts a file, first what lifts it most above some files' mean."""
        lifts = {name: weight * features.get(name, 0.0) for name, weight in self.weights.items()}
        lifts = {name: lift for name, lift in lifts.items() if lift > 0}
        total = math.fsum(lifts.values()) or 1.0

        def above(name: str) -> float:
            mean = math.fsum(one.get(name, 0.0) for one in among) / max(1, len(among))
            return lifts[name] - self.weights[name] * mean

        return tuple(
            Reason(self.words.get(name, name), lifts[name] / total, name)
            for name in sorted(lifts, key=lambda name: (-above(name), name))
            if lifts[name] / total >= LEAST_SHARE
        )


@cache
def built_in(name: Stuff) -> Weights:
    """Return weights that come with the program: for sources of code, or of notes."""
    told = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return Weights(told["name"], told["weights"], told["words"], tuple(told["learnt_on"]))
