"""Training of a linear ranker: softmax over each query's candidates, with L2.

The loss of a query is how unlikely its right candidates are when the candidates' scores are
taken as a softmax (ListNet's top-one form; Cao et al., ICML 2007). It is convex: Newton's method
finds its one minimum in some ten steps, each halved until the loss falls, the same numbers each
time. With a prior the weights are pulled to it rather than to nothing, so that a few lessons move
a good model only a little.
"""

from __future__ import annotations

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
    spread, middle = stacked.std(axis=0, dtype=np.float64), stacked.mean(axis=0, dtype=np.float64)
    spread[spread < ENOUGH] = 1.0
    begin = np.zeros(len(spread)) if prior is None else prior * spread
    total = sum(one.weight for one in useful)
    scaled = [
        ((one.features - middle) / spread, one.right / one.right.sum(), one.weight / total)
        for one in useful
    ]

    def at(w: _Doubles) -> tuple[float, _Doubles, _Doubles]:
        """Return the loss at some weights, its gradient and its Hessian."""
        slope, curve = l2 * (w - begin), l2 * np.eye(len(w))
        loss = (w - begin) @ slope / 2
        for x, goal, weight in scaled:
            scores = x @ w
            scores -= scores.max()
            odds = np.exp(scores)
            chances = odds / odds.sum()
            loss += weight * (np.log(odds.sum()) - goal @ scores)
            slope = slope + weight * (chances - goal) @ x
            mean = chances @ x
            curve += weight * ((x.T * chances) @ x - np.outer(mean, mean))
        return float(loss), slope, curve

    w, (loss, slope, curve) = begin, at(begin)
    step = np.linalg.solve(curve, slope)
    for _ in range(STEPS):
        found = at(w - step)
        if found[0] > loss:  # too far
            step = step / 2
            continue
        w, gained, (loss, slope, curve) = w - step, loss - found[0], found
        if gained < ENOUGH:
            break
        step = np.linalg.solve(curve, slope)
    return (w / spread).astype(np.float32), spread.astype(np.float32)
