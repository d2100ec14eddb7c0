"""What falling asleep comes to: per session the facts and their fate, and the summaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from vaultmind.consolidate.facts.types import Category, Dropped
from vaultmind.ports import Clock, Embedder
from vaultmind.session.records.reading import Hides
from vaultmind.session.records.shelf import Head
from vaultmind.types import OutcomeName, Section
from vaultmind.vault.files import VaultReader

if TYPE_CHECKING:
    from vaultmind.memory.gate import Gate

Level = Literal["L1", "L2"]


@dataclass(frozen=True, slots=True)
class Resources:
    """What consolidation reads and writes with."""

    gate: Gate
    reader: VaultReader
    hides: Hides
    heads: Callable[[str], Sequence[Head]]
    """Returns the heads of an agent's sessions, oldest first."""
    clock: Clock
    device: str
    """Whose sessions are consolidated: each device its own."""
    embedder: Callable[[], Embedder | None] = lambda: None
    """Returns what embeds, after a short wait for one that is being loaded."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be consolidated, as asked for."""

    agent: str = ""
    """Whose sessions; empty: those of all agents."""
    session: str = ""
    """Only this one."""
    again: str = ""
    """A session's or summary's id that is done anew, e.g. `2026-02-20_001` or `L1_001`."""
    dry_run: bool = False
    """Nothing is written: the answer says what would be."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A fact that a conversation left, and what became of it."""

    category: Category
    fact: str
    evidence: tuple[str, ...]
    """Ids of the messages that say it."""
    replaces: str = ""
    outcome: OutcomeName = "unchanged"
    """What the gate made of it; in a dry run what it would."""
    reason: str = ""
    section: Section | None = None
    block: str = ""
    archived: int = 0
    """Older facts that moved to the archive to make room for it."""


@dataclass(frozen=True, slots=True)
class SessionDone:
    """What one session left."""

    agent: str
    session: str
    facts: tuple[Settled, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    summary: str = ""
    """Three to five sentences."""
    by: str = "extractive"
    """The engine: `extractive`, or a model's id."""
    pending: bool = False
    """Whether it stays marked: a model should have done it, or a step failed."""
    notes: tuple[str, ...] = ()
    """What went wrong, in words."""


@dataclass(frozen=True, slots=True)
class SummaryDone:
    """A summary of several sessions (L1) or of several summaries (L2)."""

    agent: str
    level: Level
    id: str
    """`L1_001`."""
    path: str
    sources: tuple[str, ...]
    """Ids of what it sums up."""
    tokens: int
    text: str
    by: str = "extractive"
    outcome: Literal["written", "completed", "would be written", "unchanged"] = "written"
    """`completed`: it was there, and only its sources' marks were missing."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What one run came to."""

    sessions: tuple[SessionDone, ...] = ()
    summaries: tuple[SummaryDone, ...] = ()
    notes: tuple[str, ...] = ()
    """What was left out and why, in words: another device's sessions, a damaged file, ..."""
