"""Relative dates in what is to be kept: "tomorrow" says nothing next month, "2026-11-24" does."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from vaultmind.index.when.finding import mentioned, spans
from vaultmind.index.when.span import DAY, Span

LATER = timedelta(weeks=52)
"""Said by so much later, a relative date means another day."""
WEEK = timedelta(weeks=1)
"""Of what is only guessed ("three years ago") no longer stretch is told."""
_NOTED = re.compile(r"\s*\(")
_DATED = re.compile(r"(?<!\S)\S+( \(\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\))")


def with_dates(text: str, said: datetime) -> str:
    """Return a text with what each relative date in it means: "tomorrow (2026-11-24)".

    Only where it is certain: dates that say their year and those that come again ("I row on
    Tuesday", "on Fridays", "my birthday is 3 May") stay as they are.
    """
    asked = {one.text: one for one in spans(text, "", said)}
    later = mentioned(text, "", said + LATER)
    at, shown = 0, ""
    for told, then in zip(mentioned(text, "", said), later, strict=False):
        place = text.find(told.text, at)
        if place < 0:
            break
        end = place + len(told.text)
        shown, at = shown + text[at:end], end
        is_title = place and told.explicit and text[place].isupper()  # the film Yesterday
        is_certain = asked.get(told.text, told) == told != then
        if is_certain and not is_title and not _NOTED.match(text, end):
            shown += _days(told)
    return shown + text[at:]


def _days(span: Span) -> str:
    """Return the days that a span means, or the end that it names where it is open."""
    first, last = span.start or span.end, span.end or span.start
    if first is None or last is None or (last - first > WEEK and not span.explicit):
        return ""
    start = first if span.start else first - DAY
    end = last - DAY if span.start and span.end else start
    days = dict.fromkeys(one.date().isoformat() for one in (start, end))
    return f" ({' to '.join(days)})"


def without_stale_dates(new: str, old: str) -> str:
    """Return a corrected text without dates of words that the old text did not have."""

    def kept(match: re.Match[str]) -> str:
        return match[0] if match[0] in old else match[0].removesuffix(match[1])

    return _DATED.sub(kept, new)
