"""How alike two tasks are: what they are about first, then what they name and their kind. Pure."""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet

from vaultmind.planner.intent.text import levelled
from vaultmind.planner.types import Understood

TERMS, NAMED, KIND = 0.65, 0.25, 0.10
"""Shares of the telling words, of what is named, and of the kind of work."""
CONTAINED = 0.5
"""Of the telling words' share, what a short task gets for standing within a longer one."""


def similarity(a: Understood, b: Understood) -> float:
    """Return how alike two tasks are, from 0 to 1; 1 for the same, 0 for none of their words."""
    if a.task_fingerprint and a.task_fingerprint == b.task_fingerprint:
        return 1.0
    about = _overlap(levelled(a.terms, a.language), levelled(b.terms, b.language))
    one, other = _named(a), _named(b)
    if one and other:
        about = (TERMS * about + NAMED * _overlap(one, other)) / (TERMS + NAMED)
    if not about:
        return 0.0
    same = a.predicted == b.predicted and a.predicted != "unknown"
    return round(min(1.0, (1.0 - KIND) * about + (KIND if same else 0.0) * math.sqrt(about)), 4)


def _overlap(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    if not one or not other:
        return 0.0
    both = len(one & other)
    jaccard, contained = both / len(one | other), both / min(len(one), len(other))
    return (1.0 - CONTAINED) * jaccard + CONTAINED * contained * min(1.0, both / 2)


def _named(task: Understood) -> frozenset[str]:
    """Return what a task names, paths by their last part too."""
    named = task.entities
    names = {path.rsplit("/", 1)[-1].casefold() for path in named.paths}
    return frozenset(names.union(named.identifiers, named.references))
