"""What conversations leave behind, made when it is asked for, and how the work stands.

All of it is the person's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from vaultmind.errors import BadArgument
from vaultmind.plural import counted
from vaultmind.serve.call import Call, known_agent
from vaultmind.serve.op import LOCAL, MAX_ID, Anybodys, Arg, operation
from vaultmind.serve.show import AS_DATA, Reader, tells

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.consolidate.types import Dropped, SessionDone, SummaryDone
    from vaultmind.types import Caller

SUMMARY_ID = re.compile(r"L[12]_\d{3,}")
IDS = "the id of a session such as 2026-02-20_001"

Only = Annotated[str, Arg("Only this one, by its id.", max=MAX_ID)]
Again = Annotated[str, Arg("A session or summary that is done anew, by its id.", max=MAX_ID)]
Action = Annotated[Literal["look", "pause", "resume"], Arg("Of the work in the background.")]


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What was made of conversations, or would be."""

    message: str
    sessions: tuple[SessionDone, ...] = ()
    summaries: tuple[SummaryDone, ...] = ()
    notes: tuple[str, ...] = ()


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
tells(
    "consolidate.types.SummaryDone",
    "level id agent path sources tokens text by outcome notes",
    "id agent outcome path text notes",
)


@tells("consolidate.types.Dropped", words="fact reason")
def _dropped_json(one: Dropped, to: Reader) -> dict[str, Any]:
    from vaultmind.memory.writing import UNTOLD

    text = "" if one.reason in UNTOLD else one.text
    return {"fact": text, "reason": one.reason, "evidence": one.evidence}


@operation("Take facts and summaries from what was said", writes=True, surfaces=LOCAL, persons=True)
def consolidate(
    app: App,
    call: Call,
    agent: Anybodys = "",
    session: Only = "",
    again: Again = "",
    dry_run: Annotated[bool, Arg("Write nothing, tell what would be.")] = False,
) -> Consolidation:
    """Take facts and summaries from the conversations that wait, or from one anew.

    Raises NotFound for an agent or a session that is not there, BadArgument for an id that is
    none.
    """
    from vaultmind.consolidate.types import Request
    from vaultmind.vault.paths import SESSION_ID

    session, again = session.strip(), again.strip()
    if session and again:
        raise BadArgument("again", again, "an id without `session`: it names what is done anew")
    if session and not SESSION_ID.fullmatch(session):
        raise BadArgument("session", session, IDS)
    if again and not (SESSION_ID.fullmatch(again) or SUMMARY_ID.fullmatch(again)):
        raise BadArgument("again", again, f"{IDS}, or of a summary such as L1_001")
    named = bool(agent or session or again)  # every agent has a session of one name
    whose = known_agent(app, call.caller, agent) if named else ""
    request = Request(whose, session, again, dry_run)
    with app.minion.unbound():  # who asks may have models work longer than they may by themselves
        done = app.consolidation.run(request, call.caller, call.report)
    outcomes = [fact.outcome for one in done.sessions for fact in one.facts]
    said = f"{counted(len(done.sessions), 'session')}, "
    said += f"{counted(outcomes.count('written'), 'change')} of facts, "
    said += f"{counted(len(done.summaries), 'summary', 'summaries')}."
    if waiting := outcomes.count("suggested"):
        said += f" {waiting:,} for you to decide: vaultmind suggestions list"
    if unclear := sum(
        gone.reason == "unclear alone" for one in done.sessions for gone in one.dropped
    ):
        said += f" {counted(unclear, 'candidate')} left to an agent or a model."
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
    missing, above = app.levels.left(agent, imported_too=True) if heads else (0, 0)
    said = [f"{counted(missing, 'more session')} until the next L1"] if missing > 0 else []
    said += [f"{above:,} more L1 until the next L2"] if above > 0 else []
    running = sum(one.is_open for one in heads)
    said += [f"{counted(running, 'conversation')} not over yet"] if running else []
    return f"{agent}: {', '.join(said)}." if said else ""


@operation("How the work in the background stands", writes=True, surfaces=LOCAL, persons=True)
def consolidation(app: App, call: Call, action: Action = "look") -> Background:
    """Show what waits to be consolidated and what was done last; pause it or go on."""
    if action == "pause":
        app.consolidation.pause()
    elif action == "resume":
        app.consolidation.resume()
    return background(app, call.caller)


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
