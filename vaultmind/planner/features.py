"""Features: what is known of a candidate of a task, each as a number from 0 to 1."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Literal

from vaultmind.errors import IndexUnavailable
from vaultmind.planner.candidates import Asked, Candidate, candidates
from vaultmind.planner.task import risk_of_path
from vaultmind.planner.types import FileRecord, Risk, TaskKind
from vaultmind.planner.words import stems_of

BIG_TOKENS = 20_000
"""A file of so many tokens or more costs as much as any."""
HALF_LIFE_DAYS = 30.0
"""Days after which a change is half as recent."""
HAS_TESTS = 0.3
"""Of the test proximity: a file that tests touch, though they are none of this task's."""
SECONDS_A_DAY = 86_400.0
Role = Literal["code", "test", "note", "document", "data"]
_FITS: Mapping[TaskKind, Mapping[Role, float]] = {
    "bugfix": {"code": 1.0, "test": 0.8, "document": 0.4, "data": 0.4, "note": 0.5},
    "feature": {"code": 1.0, "test": 0.8, "document": 0.6, "data": 0.5, "note": 0.5},
    "refactor": {"code": 1.0, "test": 0.8, "document": 0.3, "data": 0.3, "note": 0.5},
    "incident": {"code": 1.0, "test": 0.4, "document": 0.5, "data": 0.8, "note": 0.7},
    "research": {"code": 0.6, "test": 0.4, "document": 1.0, "data": 0.5, "note": 1.0},
    "writing": {"code": 0.5, "test": 0.3, "document": 1.0, "data": 0.4, "note": 1.0},
    "unknown": {"code": 0.8, "test": 0.7, "document": 0.8, "data": 0.6, "note": 0.8},
}
"""How well each role of a file goes with a kind of task: which layers such a task is asked of."""
_RISKS: Mapping[Risk, float] = {"low": 0.2, "medium": 0.6, "high": 1.0}
_STRUCTURAL = ("path", "definitions", "named", "defined", "used", "user", "tested")
_SCOPE = re.compile(r"\s*([\w./\\-]{2,60})(?:\(([^)\n]{1,60})\))?!?:\s")
_TYPES = frozenset(
    ("fix", "feat", "feature", "chore", "refactor", "perf", "style", "build", "revert", "bug")
) | {"bugfix", "hotfix", "wip", "note"}
"""Of `fix(cart): …`: words before a colon that name no place."""


def scope_of(task: str) -> frozenset[str]:
    """Return the words of the place that a task names before a colon; of `a/b.py: …` all parts."""
    found = _SCOPE.match(task)
    if found is None:
        return frozenset()
    kind, place = found[1], found[2]
    return frozenset(stems_of(place or ("" if kind.lower() in _TYPES else kind)))


def role_of(path: str, record: FileRecord | None) -> Role:
    """Return what a file is to a task."""
    if record is None or record.shape == "note":
        return "note" if path.endswith((".md", ".canvas")) else "data"
    if record.test:
        return "test"
    return "code" if record.shape == "code" else "document" if record.shape == "text" else "data"


def features_of(
    one: Candidate, asked: Asked, scope: frozenset[str], age_days: float = math.inf
) -> dict[str, float]:
    """Return all features of a candidate by name. `scope`: see `scope_of`."""
    structure, understood, signals = asked.source.structure, asked.understood, one.signals
    record = structure.record(one.path)
    role = role_of(one.path, record)
    told = max((signals.get(name, 0.0) for name in _STRUCTURAL), default=0.0)
    near = max(signals.get("test", 0.0), signals.get("tested", 0.0))
    if role == "code" and any(edge.kind == "tests" for edge in structure.graph.into(one.path)):
        near = max(near, HAS_TESTS)
    cost = math.log1p(record.tokens if record else 0) / math.log1p(BIG_TOKENS)
    own = len(scope.intersection(stems_of(one.path))) / len(scope) if scope else 0.0
    fit = _FITS[understood.predicted][role]
    return {
        **signals,
        "f_structural_relevance": fit * (0.4 + 0.6 * min(1.0, told)),
        "f_semantic_score": signals.get("meaning", 0.0),
        "f_affinity_score": min(1.0, signals.get("affinity", 0.0)),
        "f_recency_score": 0.5 ** (max(0.0, age_days) / HALF_LIFE_DAYS),
        "f_risk_score": risk_of_path(one.path) * _RISKS[understood.risk],
        "f_test_proximity": min(1.0, near),
        "f_token_cost": min(1.0, cost),
        "scope": own,
        "is_test": float(role == "test"),
    }


def measured(asked: Asked) -> list[tuple[Candidate, dict[str, float]]]:
    """Return every candidate with its features. Ages are whole days: a plan lasts a day."""
    with asked.source.structure.lock:
        pool = candidates(asked)
        scope, now = scope_of(asked.request.task), asked.now.timestamp()
        try:
            rows = asked.source.index.rows([*pool])
        except IndexUnavailable:
            rows = []
        ages = {row.path: (now - row.stat.mtime_ns / 1e9) // SECONDS_A_DAY for row in rows}
        return [
            (one, features_of(one, asked, scope, ages.get(path, math.inf)))
            for path, one in pool.items()
        ]
