"""Candidates: what search, names, links and history find for a task, each file once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from vaultmind.planner.pool import Candidate, Provider, Spot, merged
from vaultmind.planner.types import PlanRequest, Understood
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.index.strongest import Strong
    from vaultmind.planner.sources import Source

FOUND_CHUNKS = 200
"""Chunks of a search that are looked at."""
MOST_SPOTS = 5
"""Of a file."""
MOST_FILES = 150
"""Candidates of a plan."""
FADING = 0.6
"""What the next best chunk of a file adds, as a share of the one before."""


@dataclass(frozen=True, slots=True)
class Asked:
    """All that candidates are looked for with."""

    request: PlanRequest
    understood: Understood
    source: Source
    caller: Caller
    now: datetime
    providers: Sequence[Provider] = ()


def candidates(asked: Asked) -> dict[str, Candidate]:
    """Return the files that may belong to a task, none of which is hidden from the caller."""
    found = [*_searched(asked)]
    for provider in asked.providers:
        found += provider.candidates(asked.understood, asked.source, asked.caller)
    pool = merged(found)
    shows = asked.source.index.outlet.shows
    return {path: one for path, one in pool.items() if shows(path, asked.caller)}


def _searched(asked: Asked) -> Iterable[Candidate]:
    """Yield the files of the best chunks: their best, and how much there is beside it."""
    strong = asked.source.index.strongest.find(asked.request.task, asked.caller, FOUND_CHUNKS)
    by_file: dict[str, list[Strong]] = {}
    for one in strong:
        by_file.setdefault(one.chunk.path, []).append(one)
    most = max((_together([c.words for c in each]) for each in by_file.values()), default=0.0)
    ranks = [one.rank for one in strong]
    low, width = min(ranks, default=0.0), (max(ranks, default=0.0) - min(ranks, default=0.0)) or 1.0
    for path, each in by_file.items():
        signals = {
            "words": max(one.words for one in each),
            "words_sum": _together([one.words for one in each]) / (most or 1.0),
            "meaning": max(one.meaning for one in each),
            "rank": max((one.rank - low) / width for one in each),
        }
        spots = tuple(
            Spot(one.chunk.start, one.chunk.end, one.chunk.anchor, (one.rank - low) / width)
            for one in each[:MOST_SPOTS]
        )
        yield Candidate(path, signals, spots)


def _together(values: Sequence[float]) -> float:
    """Return a sum in which each next best counts less."""
    ranked = sorted(values, reverse=True)[:MOST_SPOTS]
    return math.fsum(value * FADING**at for at, value in enumerate(ranked))
