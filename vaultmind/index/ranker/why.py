"""Why a hit stands where it stands: what lifts it most, in words.

A feature lifts a hit by its weight times how much more of it the hit has than the candidates
have on average; so what all have alike says nothing. Features of one family say the same to a
person, and some take back what others give: they are told together.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

import numpy as np

from vaultmind.index.ranker.model import Model
from vaultmind.index.ranker.names import FEATURES, WHY, Family
from vaultmind.index.ranker.scene import Floats, Scene
from vaultmind.types import Reason

MOST = 3
_SAYS_LITTLE = ("kind", "written", "links")
"""Families that move a hit, but tell a reader nothing of why this one: told if nothing else is."""
LEAST_SHARE = 0.08
"""A reason with a smaller share is none."""


def why(
    model: Model, scene: Scene, features: Floats, rowids: Collection[int]
) -> dict[int, tuple[Reason, ...]]:
    """Return the strongest reasons of some candidates, strongest first, by rowid.

    `features`: those of all candidates, as `Model.score` gives them.
    """
    row = {int(rowid): at for at, rowid in enumerate(scene.rowids[: scene.count])}
    wanted = [rowid for rowid in rowids if rowid in row]
    usual = features.mean(axis=0) if scene.count > 1 else np.float32(0.0)
    weights = np.fromiter(model.weights.values(), dtype=np.float32)
    lifts = (features[[row[rowid] for rowid in wanted]] - usual) * weights
    families, member = _families(tuple(model.weights))
    return {
        rowid: _strongest(dict(zip(families, map(float, own), strict=True)))
        for rowid, own in zip(wanted, lifts @ member, strict=True)
    }


@lru_cache(maxsize=8)
def _families(names: tuple[str, ...]) -> tuple[tuple[Family, ...], Floats]:
    """Return the families of some features, and which feature is of which."""
    of = [FEATURES[name].family for name in names]
    families = tuple(dict.fromkeys(of))
    return families, np.array([[one == family for family in families] for one in of], np.float32)


def _strongest(lifts: dict[Family, float]) -> tuple[Reason, ...]:
    up = {family: lift for family, lift in lifts.items() if lift > 0}
    total = sum(up.values())
    reasons = [Reason(WHY[family], lift / total, family) for family, lift in up.items()]
    kept = [reason for reason in reasons if reason.share >= LEAST_SHARE]
    kept = [reason for reason in kept if reason.family not in _SAYS_LITTLE] or kept
    return tuple(sorted(kept, key=lambda reason: (-reason.share, reason.family))[:MOST])
