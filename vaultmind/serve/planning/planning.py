"""`context_plan`: what to read for a task, why, and what was left out, within a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vaultmind import tokens
from vaultmind.errors import NotAllowed
from vaultmind.fence import fence
from vaultmind.planner.episodes.leaving import leave
from vaultmind.planner.telling.saving import Kept, SavedPlans, Saver, saved_plans
from vaultmind.planner.types import (
    Detail,
    EarlierWork,
    Mode,
    Piece,
    Plan,
    PlanRequest,
    TaskKind,
)
from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call
from vaultmind.serve.calls.fencing import fenced, named
from vaultmind.serve.calls.requests import MAX_ID, NoArgs
from vaultmind.serve.calls.schema import arg, to_json

if TYPE_CHECKING:
    from vaultmind.app import App

ROUTE = "plan-context"
"""What the operation is called over HTTP, besides its own name."""
MAX_TASK, MAX_ROOT = 50_000, 4096
MIN_TOKENS, MAX_TOKENS = 100, 100_000
MIN_MS, MAX_MS = 10, 60_000
ASIDE_TOKENS = 300
"""What trace, omissions and notes may cost beside the context where a model reads words."""
SHOWN_DROPPED = 20
"""Omissions that an agent's answer lists; a person's lists all."""
SHOWN_TRACE = 40
SHOWN_REASONS = 3
"""Of a piece; the trace holds them with their shares."""
DEAR_MARK = "a1b2c3d4"
"""A mark that costs nearly as much as any: what a fence takes is counted with it."""
FRAME_SLACK = 6
NOTHING = "Nothing was found that belongs to this task."


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanArgs:
    """Arguments of context_plan."""

    task: str = arg("In full.", min=1, max=MAX_TASK, loose=True)
    project_root: str = arg("The vault (default), or a linked folder.", default="", max=MAX_ROOT)
    query_type: TaskKind | None = arg("", default=None)  # noqa: RUF009
    token_budget: int = arg("", default=3000, min=MIN_TOKENS, max=MAX_TOKENS)
    latency_budget_ms: int = arg("", default=500, min=MIN_MS, max=MAX_MS)
    ml_mode: Mode = arg("", default="off")  # noqa: RUF009
    detail: Detail = arg("", default="compact")  # noqa: RUF009
    strict: bool = arg("", default=True)
    session_id: str = arg("", default="", max=MAX_ID)
    save: bool = arg("Keep it as a note.", default=False)


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, and of which source."""

    plan: Plan
    source: str


def run(app: App, call: Call, args: PlanArgs) -> Planned:
    """Plan what to read for a task, and save the plan where that is asked for.

    Raises NotFound for a source that is not there. A plan that cannot be saved is answered all
    the same, with a note that says why.
    """
    source = app.sources.find(args.project_root)
    frame = frame_tokens(source.name) if call.caller.kind == "agent" else 0
    request = PlanRequest(
        project_root=source.name,
        task=args.task,
        query_type=args.query_type or "",
        token_budget=args.token_budget - frame,
        latency_budget_ms=args.latency_budget_ms,
        ml_mode=args.ml_mode,
        detail=args.detail,
        strict=args.strict,
        session_id=args.session_id,
    )
    plan = app.planner.plan(request, call.caller)
    asked = replace(request, token_budget=args.token_budget, save=args.save)
    leave(app.episodes.recorder, asked, plan, app.target(call.caller, ""), call.caller)
    if args.save:
        kept = Kept(asked, plan, source.name, source.kind == "vault")
        plan = _saved(app, call, kept)
    return Planned(plan, source.name)


def as_json(response: Planned, mark: str = "") -> dict[str, Any]:
    """Return the answer of the seed's contract, and what is known besides."""
    plan = response.plan
    intent, context = plan.intent, plan.context
    dropped = plan.dropped_candidates
    return {
        "cache_status": plan.cache_status,
        "freshness": plan.freshness,
        "intent": {
            "predicted": intent.predicted,
            "confidence": round(intent.confidence, 3),
            "task_fingerprint": intent.task_fingerprint,
            "risk": intent.risk,
            "reasons": [named(one, mark) for one in intent.reasons],
        },
        "budget_report": _budget(response, mark),
        "context": {
            "layers": list(context.layers),
            "files": [named(path, mark) for path in context.files],
            "text": context_text(response, mark),
            "pieces": [_piece(one, mark) for one in context.pieces],
        },
        "decision_trace": [
            named(one, mark) for one in _few(plan.decision_trace, SHOWN_TRACE, mark)
        ],
        "dropped_candidates": [
            {"file": named(one.file, mark), "reason": named(one.reason, mark)}
            for one in _few(dropped, SHOWN_DROPPED, mark)
        ],
        "earlier": [_earlier(one, mark) for one in plan.earlier],
        "notes": [named(one, mark) for one in plan.notes],
        "source": named(response.source, mark),
        "rerank": plan.rerank,
        "model": named(plan.model, mark),
        "saved": plan.saved,
        "took_ms": round(plan.took_ms, 2),
    }


def words(response: Planned, mark: str = "") -> str:
    """Return the context, and beside it why it is that and what was left out."""
    plan, report = response.plan, _budget(response, mark)
    where = named(response.source, mark)
    head = (
        f"To read for this task ({plan.intent.predicted}, {plan.intent.confidence:.0%} sure; risk "
        f"{plan.intent.risk}): {counted(len(plan.context.files), 'file')} of {where}, "
        f"{report['estimated_used']:,} of {report['token_budget']:,} tokens, {plan.freshness}."
    )
    text = context_text(response, mark) or NOTHING
    aside = tokens.clip("\n".join(_asides(plan, mark)), ASIDE_TOKENS)
    lines = [head, text, fenced(aside, "why, and what was left out", mark) if aside else ""]
    lines.append(f"Saved as {plan.saved}." if plan.saved else "")
    return "\n\n".join(line for line in lines if line)


def context_text(response: Planned, mark: str) -> str:
    """Return a plan's context: for an agent fenced, since it is what files say."""
    text = response.plan.context.text
    return fenced(text, _place(response.source), mark) if text else ""


def listed(app: App, call: Call, args: NoArgs) -> SavedPlans:
    """Return the saved plans of every agent that the caller may read."""
    return saved_plans(app.reader, app.paths, app.index.outlet.readable_agents(call.caller))


def listed_words(response: SavedPlans, mark: str = "") -> str:
    """Return the saved plans, one a line."""
    lines = [f"{one.made} {one.path} {one.source} {one.task}" for one in response.plans]
    return "\n".join([*lines, f"{counted(len(lines), 'saved plan')}, {response.bytes:,} bytes."])


def _saved(app: App, call: Call, kept: Kept) -> Plan:
    """Return a plan after it was saved, or with a note on why it was not."""
    saver = Saver(app.gate, app.paths, app.clock, lambda caller: app.target(caller, ""))
    try:
        path = saver.save(kept, call.caller)
    except NotAllowed as error:
        return replace(kept.plan, notes=(*kept.plan.notes, error.message))
    return replace(kept.plan, saved=path)


def _budget(response: Planned, mark: str) -> dict[str, Any]:
    """Return the budget report: for an agent the fence around the context is counted in."""
    report = dict(to_json(response.plan.budget_report))
    report["efficiency_score"] = round(report["efficiency_score"], 3)
    if mark:
        report["token_budget"] += frame_tokens(response.source)
        text = context_text(response, mark)
        report["estimated_used"] = tokens.count(text) if text else 0
    return report


def frame_tokens(source: str) -> int:
    """Return what a fence costs at most."""
    return tokens.count(fence("x", _place(source), DEAR_MARK)) + FRAME_SLACK


def _place(source: str) -> str:
    return f"plan over {source}"


def _piece(piece: Piece, mark: str) -> dict[str, Any]:
    """Return where a part of the context comes from; its text stands in the context."""
    return {
        "file": named(piece.path, mark),
        "part": named(piece.part, mark),
        "first_line": piece.first_line,
        "last_line": piece.last_line,
        "tokens": piece.tokens,
        "layer": piece.layer,
        "relevance": round(piece.relevance, 3),
        "freshness": piece.freshness,
        "why": named(", ".join(one.words for one in piece.reasons[:SHOWN_REASONS]), mark),
    }


def _earlier(work: EarlierWork, mark: str) -> dict[str, Any]:
    """Return earlier work on such a task; what was said of it stands in a fence for an agent."""
    return {
        "episode": named(work.episode, mark),
        "when": work.when,
        "outcome": work.outcome,
        "likeness": round(work.likeness, 3),
        "changed": [named(path, mark) for path in work.changed],
        "text": fenced(work.text, f"the episode {work.episode}", mark) if mark else work.text,
    }


def _few(values: Sequence[Any], most: int, mark: str) -> Sequence[Any]:
    return values[:most] if mark else values


def _asides(plan: Plan, mark: str) -> Iterator[str]:
    """Yield in words what is missing, why what is there is, and what was left out."""
    yield from (named(note, mark) for note in plan.notes)
    yield from (named(line, mark) for line in plan.decision_trace[:SHOWN_TRACE])
    dropped = plan.dropped_candidates
    if dropped:
        yield f"Left out ({len(dropped):,}):"
        yield from (named(f"{one.file}: {one.reason}", mark) for one in dropped[:SHOWN_DROPPED])
