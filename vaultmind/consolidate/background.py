"""Consolidation by itself: one thread that works when it is quiet, and lets others go first."""

from __future__ import annotations

from dataclasses import dataclass

from vaultmind.consolidate.types import Consolidated


@dataclass(frozen=True, slots=True)
class Standing:
    """How far consolidation is."""

    queue: tuple[tuple[str, str], ...]
    """(agent, session) of those that wait."""
    running: str
    """What is worked at, in words; empty while nothing is."""
    paused: bool
    last: Consolidated | None
    """What the last run came to, since the start."""
    last_time: str
    """When it was over: ISO 8601; empty where there was none."""
    dropped: dict[str, int]
    """How many facts were dropped since the start, by reason."""
    seconds_today: float
    """How long models have worked today."""
