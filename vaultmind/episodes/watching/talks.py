"""Conversations as they are held in memory: what was asked in each, and what it works on.

A prompt is a task's words before any note has them. What is forgotten or erased goes from here as
it goes from the notes: else the next episode of the conversation would say it again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from vaultmind.episodes.watching.commits import Position
from vaultmind.episodes.watching.watched import Stamps, Watched
from vaultmind.types import Caller

MAX_IDS = 2000
"""Uses of one conversation that are known by their ids."""


@dataclass(slots=True)
class Work:
    """What a conversation does in one source."""

    place: Watched
    due: datetime | None
    """When the turn began, while it is not looked at how the source stood then."""
    position: Position = Position()  # noqa: RUF009 - frozen
    before: Stamps = field(default_factory=dict)
    since_ns: int = 0
    """When the turn began, once that was looked at."""
    asked: list[str] = field(default_factory=list)
    """The prompts of its task."""
    episode: str = ""
    closed: bool = False
    """It was ended by somebody else: nothing begins before the next prompt."""
    active: bool = False
    """Whether a tool was used on it in this turn."""
    foreign: set[str] = field(default_factory=set)
    """Files that others changed in this turn, as far as the repository says so."""

    def begins(self, when: datetime) -> None:
        """Begin a turn."""
        self.due, self.active, self.closed, self.foreign = when, False, False, set()


@dataclass(slots=True)
class Talk:
    """A host's conversation with an agent."""

    caller: Caller
    session: str
    prompt: str = ""
    """The last that names something."""
    is_silent: bool = False
    """What was asked last is not to be said any more: its transcript is not asked for it."""
    works: dict[str, Work] = field(default_factory=dict)
    ids: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_IDS))

    def let_go(self, left: Callable[[str], str]) -> None:
        """Put in the place of each prompt what is left of it; of nothing there is no task."""
        if self.prompt and not (kept := left(self.prompt)):
            self.is_silent = True
            self.prompt = ""
        elif self.prompt:
            self.prompt = kept
        for work in self.works.values():
            work.asked = [*filter(None, map(left, work.asked))]
