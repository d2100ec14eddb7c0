"""Time in questions and in messages: which stretch of the calendar a piece of text speaks of.

The grammar of when_rules reads six languages; of others, dates in figures.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime, time, timedelta

from vaultmind.errors import BadArgument
from vaultmind.index.when_rules import DAY, WEEK, WORDS, find_times
from vaultmind.index.when_words import LANGUAGES, Span

MAX_CHARACTERS = 20_000
"""Characters of a text that are read: a longer message is a pasted file."""
OPEN_SCALE = timedelta(days=30)
"""Distance at which a moment outside an open stretch ("since March") is worth one half."""
YEAR = timedelta(days=366)
LATER = timedelta(weeks=52)
"""How much later the same words are read again: a relative date then means another day."""
ALLOWED = "a date such as 2026-02-20, or words of time ('last week', 'w lutym', 'март 2025')"
SMALL, MAX_FILTER = 3, 60
"""Letters of a word in a filter that says no time and is no fault ("from", "z", the article), and
characters of a filter's words of time."""
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_WORD_END = re.compile(r"\w*")
_COMES_AGAIN = re.compile(
    r"\b(?:birthdays?|born|bday|anniversary|name ?day|every|each|yearly|annual\w*|"
    r"urodz\w+|imienin\w*|rocznic\w*|co rok\w*|każd\w+|kazd\w+|corocz\w+|"
    r"день рождения|родил\w+|рожден\w+|именин\w*|годовщин\w*|кажд\w+|ежегодн\w+)\b",
    re.IGNORECASE,
)
"""Words beside a date of a day that comes again each year."""
_HOURS = re.compile(r"\b(?:hour|minute|godzin|minut|час|минут)", re.IGNORECASE)
"""Hours are over before anybody reads the fact."""
_NOTED = re.compile(r"\s*\(")
_DATED = re.compile(r"(?<!\S)\S+( \(\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\))")
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.+\-Z]+)?")


def spans(query: str, language: str, base: datetime) -> tuple[Span, ...]:
    """Return the times that a question asks about, in the order of the text.

    `language` is an ISO 639-1 code; empty: the one of LANGUAGES whose words of time it has most.
    `base` is now, where the person is: days begin at its midnight, and the spans have its zone.
    """
    return find_times(query[:MAX_CHARACTERS], language, base)


def mentioned(text: str, language: str, said: datetime) -> tuple[Span, ...]:
    """Return the times that a message speaks of, seen from the day it was said on.

    Code and addresses are not looked at.
    """
    blanked = _CODE.sub(lambda match: " " * len(match[0]), text[:MAX_CHARACTERS])
    return find_times(blanked, language, said, told=True)


def closeness(span: Span, moment: datetime) -> float:
    """Return how near a moment is to a span, in (0, 1]: 1 inside it, half for each scale outside.

    The scale is half of the span's length, a day at least: what is a week away from "in 2023" is
    near, what is a week away from "yesterday" is not.
    """
    scale, away = OPEN_SCALE, timedelta(0)
    if span.start and span.end:
        scale = max(DAY, (span.end - span.start) / 2)
    edge = span.start or span.end
    if edge is not None and (edge.tzinfo is None) != (moment.tzinfo is None):
        moment = moment.replace(tzinfo=edge.tzinfo)
    if span.start is not None and moment < span.start:
        away = span.start - moment
    elif span.end is not None and moment >= span.end:
        away = max(moment - span.end, timedelta(microseconds=1))
    return float(0.5 ** min(1000.0, away / scale))


def with_dates(text: str, said: datetime) -> str:
    """Return a text with what each relative date in it means: "tomorrow (2026-11-24)".

    Only where it is certain: dates that say their year and those that come again ("I row on
    Tuesday", "on Fridays", "my birthday is 3 May") stay as they are. A day of a month is the one
    that is nearest as the sentence tells it: "the wedding is on 21 June (2026-06-21)".
    """
    comes_again = _COMES_AGAIN.search(text)
    asked = {one.text: one for one in spans(text, "", said)}
    later = mentioned(text, "", said + LATER)
    at, shown = 0, ""
    for told, then in zip(mentioned(text, "", said), later, strict=False):
        place = text.find(told.text, at)
        if place < 0:
            break
        end = place + len(told.text)
        end += len(_WORD_END.match(text, end)[0])  # type: ignore[index]
        shown, at = shown + text[at:end], end
        is_title = place and told.explicit and text[place].isupper()  # the film Yesterday
        is_day = any(map(str.isdigit, told.text))
        is_near = is_day and told.start and abs(told.start - said) < YEAR
        is_certain = told != then and (is_near or asked.get(told.text, told) == told)
        comes = is_day and comes_again
        stays = is_title or comes or _NOTED.match(text, end) or _HOURS.search(told.text)
        if is_certain and not stays:
            shown += _days_of(told)
    return shown + text[at:]


def _days_of(span: Span) -> str:
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


def first_day(name: str, text: str, now: datetime) -> str:
    """Return the day that a filter "after" begins with, as ISO: the first of what is meant.

    Raises BadArgument for what is no time, or has no beginning ("before Christmas").
    """
    start = _filter(name, text, now).start
    if start is None:
        raise BadArgument(name, text, f"a time with a beginning; {ALLOWED}")
    return start.date().isoformat()


def last_day(name: str, text: str, now: datetime) -> str:
    """Return the day that a filter "before" ends with, as ISO: the last of what is meant.

    Raises BadArgument for what is no time, or has no end ("since March").
    """
    end = _filter(name, text, now).end
    if end is None:
        raise BadArgument(name, text, f"a time with an end; {ALLOWED}")
    return (end - timedelta(microseconds=1)).date().isoformat()


def _filter(name: str, text: str, now: datetime) -> Span:
    """Return the one time that a filter says, and nothing else."""
    said = " ".join(text.split())
    if _ISO_DAY.fullmatch(said):
        with suppress(ValueError):
            start = datetime.combine(date.fromisoformat(said[:10]), time(), now.tzinfo)
            return Span(start, start + DAY, said, True)
    elif len(said) <= MAX_FILTER:
        for language in ("", *LANGUAGES):
            for is_led in (False, True):
                found = find_times(said, language, now, led=is_led)
                own = {w.casefold() for one in found for w in WORDS.findall(one.text)}
                rest = [w for w in WORDS.findall(said) if w.casefold() not in own]
                if len(found) == 1 and all(len(word) <= SMALL for word in rest):
                    return found[0]
    raise BadArgument(name, text, ALLOWED)
