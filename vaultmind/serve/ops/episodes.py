"""What agents do for a task: kept, judged, shown, shrunk, and what the memory saved them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from vaultmind.episodes.types import TASK, Change, Episode, Event, Result
from vaultmind.errors import BadArgument, NotAllowed, NotFound, VaultMindError
from vaultmind.planner.types import TaskKind
from vaultmind.plural import counted
from vaultmind.serve.call import Call, known_agent
from vaultmind.serve.op import (
    MAX_ID,
    MAX_PATH,
    MAX_TASK,
    MAX_TEXT,
    NOT_MCP,
    OPERATIONS,
    Arg,
    operation,
)
from vaultmind.serve.show import AS_DATA, Reader, Recalled, dumps, plain
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.planner.sources import Source

MAX_EVENTS = 500
"""Events of one call."""
CLOCKS_DIFFER = timedelta(minutes=1)
LOOKED_BACK = 500
"""Maximum number of notes that are read to find one that a caller began."""
NAMED = 8
"""Maximum number of episodes or files that a message names."""
TAKES: dict[str, tuple[str, ...]] = {
    "start": ("task", "project_root", "session_id"),
    "event": ("episode", "session_id", "events"),
    "end": ("episode", "session_id", "events", "outcome", "note"),
    "feedback": ("episode", "session_id", "outcome", "note", "hits"),
}
"""What goes with each action of the tool."""
LINES = "`read PATH`, `edit PATH`, `decision WHAT, WHY`, `run COMMAND ok`, `commit ID`"
_RESULT = re.compile(r"[\s:,(–-]{1,20}(ok|passed|failed)\)?\.?$", re.IGNORECASE)

EpisodeName = Annotated[str, Arg("Its name; default: the running one.", max=MAX_ID)]
HostSession = Annotated[str, Arg("The host's conversation.", max=MAX_ID, option="--session")]
Agent = Annotated[str, Arg()]
Note = Annotated[str, Arg("Why.", max=4000)]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeShown:
    """One episode, whole but for what was forgotten."""

    episode: str
    agent: str = field(metadata=AS_DATA)
    source: str
    path: str = field(metadata=AS_DATA)
    session_id: str = field(metadata=AS_DATA)
    state: str
    task: str
    intent: str = field(metadata=AS_DATA)
    task_fingerprint: str = field(metadata=AS_DATA)
    started: str
    ended: str = field(metadata=AS_DATA)
    outcome: str
    note: str
    event_count: int
    hidden: int = 0
    """Parts of it that say what was forgotten."""
    fault: str = ""
    """Why it cannot be read, or what its front matter lacks."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An episode after a call, and what the call added to it."""

    message: str
    episode: EpisodeShown | None = field(default=None, metadata=AS_DATA)
    """None where the call was only about hits of a search."""
    new: int = 0
    """Events that the call told."""
    judged: int = 0
    """Hits of a search that were judged."""


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
        return Kept(judged, judged=len(hits))
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
    from vaultmind.planner.task import task_mark  # its patterns cost a start 20 ms

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
    from vaultmind.session.files import iso, parse_time

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


def visible(app: App, episode: Episode) -> tuple[Episode, int]:
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
    return Kept(message, shown_of(app, episode)[0])


@dumps(Kept)
def _kept_json(kept: Kept, to: Reader) -> dict[str, Any]:
    told = {"new": kept.new, "judged": kept.judged, "message": kept.message}
    return told | (plain(kept.episode) if kept.episode else {})


def shown_of(app: App, one: Episode) -> tuple[EpisodeShown, tuple[Event, ...]]:
    """Return what may be shown of an episode, and its events."""
    told, hidden = visible(app, one)
    path = app.episodes.files.path(one.name)
    shown = EpisodeShown(
        episode=one.name,
        agent=one.agent,
        source=one.source,
        path=path,
        session_id=one.session,
        state=one.state,
        task=Recalled(told.task.text, path),
        intent=one.task.kind,
        task_fingerprint=one.task.fingerprint,
        started=one.started,
        ended=one.ended,
        outcome=one.outcome,
        note=Recalled(told.rationale, path),
        event_count=len(told.events),
        hidden=hidden,
        fault=one.flaw,
    )
    return shown, told.events
