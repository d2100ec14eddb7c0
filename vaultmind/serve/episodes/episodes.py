"""`episode`: what an agent does for a task, told as it goes, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from vaultmind.episodes.types import Episode, Event, How
from vaultmind.errors import BadArgument, NotFound
from vaultmind.learn.feedback import Verdict
from vaultmind.plural import counted
from vaultmind.serve.calls.fencing import fenced, named
from vaultmind.serve.calls.schema import parse
from vaultmind.serve.episodes import which_episode, worked
from vaultmind.serve.episodes.episode_args import (
    EndArgs,
    EpisodeArgs,
    EventArgs,
    FeedbackArgs,
    Happened,
    StartArgs,
    Told,
)
from vaultmind.session.records.store import iso, parse_time
from vaultmind.types import Caller
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import checked_parts

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.planner.sources.sources import Source
    from vaultmind.serve.calls.call import Call

CLOCKS_DIFFER = timedelta(minutes=1)
NEEDS: dict[Told, tuple[str, ...]] = {
    "read": ("path",),
    "edit": ("path",),
    "hit": ("path", "text"),
    "delta": ("path",),
    "decision": ("text",),
    "commit": ("commit",),
    "run": ("text",),
}
"""Of each kind what makes it worth a line: one of these."""
TAKES: dict[str, tuple[str, ...]] = {
    "start": ("task", "project_root", "session_id"),
    "event": ("episode", "session_id", "events"),
    "end": ("episode", "session_id", "events", "outcome", "note"),
    "feedback": ("episode", "session_id", "outcome", "note", "hits"),
}
"""What goes with each action of the tool."""
SHOWN_ABSENT = 3
"""Files that are told and not there, of which an answer names so many."""
VERDICTS: dict[str, Verdict] = {"useful": "useful", "wrong": "wrong"}
LINES = "`read PATH`, `edit PATH`, `decision WHAT, WHY`, `run COMMAND ok`, `commit ID`"
_RESULT = re.compile(r"[\s:,(–-]{1,20}(ok|passed|failed)\)?\.?$", re.IGNORECASE)


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


def start(app: App, call: Call, args: StartArgs) -> Kept:
    """Begin an episode, or answer with the one that runs for the same task.

    Raises NotFound for a source that is not there, NotAllowed where no episodes are kept.
    """
    from vaultmind.planner.episodes.tasks import task_mark  # its patterns cost a start 20 ms

    source = app.sources.find(args.project_root)
    caller = which_episode.writer(app, call.caller, args.agent)
    mark = task_mark(args.task, source.name, args.query_type or "")
    known = {one.name for one in app.episodes.recorder.running(caller.agent)}
    begun = app.episodes.recorder.start(
        mark,
        source.name,
        caller,
        session=args.session_id.strip(),
        client=caller.client,
        token_budget=args.token_budget,
    )
    words = "goes on" if begun.name in known else "has begun"
    return _kept(app, begun, f"Episode {begun.name} over {source.name} {words}.")


def event(app: App, call: Call, args: EventArgs) -> Kept:
    """Tell what was done, in order. Raises NotFound where no episode runs."""
    if not args.events:
        raise BadArgument("events", args.events, "at least one", missing=True)
    caller, name = which_episode.meant(app, call, args)
    running = app.episodes.recorder.running(caller.agent)
    before = next((one for one in running if one.name == name), None)
    if before is None:
        raise NotFound(f"Episode {name} does not run (any more).", hint=which_episode.hint(call))
    source = app.sources.find(before.source)
    events = tuple(_events(app, call.caller, args.events, source))
    added = app.episodes.recorder.add(name, events, caller)
    new = max(0, len(added.events) - len(before.events))
    said = f"{counted(new, 'event')} of {name} written down"
    said += f", {len(events) - new:,} known or of no news." if new < len(events) else "."
    said += _absent(source, events, call.caller)
    return replace(_kept(app, added, said), new=new)


def end(app: App, call: Call, args: EndArgs) -> Kept:
    """End an episode. An outcome that nobody states is `unknown`: silence is no success."""
    caller, name = which_episode.meant(app, call, args)
    app.watching.catch_up(name)
    ended = app.episodes.recorder.end(name, args.outcome, args.note.strip(), caller)
    return _kept(app, ended, f"Episode {name} has ended: {ended.outcome}.")


def feedback(app: App, call: Call, args: FeedbackArgs) -> Kept:
    """State or correct what came of an episode, ended or not."""
    caller, name = which_episode.meant(app, call, args, ended=True)
    one = app.episodes.recorder.feedback(name, args.outcome, args.note.strip(), caller)
    said = f"Episode {one.name}: {args.outcome}."
    if one.state == "running":
        said += " It goes on; this counts at its end, unless something else is said then."
    elif one.outcome != args.outcome:
        said += f" Kept, and the person's own word stands: {one.outcome}."
    return _kept(app, one, said)


def tool(app: App, call: Call, args: EpisodeArgs) -> Kept:
    """Do one of the four, as an agent asks. Raises BadArgument for what does not go with it."""
    for name in ("task", "project_root", "episode", "events", "outcome", "note", "hits"):
        if getattr(args, name) and name not in TAKES[args.action]:
            goes = [one for one, takes in TAKES.items() if name in takes]
            raise BadArgument(name, getattr(args, name), f"only with {' or '.join(goes)}")
    if args.action == "start":
        return _started(app, call, args)
    if args.action == "event":
        return event(app, call, _told(args))
    if args.action == "end":
        if args.events:
            event(app, call, _told(args))
        which = {"episode": args.episode, "session_id": args.session_id}
        return end(app, call, EndArgs(**which, outcome=args.outcome or "unknown", note=args.note))
    return _judged(app, call, args)


def words(response: Kept, mark: str = "") -> str:
    """Return what came of a call."""
    return named(response.message, mark)


def as_json(response: Kept, mark: str = "") -> dict[str, Any]:
    """Return an episode as it is after a call, and what the call did."""
    body = {"new": response.new, "judged": response.judged, "message": words(response, mark)}
    return body | (told(response.episode, response.path, mark) if response.episode else {})


def told(one: Episode, path: str, mark: str = "") -> dict[str, Any]:
    """Return what an episode is, without its events; its words stand in fences for an agent."""
    return {
        "episode": one.name,
        "agent": one.agent,
        "source": named(one.source, mark),
        "path": path,
        "session_id": named(one.session, mark),
        "state": one.state,
        "task": fenced(one.task.text, path, mark),
        "intent": one.task.kind,
        "task_fingerprint": one.task.fingerprint,
        "started": one.started,
        "ended": one.ended,
        "outcome": one.outcome,
        "note": fenced(one.rationale, path, mark) if one.rationale else "",
        "event_count": len(one.events),
    }


def _started(app: App, call: Call, args: EpisodeArgs) -> Kept:
    if not args.task.strip():
        raise BadArgument("task", args.task, "what is to be done, in full", missing=True)
    given = {"task": args.task, "project_root": args.project_root, "session_id": args.session_id}
    return start(app, call, parse(StartArgs, given))


def _told(args: EpisodeArgs) -> EventArgs:
    """Return an agent's lines as events; raise BadArgument naming the line that is none."""
    events = [_happened(line, at) for at, line in enumerate(args.events)]
    which = {"episode": args.episode, "session_id": args.session_id}
    return parse(EventArgs, which | {"events": events})


def _happened(line: str, at: int) -> dict[str, Any]:
    """Return what a line tells: its first word says of what kind it is."""
    kind, _, rest = line.strip().partition(" ")
    kind, rest = kind.lower().rstrip(":"), rest.strip()
    if kind not in get_args(Told) or not rest:
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
    now = app.clock()
    how: How = "person" if caller.kind == "person" else "reported"
    for at, one in enumerate(told):
        needs = NEEDS[one.kind]
        if not any(getattr(one, name).strip() for name in needs):
            allowed = f"what a {one.kind!r} is of"
            raise BadArgument(f"events[{at}].{needs[0]}", "", allowed, missing=True)
        yield Event(
            kind=one.kind,
            time=_time(one.time, at, now),
            path=_inside(source, one.path, at),
            symbol=one_line(one.symbol),
            text=one.text.strip(),
            change=one.change or "",
            commit=one.commit.strip(),
            tokens=one.tokens,
            ok=one.ok,
            how=how,
        )


def _absent(source: Source, events: Sequence[Event], caller: Caller) -> str:
    """Return which files of some events are not there, of those that a caller may know of."""
    told = (one.path for one in events if one.path and one.change != "removed")
    shows = source.index.outlet.shows
    gone = [path for path in dict.fromkeys(told) if shows(path, caller) and not source.has(path)]
    if not gone:
        return ""
    some = one_line(", ".join(gone[:SHOWN_ABSENT]))
    more = f" and {len(gone) - SHOWN_ABSENT:,} more" if len(gone) > SHOWN_ABSENT else ""
    return (
        f" No {some}{more} is in {source.name} now: it is kept, and no plan offers it. "
        "What was deleted is told with the change removed."
    )


def _inside(source: Source, path: str, at: int) -> str:
    """Return a path as it is called in a source. Raises BadArgument, PathRefused outside it."""
    path = path.strip()
    if not path:
        return ""
    if not (Path(path).is_absolute() or path.startswith("~")):
        return "/".join(checked_parts(path.removeprefix("./")))
    try:
        inside = Path(path).expanduser().resolve().relative_to(source.root.resolve())
    except (ValueError, OSError, RuntimeError) as error:
        allowed = f"a path in {source.name}, relative to its root"
        raise BadArgument(f"events[{at}].path", path, allowed) from error
    return inside.as_posix()


def _time(given: str, at: int, now: datetime) -> str:
    """Return when it happened: now, where nobody says or it would be in the future."""
    if not given:
        return iso(now)
    try:
        moment = parse_time(given)
        return iso(moment if moment <= now + CLOCKS_DIFFER else now)
    except (ValueError, OverflowError) as error:
        allowed = "ISO 8601, e.g. 2026-02-20T10:00:03+01:00"
        raise BadArgument(f"events[{at}].time", given, allowed) from error


def _judged(app: App, call: Call, args: EpisodeArgs) -> Kept:
    """Take what an agent says of an episode's outcome, and of the hits of its last search."""
    which = {"episode": args.episode, "session_id": args.session_id}
    if args.outcome is None and not args.hits:
        raise BadArgument(
            "outcome", "", "success, partial, failed or unknown; or hits", missing=True
        )
    for at, line in enumerate(args.hits):
        _verdict(app, call, line, at)
    judged = len(args.hits)
    said = f"{counted(judged, 'hit')} judged." if judged else ""
    if args.outcome is None:
        return Kept(None, "", said, judged=judged)
    kept = feedback(app, call, FeedbackArgs(**which, outcome=args.outcome, note=args.note))
    return replace(kept, message=f"{kept.message} {said}".strip(), judged=judged)


def _verdict(app: App, call: Call, line: str, at: int) -> None:
    """Take down what a line says of a hit."""
    from vaultmind.serve.planning.feedback import judge  # seldom needed

    word, _, hit = line.strip().partition(" ")
    verdict: Verdict | None = VERDICTS.get(word.lower().rstrip(":"))
    if verdict is None or not hit.strip():
        raise BadArgument(f"hits[{at}]", line, "`useful ID` or `wrong ID`")
    judge(app, call, "", hit.strip(), verdict)


def _kept(app: App, episode: Episode, message: str) -> Kept:
    shown, _ = worked.seen(app, episode)
    return Kept(shown, app.paths.episode(episode.agent, episode.id), message)
