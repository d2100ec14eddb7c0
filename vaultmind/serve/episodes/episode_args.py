"""What the operations on episodes take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vaultmind.episodes.types import Change, Result
from vaultmind.planner.types import TaskKind
from vaultmind.serve.calls.requests import MAX_ID, MAX_TEXT
from vaultmind.serve.calls.schema import arg

MAX_TASK, MAX_ROOT = 50_000, 4096
MAX_BUDGET = 100_000
MAX_EVENTS = 500
"""Events of one call."""
MAX_NOTE = 4000
"""Characters of why it came out as it did."""
Told = Literal["read", "edit", "hit", "delta", "decision", "commit", "run"]
"""What a caller may tell of; `plan` and `feedback` are written by who makes them."""
_EPISODE = "Its name; default: the running one."


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """One thing that was done, as it is told."""

    kind: Told = arg("")  # noqa: RUF009
    path: str = arg("Of a file, relative to the source.", default="", max=MAX_ROOT)
    text: str = arg("A decision and why; a command; a query.", default="", max=MAX_TEXT)
    symbol: str = arg("A definition or a heading.", default="", max=MAX_TEXT)
    change: Change | None = arg("What became of the file.", default=None)  # noqa: RUF009
    commit: str = arg("Its id.", default="", max=MAX_ID)
    ok: bool | None = arg("Of a run: whether it went well.", default=None)
    tokens: int = arg("Of what was read.", default=0, min=0, max=10_000_000)
    time: str = arg("ISO 8601; default: now.", default="", format="date")


@dataclass(frozen=True, slots=True, kw_only=True)
class StartArgs:
    """Arguments of episode_start."""

    task: str = arg("What is to be done, in full.", min=1, max=MAX_TASK, loose=True)
    project_root: str = arg("The vault (default), or a linked folder.", default="", max=MAX_ROOT)
    query_type: TaskKind | None = arg("", default=None)  # noqa: RUF009
    token_budget: int = arg("", default=0, min=0, max=MAX_BUDGET)
    session_id: str = arg("The host's conversation.", default="", max=MAX_ID)
    agent: str = arg("", default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What names an episode."""

    episode: str = arg(_EPISODE, default="", max=MAX_ID)
    session_id: str = arg("The host's conversation.", default="", max=MAX_ID)
    agent: str = arg("", default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventArgs(Named):
    """Arguments of episode_event."""

    events: tuple[Happened, ...] = arg("In order.", max=MAX_EVENTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndArgs(Named):
    """Arguments of episode_end."""

    outcome: Result = arg("What came of it.", default="unknown")  # noqa: RUF009
    note: str = arg("Why.", default="", max=MAX_NOTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackArgs(Named):
    """Arguments of feedback."""

    outcome: Result = arg("What came of it.")  # noqa: RUF009
    note: str = arg("Why.", default="", max=MAX_NOTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeArgs:
    """Arguments of episode, the one tool for all of it."""

    action: Literal["start", "event", "end", "feedback"] = arg("")
    task: str = arg("", default="", max=MAX_TASK, loose=True)
    project_root: str = arg("", default="", max=MAX_ROOT)
    session_id: str = arg("", default="", max=MAX_ID)
    episode: str = arg("Default: the running one.", default="", max=MAX_ID)
    events: tuple[str, ...] = arg(
        "`read PATH`, `edit PATH`, `decision WHAT, WHY`, `run COMMAND ok` or `failed`, "
        "`commit ID`.",
        default=(),
        max=MAX_EVENTS,
    )
    outcome: Result | None = arg("", default=None)  # noqa: RUF009
    note: str = arg("Why.", default="", max=MAX_NOTE)
    hits: tuple[str, ...] = arg("`useful ID`, `wrong ID`.", default=(), max=100)
