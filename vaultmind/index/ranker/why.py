"""Why a hit stands where it stands: what lifts it most, in words.

A feature lifts a hit by its weight times how much more of it the hit has than the candidates
have on average; so what all have alike says nothing. Features of one family say the same to a
person, and some take back what others give: they are told together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

import numpy as np

from vaultmind.index.ranker.features import columns
from vaultmind.index.ranker.model import Model
from vaultmind.index.ranker.names import FEATURES, WHY, Family
from vaultmind.index.ranker.scene import Scene
from vaultmind.types import Reason

MOST = 3
LEAST_SHARE = 0.08
"""A reason with a smaller share is none."""


def why(model: Model, scene: Scene, rowids: Collection[int]) -> dict[int, tuple[Reason, ...]]:
    """Return the strongest reasons of some candidates, strongest first, by rowid."""
    found = columns(scene)
    lifts: defaultdict[Family, np.ndarray] = defaultdict(lambda: np.zeros(scene.count))
    for name, weight in model.weights.items():
        column = found[name]
        usual = column.mean() if scene.count > 1 else 0.0
        lifts[FEATURES[name].family] += weight * (column - usual)
    row = {int(rowid): at for at, rowid in enumerate(scene.rowids[: scene.count])}
    return {
        rowid: _strongest({family: float(lift[row[rowid]]) for family, lift in lifts.items()})
        for rowid in rowids
        if rowid in row
    }


def _strongest(lifts: dict[Family, float]) -> tuple[Reason, ...]:
    up = {family: lift for family, lift in lifts.items() if lift > 0}
    total = sum(up.values())
    reasons = [Reason(WHY[family], lift / total, family) for family, lift in up.items()]
    kept = [reason for reason in reasons if reason.share >= LEAST_SHARE]
    return tuple(sorted(kept, key=lambda reason: (-reason.share, reason.family))[:MOST])
