"""The first and last day that a filter means, written as a date or in words of time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta

from vaultmind.errors import BadArgument
from vaultmind.index.when import Span, spans

ALLOWED = "a date such as 2026-02-20, or words of time ('last week', 'w lutym', 'март 2025')"
LEADS = {
    "en": ("on", "in"), "pl": ("w", "we"), "ru": ("в", "во"), "de": ("am", "im"),
    "es": ("en", "el"), "fr": ("en", "au", "le"),
}  # fmt: skip
"""What stands before a bare "Monday", "2025" or "maj" in a sentence, and may be left out here."""
SMALL = 3
"""Letters of a word that says no time and is no fault: "from", "z", "до", the article."""
MOST = 60
"""Characters of such words; nobody says a day in more."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.+\-Z]+)?")
_WORD = re.compile(r"[^\W_]+")


def first_day(name: str, text: str, now: datetime) -> str:
    """Return the day that "after" begins with, as ISO: the first of what is meant.

    Raises BadArgument for what is no time, or has no beginning ("before Christmas").
    """
    span = _meant(name, text, now)
    if isinstance(span, date):
        return span.isoformat()
    if span.start is None:
        raise BadArgument(name, text, f"a time with a beginning; {ALLOWED}")
    return span.start.date().isoformat()


def last_day(name: str, text: str, now: datetime) -> str:
    """Return the day that "before" ends with, as ISO: the last of what is meant.

    Raises BadArgument for what is no time, or has no end ("since March").
    """
    span = _meant(name, text, now)
    if isinstance(span, date):
        return span.isoformat()
    if span.end is None:
        raise BadArgument(name, text, f"a time with an end; {ALLOWED}")
    return (span.end - timedelta(microseconds=1)).date().isoformat()


def _meant(name: str, text: str, now: datetime) -> date | Span:
    said = " ".join(text.split())
    if _DATE.fullmatch(said):
        try:
            return date.fromisoformat(said[:10])
        except ValueError:
            raise BadArgument(name, text, ALLOWED) from None
    if len(said) <= MOST:
        for found in _readings(said, now):
            if len(found) == 1 and _is_all(found[0], said):
                return found[0]
    raise BadArgument(name, text, ALLOWED)


def _readings(said: str, now: datetime) -> Iterator[tuple[Span, ...]]:
    """Yield the times in some words: as they are, then with what a sentence has before them."""
    yield spans(said, "", now)
    for language, leads in LEADS.items():
        yield spans(said, language, now)
        for lead in leads:
            yield spans(f"{lead} {said}", language, now)


def _is_all(span: Span, said: str) -> bool:
    """Tell whether some words say a time and nothing else."""
    own = {word.casefold() for word in _WORD.findall(span.text)}
    return all(len(word) <= SMALL or word.casefold() in own for word in _WORD.findall(said))
