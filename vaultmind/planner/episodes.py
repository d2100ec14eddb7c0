"""What an episode keeps for planning: its task, how its source changed, what was offered."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.episodes.note import may_name
from vaultmind.episodes.recorder import Episodes
from vaultmind.episodes.types import Event, Offer
from vaultmind.episodes.watch import Tasks, Watching
from vaultmind.errors import VaultMindError
from vaultmind.planner.types import Plan, PlanRequest
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.planner.candidates import Asked, Candidate
    from vaultmind.planner.source import Source
from vaultmind.planner.sources import Sources

MOST_OFFERED, DIGITS = 40, 4
"""Candidates, the best, whose features are kept, and how exactly."""
READY_SHARE = 0.9
"""Of a source's files: where fewer are known, what a plan offers says nothing of planning."""
NAMED_FILES = 5
log = logging.getLogger(__name__)


def offer_of(asked: Asked, ranked: Sequence[Candidate], plan: Plan, *, weights: str) -> Offer:
    """Return what a plan offered, of its candidates the best with what was known of each."""
    read = {one.path for one in plan.context.pieces if one.part != "outline"}
    records = map(asked.source.record, read)
    kept = {
        one.path: {name: short for name, value in one.signals.items()
                   if (short := round(value, DIGITS))}
        for one in ranked[:MOST_OFFERED]
    }  # fmt: skip
    return Offer(
        asked.understood.task_fingerprint,
        asked.now.isoformat(timespec="seconds"),
        weights,
        kept,
        tuple(plan.context.files),
        plan.budget_report.estimated_used,
        sum(one.tokens for one in records if one is not None),
    )


def is_ready(source: Source) -> bool:
    """Tell whether so much of a source is known that lessons and figures may be made of a plan.

    While it is read for the first time, or anew, they may not; what changed just now is no matter.
    """
    state = source.index.state()
    few = state.phase == "indexing" and state.indexed < state.files * READY_SHARE
    return not few and state.phase != "starting"


def leave(episodes: Episodes, request: PlanRequest, plan: Plan, agent: str, caller: Caller) -> str:
    """Keep what a plan offered with the running episode it is for; return that, or nothing.

    It is the one of the request's session, begun now where none runs in it; without a session
    the agent's that was begun for the same task. `request.project_root` is the source's name. A
    plan that offers nothing to go by (its source was still being read) leaves its line alone. A
    plan is answered whether or not this can be done.
    """
    session, source, intent = request.session_id, request.project_root, plan.intent
    if caller.kind == "person" and not session:
        return ""
    try:
        running = [
            one.name
            for one in episodes.running(agent, session=session, source=source)
            if session or one.task.fingerprint == intent.task_fingerprint
        ]
        if not running and session:
            from vaultmind.planner.task import task_mark  # its patterns cost a start 20 ms

            mark = replace(
                task_mark(request.task, source),
                kind=intent.predicted,
                fingerprint=intent.task_fingerprint,
            )
            begun = episodes.start(mark, source, caller, session=session)
            running = [begun.name]
        for name in running[:1]:
            if plan.offer is not None:
                episodes.offer(name, plan.offer, caller)
            may = may_name(episodes.paths, name.partition("/")[0])
            files = [*filter(may, plan.context.files)]
            text = f"{counted(len(files), 'file')}: {', '.join(files[:NAMED_FILES])}"
            text = text if files else "nothing was found"
            text += ", while the source was still being read" if plan.offer is None else ""
            used = plan.budget_report.estimated_used
            episodes.add(name, [Event("plan", "", text=text, tokens=used, how="plan")], caller)
        return next(iter(running), "")
    except (VaultMindError, OSError) as error:  # no records at autonomy 0; a note that was deleted
        log.debug("what a plan offered is not kept: %s", error)
        return ""


def open_watching(records: Episodes, sources: Sources, clock: Clock) -> Watching:
    """Return what follows conversations over the sources, not yet at work."""

    def holding(path: Path) -> Source | None:
        with suppress(VaultMindError):  # its index cannot be opened: nothing is known of its files
            return sources.holding(path)
        return None

    return Watching(records, holding, _tasks, clock)


def _tasks() -> Tasks:
    from vaultmind.planner import task  # its patterns cost a start 20 ms

    return task
