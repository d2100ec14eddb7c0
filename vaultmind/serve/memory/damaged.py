"""Memory files that are damaged, or were and stand aside, for `status` and `doctor`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vaultmind.errors import NotFound, VaultMindError
from vaultmind.memory.brain import damage
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App

MEND = "Copy back what you want to keep, then delete it."
_ASIDE = re.compile(r".+\.damaged-\d{4}-.+")


def aside(app: App, agent: str) -> tuple[str, ...]:
    """Return an agent's memory files that were set aside, vault-relative."""
    memory = app.paths.memory(agent)
    folder = app.paths.root / memory
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return tuple(f"{memory}/{name}" for name in names if _ASIDE.fullmatch(name))


def notes(app: App, caller: Caller) -> tuple[str, ...]:
    """Return what is damaged, for a status: a person is told of all agents, others of themselves.

    A brain that cannot be read at all is told by whoever reads it.
    """
    agents = app.paths.agent_names() if caller.kind == "person" else (caller.agent,)
    found = []
    for agent in filter(None, agents):
        brain = app.paths.brain(agent)
        try:
            reason = damage(app.reader.read(brain).text)
        except NotFound:
            reason = ""
        except VaultMindError as error:
            reason = str(error)
        if reason:
            found.append(f"{brain} is damaged: {reason}. Mend it, or it is set aside.")
        found += [f"{path} was set aside. {MEND}" for path in aside(app, agent)]
    return tuple(found)
