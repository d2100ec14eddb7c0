"""What conversations leave behind, made when it is asked for, and how the work stands.

All of it is the person's.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from vaultmind.errors import BadArgument, NotFound
from vaultmind.memory.writing import UNTOLD
from vaultmind.plural import counted
from vaultmind.serve.call import Call, known_agent
from vaultmind.serve.op import LOCAL, MAX_ID, MAX_TEXT, Arg, operation
from vaultmind.serve.show import AS_DATA, Reader, dumps, tells

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.consolidate.types import Dropped, SessionDone, SummaryDone
    from vaultmind.types import Caller

SUMMARY_ID = re.compile(r"L[12]_\d{3,}")
IDS = "the id of a session such as 2026-02-20_001"


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What was made of conversations, or would be."""

    message: str
    sessions: tuple[SessionDone, ...] = ()
    summaries: tuple[SummaryDone, ...] = ()
    notes: tuple[str, ...] = ()
    took_ms: float = field(default=0.0, metadata=AS_DATA)
    """Of a trial."""


@dataclass(frozen=True, slots=True)
class Background:
    """How consolidation stands: an agent is told of its own sessions alone."""

    waiting: int
    paused: bool
    words: str = field(default="", metadata=AS_DATA)
    running: str = ""
    last_time: str = ""
    dropped: dict[str, int] = field(default_factory=dict)
    """What the last run did not keep, by reason."""
    seconds_today: float = 0.0
    """For which a model worked."""
    asked_for: int = 0
    """Sessions that wait until the person asks, as imported ones do."""
    queue: tuple[str, ...] = ()


tells("consolidate.types.SessionDone", "session agent by pending summary facts dropped notes")
tells(
    "consolidate.types.Settled",
    "category fact evidence replaces outcome reason",
    "category fact replaces outcome reason",
)
tells("consolidate.types.Dropped", "text reason evidence", "reason")
tells(
    "consolidate.types.SummaryDone",
    "level id agent path sources tokens text by outcome notes",
    "id agent outcome path text notes",
)


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
) -> Consolidation:
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
        done = app.consolidation.run(request, call.caller, call.report)
    outcomes = [fact.outcome for one in done.sessions for fact in one.facts]
    said = f"{counted(len(done.sessions), 'session')}, "
    said += f"{counted(outcomes.count('written'), 'change')} of facts, "
    said += f"{counted(len(done.summaries), 'summary', 'summaries')}."
    if waiting := outcomes.count("suggested"):
        said += f" {waiting:,} for you to decide: vaultmind suggestions list"
    notes = done.notes
    if not (done.sessions or done.summaries):
        said = "Nothing waits."
        agents = (whose,) if whose else app.paths.agent_names()
        coming = (_next_words(app, one) for one in agents if app.gate.keeps_records(one))
        notes = notes if session or again else (*notes, *filter(None, coming))
    said = f"Nothing was written; it would be: {said}" if dry_run else said
    return Consolidation(said, done.sessions, done.summaries, tuple(notes))


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
) -> Background:
    """Show what waits to be consolidated and what was done last; pause it or go on."""
    if action == "pause":
        app.consolidation.pause()
    elif action == "resume":
        app.consolidation.resume()
    return background(app, call.caller)


@operation("What a model would take from a session", surfaces=LOCAL, persons=True)
def minion_try(
    app: App,
    call: Call,
    session: Annotated[str, Arg("Its id; default: the latest.", max=MAX_ID)] = "",
    model: Annotated[str, Arg("A model; default: the configured one.", max=MAX_TEXT)] = "",
    agent: Annotated[str, Arg("Whose session; default: the configured agent's.")] = "",
) -> Consolidation:
    """Show what a model would take from a session; nothing is written.

    Who asks may have it work longer than models may by themselves; it is counted all the same.
    """
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
        took = time.perf_counter() - began
        said = f"{done.by}, {took:.1f} s; nothing was written."
        return Consolidation(said, (done,), took_ms=took * 1000)
    finally:
        minion.close()


def background(app: App, caller: Caller) -> Background:
    """Return how consolidation stands, for whoever asks for it or for the status."""
    found = app.consolidation.standing()
    if caller.kind == "agent":
        waiting = sum(agent == caller.agent for agent, _ in found.queue)
        return Background(waiting, found.paused, f"{waiting:,} of your sessions wait")
    said = [f"{counted(len(found.queue), 'session')} waiting"]
    said += [f"{found.asked_for:,} until `vaultmind consolidate`"] if found.asked_for else []
    said += [f"works on {found.running}"] if found.running else []
    said += ["paused until `vaultmind consolidate --resume`"] if found.paused else []
    return Background(
        len(found.queue),
        found.paused,
        " · ".join(said),
        found.running,
        found.last_time,
        dict(found.dropped),
        round(found.seconds_today, 1),
        found.asked_for,
        tuple(f"{session} ({agent})" for agent, session in found.queue),
    )


@dumps("consolidate.types.Dropped")
def _dropped_json(one: Dropped, to: Reader) -> dict[str, Any]:
    text = "" if one.reason in UNTOLD else one.text
    return {"fact": text, "reason": one.reason, "evidence": one.evidence}
