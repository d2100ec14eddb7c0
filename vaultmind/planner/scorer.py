"""The linear scorer: a weight for each feature, from a JSON file that says where it is from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from vaultmind.errors import ConfigError
from vaultmind.types import Reason

VERSION = 1
"""Of the features: weights that were learnt on others are refused."""
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
        told, score = features.get, 0.0
        for name, weight in self.weights.items():
            score += weight * told(name, 0.0)
        return score

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
        self, features: Mapping[str, float], common: Mapping[str, float] | None = None
    ) -> tuple[Reason, ...]:
        """Return what lifts a file, first what lifts it most above what is common to all."""
        lifts, usual = self.lifts(features), common or {}
        total = math.fsum(lifts.values()) or 1.0
        ranked = sorted(lifts.items(), key=lambda one: (usual.get(one[0], 0.0) - one[1], one[0]))
        return tuple(
            Reason(self.words.get(name, name), lift / total, name)
            for name, lift in ranked
            if lift / total >= LEAST_SHARE
        )


def relevances(scores: Sequence[float], softness: float) -> list[float]:
    """Return each score's odds against the best, from 0 to 1."""
    best = max(scores, default=0.0)
    return [math.exp((score - best) / softness) for score in scores]


@cache
def built_in(name: Stuff) -> Weights:
    """Return weights that come with the program: for sources of code, or of notes."""
    return read_weights(FOLDER / f"{name}.json")


def read_weights(path: Path) -> Weights:
    """Read weights. Raises ConfigError, which names the file, the field and what is allowed."""
    try:
        told = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"The weights {path} cannot be read: {error}.") from error
    if not isinstance(told, dict) or told.get("version") != VERSION:
        raise ConfigError(f"The weights {path} need 'version': {VERSION}.")
    weights = told.get("weights")
    if not isinstance(weights, dict) or not weights:
        raise ConfigError(f"The weights {path} need 'weights': a number for each feature.")
    for name, value in weights.items():
        if not isinstance(value, int | float) or not abs(value) <= MAX_WEIGHT:
            raise ConfigError(
                f"The weights {path} give {name!r} {value!r}; allowed: -{MAX_WEIGHT:g} to "
                f"{MAX_WEIGHT:g}."
            )
    return Weights(
        str(told.get("name", path.stem)),
        {str(name): float(value) for name, value in weights.items()},
        {str(name): str(words) for name, words in dict(told.get("words", {})).items()},
        tuple(str(one) for one in told.get("learnt_on", ())),
    )
