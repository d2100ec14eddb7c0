"""What agents do for a task: kept, judged, shown, shrunk, and what the memory saved them."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from vaultmind.episodes.types import TASK, Change, Episode, Event, Result, TaskMark
from vaultmind.errors import BadArgument, NotAllowed, NotFound, VaultMindError
from vaultmind.planner.types import TaskKind
from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call, known_agent
from vaultmind.serve.op import (
    LOCAL,
    MAX_ID,
    MAX_PATH,
    MAX_TASK,
    MAX_TEXT,
    NOT_MCP,
    OPERATIONS,
    Arg,
    operation,
)
from vaultmind.serve.show import Reader, Recalled, dumps, plain, table, words
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.episodes.gains import Figures, Gain
    from vaultmind.episodes.opening import Due, Purged
    from vaultmind.planner.sources.sources import Source

MAX_EVENTS = 500
"""Events of one call."""
CLOCKS_DIFFER = timedelta(minutes=1)
LOOKED_BACK = 500
"""Maximum number of notes that are read to find one that a caller began."""
NAMED = 8
"""Maximum number of episodes or files that a message names."""
GAIN_DAYS = 30
"""Days of which a status tells the gain."""
TAKES: dict[str, tuple[str, ...]] = {
    "start": ("task", "project_root", "session_id"),
    "event": ("episode", "session_id", "events"),
    "end": ("episode", "session_id", "events", "outcome", "note"),
    "feedback": ("episode", "session_id", "outcome", "note", "hits"),
}
"""What goes with each action of the tool."""
LINES = "`read PATH`, `edit PATH`, `decision WHAT, WHY`, `run COMMAND ok`, `commit ID`"
SHRUNK = "Shrunk, past its retention: only its outcome, changes and decisions are left."
NO_EPISODE = "No episode began in this time: they are kept once an agent works with a plan or hook."
GONE = "Episodes that are past their retention are not in the figures of plans."
NO_PLAN = (
    "No plan of an episode of this time is kept, so there is nothing to compare. A plan on the "
    "command line counts only with --session-id."
)
_RESULT = re.compile(r"[\s:,(–-]{1,20}(ok|passed|failed)\)?\.?$", re.IGNORECASE)

log = logging.getLogger(__name__)

EpisodeName = Annotated[str, Arg("Its name; default: the running one.", max=MAX_ID)]
HostSession = Annotated[str, Arg("The host's conversation.", max=MAX_ID, option="--session")]
Agent = Annotated[str, Arg()]
Note = Annotated[str, Arg("Why.", max=4000)]
Days = Annotated[
    int | None, Arg("Days after their end; default: retention.days.", min=0, max=36_500)
]
HappenedKind = Literal["read", "edit", "hit", "delta", "decision", "commit", "run"]
"""What a caller may tell of; `plan` and `feedback` are written by who makes them."""


@dataclass(frozen=True, slots=True)
class Happened:
    """One thing that was done, as it is told."""

    kind: Annotated[HappenedKind, Arg()]
    path: Annotated[str, Arg("Of a file, relative to the source.", max=MAX_PATH)] = ""
    text: Annotated[str, Arg("A decision and why; a command; a query.", max=MAX_TEXT)] = ""
    symbol: Annotated[str, Arg("A definition or a heading.", max=MAX_TEXT)] = ""
    change: Annotated[Change | None, Arg("What became of the file.")] = None
    commit: Annotated[str, Arg("Its id.", max=MAX_ID)] = ""
    ok: Annotated[bool | None, Arg("Of a run: whether it went well.")] = None
    tokens: Annotated[int, Arg("Of what was read.", min=0, max=10_000_000)] = 0
    time: Annotated[str, Arg("ISO 8601; default: now.", day=True)] = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """An episode after a call, and what the call added to it."""

    episode: Episode | None
    """None where the call was only about hits of a search."""
    path: str
    message: str
    new: int = 0
    """Events that the call told."""
    judged: int = 0
    """Hits of a search that were judged."""


@dataclass(frozen=True, slots=True)
class EpisodeShown:
    """One episode, whole but for what was forgotten."""

    episode: Episode
    path: str
    hidden: int = 0
    """Parts of it that say what was forgotten."""
    fault: str = ""
    """Why it cannot be read, or what its front matter lacks."""


@dataclass(frozen=True, slots=True)
class Episodes:
    """What agents did, oldest first."""

    episodes: tuple[EpisodeShown, ...]
    total: int
    """How many notes there are: of the agent and over the source that were named."""


@dataclass(frozen=True, slots=True)
class GainShown:
    """The gain of a time, and what is to be said of it."""

    gain: Gain
    kept_days: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Brief:
    """How much was kept of what agents did: an agent is told of its own alone."""

    running: tuple[str, ...] = ()
    kept: int = 0
    last: str = ""
    """The one that began last."""
    outcomes: Mapping[str, int] = field(default_factory=dict)
    """Of those that are over, for the person."""
    shrunk: int = 0
    """Past their retention."""
    words: str = ""


@operation("What you do for a task", writes=True, prose=True)
def episode(
    app: App,
    call: Call,
    action: Annotated[Literal["start", "event", "end", "feedback"], Arg()],
    task: Annotated[str, Arg(max=MAX_TASK, loose=True)] = "",
    project_root: Annotated[str, Arg(max=MAX_PATH)] = "",
    session_id: Annotated[str, Arg(max=MAX_ID)] = "",
    episode: Annotated[str, Arg("Default: the running one.", max=MAX_ID)] = "",
    events: Annotated[
        tuple[str, ...],
        Arg(
            "`read PATH`, `edit PATH`, `decision WHAT, WHY`, `run COMMAND ok` or `failed`, "
            "`commit ID`.",
            max=MAX_EVENTS,
        ),
    ] = (),
    outcome: Annotated[Result | None, Arg()] = None,
    note: Note = "",
    hits: Annotated[tuple[str, ...], Arg("`useful ID`, `wrong ID`.", max=100)] = (),
) -> Kept:
    """Keep for the next agent what you do for a task on notes or code, unless you were told that
    it is recorded: start, events, end with its outcome, honestly. feedback corrects that, or says
    which hits of a search helped.
    """
    given = {"task": task, "project_root": project_root, "episode": episode, "events": events,
             "outcome": outcome, "note": note, "hits": hits}  # fmt: skip
    for name, value in given.items():
        if value and name not in TAKES[action]:
            goes = [one for one, takes in TAKES.items() if name in takes]
            raise BadArgument(name, value, f"only with {' or '.join(goes)}")
    if action == "start":
        begun = {"task": task, "project_root": project_root, "session_id": session_id}
        begun = begun if task else {"session_id": session_id}
        return episode_start(app, call, **OPERATIONS["episode_start"].check(begun))
    which = {"episode": episode, "session_id": session_id}
    if events or action == "event":
        lines = [_read_line(line, at) for at, line in enumerate(events)]
        checked = OPERATIONS["episode_event"].check(which | {"events": lines})
        told = episode_event(app, call, **checked)
        if action == "event":
            return told
    if action == "end":
        return episode_end(app, call, **which, outcome=outcome or "unknown", note=note)
    if outcome is None and not hits:
        allowed = "success, partial, failed or unknown; or hits"
        raise BadArgument("outcome", "", allowed, missing=True)
    judged = _judge(app, call, hits)
    if outcome is None:
        return Kept(None, "", judged, judged=len(hits))
    kept = feedback(app, call, outcome, **which, note=note)
    return replace(kept, message=f"{kept.message} {judged}".strip(), judged=len(hits))


@operation("A task begins", writes=True, surfaces=NOT_MCP, also="episode/start")
def episode_start(
    app: App,
    call: Call,
    task: Annotated[str, Arg("What is to be done, in full.", min=1, max=MAX_TASK, loose=True)],
    project_root: Annotated[
        str, Arg("The vault (default), or a linked folder.", max=MAX_PATH)
    ] = "",
    query_type: Annotated[TaskKind | None, Arg()] = None,
    token_budget: Annotated[int, Arg(min=0, max=100_000)] = 0,
    session_id: HostSession = "",
    agent: Agent = "",
) -> Kept:
    """Begin to keep what is done for a task; the same task goes on with its episode."""
    from vaultmind.planner.episodes.tasks import task_mark  # its patterns cost a start 20 ms

    source = app.sources.find(project_root)
    caller = _writer(app, call.caller, agent)
    known = {one.name for one in app.episodes.recorder.running(caller.agent)}
    begun = app.episodes.recorder.start(
        task_mark(task, source.name, query_type or ""),
        source.name,
        caller,
        session=session_id.strip(),
        client=caller.client,
        token_budget=token_budget,
    )
    how = "goes on" if begun.name in known else "has begun"
    return _kept(app, begun, f"Episode {begun.name} over {source.name} {how}.")


@operation("Something was done", writes=True, surfaces=NOT_MCP, also="episode/event")
def episode_event(
    app: App,
    call: Call,
    events: Annotated[tuple[Happened, ...], Arg("In order.", max=MAX_EVENTS)],
    episode: EpisodeName = "",
    session_id: HostSession = "",
    agent: Agent = "",
) -> Kept:
    """Tell what was read, found, edited, decided, run and committed."""
    if not events:
        raise BadArgument("events", events, "at least one", missing=True)
    caller, name = _find_episode(app, call, episode, session_id, agent)
    running = app.episodes.recorder.running(caller.agent)
    before = next((one for one in running if one.name == name), None)
    if before is None:
        raise NotFound(f"Episode {name} does not run (any more).", hint=_how_to_begin(call.caller))
    source = app.sources.find(before.source)
    made = tuple(_events(app, call.caller, events, source))
    added = app.episodes.recorder.add(name, made, caller)
    new = max(0, len(added.events) - len(before.events))
    said = f"{counted(new, 'event')} of {name} written down"
    said += f", {len(made) - new:,} known or of no news." if new < len(made) else "."
    return replace(_kept(app, added, said + _absent_files(source, made, call.caller)), new=new)


@operation("A task has ended", writes=True, surfaces=NOT_MCP, also="episode/end")
def episode_end(
    app: App,
    call: Call,
    episode: EpisodeName = "",
    session_id: HostSession = "",
    agent: Agent = "",
    outcome: Annotated[Result, Arg("What came of it.")] = "unknown",
    note: Note = "",
) -> Kept:
    """End an episode with what came of it."""
    caller, name = _find_episode(app, call, episode, session_id, agent)
    app.watching.catch_up(name)
    ended = app.episodes.recorder.end(name, outcome, note.strip(), caller)
    return _kept(app, ended, f"Episode {name} has ended: {ended.outcome}.")


@operation("What came of it", writes=True, surfaces=NOT_MCP)
def feedback(
    app: App,
    call: Call,
    outcome: Annotated[Result, Arg("What came of it.")],
    episode: EpisodeName = "",
    session_id: HostSession = "",
    agent: Agent = "",
    note: Note = "",
) -> Kept:
    """State or correct what came of an episode, ended or not."""
    caller, name = _find_episode(app, call, episode, session_id, agent, ended=True)
    one = app.episodes.recorder.feedback(name, outcome, note.strip(), caller)
    said = f"Episode {one.name}: {outcome}."
    if one.state == "running":
        said += " It goes on; this counts at its end, unless something else is said then."
    elif one.outcome != outcome:
        said += f" Kept, and the person's own word stands: {one.outcome}."
    return _kept(app, one, said)


@operation("What agents did", surfaces=LOCAL, persons=True)
def episodes(
    app: App,
    call: Call,
    limit: Annotated[int, Arg("At most, the newest.", min=1, max=1000)] = 20,
    project_root: Annotated[
        str, Arg("Only over the vault, or this folder.", max=MAX_PATH, option="--source")
    ] = "",
    agent: Annotated[str, Arg("Whose; default: everybody's.")] = "",
) -> Episodes:
    """List episodes: when, for what, over which source, what came of it."""
    agent = known_agent(app, call.caller, agent) if agent else ""
    names = app.episodes.files.names(agent)
    if project_root:
        source = app.sources.find(project_root).name
        app.episodes.settle()  # the tables follow in a moment; opening every note takes longer
        known = set(app.episodes.tables.names(source=source, agent=agent))
        names = tuple(one for one in names if one in known)
    return Episodes(tuple(_shown(app, one) for one in names[-limit:]), len(names))


@operation("One episode", surfaces=LOCAL, persons=True)
def episode_show(
    app: App,
    call: Call,
    episode: Annotated[str, Arg("Its name; default: the latest.", max=MAX_ID)] = "",
    agent: Annotated[str, Arg("Whose; default: everybody's.")] = "",
) -> EpisodeShown:
    """Show what was done for a task, in order, and what came of it."""
    owner, _, id = episode.strip().removesuffix(".md").rpartition("/")
    agent = known_agent(app, call.caller, owner or agent) if owner or agent else ""
    if id:
        name = f"{agent or app.target(call.caller, '')}/{id}"
    elif not (name := "".join(app.episodes.files.names(agent)[-1:])):
        raise NotFound("No episode is kept yet.")
    app.episodes.files.read(name)  # raises what is wrong with it
    return _shown(app, name)


@operation("What a purge would shrink", surfaces=LOCAL, persons=True)
def purge_preview(app: App, call: Call, days: Days = None) -> Due:
    """Show which episodes are past their retention and what would go of them."""
    return app.episodes.due(days, call.report)


@operation("Shrink what is old", writes=True, surfaces=LOCAL, persons=True)
def purge(app: App, call: Call, days: Days = None) -> Purged:
    """Shrink episodes past their retention to outcome and links, for good."""
    return app.episodes.purge(call.caller, days, call.report)


@operation("What the memory saved", surfaces=LOCAL, persons=True)
def gain(
    app: App,
    call: Call,
    since: Annotated[str, Arg("From then on: a day, `yesterday`, `30d` or `12w`.", max=40)] = "30d",
) -> GainShown:
    """Show what plans saved and how episodes went, by source and week."""
    from vaultmind.episodes.gains import gain_of, works
    from vaultmind.serve.ops.changes import since_of

    app.episodes.settle()
    begin, agents = since_of(since, app.clock()), app.index.outlet.readable_agents(call.caller)
    found = works(app.episodes.tables, agents, begin)
    made = gain_of(found, begin, app.clock())
    note = "" if made.total.plans else NO_PLAN
    note = GONE if any(one.state == "shrunk" for one in found) else note
    note = note if made.total.episodes else NO_EPISODE
    return GainShown(made, app.config.retention.days, (note,) if note else ())


def recent_gain(app: App, caller: Caller) -> Figures:
    """Return the figures of the last month; of nothing where they cannot be counted now."""
    from vaultmind.episodes.gains import Figures, figures_of, works

    agents = app.index.outlet.readable_agents(caller)
    try:
        since = app.clock() - timedelta(days=GAIN_DAYS)
        return figures_of(works(app.episodes.tables, agents, since))
    except VaultMindError as error:  # a status says more than this
        log.warning("episodes are not counted: %s", error)
        return Figures()


def brief(app: App, caller: Caller) -> Brief:
    """Return what was kept, for whoever asks for the status."""
    own = caller.agent if caller.kind == "agent" else ""
    notes = app.episodes.files.names(own)
    agents = (own,) if own else app.paths.agent_names()
    running = [one for agent in agents for one in app.episodes.recorder.running(agent)]
    names, last = tuple(one.name for one in running), "".join(notes[-1:])
    if own:
        words = f"Running episode: {', '.join(names)}." if names else ""
        return Brief(names, len(notes), last, words=words)
    parts = [counted(len(notes), "note")] if notes else ["none kept yet"]
    parts += [f"running: {one.name} “{_visible(app, one)[0].task.text[:60]}”" for one in running]
    try:
        stats = app.episodes.tables.stats()
    except VaultMindError as error:  # the notes are all there; only what is counted is not
        return Brief(names, len(notes), last, words=f"{' · '.join(parts)} · not counted: {error}")
    parts += [f"last: {last}"] if last and last not in names else []
    return Brief(names, len(notes), last, dict(stats.outcomes), stats.shrunk, " · ".join(parts))


# --- which episode ------------------------------------------------------------------------


def _writer(app: App, caller: Caller, agent: str) -> Caller:
    """Return who writes whose episodes. Raises NotAllowed for an agent that means another's."""
    target = known_agent(app, caller, agent)
    if caller.kind == "agent" and target != caller.agent:
        raise NotAllowed(f"{caller.agent} may keep its own episodes, not those of {target}.")
    return replace(caller, agent=target)


def _find_episode(
    app: App, call: Call, episode: str, session_id: str, agent: str, *, ended: bool = False
) -> tuple[Caller, str]:
    """Return who writes, and which episode is meant: named, of the session, or the caller's own.

    Its own is what the same client began: what a hook began in a conversation beside it is not
    meant by a command that names nothing. With `ended` its latest counts where none runs. Raises
    NotFound, NotAllowed; BadArgument naming those there are, where nothing tells which.
    """
    from vaultmind.serve.ops.hooks import catch_up_uses
    from vaultmind.vault.paths import agent_name

    name, session = episode.strip().removesuffix(".md"), session_id.strip()
    owner, _, id = name.rpartition("/")
    agent = agent_name(owner, "episode") if owner else agent
    catch_up_uses(app)
    person = call.caller.kind == "person"
    if session and not name and not agent and person:
        agent = _whose(app, session)
    caller = _writer(app, call.caller, agent)
    if name:
        return caller, f"{caller.agent}/{id}"
    running = app.episodes.recorder.running(caller.agent, session=session)
    names = [one.name for one in running]
    if session:
        own = names or ([session] if ended else [])  # the recorder knows what is over by its name
    else:
        own = [one.name for one in running if one.client == caller.client]
        own = own[:1] if person else own
        kept = app.episodes.files.names(caller.agent)
        if ended and not own:
            own = [one for one in reversed(kept[-LOOKED_BACK:]) if _is_of(app, one, caller)][:1]
        names = names or (list(kept[-1:]) if ended else [])
    if len(own) == 1 or (not own and len(names) == 1 and not person):
        return caller, (own or names)[0]
    if own or names:
        raise _unclear(own or names, person=person)
    of = f" in session {session!r}" if session else ""
    hint = _how_to_begin(call.caller)
    raise NotFound(f"{caller.agent} has no episode that runs{of}.", hint=hint)


def _is_of(app: App, name: str, caller: Caller) -> bool:
    try:
        return app.episodes.files.read(name).client == caller.client
    except VaultMindError:
        return False  # one that cannot be read is not meant


def _unclear(names: Sequence[str], *, person: bool) -> BadArgument:
    """Return the question which episode is meant, in the words of who is asked."""
    by = "--episode NAME or --session ID" if person else "'episode' or 'session_id'"
    shown = ", ".join(names[:NAMED]) + (" …" if len(names) > NAMED else "")
    said = f"Which episode? Say {by}. There is: {shown}."
    return BadArgument("episode", "", f"one of {shown}", missing=True, said=said)


def _whose(app: App, session: str) -> str:
    """Return the agent that had a conversation: the person may judge what came of any."""
    for agent in app.paths.agent_names():
        if app.episodes.recorder.running(agent, session=session):
            return agent
    talked = app.episodes.followed().names(session=session)
    return talked[0].partition("/")[0] if talked else ""


def _how_to_begin(caller: Caller) -> str:
    command = 'vaultmind episode start --task "…"'
    return f"To begin one: {command if caller.kind == 'person' else 'action `start`.'}"


# --- events -------------------------------------------------------------------------------


def _read_line(line: str, at: int) -> dict[str, Any]:
    """Return what a line of an agent tells, by its first word. Raises BadArgument naming it."""
    kind, _, rest = line.strip().partition(" ")
    kind, rest = kind.lower().rstrip(":"), rest.strip()
    if kind not in get_args(HappenedKind) or not rest:
        raise BadArgument(f"events[{at}]", line, LINES)
    if kind == "commit":
        commit, _, text = rest.partition(" ")
        return {"kind": kind, "commit": commit, "text": text.strip()}
    if kind == "run":
        found = _RESULT.search(rest)
        ok = found[1].lower() != "failed" if found else None
        return {"kind": kind, "text": rest[: found.start()] if found else rest, "ok": ok}
    return {"kind": kind, "text" if kind == "decision" else "path": rest}


def _events(app: App, caller: Caller, told: Sequence[Happened], source: Source) -> Iterator[Event]:
    """Yield events as they are kept. Raises BadArgument naming the one that says too little."""
    from vaultmind.vault.oneline import one_line

    now = app.clock()
    for at, one in enumerate(told):
        if not f"{one.path}{one.text}{one.commit}".strip():
            needs = "path" if one.kind in ("read", "edit", "hit", "delta") else "text"
            raise BadArgument(
                f"events[{at}].{needs}", "", f"what a {one.kind!r} is of", missing=True
            )
        yield Event(
            kind=one.kind,
            time=_time(one.time, at, now),
            path=_inside(source, one.path.strip(), at),
            symbol=one_line(one.symbol),
            text=one.text.strip(),
            change=one.change or "",
            commit=one.commit.strip(),
            tokens=one.tokens,
            ok=one.ok,
            how="person" if caller.kind == "person" else "reported",
        )


def _absent_files(source: Source, events: Sequence[Event], caller: Caller) -> str:
    """Return which files of some events are not there, of those that a caller may know of."""
    told = (one.path for one in events if one.path and one.change != "removed")
    shows = source.index.outlet.shows
    gone = [path for path in dict.fromkeys(told) if shows(path, caller) and not source.has(path)]
    some = ", ".join(gone[:NAMED]) + (" …" if len(gone) > NAMED else "")
    return f" No {some} is in {source.name} now: no plan offers it." if gone else ""


def _inside(source: Source, path: str, at: int) -> str:
    """Return a path as it is called in a source. Raises BadArgument, PathRefused outside it."""
    from vaultmind.vault.paths import checked_parts

    if not path:
        return ""
    if not (Path(path).is_absolute() or path.startswith("~")):
        return "/".join(checked_parts(path.removeprefix("./")))
    try:
        return Path(path).expanduser().resolve().relative_to(source.root.resolve()).as_posix()
    except (ValueError, OSError, RuntimeError) as error:
        allowed = f"a path in {source.name}, relative to its root"
        raise BadArgument(f"events[{at}].path", path, allowed) from error


def _time(given: str, at: int, now: datetime) -> str:
    """Return when it happened: now, where nobody says or it would be in the future."""
    from vaultmind.session.records.store import iso, parse_time

    try:
        moment = parse_time(given) if given else now
        return iso(moment if moment <= now + CLOCKS_DIFFER else now)
    except (ValueError, OverflowError) as error:
        allowed = "ISO 8601, e.g. 2026-02-20T10:00:03+01:00"
        raise BadArgument(f"events[{at}].time", given, allowed) from error


def _judge(app: App, call: Call, hits: Sequence[str]) -> str:
    """Take down what lines say of hits; return what was done in words."""
    from vaultmind.serve.ops.search import judge

    for at, line in enumerate(hits):
        word, _, hit = line.strip().partition(" ")
        verdict = word.lower().rstrip(":")
        if verdict not in ("useful", "wrong") or not hit.strip():
            raise BadArgument(f"hits[{at}]", line, "`useful ID` or `wrong ID`")
        judge(app, call, "", hit.strip(), "useful" if verdict == "useful" else "wrong")
    return f"{counted(len(hits), 'hit')} judged." if hits else ""


# --- how it is told -----------------------------------------------------------------------


def _visible(app: App, episode: Episode) -> tuple[Episode, int]:
    """Return an episode without what was forgotten or is secret, and how many parts that hid."""
    from vaultmind import redact

    def clean(text: str) -> str:
        return redact.mask(redact.blank_passages(text)).text

    hides = app.tombstones.hider(episode.agent)
    record = app.paths.episode(episode.agent, episode.id).removesuffix(".md")
    events = tuple(one for one in episode.events if not hides(record, one.block))
    task, why = hides(record, TASK), hides(record, episode.why_block)
    shown = replace(
        episode,
        events=events,
        task=replace(episode.task, text="" if task else clean(episode.task.text)),
        rationale="" if why else clean(episode.rationale),
    )
    return shown, len(episode.events) - len(events) + task


def _kept(app: App, episode: Episode, message: str) -> Kept:
    return Kept(_visible(app, episode)[0], app.episodes.files.path(episode.name), message)


def _shown(app: App, name: str) -> EpisodeShown:
    """Return an episode; of one that cannot be read its name, and why."""
    path, (agent, _, id) = app.episodes.files.path(name), name.partition("/")
    try:
        one, hidden = _visible(app, app.episodes.files.read(name))
    except VaultMindError as error:
        return EpisodeShown(Episode(id, agent, "", TaskMark(""), ""), path, fault=str(error))
    return EpisodeShown(one, path, hidden, one.flaw)


def _episode_json(one: Episode, path: str) -> dict[str, Any]:
    """Return what an episode is, without its events."""
    return {
        "episode": one.name,
        "agent": one.agent,
        "source": one.source,
        "path": path,
        "session_id": one.session,
        "state": one.state,
        "task": Recalled(one.task.text, path),
        "intent": one.task.kind,
        "task_fingerprint": one.task.fingerprint,
        "started": one.started,
        "ended": one.ended,
        "outcome": one.outcome,
        "note": Recalled(one.rationale, path),
        "event_count": len(one.events),
    }


@dumps(Kept)
def _kept_json(kept: Kept, to: Reader) -> dict[str, Any]:
    told = {"new": kept.new, "judged": kept.judged, "message": kept.message}
    return told | (_episode_json(kept.episode, kept.path) if kept.episode else {})


@words(Kept)
def _kept_words(kept: Kept, to: Reader) -> Iterator[str]:
    yield kept.message
    yield f"  {kept.path}" if kept.path and not to.mark else ""


@dumps(Episodes)
def _episodes_json(found: Episodes, to: Reader) -> dict[str, Any]:
    rows = [_episode_json(one.episode, one.path) | {"fault": one.fault} for one in found.episodes]
    return {"episodes": rows, "total": found.total}


@words(Episodes)
def _episodes_words(found: Episodes, to: Reader) -> Iterator[str]:
    heads = ("episode", "started", "outcome", "source", "events", "task")
    rows = [
        (one.name, one.started, _outcome(one), one.source, len(one.events), fault or one.task.text)
        for one, fault in ((shown.episode, shown.fault) for shown in found.episodes)
    ]
    yield from table(heads, rows, most=len(rows))
    if not rows:
        yield 'No episode is kept yet. To begin one: vaultmind episode start --task "…"'
    if found.total > len(rows):
        yield f"of {counted(found.total, 'episode')}: --limit {found.total}"


def _outcome(one: Episode) -> str:
    return "running" if one.state == "running" else one.outcome


@dumps(EpisodeShown)
def _shown_json(shown: EpisodeShown, to: Reader) -> dict[str, Any]:
    one = shown.episode
    more = ("client", "device", "token_budget", "token_used", "latency_ms", "events")
    told = _episode_json(one, shown.path) | {name: getattr(one, name) for name in more}
    return told | {"risk": one.task.risk, "issues": one.task.issues, "hidden": shown.hidden}


@words(EpisodeShown)
def _shown_words(shown: EpisodeShown, to: Reader) -> Iterator[str]:
    one = shown.episode
    yield f"{one.name} · {one.source} · {one.task.kind} · {_outcome(one)}"
    yield one.task.text
    rows = []
    for event in one.events:
        ok = "" if event.ok is None else "ok" if event.ok else "failed"
        told = (
            event.path,
            event.symbol,
            event.change,
            event.commit[:12],
            event.outcome,
            event.text,
            ok,
        )
        rows.append((event.time, event.kind, " ".join(filter(None, (*told, ok))), event.how))
    yield from table(("time", "did", "what", "told by"), rows, most=len(rows))
    yield SHRUNK if one.state == "shrunk" else ""
    if shown.hidden:
        yield f"  … and {counted(shown.hidden, 'part')} that said what was forgotten"
    yield shown.path


@dumps("episodes.opening.Due")
def _due_json(due: Due, to: Reader) -> dict[str, Any]:
    told = plain(due) | {"done": False, "count": len(due.episodes), "left": _left(due)}
    sums = {name: sum(getattr(one, name) for one in due.episodes) for name in ("events", "bytes")}
    return told | sums | {"message": _due_message(due)}


def _due_message(due: Due) -> str:
    if not due.episodes:
        ago = counted(due.days, "day")
        return f"Nothing to shrink: no episode kept in full ended {ago} ago."
    events, size = (sum(one.events for one in due.episodes), sum(one.bytes for one in due.episodes))
    return (
        f"{_lost(len(due.episodes), events, size)} would go. Outcome, changed files, commits, "
        "issues and decisions stay. What plans offered goes: `vaultmind model train` has no "
        "lessons from these episodes then, and `vaultmind gain` no figures of their plans."
    )


@words("episodes.opening.Due")
def _due_words(due: Due, to: Reader) -> Iterator[str]:
    yield _due_message(due)
    rows = [(one.name, one.ended, one.events, one.task) for one in due.episodes]
    yield from table(("episode", "ended", "events", "task"), rows)
    yield from (f"! {name}: {why}" for name, why in due.left)
    yield "Nothing was changed yet. To do it: the same with --yes." if due.episodes else ""


@dumps("episodes.opening.Purged")
def _purged_json(done: Purged, to: Reader) -> dict[str, Any]:
    told = plain(done) | {"done": True, "count": done.episodes, "left": _left(done)}
    return told | {"message": _purged_message(done)}


def _purged_message(done: Purged) -> str:
    lost = _lost(done.episodes, done.events, done.bytes)
    return f"{lost} went." if done.episodes else "Nothing had to be shrunk."


@words("episodes.opening.Purged")
def _purged_words(done: Purged, to: Reader) -> Iterator[str]:
    yield _purged_message(done)
    yield from (f"! {name}: {why}" for name, why in done.left)


def _lost(episodes: int, events: int, size: int) -> str:
    lost = f"{counted(events, 'event')} of {counted(episodes, 'episode')}"
    return f"{lost} ({size / 1000:,.1f} KB)"


def _left(of: Due | Purged) -> list[dict[str, str]]:
    return [{"episode": name, "why": why} for name, why in of.left]


@dumps(GainShown)
def _gain_json(found: GainShown, to: Reader) -> dict[str, Any]:
    return plain(found.gain) | {"kept_days": found.kept_days, "notes": found.notes}


@words(GainShown)
def _gain_words(found: GainShown, to: Reader) -> Iterator[str]:
    """Yield the gain: the whole of it in a few lines, then by source and week."""
    total = found.gain.total
    yield f"What the memory saved, {found.gain.since[:10]} to {found.gain.until[:10]}"
    yield f"{counted(total.plans, 'plan')} in {counted(total.episodes, 'episode')}"
    ended = ", ".join(f"{number:,} {name}" for name, number in total.outcomes.items())
    yield f"  outcomes: {ended}" if ended else ""
    for name, said in GAIN_SHARES.items():
        share = getattr(total, name)
        yield f"  {share:>4.0%} {said}" if share is not None else ""
    if total.plan_context_p50_ms is not None and total.plan_context_p95_ms is not None:
        times = f"{total.plan_context_p50_ms:,.0f} ms, p95 {total.plan_context_p95_ms:,.0f} ms"
        yield f"  a plan took {times}"
    heads = ("source", "week of", "plans", "offered", "whole", "less", "used", "in one plan",
             "traced")  # fmt: skip
    parts = sorted((*found.gain.sources, *found.gain.parts), key=lambda one: one.source)
    yield from table(heads, [(one.source, one.week, *_figures(one.figures)) for one in parts])
    yield from (f"! {note}" for note in found.notes)


GAIN_SHARES = {
    "saved_share": "fewer tokens than whole files",
    "hit_share": "of the files that plans offered were read or changed afterwards",
    "first_pass_success_rate": "of successful episodes had all they changed in one plan",
    "affinity_hit_rate": "of plans that went by earlier work offered a file that was used",
    "causal_trace_completeness": "of episodes tell task, reads, edits and outcome",
}


def _figures(figures: Figures) -> tuple[str, ...]:
    shares = (
        figures.saved_share,
        figures.hit_share,
        figures.first_pass_success_rate,
        figures.causal_trace_completeness,
    )
    numbers = (figures.plans, figures.offered_tokens, figures.whole_tokens)
    told = ("–" if share is None else f"{share:.0%}" for share in shares)
    return (*(f"{number:,}" for number in numbers), *told)
