"""Packing: which form of which file stands in a context of so many tokens.

A multiple-choice knapsack: of each file one of its forms or none, the sum of their values as
large as it can be, the sum of their tokens never over the budget. It is solved exactly, by
dynamic programming over the budget; only a budget of many thousand tokens is counted in coarser
steps, in which every form is rounded up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

MOST_STEPS = 8_000
"""Steps a budget is cut into: up to so many tokens the answer is exact."""
CAUSAL_TIE, FRESH_TIE, ORDER_TIE = 1e-6, 1e-7, 1e-9
"""What decides between equal values: earlier work that changed a file, then freshness, then rank.
Values differ by more."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One form of a file."""

    value: float
    """What it is worth to have it: relevance and confidence, by how much the form tells."""
    tokens: int
    causal: float = 0.0
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class Packed:
    """What was chosen."""

    chosen: tuple[int | None, ...]
    """Of each file the number of its form, or None."""
    tokens: int
    value: float


def pack(files: Sequence[Sequence[Offer]], budget: int) -> Packed:
    """Return the choice of the most value within a budget, the same for the same offers."""
    import numpy as np  # loads with the first search; a plan without one is rare

    steps = min(max(budget, 0), MOST_STEPS)
    unit = max(1, -(-max(budget, 0) // max(1, steps)))
    steps = max(budget, 0) // unit
    best = np.zeros(steps + 1)
    picks = np.full((len(files), steps + 1), -1, dtype=np.int16)
    for at, offers in enumerate(files):
        before = best.copy()
        for number, offer in enumerate(offers):
            cost = -(-offer.tokens // unit)
            if cost > steps or offer.value <= 0:
                continue
            worth = before[: steps + 1 - cost] + _tied(offer, at)
            better = worth > best[cost:]
            best[cost:][better] = worth[better]
            picks[at, cost:][better] = number
    return _walked_back(files, picks.tolist(), steps, unit)


def bound(files: Sequence[Sequence[Offer]], budget: int) -> float:
    """Return a value that no choice within a budget can exceed: as if forms could be cut.

    The fractional optimum (Sinha and Zoltners, 1979): each file's forms on their upper hull,
    the steps between them taken by value per token.
    """
    gains = [step for offers in files for step in _hull(offers)]
    total, left = 0.0, float(budget)
    for value, tokens in sorted(gains, key=lambda one: (-one[0] / max(one[1], 1e-9), one)):
        if tokens >= left:
            return total + (value * left / tokens if tokens else value)
        total, left = total + value, left - tokens
    return total


def _tied(offer: Offer, at: int) -> float:
    tie = CAUSAL_TIE * offer.causal + FRESH_TIE * offer.fresh - ORDER_TIE * min(at, 90)
    return offer.value + tie


def _walked_back(
    files: Sequence[Sequence[Offer]], picks: list[list[int]], steps: int, unit: int
) -> Packed:
    chosen: list[int | None] = [None] * len(files)
    left = steps
    for at in range(len(files) - 1, -1, -1):
        number = picks[at][left]
        if number >= 0:
            chosen[at] = number
            left -= -(-files[at][number].tokens // unit)
    taken = [files[at][one] for at, one in enumerate(chosen) if one is not None]
    return Packed(tuple(chosen), sum(one.tokens for one in taken), sum(one.value for one in taken))


def _hull(offers: Sequence[Offer]) -> list[tuple[float, int]]:
    """Return the steps (value, tokens) from one useful form of a file to the next."""
    points: list[tuple[float, int]] = [(0.0, 0)]
    useful = sorted({(one.tokens, -one.value) for one in offers if one.value > 0})
    for tokens, negative in useful:
        value = -negative
        if value <= points[-1][0]:
            continue
        while len(points) > 1 and _steeper(points[-2], points[-1], (value, tokens)):
            points.pop()
        points.append((value, tokens))
    return [(after[0] - before[0], after[1] - before[1]) for before, after in pairwise(points)]


def _steeper(first: tuple[float, int], middle: tuple[float, int], last: tuple[float, int]) -> bool:
    """Tell whether the middle of three points lies on or below the line between the others."""
    left = (middle[0] - first[0]) * (last[1] - first[1])
    return left <= (last[0] - first[0]) * (middle[1] - first[1])
