"""What agents did, for the person: the list, one episode, and the table of what can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaultmind.episodes.types import Episode, Event
from vaultmind.errors import NotFound, VaultMindError
from vaultmind.serve.calls.call import known_agent
from vaultmind.serve.calls.operation import LOCAL, NOT_MCP, Operation
from vaultmind.serve.calls.requests import MAX_ID
from vaultmind.serve.calls.schema import arg, to_json
from vaultmind.serve.episodes import episodes, purging, worked
from vaultmind.serve.episodes.episode_args import (
    MAX_ROOT,
    EndArgs,
    EpisodeArgs,
    EventArgs,
    FeedbackArgs,
    StartArgs,
)

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.calls.call import Call

SHOWN_EPISODES, MOST_EPISODES = 20, 1000


@dataclass(frozen=True, slots=True)
class EpisodesArgs:
    """Arguments of episodes."""

    limit: int = arg("At most, the newest.", default=SHOWN_EPISODES, min=1, max=MOST_EPISODES)
    project_root: str = arg("Only over the vault, or this folder.", default="", max=MAX_ROOT)
    agent: str = arg("Whose; default: everybody's.", default="")


@dataclass(frozen=True, slots=True)
class ShowArgs:
    """Arguments of episode_show."""

    episode: str = arg("Its name; default: the latest.", default="", max=MAX_ID)
    agent: str = arg("Whose; default: everybody's.", default="")


@dataclass(frozen=True, slots=True)
class Listed:
    """An episode, in numbers."""

    episode: str
    path: str
    agent: str
    source: str = ""
    session_id: str = ""
    task: str = ""
    intent: str = ""
    state: str = ""
    outcome: str = ""
    started: str = ""
    ended: str = ""
    event_count: int = 0
    reads: int = 0
    """Files."""
    edits: int = 0
    """Files."""
    decisions: int = 0
    commits: int = 0
    fault: str = ""
    """Why it cannot be read, or what its front matter lacks."""


@dataclass(frozen=True, slots=True)
class Episodes:
    """What agents did, oldest first."""

    episodes: tuple[Listed, ...]
    total: int
    """How many notes there are: of the agent and over the source that were named."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One episode, whole but for what was forgotten."""

    episode: Episode
    path: str
    hidden: int
    """Parts of it that say what was forgotten."""


def listed(app: App, call: Call, args: EpisodesArgs) -> Episodes:
    """Return what agents did, or one of them, over all sources or one: the newest."""
    agent = known_agent(app, call.caller, args.agent) if args.agent else ""
    source = app.sources.find(args.project_root).name if args.project_root else ""
    names = _names(app, agent, source)
    found: list[Listed] = []
    for name in reversed(names):
        one = _listed(app, name)
        if source in ("", one.source):
            found.append(one)
        if len(found) == args.limit:
            break
    return Episodes(tuple(reversed(found)), len(names))


def listed_words(response: Episodes, mark: str = "") -> str:
    """Return the episodes, a line each."""
    if not response.episodes:
        return "No episode is kept yet."
    lines = [f"{one.episode} {one.state}, {one.outcome}: {one.task}" for one in response.episodes]
    return "\n".join(lines)


def show(app: App, call: Call, args: ShowArgs) -> Shown:
    """Return an episode. Raises NotFound where there is none of that name, or none at all."""
    name = args.episode.strip().removesuffix(".md")
    owner, _, id = name.rpartition("/")
    agent = known_agent(app, call.caller, owner or args.agent) if owner or args.agent else ""
    if not id:
        id, agent = _last(app, agent)
    elif not agent:
        agent = app.target(call.caller, "")
    one = app.episodes.files.read(f"{agent}/{id}")
    shown, hidden = worked.seen(app, one)
    return Shown(shown, app.paths.episode(agent, id), hidden)


def show_words(response: Shown, mark: str = "") -> str:
    """Return an episode: its task, its events, a line each, and what came of it."""
    one = response.episode
    lines = [f"{one.name} over {one.source}: {one.task.text}"]
    lines += [" ".join(_telling(event)) for event in one.events]
    lines.append(f"{one.state}, {one.outcome} {one.rationale}".strip())
    return "\n".join(lines)


def show_json(response: Shown, mark: str = "") -> dict[str, Any]:
    """Return an episode whole."""
    one = response.episode
    return episodes.told(one, response.path, mark) | {
        "risk": one.task.risk,
        "issues": list(one.task.issues),
        "client": one.client,
        "device": one.device,
        "token_budget": one.token_budget,
        "token_used": one.token_used,
        "latency_ms": one.latency_ms,
        "hidden": response.hidden,
        "events": [to_json(event) for event in one.events],
    }


def _listed(app: App, name: str) -> Listed:
    """Return an episode in numbers; one that cannot be read says why."""
    path, agent = app.episodes.files.path(name), name.partition("/")[0]
    try:
        one, _ = worked.seen(app, app.episodes.files.read(name))
    except VaultMindError as error:
        return Listed(name, path, agent, fault=str(error))

    def files(*kinds: str) -> int:
        return len({event.path for event in one.events if event.kind in kinds and event.path})

    return Listed(
        episode=name,
        path=path,
        agent=agent,
        source=one.source,
        session_id=one.session,
        task=one.task.text,
        intent=one.task.kind,
        state=one.state,
        outcome=one.outcome,
        started=one.started,
        ended=one.ended,
        event_count=len(one.events),
        reads=files("read"),
        edits=files("edit", "delta"),
        decisions=sum(event.kind == "decision" for event in one.events),
        commits=len({event.commit for event in one.events if event.commit}),
        fault=one.flaw,
    )


def _names(app: App, agent: str, source: str) -> tuple[str, ...]:
    """Return the episodes of an agent and over a source, where these are named, oldest first."""
    names = app.episodes.files.names(agent)
    if not source:
        return names
    app.episodes.settle()  # the tables follow in a moment; opening every note would take longer
    known = set(app.episodes.tables.names(source=source, agent=agent))
    return tuple(one for one in names if one in known)


def _last(app: App, agent: str) -> tuple[str, str]:
    names = app.episodes.files.names(agent)
    if not names:
        raise NotFound("No episode is kept yet.")
    owner, _, id = names[-1].partition("/")
    return id, owner


def _telling(event: Event) -> Iterator[str]:
    """Yield what an event tells, in its order."""
    yield event.time[11:19]
    yield event.kind
    yield from filter(None, (event.path, event.symbol, event.change, event.commit, event.text))
    if event.ok is not None:
        yield "ok" if event.ok else "failed"


TABLE = (
    Operation(
        name="episode",
        title="What you do for a task",
        request=EpisodeArgs,
        help="Keep for the next agent what you do for a task on notes or code, unless you were "
        "told that it is recorded: start, events, end with its outcome, honestly. feedback "
        "corrects that, or says which hits of a search helped.",
        run=episodes.tool,
        words=episodes.words,
        json=episodes.as_json,
        writes=True,
    ),
    Operation(
        name="episode_start",
        title="A task begins",
        request=StartArgs,
        help="Begin to keep what is done for a task; the same task goes on with its episode.",
        run=episodes.start,
        words=episodes.words,
        json=episodes.as_json,
        writes=True,
        surfaces=NOT_MCP,
        also="episode/start",
    ),
    Operation(
        name="episode_event",
        title="Something was done",
        request=EventArgs,
        help="Tell what was read, found, edited, decided, run and committed.",
        run=episodes.event,
        words=episodes.words,
        json=episodes.as_json,
        writes=True,
        surfaces=NOT_MCP,
        also="episode/event",
    ),
    Operation(
        name="episode_end",
        title="A task has ended",
        request=EndArgs,
        help="End an episode with what came of it.",
        run=episodes.end,
        words=episodes.words,
        json=episodes.as_json,
        writes=True,
        surfaces=NOT_MCP,
        also="episode/end",
    ),
    Operation(
        name="feedback",
        title="What came of it",
        request=FeedbackArgs,
        help="State or correct what came of an episode, ended or not.",
        run=episodes.feedback,
        words=episodes.words,
        json=episodes.as_json,
        writes=True,
        surfaces=NOT_MCP,
    ),
    Operation(
        name="episodes",
        title="What agents did",
        request=EpisodesArgs,
        help="List episodes: when, for what, over which source, what came of it.",
        run=listed,
        words=listed_words,
        surfaces=LOCAL,
        persons=True,
    ),
    Operation(
        name="episode_show",
        title="One episode",
        request=ShowArgs,
        help="Show what was done for a task, in order, and what came of it.",
        run=show,
        words=show_words,
        json=show_json,
        surfaces=LOCAL,
        persons=True,
    ),
    Operation(
        name="purge_preview",
        title="What a purge would shrink",
        request=purging.PurgeArgs,
        help="Show which episodes are past their retention and what would go of them.",
        run=purging.preview,
        words=purging.preview_words,
        json=purging.preview_json,
        surfaces=LOCAL,
        persons=True,
    ),
    Operation(
        name="purge",
        title="Shrink what is old",
        request=purging.PurgeArgs,
        help="Shrink episodes past their retention to outcome and links, for good.",
        run=purging.purge,
        words=purging.purged_words,
        json=purging.purged_json,
        writes=True,
        surfaces=LOCAL,
        persons=True,
    ),
)
