"""What the functions on episodes work with, once it is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from vaultmind.episodes.types import Change, Result
from vaultmind.planner.types import TaskKind
from vaultmind.serve.op import MAX_ID, MAX_PATH, MAX_TEXT, Arg

MAX_BUDGET = 100_000
MAX_EVENTS = 500
"""Events of one call."""
MAX_NOTE = 4000
"""Characters of why it came out as it did."""
Told = Literal["read", "edit", "hit", "delta", "decision", "commit", "run"]
"""What a caller may tell of; `plan` and `feedback` are written by who makes them."""


@dataclass(frozen=True, slots=True)
class Happened:
    """One thing that was done, as it is told."""

    kind: Annotated[Told, Arg()]
    path: Annotated[str, Arg("Of a file, relative to the source.", max=MAX_PATH)] = ""
    text: Annotated[str, Arg("A decision and why; a command; a query.", max=MAX_TEXT)] = ""
    symbol: Annotated[str, Arg("A definition or a heading.", max=MAX_TEXT)] = ""
    change: Annotated[Change | None, Arg("What became of the file.")] = None
    commit: Annotated[str, Arg("Its id.", max=MAX_ID)] = ""
    ok: Annotated[bool | None, Arg("Of a run: whether it went well.")] = None
    tokens: Annotated[int, Arg("Of what was read.", min=0, max=10_000_000)] = 0
    time: Annotated[str, Arg("ISO 8601; default: now.", day=True)] = ""


@dataclass(frozen=True, slots=True)
class StartArgs:
    """A task that begins."""

    task: str
    project_root: str = ""
    query_type: TaskKind | None = None
    token_budget: int = 0
    session_id: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """What names an episode."""

    episode: str = ""
    session_id: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class EventArgs(Named):
    """What was done."""

    events: tuple[Happened, ...] = ()


@dataclass(frozen=True, slots=True)
class EndArgs(Named):
    """What came of it."""

    outcome: Result = "unknown"
    note: str = ""


@dataclass(frozen=True, slots=True)
class FeedbackArgs(EndArgs):
    """What came of it, said later."""


@dataclass(frozen=True, slots=True)
class EpisodeArgs:
    """One of the four, as an agent's tool asks."""

    action: Literal["start", "event", "end", "feedback"]
    task: str = ""
    project_root: str = ""
    session_id: str = ""
    episode: str = ""
    events: tuple[str, ...] = ()
    outcome: Result | None = None
    note: str = ""
    hits: tuple[str, ...] = ()
