"""Lessons for the search ranker, from what searches turned out to be worth, and its training.

Each query is asked again of the index as it is now: right is what was of use, as far as it is
still there and may be shown. The new weights start from those in use and are pulled to them. Beside
these lessons stand questions made of the vault itself, which any ranker should answer: half of
them are learnt along, so that a taste is not bought with what everybody needs; the other half is the
guard of the trial.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from vaultmind.learn.jobs import Steps
from vaultmind.learn.trial import Verdict
from vaultmind.learn.verdicts import Judged

if TYPE_CHECKING:
    from vaultmind.index.ranker.model import Model
    from vaultmind.index.scenes import Scenes


@dataclass(frozen=True, slots=True)
class RankerLearnt:
    """What a training of the search ranker came to. Nothing of it is stored yet."""

    of: str
    """The name of the embedder that it goes with, e.g. `use`; empty: a search without one."""
    why: str
    """In words."""
    lessons: int = 0
    rows: int = 0
    model: Model | None = None
    verdict: Verdict | None = None


def train_ranker(
    scenes: Scenes, judged: Sequence[Judged], now: datetime, min_lessons: int, steps: Steps
) -> RankerLearnt:
    """Learn from verdicts, oldest first, and try the result on the later ones and on the guard.

    No model is made of fewer lessons than `min_lessons`. Raises Cancelled, IndexUnavailable.
    """
    return RankerLearnt("", "Not built yet.")
