"""Softmax regression on rows with few features and a vector each: L-BFGS, in numpy, deterministic.

The weights are found directly, not by how alike each two rows are: what that costs grows with the
rows and not with their square. The same data gives the same bytes.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Small = NDArray[np.int8]

ROUNDS = 60
L2 = 2e-4
KEPT = 8
"""Steps by which the next one is shaped."""
ENOUGH = 1e-6
"""Share of the loss that a step must win for another to follow."""
DESCENT, LEAST_STEP = 1e-4, 1e-6


@dataclass(frozen=True, slots=True)
class Rows:
    """Features of some sentences: places and what each weighs, sentence after sentence."""

    places: Ints
    weighs: Floats
    starts: Ints
    """Where each sentence begins in `places`; none is empty."""

    @classmethod
    def of(cls, rows: Sequence[Sequence[tuple[int, float]]]) -> Rows:
        """Return rows of (place, what it weighs)."""
        flat = [one for row in rows for one in row]
        ends = np.cumsum([len(row) for row in rows])
        return cls(
            np.array([place for place, _ in flat], dtype=np.int64),
            np.array([weight for _, weight in flat], dtype=np.float32)[:, None],
            np.concatenate([[0], ends[:-1]]).astype(np.int64),
        )

    def times(self, weights: Floats) -> Floats:
        """Return what each row's features weigh together, one column a class."""
        return np.asarray(np.add.reduceat(weights[self.places] * self.weighs, self.starts))


def soft(scores: Floats) -> Floats:
    """Return rows of scores as probabilities."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float32)


def train(
    rows: Rows, dense: Floats, goal: Floats, each: Floats, places: int, l2: float = L2
) -> Floats:
    """Return the weights: of each place, of each column of `dense`, and the bias, by class.

    `goal`: 1 where a row is of a class. `each`: how much every row counts.
    """
    used, own = np.unique(rows.places, return_inverse=True)
    order = np.argsort(own, kind="stable")
    line = np.repeat(np.arange(len(goal)), np.diff([*rows.starts, len(rows.places)]))[order]
    firsts = np.searchsorted(own[order], np.arange(len(used)))
    weighs, share = rows.weighs[order], (each / each.sum()).astype(np.float32)[:, None]
    few = Rows(own.astype(np.int64), rows.weighs, rows.starts)
    count = len(used)

    def loss(at: Floats) -> tuple[float, Floats]:
        scores = few.times(at[:count]) + dense @ at[count:-1] + at[-1]
        told = soft(scores)
        off = share * (told - goal)
        slope = np.concatenate(
            [
                np.add.reduceat(off[line] * weighs, firsts) + l2 * at[:count],
                dense.T @ off + l2 * at[count:-1],
                off.sum(axis=0, keepdims=True),
            ]
        )
        wrong = -float((share * goal * np.log(np.maximum(told, 1e-30))).sum())
        return wrong + l2 / 2 * float((at[:-1] ** 2).sum()), slope

    found = lowest(loss, np.zeros((count + dense.shape[1] + 1, goal.shape[1]), dtype=np.float32))
    whole = np.zeros((places + dense.shape[1] + 1, goal.shape[1]), dtype=np.float32)
    whole[used], whole[places:] = found[:count], found[count:]
    return whole


def lowest(loss: Callable[[Floats], tuple[float, Floats]], at: Floats) -> Floats:
    """Return where a convex function is lowest, from its value and slope, by L-BFGS."""
    value, slope = loss(at)
    past: deque[tuple[Floats, Floats]] = deque(maxlen=KEPT)
    for _ in range(ROUNDS):
        way = direction(slope, past)
        step, falls = 1.0, float((slope * way).sum())
        while True:
            new = np.asarray(at - np.float32(step) * way)
            new_value, new_slope = loss(new)
            if new_value <= value - DESCENT * step * falls or step < LEAST_STEP:
                break
            step /= 2
        moved, turned = new - at, new_slope - slope
        if float((moved * turned).sum()) > 0:
            past.append((moved, turned))
        won = value - new_value
        at, value, slope = new, new_value, new_slope
        if won < ENOUGH * abs(value):
            break
    return at


def direction(slope: Floats, past: deque[tuple[Floats, Floats]]) -> Floats:
    """Return which way is down, shaped by how the slope turned with the last steps."""
    if not past:
        return np.asarray(slope / np.abs(slope).sum())
    way, shares = slope.copy(), []
    for moved, turned in reversed(past):
        share = float((moved * way).sum()) / float((moved * turned).sum())
        shares.append(share)
        way -= np.float32(share) * turned
    moved, turned = past[-1]
    way *= np.float32(float((moved * turned).sum()) / float((turned * turned).sum()))
    for (moved, turned), share in zip(past, reversed(shares), strict=True):
        other = float((turned * way).sum()) / float((moved * turned).sum())
        way += moved * np.float32(share - other)
    return way


def packed(head: Mapping[str, object], found: Floats, places: int) -> bytes:
    """Return the file of a model, as `vaultmind.memory.weights` reads it.

    `found`: weights of the places, of the numbers of a vector, and the bias, by class.
    """
    weights, scale = small(found[:places])
    meaning, vector_scale = small(found[places:-1])
    described = {
        **head,
        "scale": scale,
        "bias": [round(float(one), 6) for one in found[-1]],
        "dim": len(meaning),
        "vector_scale": vector_scale,
    }
    return json.dumps(described).encode() + b"\n" + weights.T.tobytes() + meaning.T.tobytes()


def small(weights: Floats) -> tuple[Small, float]:
    """Return weights as signed bytes, and what a byte of 1 weighs."""
    most = float(np.abs(weights).max(initial=0.0))
    if not most:
        return weights.astype(np.int8), 0.0
    scale = round(most / 127, 9)
    return np.round(weights / scale).clip(-127, 127).astype(np.int8), scale
