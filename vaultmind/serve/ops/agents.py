"""The agents of a vault, as their person sees them: what each may do, and who lets it.

All of it is the person's alone: an agent is told neither of the others nor of what it might be
allowed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.serve.call import Call
from vaultmind.serve.op import LOCAL, Arg, operation
from vaultmind.serve.ops.memory import Language, Made, make
from vaultmind.serve.show import AS_DATA

if TYPE_CHECKING:
    from vaultmind.app import App

AgentName = Annotated[str, Arg("The agent's name.", min=1, max=80)]
Mark = Annotated[str, Arg("The `mark` that agent_show gave; empty: allow nothing.", max=80)]


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """One agent: what it asks for, what is in force, and what it has."""

    name: str
    level: int
    """The level in force: 0 read only, 1 suggest, 2 auto, 3 full."""
    asked: int
    """The level that its identity.md asks for."""
    language: str
    facts: int
    sessions: int
    suggestions: int
    """How many wait for the person, for this agent's memory."""
    writers: dict[str, tuple[str, ...]]
    """Other agents that may write here, and what of it."""
    hidden_from: tuple[str, ...]
    """Agents that may not read here; `*` for all others."""
    waiting: tuple[str, ...]
    """What identity.md asks for beyond what is in force, in words: it waits for `allow`."""
    faults: tuple[str, ...]
    """What of identity.md cannot be understood."""
    mark: str = field(metadata=AS_DATA)
    """Stands for what identity.md asks for now: `agent_allow` wants it back."""
    identity: str
    """The file, vault-relative."""


@dataclass(frozen=True, slots=True)
class Agents:
    """All agents of the vault."""

    agents: tuple[About, ...]
    notes: tuple[str, ...]
    """What is wrong with what these numbers and rights come from, and what waits for a leave."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the person allowed an agent, and the agent as it is now."""

    allowed: tuple[str, ...] = field(metadata=AS_DATA)
    agent: About = field(metadata=AS_DATA)
    message: str


@operation("The agents", surfaces=LOCAL, persons=True)
def agents(app: App, call: Call) -> Agents:
    """List the agents: level asked and in force, what each has, who may write or read it."""
    notes = [f"{app.authority.fault}."] if app.authority.fault else []
    waiting: Counter[str] = Counter()
    try:
        waiting = _suggestions(app)
    except VaultMindError as error:
        notes.append(str(error))
    found = tuple(_about(app, name, waiting[name]) for name in app.paths.agent_names())
    notes += [] if found else ["There is no agent yet. To make one: vaultmind agents new NAME"]
    for one in found:
        if one.waiting and not one.faults:
            asks, how = ", ".join(one.waiting), f"vaultmind agents allow {one.name}"
            notes.append(f"{one.name} asks for more: {asks} → {how}")
    return Agents(found, tuple(notes))


@operation("One agent", surfaces=LOCAL, persons=True)
def agent_show(app: App, call: Call, name: AgentName) -> About:
    """Show what one agent may do and what it has."""
    from vaultmind.vault.paths import agent_name

    found, names = agent_name(name, "name"), app.paths.agent_names()
    if found not in names:
        known = f"there are {', '.join(names)}" if names else "there is none yet"
        hint = f"To make one: vaultmind agents new {found}"
        raise NotFound(f"There is no agent {found!r}; {known}.", hint=hint)
    return _about(app, found, _suggestions(app)[found])


@operation("Make an agent", writes=True, surfaces=LOCAL, persons=True)
def agent_new(app: App, call: Call, name: AgentName, language: Language = "en") -> Made:
    """Make a new agent's identity."""
    from vaultmind.vault.paths import agent_name

    new = agent_name(name, "name")
    if app.reader.exists(app.paths.identity(new)):
        raise BadArgument("name", new, "a new name: there is an agent of this one")
    if new not in app.paths.agent_names():
        app.authority.begin(new, call.caller)
    return make(app, call, new, language)


@operation("Let an agent do more", writes=True, surfaces=LOCAL, persons=True)
def agent_allow(app: App, call: Call, name: AgentName, seen: Mark = "") -> Allowed:
    """Let an agent have what its identity asks for; for the person alone.

    Without a mark it only tells what that is. Raises BadArgument where the identity is broken, or
    has changed since the mark was given.
    """
    before = agent_show(app, call, name)
    if before.faults:
        raise BadArgument(before.identity, "; ".join(before.faults), "a sound front matter")
    if not before.waiting:
        return Allowed((), before, f"{before.name} asks for nothing beyond what is in force.")
    if not seen:
        asks = ", ".join(before.waiting)
        return Allowed((), before, f"{before.name} asks for: {asks}. Nothing was allowed yet.")
    allowed = app.gate.allow(before.name, seen, call.caller)
    said = f"Allowed to {before.name}: {', '.join(allowed)}."
    return Allowed(allowed, agent_show(app, call, name), said)


def _about(app: App, name: str, suggestions: int) -> About:
    from vaultmind.memory.brain import parse_brain
    from vaultmind.memory.rights import mark_of, scopes_of
    from vaultmind.session.files import read_text, session_ids

    asked, rights = app.authority.identity(name), app.authority.rights(name)
    return About(
        name=name,
        level=rights.level,
        asked=asked.rights.level,
        language=asked.language or "en",
        facts=len(parse_brain(read_text(app.reader, app.paths.brain(name))[0]).facts),
        sessions=len(session_ids(app.paths, name)),
        suggestions=suggestions,
        writers={who: scopes_of(rights, who) for who in sorted({who for who, _ in rights.write})},
        hidden_from=tuple(sorted(rights.hidden_from)),
        waiting=app.authority.waiting(name),
        faults=asked.faults,
        mark=mark_of(asked.rights),
        identity=app.paths.identity(name),
    )


def _suggestions(app: App) -> Counter[str]:
    """Return how many suggestions wait for each agent."""
    waiting = (one for one in app.gate.queue.listed() if one.state == "waiting")
    return Counter(one.write.agent for one in waiting)
