"""Time in questions and in messages: which stretch of the calendar a piece of text speaks of.

A text becomes nodes, one a word, each with the kinds of word that it may be: a unit, a month,
"ago". The kinds of six languages stand in when.toml, and one grammar over kinds reads them all: its
rules replace what they match by a node of kind `time`. Later rules read what stands around a time
("since", "early", "the day after") and between two of them ("from ... to"). A full date in another
language is left to dateparser.
"""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from dateutil.easter import easter

from vaultmind.errors import BadArgument
from vaultmind.heavy import importing
from vaultmind.index.words.terms import fold

LANGUAGES = ("en", "pl", "ru", "de", "es", "fr")
"""Languages whose words of time are known."""
MAX_CHARACTERS = 20_000
"""Characters of a text that are read: a longer message is a pasted file."""
MAX_SPANS = 12
"""Times of one text; a timetable of a hundred days is about none of them."""
YEARS_AHEAD = 30
DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)
OPEN_SCALE = timedelta(days=30)
"""Distance at which a moment outside an open stretch ("since March") is worth one half."""
LATER = timedelta(weeks=52)
"""How much later the same words are read again: a relative date then means another day."""
FIRST_YEAR = 1900
ALLOWED = "a date such as 2026-02-20, or words of time ('last week', 'w lutym', 'март 2025')"
SMALL = 3
"""Letters of a word in a filter that says no time and is no fault: "from", "z", the article."""
MAX_FILTER = 60
"""Characters of a filter's words of time."""

_FEW = 3
"""How many "a few" are, about; "a couple" is less."""
_MONTHS = {"m": 1, "q": 3, "y": 12}
_DAYS = {"h": 0, "d": 1, "w": 7, "m": 30, "q": 91, "y": 365}
_SEASONS = ("spring", "summer", "autumn", "winter", "christmas", "newyear", "easter")
_VALUES: dict[str, Sequence[Any]] = {
    "month": range(1, 13), "ordinal": (*range(1, 21), 30), "weekday": range(7), "season": _SEASONS,
    "day": range(-2, 3), "shift": range(-2, 2), "shift_after": range(-2, 2), "unit": "hdwmqy",
    "number": (*range(1, 13), 15, 20, 30),
}  # fmt: skip
"""What the entries of a list stand for; a kind without values is one pattern."""
_TELLING = frozenset(
    {"unit", "month", "maybe_month", "weekday", "season", "maybe_season", "day", "weekend",
     "quarter", "recent", "decade", "code", "year", "date"}
)  # fmt: skip
"""Kinds of which a text has one if it says a time."""
_OPENERS = ("since", "after", "before", "until")
_THIRDS = ("early", "middle", "late")
_ITEM = re.compile(r"(!?)(?:(\w+)=)?([\w|]+)([?*]?)")
_FORM_END = re.compile(r"\|(?![^(]*\))")
"""A bar between two forms, not inside one."""
_LETTER: dict[str, str] = {}
"""A letter for each kind, of which the patterns of rules are made."""

_TOKEN = re.compile(
    r"(?P<date>(?<![\d/.-])(?:\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d)(?:T[\d:.]+Z?)?(?![/-]?\d)"
    r"|(?<![\d/.-])(?:19|20)\d\d-\d\d(?![/.-]?\d)"
    r"|(?<![\d/.-])(?:\d\d?\.\d\d?\.\d{4}|\d\d?/\d\d?/\d{4}|\d\d?-\d\d?-\d{4})(?![/-]?\d))"
    r"|(?P<code>(?<!\w)[qt][1-4](?!\w)|(?<!\w)h[12](?!\w))"
    r"|(?P<year>(?<![\d.,:/])(?:19|20)\d\d(?![.,:/-]?\d))"
    r"|(?P<number>\d+)|(?P<word>[^\W\d_]+)|(?P<dash>[-–—])|(?P<dot>\.(?=\s?\w))|(?P<comma>,)"
    r"|(?P<stop>[^\w\s])",
    re.IGNORECASE,
)
_INSIDE = re.compile(r"(?<=[^\W\d_])['’-](?=\w)|(?<=\d)['’-](?=[^\W\d_])")
"""Apostrophes and hyphens inside words, which only part them."""
_PART_OF_NUMBER = re.compile(r"[:%]|[.,/]\d")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?\n]\s")
_SENTENCE = 300
"""Characters either way in which a time's sentence is looked for."""
_NOTED = re.compile(r"\s*\(")
_DATED = re.compile(r"(?<!\S)\S+( \(\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\))")
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.+\-Z]+)?")
_WORDS = re.compile(r"[^\W_]+")
_LETTERS = r"[^\W\d_]{2,14}\.?"
_WRITTEN = re.compile(
    rf"(?<![\w.,:/-])(?:\d{{1,2}}(?:\.|\s?[^\W\d_]{{1,2}}|º|ª)?\s+(?:(?:de|di|do|of|den|van)\s+)?"
    rf"{_LETTERS}|{_LETTERS}\s+\d{{1,2}}(?:\.|st|nd|rd|th)?)[,.]?\s+"
    r"(?:(?:de|del|di|do|of|r\.)\s+)?(?:19|20)\d\d(?![\w%])",
    re.IGNORECASE,
)
"""A number, a word or two and a year: all that dateparser sees, as it takes "we" for Wednesday."""
_MAX_WRITTEN = 4


@dataclass(frozen=True, slots=True)
class Span:
    """What a time expression means: from `start` up to, and without, `end`."""

    start: datetime | None
    """None: it has no beginning ("before Christmas")."""
    end: datetime | None
    """None: it has no end ("since March")."""
    text: str
    """The words that say so, as they stand in the text."""
    explicit: bool
    """Whether nothing was guessed: no year, no weekday's week, no "some", no "late"."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Days from `start` up to, and without, `end`."""

    start: date
    end: date
    sure: bool = True
    """Whether nothing was guessed."""
    year_said: bool = True
    """Whether its year is said or counted, so that a range need not lend it one."""


@dataclass(frozen=True, slots=True)
class Node:
    """A word of a text, or a time that rules have read."""

    start: int
    end: int
    kinds: Mapping[str, Any]
    """What it may be, and what it means as that."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a rule has matched: the value of each word by its kind, and what it is seen from."""

    values: Mapping[str, Any]
    kinds: frozenset[str]
    """All kinds of the words matched."""
    today: date
    is_ahead: Callable[[], bool]
    """Whether the sentence speaks of what is to come."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401
        return self.values[name]


def spans(query: str, language: str, base: datetime) -> tuple[Span, ...]:
    """Return the times that a question asks about, in the order of the text.

    `language` is an ISO 639-1 code; empty: the one of LANGUAGES whose words of time it has most.
    `base` is now, where the person is: days begin at its midnight, and the spans have its zone.
    """
    return _find(query[:MAX_CHARACTERS], language, base, told=False)


def mentioned(text: str, language: str, said: datetime) -> tuple[Span, ...]:
    """Return the times that a message speaks of, seen from the day it was said on.

    Code and addresses are not looked at.
    """
    text = text[:MAX_CHARACTERS]
    if "`" in text or "://" in text:
        text = _CODE.sub(lambda match: " " * len(match[0]), text)
    return _find(text, language, said, told=True)


def covers(span: Span, moment: datetime) -> bool:
    """Tell whether a moment lies in a span. A moment without a time zone is in the span's."""
    return _distance(span, moment) == timedelta(0)


def closeness(span: Span, moment: datetime) -> float:
    """Return how near a moment is to a span, in (0, 1]: 1 inside it, half for each scale outside.

    The scale is half of the span's length, a day at least: what is a week away from "in 2023" is
    near, what is a week away from "yesterday" is not.
    """
    scale = OPEN_SCALE
    if span.start is not None and span.end is not None:
        scale = max(DAY, (span.end - span.start) / 2)
    return float(0.5 ** min(1000.0, _distance(span, moment) / scale))


def _distance(span: Span, moment: datetime) -> timedelta:
    edge = span.start or span.end
    if edge is not None and (edge.tzinfo is None) != (moment.tzinfo is None):
        moment = moment.replace(tzinfo=edge.tzinfo)
    if span.start is not None and moment < span.start:
        return span.start - moment
    if span.end is not None and moment >= span.end:
        return max(moment - span.end, timedelta(microseconds=1))
    return timedelta(0)


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
    span = _filter(name, text, now)
    if span.start is None:
        raise BadArgument(name, text, f"a time with a beginning; {ALLOWED}")
    return span.start.date().isoformat()


def last_day(name: str, text: str, now: datetime) -> str:
    """Return the day that a filter "before" ends with, as ISO: the last of what is meant.

    Raises BadArgument for what is no time, or has no end ("since March").
    """
    span = _filter(name, text, now)
    if span.end is None:
        raise BadArgument(name, text, f"a time with an end; {ALLOWED}")
    return (span.end - timedelta(microseconds=1)).date().isoformat()


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
                found = _find(said, language, now, told=False, led=is_led)
                own = {w.casefold() for one in found for w in _WORDS.findall(one.text)}
                rest = [w for w in _WORDS.findall(said) if w.casefold() not in own]
                if len(found) == 1 and all(len(word) <= SMALL for word in rest):
                    return found[0]
    raise BadArgument(name, text, ALLOWED)


# ---- Words


class Lexicon:
    """The words of time of a language; of one that is not known none, only figures."""

    def __init__(self, language: str, table: Mapping[str, str]) -> None:
        self.language = language
        self.has_small_months = language not in ("en", "de")
        self.past = _any_of(table.get("past", "(?!)"))
        self.future = _any_of(table.get("future", "(?!)"))
        self._entries: list[tuple[str, Any, re.Pattern[str]]] = []
        for kind, words in table.items():
            line = fold("" if kind in ("past", "future") else words).replace(r"\w", "[^_]")
            values = _VALUES.get(kind, (True,))
            for value, entry in zip(values, line.split(), strict=False):
                self._entries.append((kind, value, re.compile(entry)))
        forms = (one for *_, entry in self._entries for one in _FORM_END.split(entry.pattern))
        self._any = re.compile("|".join(entry.pattern for *_, entry in self._entries) or "(?!)")
        phrases = sorted((form for form in forms if "_" in form), key=len, reverse=True)
        self.phrases = re.compile(rf"(?<![^_])(?:{'|'.join(phrases) or '(?!)'})(?![^_])")
        self.kinds = lru_cache(maxsize=20_000)(self._kinds)

    def _kinds(self, word: str) -> dict[str, Any]:
        """Return what a folded word, or words joined by `_`, may be."""
        if not self._any.fullmatch(word):
            return {}
        found = {kind: value for kind, value, entry in self._entries if entry.fullmatch(word)}
        if "noise" in found:
            return {}
        if "decade" in found:
            found["decade"] = int("".join(filter(str.isdigit, word))[-2:])
        if not found.keys().isdisjoint((*_OPENERS, *_THIRDS, "between")):
            found["at"] = True
        if "unit" in found:
            found[f"unit_{found['unit']}"] = found["unit"]
            found["units" if "plural" in found else "one_unit"] = found["unit"]
        if "shift" in found and "plural" in found:
            found["shifts"] = found["shift"]
        for kind in ("weekday", "season"):
            if f"bare_{kind}" in found and kind in found:
                found[f"bare_{kind}"] = found[kind]
        if "month" in found and self.language == "en":
            found["month_first"] = found["month"]
        if "month" in found and "unsure" not in found:
            found["sure_month"] = found["month"]
        return found


def _any_of(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)")


@cache
def _lexicon(language: str) -> Lexicon:
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return Lexicon(language, tables.get(language, {}))


def _read_words(text: str, language: str) -> tuple[Lexicon, list[Node]]:
    """Return the nodes of a text and the words they were read by."""
    tokens = [(match, fold(match[0])) for match in _TOKEN.finditer(_INSIDE.sub(" ", text))]
    words = {word for _, word in tokens}
    if language:
        lexicon = _lexicon(language)
    else:
        lexicon = max(map(_lexicon, LANGUAGES), key=lambda one: sum(
            not _TELLING.isdisjoint(one.kinds(word)) for word in words))  # fmt: skip
    joined = "_".join(word for _, word in tokens)
    at, place = {0: 0}, 0
    for number, (_, word) in enumerate(tokens, 1):
        place += len(word) + 1
        at[place] = number
    nodes, done = [], 0
    for phrase in lexicon.phrases.finditer(joined):
        first, last = at[phrase.start()], at[phrase.end() + 1]
        nodes += [_node(*token, text, lexicon) for token in tokens[done:first]]
        ends = tokens[first][0].start(), tokens[last - 1][0].end()
        nodes.append(Node(*ends, lexicon.kinds(phrase[0])))
        done = last
    return lexicon, nodes + [_node(*token, text, lexicon) for token in tokens[done:]]


def _node(match: re.Match[str], word: str, text: str, lexicon: Lexicon) -> Node:
    start, end = match.span()
    kind = match.lastgroup or ""
    kinds: dict[str, Any] = {kind: word}
    if kind == "word":
        kinds = lexicon.kinds(word)
        if "unsure" in kinds or "season" in kinds:
            kinds = _without_names(kinds, start, text, lexicon)
    elif kind == "year":
        kinds = {"year": int(word)}
    elif kind == "number":
        kinds = {"number": int(word)} if len(word) <= 3 else {}  # noqa: PLR2004
        is_part = text[start - 1 : start] in tuple(".,:/") or _PART_OF_NUMBER.match(text, end)
        if 0 < int(word) <= 31 and not is_part:  # noqa: PLR2004
            kinds["date_day"] = int(word)
    return Node(start, end, kinds)


def _without_names(
    kinds: dict[str, Any], start: int, text: str, lexicon: Lexicon
) -> dict[str, Any]:
    """Return the kinds of a month or season that is also a name or a common word, if it is one."""
    is_capital = text[start].isupper()
    if "unsure" in kinds:
        if lexicon.has_small_months:
            is_name = is_capital
        else:
            is_led = text[:start].lower().endswith(("in ", "since "))
            is_name = not (is_capital or is_led or text.islower())
        kind = "month"
    else:
        starts = not text[:start].strip() or text[:start].rstrip()[-1] in ".!?¿¡\n"
        is_name = is_capital and lexicon.language != "de" and not starts
        is_name = is_name and kinds["season"] in _SEASONS[:4]
        kind = "season"
    if not is_name:
        return kinds
    return {f"maybe_{kind}": kinds[kind]} | {k: v for k, v in kinds.items() if not k.endswith(kind)}


# ---- Rules


@dataclass(frozen=True, slots=True)
class _Text:
    """What nodes are read in."""

    text: str
    lexicon: Lexicon
    today: date
    told: bool
    """Whether somebody tells it, not asks."""

    def is_ahead(self, start: int, end: int) -> bool:
        """Tell whether a time without a year or a week is one to come.

        People ask about what was. In a message it is said by the sentence: "I will", "I moved".
        One that says neither ("the deadline is 12 May") is of what is to come, but for "since May".
        """
        first = max(0, start - _SENTENCE)
        ends = _SENTENCE_END.finditer(self.text, first, start)
        before = max((one.end() for one in ends), default=first)
        found = _SENTENCE_END.search(self.text, end, end + _SENTENCE)
        after = found.start() if found else min(len(self.text), end + _SENTENCE)
        sentence = self.text[before:after].lower()
        if self.lexicon.future.search(fold(sentence)):
            return True
        if not self.told or self.lexicon.past.search(sentence):
            return False
        lead = _WORDS.findall(fold(self.text[before:start]))[-2:]
        return not any("since" in self.lexicon.kinds(word) for word in lead)


Reader = Callable[[Words], Stretch | None]


class _Rules:
    """Rules over kinds of words as one pattern; the first that fits at the earliest place is taken.

    A rule is words like "shift glue* unit": a kind, or some with `|`, and how often it stands. What
    stands before ":" is looked at and left, "!kind" must not follow, and "name=kind" gives the word
    a name of its own. A third part names kinds that the time is, besides `time`.
    """

    def __init__(self, *rules: tuple[str, Reader | None] | tuple[str, Reader, str]) -> None:
        self.rules = rules
        self.kinds: list[dict[str, list[str]]] = [{} for _ in rules]
        compiled = (
            f"(?P<r_{number}>{self._compiled(rule[0], number)})" for number, rule in enumerate(rules)
        )
        self.pattern = re.compile(f"(?=<[^>])(?:{'|'.join(compiled)})")

    def _compiled(self, rule: str, number: int) -> str:
        context, _, core = rule.rpartition(":")
        made = [self._item(item, number) for item in context.split()]
        made.append(f"(?P<core_{number}>)")
        return "".join(made + [self._item(item, number) for item in core.split()])

    def _item(self, item: str, number: int) -> str:
        negative, name, listed, often = _ITEM.fullmatch(item).groups()  # type: ignore[union-attr]
        kinds = listed.split("|")
        letters = "".join(_LETTER.setdefault(kind, chr(0xE000 + len(_LETTER))) for kind in kinds)
        node = f"<[^<>]*[{letters}][^<>]*>"
        if negative:
            return f"(?!{node})"
        name = name or kinds[0]
        if often == "*" or name in self.kinds[number]:
            return f"(?:{node}){often}"
        self.kinds[number][name] = kinds
        return f"(?P<{name}_{number}>{node}){often}"

    def apply(self, nodes: list[Node], place: _Text) -> list[Node]:
        """Return nodes with those that a rule matches replaced by one."""
        code, at = "", {}
        for index, node in enumerate(nodes):
            at[len(code)] = index
            code += f"<{''.join(_LETTER.get(kind, '') for kind in node.kinds)}>"
        at[len(code)] = len(nodes)
        made: list[Node] = []
        done = 0
        for match in self.pattern.finditer(code):
            number = int((match.lastgroup or "")[2:])
            first, last = at[match.start(f"core_{number}")], at[match.end()]
            words = {name: nodes[at[match.start(f"{name}_{number}")]]
                     for name in self.kinds[number] if match[f"{name}_{number}"]}  # fmt: skip
            made += nodes[done:first]
            made.append(self._read(number, words, nodes[first:last], place))
            done = last
        return made + nodes[done:]

    def _read(
        self, number: int, words: Mapping[str, Node], matched: Sequence[Node], place: _Text
    ) -> Node:
        _, reader, *also = self.rules[number]
        start, end = matched[0].start, matched[-1].end
        values = {
            name: next(node.kinds[kind] for kind in self.kinds[number][name] if kind in node.kinds)
            for name, node in words.items()
        }
        kinds = frozenset(kind for node in matched for kind in node.kinds)
        said = Words(values, kinds, place.today, lambda: place.is_ahead(start, end))
        with suppress(ValueError, OverflowError):
            stretch = reader(said) if reader else None
            if stretch is not None and stretch.start.year >= FIRST_YEAR:
                return Node(start, end, dict.fromkeys(("time", *(also or ("moment",))), stretch))
        return Node(start, end, {})


# ---- Readers: what the words of a rule mean


def _day(of: date) -> Stretch:
    return Stretch(of, of + DAY)


def _months(year: int, first: int, count: int = 1) -> Stretch:
    """Return so many months from the first of one, which may be under 1 or over 12."""
    return Stretch(*(date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)
                     for month in (first, first + count)))  # fmt: skip


def _moved(day: date, months: int) -> date:
    """Return the day so many months on; of a shorter month its last."""
    first = _months(day.year, day.month + months)
    return first.start + timedelta(days=min(day.day, (first.end - first.start).days) - 1)


def _numeric(w: Words) -> Stretch | None:
    """Read 2023-05-03, 2023-05, 3.5.2023 or 03/05/2023; in English the last may be either day."""
    written = w["date"]
    parts = [int(part) for part in re.findall(r"\d+", written)[:3]]
    if parts[0] > 31:  # noqa: PLR2004
        return _day(date(*parts)) if len(parts) > 2 else _day(date(*parts, 1)) and _months(*parts)  # noqa: PLR2004
    first, second, year = parts
    if second > 12 >= first:  # noqa: PLR2004
        first, second = second, first
    elif "english" in w.kinds and "." not in written and first <= 12 and first != second:  # noqa: PLR2004
        return None
    return _day(date(year, second, first))


def _nearest(make: Callable[[int], Stretch], w: Words) -> Stretch:
    """Return this stretch of a year: the next one, or the last that has begun.

    29 February is looked for up to eight years away.
    """
    year, is_ahead = w.today.year, w.is_ahead()
    for one in range(year - 1, year + 9) if is_ahead else range(year + 1, year - 9, -1):
        with suppress(ValueError):
            stretch = make(one)
            if stretch.end > w.today if is_ahead else stretch.start <= w.today:
                return replace(stretch, sure=False, year_said=False)
    raise ValueError("no such day")


def _of_year(make: Callable[[int], Stretch], w: Words) -> Stretch:
    """Return a stretch of the year that is said, of last year, the last one, or the nearest."""
    if "year" in w.values:
        return make(w["year"])
    if "that_year" in w.values:
        return make(w["that_year"].start.year)
    if "shift" not in w.values:
        return _nearest(make, w)
    year = w.today.year
    if w["shift"] < 0:
        year = next(y for y in range(year + 1, year - 3, -1) if make(y).end <= w.today)
    elif w["shift"] > 0:
        year = next(y for y in range(year - 1, year + 3) if make(y).start > w.today)
    return replace(make(year), sure=False)


def _date(w: Words) -> Stretch | None:
    first = w.values.get("date_day") or w["ordinal"]
    if "tens" in w.values:
        first += w["tens"]
    last = w.values.get("last", first)

    def make(year: int) -> Stretch:
        return Stretch(date(year, w["month"], first), date(year, w["month"], last) + DAY)

    return _of_year(make, w) if first <= last else None


def _month(w: Words) -> Stretch:
    count = (w.values.get("last", w["month"]) - w["month"]) % 12 + 1
    if "year" in w.values and w["month"] + count > 13:  # noqa: PLR2004  (from November to May 2023)
        return _months(w["year"] - 1, w["month"], count)
    return _of_year(lambda year: _months(year, w["month"], count), w)


def _part_of_year(months: int) -> Reader:
    """Return a reader of a quarter or half of a year: its code or ordinal and how long it is."""

    def read(w: Words) -> Stretch:
        which = int(w["code"][1]) if "code" in w.values else w["ordinal"]
        if which * months > 12:  # noqa: PLR2004
            raise ValueError(f"no part {which} of a year")
        return _of_year(lambda year: _months(year, months * (which - 1) + 1, months), w)

    return read


def _code(w: Words) -> Stretch:
    return _part_of_year(6 if w["code"][0] == "h" else 3)(w)


def _season(w: Words) -> Stretch:
    """Read a season or a feast; a winter is named by the year in which it ends."""
    name, is_east = w["season"], "east" in w.kinds

    def make(year: int) -> Stretch:
        if name == "christmas":
            first, days = (date(year, 1, 6), 2) if is_east else (date(year, 12, 24), 3)
        elif name == "newyear":
            first, days = date(year - 1, 12, 31), 2
        elif name == "easter":
            first, days = easter(year, 2 if is_east else 3) - 2 * DAY, 4
        else:
            return _months(year - (name == "winter"), 3 * (_SEASONS.index(name) + 1))
        return Stretch(first, first + days * DAY)

    def three_months(year: int) -> Stretch:
        made = make(year)
        return made if name not in _SEASONS[:4] else Stretch(made.start, _moved(made.start, 3))

    stretch = _of_year(three_months, w)
    return stretch if "that_year" in w.values else replace(stretch, sure=False)


def _unit(w: Words) -> Stretch:
    """Return the calendar's week (from Monday), month, quarter or year, so many from now."""
    today, shift, unit = w.today, w.values.get("shift", 0), w["unit"]
    if unit == "w":
        monday = today + timedelta(weeks=shift, days=-today.weekday())
        return Stretch(monday, monday + WEEK)
    if unit == "q":
        return _months(today.year, 3 * ((today.month - 1) // 3 + shift) + 1, 3)
    return (
        _months(today.year + shift, 1, 12)
        if unit == "y"
        else _months(today.year, today.month + shift)
    )


def _several(w: Words) -> Stretch | None:
    """Read "the last three months"; "in the last days" is about three of them."""
    count = w.values.get("number", 1 if "one_unit" in w.kinds else _FEW)
    is_sure = ("number" in w.values or count == 1) and "few" not in w.kinds
    unit, today, end = w["unit"], w.today, w.today + DAY
    back = w.values.get("shift", -1) <= 0
    if unit in _MONTHS:
        edge = _moved(today, (-count if back else count) * _MONTHS[unit])
    else:
        edge = (
            today
            + timedelta(days=count * max(1, _DAYS[unit])) * (-1 if back else 1)
            + (0 if back else 1) * DAY
        )
    return Stretch(edge, end, is_sure) if back else Stretch(today, edge, is_sure)


def _around(unit: str, today: date, count: float) -> Stretch:
    """Return what so many units ago (below 0) or ahead means: days exactly, weeks about."""
    if unit in ("h", "d"):
        return _day(today + timedelta(days=count if unit == "d" else round(count / 24)))
    if unit == "w":
        middle, leeway = today + timedelta(weeks=count), 3
    else:
        middle, leeway = _moved(today, round(count * _MONTHS[unit])), 91 if unit == "y" else 15
    return Stretch(middle - leeway * DAY, middle + (leeway + 1) * DAY, sure=False)


def _counted(sign: int) -> Reader:
    """Return a reader of "three weeks ago" or "in three weeks"."""

    def read(w: Words) -> Stretch | None:
        unit, count = w["unit"], w.values.get("number", 1)
        if "number" not in w.values and "plural" in w.kinds:
            return None  # so many that the number is not known
        if not w.kinds.isdisjoint(("half", "and_half", "one_and_half")):
            count = 0.5 if "half" in w.kinds else count + 0.5
            if unit == "y":
                return _around("m", w.today, sign * count * 12)
            return replace(
                _day(w.today + timedelta(days=int(sign * count * _DAYS[unit]))), sure=False
            )
        made = _around(unit, w.today, sign * count)
        if "few" not in w.kinds or sign > 0:
            return made
        if count < _FEW:
            leeway = timedelta(days=unit == "d")
            return Stretch(made.start - leeway, made.end + leeway, sure=False)
        first, last = (_around(unit, w.today, sign * (count + more)) for more in (1, -1))
        return Stretch(first.start, last.end, sure=False)

    return read


def _weekday(w: Words) -> Stretch:
    """Return the weekday before or after today; "this" one is of this week."""
    shift, today = w.values.get("shift"), w.today
    if "that_week" in w.values:
        return _day(w["that_week"].start + timedelta(days=w["weekday"]))
    ahead = (w["weekday"] - today.weekday() - 1) % 7 + 1
    if shift == 0:
        days = w["weekday"] - today.weekday()
    elif shift == 1 or (shift is None and w.is_ahead()):
        days = ahead
    else:
        days = ahead - 7 if ahead < 7 else -7  # noqa: PLR2004
    return replace(_day(today + timedelta(days=days)), sure=False)


def _weekend(w: Words) -> Stretch:
    shift, monday = w.values.get("shift"), w.today - timedelta(days=w.today.weekday())
    week = shift or 0
    if shift is None and monday + 5 * DAY > w.today and not w.is_ahead():
        week = -1
    saturday = monday + timedelta(weeks=week, days=5)
    return Stretch(saturday, saturday + 2 * DAY, shift is not None)


def _year(w: Words) -> Stretch | None:
    last = w.values.get("last", w["year"])
    return _months(w["year"], 1, 12 * (last + 1 - w["year"])) if (
        last <= w.today.year + YEARS_AHEAD and last >= w["year"]) else None  # fmt: skip


def _decade(w: Words) -> Stretch:
    century = 2000 if w["decade"] < 50 else 1900  # noqa: PLR2004
    return replace(_months(century + w["decade"], 1, 120), sure=False)


def _third(which: int) -> Reader:
    """Return a reader of the first (0), middle (1) or last (2) third of a time."""

    def read(w: Words) -> Stretch:
        of: Stretch = w["time"]
        days = (of.end - of.start).days
        if days <= 1:
            return of
        return Stretch(of.start + timedelta(days=days * which // 3),
                       of.start - timedelta(days=-days * (which + 1) // 3),
                       False, of.year_said)  # fmt: skip

    return read


def _beside(sign: int) -> Reader:
    """Return a reader of "two days before" (-1) or after (1) a time."""

    def read(w: Words) -> Stretch:
        of, days = w["time"], _DAYS[w["unit"]] * w.values.get("number", 1)
        if w["unit"] == "d":
            shifted = of.start - days * DAY if sign < 0 else of.end + (days - 1) * DAY
            return replace(_day(shifted), sure=of.sure)
        width = timedelta(days=max(1, days))
        edge = of.start if sign < 0 else of.end
        return Stretch(min(edge, edge + sign * width), max(edge, edge + sign * width), sure=False)

    return read


def _range(w: Words) -> Stretch | None:
    """Return two times as one; the one that says no year takes that of the other."""
    left, right = w["time"], w["last"]
    start, end = left.start, right.end
    if not left.year_said:
        while start.year > right.end.year - right.end.month // 12:
            start = _moved(start, -12)
        if start >= end:
            start = _moved(start, -12)
    elif not right.year_said:
        while _moved(end, -12) > start:
            end = _moved(end, -12)
    is_sure = (left.year_said or right.year_said) and all(
        side.sure or not side.year_said for side in (left, right)
    )
    return Stretch(start, end, is_sure) if start < end else None


def _led(*rules: tuple[str, Reader | None] | tuple[str, Reader, str]) -> _Rules:
    """Return rules that may all begin with "in the", so that their order decides."""
    return _Rules(*((rule[0] if ":" in rule[0] else f"at? glue* : {rule[0]}", *rule[1:])
                    for rule in rules))  # type: ignore[misc]  # fmt: skip


_PARTS = _Rules(
    ("every number? ordinal? glue* weekday|unit|month|season|weekend", None),
    ("weekday glue* join|dash glue* other=weekday", None),
    ("number unit per other=unit", None),
    ("shift glue* number glue* unit", _several),
    ("number shift=shifts glue* unit", _several),
    ("shift=shifts glue* unit", _several),
    ("shift glue* season|maybe_season", _season),
    ("shift glue* unit=units", _several),
    ("within number? unit", _several),
    ("shift glue* unit=unit_w !of", _unit, "that_week"),
    ("shift glue* unit=unit_y !of", _unit, "that_year"),
    ("shift glue* unit=unit_m|unit_q !of", _unit),
    ("unit=unit_w shift=shift_after", _unit, "that_week"),
    ("unit=unit_y shift=shift_after", _unit, "that_year"),
    ("unit=unit_m|unit_q shift=shift_after", _unit),
)
"""Rules of what is a part of longer times; a rule without a reader takes words out of reach."""
_YEAR = "glue* dot? comma? glue* year year_word?"


def _day_forms() -> Iterator[tuple[str, Reader, str]]:
    """Yield the rules of days of a month, with a year and without."""
    for maybe, rest in (("|maybe_month", _YEAR), ("|maybe_month", "glue* that_year"), ("", "")):
        for form, also in (
            ("date_day dot? glue* join|dash glue* last=date_day dot? glue* month{}", "whole"),
            ("month=month_first{} glue* date_day glue* join|dash glue* last=date_day", "whole"),
            ("date_day dot? glue* month{}", "moment"),
            ("month=month_first{} dot? glue* date_day", "moment"),
            ("tens=number|ordinal ordinal glue* month{}", "moment"),
            ("ordinal glue* month{}", "moment"),
        ):
            yield f"weekday? comma? glue* {form.format(maybe)} {rest}", _date, also


_DATES = _led(
    ("date", _numeric),
    ("day", lambda w: _day(w.today + w["day"] * DAY)),
    *_day_forms(),
    (f"ordinal half_year {_YEAR}", _part_of_year(6)),
    (f"ordinal=ordinal|number dot? glue* quarter {_YEAR}", _part_of_year(3)),
    ("ordinal=ordinal|number dot? glue* quarter glue* that_year", _part_of_year(3)),
    (f"code {_YEAR}", _code),
    ("ordinal=ordinal|number dot? glue* quarter", _part_of_year(3)),
    ("code", _code),
    (
        f"between glue* : month|maybe_month glue* join|dash glue* last=month|maybe_month {_YEAR}",
        _month,
        "whole",
    ),
    ("between glue* : month glue* join|dash glue* last=month", _month, "whole"),
    (f"month|maybe_month dot? {_YEAR}", _month),
    ("month|maybe_month comma? glue* that_year", _month),
    ("that_year comma? at* glue* month|maybe_month", _month),
    ("shift glue* month|maybe_month", _month),
    ("month|maybe_month shift=shift_after", _month),
    (f"season|maybe_season {_YEAR}", _season),
    ("year year_word? at? glue* season|maybe_season", _season),
    ("season|maybe_season comma? glue* that_year", _season),
    ("that_year comma? at* glue* season|maybe_season", _season),
    ("season|maybe_season shift=shift_after", _season),
    ("number glue* unit and_half ago", _counted(-1)),
    ("ago_before number glue* unit and_half", _counted(-1)),
    ("half|one_and_half unit ago", _counted(-1)),
    ("ago_before half|one_and_half unit", _counted(-1)),
    ("number? glue* unit ago", _counted(-1)),
    ("ago_before glue* number? glue* unit", _counted(-1)),
    ("number glue* unit glue* from_now", _counted(1)),
    ("ahead number? glue* unit", _counted(1)),
    ("maybe_ahead number glue* unit", lambda w: _counted(1)(w) if w.is_ahead() else None),
    ("early|middle|late glue* : unit=unit_w|unit_m|unit_q|unit_y !of !time !number", _unit),
    ("weekday comma? at? glue* that_week", _weekday),
    ("that_week comma? at* glue* weekday", _weekday),
    ("shift glue* weekday", _weekday),
    ("weekday shift=shift_after", _weekday),
    ("habit weekday", None),
    ("at glue* : weekday", _weekday),
    ("weekday=bare_weekday", _weekday),
    ("shift glue* weekend", _weekend),
    ("weekend shift=shift_after", _weekend),
    ("at glue* : weekend", _weekend),
    ("at|of glue* : month !number", _month),
    ("month=sure_month", _month),
    ("at glue* : season", _season),
    ("season=bare_season", _season),
    ("between glue* : year glue* join|dash glue* last=year year_word?", _year, "whole"),
    ("at? : year join|dash last=year year_word", _year, "whole"),
    ("decade", _decade),
    ("year year_word", _year),
    ("at glue* : year !counted", _year),
    ("glue : year stop", _year),
    ("recent", lambda w: Stretch(w.today - 30 * DAY, w.today + DAY, sure=False)),
)
_NARROWING = _Rules(
    *((f"{name} glue* time", _third(which)) for which, name in enumerate(_THIRDS)),
    ("number? glue* unit before glue* time", _beside(-1)),
    ("number? glue* unit after glue* time", _beside(1)),
)
_OPENING = _Rules(
    ("between glue* time join|dash at? glue* last=time", _range),
    ("time dash last=time", _range),
    *((f"{name} glue* moment", lambda w: w["moment"], name) for name in _OPENERS),
)
_PASSES = (_PARTS, _DATES, _NARROWING, _OPENING)


# ---- Reading a text


def _find(
    text: str, language: str, base: datetime, *, told: bool, led: bool = False
) -> tuple[Span, ...]:
    """Return the times of a text. `led`: as if "on" or "in" stood before it."""
    lexicon, nodes = _read_words(text, language)
    if not any(node.kinds.keys() & _TELLING for node in nodes):
        return ()
    if led:
        nodes.insert(0, Node(0, 0, {"at": True}))
    place = _Text(text, lexicon, base.date(), told)
    for rules in _PASSES:
        nodes = rules.apply(nodes, place)
    found: list[tuple[int, int, Stretch, str]] = []
    for index, node in enumerate(nodes):
        if "time" in node.kinds:
            first = index
            while first and nodes[first - 1].kinds.keys() & {"at", "glue"} and (
                "time" not in nodes[first - 1].kinds):  # fmt: skip
                first -= 1
            opened = next((name for name in _OPENERS if name in node.kinds), "")
            found.append((nodes[first].start, node.end, node.kinds["time"], opened))
    if language and language not in LANGUAGES:
        found = sorted((*found, *_written(text, language, base.date(), found)), key=_start)
    made = [
        _span(text[start:end].strip(), what, opened, base) for start, end, what, opened in found
    ]
    return tuple(dict.fromkeys(made))[:MAX_SPANS]


def _start(found: tuple[int, int, Stretch, str]) -> int:
    return found[0]


def _span(text: str, stretch: Stretch, opened: str, base: datetime) -> Span:
    start, end = (
        datetime.combine(day, time(), base.tzinfo) for day in (stretch.start, stretch.end)
    )
    if opened in ("since", "after"):
        return Span(start if opened == "since" else end, None, text, stretch.sure)
    if opened:
        return Span(None, start if opened == "before" else end, text, stretch.sure)
    return Span(start, end, text, stretch.sure)


def _written(
    text: str, language: str, today: date, taken: Sequence[tuple[int, int, Stretch, str]]
) -> Iterator[tuple[int, int, Stretch, str]]:
    """Yield the full dates of a text in a language without words here, but for those taken."""
    for match in islice(_WRITTEN.finditer(text), _MAX_WRITTEN):
        start, end = match.span()
        if not any(start < last and first < end for first, last, *_ in taken):
            found = _read_date(" ".join(match[0].split()), language)
            if found is not None and found.year <= today.year + 100:
                yield start, end, _day(found), ""


@lru_cache(maxsize=1024)
def _read_date(phrase: str, language: str) -> date | None:
    """Return the date that dateparser reads in a phrase that has day, month and year."""
    with importing(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import dateparser

        settings = {
            "RELATIVE_BASE": datetime(2000, 1, 1),  # all three parts are there: it does not matter
            "STRICT_PARSING": True,
            "REQUIRE_PARTS": ["day", "month", "year"],
            "PARSERS": ["absolute-time"],
        }
        try:
            found = dateparser.parse(phrase, languages=[language], settings=settings)
        except ValueError:  # a language that it does not know
            return None
    return found.date() if found else None
