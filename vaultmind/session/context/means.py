"""What a context is built with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from vaultmind.config import Config
from vaultmind.ports import Embedder, Report, silent
from vaultmind.session.context.longterm.longterm import Ask, Brought
from vaultmind.session.conversation import View
from vaultmind.session.files import Hides, Shows
from vaultmind.session.subagents import block_of
from vaultmind.session.summary import Window
from vaultmind.vault.files import VaultReader


class Talks(Protocol):
    """The conversations in memory."""

    def view(self, agent: str, session: str = "") -> View | None:
        """Return a conversation as it stands, the agent's latest for ""; None if there is none."""
        ...

    def fold(
        self,
        view: View,
        window: Window,
        report: Report = silent,
    ) -> View:
        """Return it with what is due folded into its summary."""
        ...


class Memory(Protocol):
    """Lasting memory."""

    def recall(self, ask: Ask) -> Brought:
        """Return what it says to a question, within the room."""
        ...


@dataclass(frozen=True, slots=True)
class Means:
    """What the builder works with."""

    reader: VaultReader
    shows: Shows
    hides: Hides
    talks: Talks
    memory: Memory
    embedder: Callable[[], Embedder | None]
    """Returns the index's embedder once it is loaded."""
    config: Config
    excludes: Callable[[str], bool] = lambda path: False
    """Tells whether the person's rules keep a vault-relative path from everybody."""

    def hides_run(self, file: str, line: int) -> bool:
        """Tell whether a line of a sub-agent's runs said what any agent was to forget.

        Runs are nobody's alone.
        """
        block, agents = block_of(line), self.reader.paths.agent_names()
        return any(self.hides(agent, file, block) for agent in agents)
