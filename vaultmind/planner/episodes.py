"""What an episode keeps for planning: its task, how its source changed, what was offered."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.episodes.keep import MayName, may_name
from vaultmind.episodes.recorder import Recorder
from vaultmind.episodes.types import Change, Event, Offer, TaskMark
from vaultmind.episodes.watch import Commit, Tasks, Watching
from vaultmind.errors import VaultMindError
from vaultmind.planner.candidates import Asked
from vaultmind.planner.git import History
from vaultmind.planner.pack import Assembled, Ranked
from vaultmind.planner.sources import Source, Sources
from vaultmind.planner.types import CacheStatus, Plan, PlanRequest
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Caller

if TYPE_CHECKING:
    from vaultmind.episodes.recorder import Recorder
    from vaultmind.planner.sources import Source

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
    from vaultmind.planner.prompts import task_words  # its patterns cost a start 20 ms

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


class WatchedSource:
    """One source, watched."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @property
    def name(self) -> str:
        """Return the source's name."""
        return self._source.name

    def relative(self, path: Path) -> str:
        """Return a file's path in the source; empty for one that is not of it or not shown.

        A link is followed: what counts is the file that was read or changed. An agent's memory is
        no part of the work.
        """
        try:
            inside = path.resolve().relative_to(self._source.root).as_posix()
        except (OSError, RuntimeError, ValueError):
            return ""
        return inside if self._is_shown(inside) else ""

    def uncommitted(self) -> dict[str, tuple[Change, int]]:
        """Return what differs from the last commit, and when each file changed."""
        found: dict[str, tuple[Change, int]] = {}
        history = self._history()
        for path, change in (history.uncommitted() if history else {}).items():
            if self._is_shown(path):
                found[path] = change, _changed_at(self._source.root / path)
        return found

    def commits(self, since: float) -> tuple[Commit, ...]:
        """Return the commits that were made here since then and still stand, oldest first."""
        history = self._history()
        made = history.commits_made(since) if history else ()
        return tuple(Commit(it.id, it.time, it.subject, it.changed) for it in made if it.changed)

    def _is_shown(self, path: str) -> bool:
        structure, outlet = self._source.structure, self._source.index.outlet
        if structure is not None:
            return structure.shows(path)
        return not outlet.paths.in_memory(path) and outlet.shows(path, PERSON)

    def _history(self) -> History | None:
        structure = self._source.structure
        return None if structure is None else structure.history


def open_watching(records: Recorder, sources: Sources, clock: Clock) -> Watching:
    """Return what follows conversations over the sources, not yet at work."""

    def holding(path: Path) -> WatchedSource | None:
        try:
            source = sources.holding(path)
        except VaultMindError:  # its index cannot be opened: nothing is known of its files
            return None
        return None if source is None else WatchedSource(source)

    return Watching(records, holding, _tasks, clock)


def _changed_at(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0


def _tasks() -> Tasks:
    from vaultmind.planner import prompts as tasks  # its patterns cost a start 20 ms

    return tasks
