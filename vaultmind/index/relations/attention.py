"""One step of attention over the vectors of memory. Pure.

A question looks at what it found in memory, by words and by meaning; each of these weighs by the
softmax of its closeness, and their weighted mean is what comes to mind. It lies where the
memories are, not where the question is, so what lies near it may share nothing with the question
itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

TEMPERATURE = 0.1
"""Of the softmax over cosines: a memory that is nearer by so much weighs e times as much. Twice or
half of it changes little (benchmarks/association.py)."""


def attend(query: Matrix, keys: Sequence[Matrix], temperature: float = TEMPERATURE) -> Matrix:
    """Return what comes to mind, of length 1; so are the keys, of which there is at least one."""
    import numpy as np

    rows = np.stack(keys)
    cosines = rows @ query
    weights = np.exp((cosines - cosines.max()) / temperature)
    weights /= weights.sum()
    mean = weights @ rows
    length = float(np.linalg.norm(mean))
    mind: Matrix = np.asarray(mean / length if length > 0 else query, np.float32)
    return mind
