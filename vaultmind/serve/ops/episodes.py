"""What agents do for a task: kept, judged, shown, shrunk, and what the memory saved them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from vaultmind.episodes.types import TASK, Episode, Event, EventKind, How, Result, TaskMark
from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.plural import counted
from vaultmind.serve import op
from vaultmind.serve.call import Call, known_agent, own_agent
from vaultmind.serve.op import Arg, operation
from vaultmind.serve.show import Recalled, Row, tells
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.episodes.gains import Gain
    from vaultmind.planner.source import Source

HOW = {"person": 'vaultmind episode start --task "…"', "agent": "action `start`"}
"""How an episode is started."""
TAKES = {"task": "start", "project_root": "start", "episode": "event, end, feedback",
         "events": "event, end", "outcome": "end, feedback", "note": "end, feedback",
         "hits": "feedback"}  # fmt: skip
"""With which actions an argument goes."""
LINES = "`read PATH`, `edit PATH#NAME`, `decision WHAT, WHY`, `run COMMAND ok`, `commit ID`"
KINDS = ("read", "edit", "hit", "delta", "decision", "commit", "run")
"""What a caller may tell of; `plan` and `feedback` are written by who makes them."""
_RESULT = re.compile(r"[\s:,(–-]{1,20}(ok|passed|failed)\)?\.?$", re.IGNORECASE)

Action = Annotated[Literal["start", "event", "end", "feedback"], Arg()]
HostSession = Annotated[str, Arg("The host's conversation.", max=op.MAX_ID, option="--session")]
Lines = Annotated[tuple[str, ...], Arg(LINES.replace("ok`", "ok` or `failed`") + ".", max=500)]
Hits = Annotated[tuple[str, ...], Arg("`useful ID`, `wrong ID`.", max=100, option="--hit")]
ROUTES: dict[str, dict[str, str]] = {
    **{f"episode/{action}": {"action": action} for action in ("start", "event", "end")},
    "feedback": {"action": "feedback"},
}

WORDS = "episode source state task started outcome note event_count hidden fault"
"""What words tell of an episode."""
tells("episodes.types.Event", words="time kind path symbol change commit outcome text how")
tells(
    "episodes.gains.Figures",
    words="episodes running outcomes plans offered_tokens whole_tokens saved_share hit_share "
    "first_pass_success_rate causal_trace_completeness",
)
tells("episodes.gains.Part", words="source figures")
tells("episodes.gains.Gain", words="since until total sources")


@operation("What you do for a task", writes=True, also=ROUTES)
def episode(
    app: App,
    call: Call,
    action: Action,
    task: Annotated[str, Arg("In full.", max=op.MAX_TASK, loose=True)] = "",
    project_root: Annotated[str, Arg(max=op.MAX_PATH)] = "",
    session_id: HostSession = "",
    episode: Annotated[str, Arg("Default: the running one.", max=op.MAX_ID)] = "",
    events: Lines = (),
    outcome: Annotated[Result | None, Arg()] = None,
    note: Annotated[str, Arg("Why.", max=4000)] = "",
    hits: Hits = (),
    agent: Annotated[str, Arg()] = "",
) -> Row:
    """Record for the next agent what you do for a task on notes or code, unless you were told that
    it is recorded: start, events, end with an honest outcome. feedback corrects that, or says
    which hits of a search helped.

    The same task goes on with its episode; an outcome is stated or corrected, ended or not.
    """
    given = {"task": task, "project_root": project_root, "episode": episode, "events": events,
             "outcome": outcome, "note": note, "hits": hits}  # fmt: skip
    for name, value in given.items():
        if value and action not in TAKES[name]:
            raise BadArgument(name, value, f"only with {TAKES[name].replace(', ', ' or ')}")
    if action == "start":
        return _begin(app, _writer(app, call.caller, agent), task, project_root, session_id)
    if action == "feedback" and outcome is None:
        if not hits:
            allowed = "success, partial, failed or unknown; or hits"
            raise BadArgument("outcome", "", allowed, missing=True)
        return Row(message=_judge(app, call, hits), new=0, judged=len(hits))
    over = action == "feedback"
    caller, name = _find_episode(app, call, episode, session_id, agent, ended=over)
    told = _tell(app, call.caller, caller, name, events) if events or action == "event" else None
    if action == "event" and told:
        return told
    if ends := action == "end":
        app.watching.catch_up()
    one = app.episodes.judge(name, outcome or "unknown", note.strip(), caller, ends=ends)
    said = f"{'Ended episode' if ends else 'Episode'} {one.name}: {one.outcome}."
    return _kept(app, one, f"{said} {_judge(app, call, hits)}".strip(), judged=len(hits))


def _begin(app: App, caller: Caller, task: str, project_root: str, session: str) -> Row:
    """Begin to keep what is done for a task."""
    from vaultmind.planner.task import task_mark  # its patterns cost a start 20 ms

    if not task.strip():
        raise BadArgument("task", task, "what is to be done, in full", missing=not task)
    source = app.sources.find(project_root)
    known = {one.name for one in app.episodes.running(caller.agent)}
    mark, session = task_mark(task, source.name, ""), session.strip()
    begun = app.episodes.start(mark, source.name, caller, session=session, client=caller.client)
    how = "Continuing" if begun.name in known else "Started"
    return _kept(app, begun, f"{how} episode {begun.name} on {source.name}.")


def _tell(app: App, who: Caller, caller: Caller, name: str, lines: tuple[str, ...]) -> Row:
    """Write down what was read, found, edited, decided, run and committed."""
    if not lines:
        raise BadArgument("events", lines, "at least one", missing=True)
    before = app.episodes.files.read(name)
    source = app.sources.find(before.source)
    made = tuple(_event(app, who, line, at, source) for at, line in enumerate(lines))
    added = app.episodes.add(name, made, caller)
    new = max(0, len(added.events) - len(before.events))
    said = f"Recorded {counted(new, 'event')} in {name}"
    said += f"; {len(made) - new:,} already known." if new < len(made) else "."
    return _kept(app, added, said, new)


def _writer(app: App, caller: Caller, agent: str) -> Caller:
    return replace(caller, agent=own_agent(app, caller, agent, "keep its own episodes"))


def _find_episode(
    app: App, call: Call, episode: str, session_id: str, agent: str, *, ended: bool = False
) -> tuple[Caller, str]:
    """Return who writes, and which episode is meant: named, of the session, or the caller's own.

    Its own is what the same client began, or what runs at all. With `ended` the agent's latest
    counts where none runs. Raises NotFound, NotAllowed; BadArgument where several are meant.
    """
    from vaultmind.serve.ops.hooks import catch_up_uses
    from vaultmind.vault.paths import agent_name

    name, session = episode.strip().removesuffix(".md"), session_id.strip()
    owner, _, id = name.rpartition("/")
    agent = agent_name(owner, "episode") if owner else agent
    catch_up_uses(app)
    if session and not (name or agent) and call.caller.kind == "person":
        talked = app.episodes.tables.names(session_id=session)  # whoever did it
        agent = talked[0].partition("/")[0] if talked else ""
    caller = _writer(app, call.caller, agent)
    if name:
        return caller, f"{caller.agent}/{id}"
    running = app.episodes.running(caller.agent, session)
    own = [one for one in running if session or one.client == caller.client]
    names = [one.name for one in own or running]
    if not names and ended:
        names = [*app.episodes.tables.names(agent=caller.agent, session_id=session)[:1]]
    if len(names) > 1:
        shown = ", ".join(names)
        said = f"Which episode? Name it, or its session: {shown}."
        raise BadArgument("episode", "", f"one of {shown}", missing=True, said=said)
    if not names:
        of = f" in session {session!r}" if session else ""
        hint = f"To start one: {HOW[caller.kind]}"
        raise NotFound(f"{caller.agent} has no running episode{of}.", hint=hint)
    return caller, names[0]


def _event(app: App, caller: Caller, line: str, at: int, source: Source) -> Event:
    """Return what a line tells, by its first word. Raises BadArgument naming it."""
    from vaultmind.times import iso
    from vaultmind.vault.oneline import one_line

    kind, _, rest = line.strip().partition(" ")
    kind, rest = kind.lower().rstrip(":"), rest.strip()
    if kind not in KINDS or not rest:
        raise BadArgument(f"events[{at}]", line, LINES)
    how: How = "person" if caller.kind == "person" else "reported"
    event = Event(cast("EventKind", kind), iso(app.clock()), how=how)
    if kind == "decision":
        return replace(event, text=rest)
    if kind == "commit":
        commit, _, text = rest.partition(" ")
        return replace(event, commit=commit, text=text.strip())
    if kind == "run":
        found = _RESULT.search(rest)
        ok = found[1].lower() != "failed" if found else None
        return replace(event, text=rest[: found.start()] if found else rest, ok=ok)
    path, _, symbol = rest.partition("#")
    if (source.root / rest).exists():  # a file's name may have one
        path, symbol = rest, ""
    return replace(event, path=_inside(source, path.strip(), at), symbol=one_line(symbol))


def _inside(source: Source, path: str, at: int) -> str:
    """Return a path as it is called in a source. Raises BadArgument, PathRefused outside it."""
    from vaultmind.vault.paths import checked_parts

    if not (Path(path).is_absolute() or path.startswith("~")):
        return "/".join(checked_parts(path.removeprefix("./")))
    try:
        return Path(path).expanduser().resolve().relative_to(source.root.resolve()).as_posix()
    except (ValueError, OSError, RuntimeError) as error:
        allowed = f"a path in {source.name}, relative to its root"
        raise BadArgument(f"events[{at}]", path, allowed) from error


def _judge(app: App, call: Call, hits: tuple[str, ...]) -> str:
    """Take down what lines say of hits of the caller's last searches; return that in words."""
    said = []
    for at, line in enumerate(hits):
        verdict, _, hit = line.strip().partition(" ")
        if verdict not in ("useful", "wrong") or not hit.strip():
            raise BadArgument(f"hits[{at}]", line, "`useful ID` or `wrong ID`")
        if (kept := app.search_feedback.judge(call.caller, hit, cast("Any", verdict))) is None:
            none = f"No search of the last half hour showed {hit.strip()[:200]!r}."
            raise BadArgument("hits", hit, "the id of a hit that a search showed", said=none)
        said.append(f"Noted: {kept.path}{kept.anchor} is {verdict} for “{kept.query}”.")
    return " ".join(said)


def _kept(app: App, episode: Episode, message: str, new: int = 0, judged: int = 0) -> Row:
    """Return an episode after a call, how many events the call told, and how many hits."""
    return Row("message", message=message, new=new, judged=judged, **_shown(app, episode))


def _shown(app: App, one: Episode, *more: str) -> Row:
    """Return what may be shown of an episode: not what was forgotten, nor what is secret."""
    from vaultmind import redact

    path, hides = app.episodes.files.path(one.name), app.tombstones.hider(one.agent)
    record = path.removesuffix(".md")

    def clean(text: str, block: str) -> Recalled:
        masked = redact.mask(redact.blank_passages(text)).text
        return Recalled("" if hides(record, block) else masked, path)

    events = tuple(event for event in one.events if not hides(record, event.block))
    same = ("agent", "source", "state", "started", "ended", "outcome")
    return Row(
        WORDS + " events",
        **{"episode": one.name, "path": path, "session_id": one.session, "fault": one.flaw},
        **{name: getattr(one, name) for name in same},
        **{"task": clean(one.task.text, TASK), "note": clean(one.rationale, one.why_block)},
        **{"intent": one.task.kind, "task_fingerprint": one.task.fingerprint},
        event_count=len(events),
        hidden=len(one.events) - len(events) + hides(record, TASK),
        **{"events": events} if "events" in more else {},
    )


@operation("What agents did", surfaces=op.LOCAL, persons=True)
def episodes(
    app: App,
    call: Call,
    limit: Annotated[int, Arg("At most this many.", min=1, max=1000)] = 20,
    agent: op.Anybodys = "",
) -> Row:
    """List episodes: when, for what, on which source, with what outcome."""
    names = app.episodes.files.names(known_agent(app, call.caller, agent) if agent else "")
    shown = tuple(_shown(app, _read(app, one)) for one in names[-limit:])
    note = "" if shown else f"There is no episode yet. To start one: {HOW[call.caller.kind]}"
    if len(names) > len(shown):
        note = f"All {len(names):,}: --limit {len(names)}"
    return Row("episodes notes", episodes=shown, total=len(names), notes=(note,) if note else ())


@operation("One episode", surfaces=op.LOCAL, persons=True)
def episode_show(
    app: App,
    call: Call,
    episode: Annotated[str, Arg("Its name; default: the latest.", max=op.MAX_ID)] = "",
    agent: op.Anybodys = "",
) -> Row:
    """Show what was done for a task, in order, and the outcome."""
    owner, _, id = episode.strip().removesuffix(".md").rpartition("/")
    agent = known_agent(app, call.caller, owner or agent) if owner or agent else ""
    named = f"{agent or app.target(call.caller, '')}/{id}" if id else ""
    if not (name := named or "".join(app.episodes.files.names(agent)[-1:])):
        raise NotFound("There is no episode yet.")
    return _shown(app, app.episodes.files.read(name), "events")


def _read(app: App, name: str) -> Episode:
    """Return an episode; of one that cannot be read its name, and why."""
    try:
        return app.episodes.files.read(name)
    except VaultMindError as error:
        agent, _, id = name.partition("/")
        return Episode(id, agent, "", TaskMark(""), "", flaw=str(error))


@operation("What the memory saved", surfaces=op.LOCAL, persons=True)
def gain(
    app: App,
    call: Call,
    since: Annotated[str, Arg("Since when: a day, `yesterday`, `30d` or `12w`.", max=40)] = "30d",
) -> Gain:
    """Show what plans saved and how episodes went, by source and week."""
    from vaultmind.episodes.gains import gain_of, works
    from vaultmind.serve.ops.changes import since_of

    app.episodes.settle()
    begin, agents = since_of(since, app.clock()), app.index.outlet.readable_agents(call.caller)
    return gain_of(works(app.episodes.tables, agents, begin), begin, app.clock())


def kept_work(app: App, caller: Caller) -> Row:
    """Return what was kept, for whoever asks for the status."""
    own = caller.agent if caller.kind == "agent" else ""
    kept = len(app.episodes.files.names(own))
    names = app.episodes.tables.names(agent=own, state="running")
    said = [counted(kept, "note") if kept else "none yet"]
    said += [f"running: {', '.join(names)}"] if names else []
    return Row(running=names, kept=kept, words=" · ".join(said))
