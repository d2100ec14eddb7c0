"""Conversations in memory, the last few asked for; their files are the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from vaultmind.ports import MessageVectors, Report, silent
from vaultmind.session.summary import Window
from vaultmind.session.talk.view import View
from vaultmind.types import Caller
from vaultmind.vault.files import Change, VaultReader

Hidden = Callable[[str], frozenset[tuple[str, str]]]
"""Returns (record, part) of all that is hidden of an agent: the same object while it is the same.

A message of a session by its block or own id; a part of a summary, its path without `.md`, by its
block."""


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

    window: Window = Window()  # noqa: RUF009 - frozen
    """How much stays whole where nobody says more exactly: what the background folds by."""
    summary_tokens: int = 500
    min_message_tokens: int = 10
    """Shorter messages have no vector."""


class Talks:
    """Holds conversations as they stand in their files. Safe to use from threads."""

    def __init__(
        self,
        reader: VaultReader,
        gate: TalkGate,
        hidden: Hidden,
        vectors: MessageVectors,
        settings: TalkSettings | None = None,
    ) -> None:
        self._reader = reader
        self._gate = gate
        self._hidden = hidden
        self._vectors = vectors
        self._settings = settings or TalkSettings()

    def view(self, agent: str, session: str = "") -> View | None:
        """Return a conversation as it stands now, the agent's newest where none is named.

        None where there is none. Raises BadArgument, UnreadableNote.
        """
        raise NotImplementedError

    def fold(self, view: View, window: Window, report: Report = silent) -> View:
        """Return the view with what is due folded into its summary, which is saved.

        The same view where nothing is due. Raises WriteConflict, WriteFailed.
        """
        raise NotImplementedError

    def heard(self, agent: str, session: str) -> None:
        """Say that a session has grown: its topics and summary follow in the background."""

    def close(self) -> None:
        """Finish what is being written and stop."""
