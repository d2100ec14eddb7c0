"""What consolidation works with and comes to: facts with their evidence, summaries, answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from vaultmind.ports import Clock
from vaultmind.session.files import Head, Hides
from vaultmind.tables import table
from vaultmind.types import Caller, OutcomeName, Section
from vaultmind.vault.files import VaultReader

if TYPE_CHECKING:
    from vaultmind.memory.gate import Gate

WORDS: dict[str, Any] = table(__file__)
"""What is said, and looked for, in words."""
Level = Literal["L1", "L2"]
Category = Literal["CORE", "PREFERENCE", "DECISION", "PROJECT", "UPDATE", "DELETE", "SKIP"]

UNCLEAR = "unclear"
"""What is pending where a session was consolidated, and left something to a better reader."""
SECTION_OF: dict[Category, Section] = {
    "CORE": "user",
    "PREFERENCE": "preferences",
    "DECISION": "decisions",
    "PROJECT": "current",
}
"""Where a fact of a category belongs in a brain. An UPDATE stays where the old fact stood."""

MEANS: dict[str, str] = WORDS["reasons"]
"""Why a fact was dropped, in a word under which dropped facts are counted, and what that means."""
Reason = str


def any_of(name: str) -> str:
    """Return a pattern of everything in a list of patterns."""
    return "|".join(WORDS["patterns"][name].split("\n"))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that a conversation may leave in memory, by whomever it was found."""

    category: Category
    text: str
    """A short statement in the person's language; for DELETE the fact or topic to forget."""
    evidence: tuple[str, ...]
    """Keys of the messages that say it: each message's id, or its block where it has none."""
    weight: float = 0.0
    """Importance from 0 to 5: asked for and corrections 5, personal 4, decisions 3."""
    section: Section | None = None
    replaces: str = ""
    """For UPDATE: the words of the fact whose place it takes."""
    block: str = ""
    """The block id of the fact that an UPDATE replaces or a DELETE forgets, if it has one."""
    asked: bool = False
    """Whether the person asked in words to have it kept, corrected or forgotten."""
    doubt: str = ""
    """Why it should be put before the person instead of being written, in words; empty: no doubt.
    A later message of the talk seems to touch it, and no rule can tell how; or rules and a model
    differ."""
    quote: str = ""
    """The person's words that an agent quotes for what it reports."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A fact that was not kept, and why."""

    text: str
    reason: Reason
    evidence: tuple[str, ...] = ()
    category: Category = "SKIP"


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a conversation leaves behind. `facts` stand in the order of their importance."""

    facts: tuple[Candidate, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    summary: str = ""
    """Three to five sentences, each of which the conversation says; empty after small talk."""
    by: str = "extractive"
    """Who found the facts: a model's id, or `extractive`."""
    again: bool = False
    """Whether a model should have done it and may another time."""
    unasked: bool = False
    """Whether none was asked, for the day's seconds were used up or it crashed: no try was made."""
    notes: tuple[str, ...] = ()
    """What went wrong, in words."""


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


@dataclass(frozen=True, slots=True)
class Work:
    """A session that is brought into memory, in whose name, and how."""

    by: Resources
    agent: str
    session: str
    caller: Caller
    check: Callable[[], object] = lambda: None
    """Is called between two steps: it may raise to stop there."""
    dry_run: bool = False

    @property
    def path(self) -> str:
        """Return the session's file."""
        return self.by.reader.paths.session(self.agent, self.session)


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be consolidated, as asked for."""

    agent: str = ""
    """Whose sessions; empty: those of all agents."""
    session: str = ""
    """Only this one."""
    again: str = ""
    """A session that is done anew."""
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
    outcome: OutcomeName | Literal["dropped"] = "dropped"
    """What the gate made of it; in a dry run what it would."""
    reason: str = ""


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
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Consolidated:
    """What one run came to so far."""

    sessions: list[SessionDone] = field(default_factory=list)
    summaries: list[SummaryDone] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was left out and why, in words: another device's sessions, a damaged file, ..."""


class CutOff(Exception):  # no fault: it is begun again another time
    """The work is to stop between two steps."""
