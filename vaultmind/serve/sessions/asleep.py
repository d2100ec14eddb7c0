"""How consolidation stands, in a line: what waits, what runs, what was done last."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaultmind.plural import counted
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.consolidate.background import Standing


@dataclass(frozen=True, slots=True)
class Brief:
    """How consolidation stands, for a status: an agent is told of its own sessions alone."""

    waiting: int
    paused: bool
    running: str
    last_time: str
    dropped: dict[str, int]
    seconds_today: float
    words: str
    asked_for: int = 0
    """Sessions that wait until the person asks, as imported ones do."""


NO_BRIEF = Brief(0, paused=False, running="", last_time="", dropped={}, seconds_today=0.0, words="")


def brief(app: App, caller: Caller) -> Brief:
    """Return how consolidation stands, for whoever asks for the status."""
    found: Standing = app.consolidation.standing()
    if caller.kind == "agent":
        waiting = sum(agent == caller.agent for agent, _ in found.queue)
        words = f"{_waits(waiting)}." if waiting else ""
        return replace(NO_BRIEF, waiting=waiting, paused=found.paused, words=words)
    return Brief(
        len(found.queue),
        found.paused,
        found.running,
        found.last_time,
        dict(found.dropped),
        round(found.seconds_today, 1),
        standing_words(found),
        found.asked_for,
    )


def standing_words(response: Standing, mark: str = "") -> str:
    """Return in a line what waits, what runs, and what was done last."""
    waiting = len(response.queue)
    parts = [_waits(waiting)] if waiting else []
    if response.asked_for:
        also = "more " if waiting else ""
        verb = "waits" if response.asked_for == 1 else "wait"
        sessions = counted(response.asked_for, f"{also}session")
        parts.append(f"{sessions} {verb} for `vaultmind consolidate`")
    if not parts:
        parts.append("nothing waits to be consolidated")
    if response.running:
        parts.append(f"works on {response.running}")
    if response.paused:
        parts.append("paused")
    if response.last_time:
        parts.append(f"last run {response.last_time[:16].replace('T', ' ')}")
    if response.dropped:
        parts.append(f"dropped {reasons_words(dict(response.dropped))}")
    if response.seconds_today:
        parts.append(f"{response.seconds_today:,.0f} s of a model today")
    return " · ".join(parts)


def reasons_words(found: dict[str, int]) -> str:
    """Return counted reasons in words: `2 question, 1 joke`."""
    return ", ".join(f"{number:,} {reason}" for reason, number in found.items())


def _waits(number: int) -> str:
    verb = "waits" if number == 1 else "wait"
    return f"{counted(number, 'session')} {verb} to be consolidated"
