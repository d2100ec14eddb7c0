"""Whether a conversation bears out what an agent says of it in its own words.

Words tell true claims from false ones badly: an agent says it otherwise than the person did.
What nobody may make up are the words that are quoted, and every number, name and date.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache

from vaultmind.consolidate.facts.figures import numbers
from vaultmind.consolidate.facts.ground import FRAME
from vaultmind.consolidate.facts.ordinals import ordinals
from vaultmind.consolidate.facts.types import Reason
from vaultmind.index.when import Span, mentioned
from vaultmind.index.words.language import detect
from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.memory.contradictions.claims import read
from vaultmind.memory.contradictions.measures import measures
from vaultmind.memory.intents.names import CASES, SHORT, sound, stems
from vaultmind.memory.intents.text import fold as plain_text
from vaultmind.memory.words import ENDINGS, NEGATIONS, SMALL, content, fold, forms
from vaultmind.session.records.store import time_or_none
from vaultmind.session.summary.weigh import CAPITAL_NOUNS
from vaultmind.types import Message

DISLIKED = 2
"""The pole of `hates`, which is a `does not like`."""
ALIKE = 5
"""Letters from which words of one beginning are taken for one (`allergic`, `allergy`)."""
LONG_NUMBER = 5
"""Digits of a number that may be set in groups, as a telephone's."""
_DAY = timedelta(days=1)
_HALF_DAY, _DAY_HOURS, _MONTH_DAYS = 12, 24, 31
_CASES = CASES | {sound(one) for one in ENDINGS}
_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_TIME = re.compile(r"(?<![\d.,:])(\d{1,2})(?:[:.](\d\d))?(?: ?([ap])\.?m\b|(?<=:\d\d)(?![\d:]))")
_DOTTED_TIME = re.compile(r"(?<![\d.,:])(\d{1,2})\.([0-5]\d)(?![\d.])")
_DAY_MONTH = re.compile(
    r"(?<![\d./-])(\d{1,2})(?:/(\d{1,2})|\.(\d{1,2})\.|\.(0\d|1[0-2]))(?![\d/-])"
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ENDS = re.compile(r"[.!?…:]\W*$")
_CLAUSE = re.compile(r"[,;:.!?—–]|\b(?:but|ale|lecz|но|зато)\b")
_ALSO_MONTHS = re.compile(r"(?<!\w)(?:may|march|marz)(?!\w)")
_VERB = re.compile(
    r"(?:is|was|has|had|will|can|does|did|would|and|or|[a-z]{2,}[^s\W]s|moved|got|"
    r"jest|był|była|ma|miał|miała|mieszka|pracuje|lubi|woli|chce|zna|gra|uczy|to|i|się|nie|"
    r"[^\W\d_]{2,}(?:uje|ła|ął|ał|ił|ył)|"
    r"[^\W\d_]{2,}(?:[еёияю]т|тся|ал|ил|ел|ла|лась|лся)|это|и|не)"
)
"""What follows a name that opens a claim: a verb of somebody else's, or one more name."""
_OWN_VERB = re.compile(r"[^\W\d_]+(?:s|ed|ing|uje|ał|ała|ił|iła|[еёияю]т|тся|ал|ила|ала|ился)")
"""What opens a claim of the person without naming them (`Lives in …`)."""


@dataclass(frozen=True, slots=True)
class _Times:
    """The times of a text, seen from the day on which it was said."""

    days: frozenset[tuple[int, int]]
    """Month and day of each date."""
    loose: frozenset[tuple[int, int]]
    """What `12.03` may mean as a date, either way round."""
    months: frozenset[str]
    weekdays: frozenset[str]
    """Those named."""
    of_dates: frozenset[str]
    """The days of the week of its dates."""
    years: frozenset[str]
    clocks: frozenset[tuple[int, str]]
    """Hour on a dial, and minutes."""
    dotted: frozenset[tuple[int, str]]
    """What `12.03` may mean as an hour."""
    rest: str
    """The text without its dates and hours."""


def supported(claim: str, quote: str, messages: Sequence[Message]) -> Reason | None:
    """Return why a conversation does not bear out a claim; None where it does.

    The quote must stand word for word in a message of the user, and every number, name and date
    of the claim in any. `polarity`: a negation stands in one of claim and quote alone.
    """
    quoted = [one for one in messages if stands(quote, one.text)]
    if not quoted:
        return "no evidence"
    own = [one for one in quoted if one.role == "user"]
    if not own:
        return "not the user's words"
    if kind := unsaid(claim, messages, own[-1].time)[0]:
        return kind
    return None if _same_side(claim, quote) else "polarity"


def stands(quote: str, text: str) -> bool:
    """Tell whether words are quoted from a text, however they are set."""
    words = _bare(quote)
    return bool(words.strip()) and words in _bare(text)


def unsaid(
    claim: str, messages: Sequence[Message], time: str = "", also: str = ""
) -> tuple[Reason | None, str]:
    """Return what kind of thing nobody said of a claim's numbers, names and dates, and which.

    `time`: when the claim's own `tomorrow` was said. `also`: what else may stand in it.
    """
    texts = [(one.text, one.time[:10]) for one in messages] + [(also, "")]
    times = [_times(*one) for one in texts]
    mine = _times(claim, time[:10] or max((day for _, day in texts), default=""))
    said = frozenset().union(*(numbers(text) for text, _ in texts))
    if lost := _lost_date(mine, times, [day for _, day in texts if day]):
        return "date not in evidence", lost
    hours = frozenset().union(*(one.clocks | one.dotted for one in times))
    small = (int(one) for one in said if one.isdigit())
    hours |= {(one % _HALF_DAY, "00") for one in small if one <= _DAY_HOURS}
    if lost := next((f"{h}:{m}" for h, m in sorted(mine.clocks - hours)), ""):
        return "number not in evidence", lost
    years = frozenset().union(*(one.years for one in times))
    squeezed = [re.sub(r"\W", "", text) for text, _ in texts]
    days = frozenset().union(*(one.days | one.loose for one in times))

    def undated(match: re.Match[str]) -> str:
        pair = int(match[1]), int(match[2] or match[3] or match[4])
        return " ; " if {pair, pair[::-1]} & days else match.group()

    told = numbers(_DAY_MONTH.sub(undated, mine.rest)) | set(_YEAR.findall(claim))
    for one in sorted(told - said - years - {"1"}):
        if len(one) < LONG_NUMBER or not any(one in text for text in squeezed):
            return "number not in evidence", one
    there = frozenset().union(*(_keys(text) for text, _ in texts))
    lost = next((one for one in _names(claim) if not _is_among(one, there)), "")
    return ("name not in evidence", lost) if lost else (None, "")


def _bare(text: str) -> str:
    return f" {' '.join(_WORD.findall(fold(text)))} "


# --- numbers and dates --------------------------------------------------------------------


def _lost_date(mine: _Times, times: Sequence[_Times], told: Iterable[str]) -> str:
    """Return a date, month or day of the week that nobody said."""
    days = frozenset().union(*(one.days | one.loose for one in times))
    months = frozenset().union(*(one.months for one in times))
    for month, day in sorted(mine.days - days):
        loose = any(str(day) in numbers(one.rest) | ordinals(fold(one.rest)) for one in times)
        around = months | {str(int(one[5:7])) for one in told}
        if not (loose and str(month) in around):
            return f"{day}.{month}."
    weekdays = frozenset().union(*(one.weekdays | one.of_dates for one in times))
    return "a month" if mine.months - months else "a day" if mine.weekdays - weekdays else ""


@lru_cache(maxsize=4096)
def _times(text: str, day: str) -> _Times:
    """Return the times of a text that was said on a day, an ISO date."""
    base = time_or_none(f"{day}T12:00:00+00:00") or datetime(2000, 1, 1, 12).astimezone()
    dates: set[date] = set()
    months = _months(text)
    years: set[str] = set()
    rest = text
    for span in _spans(text, base):
        start = span.start or span.end
        if start is None:
            continue
        is_day = span.start and span.end and span.end - span.start == _DAY
        if is_day and not _is_weekday(span.text):
            dates.add(start.date())
            rest = rest.replace(span.text, " ; ", 1)
        months = months | ({str(start.month)} if _is_month(span) else set())
        years.add(str(start.year))
    loose = [(int(one[1]), int(one[2] or one[3] or one[4])) for one in _DAY_MONTH.finditer(rest)]
    days = {(one.month, one.day) for one in dates}
    return _Times(
        frozenset(days),
        frozenset(pair for one in loose for pair in (one, one[::-1])),
        months | {str(month) for month, _ in days},
        measures(plain_text(text).text, set()).days,
        frozenset(str(one.isoweekday()) for one in dates),
        frozenset(years),
        frozenset(_hours(_TIME, rest)),
        frozenset(_hours(_DOTTED_TIME, rest)),
        _TIME.sub(" ; ", rest),
    )


def _hours(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    return ((int(one[1]) % _HALF_DAY, one[2] or "00") for one in pattern.finditer(text))


def _spans(text: str, base: datetime) -> Iterator[Span]:
    """Yield the times of a text; of `since March` the month as well."""
    for span in mentioned(text, "", base):
        yield span
        if span.start is None or span.end is None:
            yield from mentioned(span.text.partition(" ")[2], "", base)


def _is_weekday(text: str) -> bool:
    """Tell whether a time is a day of the week and no date: which week it means is a guess."""
    named = measures(plain_text(text).text, set())
    return bool(named.days) and not named.months and not any(map(str.isdigit, text))


def _is_month(span: Span) -> bool:
    """Tell whether a span is within one month, and more than a day."""
    if span.start is None or span.end is None:
        return False
    return timedelta(days=27) < span.end - span.start < timedelta(days=32)


def _months(text: str) -> frozenset[str]:
    """Return the months named; `may` and `march` in small letters are none."""
    return measures(plain_text(_ALSO_MONTHS.sub(" ", text)).text, set()).months


# --- names --------------------------------------------------------------------------------


def _names(claim: str) -> Iterator[str]:
    """Yield the words of a claim that are names by their capital letter.

    The word that opens a sentence is one where what follows it is said of somebody.
    """
    if detect(claim) in CAPITAL_NOUNS:
        return
    found = list(_LETTERS.finditer(_times(claim, "").rest))
    text = _times(claim, "").rest
    for at, match in enumerate(found):
        word = match.group()
        if not word[0].isupper() or len(word) == 1 or _is_ordinary(fold(word)):
            continue
        before = text[: match.start()].rstrip("\"„«“'(* ")
        if not before or _ENDS.search(before):
            after = text[match.end() : match.end() + 2]
            follows = found[at + 1].group() if at + 1 < len(found) else ""
            whose = after.startswith(("'s", "’s", ",", " —", " –"))
            if not whose and (_OWN_VERB.fullmatch(word) or not _VERB.fullmatch(follows)):
                continue
        yield word


def _is_ordinary(folded: str) -> bool:
    if folded in SMALL | FRAME or folded in _stops() or _is_time(folded):
        return True
    return any(stem.rpartition(" ")[2] in FRAME for stem in forms(folded).stems)


def _is_time(folded: str) -> bool:
    """Tell whether a word names a month or a day of the week, which are looked at as times."""
    found = measures(folded, set())
    return bool(found.months or found.days)


@lru_cache(maxsize=1)
def _stops() -> frozenset[str]:
    return frozenset().union(*BY_LANGUAGE.values())


def _is_among(name: str, there: frozenset[str]) -> bool:
    """Tell whether a name was said, in any case and in either alphabet."""
    return all(
        any(_same_name(key, other) for other in there)
        for key in (sound(fold(part)) for part in name.split("-"))
    )


@lru_cache(maxsize=4096)
def _keys(text: str) -> frozenset[str]:
    return frozenset(sound(fold(word)) for word in _WORD.findall(text))


@lru_cache(maxsize=50_000)
def _same_name(one: str, other: str) -> bool:
    """Tell whether two sounds are one name, in whatever cases."""
    if one == other:
        return True
    if one[:1] != other[:1]:
        return False
    return any(_inflected(a, b) for a in stems(one) for b in stems(other)) or any(
        _hard(a) & {b.rstrip("a")} for a, b in ((one, other), (other, one))
    )


def _inflected(one: str, other: str) -> bool:
    """Tell whether the endings alone of two names differ."""
    pairs = enumerate(zip(one, other, strict=False))
    shared = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
    ends = {one[shared:], other[shared:]}
    short = all(len(end) < SHORT and set(end) <= set("aeiou") for end in ends)
    return shared >= SHORT and (short or (shared > SHORT and ends <= _CASES))


def _hard(name: str) -> set[str]:
    """Return the stems of a Polish locative, by sound: `marce` (Marcie) → `mart`, `mark`."""
    ways = {"ce": "tk", "dze": "dg"}
    return {name.removesuffix(e) + c for e, cs in ways.items() if name.endswith(e) for c in cs}


# --- negations ----------------------------------------------------------------------------


def _same_side(claim: str, quote: str) -> bool:
    """Tell whether a claim and the part of a quote that it is about both deny, or neither.

    Where two parts are as near, one that denies and one that does not, a claim that denies waits.
    """
    clauses = [part for part in _CLAUSE.split(quote) if _WORD.search(part)]
    mine = [one for one in content(claim) if one.folded not in NEGATIONS]
    near = [
        sum(any(_begin_alike(a.folded, b.folded) for b in mine) for a in content(part))
        for part in clauses
    ]
    most = max(near, default=0)
    sides = {_denies(part) for part, count in zip(clauses, near, strict=True) if count == most}
    if not most:
        sides = {_denies(quote)}
    return not _denies(claim) if len(sides) > 1 else _denies(claim) in sides


def _denies(text: str) -> bool:
    found = read(text)
    return found.negative != (dict(found.poles).get("liking") == DISLIKED)


def shared(one: str, other: str) -> float:
    """Return how much of the text that says less stands in the other, from 0 to 1, in words."""
    less, more = sorted((content(one), content(other)), key=len)
    held = sum(any(_begin_alike(a.folded, b.folded) or a.same(b) for b in more) for a in less)
    return held / max(1, len(less))


def _begin_alike(one: str, other: str) -> bool:
    return one == other or (one[:ALIKE] == other[:ALIKE] and min(len(one), len(other)) >= ALIKE)
