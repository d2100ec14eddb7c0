"""How strongly something is tied to what was found. Pure.

A thing comes to mind along a link, by a tag that few have, or because it lies near what the
question calls to mind (see `attention`); several ways to it strengthen each other. A way that
leads to many things says little about each of them, and a tie to what lies far from all that
comes to mind counts half. The numbers come from `benchmarks/association.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from vaultmind.types import TieName

TIES: Mapping[TieName, float] = {"link": 0.9, "backlink": 0.9, "tag": 0.5}
"""Strength of the only such tie that something has, from a perfect hit; of one among n, by the
root of n less."""
FAR = 0.5
"""Share of a tie's strength that does not depend on how near its end is to what comes to mind."""
MEANING, UNASKED = 0.4, 0.5
"""Strength of what lies in the very middle of what comes to mind, without any tie; and the share
of it that does not depend on how near it is to the question itself."""
MIND_FROM, MIND_TO = 0.43, 1.57
"""On an embedder's scale (0 has nothing to do with it, 1 says the same), what is far from what
comes to mind, and what is in its middle: a mean of memories is nearer to each than a question is.
"""


def tie_strength(tie: TieName, others: int, score: float) -> float:
    """Return the strength of one of `others` + 1 ties of its kind, from a hit of some score."""
    return score * TIES[tie] / sqrt(1 + others)


def near_mind(closeness: float) -> float:
    """Return, from 0 to 1, how near something lies to what comes to mind; see `MIND_FROM`."""
    return min(1.0, max(0.0, (closeness - MIND_FROM) / (MIND_TO - MIND_FROM)))


def strength(ties: Mapping[TieName, float], near: float, asked: float, best: float) -> float:
    """Return how strongly something is tied to what was found, from 0 to 1.

    `ties` has the strongest of each kind, `near` is `near_mind`, `asked` how near it is to the
    question, `best` the score of the best hit.
    """
    apart = 1.0
    for one in ties.values():
        apart *= 1.0 - one
    along = (1.0 - apart) * (FAR + (1.0 - FAR) * near)
    return 1.0 - (1.0 - along) * (1.0 - by_meaning(near, asked, best))


def by_meaning(near: float, asked: float, best: float) -> float:
    """Return the strength that something has without any tie."""
    return best * MEANING * near * (UNASKED + (1.0 - UNASKED) * asked)
