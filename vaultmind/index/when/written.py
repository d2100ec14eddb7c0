"""Full dates in words that the rules do not know, read by dateparser: "3 de maio de 2023".

dateparser knows some two hundred languages, but it takes "we" for Wednesday and milliseconds for
a phrase, so it sees nothing but a number, a few words and a year, in a language it is told.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from functools import lru_cache

from vaultmind.heavy import importing

MAX_TRIED = 4
"""Phrases of one text that are tried."""
_LETTERS = r"[^\W\d_]{2,14}\.?"
_WRITTEN = re.compile(
    rf"(?<![\w.,:/-])(?:\d{{1,2}}(?:\.|\s?[^\W\d_]{{1,2}}|º|ª)?\s+(?:(?:de|di|do|of|den|van)\s+)?{_LETTERS}"
    rf"|{_LETTERS}\s+\d{{1,2}}(?:\.|st|nd|rd|th)?)[,.]?\s+(?:(?:de|del|di|do|of|r\.)\s+)?(?:19|20)\d\d(?![\w%])",
    re.IGNORECASE,
)


def dates(
    text: str, language: str, base: date, taken: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, date]]:
    """Yield (start, end, day) of the full dates of a text in a language, but for those taken."""
    if not language:
        return
    for number, match in enumerate(_WRITTEN.finditer(text)):
        if number == MAX_TRIED:
            return
        if any(match.start() < end and start < match.end() for start, end in taken):
            continue
        found = _read(" ".join(match[0].split()), language)
        if found is not None and found.year <= base.year + 100:
            yield match.start(), match.end(), found


@lru_cache(maxsize=1024)
def _read(phrase: str, language: str) -> date | None:
    """Return the date that dateparser reads in a phrase that has day, month and year.

    All three must be there, so the day it is read on does not matter.
    """
    with importing(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import dateparser
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = dateparser.parse(
                phrase,
                languages=[language],
                settings={
                    "RELATIVE_BASE": datetime.combine(date(2000, 1, 1), time()),
                    "STRICT_PARSING": True,
                    "REQUIRE_PARTS": ["day", "month", "year"],
                    "PARSERS": ["absolute-time"],
                },
            )
    except ValueError:  # a language that it does not know
        return None
    return found.date() if found else None
