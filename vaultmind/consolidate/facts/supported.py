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

from vaultmind.consolidate.facts.figures import PARTS, numbers, plain
from vaultmind.consolidate.ground import FRAME
from vaultmind.consolidate.types import Reason
from vaultmind.index.when import Span, mentioned
from vaultmind.index.words.language import detect
from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.index.words.terms import roots
from vaultmind.memory.contradictions.alike import alike, begin_alike
from vaultmind.memory.contradictions.claims import denies, read
from vaultmind.memory.contradictions.lexicon import entry
from vaultmind.memory.contradictions.measures import measures
from vaultmind.memory.intents.names import CASES, SHORT, sound, stems
from vaultmind.memory.intents.text import fold as plain_text
from vaultmind.memory.words import ENDINGS, NEGATIONS, SMALL, content, fold, forms
from vaultmind.session.files import time_or_none
from vaultmind.session.sentences import CAPITAL_NOUNS
from vaultmind.types import Message

BEGINNING = 4
"""Letters of a word that begins another and is short for it (`Postgres`)."""
MOST = 0.7
"""Part of a longer name that another form of it begins alike with."""
FORTNIGHT = 14
"""Days around a message in which a day of the week that it names is a certain date."""
_UNITS = (60, 1 / 60, 1000, 1 / 1000)
"""Minutes of an hour, grams of a kilo, and what is told in thousands."""
_SHORT_DAYS = tuple(
    frozenset(names.split())
    for names in (
        *("mon pn pon пн", "tue tues wt вт", "wed sr ср", "thu thur thurs czw чт"),
        *("fri pt пт", "sat sob сб", "nd ndz вс"),
    )
)
LONG_NUMBER = 5
"""Digits of a number that may be set in groups, as a telephone's."""
_DAY = timedelta(days=1)
_HALF_DAY = 12
_CASES = CASES | {sound(one) for one in ENDINGS}
_WORD = re.compile(r"[^\W_]+")
_LEFT_OUT = re.compile(r"\.{3}|…")
_LETTERS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_TIME = re.compile(r"(?<![\d.,:])(\d{1,2})(?:[:.](\d\d))?(?: ?([ap])\.?m\b|(?<=:\d\d)(?![\d:]))")
_DOTTED_TIME = re.compile(r"(?<![\d.,:])(\d{1,2})\.([0-5]\d)(?![\d.])")
_DAY_MONTH = re.compile(
    r"(?<![\d./-])(\d{1,2})(?:/(\d{1,2})|\.(\d{1,2})\.|\.(0\d|1[0-2]))(?![\d/-])"
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ENDS = re.compile(r"(?:[!?…:]|(?:\w{4}|\d|[)”»])\.)\W*$")
"""What a sentence ends in; `Mr.` ends none."""
_CAPITAL = re.compile(r"[^\W\d_a-zа-яё]\w|[a-z][A-Z]\w")
_SMALL_PART = re.compile(r"-[a-zа-я]")
_UNIT = re.compile(r"(?<=\d)\s?[A-ZА-Я]{2,3}\b|\b[^\W\d_]{1,2}\b")
_AT_LENGTH = re.compile(r"[A-ZŁŚŻ]\w+(?: (?:(?:of|for|and) )?[A-ZŁŚŻ]\w+)+")
_CLAUSE = re.compile(r"[,;:.!?—–]|\b(?:but|ale|lecz|но|зато)\b")
_EXCLUDES = re.compile(
    r"\b(?:only|except|instead|rather than|tylko|"
    r"jedyn\w+|zamiast|oprocz|poza|только|кроме|вместо)\b"
)
_IMPLIES = re.compile(
    r"\b(?:avoid\w*|forb[aio]\w+|bann?\w*|refus\w+|dislik\w+|hates?|skips?|lacks?|less|fewer|"
    r"at most|up to|under|below|max\w*|limit\w*|used to|former\w*|previous\w*|stopped|quit|left|"
    r"unika\w*|zakaz\w*|odm[ao]\w+|najwyzej|maks\w*|ponizej|brak\w*|rezygn\w+|kiedys|wczesniej|"
    r"poprzedni\w*|избега\w+|запре\w+|отказ\w+|максимум|меньше|ниже|раньше|прежн\w+|"
    r"бывш\w+)\b"
)
"""Words of a claim that deny without a `not`, or say how much at most."""
_NOTHING = re.compile(r"\b(?:nothing|nobody|nah|nope|nic|niczego|nikt|ничего|никто)\b")
_NO_DENIAL = re.compile(r"(?i)\bno\. ?(?=\d)|\bused to\b|\bstops\b|\bне (?:больше|более|позже)\b")
_PARTS = re.compile(rf"{_CLAUSE.pattern}|\b(?:and|i|oraz|и)\b")
_ALSO_MONTHS = re.compile(r"(?<!\w)(?:may|march|marz)(?!\w)")
_VERB = re.compile(
    r"(?:is|was|has|had|will|can|does|did|would|and|or|[a-z]{2,}[^s\W]s|moved|got|"
    r"mieszka|pracuje|lubi|woli|chce|zna|gra|uczy|"
    r"[^\W\d_]{2,}(?:uje|ła|ął|ał|ił|ył)|"
    r"[^\W\d_]{2,}(?:[еёияю]т|тся|ал|ил|ел|ла|лась|лся))"
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
    """Tell whether words are quoted from a text, however they are set; `…` leaves some out."""
    pieces = [_bare(piece) for piece in _LEFT_OUT.split(quote) if _WORD.search(piece)]
    rest = _bare(text)
    for words in pieces:
        _, there, rest = rest.partition(words)
        if not there:
            return False
        rest = f" {rest}"
    return bool(pieces)


def unsaid(
    claim: str, messages: Sequence[Message], time: str = "", also: str = ""
) -> tuple[Reason | None, str]:
    """Return what kind of thing nobody said of a claim's numbers, names and dates, and which.

    `time`: when the claim's own `tomorrow` was said. `also`: what else may stand in it.
    """
    texts = [(one.text, one.time[:10]) for one in messages] + [(also, "")]
    times = [_times(*one) for one in texts]
    mine = _times(claim, time[:10] or max((day for _, day in texts), default=""))
    said = frozenset().union(*(numbers(text, parts=True) for text, _ in texts))
    if lost := _lost_date(mine, times, [day for _, day in texts if day]):
        return "date not in evidence", lost
    hours = frozenset().union(*(one.clocks | one.dotted for one in times))
    spoken = frozenset().union(*(numbers(one.rest, parts=True) for one in times))
    if lost := next(
        (f"{h}:{m}" for h, m in sorted(mine.clocks - hours) if not _is_hour(h, m, spoken)), ""
    ):
        return "number not in evidence", lost
    years = frozenset().union(*(one.years for one in times))
    squeezed = [re.sub(r"\W", "", text) for text, _ in texts]
    days = frozenset().union(*(one.days | one.loose for one in times))

    def undated(match: re.Match[str]) -> str:
        pair = int(match[1]), int(match[2] or match[3] or match[4])
        return " ; " if {pair, pair[::-1]} & days else match.group()

    there = frozenset().union(*(_words(text) for text, _ in texts))
    named = list(_names(claim, there, detect(" ".join(one.text for one in messages))))
    told = numbers(_DAY_MONTH.sub(undated, mine.rest)) | set(_YEAR.findall(claim))
    counted = {str(len(named)), str(len(named) + 1)}
    for one in sorted(told - said - years - counted - {"1", *map(str, PARTS)}):
        long = len(one) >= LONG_NUMBER and any(one in text for text in squeezed)
        if not long and not (said - {"0.25"}) & {f"{float(one) * by:.9g}" for by in _UNITS}:
            return "number not in evidence", one
    proper = frozenset().union(*(_proper(text) for text, _ in texts))
    lost = next((one for one in named if not _is_among(one, there, proper)), "")
    return ("name not in evidence", lost) if lost else (None, "")


def _bare(text: str) -> str:
    return f" {' '.join(_WORD.findall(fold(text)))} "


# --- numbers and dates --------------------------------------------------------------------


def _is_hour(hour: int, minutes: str, said: frozenset[str]) -> bool:
    """Tell whether an hour was said in words: `half past six`, `o trzynastej dwadzieścia`."""
    half, late = minutes in ("15", "30", "45"), minutes in ("30", "45")
    part = "0.5" if minutes == "30" else "0.25"
    hours = {hour, hour + _HALF_DAY} | ({(hour + 1) % _HALF_DAY, hour + 1} if late else set())
    by_part = half and part in said and bool(said & set(map(str, hours)))
    whole = {str(hour), str(hour + _HALF_DAY)} | ({"24", "0"} if not hour else set())
    return by_part or ((minutes == "00" or plain(minutes) in said) and bool(said & whole))


def _lost_date(mine: _Times, times: Sequence[_Times], told: Sequence[str]) -> str:
    """Return a date, month or day of the week that nobody said."""
    days = frozenset().union(*(one.days | one.loose for one in times))
    months = frozenset().union(*(one.months for one in times))
    weekdays = frozenset().union(*(one.weekdays for one in times))
    near = {int(day[5:7]) for day in told}
    around = months | {
        str((month + later - 1) % _HALF_DAY + 1) for month in near for later in (0, 1)
    }
    dated: set[str] = set()
    for month, day in sorted(mine.days):
        loose = any(str(day) in numbers(one.rest, parts=True) for one in times)
        if (month, day) not in days and not (
            (loose and str(month) in around) or _is_near(month, day, weekdays, told)
        ):
            return f"{day}.{month}."
        dated.add(str(month))
    of_dates = frozenset().union(*(one.of_dates for one in (mine, *times)))
    if mine.months - months - dated:
        return "a month"
    return "a day" if mine.weekdays - weekdays - of_dates else ""


def _is_near(month: int, day: int, weekdays: frozenset[str], told: Iterable[str]) -> bool:
    """Tell whether a date is the day of the week that was named, within two weeks."""
    for one in map(date.fromisoformat, told):
        some = (one + at * _DAY for at in range(-FORTNIGHT, FORTNIGHT + 1))
        if any((d.month, d.day) == (month, day) and str(d.isoweekday()) in weekdays for d in some):
            return True
    return False


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
        _weekdays(text),
        frozenset(str(one.isoweekday()) for one in dates),
        frozenset(years),
        frozenset(_hours(_TIME, rest)),
        frozenset(_hours(_DOTTED_TIME, rest)),
        _TIME.sub(" ; ", rest),
    )


def _weekdays(text: str) -> frozenset[str]:
    short = {str(at) for at, names in enumerate(_SHORT_DAYS, 1) if names & _words(text)}
    return measures(plain_text(text).text, set()).days | short


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


def _names(claim: str, said: frozenset[str], spoken: str) -> Iterator[str]:
    """Yield the words of a claim that are names by their capital letter.

    The word that opens a sentence is one where what follows it is said of somebody, in the
    language `spoken` in the talk: in another, a common noun was not said either. `said`: the words
    of the talk, among them the initials of what is told at length (`SRE`).
    """
    language = detect(claim)
    if language in CAPITAL_NOUNS:
        return
    text = _UNIT.sub(" ; ", _times(claim, "").rest)
    text = _AT_LENGTH.sub(lambda run: " ; " if _initials(run[0]) & said else run[0], text)
    found = list(_LETTERS.finditer(text))
    for at, match in enumerate(found):
        word = match.group()
        if not _CAPITAL.match(word) or _SMALL_PART.search(word) or _is_ordinary(fold(word)):
            continue
        before = text[: match.start()].rstrip("\"„«“'(* ")
        if not before or _ENDS.search(before):
            if entry("synonym", fold(word)) or entry("common", fold(word)):
                continue
            after = text[match.end() : match.end() + 2]
            follows = found[at + 1].group() if at + 1 < len(found) else ""
            if language and spoken and language != spoken and not follows[:1].isupper():
                continue
            whose = after.startswith(("'s", "’s", ","))
            if not whose and (_OWN_VERB.fullmatch(word) or not _VERB.fullmatch(follows)):
                continue
        yield word


def _initials(run: str) -> frozenset[str]:
    """Return the initials of words in a row, by first letters and by capitals: `ucc`, `ghcr`."""
    capitals = "".join(filter(str.isupper, run))
    return frozenset({fold(capitals), fold("".join(w[0] for w in _LETTERS.findall(run)))})


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


def _is_among(name: str, there: frozenset[str], proper: frozenset[str]) -> bool:
    """Tell whether a name was said, in any case and in either alphabet.

    Ordinary words (those `there` that are none of the `proper` ones) differ in their endings alone.
    """
    parts = (name,) if fold(name) in there else name.split("-")
    return all(
        any(_same_name(fold(part), other, loosely=other in proper) for other in there)
        for part in parts
    )


@lru_cache(maxsize=4096)
def _proper(text: str) -> frozenset[str]:
    """Return the words of a text that may be names: all where it is written without capitals."""
    found = _WORD.findall(text)
    capital = [one for one in found if one != one.lower()]
    return _words(" ".join(capital or found))


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    """Return the folded words of a text, with `ё` also as it sounds."""
    sounded = fold(text.replace("ё", "йо")) if "ё" in text else ""
    return frozenset(_WORD.findall(f"{fold(text)} {sounded}"))


@lru_cache(maxsize=50_000)
def _same_name(one: str, other: str, *, loosely: bool = True) -> bool:
    """Tell whether two folded words are one name, in whatever cases and alphabets."""
    if one == other or ((group := entry("exonym", one)) and group == entry("exonym", other)):
        return True
    if loosely and any(len(root) > SHORT + 1 for root in {*roots(one)} & {*roots(other)}):
        return True
    return any(_sound_alike(a, b, loosely) for a in _sounds(one) for b in _sounds(other))


def _sounds(folded: str) -> set[str]:
    """Return how a folded word may sound; `ch` is two sounds, `c` two as well."""
    ways = {sound(folded), sound(folded.replace("ch", "cz"))}
    return ways | {sound(heard.replace("c", "k")) for heard in ways}


def _sound_alike(one: str, other: str, loosely: bool) -> bool:
    if one == other:
        return True
    if one[:1] != other[:1]:
        return False
    short, long = sorted((one, other), key=len)
    if loosely and len(short) >= BEGINNING and long.startswith(short):
        return True
    return any(_inflected(a, b, loosely) for a in stems(one) for b in stems(other)) or any(
        _hard(a) & {b.rstrip("a")} for a, b in ((one, other), (other, one))
    )


def _inflected(one: str, other: str, loosely: bool) -> bool:
    """Tell whether the endings alone of two names differ; `loosely`: or a small part."""
    pairs = enumerate(zip(one, other, strict=False))
    shared = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
    ends = {one[shared:], other[shared:]}
    short = all(len(end) < SHORT and set(end) <= set("aeiou") for end in ends)
    most = loosely and shared > BEGINNING and shared >= MOST * max(len(one), len(other))
    return shared >= SHORT and (short or most or (shared > SHORT and ends <= _CASES))


def _hard(name: str) -> set[str]:
    """Return the stems of a Polish locative, by sound: `marce` (Marcie) → `mart`, `mark`."""
    ways = {"ce": "tk", "dze": "dg"}
    return {name.removesuffix(e) + c for e, cs in ways.items() if name.endswith(e) for c in cs}


# --- negations ----------------------------------------------------------------------------


def _same_side(claim: str, quote: str) -> bool:
    """Tell whether a claim and the part of a quote that it is about both deny, or neither.

    What a part leaves out (`only`, `except`) or turns from is said either way.
    """
    if _EXCLUDES.search(f"{fold(claim)} {fold(quote)}") or read(quote).replaced:
        return True
    parts = [part for part in _PARTS.split(_NO_DENIAL.sub(" ", claim)) if _WORD.search(part)]
    clauses = [part for part in _CLAUSE.split(_NO_DENIAL.sub(" ", quote)) if _WORD.search(part)]
    if _IMPLIES.search(fold(claim)) and any(map(_denies, clauses)):
        return True
    return all(_denies(part) in _sides(part, clauses) for part in parts)


def _sides(part: str, clauses: Sequence[str]) -> set[bool]:
    """Return which sides of a part of a claim the clauses take that are nearest to it.

    Of two that are as near one may deny: it is not said that the part does.
    """
    mine = [one for one in content(part) if one.folded not in NEGATIONS]
    near = [
        sum(any(alike(a, b) or begin_alike(a.folded, b.folded) for b in mine) for a in content(one))
        for one in clauses
    ]
    most = max(near, default=0)
    sides = {_denies(one) for one, count in zip(clauses, near, strict=True) if count == most}
    return sides if len(sides) == 1 or not most else {False}


def _denies(text: str) -> bool:
    return denies(text) != (bool(_NOTHING.search(fold(text))) and not read(text).negative)


def shared(one: str, other: str) -> float:
    """Return how much of the text that says less stands in the other, from 0 to 1, in words."""
    less, more = sorted((content(one), content(other)), key=len)
    held = sum(any(begin_alike(a.folded, b.folded) or a.same(b) for b in more) for a in less)
    return held / max(1, len(less))
