"""Episodes: what an agent did for a task. Frozen; times are ISO with their zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Result = Literal["success", "partial", "failed", "unknown"]
"""What came of an episode. It is stated by somebody or `unknown`: silence is no success."""
RESULTS: tuple[Result, ...] = get_args(Result)
EventKind = Literal["read", "edit", "hit", "delta", "decision", "feedback", "plan", "commit", "run"]
"""`hit`: found by a search; `delta`: changed, and only seen by comparing; `plan`: what a plan
offered; `run`: a command (of tests, say) and whether it went well."""
TASK = "task"
"""Block id of the paragraph about the task."""
Change = Literal["added", "modified", "removed"]
CHANGING = frozenset(("edit", "delta", "commit"))
"""Kinds of events that say that a file was changed."""
How = Literal["hook", "reported", "git", "files", "person", "plan"]
"""Who says so: the host's hook, the agent, git, a comparison of files, the person, our plan."""
State = Literal["running", "ended", "shrunk"]
STATES: tuple[State, ...] = get_args(State)
"""`shrunk`: past its retention, nothing but outcome and links is left."""


@dataclass(frozen=True, slots=True)
class TaskMark:
    """A task as it is compared with others. From `planner.intent.understand`, which is pure."""

    text: str
    """Masked, on one line."""
    kind: str = "unknown"
    """A `TaskKind`: the seed's query_type."""
    fingerprint: str = ""
    risk: str = "low"
    issues: tuple[str, ...] = ()
    """What the task refers to: `#12`, `PROJ-77`."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that was done in an episode."""

    kind: EventKind
    time: str = ""
    path: str = ""
    """Relative to the episode's source."""
    symbol: str = ""
    """A definition or a section."""
    text: str = ""
    """A decision's words, a search's query, a commit's first line; masked, on one line."""
    change: Change | Literal[""] = ""
    commit: str = ""
    tokens: int = 0
    """Of what was read or offered."""
    ok: bool | None = None
    """Of a run: whether it went well."""
    how: How = "reported"
    outcome: Result | Literal[""] = ""
    """Of feedback: what came of the episode; `text` says why."""
    block: str = ""
    """The id of its line in the note: `e12`."""

    @property
    def changes(self) -> bool:
        """Tell whether it says that its file was changed."""
        return bool(self.path) and self.kind in CHANGING


@dataclass(frozen=True, slots=True)
class CausalLink:
    """Why a file was changed, as far as somebody said so. None is inferred."""

    episode: str
    """`agent/id`."""
    path: str
    change: Change
    issue: str = ""
    commit: str = ""
    rationale: str = ""
    time: str = ""
    block: str = ""
    """The line of the note that says the rationale: what is hidden is named by it."""
    confidence: float = 0.0
    """From 0 to 1: by how many independent statements the change is told."""


@dataclass(frozen=True, slots=True)
class Episode:
    """What an agent did for a task, in one source."""

    id: str
    """`2026-11-22_001`, its file's stem."""
    agent: str
    source: str
    """The vault's or a linked folder's name."""
    task: TaskMark
    started: str
    session: str = ""
    """The host's conversation."""
    client: str = ""
    device: str = ""
    state: State = "running"
    ended: str = ""
    outcome: Result = "unknown"
    rationale: str = ""
    """Why it came out as it did, in the words in which it was given."""
    events: tuple[Event, ...] = ()
    why_block: str = ""
    """Block id of the event that says the rationale."""
    flaw: str = ""
    """What its note's front matter lacks: it is read as far as it goes, and never shrunk."""

    @property
    def name(self) -> str:
        """Return what an episode is called across agents: `agent/id`."""
        return f"{self.agent}/{self.id}"


@dataclass(frozen=True, slots=True)
class Offer:
    """What one plan offered, kept beside the note for training."""

    fingerprint: str
    time: str
    weights: str
    """The name of the weights that ranked."""
    files: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The features of the best candidates, best first."""
    chosen: tuple[str, ...] = ()
    """Which of them stood in the context."""
    tokens: int = 0
    whole_tokens: int = 0
    """What the files of which a part stood in the context would have taken, read whole."""
    took_ms: float = 0.0
    rerank: str = "none"
    """What a model had to say: `none` was asked, it was `used`, or it gave nothing: `fallback`."""
