"""What agents do for a task: kept, judged, shown, shrunk, and what the memory saved them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from vaultmind.episodes.types import Change, Episode, Result
from vaultmind.errors import BadArgument, NotFound
from vaultmind.planner.types import TaskKind
from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call
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
from vaultmind.serve.show import Name, Reader, Recalled, dumps, local_time, plain, words

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.episodes.gains import Figures
    from vaultmind.episodes.opening import Due, Purged
    from vaultmind.learn.feedback import Verdict
    from vaultmind.serve.episodes.gaining import Gained
    from vaultmind.serve.episodes.past_work import Episodes, Shown

MAX_BUDGET = 100_000
MAX_EVENTS = 500
"""Events of one call."""
MAX_NOTE = 4000
"""Characters of why it came out as it did."""
TAKES: dict[str, tuple[str, ...]] = {
    "start": ("task", "project_root", "session_id"),
    "event": ("episode", "session_id", "events"),
    "end": ("episode", "session_id", "events", "outcome", "note"),
    "feedback": ("episode", "session_id", "outcome", "note", "hits"),
}
"""What goes with each action of the tool."""
SHRUNK = (
    "Shrunk, past its retention: what was read, found and run, and what plans offered, is gone."
)
SHOWN = 40
"""Episodes that a preview of a purge lists; the rest is a number."""

EpisodeName = Annotated[str, Arg("Its name; default: the running one.", max=MAX_ID)]
HostSession = Annotated[str, Arg("The host's conversation.", max=MAX_ID, option="--session")]
Agent = Annotated[str, Arg()]
Source = Annotated[str, Arg("The vault (default), or a linked folder.", max=MAX_PATH)]
Note = Annotated[str, Arg("Why.", max=MAX_NOTE)]
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


@operation("What you do for a task", writes=True)
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
        if not task.strip():
            raise BadArgument("task", task, "what is to be done, in full", missing=True)
        begun = {"task": task, "project_root": project_root, "session_id": session_id}
        return episode_start(app, call, **OPERATIONS["episode_start"].check(begun))
    which = {"episode": episode, "session_id": session_id}
    if events or action == "event":
        told = episode_event(app, call, **_read_events(which, events))
        if action == "event":
            return told
    if action == "end":
        return episode_end(app, call, **which, outcome=outcome or "unknown", note=note)
    return _judge(app, call, which, outcome, note, hits)


@operation("A task begins", writes=True, surfaces=NOT_MCP, also="episode/start")
def episode_start(
    app: App,
    call: Call,
    task: Annotated[str, Arg("What is to be done, in full.", min=1, max=MAX_TASK, loose=True)],
    project_root: Source = "",
    query_type: Annotated[TaskKind | None, Arg()] = None,
    token_budget: Annotated[int, Arg(min=0, max=MAX_BUDGET)] = 0,
    session_id: HostSession = "",
    agent: Agent = "",
) -> Kept:
    """Begin to keep what is done for a task; the same task goes on with its episode."""
    from vaultmind.planner.prompts import task_mark  # its patterns cost a start 20 ms
    from vaultmind.serve.episodes.which_episode import writer

    source = app.sources.find(project_root)
    caller = writer(app, call.caller, agent)
    mark = task_mark(task, source.name, query_type or "")
    known = {one.name for one in app.episodes.recorder.running(caller.agent)}
    begun = app.episodes.recorder.start(
        mark,
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
    from vaultmind.serve.episodes import which_episode
    from vaultmind.serve.episodes.events import absent_files, make_events

    if not events:
        raise BadArgument("events", events, "at least one", missing=True)
    caller, name = which_episode.find_episode(app, call, episode, session_id, agent)
    running = app.episodes.recorder.running(caller.agent)
    before = next((one for one in running if one.name == name), None)
    if before is None:
        raise NotFound(f"Episode {name} does not run (any more).", hint=which_episode.hint(call))
    source = app.sources.find(before.source)
    made = tuple(make_events(app, call.caller, events, source))
    added = app.episodes.recorder.add(name, made, caller)
    new = max(0, len(added.events) - len(before.events))
    said = f"{counted(new, 'event')} of {name} written down"
    said += f", {len(made) - new:,} known or of no news." if new < len(made) else "."
    said += absent_files(source, made, call.caller)
    return replace(_kept(app, added, said), new=new)


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
    from vaultmind.serve.episodes.which_episode import find_episode

    caller, name = find_episode(app, call, episode, session_id, agent)
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
    from vaultmind.serve.episodes.which_episode import find_episode

    caller, name = find_episode(app, call, episode, session_id, agent, ended=True)
    one = app.episodes.recorder.feedback(name, outcome, note.strip(), caller)
    said = f"Episode {one.name}: {outcome}."
    if one.state == "running":
        said += " It goes on; this counts at its end, unless something else is said then."
    elif one.outcome != outcome:
        said += f" Kept, and the person's own word stands: {one.outcome}."
    return _kept(app, one, said)


def _read_events(which: dict[str, str], lines: tuple[str, ...]) -> dict[str, Any]:
    """Return an agent's lines as checked arguments. Raises BadArgument naming a bad line."""
    from vaultmind.serve.episodes.events import read_line

    events = [read_line(line, at) for at, line in enumerate(lines)]
    return OPERATIONS["episode_event"].check(which | {"events": events})


def _judge(
    app: App,
    call: Call,
    which: dict[str, str],
    outcome: Result | None,
    note: str,
    hits: tuple[str, ...],
) -> Kept:
    """Take what an agent says of an episode's outcome, and of the hits of its last search."""
    if outcome is None and not hits:
        raise BadArgument(
            "outcome", "", "success, partial, failed or unknown; or hits", missing=True
        )
    for at, line in enumerate(hits):
        _judge_hit(app, call, line, at)
    said = f"{counted(len(hits), 'hit')} judged." if hits else ""
    if outcome is None:
        return Kept(None, "", said, judged=len(hits))
    kept = feedback(app, call, outcome, **which, note=note)
    return replace(kept, message=f"{kept.message} {said}".strip(), judged=len(hits))


def _judge_hit(app: App, call: Call, line: str, at: int) -> None:
    """Take down what a line says of a hit."""
    from vaultmind.serve.ops.search import judge  # seldom needed

    word, _, hit = line.strip().partition(" ")
    verdicts: dict[str, Verdict] = {"useful": "useful", "wrong": "wrong"}
    verdict = verdicts.get(word.lower().rstrip(":"))
    if verdict is None or not hit.strip():
        raise BadArgument(f"hits[{at}]", line, "`useful ID` or `wrong ID`")
    judge(app, call, "", hit.strip(), verdict)


def _kept(app: App, episode: Episode, message: str) -> Kept:
    from vaultmind.serve.episodes.worked import seen

    return Kept(seen(app, episode)[0], app.paths.episode(episode.agent, episode.id), message)


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
    from vaultmind.serve.episodes.past_work import listed

    return listed(app, call, limit, project_root, agent)


@operation("One episode", surfaces=LOCAL, persons=True)
def episode_show(
    app: App,
    call: Call,
    episode: Annotated[str, Arg("Its name; default: the latest.", max=MAX_ID)] = "",
    agent: Annotated[str, Arg("Whose; default: everybody's.")] = "",
) -> Shown:
    """Show what was done for a task, in order, and what came of it."""
    from vaultmind.serve.episodes.past_work import show

    return show(app, call, episode, agent)


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
) -> Gained:
    """Show what plans saved and how episodes went, by source and week."""
    from vaultmind.serve.episodes.gaining import run

    return run(app, call, since)


# --- how it is told -----------------------------------------------------------------------


@dumps(Kept)
def _kept_json(kept: Kept, to: Reader) -> dict[str, Any]:
    told = {"new": kept.new, "judged": kept.judged, "message": Name(kept.message)}
    told |= _episode_json(kept.episode, kept.path) if kept.episode else {}
    lean = ("new", "judged", "message", "episode", "state", "outcome")
    return {name: told[name] for name in lean if name in told} if to.lean else told


def _episode_json(one: Episode, path: str) -> dict[str, Any]:
    """Return what an episode is, without its events."""
    return {
        "episode": one.name,
        "agent": one.agent,
        "source": Name(one.source),
        "path": path,
        "session_id": Name(one.session),
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


@words(Kept)
def _kept_words(kept: Kept, to: Reader) -> Iterator[str]:
    yield Name(kept.message)
    yield f"  {kept.path}" if kept.path and not to.mark else ""


@words("serve.episodes.past_work.Episodes")
def _episodes_words(found: Episodes, to: Reader) -> Iterator[str]:
    from vaultmind.vault.oneline import one_line

    for one in found.episodes:
        state = "running" if one.state == "running" else one.outcome or "?"
        about = one.fault or one_line(one.task)
        yield f"{one.episode}  {local_time(one.started)}  {state}  {one.source}  {about}"
        counts = {"read": one.reads, "edited": one.edits, "decided": one.decisions,
                  "commits": one.commits}  # fmt: skip
        told = " · ".join(f"{name} {number:,}" for name, number in counts.items() if number)
        yield f"    {told}" if told else ""
    if not found.episodes:
        yield 'No episode is kept yet. To begin one: vaultmind episode start --task "…"'
    if found.total > len(found.episodes):
        yield f"of {counted(found.total, 'episode')}: --limit {found.total}"


@dumps("serve.episodes.past_work.Shown")
def _shown_json(shown: Shown, to: Reader) -> dict[str, Any]:
    one = shown.episode
    return _episode_json(one, shown.path) | {
        "risk": one.task.risk,
        "issues": one.task.issues,
        "client": one.client,
        "device": one.device,
        "token_budget": one.token_budget,
        "token_used": one.token_used,
        "latency_ms": one.latency_ms,
        "hidden": shown.hidden,
        "events": one.events,
    }


@words("serve.episodes.past_work.Shown")
def _shown_words(shown: Shown, to: Reader) -> Iterator[str]:
    """Yield an episode: its task, its events, a line each, and what came of it."""
    from vaultmind.vault.oneline import one_line

    one = shown.episode
    state = "running" if one.state == "running" else one.outcome or "?"
    yield f"{one.name} · {one.source} · {one.task.kind} · {state}"
    yield one_line(one.task.text)
    for event in one.events:
        told = (
            event.path,
            event.symbol,
            event.change,
            event.commit[:12],
            event.outcome,
            event.text,
        )
        ok = "" if event.ok is None else "ok" if event.ok else "failed"
        line = " ".join(filter(None, (*told, ok, f"({event.how})")))
        yield f"  {local_time(event.time)[11:] or '     '}  {event.kind:8}  {line}"
    yield SHRUNK if one.state == "shrunk" else ""
    if shown.hidden:
        yield f"  … and {counted(shown.hidden, 'part')} that said what was forgotten"
    yield shown.path


@dumps("episodes.opening.Due")
def _due_json(due: Due, to: Reader) -> dict[str, Any]:
    return {
        "done": False,
        "days": due.days,
        "before": due.before,
        "count": len(due.episodes),
        "events": sum(one.events for one in due.episodes),
        "bytes": sum(one.bytes for one in due.episodes),
        "left": _left(due.left),
        "message": _due_message(due),
        "episodes": due.episodes,
    }


def _due_message(due: Due) -> str:
    if not due.episodes:
        ago = counted(due.days, "day")
        return f"Nothing to shrink: no episode kept in full ended {ago} ago."
    events = sum(one.events for one in due.episodes)
    lost = _lost(len(due.episodes), events, sum(one.bytes for one in due.episodes))
    return (
        f"{lost} would go. Outcome, changed files, "
        "commits, issues and decisions stay. What plans offered goes: `vaultmind model train` has "
        "no lessons from these episodes then, and `vaultmind gain` no figures of their plans."
    )


@words("episodes.opening.Due")
def _due_words(due: Due, to: Reader) -> Iterator[str]:
    from vaultmind.vault.oneline import one_line

    yield _due_message(due)
    for one in due.episodes[:SHOWN]:
        size = counted(one.events, "event")
        yield f"  {one.name}  {one.ended[:10]}  {size}  {one_line(one.task)}"
    if (more := len(due.episodes) - SHOWN) > 0:
        yield f"  … and {more:,} more: --json"
    yield from (f"! {name}: {why}" for name, why in due.left)
    yield "Nothing was changed yet. To do it: the same with --yes." if due.episodes else ""


@dumps("episodes.opening.Purged")
def _purged_json(done: Purged, to: Reader) -> dict[str, Any]:
    return {
        "done": True,
        "count": done.episodes,
        "events": done.events,
        "offers": done.offers,
        "bytes": done.bytes,
        "left": _left(done.left),
        "message": _purged_message(done),
    }


def _purged_message(done: Purged) -> str:
    if not done.episodes:
        return "Nothing had to be shrunk."
    return f"{_lost(done.episodes, done.events, done.bytes)} went."


@words("episodes.opening.Purged")
def _purged_words(done: Purged, to: Reader) -> Iterator[str]:
    yield _purged_message(done)
    yield from (f"! {name}: {why}" for name, why in done.left)


def _lost(episodes: int, events: int, bytes_: int) -> str:
    of = f"{counted(events, 'event')} of {counted(episodes, 'episode')}"
    return f"{of} ({bytes_ / 1000:,.1f} KB)"


def _left(left: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"episode": name, "why": why} for name, why in left]


@dumps("serve.episodes.gaining.Gained")
def _gained_json(found: Gained, to: Reader) -> dict[str, Any]:
    return plain(found.gain) | {"kept_days": found.kept_days, "notes": found.notes}


@words("serve.episodes.gaining.Gained")
def _gained_words(found: Gained, to: Reader) -> Iterator[str]:
    """Yield the gain: the whole of it in a few lines, then by source and week."""
    total = found.gain.total
    yield f"What the memory saved, {found.gain.since[:10]} to {found.gain.until[:10]}"
    yield f"{counted(total.plans, 'plan')} in {counted(total.episodes, 'episode')}"
    if total.offered_tokens:
        less = f", {_percent(total.saved_share)} less" if total.saved_share else ""
        sizes = f"{total.offered_tokens:,} tokens offered for {total.whole_tokens:,} of whole files"
        yield f"  {sizes}{less}"
    yield from (f"  {line}" for line in _gain_facts(total))
    if found.gain.parts:
        heads = ("plans", "offered", "whole", "less", "used", "in one plan", "traced")
        yield _row("source, week of", heads)
    for source in found.gain.sources:
        yield _row(source.source, _figures(source.figures))
        for one in found.gain.parts:
            if one.source == source.source:
                yield _row(f"  {one.week}", _figures(one.figures))
    yield from (f"! {note}" for note in found.notes)


def _row(name: str, columns: tuple[str, ...]) -> str:
    return f"{name:20}" + "".join(f"{one:>12}" for one in columns)


def _figures(figures: Figures) -> tuple[str, ...]:
    return (
        f"{figures.plans:,}",
        f"{figures.offered_tokens:,}",
        f"{figures.whole_tokens:,}",
        _percent(figures.saved_share),
        _percent(figures.hit_share),
        _percent(figures.first_pass_success_rate),
        _percent(figures.causal_trace_completeness),
    )


def _gain_facts(total: Figures) -> Iterator[str]:
    """Yield what besides tokens is known of a time."""
    counts = [*total.outcomes.items(), ("under way", total.running)]
    ended = ", ".join(f"{number:,} {name}" for name, number in counts if number)
    yield f"outcomes: {ended}" if ended else ""
    for name, said in (
        ("causal_trace_completeness", "of episodes tell task, reads, edits and outcome"),
        ("hit_share", "of the files that plans offered were read or changed afterwards"),
        ("first_pass_success_rate", "of successful episodes had all they changed in one plan"),
        ("affinity_hit_rate", "of plans that went by earlier work offered a file that was used"),
    ):
        share = getattr(total, name)
        yield f"{_percent(share):>5} {said}" if share is not None else ""
    if total.plan_context_p50_ms is not None:
        yield (
            f"a plan took {total.plan_context_p50_ms:,.0f} ms, p95 "
            f"{total.plan_context_p95_ms:,.0f} ms; all at hand for "
            f"{_percent(total.cache_hit_share)}"
        )
    if total.rerank_invocation_rate:
        in_vain = f", in vain for {total.fallbacks:,}" if total.fallbacks else ""
        asked = _percent(total.rerank_invocation_rate)
        yield f"a model was asked for {asked} of the plans{in_vain}"


def _percent(share: float | None) -> str:
    """Return a share as whole percents; `–` for a share of nothing."""
    return "–" if share is None else f"{share:.0%}"
