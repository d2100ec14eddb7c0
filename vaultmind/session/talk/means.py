"""What a conversation in memory needs of others, and what rules it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from vaultmind.config import Config
from vaultmind.ports import Embedder, MessageVectors
from vaultmind.session.summary import Told, Window
from vaultmind.types import Caller, Message
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
class ToolCall:
    """What a tool did in a conversation, as far as it is kept."""

    name: str
    result: str
    """Its beginning."""
    source: str
    """The block id of the message that holds it."""
    before: str = ""
    """What was said last before it: mostly what it was called for."""
    time: str = ""
    turn: str = ""
    """What the user said last before it, if that is not `before`."""


class Teller(Protocol):
    """Says in few words what was said and done: a language model. Slow; asked in the background.

    What it gives holds: each line is said by the messages it names.
    """

    def ready(self) -> bool:
        """Tell whether it may be asked now: there is a model, it is not paused, and has time."""
        ...

    def lines(self, messages: Sequence[Message], earlier: str, language: str) -> Told | None:
        """Return what some messages come to, which follow those that `earlier` sums up.

        None where it failed, and may do it another time.
        """
        ...

    def tools(self, calls: Sequence[ToolCall], language: str) -> Told | None:
        """Return a line or two for each of some calls; None where it failed."""
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

    @property
    def embedder(self) -> Embedder | None:
        """Return what hears more ways to ask that something be not kept; None while it loads."""
        found: Embedder | None = getattr(self.vectors, "embedder", None)  # the index's has it
        return found
