"""A summary that is written and not yet a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from vaultmind.consolidate.levels.file import Properties, lines_of, paragraphs_of
from vaultmind.consolidate.levels.sources import Given
from vaultmind.consolidate.levels.waiting import Summary
from vaultmind.consolidate.levels.wording import wording
from vaultmind.consolidate.levels.writer import Piece, Source, Told, unmark
from vaultmind.consolidate.types import Level, SummaryDone
from vaultmind.tokens import count
from vaultmind.vault.properties import front_matter

Outcome = Literal["written", "completed", "would be written", "unchanged"]
MOST_TRIES = 3
"""Times that models are asked for a summary; then that of the built-in writer is enough."""
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be written, of what, and where."""

    agent: str
    level: Level
    id: str
    path: str
    given: tuple[Given, ...]
    told: Told
    language: str
    notes: tuple[str, ...] = ()
    failed: int = 0
    """How often models had failed to write it before."""

    @property
    def tries(self) -> int:
        """Return how often models have failed to write it by now; none was asked: no try."""
        return self.failed + (self.told.again and not self.told.untried)

    @property
    def of(self) -> str:
        """Return what it is made of, in the plural."""
        return "sessions" if self.level == "L1" else "summaries"

    @property
    def days(self) -> tuple[str, ...]:
        """Return the ISO dates that it speaks of, in order."""
        return tuple(sorted({day for one in self.given for day in one.days}))

    @property
    def heading(self) -> str:
        """Return the heading of its file."""
        days = self.days or ("",)
        return wording(self.language).heading(self.level, days[0], days[-1])

    @property
    def used(self) -> tuple[tuple[str, str], ...]:
        """Return (id of the source, block) of all that it says something of."""
        return tuple(unmark(mark) for one in self.told.paragraphs for mark in one.sources)

    def lines(self) -> list[str]:
        """Return its paragraphs as they stand in the file."""
        paths = {one.source.id: one.path.removesuffix(".md") for one in self.given}
        return lines_of(self.told.paragraphs, paths)

    def properties(self, created: str, device: str) -> Properties:
        """Return its front matter."""
        return Properties(
            id=self.id,
            agent=self.agent,
            level=self.level,
            sources=tuple(one.path.removesuffix(".md") for one in self.given),
            created=created,
            token_count=count(self.told.text),
            by=self.told.by,
            language=self.language,
            device=device,
            pending=self.told.again and self.tries < MOST_TRIES,
            tries=self.tries,
        )

    def done(self, outcome: Outcome) -> SummaryDone:
        """Return what became of it."""
        return SummaryDone(
            agent=self.agent,
            level=self.level,
            id=self.id,
            path=self.path,
            sources=tuple(one.source.id for one in self.given),
            tokens=count(self.told.text),
            text=self.told.text,
            by=self.told.by,
            outcome=outcome,
            notes=(*self.told.notes, *self.notes),
        )

    def as_given(self) -> Given:
        """Return it as a source of the next level, for a run that writes nothing."""
        pieces = tuple(Piece("", one.text) for one in self.told.paragraphs)
        started = self.days[0] if self.days else ""
        return Given(Source(self.id, started, pieces), self.path, None, self.days)


def completed(agent: str, level: Level, one: Summary) -> SummaryDone:
    """Return what is said of a summary that stood there, and of which only marks were missing."""
    found = front_matter(one.text)
    by = found.properties.get("by") if found else None
    text = "\n\n".join(placed.text for placed in paragraphs_of(one.text))
    return SummaryDone(
        agent=agent,
        level=level,
        id=one.id,
        path=one.path,
        sources=one.file.sources,
        tokens=count(text),
        text=text,
        by=by if isinstance(by, str) else "",
        outcome="completed",
    )


def reading(read: Callable[[str, Key], Given], agent: str, key: Key) -> Callable[[], Given]:
    """Return what reads one source when it is asked."""
    return lambda: read(agent, key)
