"""What to read for a task: planned, saved, listed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.errors import NotAllowed
from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call
from vaultmind.serve.op import (
    LOCAL,
    MAX_ID,
    MAX_PATH,
    MAX_TASK,
    Arg,
    operation,
)
from vaultmind.serve.show import Name, Reader, Recalled, dumps, named, plain, words

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.planner.saving import SavedPlans
    from vaultmind.planner.types import EarlierWork, Piece, Plan

from vaultmind.planner.types import Detail, Mode, TaskKind

NAMED = 5
"""Omissions that are told to a model; all are told to a program."""

ROUTE = "plan-context"
"""What `context_plan` is called over HTTP, besides its own name."""


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


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, and of which source."""

    plan: Plan
    source: str


@operation("What to read for a task", writes=True, also=ROUTE, prose=True)
def context_plan(
    app: App,
    call: Call,
    task: Annotated[str, Arg("In full.", min=1, max=MAX_TASK, loose=True)],
    project_root: Annotated[
        str, Arg("The vault (default), or a linked folder.", max=MAX_PATH)
    ] = "",
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
    from vaultmind.planner.saving import Kept
    from vaultmind.planner.types import PlanRequest

    source = app.sources.find(project_root)
    asked = PlanRequest(
        project_root=source.name,
        task=task,
        query_type=query_type or "",
        token_budget=token_budget,
        latency_budget_ms=latency_budget_ms,
        ml_mode=ml_mode,
        detail=detail,
        strict=strict,
        session_id=session_id,
        save=save,
    )
    frame = _frame_tokens(source.name) if call.caller.kind == "agent" else 0
    plan = app.planner.plan(
        replace(asked, token_budget=token_budget - frame, save=False), call.caller
    )
    leave(app.episodes.recorder, asked, plan, app.target(call.caller, ""), call.caller)
    if save:
        plan = _saved(app, call, Kept(asked, plan, source.name, source.kind == "vault"))
    return Planned(plan, source.name)


def _saved(app: App, call: Call, kept: Any) -> Plan:  # noqa: ANN401
    """Return a plan after it was saved, or with a note on why it was not."""
    from vaultmind.planner.saving import Saver

    saver = Saver(app.gate, app.paths, app.clock, lambda caller: app.target(caller, ""))
    plan: Plan = kept.plan
    try:
        return replace(plan, saved=saver.save(kept, call.caller))
    except NotAllowed as error:
        return replace(plan, notes=(*plan.notes, error.message))


@operation("The saved plans", surfaces=LOCAL, persons=True)
def plans(app: App, call: Call) -> SavedPlans:
    """List the saved plans: when, over which source, for what, how large."""
    from vaultmind.planner.saving import saved_plans

    return saved_plans(app.reader, app.paths, app.index.outlet.readable_agents(call.caller))


@dumps(Planned)
def _planned_json(planned: Planned, to: Reader) -> dict[str, Any]:
    """Return the answer of the seed's contract, and what is known besides."""
    plan, text = planned.plan, plan_text(planned)
    intent, context = plan.intent, plan.context
    most_trace = SHOWN_TRACE if to.mark else None
    most_dropped = SHOWN_DROPPED if to.mark else None
    return {
        "cache_status": plan.cache_status,
        "freshness": plan.freshness,
        "intent": {
            "predicted": intent.predicted,
            "confidence": round(intent.confidence, 3),
            "task_fingerprint": intent.task_fingerprint,
            "risk": intent.risk,
            "reasons": [Name(one) for one in intent.reasons],
        },
        "budget_report": _budget(planned, to),
        "context": {
            "layers": context.layers,
            "files": [Name(path) for path in context.files],
            "text": text,
            "pieces": [_piece(one) for one in context.pieces],
        },
        "decision_trace": [Name(one) for one in plan.decision_trace[:most_trace]],
        "dropped_candidates": [
            {"file": Name(one.file), "reason": Name(one.reason)}
            for one in plan.dropped_candidates[:most_dropped]
        ],
        "earlier": [_earlier(one) for one in plan.earlier],
        "notes": [Name(one) for one in plan.notes],
        "source": Name(planned.source),
        "rerank": plan.rerank,
        "model": Name(plan.model),
        "saved": plan.saved,
        "took_ms": round(plan.took_ms, 2),
    }


def _piece(piece: Piece) -> dict[str, Any]:
    """Return where a part of the context comes from; its text stands in the context."""
    return {
        "file": Name(piece.path),
        "part": Name(piece.part),
        "first_line": piece.first_line,
        "last_line": piece.last_line,
        "tokens": piece.tokens,
        "layer": piece.layer,
        "relevance": round(piece.relevance, 3),
        "freshness": piece.freshness,
        "why": Name(_why(piece)),
    }


def _why(piece: Piece, most: int = SHOWN_REASONS) -> str:
    return ", ".join(one.words for one in piece.reasons[:most])


def _earlier(work: EarlierWork) -> dict[str, Any]:
    """Return earlier work on such a task."""
    return {
        "episode": Name(work.episode),
        "when": work.when,
        "outcome": work.outcome,
        "likeness": round(work.likeness, 3),
        "changed": [Name(path) for path in work.changed],
        "text": Recalled(work.text, f"the episode {work.episode}"),
    }


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
    if not to.mark:
        yield head
        yield from _plan_rows(plan)
    else:
        from vaultmind import tokens

        yield f"To read for this task: {head}, {plan.freshness}."
        yield plan_text(planned) or NO_PLAN
        aside = tokens.clip("\n".join(map(to.text, _plan_asides(plan))), ASIDE_TOKENS)
        yield Recalled(aside, "why, and what was left out")
    yield f"Saved as {plan.saved}." if plan.saved else ""


def _plan_asides(plan: Plan) -> Iterator[str]:
    """Yield what is missing, why what is there is, and what was left out: each a short line."""
    yield from map(Name, plan.notes)
    for path, pieces in _by_file(plan).items():
        why = next((_why(one, 2) for one in pieces if one.reasons), "")
        yield Name(f"{path}: {why}") if why else ""
    for one in plan.dropped_candidates[:NAMED]:
        yield Name(f"left out {one.file}: {one.reason}")


def _by_file(plan: Plan) -> dict[str, list[Piece]]:
    pieces: dict[str, list[Piece]] = {path: [] for path in plan.context.files}
    for one in plan.context.pieces:
        pieces.setdefault(one.path, []).append(one)
    return pieces


def _plan_rows(plan: Plan) -> Iterator[str]:
    """Yield each file with its size, its parts and why it is there, then what was left out."""
    from vaultmind.vault.oneline import one_line

    if not plan.context.files:
        yield f"\n! {NO_PLAN}"
    for path, pieces in _by_file(plan).items():
        layers = "+".join(dict.fromkeys(one.layer for one in pieces))
        stale = any(one.freshness != "FRESH" for one in pieces)
        changed = "  changed meanwhile" if stale else ""
        size = sum(one.tokens for one in pieces)
        yield f"  {size:>7,}  {one_line(path)}  {layers}{changed}"
        parts = ", ".join(filter(None, map(_part_words, pieces)))
        told = [parts, *dict.fromkeys(filter(None, map(_why, pieces)))][:2]
        yield f"           {' · '.join(filter(None, told))}" if any(told) else ""
    if plan.earlier:
        yield "\nEarlier work on tasks like this"
        for work in plan.earlier:
            yield f"  – {one_line(work.text.removeprefix('- '))}"
            yield f"    {work.episode}"
    dropped = plan.dropped_candidates
    if dropped:
        yield "\nLeft out"
        yield from (f"  – {one_line(f'{one.file}: {one.reason}')}" for one in dropped[:8])
        yield f"  … and {len(dropped) - 8:,} more: --trace" if len(dropped) > 8 else ""  # noqa: PLR2004
    yield from (f"! {note}" for note in plan.notes)
    used = f", reranked by {plan.model}" if plan.rerank == "used" else ""
    score = plan.budget_report.efficiency_score
    yield f"\n{plan.took_ms:,.0f} ms, cache {plan.cache_status}, efficiency {score:.2f}{used}"


def _part_words(piece: Piece) -> str:
    """Return which part of a file it is; empty for the whole."""
    first, last = piece.first_line, piece.last_line
    lines = f"{first}–{last}" if last > first else f"{first}" if first else ""
    name = piece.part.removeprefix("#")
    if name == "outline":
        return name
    return f"{name} ({lines})" if name and lines else name or (f"lines {lines}" if lines else "")


@words("planner.saving.SavedPlans")
def _plans_words(found: SavedPlans, to: Reader) -> Iterator[str]:
    for one in found.plans:
        made = one.made[:16].replace("T", " ")
        yield f"{made}  {one.source}  {one.intent}  {one.task}"
        yield f"{' ' * 18}{one.path} {one.bytes / 1000:,.1f} KB"
    if not found.plans:
        yield 'No plan was saved yet: vaultmind plan --task "…" --save'
        return
    yield (
        f"{counted(len(found.plans), 'saved plan')}, {found.bytes / 1000:,.1f} KB in all; one has "
        f"{found.max_tokens:,} tokens at most. They are yours to delete."
    )
