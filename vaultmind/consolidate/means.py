"""What consolidation needs of others, as Protocols, and what of the configuration rules it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from vaultmind.consolidate.model.understood import Understood
from vaultmind.consolidate.types import Resources
from vaultmind.types import Caller, Fact, MemoryWrite, Message, Outcome
from vaultmind.vault.files import Change

if TYPE_CHECKING:
    from vaultmind.consolidate.levels import Levels

DroppedText = tuple[str, str, tuple[str, ...]]
"""A fact that was not kept, why, and the blocks of the messages that it came from."""


class FactGate(Protocol):
    """The part of the gate that changes facts."""

    def write(self, write: MemoryWrite) -> Outcome:
        """Change facts, or say why not."""
        ...

    def would(self, write: MemoryWrite) -> Outcome:
        """Return what a write would come to; nothing is written."""
        ...

    def settled_before(self, agent: str, session: str) -> frozenset[str]:
        """Return the words of what extraction wrote from a session once."""
        ...


class MemoryGate(FactGate, Protocol):
    """The part of the gate that consolidation goes through."""

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> object:
        """Change a record by compare-and-swap: `change` may be called again on new text."""
        ...

    def dropped(
        self, agent: str, session: str, dropped: Sequence[DroppedText], caller: Caller
    ) -> object:
        """Tell the audit what was not kept; what it knows is not told again."""
        ...

    def keeps_records(self, agent: str) -> bool:
        """Tell whether anything is written for an agent."""
        ...


class Thinks(Protocol):
    """Understands a conversation, with a model or without."""

    def extract(
        self, messages: Sequence[Message], brain: Sequence[Fact], *, language: str, max_facts: int
    ) -> Understood:
        """Return the facts and the summary of messages that may be recalled."""
        ...


@dataclass(frozen=True, slots=True)
class ConsolidationSettings:
    """What of the configuration rules consolidation."""

    auto: bool = True
    delay_seconds: float = 20.0
    """Quiet time after an end before it is begun with."""
    max_facts: int = 8
    context_tokens: int = 300
    """Size of an active context."""


@dataclass(frozen=True, slots=True)
class Engines:
    """What does the thinking."""

    thinker: Thinks
    levels: Levels


@dataclass(frozen=True, slots=True)
class Means:
    """What consolidation works with."""

    resources: Resources
    engines: Callable[[], Engines]
    """Returns the engines, made when they are first needed: a start must not wait for them."""
    state: Path
    """The file that keeps over a restart what may be lost: whether it is paused, the tries."""
    settings: ConsolidationSettings = ConsolidationSettings()
    end_idle: Callable[[str], object] = lambda agent: None
    """Ends the sessions of an agent that have been silent for too long; of all for `""`."""
    seconds_today: Callable[[], float] = lambda: 0.0
    """Returns how long models have worked today."""
