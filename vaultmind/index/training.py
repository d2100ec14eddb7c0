"""Training of a linear ranker: softmax over each query's candidates, with L2.

The loss of a query is how unlikely its right candidates are when the candidates' scores are
taken as a softmax (ListNet's top-one form; Cao et al., ICML 2007). It is convex: Newton's method
finds its one minimum in some ten steps, the same numbers each time. With a prior the weights are
pulled to it rather than to nothing, so that a few lessons move a good model only a little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vaultmind.index.columns import Floats

STEPS = 30
ENOUGH = 1e-6
_SMALLEST_STEP = 1e-4
_Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A query's candidates and which of them are right."""

    features: Floats
    """A row a candidate."""
    right: Floats
    """1 for a right candidate, 0 for the others; between for one that is right in part."""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class _Lessons:
    """All lessons one under the other, their features with mean 0 and spread 1."""

    x: Floats
    goal: _Doubles
    """What the softmax of each lesson should be."""
    weight: _Doubles
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    l2: float
    prior: _Doubles
    """The weights that L2 pulls to, of features with spread 1."""


@dataclass(frozen=True, slots=True)
class _Point:
    """The loss at some weights, its gradient and its Hessian."""

    loss: float
    slope: _Doubles
    curve: _Doubles


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
    sizes = np.array([len(one.right) for one in useful])
    weight = np.array([one.weight for one in useful])
    data = _Lessons(
        x=((stacked - stacked.mean(axis=0, dtype=np.float64)) / spread).astype(np.float32),
        goal=np.concatenate([one.right / one.right.sum() for one in useful]).astype(np.float64),
        weight=weight / weight.sum(),
        starts=np.concatenate([[0], np.cumsum(sizes)[:-1]]),
        sizes=sizes,
        l2=l2,
        prior=np.zeros(len(spread)) if prior is None else prior.astype(np.float64) * spread,
    )
    return (_minimum(data) / spread).astype(np.float32), spread.astype(np.float32)


def _minimum(data: _Lessons) -> _Doubles:
    w = data.prior.copy()
    here = _at(w, data)
    for _ in range(STEPS):
        step = np.linalg.solve(here.curve, here.slope)
        share = 1.0
        there = _at(w - step, data)
        while there.loss > here.loss and share > _SMALLEST_STEP:
            share /= 2
            there = _at(w - share * step, data)
        if here.loss - there.loss < ENOUGH:
            break
        w, here = w - share * step, there
    return w


def _at(w: _Doubles, data: _Lessons) -> _Point:
    x, starts, sizes = data.x, data.starts, data.sizes
    each = np.repeat(data.weight, sizes)
    scores = (x @ w.astype(np.float32)).astype(np.float64)
    odds = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
    chances = odds / np.repeat(np.add.reduceat(odds, starts), sizes)
    away = w - data.prior
    surprise = -np.log(np.maximum(chances, np.finfo(np.float64).tiny))
    loss = float(each @ (data.goal * surprise) + 0.5 * data.l2 * (away @ away))
    slope = x.T @ (each * (chances - data.goal)).astype(np.float32) + data.l2 * away
    likely = x * chances.astype(np.float32)[:, None]
    means = np.add.reduceat(likely, starts).astype(np.float64)
    curve = x.T @ (likely * each.astype(np.float32)[:, None])
    curve = curve - means.T @ (means * data.weight[:, None])
    return _Point(loss, slope, curve + data.l2 * np.eye(len(w)))
