"""Who calls, whose memory is meant, and the mark of what an agent is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmind import fence
from vaultmind.errors import NotFound
from vaultmind.ports import Report, silent
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App

DEFAULT_AGENT = "main"


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls, and whom to tell how far it is."""

    caller: Caller
    report: Report = silent


def known_agent(app: App, caller: Caller, agent: str) -> str:
    """Return whose memory is meant; raise NotFound for an agent that has no folder.

    Whoever calls may be new: an agent's memory begins with its first word, a person's default
    agent with the first fact. Any other new name is a slip of the pen. An agent that keeps its
    memory from the caller is, to the caller, not there.
    """
    target, names = app.target(caller, agent), app.index.outlet.readable_agents(caller)
    own = caller.agent if caller.kind == "agent" else DEFAULT_AGENT
    if not agent or target == own or target in names:
        return target
    known = f"there are {', '.join(names)}" if names else "there is none yet"
    hint = f"To make one: vaultmind agents new {target}" if caller.kind == "person" else ""
    raise NotFound(f"There is no agent {target!r}; {known}.", hint=hint)


def own_session(app: App, caller: Caller, agent: str) -> str:
    """Return the open session of the conversation that a caller is in; empty where none tells."""
    if not caller.conversation or agent != caller.agent:
        return ""
    session: str = app.sessions.open_session(agent, caller.conversation)
    return session


def mark_for(caller: Caller) -> str:
    """Return a fresh mark for what an agent recalls; none for a person."""
    return fence.new_mark() if caller.kind == "agent" else ""
