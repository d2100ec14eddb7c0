"""`consolidate` and `consolidation`: what conversations leave behind, made when it is asked for,
and how the work in the background stands. Both are the person's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from vaultmind.consolidate.facts.types import Dropped, Reason
from vaultmind.consolidate.types import Consolidated, Request, SessionDone, Settled, SummaryDone
from vaultmind.errors import BadArgument
from vaultmind.plural import counted
from vaultmind.serve.calls.call import known_agent
from vaultmind.serve.calls.requests import MAX_ID
from vaultmind.serve.calls.schema import arg
from vaultmind.serve.sessions.asleep import reasons_words, standing_words
from vaultmind.vault.paths import SESSION_ID

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.consolidate.background import Standing
    from vaultmind.serve.calls.call import Call

SUMMARY_ID = re.compile(r"L[12]_\d{3,}")
UNSPOKEN: frozenset[Reason] = frozenset({"secret", "private", "asked not to keep", "forgotten"})
"""What was dropped for one of these is counted and never shown."""
IDS = "the id of a session such as 2026-02-20_001"
_ALL_IDS = f"{IDS}, or of a summary such as L1_001"


@dataclass(frozen=True, slots=True)
class ConsolidateArgs:
    """Arguments of consolidate."""

    agent: str = arg("Whose sessions; default: everybody's.", default="")
    session: str = arg("Only this one, by its id.", default="", max=MAX_ID)
    again: str = arg("A session or summary that is done anew, by its id.", default="", max=MAX_ID)
    dry_run: bool = arg("Write nothing, tell what would be.", default=False)


@dataclass(frozen=True, slots=True)
class ConsolidationArgs:
    """Arguments of consolidation."""

    action: Literal["look", "pause", "resume"] = arg(
        "Pause or resume the work in the background, or only look at it.", default="look"
    )


def consolidate(app: App, call: Call, args: ConsolidateArgs) -> Consolidated:
    """Take facts and summaries from what waits, or from what is named, telling how far it is.

    Raises NotFound for an agent or a session that is not there, BadArgument for an id that is
    none.
    """
    agent = known_agent(app, call.caller, args.agent) if args.agent else ""
    session, again = args.session.strip(), args.again.strip()
    if session and again:
        raise BadArgument("again", again, "an id without `session`: it names what is done anew")
    if session and not SESSION_ID.fullmatch(session):
        raise BadArgument("session", session, IDS)
    if again and not (SESSION_ID.fullmatch(again) or SUMMARY_ID.fullmatch(again)):
        raise BadArgument("again", again, _ALL_IDS)
    if session or again:  # every agent has a session of this name
        agent = agent or known_agent(app, call.caller, "")
    request = Request(agent, session, again, args.dry_run)
    with app.minion.unbound():  # who asks may have models work longer than they may by themselves
        done: Consolidated = app.consolidation.run(request, call.caller, call.report)
    if session or again or done.sessions or done.summaries:
        return done
    agents = (agent,) if agent else app.paths.agent_names()
    coming = (next_words(app, one) for one in agents if app.gate.keeps_records(one))
    return replace(done, notes=(*done.notes, *filter(None, coming)))


def next_words(app: App, agent: str) -> str:
    """Return what an agent's next summaries wait for; empty where it never said a word."""
    from vaultmind.consolidate.levels.waiting import (  # seldom needed
        sessions_waiting,
        summaries,
        summaries_waiting,
    )

    heads, unreadable = app.sessions.heads(agent), list[str]()
    if not heads:
        return ""
    first = summaries(app.reader, agent, "L1", unreadable)
    second = summaries(app.reader, agent, "L2", unreadable)
    waiting = sessions_waiting(heads, first, app.device, imported_too=True, done=True)
    missing = app.config.levels.l1_sessions - len(waiting)
    above = app.config.levels.l2_summaries - len(summaries_waiting(first, second))
    said = [f"{counted(missing, 'more session')} until the next L1"] if missing > 0 else []
    said += [f"{above:,} more L1 until the next L2"] if above > 0 else []
    running = sum(one.is_open for one in heads)
    said += [f"{counted(running, 'conversation')} not over yet"] if running else []
    return f"{agent}: {', '.join(said)}." if said else ""


def consolidated_json(response: Consolidated, mark: str = "") -> dict[str, Any]:
    """Return what each session left, the summaries, and what was left out."""
    notes = [f"{one.id} of {one.agent}: {note}" for one in response.summaries for note in one.notes]
    return {
        "sessions": [_session(one) for one in response.sessions],
        "summaries": [_summary(one) for one in response.summaries],
        "notes": [*response.notes, *notes],
    }


def consolidated_words(response: Consolidated, mark: str = "") -> str:
    """Return what was done, a line each."""
    lines = [_session_words(one) for one in response.sessions]
    lines += [f"{one.id} of {one.agent}: {one.outcome}, {one.path}" for one in response.summaries]
    return "\n".join([*lines, *response.notes]) or "Nothing waits."


def standing(app: App, call: Call, args: ConsolidationArgs) -> Standing:
    """Pause or resume the work in the background, if asked to; return how it stands."""
    if args.action == "pause":
        app.consolidation.pause()
    elif args.action == "resume":
        app.consolidation.resume()
    found: Standing = app.consolidation.standing()
    return found


def counts(dropped: Iterable[Dropped]) -> dict[str, int]:
    """Return how many facts were dropped for each reason, the most frequent first."""
    return dict(Counter(one.reason for one in dropped).most_common())


def _session(one: SessionDone) -> dict[str, Any]:
    return {
        "session": one.session,
        "agent": one.agent,
        "by": one.by,
        "pending": one.pending,
        "facts": [_fact(fact) for fact in one.facts],
        "dropped": [_dropped(fact) for fact in one.dropped],
        "summary": one.summary,
        "notes": list(one.notes),
    }


def _fact(one: Settled) -> dict[str, Any]:
    return {
        "category": one.category,
        "fact": one.fact,
        "evidence": list(one.evidence),
        "replaces": one.replaces,
        "outcome": one.outcome,
        "reason": one.reason,
    }


def _dropped(one: Dropped) -> dict[str, Any]:
    text = "" if one.reason in UNSPOKEN else one.text
    return {"fact": text, "reason": one.reason, "evidence": list(one.evidence)}


def _summary(one: SummaryDone) -> dict[str, Any]:
    return {
        "level": one.level,
        "id": one.id,
        "agent": one.agent,
        "path": one.path,
        "sources": list(one.sources),
        "tokens": one.tokens,
        "text": one.text,
        "by": one.by,
        "outcome": one.outcome,
    }


def _session_words(one: SessionDone) -> str:
    said = [f"{one.session} of {one.agent}: {facts_words(one.facts)}"]
    if one.dropped:
        said.append(f"dropped {reasons_words(counts(one.dropped))}")
    return "; ".join(said) + "."


def facts_words(facts: Sequence[Settled]) -> str:
    """Return how many facts came to what."""
    found = Counter(one.outcome.replace("_", " ") for one in facts)
    each = ", ".join(f"{number} {name}" for name, number in found.most_common())
    return f"{counted(len(facts), 'fact')}" + (f" ({each})" if each else "")


def standing_json(response: Standing, mark: str = "") -> dict[str, Any]:
    """Return what waits, what runs, what was done last and what it cost."""
    last = response.last
    return {
        "queue": [{"agent": agent, "session": session} for agent, session in response.queue],
        "asked_for": response.asked_for,
        "running": response.running,
        "paused": response.paused,
        "last_time": response.last_time,
        "last": None if last is None else consolidated_json(last),
        "dropped": dict(response.dropped),
        "seconds_today": round(response.seconds_today, 1),
        "words": standing_words(response),
    }
