"""`model_train`, `model_status`, `model_activate`, `model_rollback`: learned models in use."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from vaultmind.errors import NotAllowed
from vaultmind.memory.rights.policy import AUTO
from vaultmind.plural import counted
from vaultmind.serve.calls.operation import NOT_MCP, Operation
from vaultmind.serve.calls.requests import NoArgs
from vaultmind.serve.calls.schema import arg, to_json
from vaultmind.serve.planning import feedback
from vaultmind.types import PERSON, Caller, Progress

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.learn.learning import Job, LearningStatus
    from vaultmind.learn.models import ModelRow
    from vaultmind.learn.trial import Trained
    from vaultmind.serve.calls.call import Call

MAX_WAIT_SECONDS = 3600.0
SLICE_SECONDS = 0.2
"""How long to wait at a time before telling how far it is."""
MAX_ID = 100


@dataclass(frozen=True, slots=True)
class TrainArgs:
    """Arguments of model_train."""

    kind: Literal["planner", "ranker", "all"] = arg(
        "The planner's weights, the search's ranker, or both.", default="all"
    )
    since_days: int = arg("Learn from the last so many days; 0: all.", default=0, min=0, max=36500)
    min_lessons: int | None = arg(
        "Fewer lessons make no model.", default=None, min=1, max=1_000_000
    )
    force: bool = arg("Use what is learnt whatever its trial says; the person's.", default=False)
    wait_seconds: float = arg("Wait so long for its end.", default=0.0, min=0, max=MAX_WAIT_SECONDS)


@dataclass(frozen=True, slots=True)
class ActivateArgs:
    """Arguments of model_activate."""

    model: str = arg("A model's id, as model_status has it.", min=1, max=MAX_ID)


@dataclass(frozen=True, slots=True)
class RollbackArgs:
    """Arguments of model_rollback."""

    kind: Literal["planner", "ranker"] = arg("Which kind goes back to what it was before.")


@dataclass(frozen=True, slots=True)
class Changed:
    """What is in use after a change."""

    models: tuple[ModelRow, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Standing:
    """What there is of models, and how much there is to learn from."""

    learning: LearningStatus
    searches: int
    """Queries that somebody's verdict is known of."""


def train(app: App, call: Call, args: TrainArgs) -> Job:
    """Begin a training in the background, or tell of the one that runs; return how it stands.

    Raises NotAllowed for an agent below level 2, since what passes its trial comes into use, and
    for one that would make the trial easier or do without it.
    """
    if call.caller.kind == "agent":
        _check_agent(app, call.caller, args)
    job: Job = app.learning.train(
        args.kind, args.since_days, args.min_lessons, force_activate=args.force, asked=call.caller
    )
    deadline = time.monotonic() + args.wait_seconds
    while job.state == "running" and (left := deadline - time.monotonic()) > 0:
        job = replace(app.learning.wait(min(left, SLICE_SECONDS)) or job, begun=job.begun)
        call.report(Progress(job.done, job.total, job.doing))
    return job


def _check_agent(app: App, caller: Caller, args: TrainArgs) -> None:
    """Raise NotAllowed for what an agent may not ask of a training."""
    _writer(app, caller)
    least = app.config.learning.min_lessons
    if args.force:
        asked = "have a model used that its trial speaks against"
    elif args.min_lessons is not None and args.min_lessons < least:
        asked = f"have one made of fewer than {least} lessons (min_lessons)"
    elif args.since_days:
        asked = "choose the lessons (since_days)"
    else:
        return
    raise NotAllowed(
        f"{caller.agent} may train, not {asked}: that is for the person, at the command line."
    )


def status(app: App, call: Call, args: NoArgs) -> Standing:
    """Return the models, those in use, the last training, and how much there is to learn from."""
    agents = app.index.outlet.readable_agents(call.caller)
    return Standing(app.learning.status(), len(app.search_feedback.judged(agents)))


def activate(app: App, call: Call, args: ActivateArgs) -> Changed:
    """Put a model into use. Raises NotFound, NotAllowed for an agent below level 2."""
    writer = _writer(app, call.caller)
    rows = app.learning.models.activate([args.model.strip()], writer, asked=call.caller)
    return Changed(rows, f"In use now: {_names(rows)}.")


def rollback(app: App, call: Call, args: RollbackArgs) -> Changed:
    """Take back the last change. Raises NotFound, NotAllowed for an agent below level 2."""
    rows = app.learning.rollback(args.kind, _writer(app, call.caller), call.caller)
    return Changed(rows, f"Back to what it was: {_names(rows)}.")


def job_words(response: Job, mark: str = "") -> str:
    """Return how a training stands, in words."""
    if not response.begun:
        told = job_words(replace(response, begun=True), mark)
        return f"{not_begun(response.kind)}\n{told}"
    if response.state == "running":
        at = f", {response.done:,} of {response.total:,}" if response.total else ""
        return f"Training ({response.id}): {response.doing or 'it begins'}{at}."
    if response.state == "failed":
        return f"The training failed: {response.error}"
    if response.state == "cancelled":
        return "The training was ended before it was done."
    return "\n".join(map(trained_words, response.results)) or "There was nothing to train."


def not_begun(kind: str) -> str:
    """Return in words that another training ran already, of some kind."""
    what = "everything" if kind == "all" else f"the {kind}"
    return f"Not begun: a training of {what} was running. Ask again once it has ended."


def job_json(response: Job, mark: str = "") -> dict[str, Any]:
    """Return a training as it stands, with what came of it in words."""
    return dict(to_json(response)) | {"message": job_words(response, mark)}


def trained_words(one: Trained) -> str:
    """Return what came of a training, in a line."""
    what = f"{one.kind} for {one.of}" if one.of else one.kind
    used = "in use now" if one.activated else "kept, not in use" if one.id else "no model"
    named = f" {one.id}:" if one.id else ""
    return f"{what}:{named} {used}. {one.why}"


def status_words(response: Standing, mark: str = "") -> str:
    """Return the models, a line each, and what the last training came to."""
    told = response.learning
    lines = [
        f"{'*' if one.active else ' '} {one.id}  {one.kind} for {one.of}"
        + (f", learnt from {'; '.join(one.learnt_on)}" if one.path and one.learnt_on else "")
        for one in told.models
    ]
    if told.job is not None:
        lines.append(job_words(told.job, mark))
    lines.append(
        f"To learn from: {counted(response.searches, 'search', 'searches')} with a verdict."
    )
    return "\n".join([*lines, *told.faults])


def status_json(response: Standing, mark: str = "") -> dict[str, Any]:
    """Return the models with their measures, the last training, what there is to learn from."""
    told = response.learning
    job = None if told.job is None else job_json(told.job, mark)
    return {
        "models": to_json(told.models),
        "faults": list(told.faults),
        "job": job,
        "can_roll_back": dict(told.can_roll_back),
        "searches": response.searches,
        "message": status_words(response, mark),
    }


def changed_words(response: Changed, mark: str = "") -> str:
    """Return what is in use now."""
    return response.message


def _names(rows: tuple[ModelRow, ...]) -> str:
    return ", ".join(f"{one.id} ({one.kind} for {one.of})" for one in rows) or "what is shipped"


def _writer(app: App, caller: Caller) -> Caller:
    """Return in whose name models are changed: they are nobody's alone, so the person's.

    An agent may switch between models that there are where it may write by itself; the audit says
    who asked, and the way back is one command.
    """
    if caller.kind == "person":
        return caller
    if app.authority.level(caller.agent) < AUTO:
        raise NotAllowed(
            f"{caller.agent} may not change what ranks: that takes autonomy {AUTO}, or the person."
        )
    return replace(PERSON, client=f"asked by {caller.agent}")


TABLE = (
    Operation(
        name="search_feedback",
        title="Say what a hit was worth",
        request=feedback.JudgeArgs,
        help="Say whether a search's hit was useful or wrong; the ranker learns from it.",
        run=feedback.run,
        words=feedback.words,
        json=feedback.as_json,
        writes=True,
        surfaces=NOT_MCP,
    ),
    Operation(
        name="model_train",
        title="Train the rankers",
        request=TrainArgs,
        help="Learn from episodes and from feedback on searches, in the background; what is better "
        "in its trial comes into use.",
        run=train,
        words=job_words,
        json=job_json,
        writes=True,
        surfaces=NOT_MCP,
        also="model/train",
    ),
    Operation(
        name="model_status",
        title="The models",
        request=NoArgs,
        help="List the models, those in use, and what the last training came to.",
        run=status,
        words=status_words,
        json=status_json,
        surfaces=NOT_MCP,
        also="model/status",
    ),
    Operation(
        name="model_activate",
        title="Put a model into use",
        request=ActivateArgs,
        help="Put a model into use, by its id.",
        run=activate,
        words=changed_words,
        writes=True,
        surfaces=NOT_MCP,
        also="model/activate",
    ),
    Operation(
        name="model_rollback",
        title="Take back a change of models",
        request=RollbackArgs,
        help="Take back the last change of what ranks plans, or searches.",
        run=rollback,
        words=changed_words,
        writes=True,
        surfaces=NOT_MCP,
        also="model/rollback",
    ),
)
