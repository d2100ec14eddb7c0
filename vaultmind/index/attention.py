"""One step of attention over the vectors of memory. Pure.

A question looks at what memory holds near it; each of these weighs by the softmax of its
closeness, and their weighted mean is what comes to mind. It lies where the memories are, not
where the question is, so what lies near it may share nothing with the question itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

TEMPERATURE = 0.05
"""Of the softmax over cosines: a memory that is nearer by so much weighs e times as much."""


@dataclass(frozen=True, slots=True)
class Mind:
    """What comes to mind with a question."""

    vector: Matrix
    """Of length 1, shape (dim,)."""
    weights: tuple[float, ...]
    """How much each memory has to do with it; together 1."""


def attend(query: Matrix, keys: Sequence[Matrix], temperature: float = TEMPERATURE) -> Mind:
    """Return what comes to mind: keys are vectors of length 1, at least one."""
    import numpy as np

    rows = np.stack(keys)
    cosines = rows @ query
    weights = np.exp((cosines - cosines.max()) / temperature)
    weights /= weights.sum()
    mean = weights @ rows
    length = float(np.linalg.norm(mean))
    vector = mean / length if length > 0 else query
    return Mind(np.asarray(vector, np.float32), tuple(map(float, weights)))
