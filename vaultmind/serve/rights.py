"""What of the agents' rights is not as their identities say, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App


def notes(app: App, caller: Caller) -> tuple[str, ...]:
    """Return what of the agents' rights is not as their identities say, for a status.

    A person is told of all agents, an agent of itself.
    """
    whose = app.paths.agent_names() if caller.kind == "person" else (caller.agent,)
    found = [f"{app.authority.fault}."] if app.authority.fault else []
    for name in whose:
        faults = app.authority.claim(name).faults
        if faults:
            found.append(f"{app.paths.identity(name)}: {'; '.join(faults)}.")
        elif waiting := app.authority.waiting(name):
            found.append(
                f"{name} asks for more than is in force: {', '.join(waiting)}. "
                f"If you want that: vaultmind agents allow {name}"
            )
    return tuple(found)
