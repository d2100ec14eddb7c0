"""Running: the memory's own summaries of what goes on, which say what better files say. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from vaultmind.planner.packing.assembling import Ranked

BEHIND = 1.0
"""How far below the best of the other files a running summary stands at most."""
_RUNNING = re.compile(r"/agents/([^/]+)/memory/(?:active_context\.md$|summaries/rolling/)")


def running_last(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return candidates with of each agent one running summary, below what it is about.

    An active context and the sliding summaries beside it hold the same sentences: of them the best
    stays. Where there is nothing else, it stays as it is.
    """
    own = {one.candidate.path: _agent(one.candidate.path) for one in ranked}
    others = [one.score for one in ranked if not own[one.candidate.path]]
    most = max(others) - BEHIND if others else float("inf")
    kept: list[Ranked] = []
    seen: set[str] = set()
    for one in sorted(ranked, key=lambda it: (-it.score, it.candidate.path)):
        agent = own[one.candidate.path]
        if agent and agent in seen:
            continue
        seen.add(agent)
        kept.append(replace(one, score=min(one.score, most)) if agent else one)
    return kept


def _agent(path: str) -> str:
    """Return whose running summary a file is; empty for any other file."""
    found = _RUNNING.search(f"/{path}")
    return found[1] if found else ""
