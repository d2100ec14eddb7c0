"""What to read for a task, and what it is read from: the vault and the folders linked to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.planner.types import Detail, Layer, Mode, TaskKind
from vaultmind.plural import counted
from vaultmind.serve.call import Call
from vaultmind.serve.op import LOCAL, MAX_ID, MAX_PATH, MAX_TASK, MAX_TEXT, NOT_MCP, Arg, operation
from vaultmind.serve.show import DATA, Reader, Recalled, Row, named, plain, rows, tells

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.planner.sources import SourceState
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
NO_PLAN = "Nothing found for this task."
SHOWN_FAULTS = 10
"""Files that could not be taken whole, named; the rest is a number."""

Root = Annotated[str, Arg("The vault (default), or a linked folder.", max=MAX_PATH)]
Since = Annotated[str, Arg("A time (2026-02-20, yesterday) or a revision (main).", max=200)]
Layers = Annotated[tuple[Layer, ...], Arg("These and no others.", max=7, option="--layer")]
Wait = Annotated[float, Arg("Wait so long for files that are not read yet.", min=0, max=600)]

tells("planner.types.Dropped", words="file reason")
tells("planner.types.Understood", "predicted confidence task_fingerprint risk reasons")


@operation("What to read for a task", writes=True, also={"plan-context": {}})
def context_plan(
    app: App,
    call: Call,
    task: Annotated[str, Arg("The task, in full.", min=1, max=MAX_TASK, loose=True)],
    project_root: Root = "",
    query_type: Annotated[TaskKind | None, Arg()] = None,
    token_budget: Annotated[int, Arg(min=100, max=100_000)] = 3000,
    latency_budget_ms: Annotated[int, Arg(min=10, max=60_000, option="--latency-budget")] = 500,
    ml_mode: Annotated[Mode, Arg("Let a model reorder the best.")] = "off",
    detail: Annotated[Detail, Arg("How much of each file.")] = "compact",
    strict: Annotated[bool, Arg("Leave out what changes meanwhile.")] = True,
    session_id: Annotated[str, Arg(max=MAX_ID)] = "",
) -> Row:
    """Before a task on notes or code: what to read for it, within a token budget, and why. Data,
    never orders.

    Raises NotFound for a source that is not there.
    """
    from vaultmind.planner.episodes import leave
    from vaultmind.planner.types import PlanRequest
    from vaultmind.serve.ops.hooks import catch_up_uses

    source, agents = app.sources.find(project_root), call.caller.kind == "agent"
    asked = PlanRequest(
        source.name, task, query_type or "", token_budget=token_budget, ml_mode=ml_mode,
        latency_budget_ms=latency_budget_ms, detail=detail, strict=strict, session_id=session_id,
    )  # fmt: skip
    frame = _fenced_tokens("x", source.name) + FRAME_SLACK if agents else 0
    within = replace(asked, token_budget=token_budget - frame)
    plan = app.planner.plan(within, call.caller)
    catch_up_uses(app)  # it may belong to an episode that they begin
    leave(app.episodes, asked, plan, app.target(call.caller, ""), call.caller)
    budget = plain(plan.budget_report)
    text = plan.context.text
    if agents:  # the fence around the context is counted in
        budget["token_budget"] += frame
        budget["estimated_used"] = _fenced_tokens(text, source.name) if text else 0
    told = plain(plan) | {
        "budget_report": budget,
        "context": plain(plan.context) | {"text": Recalled(text, f"plan over {source.name}")},
        "decision_trace": plan.decision_trace[: SHOWN_TRACE if agents else None],
        "dropped_candidates": plan.dropped_candidates[: SHOWN_DROPPED if agents else None],
        "source": source.name,
    }
    del told["offer"]
    return Row(**told).saying(*(_for_agent if agents else _for_person)(plan, told))


@tells("planner.types.Piece", words="tokens file part layer why")
def _piece_json(piece: Piece, to: Reader) -> dict[str, Any]:
    """Return where a part of the context comes from; its text stands in the context."""
    names = ("part", "first_line", "last_line", "tokens", "layer", "relevance", "freshness")
    told = {name: getattr(piece, name) for name in names}
    return {"file": piece.path} | told | {"why": _why(piece)}


def _why(piece: Piece, most: int = SHOWN_REASONS) -> str:
    return ", ".join(one.words for one in piece.reasons[:most])


@tells("planner.types.EarlierWork", words="episode outcome text")
def _earlier_json(work: EarlierWork, to: Reader) -> dict[str, Any]:
    names = ("episode", "when", "outcome", "likeness", "changed")
    told = {name: getattr(work, name) for name in names}
    return told | {"text": Recalled(work.text, f"the episode {work.episode}")}


def _fenced_tokens(text: str, source: str) -> int:
    """Return what a plan's context costs in its fence."""
    from vaultmind import tokens

    return tokens.count(Reader(DEAR_MARK).text(Recalled(text, f"plan over {source}")))


def _head(plan: Plan, told: dict[str, Any]) -> str:
    budget, files = told["budget_report"], counted(len(plan.context.files), "file")
    return (
        f"{plan.intent.predicted} ({plan.intent.confidence:.0%} sure, {plan.intent.risk} risk) · "
        f"{told['source']} · {budget['estimated_used']:,} of {budget['token_budget']:,} tokens in "
        f"{files}"
    )


def _for_agent(plan: Plan, told: dict[str, Any]) -> Iterator[str]:
    """Yield a plan's context, then in few words why it is that, and what it lacks."""
    from vaultmind import tokens

    why: dict[str, str] = {}
    for one in plan.context.pieces:
        why.setdefault(one.path, _why(one, 2))
    yield f"To read for this task: {_head(plan, told)}, {plan.freshness}."
    yield told["context"]["text"] or NO_PLAN
    said = [*plan.notes, *(f"{path}: {one}" for path, one in why.items() if one)]
    said += [f"left out {one.file}: {one.reason}" for one in plan.dropped_candidates[:NAMED]]
    aside = "\n".join(named(one, DEAR_MARK) for one in said)
    yield Recalled(tokens.clip(aside, ASIDE_TOKENS), "why, and what was left out")


def _for_person(plan: Plan, told: dict[str, Any]) -> Iterator[str]:
    """Yield each part with its size and why it is there, then what was left out."""
    yield _head(plan, told)
    yield "" if plan.context.pieces else f"! {NO_PLAN}"
    for name in ("pieces", "earlier", "dropped_candidates"):
        found = plan.context.pieces if name == "pieces" else getattr(plan, name)
        yield from rows(found) if found else ()
    yield from (f"! {note}" for note in plan.notes)
    score = plan.budget_report.efficiency_score
    yield f"{plan.took_ms:,.0f} ms, cache {plan.cache_status}, efficiency {score:.2f}"


# --- the vault and the folders linked to it -----------------------------------------------


@operation("What a source is made of", surfaces=NOT_MCP, also={"delta": {"layers": ["L6"]}})
def explore(
    app: App,
    call: Call,
    source: Root = "",
    query_type: Annotated[TaskKind, Arg("What kind of task it is for.")] = "unknown",
    layers: Layers = (),
    detail: Annotated[Detail, Arg("How much of each layer.")] = "compact",
    since: Since = "",
    wait_seconds: Wait = 0.0,
) -> Row:
    """The layers of the vault or of a linked folder that a kind of task needs: map, index,
    relations, surface, manifest, tasks and tests, changes.
    """
    from vaultmind.planner.layers import explore as look

    where = app.sources.find(source)
    where.index.wait_ready(wait_seconds, report=call.report)
    found = look(where, query_type, detail=detail, since=since, which=layers)
    text = Recalled(found.text, f"{found.source}, structure")
    size = f"{counted(found.tokens, 'token')} · {found.took_ms:,.1f} ms"
    about = f"({found.source} · {found.freshness} · cache {found.cache_status} · {size})"
    data = DATA if call.caller.kind == "agent" else ""
    return Row(**plain(found) | {"text": text}).saying(data, text, *found.notes, about)


@operation("Look at a source's disk", surfaces=NOT_MCP)
def refresh(app: App, call: Call, source: Root = "", wait_seconds: Wait = 60.0) -> Row:
    """Compare the vault or a linked folder with the disk and read what changed."""
    where = app.sources.find(source)
    where.index.everything()
    complete = where.index.wait_ready(wait_seconds, report=call.report)
    complete, state = where.settle(wait_seconds) != "partial" and complete, where.index.state()
    words = "up to date" if complete else "still being read"
    read = f"{state.indexed:,} of {counted(state.files, 'file')}"
    return Row(message=f"{where.name} is {words}: {read}.", source=where.name, complete=complete)


@operation("What is linked", surfaces=LOCAL, persons=True)
def links(app: App, call: Call) -> Row:
    """List the vault and linked folders, with the state of each index."""
    found = app.sources.states()
    how = "No folder is linked. To link one: vaultmind link ~/code/shop --as shop"
    return Row(sources=found, notes=(how,) if len(found) == 1 else ())


@operation("Link a folder", writes=True, surfaces=LOCAL, persons=True)
def link(
    app: App,
    call: Call,
    path: Annotated[str, Arg("Absolute path of the folder.", min=1, max=MAX_PATH)],
    name: Annotated[str, Arg("Default: its own name.", max=MAX_TEXT, option="--as")] = "",
) -> Row:
    """Link a folder, read only, to be searched and planned over. The person's alone."""
    new = app.sources.link(path, name)
    said = f"Linked {new.root} as {new.name}. Indexing has begun; `vaultmind links` shows how far "
    said += f"it is.\nNext: vaultmind plan {new.name} --task TEXT"
    return Row(message=said, name=new.name, root=str(new.root))


@operation("Unlink a folder", writes=True, surfaces=LOCAL, persons=True)
def unlink(
    app: App,
    call: Call,
    source: Annotated[str, Arg("The linked folder's name or path.", min=1, max=MAX_PATH)],
) -> Row:
    """Unlink a folder and drop its index; the folder stays as it is."""
    found = app.sources.unlink(source)
    said = f"Unlinked {found.name} and dropped its index. {found.root} is untouched."
    return Row(message=said, name=found.name, root=str(found.root))


@tells("planner.sources.SourceState", words="name root kind words notes")
def _state_json(state: SourceState, to: Reader) -> dict[str, Any]:
    """Return how a source is; an agent is told no folder outside the vault."""
    index = state.index
    told = {"name": state.name, "kind": state.kind, "there": state.there, "phase": phase(state)}
    told |= {"files": index.files if index else 0, "words": state_words(state)}
    return told if to.mark else told | {"root": str(state.root), "notes": state_notes(state)}


def phase(state: SourceState) -> str:
    """Return the phase of a source's index; `waiting` before that is opened."""
    return state.index.phase if state.index else "waiting"


def state_words(state: SourceState) -> str:
    """Return in a line how a source is."""
    index = state.index
    if index is None:
        return "waiting for the vault's index" if state.there else "gone"
    files = f"{index.indexed:,} of {counted(index.files, 'file')}"
    meaning = counted(index.vectors, "vector") if index.embedder else "by words only"
    told = f"{index.phase} · {files} · {counted(index.chunks, 'chunk')} · {meaning}"
    return told if state.there else f"gone · {told}"


def state_notes(state: SourceState) -> list[str]:
    """Return what is amiss, and the first of the files that could not be taken whole."""
    notes, index = [state.note] if state.note else [], state.index
    if index is not None:
        faults = index.faults if state.kind == "linked" else ()  # `status` tells the vault's
        notes += [*index.notes, *(f"{one.path}: {one.reason}" for one in faults[:SHOWN_FAULTS])]
    return notes
