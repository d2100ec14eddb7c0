"""Memory files that are damaged, for `status` and `doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultmind.errors import VaultMindError
from vaultmind.memory.brain import MEND, WRITING_WAITS, damage, fault
from vaultmind.session.files import read_text
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App


def note(app: App, agent: str) -> str:
    """Return what is wrong with an agent's brain and how it is mended; empty for a sound one."""
    brain = app.paths.brain(agent)
    try:
        text, reason = read_text(app.reader, brain)
    except VaultMindError as error:
        text, reason = "", str(error)
    if reason := reason or damage(text):
        return f"{brain} is damaged: {reason}. {WRITING_WAITS} {MEND}"
    broken = fault(text)
    return f"{brain}: {broken}. {MEND}" if broken else ""


def notes(app: App, caller: Caller) -> tuple[str, ...]:
    """Return what is damaged: a person is told of all agents, an agent of its own memory."""
    agents = app.paths.agent_names() if caller.kind == "person" else (caller.agent,)
    return tuple(told for agent in filter(None, agents) if (told := note(app, agent)))
