"""What conversations leave behind, made when it is asked for, and how the work stands.

All of it is the person's.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from vaultmind.errors import BadArgument, NotFound
from vaultmind.memory.writing import UNTOLD
from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call, known_agent
from vaultmind.serve.op import LOCAL, MAX_ID, MAX_TEXT, Arg, operation
from vaultmind.serve.show import Reader, dumps, plain, words

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.consolidate.types import (
        Consolidated,
        Dropped,
        SessionDone,
        Settled,
        Standing,
        SummaryDone,
    )
    from vaultmind.types import Caller

SUMMARY_ID = re.compile(r"L[12]_\d{3,}")
IDS = "the id of a session such as 2026-02-20_001"
TOLD = {
    "suggested": "waits for you",
    "denied": "not written",
    "unchanged": "known already",
    "not_found": "no such fact",
}
MADE = {
    "completed": "was there; its sources are marked now",
    "would be written": "would be written",
    "unchanged": "was there",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """What a model would take from a session, and how long it took."""

    done: Consolidated
    took_ms: float


@dataclass(frozen=True, slots=True)
class Queue:
    """How the work in the background stands."""

    standing: Standing
    action: str


@dataclass(frozen=True, slots=True)
class Brief:
    """How consolidation stands, for a status: an agent is told of its own sessions alone."""

    waiting: int
    paused: bool
    running: str
    last_time: str
    dropped: dict[str, int]
    seconds_today: float
    words: str
    asked_for: int = 0
    """Sessions that wait until the person asks, as imported ones do."""


@operation("Take facts and summaries from what was said", writes=True, surfaces=LOCAL, persons=True)
def consolidate(
    app: App,
    call: Call,
    agent: Annotated[str, Arg("Whose sessions; default: everybody's.")] = "",
    session: Annotated[str, Arg("Only this one, by its id.", max=MAX_ID)] = "",
    again: Annotated[
        str, Arg("A session or summary that is done anew, by its id.", max=MAX_ID)
    ] = "",
    dry_run: Annotated[bool, Arg("Write nothing, tell what would be.")] = False,
) -> Consolidated:
    """Take facts and summaries from the conversations that wait, or from one anew.

    Raises NotFound for an agent or a session that is not there, BadArgument for an id that is
    none.
    """
    from vaultmind.consolidate.types import Request
    from vaultmind.vault.paths import SESSION_ID

    whose = known_agent(app, call.caller, agent) if agent else ""
    session, again = session.strip(), again.strip()
    if session and again:
        raise BadArgument("again", again, "an id without `session`: it names what is done anew")
    if session and not SESSION_ID.fullmatch(session):
        raise BadArgument("session", session, IDS)
    if again and not (SESSION_ID.fullmatch(again) or SUMMARY_ID.fullmatch(again)):
        raise BadArgument("again", again, f"{IDS}, or of a summary such as L1_001")
    if session or again:  # every agent has a session of this name
        whose = whose or known_agent(app, call.caller, "")
    request = Request(whose, session, again, dry_run)
    with app.minion.unbound():  # who asks may have models work longer than they may by themselves
        done: Consolidated = app.consolidation.run(request, call.caller, call.report)
    if session or again or done.sessions or done.summaries:
        return done
    agents = (whose,) if whose else app.paths.agent_names()
    coming = (_next_words(app, one) for one in agents if app.gate.keeps_records(one))
    return replace(done, notes=(*done.notes, *filter(None, coming)))


def _next_words(app: App, agent: str) -> str:
    """Return what an agent's next summaries wait for; empty where it never said a word."""
    heads = app.sessions.heads(agent)
    if not heads:
        return ""
    missing, above = app.levels.left(agent, imported_too=True)
    said = [f"{counted(missing, 'more session')} until the next L1"] if missing > 0 else []
    said += [f"{above:,} more L1 until the next L2"] if above > 0 else []
    running = sum(one.is_open for one in heads)
    said += [f"{counted(running, 'conversation')} not over yet"] if running else []
    return f"{agent}: {', '.join(said)}." if said else ""


@operation("How the work in the background stands", writes=True, surfaces=LOCAL, persons=True)
def consolidation(
    app: App,
    call: Call,
    action: Annotated[
        Literal["look", "pause", "resume"],
        Arg("Pause or resume the work in the background, or only look at it."),
    ] = "look",
) -> Queue:
    """Show what waits to be consolidated and what was done last; pause it or go on."""
    if action == "pause":
        app.consolidation.pause()
    elif action == "resume":
        app.consolidation.resume()
    return Queue(app.consolidation.standing(), action)


@operation("What a model would take from a session", surfaces=LOCAL, persons=True)
def minion_try(
    app: App,
    call: Call,
    session: Annotated[str, Arg("Its id; default: the latest.", max=MAX_ID)] = "",
    model: Annotated[str, Arg("A model; default: the configured one.", max=MAX_TEXT)] = "",
    agent: Annotated[str, Arg("Whose session; default: the configured agent's.")] = "",
) -> Trial:
    """Show what a model would take from a session; nothing is written.

    Who asks may have it work longer than models may by themselves; it is counted all the same.
    """
    from vaultmind.consolidate.types import Consolidated
    from vaultmind.vault.paths import SESSION_ID

    whose = known_agent(app, call.caller, agent)
    wanted = session.strip() or app.sessions.latest(whose)
    if not wanted:
        raise NotFound(f"{whose} has no session yet.", hint="vaultmind import, vaultmind chat")
    if not SESSION_ID.fullmatch(wanted):
        raise BadArgument("session", wanted, IDS)
    config = app.config.minion
    if model:
        config = replace(config, model=model, extraction="", summary="")
    minion = app.minion.beside(config)
    try:
        began = time.perf_counter()
        with minion.unbound():
            done = app.consolidation.tried(whose, wanted, app.thinker_with(minion))
        return Trial(Consolidated((done,)), (time.perf_counter() - began) * 1000)
    finally:
        minion.close()


def brief(app: App, caller: Caller) -> Brief:
    """Return how consolidation stands, for whoever asks for the status."""
    found: Standing = app.consolidation.standing()
    if caller.kind == "agent":
        waiting = sum(agent == caller.agent for agent, _ in found.queue)
        said = f"{_waits(waiting)}." if waiting else ""
        return Brief(waiting, found.paused, "", "", {}, 0.0, said)
    return Brief(
        len(found.queue),
        found.paused,
        found.running,
        found.last_time,
        dict(found.dropped),
        round(found.seconds_today, 1),
        standing_words(found),
        found.asked_for,
    )


def standing_words(found: Standing) -> str:
    """Return in a line what waits, what runs, and what was done last."""
    waiting = len(found.queue)
    parts = [_waits(waiting)] if waiting else []
    if found.asked_for:
        verb = "waits" if found.asked_for == 1 else "wait"
        sessions = counted(found.asked_for, f"{'more ' if waiting else ''}session")
        parts.append(f"{sessions} {verb} for `vaultmind consolidate`")
    parts = parts or ["nothing waits to be consolidated"]
    parts += [f"works on {found.running}"] if found.running else []
    parts += ["paused"] if found.paused else []
    parts += [f"last run {found.last_time[:16].replace('T', ' ')}"] if found.last_time else []
    parts += [f"dropped {_reasons(dict(found.dropped))}"] if found.dropped else []
    parts += [f"{found.seconds_today:,.0f} s of a model today"] if found.seconds_today else []
    return " · ".join(parts)


def _reasons(found: dict[str, int]) -> str:
    """Return counted reasons in words: `2 question, 1 joke`."""
    return ", ".join(f"{number:,} {reason}" for reason, number in found.items())


def _waits(number: int) -> str:
    verb = "waits" if number == 1 else "wait"
    return f"{counted(number, 'session')} {verb} to be consolidated"


# --- how it is told -----------------------------------------------------------------------


@dumps("consolidate.types.Consolidated")
def _done_json(done: Consolidated, to: Reader) -> dict[str, Any]:
    """Return what each session left, the summaries, and what was left out."""
    notes = [f"{one.id} of {one.agent}: {note}" for one in done.summaries for note in one.notes]
    return {
        "sessions": done.sessions,
        "summaries": done.summaries,
        "notes": [*done.notes, *notes],
    }


@dumps("consolidate.types.SessionDone")
def _session_json(one: SessionDone, to: Reader) -> dict[str, Any]:
    names = ("session", "agent", "by", "pending", "facts", "dropped", "summary", "notes")
    return {name: getattr(one, name) for name in names}


@dumps("consolidate.types.Settled")
def _fact_json(one: Settled, to: Reader) -> dict[str, Any]:
    names = ("category", "fact", "evidence", "replaces", "outcome", "reason")
    return {name: getattr(one, name) for name in names}


@dumps("consolidate.types.Dropped")
def _dropped_json(one: Dropped, to: Reader) -> dict[str, Any]:
    text = "" if one.reason in UNTOLD else one.text
    return {"fact": text, "reason": one.reason, "evidence": one.evidence}


@dumps("consolidate.types.SummaryDone")
def _summary_json(one: SummaryDone, to: Reader) -> dict[str, Any]:
    names = ("level", "id", "agent", "path", "sources", "tokens", "text", "by", "outcome")
    return {name: getattr(one, name) for name in names}


@words("consolidate.types.Consolidated")
def _done_words(done: Consolidated, to: Reader) -> Iterator[str]:
    for one in done.sessions:
        yield from _session_words(one)
    for summary in done.summaries:
        made = f", {MADE[summary.outcome]}" if summary.outcome in MADE else ""
        of = counted(len(summary.sources), "source")
        yield f"{summary.id}  {summary.agent} · of {of} · {summary.tokens:,} tokens{made}"
        yield f"  {summary.path}"
        yield f"  {summary.text}"
    if not done.sessions and not done.summaries:
        yield "Nothing waits."
    yield from (f"· {note}" for note in done.notes)
    if done.sessions or done.summaries:
        yield _total(done)


def _session_words(one: SessionDone) -> Iterator[str]:
    yield f"{one.session}  {one.agent}" + ("" if one.by == "extractive" else f" · {one.by}")
    yield f"  {one.summary}" if one.summary else ""
    for fact in one.facts:
        told = TOLD.get(fact.outcome, "")
        told += f": {fact.reason}" if told and fact.reason else ""
        yield f"  {fact.category.lower():10}  {fact.fact}" + (f" ({told})" if told else "")
        yield f"              in the place of: {fact.replaces}" if fact.replaces else ""
    if one.dropped:
        counts = Counter(str(fact.reason) for fact in one.dropped)
        yield f"  – {len(one.dropped):,} dropped: {_reasons(dict(counts.most_common()))}"
    yield from (f"  ! {note}" for note in one.notes)
    yield "  ! It stays marked and is tried again." if one.pending else ""
    if not (one.summary or one.facts or one.dropped or one.notes):
        yield "  nothing to keep"


def _total(done: Consolidated) -> str:
    outcomes = [fact.outcome for one in done.sessions for fact in one.facts]
    parts = [counted(len(done.sessions), "session")] if done.sessions else []
    if done.sessions:
        parts.append(f"{counted(outcomes.count('written'), 'change')} of facts")
    if waiting := outcomes.count("suggested"):
        parts.append(f"{waiting:,} for you to decide (vaultmind suggestions list)")
    if dropped := sum(len(one.dropped) for one in done.sessions):
        parts.append(f"{dropped:,} dropped")
    if done.summaries:
        parts.append(counted(len(done.summaries), "summary", "summaries"))
    return f"{', '.join(parts)}."


@dumps(Trial)
def _trial_json(trial: Trial, to: Reader) -> dict[str, Any]:
    told: dict[str, Any] = _done_json(trial.done, to)
    return told | {"took_ms": round(trial.took_ms, 1)}


@words(Trial)
def _trial_words(trial: Trial, to: Reader) -> Iterator[str]:
    yield from _done_words(trial.done, to)
    yield f"{trial.done.sessions[0].by}, {trial.took_ms / 1000:.1f} s; nothing was written."


@dumps(Queue)
def _queue_json(queue: Queue, to: Reader) -> dict[str, Any]:
    """Return what waits, what runs, what was done last and what it cost."""
    told = plain(queue.standing)
    told["queue"] = [
        {"agent": agent, "session": session} for agent, session in queue.standing.queue
    ]
    told["dropped"] = dict(queue.standing.dropped)
    told["seconds_today"] = round(queue.standing.seconds_today, 1)
    return told | {"words": standing_words(queue.standing)}


@words(Queue)
def _queue_words(queue: Queue, to: Reader) -> Iterator[str]:
    if queue.action == "pause":
        yield "Paused: sessions that end wait until `vaultmind consolidate --resume`."
    yield "It goes on." if queue.action == "resume" else ""
    yield standing_words(queue.standing)
    yield from (f"  {session}  {agent}" for agent, session in queue.standing.queue)
