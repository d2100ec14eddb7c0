"""What was made of a conversation, and by whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vaultmind.consolidate.types import Extraction
from vaultmind.types import Fact, Message


@dataclass(frozen=True, slots=True)
class Understood:
    """The facts of a conversation and its summary."""

    extraction: Extraction
    summary: str = ""
    """Three to five sentences, each of which the conversation says; empty after small talk."""
    by: str = "extractive"
    """Who found the facts: a model's id, or `extractive`."""
    again: bool = False
    """Whether a model should have done it and may another time."""
    capped: bool = False
    """Whether no model was asked because the day's seconds were used up: no try was made."""
    resting: bool = False
    """Whether a model was not asked because it crashed a while ago: no try was made either."""
    notes: tuple[str, ...] = ()
    """What went wrong, in words."""


class FactFinder(Protocol):
    """Finds the facts of a conversation without a model: `facts.extract`, made ready to be used."""

    def __call__(
        self, messages: Sequence[Message], brain: Sequence[Fact], *, max_facts: int
    ) -> Extraction:
        """Return what a conversation leaves behind; `brain` is what is known already."""
        ...
