"""How alike two tasks are: what they are about first, then what they name and their kind. Pure."""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from vaultmind.planner.intent.text import levelled
from vaultmind.planner.types import TaskKind, Understood

TERMS, NAMED, KIND = 0.65, 0.25, 0.10
"""Shares of the telling words, of what is named, and of the kind of work."""
CONTAINED = 0.5
"""Of the telling words' share, what a short task gets for standing within a longer one."""


@dataclass(frozen=True, slots=True)
class Comparable:
    """What of a task is compared with others: a task that many are compared with is kept so."""

    fingerprint: str
    predicted: TaskKind
    roots: frozenset[str]
    """One for each telling word."""
    names: frozenset[str]
    """What it names, paths by their last part too."""


def comparable(task: Understood) -> Comparable:
    """Return what of a task is compared."""
    roots = levelled(task.terms, task.language)
    return Comparable(task.task_fingerprint, task.predicted, roots, _named(task))


def similarity(a: Understood, b: Understood) -> float:
    """Return how alike two tasks are, from 0 to 1; 1 for the same, 0 for none of their words."""
    return alike(comparable(a), comparable(b))


def alike(a: Comparable, b: Comparable) -> float:
    """Return how alike two tasks are, as `similarity` does."""
    if a.fingerprint and a.fingerprint == b.fingerprint:
        return 1.0
    about = _overlap(a.roots, b.roots)
    if a.names and b.names:
        about = (TERMS * about + NAMED * _overlap(a.names, b.names)) / (TERMS + NAMED)
    if not about:
        return 0.0
    same = a.predicted == b.predicted and a.predicted != "unknown"
    return round(min(1.0, (1.0 - KIND) * about + (KIND if same else 0.0) * math.sqrt(about)), 4)


def _overlap(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    both = len(one & other)
    if not both:
        return 0.0
    jaccard, contained = both / (len(one) + len(other) - both), both / min(len(one), len(other))
    return (1.0 - CONTAINED) * jaccard + CONTAINED * contained * min(1.0, both / 2)


def _named(task: Understood) -> frozenset[str]:
    """Return what a task names, paths by their last part too."""
    named = task.entities
    names = {path.rsplit("/", 1)[-1].casefold() for path in named.paths}
    return frozenset(names.union(named.identifiers, named.references))
