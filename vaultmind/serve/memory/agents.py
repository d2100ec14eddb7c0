"""The agents of a vault, as their person sees them: what each may do, and who lets it.

All of it is the person's alone, as the table of operations says: an agent is told neither of the
others nor of what it might be allowed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.rights.grants import EVERYBODY, mark_of, scopes_of
from vaultmind.plural import counted
from vaultmind.serve.calls.schema import arg
from vaultmind.serve.memory.remembering import Made, make
from vaultmind.session.records.reading import read_text
from vaultmind.session.records.store import session_ids
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.calls.call import Call
    from vaultmind.serve.calls.requests import NoArgs

LEVELS = ("read only", "suggest", "auto", "full")
"""What the levels of autonomy are called, from 0."""


@dataclass(frozen=True, slots=True)
class NameArgs:
    """Arguments of agent_show: which agent."""

    name: str = arg("The agent's name.", min=1, max=80)


@dataclass(frozen=True, slots=True)
class NewArgs:
    """Arguments of agent_new."""

    name: str = arg("The new agent's name.", min=1, max=80)
    language: Literal["en", "pl", "ru"] = arg("Language of headings and identity.", default="en")


@dataclass(frozen=True, slots=True)
class AllowArgs:
    """Arguments of agent_allow: which agent, and the mark of what the person was shown."""

    name: str = arg("The agent's name.", min=1, max=80)
    seen: str = arg("The `mark` that agent_show gave; empty: allow nothing.", default="", max=80)


@dataclass(frozen=True, slots=True)
class About:
    """One agent: what it asks for, what is in force, and what it has."""

    name: str
    asked: int
    """The level its identity.md asks for."""
    level: int
    """The level in force."""
    level_words: str
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
    mark: str
    """Stands for what identity.md asks for now: `agent_allow` wants it back."""
    identity: str
    """The file, vault-relative."""
    has_identity: bool


@dataclass(frozen=True, slots=True)
class Agents:
    """All agents of the vault."""

    agents: tuple[About, ...]
    notes: tuple[str, ...] = ()
    """What is wrong with what these numbers and rights come from, in words."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the person allowed an agent, and the agent as it is now."""

    allowed: tuple[str, ...]
    """In words; empty when nothing waited."""
    agent: About


def listed(app: App, call: Call, args: NoArgs) -> Agents:
    """Return every agent."""
    waiting, fault = _suggestions(app)
    notes = tuple(f"{one}." for one in (app.authority.fault, fault) if one)
    return Agents(tuple(_about(app, name, waiting) for name in app.paths.agent_names()), notes)


def show(app: App, call: Call, args: NameArgs) -> About:
    """Return one agent; raise NotFound for one that has no folder."""
    return _about(app, _named(app, args.name), _suggestions(app)[0])


def new(app: App, call: Call, args: NewArgs) -> Made:
    """Make an agent's identity. Raises BadArgument for a name that is taken."""
    name = agent_name(args.name, "name")
    if app.reader.exists(app.paths.identity(name)):
        raise BadArgument("name", name, "a new name: there is an agent of this one")
    if name not in app.paths.agent_names():
        app.authority.begin(name, call.caller)
    return make(app, call, name, args.language)


def allow(app: App, call: Call, args: AllowArgs) -> Allowed:
    """Let an agent have what its identity.md asks for; without a mark only tell what that is.

    Raises BadArgument where the identity is broken, or has changed since the mark was given.
    """
    before = show(app, call, NameArgs(args.name))
    if before.faults:
        raise BadArgument(before.identity, "; ".join(before.faults), "a sound front matter")
    if not args.seen or not before.waiting:
        return Allowed((), before)
    allowed = app.gate.allow(before.name, args.seen, call.caller)
    return Allowed(allowed, show(app, call, NameArgs(before.name)))


def listed_words(response: Agents, mark: str) -> str:
    """Return the agents, a line each."""
    lines = []
    for one in response.agents:
        lines.append(
            f"{one.name}: autonomy {one.level} ({one.level_words}), {counted(one.facts, 'fact')}, "
            f"{counted(one.sessions, 'session')}, {counted(one.suggestions, 'suggestion')} waiting"
            + (f"; waits for you: {', '.join(one.waiting)}" if one.waiting else "")
        )
    return "\n".join([*(lines or ["There is no agent yet."]), *response.notes])


def show_words(response: About, mark: str) -> str:
    """Return all about an agent, a line each."""
    writers = [f"{who} ({', '.join(what)})" for who, what in response.writers.items()]
    hidden = ", ".join("everybody" if who == EVERYBODY else who for who in response.hidden_from)
    lines = [
        f"{response.name}: autonomy {response.level} ({response.level_words})",
        f"Others who may write here: {', '.join(writers) or 'nobody'}",
        f"Hidden from: {hidden or 'nobody'}",
        f"{counted(response.facts, 'fact')}, {counted(response.sessions, 'session')}, "
        f"{counted(response.suggestions, 'suggestion')} waiting",
        *(f"Waits for `vaultmind agents allow`: {one}" for one in response.waiting),
        *(f"Cannot be understood: {one}" for one in response.faults),
    ]
    return "\n".join(lines)


def allow_words(response: Allowed, mark: str) -> str:
    """Return what was allowed, or what would be."""
    name = response.agent.name
    if response.allowed:
        return f"{name} may have what it asks for: {', '.join(response.allowed)}."
    if response.agent.waiting:
        return f"{name} asks for: {', '.join(response.agent.waiting)}. Nothing was allowed yet."
    return f"{name} asks for nothing beyond what is in force."


def _named(app: App, name: str) -> str:
    found, names = agent_name(name, "name"), app.paths.agent_names()
    if found in names:
        return found
    known = f"there are {', '.join(names)}" if names else "there is none yet"
    hint = f"To make one: vaultmind agents new {found}"
    raise NotFound(f"There is no agent {found!r}; {known}.", hint=hint)


def _about(app: App, name: str, suggestions: Counter[str]) -> About:
    claim = app.authority.claim(name)
    waiting, rights = app.authority.waiting(name), app.authority.rights(name)
    writers = sorted({who for who, _ in rights.write})
    return About(
        name=name,
        asked=claim.rights.level,
        level=rights.level,
        level_words=LEVELS[rights.level],
        language=app.authority.identity(name).language or "en",
        facts=_facts(app, name),
        sessions=len(session_ids(app.paths, name)),
        suggestions=suggestions[name],
        writers={who: scopes_of(rights, who) for who in writers},
        hidden_from=tuple(sorted(rights.hidden_from)),
        waiting=waiting,
        faults=claim.faults,
        mark=mark_of(claim),
        identity=app.paths.identity(name),
        has_identity=app.reader.exists(app.paths.identity(name)),
    )


def _facts(app: App, name: str) -> int:
    """Return how many facts an agent's brain holds."""
    return len(parse_brain(read_text(app.reader, app.paths.brain(name))[0]).facts)


def _suggestions(app: App) -> tuple[Counter[str], str]:
    """Return how many suggestions wait for each agent, and why that is not known."""
    try:
        waiting = [one for one in app.gate.queue.listed() if one.state == "waiting"]
    except VaultMindError as error:
        return Counter(), str(error).removesuffix(".")
    return Counter(one.suggestion.agent for one in waiting), ""
