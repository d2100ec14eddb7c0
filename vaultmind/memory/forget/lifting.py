"""Showing again what a forgetting hid: the other half of hiding, for an undo alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from vaultmind.memory.forget.kinds import Ref
from vaultmind.memory.forget.tombstones import Tombstones, render_tombstones
from vaultmind.vault.paths import VaultPaths, agent_name


class Lifting:
    """Writes lifts into this device's tombstone files. Used by the gate alone."""

    def __init__(self, paths: VaultPaths, device: str, append: Callable[[str, str], None]) -> None:
        self._paths = paths
        self._device = device
        self._append = append
        self._tombstones = Tombstones(paths)

    def lift(self, refs: Iterable[Ref], now: datetime) -> tuple[Ref, ...]:
        """Show messages and parts of summaries again; return those that were hidden until now.

        What was erased stays hidden: its message may still stand in an export.
        """
        lifted: dict[Ref, None] = {}
        by_agent: dict[str, list[Ref]] = {}
        for ref in refs:
            names = self._tombstones.buried(ref)
            if names:
                lifted[ref] = None
                by_agent.setdefault(ref.agent, []).extend(names)
        for agent, own in by_agent.items():
            time = self._tombstones.time_for(own, now).isoformat(timespec="seconds")
            path = self._paths.tombstones(agent_name(agent), self._device)
            self._append(path, render_tombstones(dict.fromkeys(own), time, lifted=True))
        return tuple(lifted)
