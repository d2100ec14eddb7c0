"""Training of a linear ranker: softmax over each query's candidates, with L2.

The loss of a query is how unlikely its right candidates are when the candidates' scores are
taken as a softmax (ListNet's top-one form; Cao et al., ICML 2007). It is convex: Newton's method
finds its one minimum in some ten steps, the same numbers each time. With a prior the weights are
pulled to it rather than to nothing, so that a few lessons move a good model only a little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vaultmind.index.columns import Floats

STEPS = 60
ENOUGH = 1e-6
_Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A query's candidates and which of them are right."""

    features: Floats
    """A row a candidate."""
    right: Floats
    """1 for a right candidate, 0 for the others; between for one that is right in part."""
    weight: float = 1.0


def train(
    lessons: Sequence[Lesson], l2: float, prior: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the weights of the features, and how much each feature varies.

    Lessons without a right candidate, or without a wrong one, teach nothing; at least one must
    teach something. `prior`: weights of a model that the new one starts from and is pulled to.
    """
    useful = [one for one in lessons if 0 < one.right.sum() < len(one.right)]
    stacked = np.concatenate([one.features for one in useful])
    spread = stacked.std(axis=0, dtype=np.float64)
    spread[spread < ENOUGH] = 1.0
    x = ((stacked - stacked.mean(axis=0, dtype=np.float64)) / spread).astype(np.float32)
    goal = np.concatenate([one.right / one.right.sum() for one in useful]).astype(np.float64)
    sizes = np.array([len(one.right) for one in useful])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    weight = np.array([one.weight for one in useful])
    weight /= weight.sum()
    each = np.repeat(weight, sizes)
    begin = np.zeros(len(spread)) if prior is None else prior.astype(np.float64) * spread

    def at(w: _Doubles) -> tuple[float, _Doubles, _Doubles]:
        """Return the loss at some weights, its gradient and its Hessian."""
        scores = (x @ w.astype(np.float32)).astype(np.float64)
        odds = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
        chances = odds / np.repeat(np.add.reduceat(odds, starts), sizes)
        away = w - begin
        surprise = -np.log(np.maximum(chances, np.finfo(np.float64).tiny))
        loss = float(each @ (goal * surprise) + 0.5 * l2 * (away @ away))
        slope = x.T @ (each * (chances - goal)).astype(np.float32) + l2 * away
        likely = x * chances.astype(np.float32)[:, None]
        means = np.add.reduceat(likely, starts).astype(np.float64)
        curve = x.T @ (likely * each.astype(np.float32)[:, None]) - means.T @ (
            means * weight[:, None]
        )
        return loss, slope, curve + l2 * np.eye(len(w))

    least, best, w = math.inf, begin, begin
    for _ in range(STEPS):
        loss, slope, curve = at(w)
        if loss > least:  # too far
            w = (w + best) / 2
        elif least - loss < ENOUGH:
            break
        else:
            least, best, w = loss, w, w - np.linalg.solve(curve, slope)
    return (best / spread).astype(np.float32), spread.astype(np.float32)
