"""What a plan offered, as it is kept beside an episode's note: lessons are made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from vaultmind.episodes.types import Offer
from vaultmind.planner.candidates.candidates import Asked
from vaultmind.planner.packing.assembling import Assembled, Ranked
from vaultmind.planner.types import CacheStatus

if TYPE_CHECKING:
    from vaultmind.planner.sources.sources import Source

MOST_OFFERED = 40
"""Candidates, the best, whose features are kept."""
DIGITS = 4
READY_SHARE = 0.9
"""Of a source's files: where fewer are known, what a plan offers says nothing of planning."""


def offer_of(
    asked: Asked,
    ranked: Sequence[Ranked],
    features: Mapping[str, Mapping[str, float]],
    done: Assembled,
    *,
    weights: str,
    cache: CacheStatus,
) -> Offer:
    """Return what a plan offered, of its candidates the best with what was known of each."""
    best = [one.candidate.path for one in ranked[:MOST_OFFERED]]
    structure = asked.source.structure
    read = {one.path for one in done.context.pieces if one.part != "outline"}
    records = [structure.record(path) for path in read] if structure else []
    return Offer(
        asked.understood.task_fingerprint,
        asked.now.isoformat(timespec="seconds"),
        weights,
        {path: _kept(features.get(path, {})) for path in best},
        tuple(done.context.files),
        done.report.estimated_used,
        sum(one.tokens for one in records if one is not None),
        cache=cache,
    )


def is_ready(source: Source) -> bool:
    """Tell whether so much of a source is known that lessons and figures may be made of a plan.

    While it is read for the first time, or anew, they may not; what changed just now is no matter.
    """
    state = source.index.state()
    few = state.phase == "indexing" and state.indexed < state.files * READY_SHARE
    if few or state.phase == "starting":
        return False
    progress = source.structure.progress if source.structure is not None else None
    return progress is None or progress.done >= progress.total * READY_SHARE


def _kept(features: Mapping[str, float]) -> dict[str, float]:
    """Return the features that say something, short enough to be written down."""
    short = {name: round(value, DIGITS) for name, value in features.items()}
    return {name: value for name, value in short.items() if value}
