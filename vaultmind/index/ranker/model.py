"""A linear ranker: one weight a feature, read from a small JSON file.

A file says what it is, so that a score can be told apart from another: `version` of the features,
the embedder that its closeness was measured with (empty for a model without meaning, which is
another model and not the same one with zeros), the names of the features with their weights and
how much each varied in training, what it learnt from, and how well it ranked what it had not seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vaultmind.errors import ConfigError
from vaultmind.index.ranker.features import columns
from vaultmind.index.ranker.names import ALL, WITHOUT_MEANING
from vaultmind.index.ranker.scene import Floats, Scene

VERSION = 1
"""Of the features: a model trained on others is refused."""
MAX_BYTES = 100_000
MAX_WEIGHT = 1_000.0
MAX_SHOWN = 60
"""Characters of a wrong value that are repeated."""
EXACT = 0.99
"""Share of a query from which it is nothing but an identifier."""
_KEYS = ("version", "name", "embedder", "features", "spread", "trained_on", "scores")


@dataclass(frozen=True, slots=True)
class Model:
    """Weights of named features, and where they come from."""

    name: str
    embedder: str
    """The embedder whose vectors it was trained with, e.g. `use`; empty: without any."""
    weights: Mapping[str, float]
    spread: Mapping[str, float]
    """How much each feature varied in training: a weight says little without it."""
    trained_on: tuple[str, ...]
    scores: Mapping[str, Mapping[str, float]]
    """Measures by what was ranked and not learnt from, e.g. `{"locomo": {"R@5": 0.75}}`."""

    def score(self, scene: Scene) -> tuple[Floats, Floats]:
        """Return the candidates' scores, higher is better, and the features they come from.

        Of shapes (count,) and (count, features); columns in the order of `weights`.
        """
        found = columns(scene)
        lacking = [name for name in self.weights if name not in found]
        if lacking:
            raise ConfigError(
                f"The ranker {self.name!r} needs {', '.join(lacking)}, which a search without "
                "vectors cannot give.",
                hint="Rank with a model without an embedder.",
            )
        stacked = np.stack([found[name] for name in self.weights], axis=1)
        weights = np.fromiter(self.weights.values(), dtype=np.float32)
        return (stacked @ weights).astype(np.float32), stacked


def ranked(model: Model, scene: Scene) -> list[tuple[int, float]]:
    """Return (rowid, score) of every candidate, best first; ties go to the smaller rowid."""
    return ordered(model.score(scene)[0], scene)


def ordered(scores: Floats, scene: Scene) -> list[tuple[int, float]]:
    """Return the same of scores that are known.

    What has the identifier that is the whole query, to the letter, comes before what has its parts.
    """
    rowids = scene.rowids[: scene.count]
    order = np.lexsort((rowids, -scores, scene.matched.exact < EXACT))
    return [*zip(rowids[order].tolist(), scores[order].tolist(), strict=True)]


def read_model(path: Path) -> Model:
    """Read a model. Raises ConfigError, which names the file, the field and what is allowed."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"The ranker {path} is larger than {MAX_BYTES:,} bytes.")
        told = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"The ranker {path} cannot be read: {_short(error)}.") from error
    if not isinstance(told, dict) or (lacking := [key for key in _KEYS if key not in told]):
        missing = ", ".join(lacking) if isinstance(told, dict) else "an object"
        raise ConfigError(f"The ranker {path} lacks {missing}.")
    if told["version"] != VERSION:
        raise ConfigError(
            f"The ranker {path} has version {_short(told['version'])}: this program has {VERSION}.",
            hint="Train it again.",
        )
    embedder = _text(path, told, "embedder")
    names = ALL if embedder else WITHOUT_MEANING
    return Model(
        name=_text(path, told, "name"),
        embedder=embedder,
        weights=_numbers(path, told, "features", names),
        spread=_numbers(path, told, "spread", names),
        trained_on=_texts(path, told, "trained_on"),
        scores=_scores(path, told),
    )


def written(model: Model) -> str:
    """Return a model as the text of its file: the same model, the same bytes."""
    told = {
        "version": VERSION,
        "name": model.name,
        "embedder": model.embedder,
        "trained_on": list(model.trained_on),
        "scores": {
            name: {key: round(value, 3) for key, value in row.items()}
            for name, row in model.scores.items()
        },
        "features": {name: round(value, 4) for name, value in model.weights.items()},
        "spread": {name: round(value, 4) for name, value in model.spread.items()},
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def _short(value: object) -> str:
    """Return what a file says, not all of it where that is much."""
    try:
        said = str(value) if isinstance(value, Exception) else repr(value)
    except ValueError:  # a number of too many digits
        said = "a number of very many digits"
    return said if len(said) <= MAX_SHOWN else f"{said[:MAX_SHOWN]}…"


def _text(path: Path, told: Mapping[str, Any], key: str) -> str:
    value = told[key]
    if not isinstance(value, str):
        raise ConfigError(f"In the ranker {path}, {key} is {_short(value)}: it must be a text.")
    return value


def _texts(path: Path, told: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = told[key]
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ConfigError(
            f"In the ranker {path}, {key} is {_short(value)}: it must be a list of texts."
        )
    return tuple(value)


def _numbers(
    path: Path, told: Mapping[str, Any], key: str, allowed: frozenset[str]
) -> dict[str, float]:
    """Return a field of numbers by feature. Raises ConfigError for what no feature is called."""
    value = told[key]
    if not isinstance(value, dict) or not value:
        raise ConfigError(f"In the ranker {path}, {key} must name features with their numbers.")
    for name, number in value.items():
        if name not in allowed:
            raise ConfigError(
                f"In the ranker {path}, {key} has {_short(name)}, which is no feature"
                f"{' of a model without an embedder' if name in ALL else ''}.",
                hint=f"There are: {', '.join(sorted(allowed))}.",
            )
        if not _is_weight(number):
            raise ConfigError(
                f"In the ranker {path}, {key}.{name} is {_short(number)}: it must be a number "
                f"between -{MAX_WEIGHT:g} and {MAX_WEIGHT:g}."
            )
    return {name: float(number) for name, number in value.items()}


def _is_weight(number: object) -> bool:
    if isinstance(number, bool) or not isinstance(number, int | float):
        return False
    return -MAX_WEIGHT <= number <= MAX_WEIGHT  # of NaN neither holds


def _scores(path: Path, told: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    value = told["scores"]
    rows = value.values() if isinstance(value, dict) else ()
    fine = isinstance(value, dict) and all(
        isinstance(row, dict) and all(_is_weight(number) for number in row.values()) for row in rows
    )
    if not fine:
        raise ConfigError(
            f"In the ranker {path}, scores is {_short(value)}: it must be measures by what was "
            "ranked."
        )
    return {str(name): dict(row) for name, row in value.items()}
