"""Whether a conversation bears out a claim: the one check for agents, models and summaries.

Nobody may make up a number, a name or a date: each must have been said, in digits or in words, in
any case and alphabet. An agent's claim must also quote the person; what a model wrote without a
quote must be said for the most part. A `not` on one side alone is told as `polarity`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from vaultmind.consolidate.types import WORDS, Reason, any_of
from vaultmind.index.when import mentioned
from vaultmind.index.words import BY_LANGUAGE, detect
from vaultmind.language.names import groups, same_name, sound
from vaultmind.language.words import SMALL, SOFT, Word, content, fold, letters_shared
from vaultmind.redact import mask
from vaultmind.types import Message

# --- numbers, months and days of the week, in digits and in words ------------------------

SHORT = 4
"""A longer number word may begin another (`dwunastoletni`); a claim of so few telling words must
have been said with each of them."""
_GROUPED = re.compile(r"(?<=\d)[ \u00a0\u202f.,'](?=\d{3}(?!\d))")
_HALF_OF = re.compile(r"\bпол-?(?=\w{3})(?!тор|ови|уч|ез|ож|ит|ь|н|а|я)")
"""Russian `полдевятого`, `полкило`."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?|[^\W\d_]+")


def weekday(word: str) -> float | None:
    """Return which day of the week a word names, Monday being 0."""
    return value_of(word.casefold(), kind="wd")


@cache
def _table(kind: str) -> tuple[dict[str, float], list[tuple[str, float]]]:
    """Return the words of a kind of number, and the stems of others, each with its value.

    Kinds are "" for numbers, "th" for ranks, "mo" for months, "wd" for days of the week.
    """
    lines = Path(__file__).with_name("numbers.txt").read_text("utf-8").splitlines()
    forms = [
        (form, float(number.removeprefix(kind)))
        for number, *words in map(str.split, lines)
        if number.rstrip("0123456789.") == kind
        for word in words
        for form in (word, fold(word))
    ]
    whole = {form: value for form, value in reversed(forms) if not form.endswith("*")}
    stems = {form[:-1]: value for form, value in forms if form.endswith("*")}
    return whole, sorted(stems.items(), key=lambda one: -len(one[0]))


@lru_cache(maxsize=20_000)
def value_of(token: str, *, kind: str = "", loose: bool = False) -> float | None:
    """Return what number of a kind a word is; `loose`: or begins with (`dwunastoletni`)."""
    whole, stems = _table(kind)
    if token in whole:
        return whole[token]
    begins = next((value for stem, value in stems if token.startswith(stem)), None)
    if begins is not None or not loose:
        return begins
    begun = [one for one in whole if len(one) > SHORT and token.startswith(one)]
    half = 0.5 if token.startswith(("пол", "pół")) else None
    return whole[max(begun, key=len)] if begun else half


def numbers(text: str, *, parts: bool) -> frozenset[str]:
    """Return the numbers of a text as plain digits: `1,200`, `twenty-five`, `5k`, `piąty`.

    `parts`: also those that others are made of, or that stand for much else (`one`, `second`).
    """
    found: set[str] = set()
    run: list[float] = []
    """What was read of a number: whole thousands, and what stands below them."""
    text = _HALF_OF.sub("пол ", _GROUPED.sub("", text.casefold()))
    for token in (*_NUMBER.findall(text), ""):
        value = None
        if token[:1].isdigit():
            value = float(token.replace(",", "."))
            found.update(re.findall(r"\d+", token) if parts else ())
        elif weekday(token) is None:
            rank = value_of(token, kind="th")
            value = rank if rank is not None else value_of(token, loose=parts)
        if run and value in _SCALES and run[-1] < value:
            run[-1] *= value
        elif run and value is not None and not token[0].isdigit() and _goes_on(run[-1], value):
            run[-1:] = [run[-1] + value] if run[-1] < _SCALES[1] else [run[-1], value]
        elif token not in _AND or not run:
            found.update({plain(sum(run))} if run and (parts or sum(run) not in (1, 2)) else ())
            run = [value] if value is not None else []
        if value is not None and parts and value not in _SCALES[1:]:
            found.add(plain(value))
    return frozenset(found)


_SCALES = (100.0, 1000.0, 1_000_000.0)
_AND = frozenset({"and", "i", "с", "z"})


def _goes_on(read: float, number: float) -> bool:
    """Tell whether a number in words goes on: `twenty five`, `sto pięć`, `трое с половиной`."""
    if number < 1:
        return True
    place = 10 ** len(str(int(number)))
    return read >= place and read % place == 0 and (number > 9 or read % 100 != 10)  # noqa: PLR2004


def plain(value: float) -> str:
    """Return a number without needless digits: `1.5`, `7`."""
    return f"{value:f}".rstrip("0").rstrip(".")


# --- claims ------------------------------------------------------------------------------

SPOKEN_OF = 0.6
"""Share of a longer claim's telling words that the sources of a claim without a quote must say."""
WINDOW = 6
"""Sources in a row that must say them: a claim is not put together from all over a talk."""
FORTNIGHT = 14
"""Days around a message in which a day of the week that it names is a certain date."""
LONG_NUMBER = 5
"""Digits of a number that may be set in groups, as a telephone's."""
HALF_DAY = 12
CAPITAL_NOUNS = frozenset({"de"})
_UNITS = (60, 1 / 60, 1000, 1 / 1000)
"""Minutes of an hour, grams of a kilo, and what is told in thousands."""
FRAME = frozenset(WORDS["frame"].split())
"""What an agent says of a person without anybody having said it."""

_NO_MONTHS = ("may", "march", "mar", "sep")
"""In small letters these are other words."""
_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LEFT_OUT = re.compile(r"\.{3}|…")
_TIME = re.compile(
    r"(?<![\d.,:])(\d{1,2})(?:[:.]([0-5]\d)(?![\d:]|[.,]\d)(?: ?[ap]\.?m\b)?| ?[ap]\.?m\b)"
)
_DAY_MONTH = re.compile(
    r"(?<![\d./-])(\d{1,2})(?:/(\d{1,2})|\.(\d{1,2})\.|\.(0\d|1[0-2]))(?![\d/-])"
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ENDS = re.compile(r"(?:[!?…:\n]|(?:\w{4}|\d|[)”»])\.)\W*$")
"""What a sentence ends in; `Mr.` ends none."""
_NOT = re.compile(rf"\b(?:{any_of('not')})\b")
_ANSWER = re.compile(r"^\s*(?:no|nope|nie|нет)\s*[.,!;:]+\s*(?=\S)|\bno\. ?(?=\d)", re.IGNORECASE)
"""A no that answers what was asked: it takes no side of what comes after it."""
_TURNS = re.compile(rf"\b(?:{any_of('turns')})\b")
"""Words that deny, or turn from something, without a `not`."""
_CLAUSE = re.compile(
    r"[,;:.!?—–]|\s-\s|\b(?:but|because|since|so|ale|lecz|bo|poniewaz|gdyz|wiec|но|зато|"
    r"потому|поскольку|and|oraz|и|i|a|а)\b"
)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a claim is not borne out, and which word nobody said."""

    reason: Reason
    detail: str = ""


def supported(
    claim: str, sources: Sequence[Message], quote: str = "", also: str = ""
) -> Fault | None:
    """Return what of a claim its sources do not support; None where they do.

    With a `quote` it must stand in a message of the user, and the claim may use other words.
    `also`: what else may stand in the claim, such as the speakers' names.
    """
    if mask(claim).text != claim:
        return Fault("secret")
    day = sources[-1].time[:10] if sources else ""
    if quote:
        quoted = [one for one in sources if stands(quote, one.text)]
        own = [one for one in quoted if one.role == "user"]
        if not own:
            return Fault("not the user's words" if quoted else "no evidence")
        day = own[-1].time[:10]
    if fault := unsaid(claim, sources, day, also):
        return fault
    if quote and (lost := _other_number(claim, quote, day)):
        return Fault("number not in evidence", lost)
    texts = [quote] if quote else [one.text for one in sources]
    if not quote and (fault := _unspoken(claim, [*texts, also])):
        return fault
    return None if _same_side(claim, texts) else Fault("polarity")


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


def unsaid(claim: str, sources: Sequence[Message], day: str = "", also: str = "") -> Fault | None:
    """Return the first number, name or date of a claim that nobody said; None for none.

    `day`: the ISO date on which the claim's own `tomorrow` was said.
    """
    every = [*(_said(one.text, one.time[:10]) for one in sources), _said(also, "")]
    said, mine = _Said(*map(frozenset[Any]().union, *every)), _said(claim, day)
    if lost := _lost_date(mine, said):
        return Fault("date not in evidence", lost)
    named = list(_names(claim, detect(" ".join(one.text for one in sources))))
    if lost := _lost_number(mine, said, len(named), sources):
        return Fault("number not in evidence", lost)
    lost = next((one for one in named if not _is_among(one, said.words, said.proper)), "")
    return Fault("name not in evidence", lost) if lost else None


def share_of(claim: str, text: str) -> float:
    """Return how much of the one that says less stands in the other, from 0 to 1, in words."""
    less, more = sorted((words_of(claim), words_of(text)), key=len)
    return sum(_is_said(word, more) for word in less) / max(1, len(less))


def values(text: str) -> int:
    """Return how many numbers, dates and days of the week a text gives."""
    said = _said(text, "")
    return max(len(said.told), len(said.weekdays), len(said.days))


def _bare(text: str) -> str:
    return f" {' '.join(_WORD.findall(fold(text)))} "


# --- what a text says ---------------------------------------------------------------------


class _Said(NamedTuple):
    """The words, numbers and times of texts, seen from the days on which they were said."""

    words: frozenset[str]
    proper: frozenset[str]
    """Its words with a capital; all where it has none."""
    numbers: frozenset[str]
    """With the parts that numbers and times are made of."""
    told: frozenset[str]
    """The numbers that it states by themselves: without those of its dates and hours."""
    days: frozenset[tuple[int, int]]
    months: frozenset[int]
    weekdays: frozenset[float]
    """Those named."""
    of_dates: frozenset[float]
    """The days of the week of its dates."""
    hours: frozenset[tuple[int, int]]
    """Hour on a dial, and minutes; `12.03` is a date."""
    told_on: frozenset[date]


@lru_cache(maxsize=4096)
def _said(text: str, day: str) -> _Said:
    dates, rest = _dates(text, day)
    spoken = _WORD.findall(text)
    loose = {(int(m[1]), int(m[2] or m[3] or m[4])) for m in _DAY_MONTH.finditer(rest)}
    days = {(one.month, one.day) for one in dates}
    bare = _DAY_MONTH.sub(" ; ", rest)
    hours = {(int(m[1]) % HALF_DAY, int(m[2] or 0)) for m in _TIME.finditer(bare)}
    words = frozenset(_WORD.findall(f"{fold(text)} {fold(text.replace('ё', 'йо'))}"))
    own = numbers(_TIME.sub(" ; ", bare), parts=False)
    named = (value_of(one.casefold(), kind="mo") for one in spoken if one not in _NO_MONTHS)
    return _Said(
        words,
        frozenset(fold(one) for one in spoken if one != one.lower()) or words,
        numbers(text, parts=True) | {str(one[0]) for one in hours},
        own | frozenset(_YEAR.findall(text)),
        frozenset(days | loose | {pair[::-1] for pair in loose}),
        frozenset({month for month, _ in days} | set(map(int, filter(None, named)))),
        frozenset(one for word in spoken if (one := weekday(word)) is not None),
        frozenset(one.weekday() for one in dates),
        frozenset(hours),
        frozenset([_day(day)] if day else ()),
    )


def _dates(text: str, day: str) -> tuple[set[date], str]:
    """Return the days that a text names by date, seen from a day, and the text without them."""
    noon = datetime.combine(_day(day), time(12)).astimezone()
    found: set[date] = set()
    for span in mentioned(text, "", noon):
        words = _WORD.findall(span.text)
        counted = numbers(span.text, parts=True) or all(weekday(word) is None for word in words)
        if span.start and span.end and span.end - span.start <= timedelta(days=1) and counted:
            found.add(span.start.date())
            text = text.replace(span.text, " ; ", 1)
    return found, text


def _day(day: str) -> date:
    return date.fromisoformat(day if re.fullmatch(r"\d{4}-\d\d-\d\d", day) else "2000-01-01")


def _lost_number(mine: _Said, said: _Said, names: int, sources: Sequence[Message]) -> str:
    """Return a number of a claim that nobody said; `names`: how many the claim lists."""
    spoken = said.numbers
    years = {str(day.year + at) for day in said.told_on for at in (-1, 0, 1)}
    free = {str(names), str(names + 1), "1", "0.5", "0.25"} | (years & mine.told)
    squeezed = [re.sub(r"\W", "", one.text) for one in sources]
    for number in sorted(mine.told - spoken - free):
        ways = [number, *(plain(round(float(number) * by, 6)) for by in _UNITS)]
        long = len(number) >= LONG_NUMBER and any(number in text for text in squeezed)
        if not long and not any(_is_spoken(one, spoken) for one in ways):
            return number
    for hour, minute in sorted(mine.hours - said.hours):
        near = {hour, hour + HALF_DAY, *((0, 24) if not hour else ())}
        part = {0: "", 30: "0.5", 15: "0.25", 45: "0.25"}.get(minute, str(minute))
        late = minute in (30, 45) and part in spoken
        near |= {(hour + 1) % HALF_DAY, hour + 1, hour + 1 + HALF_DAY} if late else set()
        told = not part or part in spoken or str(minute) in spoken
        if not told or not {str(one) for one in near} & spoken:
            return f"{hour}:{minute:02}"
    return ""


def _other_number(claim: str, quote: str, day: str) -> str:
    """Return a number of a claim whose quote has numbers, too, and none of the claim's."""
    mine, there = _said(claim, day), _said(quote, day)
    spoken = there.numbers | {str(hour + HALF_DAY) for hour, _ in there.hours}
    hours = {str(hour + late) for hour, _ in mine.hours for late in (0, HALF_DAY)}
    hours |= {part for _, minute in mine.hours if (part := {30: "0.5", 45: "0.25"}.get(minute))}
    given = mine.told | hours | {str(one) for pair in mine.days for one in pair}
    ways = {plain(round(float(one) * by, 6)) for one in given for by in (1, *_UNITS)}
    if not (there.told | there.hours) or not (mine.told | mine.hours):
        return ""
    same = any(_is_spoken(one, spoken | {"1"}) or one in spoken for one in ways)
    return "" if same else min(mine.told, default="an hour")


def _is_spoken(number: str, spoken: frozenset[str]) -> bool:
    """Tell whether a number was said, a half of it by itself."""
    whole, _, rest = number.partition(".")
    if rest == "5" and "0.5" in spoken and whole in spoken | {"1"}:
        return True
    return number in spoken - {"0.25", "1"}


# --- dates --------------------------------------------------------------------------------


def _lost_date(mine: _Said, said: _Said) -> str:
    """Return a date, month or day of the week that nobody said."""
    days, months, weekdays, told = said.days, said.months, said.weekdays, said.told_on
    around = months | {(one.month + at - 1) % 12 + 1 for one in told for at in (0, 1)}
    for month, day in sorted(mine.days - days):
        near = (one + timedelta(days=at) for one in told for at in range(-FORTNIGHT, FORTNIGHT + 1))
        by_weekday = any((d.month, d.day) == (month, day) and d.weekday() in weekdays for d in near)
        if not by_weekday and not (str(day) in said.numbers and month in around):
            if (day, month) in mine.days and (day, month) in days:
                continue
            return f"{day}.{month}."
    if mine.months - months - {month for month, _ in mine.days}:
        return "a month"
    known = weekdays | mine.of_dates | said.of_dates
    return "a day" if mine.weekdays - known else ""


# --- names --------------------------------------------------------------------------------


def _names(claim: str, spoken: str) -> Iterator[str]:
    """Yield the words of a claim that are names by their capital letter.

    The word that opens a sentence has one whatever it is: it counts where it is known as a name.
    """
    language = detect(claim)
    if language in CAPITAL_NOUNS:
        return
    found = list(_LETTERS.finditer(claim))
    for at, match in enumerate(found):
        word = match.group()
        after_digit = claim[: match.start()].rstrip()[-1:].isdigit()
        if word[0] == word[0].lower() and not re.match(r"[a-z][A-Z]", word):
            continue
        if len(word) < 3 or (after_digit and len(word) < 4) or _is_ordinary(fold(word)):  # noqa: PLR2004
            continue
        before = claim[: match.start()].rstrip("\"„«“'(* ")
        follows = found[at + 1].group() if at + 1 < len(found) else ""
        if not before or _ENDS.search(before):
            if language and spoken and language != spoken and not follows[:1].isupper():
                continue
            whose = claim[match.end() : match.end() + 2].startswith(("'s", "’s", ","))
            if not whose and sound(fold(word)) not in groups():
                continue
        yield word


@lru_cache(maxsize=20_000)
def _is_ordinary(folded: str) -> bool:
    framed = (one for one in FRAME if len(one) > SHORT and folded.startswith(one))
    if any(framed) or {folded, folded.removesuffix("s")} & (SMALL | FRAME):
        return True
    stop = any(folded in one for one in BY_LANGUAGE.values())
    return stop or weekday(folded) is not None or value_of(folded, kind="mo") is not None


def _is_among(name: str, spoken: frozenset[str], proper: frozenset[str]) -> bool:
    """Tell whether a name was said, in any case and in either alphabet.

    Ordinary words of the talk must differ in their endings alone.
    """
    parts = (name,) if fold(name) in spoken else name.split("-")
    return all(
        any(same_name(fold(part), other, loosely=other in proper) for other in spoken)
        for part in parts
    )


# --- words and negations ------------------------------------------------------------------


def _unspoken(claim: str, texts: Sequence[str]) -> Fault | None:
    """Return the first telling word of a claim where too few of them were said together."""
    telling = [
        word
        for word in content(claim)
        if word.folded[:1].isalpha()
        and word.folded not in SMALL | SOFT
        and not _NOT.fullmatch(word.folded)
        and not _is_ordinary(word.folded)
    ]
    held = [words_of(one) for one in texts]
    said = [[_is_said(word, words) for words in held] for word in telling]
    starts = range(max(1, len(held) - WINDOW + 1))
    best = max(sum(any(row[at : at + WINDOW]) for row in said) for at in starts)
    if best < (len(telling) if len(telling) <= SHORT else SPOKEN_OF * len(telling)):
        lost = next((w for w, row in zip(telling, said, strict=True) if not any(row)), telling[0])
        return Fault("words not in evidence", lost.folded)
    return None


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[Word, ...]:
    """Return the content words of a text."""
    return content(text)


def _is_said(word: Word, among: Iterable[Word]) -> bool:
    """Tell whether a word is among others in whatever form."""
    for other in among:
        long = max(len(word.folded), len(other.folded))
        ending = 3 if long > 2 * SHORT - 2 else 2
        if word.same(other) or letters_shared(word.folded, other.folded) >= max(
            SHORT - 1, long - ending
        ):
            return True
    return False


def _same_side(claim: str, sources: Sequence[str]) -> bool:
    """Tell whether a claim and the clauses that are nearest to it both deny, or neither."""
    clauses = [part for text in sources for part in _clauses(text)]
    if not clauses:
        return True
    denying = [bool(_NOT.search(one)) for one in clauses]
    turned, whole = any(map(_TURNS.search, clauses)), fold(claim)
    compared = False
    tongues = {detect(claim), detect(" ".join(sources))}
    for part in _clauses(claim) if len(tongues) == 1 or "" in tongues else ():
        mine = [word for word in words_of(part) if not _NOT.fullmatch(word.folded)]
        near = [sum(_is_said(word, mine) for word in words_of(one)) for one in clauses]
        most = max(near)
        if not most:
            continue
        sides = {no for no, count in zip(denying, near, strict=True) if count == most}
        denies, compared = bool(_NOT.search(part)), True
        turns = turned if denies else _TURNS.search(part)
        if denies not in (sides if len(sides) == 1 else {False}) and not turns:
            return False
    if compared:
        return True
    if _NOT.search(whole):
        return any(denying) or turned
    return not all(denying) or bool(_TURNS.search(whole))


def _clauses(text: str) -> list[str]:
    parts = _CLAUSE.split(_ANSWER.sub("", fold(text)))
    return [part for part in parts if _WORD.search(part)]
