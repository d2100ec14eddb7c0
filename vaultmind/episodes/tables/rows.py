"""What the tables of episodes answer. Frozen; times are ISO with their zone, as in the notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from vaultmind.episodes.types import Change, EventKind, Result, State


class Counters(NamedTuple):
    """How often what the tables answer became other, by what that was."""

    tasks: int
    """The task of an episode that is over."""
    uses: int
    """Anything of such an episode."""
    dropped: int
    """Such an episode is there no longer."""


@dataclass(frozen=True, slots=True)
class Row:
    """An episode without its events."""

    name: str
    """`agent/id`."""
    agent: str
    source: str
    session: str
    client: str
    device: str
    task: str
    kind: str
    fingerprint: str
    risk: str
    issues: tuple[str, ...]
    started: str
    ended: str
    state: State
    outcome: Result
    rationale: str
    token_budget: int
    token_used: int
    latency_ms: int
    events: int
    reads: int
    """Files."""
    edits: int
    """Files."""
    decisions: int


@dataclass(frozen=True, slots=True)
class TaskRow:
    """The task of an episode: what it is compared by."""

    episode: str
    """`agent/id`."""
    task: str
    kind: str
    fingerprint: str
    outcome: Result
    started: int
    """In seconds since 1970."""
    state: State = "ended"
    issues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskNews:
    """The tasks of a source that are new or other than they were, or all of them."""

    version: tuple[int, Counters]
    """As of when: what the tables' `version` was."""
    rows: tuple[TaskRow, ...]
    """Newest first."""
    gone: frozenset[str] = frozenset()
    """Episodes whose task is none of the source's, or none that is over."""
    is_whole: bool = True
    """All tasks of the source: there are no others."""


@dataclass(frozen=True, slots=True)
class TouchedFile:
    """What one episode did with a file."""

    path: str
    reads: int = 0
    edits: int = 0
    hits: int = 0
    """How often a search found it."""
    change: Change | Literal[""] = ""
    committed: bool = False
    causal: float = 0.0
    """How sure it is that this work changed it, from 0 to 1."""
    last_at: int = 0
    """In seconds since 1970."""


@dataclass(frozen=True, slots=True)
class AffinityRow:
    """What was done with a file for tasks of one fingerprint: the seed's `task_file_affinity`."""

    fingerprint: str
    path: str
    reads: int
    """Episodes that read it."""
    edits: int
    success_edits: int
    last_seen: int
    """In seconds since 1970."""
    weight: float
    """As of `last_seen`, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event, as far as figures are made of it."""

    kind: EventKind
    path: str
    change: Change | Literal[""]
    time: str


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision in the words in which it was given."""

    text: str
    block: str
    """Its line in the note: what is hidden is named by it."""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What there is to tell of an episode."""

    decisions: tuple[Decision, ...] = ()
    changed: tuple[tuple[str, Change], ...] = ()
    """Files, those that were changed last first."""
    rationale: str = ""
    """Why it came out as it did."""
    outcome: Result = "unknown"


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model of the registry: the seed's `model_registry`."""

    id: str
    kind: str
    version: str
    params_json: str
    created_at: int
    """In seconds since 1970."""
    active: bool = False


@dataclass(frozen=True, slots=True)
class Completeness:
    """How many ended episodes tell the whole chain: task, reads, edits or a decision, outcome."""

    complete: int
    ended: int
    """Those past their retention are not among them: what was read is gone from them."""
    without_task: int = 0
    without_reads: int = 0
    without_work: int = 0
    """No edit and no decision."""
    without_outcome: int = 0

    @property
    def share(self) -> float:
        """Return the share of whole chains, from 0 to 1; 0 where nothing has ended."""
        return self.complete / self.ended if self.ended else 0.0


@dataclass(frozen=True, slots=True)
class Stats:
    """How much the tables hold, for `status`."""

    episodes: int = 0
    running: int = 0
    ended: int = 0
    shrunk: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    """Of those that are not running."""
    events: int = 0
    links: int = 0
    offers: int = 0
    sources: Mapping[str, int] = field(default_factory=dict)
    """Episodes of each."""
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """Notes that could not be read, and why."""
    renewed: str = ""
    """Why the tables were made anew since the start; empty when they were not."""
    bytes: int = 0
