"""Leaving word of a plan with the episode it was made for: what lessons and reports are made of."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from vaultmind.episodes.keep import MayName, may_name
from vaultmind.episodes.types import Event, TaskMark
from vaultmind.errors import VaultMindError
from vaultmind.planner.types import Plan, PlanRequest
from vaultmind.plural import counted
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.episodes.recorder import Recorder

NAMED_FILES = 5

log = logging.getLogger(__name__)


def leave(recorder: Recorder, request: PlanRequest, plan: Plan, agent: str, caller: Caller) -> str:
    """Keep what a plan offered with the running episode it is for; return that, or nothing.

    It is the one of the request's session, begun now where none runs in it; without a session
    the agent's that was begun for the same task. `request.project_root` is the source's name. A
    plan that offers nothing to go by (its source was still being read) leaves its line alone. A
    plan is answered whether or not this can be done.
    """
    if caller.kind == "person" and not request.session_id:
        return ""
    try:
        name = _episode(recorder, request, plan, agent, caller)
        if name:
            if plan.offer is not None:
                recorder.offer(name, plan.offer, caller)
            may = may_name(recorder.paths, name.partition("/")[0])
            recorder.add(name, [_event(plan, may)], caller)
        return name
    except (VaultMindError, OSError) as error:  # no records at autonomy 0; a note that was deleted
        log.debug("what a plan offered is not kept: %s", error)
        return ""


def mark_of(task: str, plan: Plan) -> TaskMark:
    """Return a task as an episode keeps it."""
    from vaultmind.planner.episodes.tasks import task_words  # its patterns cost a start 20 ms

    intent, text = plan.intent, task_words(task)
    references = intent.entities.references
    return TaskMark(text, intent.predicted, intent.task_fingerprint, intent.risk, references)


def _episode(
    recorder: Recorder, request: PlanRequest, plan: Plan, agent: str, caller: Caller
) -> str:
    running = recorder.running(agent, session=request.session_id, source=request.project_root)
    if not request.session_id:
        own = plan.intent.task_fingerprint
        running = tuple(one for one in running if one.task.fingerprint == own)
    if running:
        return running[0].name
    if not request.session_id:
        return ""
    begun = recorder.start(
        mark_of(request.task, plan),
        request.project_root,
        caller,
        session=request.session_id,
        token_budget=request.token_budget,
    )
    return begun.name


def _event(plan: Plan, may: MayName) -> Event:
    """Return the line that says what was offered; it happens now."""
    files = [*filter(may, plan.context.files)]
    named = ", ".join(files[:NAMED_FILES])
    text = f"{counted(len(files), 'file')}: {named}" if files else "nothing was found"
    if plan.offer is None:
        text += ", while the source was still being read"
    return Event("plan", "", text=text, tokens=plan.budget_report.estimated_used, how="plan")
