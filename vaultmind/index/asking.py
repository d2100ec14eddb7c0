"""What a text's own words say of it: whether it asks, speaks of oneself, names a time or a number;
and the time that a query names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from vaultmind.index.when import closeness, spans
from vaultmind.index.when_rules import Span
from vaultmind.index.words.stopwords import LISTS
from vaultmind.index.words.terms import fold, words

HAS_QUESTION, ENDS_ASKING, FIRST_PERSON, NAMES_TIME, HAS_DIGITS = 1, 2, 4, 8, 16
"""Bits of `chunks.flags`."""
MARGIN = timedelta(days=2)
"""How far from the time that is named a chunk still counts as of it: who tells of a day mostly does
so a little later."""
NOON = timedelta(hours=12)
"""A day without an hour stands at its middle, so that the day after is not the moment after."""
_READ, _BEGINNING = 600, 200
"""Characters of a query or a text that are looked at."""

_TIME_WORDS = frozenset(LISTS["asking"]["times"].split())
"""Words, folded, of a text that says when something happens."""
_SELF_WORDS = frozenset(LISTS["asking"]["self"].split())
IDLE_WORDS = frozenset(map(fold, LISTS["asking"]["idle"].split()))
"""Words, folded, that ask what there was and say nothing of what about."""
_SAID = re.compile(r"[^\s.,;:!?()\[\]{}<>\"'’‘“”„«»…*_#|/\\\-–—=+`~¿¡]+")
_DIGITS = re.compile(r"\d")


def flags_of(text: str) -> int:
    """Return the bits of what a chunk's own words say."""
    said = _SAID.findall(fold(text[:_READ]))
    told = (
        "?" in text,
        text.rstrip().endswith("?"),
        not _SELF_WORDS.isdisjoint(text[:_BEGINNING].lower().split()),
        not _TIME_WORDS.isdisjoint(said),
        _DIGITS.search(text) is not None,
    )
    return sum(bit << at for at, bit in enumerate(told))


def asks_when(query: str) -> bool:
    """Tell whether a query asks for a time, as far as its own words say."""
    said = words(query[:_READ])
    joined = f" {' '.join(said)} "
    cues = [LISTS["asking"][name].split("|") for name in ("when", "other")]
    for at, (_, *phrases) in enumerate(cues):
        if any(f" {phrase.strip()} " in joined for phrase in phrases):
            return at == 0
    when, other = (set(alone.split()) for alone, *_ in cues)
    return next((word in when for word in said if word in when | other), False)


@dataclass(frozen=True, slots=True)
class NamedTime:
    """The times that a query names."""

    spans: tuple[Span, ...]
    now: datetime

    def near(self, time: str) -> float:
        """Return how near the time of a chunk is (ISO, or empty)."""
        try:
            moment = datetime.fromisoformat(time)
        except ValueError:
            return 0.0
        if len(time) == len("2026-02-08"):
            moment += NOON
        moment = moment.replace(tzinfo=self.now.tzinfo)  # the day it was there, as filters have it
        return max(closeness(span, moment) for span in self.spans)

    @property
    def explicit(self) -> bool:
        """Tell whether nothing about them was guessed: then they may filter."""
        return all(span.explicit for span in self.spans)

    @property
    def inside(self) -> float:
        """Return how near a chunk must be to count as of that time."""
        edges = [(span, span.end, MARGIN) for span in self.spans if span.end]
        edges += [(span, span.start, -MARGIN) for span in self.spans if span.start]
        return min(closeness(span, edge + margin) for span, edge, margin in edges)

    @property
    def words(self) -> frozenset[str]:
        """Return the words, folded, that name them: they say when, not what."""
        return frozenset(word for span in self.spans for word in fold(span.text).split())

    @property
    def days(self) -> tuple[str, str]:
        """Return the first and the last day of all of them, ISO; both empty where one is open."""
        starts = [span.start for span in self.spans if span.start]
        ends = [span.end for span in self.spans if span.end]
        if len(starts) < len(self.spans) or len(ends) < len(self.spans):
            return "", ""
        last = max(ends) - timedelta(microseconds=1)
        return min(starts).date().isoformat(), last.date().isoformat()


def named_time(query: str, language: str, now: datetime) -> NamedTime | None:
    """Return the times of a query; None where it names none. `now`: what they are counted from."""
    found = spans(query, language, now)
    return NamedTime(found, now) if found else None
