"""What of an episode is hidden, and how that goes with the words where these are moved in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from vaultmind.episodes.notes.files import EpisodeFiles, split_name
from vaultmind.memory.forget.kinds import Ref, SummaryRef
from vaultmind.memory.forget.tombstones import Tombstones
from vaultmind.vault.paths import VaultPaths


class Moves(Protocol):
    """What this needs of the gate."""

    def hide_moved(self, refs: Iterable[Ref]) -> None:
        """Hide where words that are hidden are about to stand."""
        ...

    def show_left(self, refs: Iterable[Ref]) -> None:
        """Show places again that hidden words have left."""
        ...


class Hidden:
    """Knows what tombstones hide of episodes. Any thread."""

    def __init__(self, gate: Moves, paths: VaultPaths, files: EpisodeFiles) -> None:
        self._gate = gate
        self._files = files
        self._tombstones = Tombstones(paths)

    def of(self, name: str) -> Callable[[str], bool]:
        """Return what tells by its id whether a part of an episode is hidden."""
        agent, record = split_name(name)[0], self._files.path(name).removesuffix(".md")
        return lambda block: self._tombstones.hides(agent, record, block)

    def moved(self, name: str, blocks: Iterable[str]) -> None:
        """Hide the lines that hidden words go to, before they stand there."""
        if refs := self._refs(name, blocks):
            self._gate.hide_moved(refs)

    def left(self, name: str, blocks: Iterable[str]) -> None:
        """Show what stands now where hidden words stood."""
        if refs := self._refs(name, blocks):
            self._gate.show_left(refs)

    def _refs(self, name: str, blocks: Iterable[str]) -> list[Ref]:
        agent, record = split_name(name)[0], self._files.path(name).removesuffix(".md")
        return [SummaryRef(agent, record, block) for block in blocks]
