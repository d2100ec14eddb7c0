"""The planner's learned weights as a small JSON file. Pure but for reading it.

What is found inside a vault is not trusted: only features that the program knows get a weight, and
what a feature says in a reason are the program's words, never the file's. A feature that a file
does not name keeps the shipped weight.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vaultmind.errors import ConfigError
from vaultmind.planner.ranking.scorer import MAX_WEIGHT, VERSION, Stuff, Weights, built_in

STUFFS: tuple[Stuff, ...] = ("code", "notes")
MAX_BYTES = 100_000
MAX_TEXT, MAX_TEXTS = 200, 20
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Learned:
    """Weights that were learnt, and where they come from. Nothing of what was learnt from."""

    id: str
    of: Stuff
    weights: Mapping[str, float]
    created: str = ""
    prior: str = ""
    """Id of the model that it started from."""
    learnt_on: tuple[str, ...] = ()
    """In words, as counts and days: no task, no path."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Of the trial: `mrr`, `mrr_before`, `precision`, `precision_before`, `lessons`, `sure`,
    `passed`."""
    seen: str = ""
    """Of when the latest lesson was that it learnt from or was tried on."""

    def as_weights(self) -> Weights:
        """Return what the planner ranks with."""
        shipped = built_in(self.of)
        merged = {**shipped.weights, **self.weights}
        return Weights(self.id, merged, shipped.words, self.learnt_on)


def id_of(of: str, day: str, content: str) -> str:
    """Return a model's id: what it ranks, its day, and a mark of its content."""
    return f"{of}-{day}-{hashlib.sha256(content.encode()).hexdigest()[:6]}"


def stuff_of(weights: str) -> Stuff | None:
    """Return what weights of some name are for (`code-2026-…`, `notes`); None for no known."""
    name = weights.partition("-")[0]
    return next((one for one in STUFFS if one == name), None)


def written(learned: Learned) -> str:
    """Return a model as the text of its file: the same model, the same bytes."""
    told = {
        "version": VERSION,
        "name": learned.id,
        "of": learned.of,
        "created": learned.created,
        "prior": learned.prior,
        "learnt_on": list(learned.learnt_on),
        "seen": learned.seen,
        "scores": {name: round(value, 4) for name, value in learned.scores.items()},
        "weights": {name: round(value, 4) for name, value in learned.weights.items()},
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def read_learned(path: Path) -> Learned:
    """Read a model; its id is the file's stem.

    Raises ConfigError, which names the file, the field and what is allowed.
    """
    try:
        if path.is_symlink() or not path.is_file():
            raise ConfigError(f"The planner's model {path} is not there, or is no file.")
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"The planner's model {path} is larger than {MAX_BYTES:,} bytes.")
        told = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"The planner's model {path} cannot be read: {_short(str(error))}."
        ) from error
    if not isinstance(told, dict) or told.get("version") != VERSION:
        raise ConfigError(f"The planner's model {path} needs 'version': {VERSION}.")
    of = next((one for one in STUFFS if one == told.get("of")), None)
    if of is None:
        raise ConfigError(
            f"In the planner's model {path}, of is {_short(told.get('of'))}. Allowed: "
            f"{', '.join(STUFFS)}."
        )
    if stuff_of(path.stem) != of:
        raise ConfigError(
            f"The planner's model {path} is for {of}: its file's name must begin with '{of}-', "
            "since what plans offered is told apart by that."
        )
    learnt_on, scores = told.get("learnt_on"), told.get("scores")
    return Learned(
        path.stem,
        of,
        _weights(path, told.get("weights"), built_in(of).weights),
        _text(told.get("created")),
        _text(told.get("prior")),
        tuple(_text(one) for one in learnt_on[:MAX_TEXTS]) if isinstance(learnt_on, list) else (),
        _scores(scores) if isinstance(scores, dict) else {},
        _text(told.get("seen")) or _text(told.get("created")),
    )


def _weights(path: Path, told: object, known: Mapping[str, float]) -> dict[str, float]:
    if not isinstance(told, dict) or not told:
        raise ConfigError(f"In the planner's model {path}, weights must name features.")
    for name, value in told.items():
        if name not in known:
            raise ConfigError(
                f"In the planner's model {path}, weights has {_short(name)}, which is no feature.",
                hint=f"There are: {', '.join(sorted(known))}.",
            )
        if not _is_number(value):
            raise ConfigError(
                f"In the planner's model {path}, weights.{name} is {_short(value)}. Allowed: "
                f"-{MAX_WEIGHT:g} to {MAX_WEIGHT:g}."
            )
    return {str(name): float(value) for name, value in told.items()}


def _scores(told: Mapping[Any, Any]) -> dict[str, float]:
    named = list(told.items())[:MAX_TEXTS]
    return {_text(str(name)): float(value) for name, value in named if _is_number(value)}


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -MAX_WEIGHT <= value <= MAX_WEIGHT  # of NaN neither holds


def _text(value: object) -> str:
    """Return a short text on one line; empty for anything else."""
    if not isinstance(value, str):
        return ""
    return "".join(one for one in value[:MAX_TEXT] if one.isprintable())


def _short(value: object) -> str:
    try:
        said = repr(value)
    except ValueError:  # a number of too many digits
        said = "a number of very many digits"
    return said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"
