"""What of the agents' rights is not as their identities say, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App


def notes(app: App, caller: Caller) -> tuple[str, ...]:
    """Return what of the agents' rights is not as their identities say, for a status.

    A person is told of all agents; an agent of itself, and of nothing outside the vault.
    """
    whose: tuple[str, ...] = (caller.agent,)
    found = []
    if caller.kind == "person":
        whose = app.paths.agent_names()
        found += [f"{app.authority.fault}."] if app.authority.fault else []
    for name in whose:
        faults = app.authority.claim(name).faults
        if faults:
            found.append(f"{app.paths.identity(name)}: {'; '.join(faults)}.")
        elif waiting := app.authority.waiting(name):
            how = f"If you want that: vaultmind agents allow {name}"
            if caller.kind == "agent":
                how = "Only the person can allow that, at the command line."
            found.append(f"{name} asks for more than is in force: {', '.join(waiting)}. {how}")
    return tuple(found)
