"""The agents of a vault, as their person sees them: what each may do, and who lets it.

All of it is the person's alone: an agent is told neither of the others nor of what it might be
allowed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call
from vaultmind.serve.op import LOCAL, Arg, operation
from vaultmind.serve.ops.memory import Language, Made, make
from vaultmind.serve.show import Reader, words

if TYPE_CHECKING:
    from vaultmind.app import App

LEVELS = ("read only", "suggest", "auto", "full")
"""What the levels of autonomy are called, from 0."""


AgentName = Annotated[str, Arg("The agent's name.", min=1, max=80)]


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


@operation("The agents", surfaces=LOCAL, persons=True)
def agents(app: App, call: Call) -> Agents:
    """List the agents: level asked and in force, what each has, who may write or read it."""
    waiting, fault = _suggestions(app)
    notes = tuple(f"{one}." for one in (app.authority.fault, fault) if one)
    return Agents(tuple(_about(app, name, waiting) for name in app.paths.agent_names()), notes)


@operation("One agent", surfaces=LOCAL, persons=True)
def agent_show(app: App, call: Call, name: AgentName) -> About:
    """Show what one agent may do and what it has."""
    return _about(app, _named(app, name), _suggestions(app)[0])


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
def agent_allow(
    app: App,
    call: Call,
    name: AgentName,
    seen: Annotated[
        str, Arg("The `mark` that agent_show gave; empty: allow nothing.", max=80)
    ] = "",
) -> Allowed:
    """Let an agent have what its identity asks for; for the person alone.

    Without a mark it only tells what that is. Raises BadArgument where the identity is broken, or
    has changed since the mark was given.
    """
    before = agent_show(app, call, name)
    if before.faults:
        raise BadArgument(before.identity, "; ".join(before.faults), "a sound front matter")
    if not seen or not before.waiting:
        return Allowed((), before)
    allowed = app.gate.allow(before.name, seen, call.caller)
    return Allowed(allowed, agent_show(app, call, name))


@words(Agents)
def _agents_words(found: Agents, to: Reader) -> Iterator[str]:
    for one in found.agents:
        yield (
            f"{one.name}: {_level(one)}, {counted(one.facts, 'fact')}, "
            f"{counted(one.sessions, 'session')}, {counted(one.suggestions, 'suggestion')} waiting"
            f"; may write: {_writers(one) or 'only itself'}; hidden from: {_hidden(one)}"
        )
    if not found.agents:
        yield "There is no agent yet. To make one: vaultmind agents new NAME"
    for one in found.agents:
        yield from _attention(one)
    yield from (f"! {note}" for note in found.notes)


@words(About)
def _about_words(one: About, to: Reader) -> Iterator[str]:
    yield f"{one.name}: {_level(one)}"
    yield f"language      {one.language}"
    yield f"facts         {one.facts:,}"
    yield f"sessions      {one.sessions:,}"
    yield f"suggestions   {one.suggestions:,} waiting for you"
    yield f"may write     {_writers(one) or 'only itself'}"
    yield f"hidden from   {_hidden(one)}"
    yield f"identity      {one.identity}" + ("" if one.has_identity else " (not there yet)")
    yield from _attention(one)


@words(Allowed)
def _allowed_words(found: Allowed, to: Reader) -> Iterator[str]:
    one = found.agent
    if found.allowed:
        yield f"Allowed to {one.name}: {', '.join(found.allowed)}."
    elif one.waiting:
        yield f"{one.name} asks for: {', '.join(one.waiting)}. Nothing was allowed yet."
    else:
        yield f"{one.name} asks for nothing beyond what is in force."


def _level(one: About) -> str:
    asks = f" (asks for {one.asked})" if one.asked > one.level else ""
    return f"autonomy {one.level} {one.level_words}{asks}"


def _writers(one: About) -> str:
    return "; ".join(f"{who}: {', '.join(what)}" for who, what in one.writers.items())


def _hidden(one: About) -> str:
    return ", ".join("everybody" if who == "*" else who for who in one.hidden_from) or "nobody"


def _attention(one: About) -> Iterator[str]:
    """Yield what of an identity is not in force, and what to do about it."""
    yield from (f"! {one.identity}: {fault}" for fault in one.faults)
    if one.waiting and not one.faults:
        yield f"! {one.name} asks for more: {', '.join(one.waiting)}"
        yield f"  → vaultmind agents allow {one.name}"


def _named(app: App, name: str) -> str:
    from vaultmind.vault.paths import agent_name

    found, names = agent_name(name, "name"), app.paths.agent_names()
    if found in names:
        return found
    known = f"there are {', '.join(names)}" if names else "there is none yet"
    hint = f"To make one: vaultmind agents new {found}"
    raise NotFound(f"There is no agent {found!r}; {known}.", hint=hint)


def _about(app: App, name: str, suggestions: Counter[str]) -> About:
    from vaultmind.memory.rights import mark_of, scopes_of
    from vaultmind.session.records.store import session_ids

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
    from vaultmind.memory.brain import parse_brain
    from vaultmind.session.records.reading import read_text

    return len(parse_brain(read_text(app.reader, app.paths.brain(name))[0]).facts)


def _suggestions(app: App) -> tuple[Counter[str], str]:
    """Return how many suggestions wait for each agent, and why that is not known."""
    try:
        waiting = [one for one in app.gate.queue.listed() if one.state == "waiting"]
    except VaultMindError as error:
        return Counter(), str(error).removesuffix(".")
    return Counter(one.suggestion.agent for one in waiting), ""
