"""What agents did, for the person: the list, and one episode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmind.episodes.types import Episode
from vaultmind.errors import NotFound, VaultMindError
from vaultmind.serve.calls.call import known_agent
from vaultmind.serve.episodes import worked

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.calls.call import Call


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


def listed(app: App, call: Call, limit: int, project_root: str, agent: str) -> Episodes:
    """Return what agents did, or one of them, over all sources or one: the newest."""
    agent = known_agent(app, call.caller, agent) if agent else ""
    source = app.sources.find(project_root).name if project_root else ""
    names = _names(app, agent, source)
    found: list[Listed] = []
    for name in reversed(names):
        one = _listed(app, name)
        if source in ("", one.source):
            found.append(one)
        if len(found) == limit:
            break
    return Episodes(tuple(reversed(found)), len(names))


def show(app: App, call: Call, episode: str, agent: str) -> Shown:
    """Return an episode. Raises NotFound where there is none of that name, or none at all."""
    name = episode.strip().removesuffix(".md")
    owner, _, id = name.rpartition("/")
    agent = known_agent(app, call.caller, owner or agent) if owner or agent else ""
    if not id:
        id, agent = _last(app, agent)
    elif not agent:
        agent = app.target(call.caller, "")
    one = app.episodes.files.read(f"{agent}/{id}")
    shown, hidden = worked.seen(app, one)
    return Shown(shown, app.paths.episode(agent, id), hidden)


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
