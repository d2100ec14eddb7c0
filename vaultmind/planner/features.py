"""Features: what is known of a candidate, each as a number of a documented range. Pure.

Seven are the seed's (`f_…`); the others are what the search and its ranker, the names, the links
and the history of a source say. All but `f_risk_score` grow with what speaks for a file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from vaultmind.planner.pool import Candidate
from vaultmind.planner.structure.records import FileRecord
from vaultmind.planner.types import Risk, TaskKind

BIG_TOKENS = 20_000
"""A file of so many tokens or more costs as much as any."""


@dataclass(frozen=True, slots=True)
class About:
    """What features are computed from, besides the candidate."""

    kind: TaskKind
    risk: Risk
    record: FileRecord | None


def f_semantic_score(one: Candidate) -> float:
    """Return how near the best chunk is in meaning, 0 to 1."""
    return one.signals.get("meaning", 0.0)


def f_affinity_score(one: Candidate) -> float:
    """Return how much earlier work on such tasks used the file with success, 0 to 1."""
    return one.signals.get("affinity", 0.0)


def f_token_cost(about: About) -> float:
    """Return what the whole file costs, 0 (nothing) to 1 (`BIG_TOKENS`), by its logarithm."""
    tokens = about.record.tokens if about.record else 0
    return min(1.0, math.log1p(tokens) / math.log1p(BIG_TOKENS))


def features_of(one: Candidate, about: About) -> Mapping[str, float]:
    """Return all features of a candidate by name."""
    return {
        **one.signals,
        "f_semantic_score": f_semantic_score(one),
        "f_affinity_score": f_affinity_score(one),
        "f_token_cost": f_token_cost(about),
    }
