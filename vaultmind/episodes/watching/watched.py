"""What following conversations works with: the recorder, and sources as they are watched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from vaultmind.episodes.types import Episode, Event, Result, TaskMark
from vaultmind.episodes.watching.commits import Looked, Position
from vaultmind.ports import Clock
from vaultmind.types import Caller

Stamps = Mapping[str, tuple[int, int]]
"""Of each file the time of its last change in nanoseconds, and its size."""


class Records(Protocol):
    """What is needed of the recorder."""

    def start(
        self, task: TaskMark, source: str, caller: Caller, *, session: str = "", client: str = ""
    ) -> Episode:
        """Begin an episode, or return the one that runs for this task."""
        ...

    def add(
        self, name_or_session: str, events: Sequence[Event], caller: Caller, source: str = ""
    ) -> Episode:
        """Write events into a running episode."""
        ...

    def end(self, name: str, outcome: Result, rationale: str, caller: Caller) -> Episode:
        """End an episode."""
        ...

    def running(self, agent: str, session: str = "", source: str = "") -> tuple[Episode, ...]:
        """Return an agent's running episodes, the newest first."""
        ...


class Watched(Protocol):
    """A source as it is watched."""

    @property
    def name(self) -> str:
        """Return its name."""
        ...

    def relative(self, path: Path) -> str:
        """Return a file's path in the source; empty for one that is not of it or not shown."""
        ...

    def stamps(self, *, now: bool) -> Stamps:
        """Return how its files are: as they are `now`, or as they were last looked at."""
        ...

    def position(self, when: float) -> Position:
        """Return where its repository stood then, if it has one: seconds since 1970."""
        ...

    def look(self, since: Position) -> Looked:
        """Return what moved in its repository."""
        ...


@dataclass(frozen=True, slots=True)
class Means:
    """What watching works with besides the recorder."""

    holding: Callable[[Path], Watched | None]
    """Returns the source that a path lies in, the innermost."""
    mark: Callable[[str, str], TaskMark]
    """Makes a task of a prompt over a source."""
    is_another: Callable[[Sequence[str], str, Collection[str]], bool]
    """Tells whether a prompt names another task than those before it, on other files."""
    names_nothing: Callable[[str], bool]
    clock: Clock
