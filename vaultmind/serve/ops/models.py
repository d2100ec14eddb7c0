"""Learned models: trained, listed, put into use, taken back."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from vaultmind.errors import NotAllowed
from vaultmind.serve.call import Call
from vaultmind.serve.op import LOCAL, NOT_MCP, Arg, operation
from vaultmind.serve.show import Row, cell_of, tells
from vaultmind.types import PERSON, Caller, Progress

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.learn.learning import Job, ModelRow

SLICE_SECONDS = 0.2
"""How long to wait at a time before telling how far it is."""
AUTO = 2
"""The level of autonomy from which an agent may switch models: the way back is one command."""

Kinds = Annotated[Literal["planner", "ranker", "all"], Arg("What to train: plans or searches.")]
Days = Annotated[int, Arg("Learn from so many days back; 0: all.", min=0, max=36500)]
FEWER = "Lessons needed to train a model."
Lessons = Annotated[int | None, Arg(FEWER, min=1, max=1_000_000, option="--min-samples")]
Force = Annotated[bool, Arg("Use it whatever its trial says.", option="--activate")]
Wait = Annotated[float, Arg("Wait so long for its end.", min=0, max=3600)]

tells("learn.learning.Job", words="id state doing error results")
tells("learn.learning.Trained", words="kind of id activated why")
tells("learn.learning.ModelRow", "id kind of active created learnt_on scores path",
      "active id kind of")  # fmt: skip


@operation("Train the rankers", surfaces=NOT_MCP, writes=True, also={"model/train": {}})
def model_train(
    app: App,
    call: Call,
    kind: Kinds = "all",
    since_days: Days = 0,
    min_lessons: Lessons = None,
    force: Force = False,
    wait_seconds: Wait = 0.0,
) -> Job:
    """Learn from episodes and from feedback on searches, in the background; what is better in its
    trial comes into use.

    One runs at a time: who asks for another is told of that one. Raises NotAllowed for an agent
    below level 2, and for one that would choose the lessons or do without the trial.
    """
    _writer(app, call.caller)
    if call.caller.kind == "agent" and (force or since_days or min_lessons is not None):
        said = "may train, but only the person may choose the lessons or skip the trial."
        raise NotAllowed(f"{call.caller.name} {said}")
    job: Job = app.learning.train(
        kind, since_days, min_lessons, force_activate=force, asked=call.caller
    )
    deadline = time.monotonic() + wait_seconds
    while job.state == "running" and (left := deadline - time.monotonic()) > 0:
        job = replace(app.learning.wait(min(left, SLICE_SECONDS)) or job, begun=job.begun)
        call.report(Progress(job.done, job.total, job.doing))
    return job


@operation("The models", surfaces=NOT_MCP, also={"model/status": {}})
def model_status(app: App, call: Call) -> Row:
    """List the models, those in use, and the result of the last training."""
    agents, models = app.index.outlet.readable_agents(call.caller), app.learning.models
    return Row(
        "models faults job searches",
        **{"models": models.rows(), "faults": models.faults(), "job": app.learning.last},
        searches=len(app.search_feedback.judged(agents)),
    )


@operation("Put a model into use", surfaces=NOT_MCP, writes=True, also={"model/activate": {}})
def model_activate(
    app: App, call: Call, model: Annotated[str, Arg("A model's id.", min=1, max=100)]
) -> Row:
    """Use a model, by its id."""
    writer = _writer(app, call.caller)
    row = app.learning.models.activate(model.strip(), writer, asked=call.caller)
    return _changed("Now in use", (row,) if row else ())


@operation(
    "Take back a change of models", surfaces=NOT_MCP, writes=True, also={"model/rollback": {}}
)
def model_rollback(
    app: App, call: Call, kind: Annotated[Literal["planner", "ranker"], Arg("Which goes back.")]
) -> Row:
    """Go back to the model used before, for plans or searches."""
    rows = app.learning.models.rollback(kind, _writer(app, call.caller), call.caller)
    return _changed("Back in use", rows)


def _changed(what: str, rows: tuple[ModelRow, ...]) -> Row:
    names = ", ".join(f"{one.id} ({one.kind} for {one.of})" for one in rows) or "the shipped models"
    return Row(models=rows, message=f"{what}: {names}.")


def _writer(app: App, caller: Caller) -> Caller:
    """Return in whose name models are changed: they are nobody's alone, so the person's.

    An agent may switch between models that there are where it may write by itself; the audit says
    who asked.
    """
    if caller.kind == "person":
        return caller
    if app.authority.rights(caller.agent).level < AUTO:
        raise NotAllowed(
            f"{caller.agent} may not change ranking models: that takes autonomy {AUTO}."
        )
    return replace(PERSON, client=f"asked by {caller.agent}")


@operation("Show the language model", surfaces=LOCAL, persons=True)
def minion_status(app: App, call: Call) -> Row:
    """Show which model does what, whether it can, and what its last job cost."""
    from vaultmind.minion.choice import standing

    found = standing(app.config.minion, app.config.state_dir)
    lines = [f"{name:10} {' → '.join(chain)}" for name, chain in found["purposes"].items()]
    for model in found["models"]:
        lines += [f"{name:18} {cell_of(one)}" for name, one in model.items() if one]
    lines += [] if found["models"] else ["\nNo model is configured, and none is needed."]
    return Row(**found).saying(*lines)
