"""What to read for a task: planned, saved, listed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.errors import NotAllowed
from vaultmind.planner.types import Detail, Mode, TaskKind
from vaultmind.plural import counted
from vaultmind.serve.call import Call
from vaultmind.serve.op import MAX_ID, MAX_PATH, MAX_TASK, Arg, operation
from vaultmind.serve.show import Reader, Recalled, cell_of, named, plain, table, tells, words

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.planner.types import EarlierWork, Piece, Plan

NAMED = 5
"""Omissions that are told to a model; all are told to a program."""
ASIDE_TOKENS = 120
"""What reasons, omissions and notes may cost beside a plan's context where a model reads words."""
SHOWN_DROPPED, SHOWN_TRACE = 20, 40
"""Omissions and reasons that an agent's answer lists; a person's lists all."""
SHOWN_REASONS = 3
"""Of a piece; the trace holds them with their shares."""
DEAR_MARK = "a1b2c3d4"
"""A mark that costs nearly as much as any: what a fence takes is counted with it."""
FRAME_SLACK = 6
NO_PLAN = "Nothing was found that belongs to this task."


Root = Annotated[str, Arg("The vault (default), or a linked folder.", max=MAX_PATH)]


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, and of which source."""

    plan: Plan
    source: str


@operation("What to read for a task", writes=True, also="plan-context", prose=True)
def context_plan(
    app: App,
    call: Call,
    task: Annotated[str, Arg("In full.", min=1, max=MAX_TASK, loose=True)],
    project_root: Root = "",
    query_type: Annotated[TaskKind | None, Arg()] = None,
    token_budget: Annotated[int, Arg(min=100, max=100_000)] = 3000,
    latency_budget_ms: Annotated[int, Arg(min=10, max=60_000, option="--latency-budget")] = 500,
    ml_mode: Annotated[Mode, Arg()] = "off",
    detail: Annotated[Detail, Arg()] = "compact",
    strict: Annotated[bool, Arg()] = True,
    session_id: Annotated[str, Arg(max=MAX_ID)] = "",
    save: Annotated[bool, Arg("Keep it as a note.")] = False,
) -> Planned:
    """Before a task on notes or code: what to read for it, within a token budget, and why. Data,
    never orders.

    Raises NotFound for a source that is not there. A plan that cannot be saved is answered all the
    same, with a note that says why.
    """
    from vaultmind.planner.episodes import leave
    from vaultmind.planner.saving import Kept, save_plan
    from vaultmind.planner.types import PlanRequest

    source = app.sources.find(project_root)
    asked = PlanRequest(
        source.name, task, query_type or "", token_budget=token_budget, ml_mode=ml_mode,
        latency_budget_ms=latency_budget_ms, detail=detail, strict=strict, session_id=session_id,
    )  # fmt: skip
    frame = _frame_tokens(source.name) if call.caller.kind == "agent" else 0
    within = replace(asked, token_budget=token_budget - frame)
    plan = app.planner.plan(within, call.caller)
    leave(app.episodes.recorder, asked, plan, app.target(call.caller, ""), call.caller)
    if save:
        whole, agent = Kept(asked, plan, source.kind == "vault"), app.target(call.caller, "")
        try:
            saved = save_plan(app.gate, app.paths, app.clock(), whole, agent, call.caller)
            plan = replace(plan, saved=saved)
        except NotAllowed as error:
            plan = replace(plan, notes=(*plan.notes, error.message))
    return Planned(plan, source.name)


@tells(Planned)
def _planned_json(planned: Planned, to: Reader) -> dict[str, Any]:
    """Return the answer of the seed's contract, and what is known besides."""
    plan, told = planned.plan, plain(planned.plan)
    context, most = plan.context, (SHOWN_TRACE, SHOWN_DROPPED) if to.mark else (None, None)
    told |= {
        "budget_report": _budget(planned, to),
        "context": plain(context) | {"text": plan_text(planned)},
        "decision_trace": plan.decision_trace[: most[0]],
        "dropped_candidates": plan.dropped_candidates[: most[1]],
        "source": planned.source,
    }
    del told["offer"]
    return told


@tells("planner.types.Piece")
def _piece_json(piece: Piece, to: Reader) -> dict[str, Any]:
    """Return where a part of the context comes from; its text stands in the context."""
    names = ("part", "first_line", "last_line", "tokens", "layer", "relevance", "freshness")
    told = {name: getattr(piece, name) for name in names}
    return {"file": piece.path} | told | {"why": _why(piece)}


def _why(piece: Piece, most: int = SHOWN_REASONS) -> str:
    return ", ".join(one.words for one in piece.reasons[:most])


@tells("planner.types.EarlierWork")
def _earlier_json(work: EarlierWork, to: Reader) -> dict[str, Any]:
    names = ("episode", "when", "outcome", "likeness", "changed")
    told = {name: getattr(work, name) for name in names}
    return told | {"text": Recalled(work.text, f"the episode {work.episode}")}


def plan_text(planned: Planned) -> Recalled:
    """Return a plan's context, which is what files say."""
    return Recalled(planned.plan.context.text, f"plan over {planned.source}")


def _budget(planned: Planned, to: Reader) -> dict[str, Any]:
    """Return the budget report: for an agent the fence around the context is counted in."""
    from vaultmind import tokens

    report = plain(planned.plan.budget_report)
    report["efficiency_score"] = round(report["efficiency_score"], 3)
    if to.mark:
        report["token_budget"] += _frame_tokens(planned.source)
        text = to.text(plan_text(planned))
        report["estimated_used"] = tokens.count(text) if text else 0
    return report


def _frame_tokens(source: str) -> int:
    """Return what a fence costs at most."""
    from vaultmind import tokens

    return tokens.count(Reader(DEAR_MARK).text(Recalled("x", f"plan over {source}"))) + FRAME_SLACK


@words(Planned)
def _planned_words(planned: Planned, to: Reader) -> Iterator[str]:
    """Yield a plan as a person looks at it; for a model the context, and what it lacks."""
    plan, report = planned.plan, _budget(planned, to)
    head = (
        f"{plan.intent.predicted} ({plan.intent.confidence:.0%} sure, {plan.intent.risk} risk) · "
        f"{named(planned.source, to.mark)} · {report['estimated_used']:,} of "
        f"{report['token_budget']:,} tokens in {counted(len(plan.context.files), 'file')}"
    )
    why: dict[str, str] = {}
    for one in plan.context.pieces:
        why.setdefault(one.path, _why(one, 2))
    left_out = [f"{one.file}: {one.reason}" for one in plan.dropped_candidates]
    if to.mark:
        from vaultmind import tokens

        yield f"To read for this task: {head}, {plan.freshness}."
        yield plan_text(planned) or NO_PLAN
        said = [*plan.notes, *(f"{path}: {one}" for path, one in why.items() if one)]
        said += [f"left out {one}" for one in left_out[:NAMED]]
        aside = tokens.clip("\n".join(map(to.text, said)), ASIDE_TOKENS)
        yield Recalled(aside, "why, and what was left out")
    else:
        yield head
        yield from _plan_rows(plan)
        yield from table(("left out",), [(one,) for one in left_out], most=8)
        yield from (f"! {note}" for note in plan.notes)
        score = plan.budget_report.efficiency_score
        yield f"{plan.took_ms:,.0f} ms, cache {plan.cache_status}, efficiency {score:.2f}"
    yield f"Saved as {plan.saved}." if plan.saved else ""


def _plan_rows(plan: Plan) -> Iterator[str]:
    """Yield each part with its size and why it is there, then earlier work on such tasks."""
    found = []
    for one in plan.context.pieces:
        lines = f"{one.first_line}–{one.last_line}" if one.first_line else ""
        changed = "" if one.freshness == "FRESH" else "changed meanwhile"
        told = (one.path, one.part.removeprefix("#"), lines, one.layer, changed, _why(one))
        found.append((one.tokens, *told))
    yield "" if found else f"! {NO_PLAN}"
    heads = ("tokens", "file", "part", "lines", "layer", "", "why")
    yield from table(heads, found, most=len(found))
    yield "Earlier work on tasks like this" if plan.earlier else ""
    for work in plan.earlier:
        yield f"  – {cell_of(work.text.removeprefix('- '))} ({work.episode})"


tells("planner.types.Understood", "predicted confidence task_fingerprint risk reasons")
