"""What a context is built with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from vaultmind.config import Config
from vaultmind.ports import Embedder, Report, silent
from vaultmind.session.reading import Hides, Shows
from vaultmind.session.recall.longterm import Ask, Brought
from vaultmind.session.recall.segment import SegmentIndex
from vaultmind.session.summary import Rolling, Window
from vaultmind.types import Message
from vaultmind.vault.files import VaultReader


class View(Protocol):
    """A conversation as it stands: its current segment, its summary, its index."""

    @property
    def agent(self) -> str:
        """Return whose conversation it is."""
        ...

    @property
    def session(self) -> str:
        """Return its id."""
        ...

    @property
    def segment(self) -> int:
        """Return the number of the current segment, from 1."""
        ...

    @property
    def path(self) -> str:
        """Return its file, vault-relative."""
        ...

    @property
    def messages(self) -> Sequence[Message]:
        """Return those of the current segment that may be shown, oldest first."""
        ...

    @property
    def rolling(self) -> Rolling:
        """Return the segment's summary, as far as it may be shown."""
        ...

    @property
    def index(self) -> SegmentIndex:
        """Return the messages of all segments, to be searched."""
        ...

    @property
    def language(self) -> str:
        """Return its language."""
        ...

    @property
    def topic_is_new(self) -> bool:
        """Tell whether the talk has just come to another topic."""
        ...


class Talks(Protocol):
    """The conversations in memory."""

    def view(self, agent: str, session: str = "") -> View | None:
        """Return a conversation as it stands, the agent's latest for ""; None if there is none."""
        ...

    def fold(
        self,
        view: Any,  # noqa: ANN401 - the one that `view` returned
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
