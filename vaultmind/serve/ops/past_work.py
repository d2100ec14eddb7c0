"""What agents did for tasks: listed, shown, shrunk, and what the memory saved them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.episodes.types import Episode, TaskMark
from vaultmind.errors import NotFound, VaultMindError
from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call, known_agent
from vaultmind.serve.op import LOCAL, MAX_ID, MAX_PATH, Arg, operation
from vaultmind.serve.ops.episodes import episode_json, visible
from vaultmind.serve.show import Reader, dumps, plain, table, words
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.episodes.gains import Figures, Gain
    from vaultmind.episodes.opening import Due, Purged

GAIN_DAYS = 30
"""Days of which a status tells the gain."""
SHRUNK = "Shrunk, past its retention: only its outcome, changes and decisions are left."
NO_EPISODE = "No episode began in this time: they are kept once an agent works with a plan or hook."
GONE = "Episodes that are past their retention are not in the figures of plans."
NO_PLAN = (
    "No plan of an episode of this time is kept, so there is nothing to compare. A plan on the "
    "command line counts only with --session-id."
)

log = logging.getLogger(__name__)

Days = Annotated[
    int | None, Arg("Days after their end; default: retention.days.", min=0, max=36_500)
]


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
    parts += [f"running: {one.name} “{visible(app, one)[0].task.text[:60]}”" for one in running]
    try:
        tables = app.episodes.tables
        outcomes, shrunk = tables.outcomes(), len(tables.names(state="shrunk"))
    except VaultMindError as error:  # the notes are all there; only what is counted is not
        return Brief(names, len(notes), last, words=f"{' · '.join(parts)} · not counted: {error}")
    parts += [f"last: {last}"] if last and last not in names else []
    return Brief(names, len(notes), last, outcomes, shrunk, " · ".join(parts))


# --- how it is told -----------------------------------------------------------------------


def _shown(app: App, name: str) -> EpisodeShown:
    """Return an episode; of one that cannot be read its name, and why."""
    path, (agent, _, id) = app.episodes.files.path(name), name.partition("/")
    try:
        one, hidden = visible(app, app.episodes.files.read(name))
    except VaultMindError as error:
        return EpisodeShown(Episode(id, agent, "", TaskMark(""), ""), path, fault=str(error))
    return EpisodeShown(one, path, hidden, one.flaw)


@dumps(Episodes)
def _episodes_json(found: Episodes, to: Reader) -> dict[str, Any]:
    rows = [episode_json(one.episode, one.path) | {"fault": one.fault} for one in found.episodes]
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
    told = episode_json(one, shown.path) | {name: getattr(one, name) for name in more}
    return told | {"risk": one.task.risk, "issues": one.task.issues, "hidden": shown.hidden}


@words(EpisodeShown)
def _shown_words(shown: EpisodeShown, to: Reader) -> Iterator[str]:
    one = shown.episode
    yield f"{one.name} · {one.source} · {one.task.kind} · {_outcome(one)}"
    yield one.task.text
    rows = []
    for event in one.events:
        told = (
            event.path,
            event.symbol,
            event.change,
            event.commit[:12],
            event.outcome,
            event.text,
        )
        rows.append((event.time, event.kind, " ".join(filter(None, told)), event.how))
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
