"""The time that a query names, and how near to it a chunk is: by its own time and by its words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache

from vaultmind.index.terms import fold
from vaultmind.index.when import Span, bounds, closeness, mentioned, spans

INSIDE = 0.25
"""From here on a chunk counts as of the time that is named: within twice half its length around
it. Who tells of a day mostly does so a little later."""
MAX_LETTERS = 1_200
"""Of a text, in which times are looked for."""

Near = Callable[[str, str, str], float]
"""How near a chunk is to the time: from its own time (ISO, or empty), its text, its language."""


@dataclass(frozen=True, slots=True)
class Named:
    """The times that a query names."""

    spans: tuple[Span, ...]
    near: Near = field(compare=False)

    @property
    def explicit(self) -> bool:
        """Tell whether nothing about them was guessed: then they may filter."""
        return all(span.explicit for span in self.spans)

    @property
    def words(self) -> frozenset[str]:
        """Return the words, folded, that name them: they say when, not what."""
        return frozenset(word for span in self.spans for word in fold(span.text).split())

    @property
    def days(self) -> tuple[str, str]:
        """Return the first and the last day of the explicit ones, ISO; empty: open on that side."""
        after, before = bounds(self.spans)
        last = before - timedelta(microseconds=1) if before else None
        return (
            after.date().isoformat() if after else "",
            last.date().isoformat() if last else "",
        )


def named(query: str, language: str, now: datetime) -> Named | None:
    """Return the times of a query; None where it names none. `now`: what they are counted from."""
    found = spans(query, language, now)
    return Named(found, _near(found, now)) if found else None


def _near(found: tuple[Span, ...], now: datetime) -> Near:
    @cache
    def own(time: str) -> float:
        moment = _moment(time, now)
        return max(closeness(span, moment) for span in found) if moment else 0.0

    def near(time: str, text: str, language: str) -> float:
        best = own(time)
        if best == 1.0:
            return best
        said = _moment(time, now)
        told = mentioned(text[:MAX_LETTERS], language, said or now)
        return max([best, *(_overlap(span, one) for span in found for one in told
                            if said or one.explicit)])  # fmt: skip

    return near


def _overlap(span: Span, told: Span) -> float:
    """Return how near a time that a text tells of is to the one that is asked for."""
    at = told.start or told.end
    return closeness(span, at) if at else 0.0


def _moment(time: str, now: datetime) -> datetime | None:
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)
