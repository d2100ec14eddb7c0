"""What stands in for the gate and the index, for tests that are not about them."""

from __future__ import annotations

from collections.abc import Iterable

from vaultmind.memory.forget.hiding import Tombstones
from vaultmind.memory.gate import GateSettings
from vaultmind.session.files import Shelf, session_ids
from vaultmind.types import Caller, MessageRef
from vaultmind.vault.files import Change, VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.writer import VaultWriter


class Files:
    """The gate's record side over real files, for tests that are not about the gate."""

    def __init__(self, paths: VaultPaths) -> None:
        self._writer = VaultWriter(paths)
        self.hiding, self.settings = Tombstones(paths), GateSettings("")
        self.saves = 0
        self.read_only: set[str] = set()

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> object:
        """Change a file by compare-and-swap."""
        self.saves += 1
        return self._writer.edit(relative, change)

    def append(self, relative: str, text: str) -> object:
        """Append and flush."""
        self._writer.append(relative, text)
        return None

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent may keep records: all but those that are `read_only`."""
        return agent not in self.read_only


class Marked:
    """A FileIndexer that only remembers what it was told."""

    def __init__(self) -> None:
        self.paths: set[str] = set()

    def refresh(self, paths: Iterable[str], patience: float = -1) -> None:
        """Remember the paths."""
        self.paths.update(paths)

    def mark(self, paths: Iterable[str]) -> None:
        """Remember the paths."""
        self.paths.update(paths)


class EveryMessage:
    """A MessageFinder without an index: every message of the agent is a candidate."""

    def __init__(self, reader: VaultReader) -> None:
        self._reader = reader

    def messages_about(self, agent: str, text: str, limit: int) -> list[tuple[MessageRef, str]]:
        """Return the agent's messages, oldest first."""
        return [
            (MessageRef(agent, session, m.message.block, m.message.id), m.message.text)
            for session in session_ids(self._reader.paths, agent)
            for m in Shelf(self._reader).read(agent, session).messages
        ][:limit]
