"""What agents did for tasks: listed, shown, shrunk, and what the memory saved them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.episodes.types import Episode, Event, TaskMark
from vaultmind.errors import NotFound, VaultMindError
from vaultmind.plural import counted
from vaultmind.serve.call import Call, known_agent
from vaultmind.serve.op import (
    LOCAL,
    MAX_ID,
    MAX_PATH,
    Arg,
    operation,
)
from vaultmind.serve.show import AS_DATA, Reader, dumps, plain, tells
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.episodes.gains import Figures, Part
    from vaultmind.episodes.opening import Shrinks

from vaultmind.serve.ops.episodes import EpisodeShown, shown_of, visible

GAIN_DAYS = 30
"""Days of which a status tells the gain."""

Days = Annotated[
    int | None, Arg("Days after their end; default: retention.days.", min=0, max=36_500)
]


@dataclass(frozen=True, slots=True)
class EpisodeWhole:
    """An episode and what was done in it, in order."""

    episode: EpisodeShown
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Episodes:
    """What agents did, oldest first."""

    episodes: tuple[EpisodeShown, ...]
    total: int = field(metadata=AS_DATA)
    """How many notes there are: of the agent and over the source that were named."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Purge:
    """What a purge shrank, or would."""

    message: str
    done: bool
    count: int
    events: int
    bytes: int
    episodes: tuple[Shrinks, ...]
    left: tuple[str, ...]
    """Episodes that cannot be shrunk, each with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GainShown:
    """The gain of a time, and what is to be said of it."""

    since: str
    until: str
    total: Figures
    sources: tuple[Part, ...]
    weeks: tuple[Part, ...] = field(metadata=AS_DATA)
    parts: tuple[Part, ...] = field(metadata=AS_DATA)
    kept_days: int = field(metadata=AS_DATA)
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeptWork:
    """How much was kept of what agents did: an agent is told of its own alone."""

    running: tuple[str, ...]
    kept: int
    last: str
    """The one that began last."""
    words: str


tells(
    "episodes.types.Event",
    "kind time path symbol text change commit tokens ok how outcome block",
    "time kind path symbol change commit outcome text how",
)


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
    shown = tuple(_read(app, one)[0] for one in names[-limit:])
    begin = 'No episode is kept yet. To begin one: vaultmind episode start --task "…"'
    notes = () if shown else (begin,)
    if len(names) > len(shown):
        notes = (f"of {counted(len(names), 'episode')}: --limit {len(names)}",)
    return Episodes(shown, len(names), notes)


@operation("One episode", surfaces=LOCAL, persons=True)
def episode_show(
    app: App,
    call: Call,
    episode: Annotated[str, Arg("Its name; default: the latest.", max=MAX_ID)] = "",
    agent: Annotated[str, Arg("Whose; default: everybody's.")] = "",
) -> EpisodeWhole:
    """Show what was done for a task, in order, and what came of it."""
    owner, _, id = episode.strip().removesuffix(".md").rpartition("/")
    agent = known_agent(app, call.caller, owner or agent) if owner or agent else ""
    if id:
        name = f"{agent or app.target(call.caller, '')}/{id}"
    elif not (name := "".join(app.episodes.files.names(agent)[-1:])):
        raise NotFound("No episode is kept yet.")
    return EpisodeWhole(*shown_of(app, app.episodes.files.read(name)))


def _read(app: App, name: str) -> tuple[EpisodeShown, tuple[Event, ...]]:
    """Return an episode; of one that cannot be read its name, and why."""
    try:
        return shown_of(app, app.episodes.files.read(name))
    except VaultMindError as error:
        agent, _, id = name.partition("/")
        return shown_of(app, Episode(id, agent, "", TaskMark(""), "", flaw=str(error)))


@operation("What a purge would shrink", surfaces=LOCAL, persons=True)
def purge_preview(app: App, call: Call, days: Days = None) -> Purge:
    """Show which episodes are past their retention and what would go of them."""
    due = app.episodes.due(days, call.report)
    events, size = (sum(getattr(one, name) for one in due.episodes) for name in ("events", "bytes"))
    said = f"Nothing to shrink: no episode kept in full ended {counted(due.days, 'day')} ago."
    if due.episodes:
        said = (
            f"{_lost(len(due.episodes), events, size)} would go. Outcome, changed files, commits, "
            "issues and decisions stay. What plans offered goes: `vaultmind model train` has no "
            "lessons from these episodes then, and `vaultmind gain` no figures of their plans. "
            "Nothing was changed yet. To do it: the same with --yes."
        )
    left = tuple(f"{name}: {why}" for name, why in due.left)
    return Purge(said, False, len(due.episodes), events, size, due.episodes, left)


@operation("Shrink what is old", writes=True, surfaces=LOCAL, persons=True)
def purge(app: App, call: Call, days: Days = None) -> Purge:
    """Shrink episodes past their retention to outcome and links, for good."""
    done = app.episodes.purge(call.caller, days, call.report)
    lost = _lost(done.episodes, done.events, done.bytes)
    said = f"{lost} went." if done.episodes else "Nothing had to be shrunk."
    left = tuple(f"{name}: {why}" for name, why in done.left)
    return Purge(said, True, done.episodes, done.events, done.bytes, (), left)


def _lost(episodes: int, events: int, size: int) -> str:
    lost = f"{counted(events, 'event')} of {counted(episodes, 'episode')}"
    return f"{lost} ({size / 1000:,.1f} KB)"


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
    if not made.total.episodes:
        note = (
            "No episode began in this time: they are kept once an agent works with a plan or hook."
        )
    elif any(one.state == "shrunk" for one in found):
        note = "Episodes that are past their retention are not in the figures of plans."
    else:
        note = "No plan of an episode of this time is kept: there is nothing to compare. A plan on "
        note += "the command line counts only with --session-id."
        note = "" if made.total.plans else note
    notes = (note,) if note else ()
    return GainShown(**plain(made), kept_days=app.config.retention.days, notes=notes)


def recent_gain(app: App, caller: Caller) -> Figures:
    """Return the figures of the last month; of nothing where they cannot be counted now."""
    from vaultmind.episodes.gains import Figures, figures_of, works

    agents = app.index.outlet.readable_agents(caller)
    try:
        since = app.clock() - timedelta(days=GAIN_DAYS)
        return figures_of(works(app.episodes.tables, agents, since))
    except VaultMindError:  # a status says more than this
        return Figures()


def kept_work(app: App, caller: Caller) -> KeptWork:
    """Return what was kept, for whoever asks for the status."""
    own = caller.agent if caller.kind == "agent" else ""
    notes = app.episodes.files.names(own)
    agents = (own,) if own else app.paths.agent_names()
    running = [one for agent in agents for one in app.episodes.recorder.running(agent)]
    names, last = tuple(one.name for one in running), "".join(notes[-1:])
    said = [counted(len(notes), "note")] if notes else ["none kept yet"]
    said += [f"running: {one.name} “{visible(app, one)[0].task.text[:60]}”" for one in running]
    return KeptWork(names, len(notes), last, " · ".join(said))


@dumps(EpisodeWhole)
def _whole_json(whole: EpisodeWhole, to: Reader) -> dict[str, Any]:
    return plain(whole.episode) | {"events": whole.events}
