"""Time in questions and in messages: which stretch of the calendar a piece of text speaks of.

A text becomes nodes: words, each with the kinds of word that it may be (a unit, a month, "ago").
The words of six languages stand in when.toml; of others dates in figures are read. Rules over kinds
say what in which order is a time: first parts ("last week"), then dates, then what stands around a
time ("early", "the day after", "since") and between two of them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta

from vaultmind.errors import BadArgument
from vaultmind.index.words.terms import fold

LANGUAGES = ("en", "pl", "ru", "de", "es", "fr")
"""Languages whose words of time are known."""
MAX_CHARACTERS = 20_000
"""Characters of a text that are read: a longer message is a pasted file."""
MAX_SPANS = 12
"""Times of one text; a timetable of a hundred days is about none of them."""
OPEN_SCALE = timedelta(days=30)
"""Distance at which a moment outside an open stretch ("since March") is worth one half."""
LATER = timedelta(weeks=52)
"""How much later the same words are read again: a relative date then means another day."""
ALLOWED = "a date such as 2026-02-20, or words of time ('last week', 'w lutym', 'март 2025')"
SMALL, MAX_FILTER = 3, 60
"""Letters of a word in a filter that says no time and is no fault ("from", "z", the article), and
characters of a filter's words of time."""
FIRST_YEAR, YEARS_AHEAD = 1900, 30
DAY, WEEK = timedelta(days=1), timedelta(weeks=1)
_FEW = 3
"""How many "a few" are, about; "a couple" is less."""
_MONTHS = {"m": 1, "q": 3, "y": 12}
_DAYS = {"h": 0, "d": 1, "w": 7, "m": 30, "q": 91, "y": 365}
_LAST_DAY, _LAST_MONTH, _NUMBER_DIGITS = 31, 12, 3
_CENTURY_TURNS = 50
"""Decades below it are of this century."""
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_NOTED = re.compile(r"\s*\(")
_DATED = re.compile(r"(?<!\S)\S+( \(\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\))")
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.+\-Z]+)?")
_SENTENCE_END = re.compile(r"[.!?\n]\s")
_SENTENCE = 300
"""Characters either way in which a time's sentence is looked for."""
_WORDS = re.compile(r"[^\W_]+")


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


def spans(query: str, language: str, base: datetime) -> tuple[Span, ...]:
    """Return the times that a question asks about, in the order of the text.

    `language` is an ISO 639-1 code; empty: the one of LANGUAGES whose words of time it has most.
    `base` is now, where the person is: days begin at its midnight, and the spans have its zone.
    """
    return _find(query[:MAX_CHARACTERS], language, base)


def mentioned(text: str, language: str, said: datetime) -> tuple[Span, ...]:
    """Return the times that a message speaks of, seen from the day it was said on.

    Code and addresses are not looked at.
    """
    blanked = _CODE.sub(lambda match: " " * len(match[0]), text[:MAX_CHARACTERS])
    return _find(blanked, language, said, told=True)


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
                found = _find(said, language, now, led=is_led)
                own = {w.casefold() for one in found for w in _WORDS.findall(one.text)}
                rest = [w for w in _WORDS.findall(said) if w.casefold() not in own]
                if len(found) == 1 and all(len(word) <= SMALL for word in rest):
                    return found[0]
    raise BadArgument(name, text, ALLOWED)


def _find(
    text: str, language: str, base: datetime, *, told: bool = False, led: bool = False
) -> tuple[Span, ...]:
    """Return the times of a text. `told`: it is told, not asked; `led`: as if "on" stood first."""
    lexicon, nodes = _read_words(text, language)
    if not any(node.kinds.keys() & _TELLING for node in nodes):
        return ()
    if led:
        nodes.insert(0, Node(0, 0, {"at": True}))

    def is_ahead(start: int, end: int) -> bool:
        """Tell whether a time without a year or a week is one to come.

        People ask about what was. In a message it is said by the sentence: "I will", "I moved".
        One that says neither ("the deadline is 12 May") is of what is to come, but for "since May".
        """
        first = max(0, start - _SENTENCE)
        ends = _SENTENCE_END.finditer(text, first, start)
        before = max((one.end() for one in ends), default=first)
        stop = _SENTENCE_END.search(text, end, end + _SENTENCE)
        sentence = text[before : stop.start() if stop else end + _SENTENCE].lower()
        if lexicon.future.search(fold(sentence)):
            return True
        if not told or lexicon.past.search(sentence):
            return False
        lead = _WORDS.findall(fold(text[before:start]))[-2:]
        return not any("since" in lexicon.kinds(word) for word in lead)

    for rules in (_PARTS, _DATES, _NARROWING, _OPENING):
        nodes = rules.apply(nodes, base.date(), is_ahead)
    found = []
    for index, node in enumerate(nodes):
        if "time" not in node.kinds:
            continue
        first = index
        while first > 1 and "glue" in nodes[first - 1].kinds:
            first -= 1
        first = first - 1 if first and "at" in nodes[first - 1].kinds else index
        said, stretch = text[nodes[first].start : node.end].strip(), node.kinds["time"]
        start, end = (
            datetime.combine(day, time(), base.tzinfo) for day in (stretch.start, stretch.end)
        )
        ends = {"since": (start, None), "after": (end, None), "before": (None, start),
                "until": (None, end)}  # fmt: skip
        opened = next((ends[name] for name in _OPENERS if name in node.kinds), (start, end))
        found.append(Span(*opened, said, stretch.sure))
    return tuple(dict.fromkeys(found))[:MAX_SPANS]


# --- words --------------------------------------------------------------------------------

_SEASONS = (
    *("spring", "summer", "autumn", "winter"), "christmas", "newyear", "easter", "thanksgiving",
)  # fmt: skip
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
_FORM_END = re.compile(r"\|(?![^(]*\))")
"""A bar between two forms, not inside one."""
_TOKEN = re.compile(
    r"(?P<date>(?<![\d/.-])(?:\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d)(?:T[\d:.]+Z?)?(?![/-]?\d)"
    r"|(?<![\d/.-])(?:19|20)\d\d-\d\d(?![/.-]?\d)"
    r"|(?<![\d/.-])(?:\d\d?\.\d\d?\.\d{4}|\d\d?/\d\d?/\d{4}|\d\d?-\d\d?-\d{4})(?![/-]?\d))"
    r"|(?P<name>\w+_\w*|_\w+)"
    r"|(?P<code>(?<!\w)[qt][1-4](?!\w)|(?<!\w)h[12](?!\w))"
    r"|(?P<year>(?<![\d.,:/])(?:19|20)\d\d(?![.,:/-]?\d))"
    r"|(?P<number>\d+)|(?P<word>[^\W\d_]+)|(?P<dash>[-–—])|(?P<dot>\.(?=\s?\w))|(?P<comma>,)"
    r"|(?P<stop>[^\w\s])",
    re.IGNORECASE,
)
_INSIDE = re.compile(r"(?<=[^\W\d_])['’-](?=\w)|(?<=\d)['’-](?=[^\W\d_])")
"""Apostrophes and hyphens inside words, which only part them."""
_PART_OF_NUMBER = re.compile(r"[:%]|[.,/]\d")


@dataclass(frozen=True, slots=True)
class Node:
    """A word of a text, or a time that rules have read; its kinds, and what it means as each."""

    start: int
    end: int
    kinds: Mapping[str, Any]


class Lexicon:
    """The words of time of a language; of one that is not known none, only figures."""

    def __init__(self, language: str, table: Mapping[str, str]) -> None:
        self.language = language
        sentences = (table.get("past", "(?!)"), fold(table.get("future", "(?!)")))
        self.past, self.future = (re.compile(rf"(?<!\w)(?:{one})(?!\w)") for one in sentences)
        self._entries = [
            (kind, value, re.compile(entry))
            for kind, words in table.items()
            if kind not in ("past", "future")
            for value, entry in zip(
                _VALUES.get(kind, (None,)),
                fold(words).replace(r"\w", "[^_]").split(),
                strict=False,
            )
        ]
        patterns = [entry.pattern for *_, entry in self._entries]
        self._any = re.compile("|".join(patterns) or "(?!)")
        forms = (form for pattern in patterns for form in _FORM_END.split(pattern))
        phrases = sorted((form for form in forms if "_" in form), key=len, reverse=True)
        self.phrases = re.compile(rf"(?<![^_])(?:{'|'.join(phrases) or '(?!)'})(?![^_])")
        self.kinds = lru_cache(maxsize=20_000)(self._kinds)

    def _kinds(self, word: str) -> dict[str, Any]:
        """Return what a folded word, or words joined by `_`, may be."""
        if not self._any.fullmatch(word):
            return {}
        found = {kind: word if value is None else value
                 for kind, value, entry in self._entries if entry.fullmatch(word)}  # fmt: skip
        if "noise" in found:
            return {}
        if not found.keys().isdisjoint((*_OPENERS, *_THIRDS)):
            found["at"] = True
        if "unit" in found:
            found[f"unit_{found['unit']}"] = found["unit"]
        for name, kind, is_so in (
            ("units" if "plural" in found else "one_unit", "unit", True),
            ("shifts", "shift", "plural" in found),
            ("bare_weekday", "weekday", "bare_weekday" in found),
            ("bare_season", "season", "bare_season" in found),
            ("month_first", "month", self.language == "en"),
            ("sure_month", "month", "unsure" not in found),
        ):
            if kind in found and is_so:
                found[name] = found[kind]
        return found


@cache
def _lexicon(language: str) -> Lexicon:
    tables = tomllib.loads(Path(__file__).with_name("when.toml").read_text("utf-8"))
    return Lexicon(language, tables.get(language, {}))


def _read_words(text: str, language: str) -> tuple[Lexicon, list[Node]]:
    """Return the nodes of a text and the words they were read by."""
    tokens = [(match, fold(match[0])) for match in _TOKEN.finditer(_INSIDE.sub(" ", text))]
    words = {word for _, word in tokens}
    choice = (language,) if language else LANGUAGES
    lexicon = max(map(_lexicon, choice), key=lambda one: len(choice) > 1 and sum(
        not _TELLING.isdisjoint(one.kinds(word)) for word in words))  # fmt: skip
    at, place = {0: 0}, 0
    for number, (_, word) in enumerate(tokens, 1):
        place += len(word) + 1
        at[place] = number
    nodes, done = [], 0
    for phrase in lexicon.phrases.finditer("_".join(word for _, word in tokens)):
        first, last = at.get(phrase.start()), at.get(phrase.end() + 1)
        if first is None or last is None:  # inside a name like `x_last_night`
            continue
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
        kinds = _without_names(lexicon.kinds(word), start, text, lexicon.language)
    elif kind == "date" and lexicon.language == "en":
        kinds["english"] = True
    elif kind == "year":
        kinds = {"year": int(word)}
    elif kind == "number":
        kinds = {"number": int(word)} if len(word) <= _NUMBER_DIGITS else {}
        is_part = text[start - 1 : start] in tuple(".,:/") or _PART_OF_NUMBER.match(text, end)
        if 0 < int(word) <= _LAST_DAY and not is_part:
            kinds["date_day"] = int(word)
    return Node(start, end, kinds)


def _without_names(kinds: dict[str, Any], start: int, text: str, language: str) -> dict[str, Any]:
    """Return the kinds of a word; a month or season that is a name here only may be one."""
    is_capital, before = text[start].isupper(), text[:start]
    if "unsure" in kinds:
        kind, is_name = "month", is_capital
        if language in ("en", "de"):  # whose months have capitals
            is_led = before.lower().endswith(("in ", "since "))
            is_name = not (is_capital or is_led or text.islower())
    elif kinds.get("season") in _SEASONS[:4]:
        starts = not before.strip() or before.rstrip()[-1] in '.!?¿¡«"„“(\n'
        kind, is_name = "season", is_capital and language != "de" and not starts
    else:
        return kinds
    if not is_name:
        return kinds
    return {f"maybe_{kind}": kinds[kind]} | {k: v for k, v in kinds.items() if not k.endswith(kind)}


# --- rules over kinds of words ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stretch:
    """Days from `start` up to, and without, `end`."""

    start: date
    end: date
    sure: bool = True
    """Whether nothing was guessed."""
    year_said: bool = True
    """Whether its year is said or counted, so that a range need not lend it one."""


Words = Mapping[str, Any]
"""What a rule has matched: the value of each word by its kind; `kinds` of all of them; `today`; and
`is_ahead`, which tells whether the sentence speaks of what is to come."""
IsAhead = Callable[[int, int], bool]
Reader = Callable[[Words], Stretch | None]
Rule = tuple[str, Reader | None] | tuple[str, Reader, str]
_ITEM = re.compile(r"(!?)(?:(\w+)=)?([a-z]\w*(?:\|\w+)*)")
_LETTER: dict[str, str] = {}
"""A letter for each kind, of which the patterns of rules are made."""


class Rules:
    """Rules over kinds of words as one pattern; the first that fits at the earliest place is taken.

    A rule is an expression over words like "shift glue* (unit / month)": a kind, or some with `|`;
    `/` parts phrases. What stands before ":" is looked at and left, "!kind" must not follow, and
    "name=kind" gives the word a name of its own. A third part names a kind that the time is.
    """

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules
        self.groups: list[list[tuple[str, str, list[str]]]] = [[] for _ in rules]
        compiled = []
        for number, (rule, *_) in enumerate(rules):
            items = _ITEM.sub(partial(self._item, number), rule).translate({32: "", 47: "|"})
            context, _, core = items.rpartition(":")
            compiled.append(f"(?P<r_{number}>{context}(?P<core_{number}>)(?:{core}))")
        self.pattern = re.compile(f"(?=<[^>])(?:{'|'.join(compiled)})")

    def _item(self, number: int, match: re.Match[str]) -> str:
        negative, name, listed = match.groups()
        kinds, group = listed.split("|"), f"g_{number}_{match.start()}"
        letters = [_LETTER.setdefault(kind, chr(0xE000 + len(_LETTER))) for kind in kinds]
        node = f"<[^<>]*[{''.join(letters)}][^<>]*>"
        if negative:
            return f"(?!{node})"
        self.groups[number].append((group, name or kinds[0], kinds))
        return f"(?P<{group}>{node})"

    def apply(self, nodes: list[Node], today: date, is_ahead: IsAhead) -> list[Node]:
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
            matched = nodes[at[match.start(f"core_{number}")] : at[match.end()]]
            start, end = matched[0].start, matched[-1].end
            words: dict[str, Any] = {"today": today, "is_ahead": partial(is_ahead, start, end)}
            words["kinds"] = {kind for node in matched for kind in node.kinds}
            for group, name, kinds in self.groups[number]:
                if match[group] and name not in words:
                    held = nodes[at[match.start(group)]].kinds
                    words[name] = next(held[kind] for kind in kinds if kind in held)
            made += [*nodes[done : at[match.start(f"core_{number}")]]]
            made.append(Node(start, end, self._read(number, words)))
            done = at[match.end()]
        return made + nodes[done:]

    def _read(self, number: int, words: Words) -> dict[str, Any]:
        """Return the kinds of the time that words are; none where they are no time."""
        _, reader, *also = self.rules[number]
        with suppress(ValueError, OverflowError):
            stretch = reader(words) if reader else None
            if stretch is not None and stretch.start.year >= FIRST_YEAR:
                names = ("time", *also) if also == ["whole"] else ("time", "moment", *also)
                return dict.fromkeys(names, stretch)
        return {}


# --- what the words of a time mean --------------------------------------------------------


def _days(of: date, count: int = 1, *, sure: bool = True) -> Stretch:
    return Stretch(of, of + count * DAY, sure)


def _months(year: int, first: int, count: int = 1) -> Stretch:
    """Return so many months from the first of one, which may be under 1 or over 12."""
    start = date(year, 1, 1) + relativedelta(months=first - 1)
    return Stretch(start, start + relativedelta(months=count))


def _numeric(w: Words) -> Stretch | None:
    """Read 2023-05-03, 2023-05, 3.5.2023 or 03/05/2023; in English the last may be either day."""
    first, second, *third = (int(part) for part in re.findall(r"\d+", w["date"])[:3])
    if first > _LAST_DAY:
        return _days(date(first, second, third[0])) if third else _months(first, second)
    if second > _LAST_MONTH >= first:
        first, second = second, first
    elif (
        "english" in w["kinds"]
        and "." not in w["date"]
        and first <= _LAST_MONTH
        and first != second
    ):
        return None
    return _days(date(third[0], second, first))


def _of_year(make: Callable[[int], Stretch], w: Words) -> Stretch:
    """Return a stretch of the year that is said, of last year, the last one, or the nearest.

    The nearest is the next, or the last that has begun; 29 February may be eight years away.
    """
    if "year" in w:
        return make(w["year"])
    if "that_year" in w:
        return make(w["that_year"].start.year)
    year, shift = w["today"].year, w.get("shift")
    if shift is not None:
        if shift < 0:
            year = next(y for y in range(year + 1, year - 3, -1) if make(y).end <= w["today"])
        elif shift > 0:
            year = next(y for y in range(year - 1, year + 3) if make(y).start > w["today"])
        return replace(make(year), sure=False)
    is_ahead = w["is_ahead"]()
    for one in range(year - 1, year + 9) if is_ahead else range(year + 1, year - 9, -1):
        with suppress(ValueError):
            stretch = make(one)
            if stretch.end > w["today"] if is_ahead else stretch.start <= w["today"]:
                return replace(stretch, sure=False, year_said=False)
    raise ValueError("no such day")


def _date(w: Words) -> Stretch | None:
    first = w.get("date_day") or w["ordinal"]
    first += w.get("tens", 0)
    count = w.get("last", first) - first + 1
    return _of_year(lambda y: _days(date(y, w["month"], first), count), w) if count > 0 else None


def _month(w: Words) -> Stretch:
    count = (w.get("last", w["month"]) - w["month"]) % 12 + 1
    if "year" in w and w["month"] + count > _LAST_MONTH + 1:  # from November to May 2023
        return _months(w["year"] - 1, w["month"], count)
    return _of_year(lambda year: _months(year, w["month"], count), w)


def _part_of_year(w: Words) -> Stretch | None:
    """Read a quarter or half of a year by its code or ordinal."""
    code = w.get("code", "")
    if code[:1] == "h" and "year" not in w:
        return None  # a heading, or a field of a chess board
    months = 6 if code[:1] == "h" or "half_year" in w["kinds"] else 3
    which = int(code[1]) if code else w["ordinal"]
    if which * months > _LAST_MONTH:
        return None
    return _of_year(lambda year: _months(year, months * (which - 1) + 1, months), w)


def _season(w: Words) -> Stretch:
    """Read a season or a feast; a winter is named by the year in which it ends."""
    name, is_east = w["season"], "east" in w["kinds"]

    def make(year: int) -> Stretch:
        if name == "christmas":
            return _days(date(year, 1, 6), 2) if is_east else _days(date(year, 12, 24), 3)
        if name == "newyear":
            return _days(date(year - 1, 12, 31), 2)
        if name == "easter":
            return _days(easter(year, 2 if is_east else 3) - 2 * DAY, 4)
        if name == "thanksgiving":
            return _days(date(year, 11, 22) + timedelta((3 - date(year, 11, 22).weekday()) % 7))
        return _months(year - (name == "winter"), 3 * (_SEASONS.index(name) + 1), 3)

    stretch = _of_year(make, w)
    return stretch if "that_year" in w else replace(stretch, sure=False)


def _unit(w: Words) -> Stretch:
    """Return the calendar's week (from Monday), month, quarter or year, so many from now."""
    today, shift, unit = w["today"], w.get("shift", 0), w["unit"]
    if unit == "w":
        return _days(today + timedelta(weeks=shift, days=-today.weekday()), 7)
    if unit == "y":
        return _months(today.year + shift, 1, 12)
    if unit == "q":
        return _months(today.year, 3 * ((today.month - 1) // 3 + shift) + 1, 3)
    return _months(today.year, today.month + shift)


def _several(w: Words) -> Stretch | None:
    """Read "the last three months"; "in the last days" is about three of them."""
    if w.get("shift") == 0:
        return None  # "these days"
    count = w.get("number", 1 if "one_unit" in w["kinds"] and "shifts" not in w["kinds"] else _FEW)
    is_sure = ("number" in w or count == 1) and "few" not in w["kinds"]
    unit, today = w["unit"], w["today"]
    if w.get("shift", -1) > 0:
        days = count * max(1, _DAYS[unit]) + 1
        far = relativedelta(months=count * _MONTHS[unit]) if unit in _MONTHS else days * DAY
        return Stretch(today, today + far, is_sure)
    far = (
        relativedelta(months=count * _MONTHS[unit])
        if unit in _MONTHS
        else count * _DAYS[unit] * DAY
    )
    return Stretch(today - (DAY if unit == "h" else far), today + DAY, is_sure)


def _around(unit: str, today: date, count: float) -> Stretch:
    """Return what so many units ago (below 0) or ahead means: days exactly, weeks about."""
    if unit in ("h", "d"):
        return _days(today + timedelta(days=count if unit == "d" else round(count / 24)))
    if unit == "w":
        middle, leeway = today + timedelta(weeks=count), 3
    else:
        middle = today + relativedelta(months=round(count * _MONTHS[unit]))
        leeway = 91 if unit == "y" else 15
    return _days(middle - leeway * DAY, 2 * leeway + 1, sure=False)


def _counted(sign: int) -> Reader:
    """Return a reader of "three weeks ago" or "in three weeks"."""

    def read(w: Words) -> Stretch | None:
        unit, count = w["unit"], w.get("number", 1)
        if "number" not in w and "plural" in w["kinds"]:
            return None  # so many that the number is not known
        if not w["kinds"].isdisjoint(("half", "and_half", "one_and_half")):
            count = 0.5 if "half" in w["kinds"] else count + 0.5
            if unit == "y":
                return _around("m", w["today"], sign * count * 12)
            return _days(w["today"] + timedelta(int(sign * count * _DAYS[unit])), sure=False)
        made = _around(unit, w["today"], sign * count)
        if "few" not in w["kinds"] or sign > 0:
            return made
        if count < _FEW:
            leeway = timedelta(days=unit == "d")
            return Stretch(made.start - leeway, made.end + leeway, sure=False)
        first, last = (_around(unit, w["today"], sign * (count + more)) for more in (1, -1))
        return Stretch(first.start, last.end, sure=False)

    return read


def _weekday(w: Words) -> Stretch:
    """Return the weekday before or after today; "this" one is of this week."""
    shift, today = w.get("shift"), w["today"]
    if "that_week" in w:
        return _days(w["that_week"].start + timedelta(days=w["weekday"]))
    days = w["weekday"] - today.weekday()
    if shift != 0:
        is_next = shift == 1 or (shift is None and w["is_ahead"]())
        days = (days - 1) % 7 + 1 if is_next else -((-days - 1) % 7 + 1)
    return _days(today + timedelta(days=days), sure=False)


def _weekend(w: Words) -> Stretch:
    shift, monday = w.get("shift"), w["today"] - timedelta(days=w["today"].weekday())
    week = shift or 0
    if shift is None and monday + 5 * DAY > w["today"] and not w["is_ahead"]():
        week = -1
    return _days(monday + timedelta(weeks=week, days=5), 2, sure=shift is not None)


def _year(w: Words) -> Stretch | None:
    first, last = w["year"], w.get("last", w["year"])
    is_year = first <= last <= w["today"].year + YEARS_AHEAD
    return _months(first, 1, 12 * (last + 1 - first)) if is_year else None


def _decade(w: Words) -> Stretch:
    tens = int(re.findall(r"\d+", w["decade"])[-1][-2:])
    return replace(_months((2000 if tens < _CENTURY_TURNS else 1900) + tens, 1, 120), sure=False)


def _third(which: int) -> Reader:
    """Return a reader of the first (0), middle (1) or last (2) third of a time."""

    def read(w: Words) -> Stretch:
        of: Stretch = w["time"]
        days = (of.end - of.start).days
        if days <= 1:
            return of
        ends = timedelta(days * which // 3), timedelta(-(-days * (which + 1) // 3))
        return Stretch(of.start + ends[0], of.start + ends[1], False, of.year_said)

    return read


def _beside(sign: int) -> Reader:
    """Return a reader of "two days before" (-1) or after (1) a time."""

    def read(w: Words) -> Stretch:
        of, days = w["time"], _DAYS[w["unit"]] * w.get("number", 1)
        if w["unit"] == "d":
            return _days(
                of.start - days * DAY if sign < 0 else of.end + (days - 1) * DAY, sure=of.sure
            )
        width = max(1, days)
        return _days(of.start - width * DAY if sign < 0 else of.end, width, sure=False)

    return read


def _range(w: Words) -> Stretch | None:
    """Return two times as one; the one that says no year takes that of the other."""
    left, right = w["time"], w["last"]
    start, end, year = left.start, right.end, relativedelta(months=12)
    if not left.year_said:
        while start.year > end.year - end.month // 12:
            start -= year
        if start >= end:
            start -= year
    elif not right.year_said:
        while end - year > start:
            end -= year
    is_sure = (left.year_said or right.year_said) and all(
        side.sure or not side.year_said for side in (left, right)
    )
    return Stretch(start, end, is_sure) if start < end else None


def _named(w: Words) -> Stretch:
    return _month(w) if "month" in w else _season(w)


def _led(*rules: Rule) -> Rules:
    """Return rules that may all begin with "in the", so that their order decides."""
    return Rules(*((f"{'' if ':' in words else 'at? glue* : '}{words}", *rest)
                    for words, *rest in rules))  # fmt: skip


_MONTH = "month|maybe_month"
_NAMED = f"({_MONTH} / season|maybe_season)"
_SHIFTED = "(shift glue* ({0}) !of / ({0}) shift=shift_after)"
"""For "last ..." before and after a word."""
_YEAR = "glue* dot? comma? glue* year year_word?"
_DATED_MONTH = f"({_MONTH} ({_YEAR} / glue* that_year) / month)"
_PARTS = Rules(
    ("every number? ordinal? glue* weekday|unit|month|season|weekend", None),
    ("number unit maybe_ahead? per other=unit", None),
    ("shift glue* number glue* unit / (number glue*)? shift=shifts glue* unit", _several),
    (_SHIFTED.format("season|maybe_season"), _season),
    ("shift glue* unit=units / within number? unit", _several),
    (_SHIFTED.format("unit=unit_w"), _unit, "that_week"),
    (_SHIFTED.format("unit=unit_y"), _unit, "that_year"),
    (_SHIFTED.format("unit=unit_m|unit_q"), _unit),
)
"""Rules of what is a part of longer times; a rule without a reader takes words out of reach."""
_DATES = _led(
    ("date", _numeric),
    ("day", lambda w: _days(w["today"] + w["day"] * DAY)),
    (
        "weekday? comma? glue* (date_day dot? glue* join|dash glue* last=date_day dot? glue*"
        f" {_DATED_MONTH} / month=month_first glue* date_day glue* join|dash glue* last=date_day"
        f" ({_YEAR})?)",
        _date,
        "whole",
    ),
    (
        "weekday? comma? glue* ((date_day dot? / (tens=number|ordinal)? ordinal) glue*"
        f" {_DATED_MONTH} / month=month_first dot? glue* date_day ({_YEAR} / glue* that_year)?"
        f" / maybe_month dot? glue* date_day {_YEAR})",
        _date,
    ),
    (f"ordinal half_year {_YEAR}", _part_of_year),
    (
        f"(ordinal=ordinal|date_day dot? glue* quarter / code) ({_YEAR} / glue* that_year)?",
        _part_of_year,
    ),
    (
        f"between glue* : {_MONTH} glue* join|dash glue* last={_MONTH} {_YEAR}"
        " / month glue* join|dash glue* last=month",
        _month,
        "whole",
    ),
    (
        f"{_NAMED} (dot? {_YEAR} / comma? glue* that_year)"
        f" / (that_year comma? at* / year year_word? at?) glue* {_NAMED}",
        _named,
    ),
    (_SHIFTED.format(_NAMED), _named),
    (
        "number glue* unit and_half ago / ago_before number glue* unit and_half"
        " / half|one_and_half unit ago / ago_before half|one_and_half unit"
        " / number? glue* unit ago / ago_before glue* number? glue* unit",
        _counted(-1),
    ),
    (
        "number glue* unit glue* from_now / ahead number glue* unit"
        " / ahead unit=unit_h|unit_w|unit_m|unit_q|unit_y",
        _counted(1),
    ),
    ("maybe_ahead number glue* unit", lambda w: _counted(1)(w) if w["is_ahead"]() else None),
    ("early|middle|late glue* : unit=unit_w|unit_m|unit_q|unit_y !of !time !number", _unit),
    ("weekday comma? at? glue* that_week / that_week comma? at* glue* weekday", _weekday),
    (_SHIFTED.format("weekday"), _weekday),
    ("habit weekday / between glue* weekday glue* join glue* other=weekday", None),
    ("weekday day_part", _weekday),
    ("at glue* : weekday", _weekday),
    ("weekday glue* join|dash glue* other=weekday", None),
    ("weekday=bare_weekday", _weekday),
    (_SHIFTED.format("weekend"), _weekend),
    ("at glue* : weekend", _weekend),
    ("at|of glue* : month !date_day / season", _named),
    ("month=sure_month / season=bare_season", _named),
    ("between glue* : year glue* join|dash glue* last=year year_word?", _year, "whole"),
    ("at? : year join|dash last=year year_word", _year, "whole"),
    ("decade", _decade),
    ("year year_word", _year),
    ("at glue* : year !counted", _year),
    ("glue|of : year stop", _year),
    ("recent", lambda w: Stretch(w["today"] - 30 * DAY, w["today"] + DAY, sure=False)),
)
_NARROWING = Rules(
    *((f"{name} at? glue* time", _third(which)) for which, name in enumerate(_THIRDS)),
    ("number? glue* unit before glue* time", _beside(-1)),
    ("number? glue* unit after glue* time", _beside(1)),
)
_OPENING = Rules(
    ("between glue* time join|dash at? glue* last=time / time dash last=time", _range),
    *((f"{name} at? glue* moment", lambda w: w["moment"], name) for name in _OPENERS),
)
