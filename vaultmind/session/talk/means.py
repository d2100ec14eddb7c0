"""What a conversation in memory needs of others, and what rules it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from vaultmind.config import Config
from vaultmind.ports import MessageVectors
from vaultmind.session.summary import Window
from vaultmind.types import Caller
from vaultmind.vault.files import Change, VaultReader

Hidden = Callable[[str], frozenset[tuple[str, str]]]
"""Returns (record, part) of all that is hidden of an agent: the same object while it is the same.

A message of a session by its block or own id; a part of a summary, its path without `.md`, by its
block."""

WINDOW = Window()


class TalkGate(Protocol):
    """The part of the gate that stores what is written about a conversation."""

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> object:
        """Change a file by compare-and-swap: `change` may be called again on new text."""
        ...

    def keeps_records(self, agent: str) -> bool:
        """Tell whether anything is written about an agent's conversations."""
        ...


@dataclass(frozen=True, slots=True)
class TalkSettings:
    """What of the configuration rules a conversation in memory."""

    window: Window = WINDOW
    """How much stays whole where nobody says more exactly: what the background folds by."""
    summary_tokens: int = 500
    min_message_tokens: int = 10
    """Shorter messages have no vector."""

    @classmethod
    def of(cls, config: Config) -> TalkSettings:
        """Return what a configuration says."""
        window = Window(
            messages=config.context.sliding_window,
            every=config.summary.every,
            full_at=config.session.summarize_at,
        )
        return cls(window, config.summary.max_tokens, config.auto_rag.min_message_tokens)


@dataclass(frozen=True, slots=True)
class Means:
    """Where a conversation is read and written."""

    reader: VaultReader
    gate: TalkGate
    hidden: Hidden
    vectors: MessageVectors
    settings: TalkSettings
    stopping: Callable[[], bool] = lambda: False
    """Tells whether a long piece of work should end."""
