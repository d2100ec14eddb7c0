"""What a plan is asked with, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from vaultmind.episodes.types import Offer, Result
from vaultmind.types import Freshness, Reason

TaskKind = Literal["bugfix", "feature", "refactor", "incident", "research", "writing", "unknown"]
TASK_KINDS: tuple[TaskKind, ...] = get_args(TaskKind)
Risk = Literal["low", "medium", "high"]
Mode = Literal["off", "fast", "full"]
Detail = Literal["compact", "normal", "verbose"]
Layer = Literal["L0", "L1", "L2", "L3", "L4", "L5", "L6"]
CacheStatus = Literal["hit", "partial", "rebuilt"]
Standing = Literal["fresh", "stale", "dirty"]
Shape = Literal["note", "code", "text", "data"]
"""`data`: configuration, manifests, lock files; `text`: whatever else can be read."""


@dataclass(frozen=True, slots=True)
class Part:
    """A definition of code, or a heading of a note with what stands below it."""

    name: str
    """Qualified within its file: `Gate.write`. Of a heading its text."""
    kind: str
    """class, function, method, constant, type, interface, enum, module; `h1` to `h6`."""
    line: int
    """Lines count from 1, here and below."""
    last_line: int
    signature: str = ""
    """On one line, without the body."""
    summary: str = ""
    """The first line of its doc comment."""
    public: bool = True

    @property
    def level(self) -> int:
        """Return the level of a heading; 0 for a definition."""
        return int(self.kind[1]) if self.kind[1:].isdecimal() else 0


@dataclass(frozen=True, slots=True)
class Link:
    """What a file says of another: a wikilink's target, an imported module."""

    kind: Literal["link", "embed", "import"]
    name: str
    """As it is written: `Projects/Shop`, `vaultmind.index.search`, `./cart`."""
    names: tuple[str, ...] = ()
    """What is taken from it: `from x import a, b`."""


@dataclass(frozen=True, slots=True)
class Task:
    """A tick box of a note, or a TODO of code."""

    text: str
    done: bool = False


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What one file holds."""

    path: str
    """Relative to its source."""
    sha: str
    shape: Shape
    language: str
    """Of code `python`, `typescript`, …; of prose `en`, `pl`, …; empty where not known."""
    title: str
    tokens: int
    """Of the whole file."""
    abstract: str = ""
    """The first paragraph, or the module's doc comment, on one line and clipped."""
    entry: bool = False
    """Where one begins to read: a README, an index note, `__main__.py`."""
    test: bool = False
    parts: tuple[Part, ...] = ()
    """In the order of the file."""
    links: tuple[Link, ...] = ()
    uses: tuple[str, ...] = ()
    """Names that code mentions, most frequent first, where its language finds files by them."""
    properties: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ()
    fault: str = ""
    """Why less is known than could be: `no grammar for kotlin`, `2.1 MB is over the limit`."""

    @property
    def definitions(self) -> tuple[Part, ...]:
        """Return the parts of a file of code."""
        return self.parts if self.shape == "code" else ()


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A task to be planned for. The names are those of the seed's contract."""

    project_root: str
    """Name or root of the vault or of a linked source."""
    task: str
    query_type: TaskKind | Literal[""] = ""
    """Empty: told by the task's words."""
    token_budget: int = 3000
    latency_budget_ms: int = 500
    ml_mode: Mode = "off"
    detail: Detail = "compact"
    strict: bool = True
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class Understood:
    """What a task is about."""

    predicted: TaskKind
    confidence: float
    """From 0 to 1."""
    task_fingerprint: str
    """Of the normalised task, the source and the intent: equal for equal tasks, everywhere."""
    risk: Risk = "low"
    language: str = ""
    terms: frozenset[str] = frozenset()
    """A root for each telling word."""
    paths: tuple[str, ...] = ()
    """Files that it names."""
    identifiers: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    """`#1234`, `PROJ-77`, a commit."""
    reasons: tuple[str, ...] = ()
    """In words: why this intent, why this risk."""

    @property
    def names(self) -> frozenset[str]:
        """Return what it names, paths by their last part."""
        paths = (path.rsplit("/", 1)[-1].casefold() for path in self.paths)
        return frozenset((*paths, *self.identifiers, *self.references))


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file that may stand in the context."""

    path: str
    part: str
    """`outline`, an anchor (`#Heading`, `^block`), a definition's name; empty: the whole file."""
    first_line: int
    last_line: int
    text: str
    tokens: int
    layer: Layer
    relevance: float = 0.0
    """From 0 to 1."""
    freshness: Freshness = "FRESH"
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that is not in the context."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class BudgetReport:
    """What a plan may take and takes."""

    token_budget: int
    estimated_used: int
    efficiency_score: float
    """Value of what was chosen as a share of what the same tokens could hold at best, 0 to 1."""


@dataclass(frozen=True, slots=True)
class PlannedContext:
    """What is to be read."""

    layers: tuple[Layer, ...]
    files: tuple[str, ...]
    """Best first."""
    text: str
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class EarlierWork:
    """An episode whose task was like this one, as a plan tells of it."""

    episode: str
    """`agent/id`."""
    when: str
    """The day it began."""
    outcome: Result
    likeness: float
    """How alike the tasks are, from 0 to 1."""
    changed: tuple[str, ...] = ()
    text: str = ""
    """What stands of it in the context."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A context for a task, and why it is what it is."""

    cache_status: CacheStatus
    freshness: Standing
    intent: Understood
    budget_report: BudgetReport
    context: PlannedContext
    decision_trace: tuple[str, ...]
    dropped_candidates: tuple[Dropped, ...]
    notes: tuple[str, ...] = ()
    """What is missing, in words: no vectors, still indexing, the model was too slow."""
    took_ms: float = 0.0
    rerank: Literal["none", "used", "fallback"] = "none"
    """Whether a model had a say in the order: it was not to, it had, it was to and could not."""
    model: str = ""
    """Id of that model."""
    earlier: tuple[EarlierWork, ...] = ()
    """What was done for tasks like this, likest first; it stands first in the context's text."""
    offer: Offer | None = None
    """What was offered, as it is kept beside an episode's note for training."""
