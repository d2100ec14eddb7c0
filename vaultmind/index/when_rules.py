"""The grammar of times: what stands in which order is a time, and which days it means.

A text becomes nodes: words, each with the kinds of word that it may be (a unit, a month, "ago").
The words of six languages stand in when.toml; of others dates in figures are read. Rules over kinds
say what in which order is a time: first parts ("last week"), then dates, then what stands around a
time ("early", "the day after", "since") and between two of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache, lru_cache, partial
from itertools import accumulate
from typing import Any

from dateutil.easter import easter
from dateutil.relativedelta import TH, relativedelta

from vaultmind.index.words import fold
from vaultmind.tables import table

LANGUAGES = ("en", "pl", "ru", "de", "es", "fr")
"""Languages whose words of time are known."""
LAST_DAY = 31
_NUMBER_DIGITS = 3


SEASONS = ["spring", "summer", "autumn", "winter", "christmas", "newyear", "easter", "thanksgiving"]
_VALUES: dict[str, Sequence[Any]] = {
    "month": range(1, 13), "ordinal": (*range(1, 21), 30), "weekday": range(7), "season": SEASONS,
    "day": range(-2, 3), "shift": range(-2, 2), "shift_after": range(-2, 2), "unit": "hdwmqys",
    "number": (*range(1, 13), 15, 20, 30),
}  # fmt: skip
"""What the entries of a list stand for; a kind without values is one pattern."""
TELLING = frozenset(
    {"unit", "month", "maybe_month", "weekday", "season", "maybe_season", "day", "weekend",
     "quarter", "recent", "code", "year", "date"}
)  # fmt: skip
"""Kinds of which a text has one if it says a time."""
OPENERS = ("since", "after", "before", "until")
THIRDS = ("early", "middle", "late")
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
        past, future = table.get("past", "(?!)"), fold(table.get("future", "(?!)"))
        self.past, self.future = (re.compile(rf"(?<!\w)(?:{one})(?!\w)") for one in (past, future))
        self._entries: list[tuple[str, Any, re.Pattern[str]]] = []
        for kind in table.keys() - {"past", "future"}:
            entries = map(re.compile, fold(table[kind]).replace(r"\w", "[^_]").split())
            values = zip(_VALUES.get(kind, (None,)), entries, strict=False)
            self._entries += [(kind, *one) for one in values]
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
        if not found.keys().isdisjoint((*OPENERS, *THIRDS)):
            found["at"] = True
        if "unit" in found:
            found[f"unit_{found['unit']}"] = found["unit"]
        found[f"in_{self.language}"] = True
        return found


@cache
def _lexicon(language: str) -> Lexicon:
    return Lexicon(language, table(__file__, "when.toml").get(language, {}))


def read_words(text: str, language: str) -> tuple[Lexicon, list[Node]]:
    """Return the nodes of a text, none where it says no time, and the words they were read by."""
    tokens = [(match, fold(match[0])) for match in _TOKEN.finditer(_INSIDE.sub(" ", text))]
    words = [word for _, word in tokens]

    def telling(lexicon: Lexicon) -> int:
        return sum(not TELLING.isdisjoint(lexicon.kinds(word)) for word in set(words))

    lexicon = _lexicon(language) if language else max(map(_lexicon, LANGUAGES), key=telling)
    starts = accumulate((len(word) + 1 for word in words), initial=0)
    at = {start: number for number, start in enumerate(starts)}
    nodes, done = [], 0
    for phrase in lexicon.phrases.finditer("_".join(words)):
        first, last = at.get(phrase.start()), at.get(phrase.end() + 1)
        if first is None or last is None:  # inside a name like `x_last_night`
            continue
        nodes += [_node(*token, text, lexicon) for token in tokens[done:first]]
        ends = tokens[first][0].start(), tokens[last - 1][0].end()
        nodes.append(Node(*ends, lexicon.kinds(phrase[0])))
        done = last
    nodes += [_node(*token, text, lexicon) for token in tokens[done:]]
    says_time = any(not TELLING.isdisjoint(node.kinds) for node in nodes)
    return lexicon, nodes if says_time else []


def _node(match: re.Match[str], word: str, text: str, lexicon: Lexicon) -> Node:
    start, end = match.span()
    kind, value = match.lastgroup or "", int(word) if word.isdecimal() else word
    kinds: dict[str, Any] = {kind: value, f"in_{lexicon.language}": True}
    if kind == "word":
        kinds = _without_names(lexicon.kinds(word), start, text, lexicon.language)
    elif isinstance(value, int) and 0 < value <= LAST_DAY:
        kinds["date_day"] = value
    elif kind == "number" and len(word) > _NUMBER_DIGITS:
        kinds = {}
    return Node(start, end, kinds)


def _without_names(kinds: dict[str, Any], start: int, text: str, language: str) -> dict[str, Any]:
    """Return the kinds of a word; a month or season that is a name here only may be one."""
    is_name, before = text[start].isupper(), text[:start]
    if "unsure" in kinds:
        kind = "month"
        if language in ("en", "de"):  # whose months have capitals
            is_name = not (is_name or before.lower().endswith(("in ", "since ")) or text.islower())
    else:
        kind = "season"
        starts = not before.strip() or before.rstrip()[-1] in '.!?¿¡«"„“(\n'
        is_name &= kinds.get(kind) in SEASONS[:4] and language != "de" and not starts
    if not is_name:
        return kinds
    return {f"maybe_{kind}": kinds[kind]} | {k: v for k, v in kinds.items() if not k.endswith(kind)}


# --- rules over kinds of words ------------------------------------------------------------

FIRST_YEAR, YEARS_AHEAD = 1900, 30
DAY, WEEK = timedelta(days=1), timedelta(weeks=1)
_FEW = 3
"""How many "a few" are, about; "a couple" is less."""
_MONTHS = {"m": 1, "q": 3, "y": 12, "s": 6}
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "q": 91, "y": 365, "s": 182}
_LEEWAY = {"h": 0, "d": 0, "w": 3, "m": 15, "q": 15, "y": 91, "s": 30}
"""Days either way that "two weeks ago" may mean."""
_LAST_MONTH = 12


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
_ITEM = re.compile(r"(!?)(?:\b(\w+)=)?([a-z]\w*(?:\|\w+)*)((?:&!?\w+)*)")
_LETTER: defaultdict[str, str] = defaultdict(lambda: chr(0xE000 + len(_LETTER)))
"""A letter for each kind, of which the patterns of rules are made."""


class Rules:
    """Rules over kinds of words as one pattern; the first that fits at the earliest place is taken.

    A rule is an expression over words like "shift glue* (unit / month)": a kind, or some with `|`;
    `/` parts phrases. What stands before ":" is looked at and left, "!kind" must not follow,
    "kind&other" is both, and "name=kind" gives the word a name of its own. A third part names a
    kind that the time is.
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
        negative, name, listed, also = match.groups()
        kinds, group = listed.split("|"), f"g_{number}_{match.start()}"
        node = f"<[^<>]*[{''.join(map(_LETTER.__getitem__, kinds))}][^<>]*>"
        if negative:
            return f"(?!{node})"
        for other in also.split("&")[1:]:
            sign = "!" if other[0] == "!" else "="
            node = f"(?{sign}<[^<>]*{_LETTER[other.strip('!')]}){node}"
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
            first = at[match.start(f"core_{number}")]
            matched = nodes[first : at[match.end()]]
            start, end = matched[0].start, matched[-1].end
            words: dict[str, Any] = {"today": today, "is_ahead": partial(is_ahead, start, end)}
            words["kinds"] = {kind for node in matched for kind in node.kinds}
            for group, name, kinds in self.groups[number]:
                if match[group] and name not in words:
                    held = nodes[at[match.start(group)]].kinds
                    words[name] = next(held[kind] for kind in kinds if kind in held)
            made += [*nodes[done:first], Node(start, end, self._read(number, words))]
            done = at[match.end()]
        return made + nodes[done:]

    def _read(self, number: int, words: Words) -> dict[str, Any]:
        """Return the kinds of the time that words are; none where they are no time."""
        _, reader, *also = self.rules[number]
        with suppress(ValueError, OverflowError):
            stretch = reader(words) if reader else None
            if stretch and (stretch.start or stretch.end).year >= FIRST_YEAR:
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


def _shifted(day: date, unit: str, count: float) -> date:
    """Return the day that lies so many units after another one, or before it."""
    if unit in _MONTHS:
        moved: date = day + relativedelta(months=round(count * _MONTHS[unit]))
        return moved
    return day + timedelta(days=round(count * _DAYS[unit]))


def _numeric(w: Words) -> Stretch | None:
    """Read 2023-05-03, 2023-05, 3.5.2023 or 03/05/2023; in English the last may be either day."""
    first, second, *third = (int(part) for part in re.findall(r"\d+", w["date"])[:3])
    if first > LAST_DAY:
        return _days(date(first, second, third[0])) if third else _months(first, second)
    if second > _LAST_MONTH >= first:
        first, second = second, first
    elif "in_en" in w["kinds"] and "." not in w["date"] and first <= _LAST_MONTH:
        return _days(date(third[0], second, first)) if first == second else None
    return _days(date(third[0], second, first))


def _of_year(make: Callable[[int], Stretch], w: Words) -> Stretch:
    """Return a stretch of the year that is said, of last year, the last one, or the nearest.

    The nearest is the next, or the last that has begun; 29 February may be eight years away.
    """
    if "year" in w or "that_year" in w:
        return make(w.get("year") or w["that_year"].start.year)
    today, shift = w["today"], w.get("shift")
    if shift == 0:
        return replace(make(today.year), sure=False)
    is_ahead = shift > 0 if shift else w["is_ahead"]()
    years = range(today.year - 1, today.year + 9)
    for year in years if is_ahead else reversed([one - 7 for one in years]):
        with suppress(ValueError):
            stretch = make(year)
            edge = stretch.start if is_ahead == bool(shift) else stretch.end
            if (edge > today) == is_ahead:
                return replace(stretch, sure=False, year_said=bool(shift))
    raise ValueError("no such day")


def _date(w: Words) -> Stretch | None:
    first = (w.get("date_day") or w["ordinal"]) + w.get("tens", 0)
    count = w.get("last", first) - first + 1
    return _of_year(lambda y: _days(date(y, w["month"], first), count), w) if count > 0 else None


def _part_of_year(w: Words) -> Stretch | None:
    """Read a quarter or half of a year by its code or ordinal."""
    code = w.get("code", "")
    months = 6 if code[:1] == "h" or "half_year" in w["kinds"] else 3
    which = int(code[1]) if code else w["ordinal"]
    if which * months > _LAST_MONTH or (code[:1] == "h" and "year" not in w):
        return None  # h2 is a heading, or a field of a chess board
    return _of_year(lambda year: _months(year, months * (which - 1) + 1, months), w)


def _season(w: Words) -> Stretch:
    """Read a season or a feast; a winter is named by the year in which it ends."""
    name, is_east = w["season"], "in_ru" in w["kinds"]

    def make(year: int) -> Stretch:
        if name in SEASONS[:4]:
            return _months(year - (name == "winter"), 3 * (SEASONS.index(name) + 1), 3)
        if name == "newyear":
            return _days(date(year - 1, 12, 31), 2)
        if name == "christmas":
            return _days(date(year, 1, 6), 2) if is_east else _days(date(year, 12, 24), 3)
        if name == "easter":
            return _days(easter(year, 2 if is_east else 3) - 2 * DAY, 4)
        return _days(date(year, 11, 22) + relativedelta(weekday=TH))  # Thanksgiving

    stretch = _of_year(make, w)
    return stretch if "that_year" in w else replace(stretch, sure=False)


def _named(w: Words) -> Stretch:
    if "month" not in w:
        return _season(w)
    return _of_year(lambda year: _months(year, w["month"]), w)


def _unit(w: Words) -> Stretch:
    """Return the calendar's week (from Monday), month, quarter or year, so many from now."""
    today, shift, unit = w["today"], w.get("shift", 0), w["unit"]
    if unit == "w":
        return _days(today + timedelta(weeks=shift, days=-today.weekday()), 7)
    months = _MONTHS[unit]
    return _months(today.year, ((today.month - 1) // months + shift) * months + 1, months)


def _several(w: Words) -> Stretch | None:
    """Read "the last three months"; "in the last days" is about three of them."""
    unit, today, kinds, shift = w["unit"], w["today"], w["kinds"], w.get("shift", -1)
    if shift == 0:
        return None  # "these days"
    count = w.get("number") or (1 if "plural" not in kinds else _FEW)
    is_sure = ("number" in w or count == 1) and "few" not in kinds
    if shift > 0:
        return Stretch(today, _shifted(today, unit, count) + DAY, is_sure)
    return Stretch(min(_shifted(today, unit, -count), today - DAY), today + DAY, is_sure)


def _counted(sign: int, w: Words) -> Stretch | None:
    """Read "three weeks ago" (-1) or "in three weeks" (1): days exactly, the rest about."""
    unit, kinds = w["unit"], w["kinds"]
    if "number" not in w and "plural" in kinds:
        return None  # so many that the number is not known
    leeway = (2 * _LEEWAY[unit] or 1) if "few" in kinds else _LEEWAY[unit]
    middle = _shifted(w["today"], unit, sign * w.get("number", 1)) - leeway * DAY
    return _days(middle, 2 * leeway + 1, sure=not leeway)


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
    shift, saturday = w.get("shift"), w["today"] + (5 - w["today"].weekday()) * DAY
    week = shift or 0
    if shift is None and saturday > w["today"] and not w["is_ahead"]():
        week = -1
    return _days(saturday + week * WEEK, 2, sure=shift is not None)


def _year(w: Words) -> Stretch | None:
    first, last = w["year"], w.get("last", w["year"])
    is_year = first <= last <= w["today"].year + YEARS_AHEAD
    return _months(first, 1, 12 * (last + 1 - first)) if is_year else None


def _third(which: int, w: Words) -> Stretch:
    """Read the first (0), middle (1) or last (2) third of a time."""
    of: Stretch = w["time"]
    days = (of.end - of.start).days
    first, last = days * which // 3, -(-days * (which + 1) // 3)
    return Stretch(of.start + first * DAY, of.start + last * DAY, False, of.year_said)


def _beside(sign: int, w: Words) -> Stretch:
    """Read "two days before" (-1) or after (1) a time."""
    of, days = w["time"], max(1, round(_DAYS[w["unit"]] * w.get("number", 1)))
    width = 1 if w["unit"] == "d" else days
    start = of.start - days * DAY if sign < 0 else of.end + (days - width) * DAY
    return _days(start, width, sure=width == 1 and of.sure)


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


def _led(*rules: Rule) -> Rules:
    """Return rules that may all begin with "in the", so that their order decides."""
    return Rules(*((f"{'' if ':' in words else 'at? glue* : '}{words}", *rest)
                    for words, *rest in rules))  # fmt: skip


_MONTH = "month|maybe_month"
_NAMED = f"({_MONTH} / season|maybe_season)"
_SHIFTED = "(shift glue* ({0}) !of / ({0}) shift=shift_after)"
"""For "last ..." before and after a word."""
_YEAR, _JOIN = "glue* dot? comma? glue* year year_word?", "glue* join|dash glue*"
_WHICH = f"({_YEAR} / glue* that_year)"
_DATED_MONTH = f"({_MONTH} {_WHICH} / month)"
_MONTH_FIRST = "weekday? comma? glue* month=month&in_en dot? glue* date_day"
_QUARTER = "ordinal=ordinal|date_day dot? glue* quarter"
_AGO, _AHEAD = partial(_counted, -1), partial(_counted, 1)
_PARTS = Rules(
    ("every number? ordinal? glue* weekday|unit|month|season|weekend", None),
    ("shift glue* number glue* unit / (number glue*)? shift=shift&plural glue* unit", _several),
    (_SHIFTED.format("season|maybe_season"), _season),
    ("shift glue* unit=unit&plural / within number? unit", _several),
    (_SHIFTED.format("unit=unit_w"), _unit, "that_week"),
    (_SHIFTED.format("unit=unit_y"), _unit, "that_year"),
    (_SHIFTED.format("unit=unit_m|unit_q"), _unit),
)
"""Rules of what is a part of longer times; a rule without a reader takes words out of reach."""
_DATES = _led(
    ("date", _numeric),
    ("day", lambda w: _days(w["today"] + w["day"] * DAY)),
    (f"date_day dot? {_JOIN} last=date_day dot? glue* {_DATED_MONTH} / "
     f"{_MONTH_FIRST} {_JOIN} last=date_day ({_YEAR})?", _date, "whole"),
    ("weekday? comma? glue* (date_day dot? / (tens=number|ordinal)? ordinal) glue* "
     f"{_DATED_MONTH}", _date),
    (f"{_MONTH_FIRST} {_WHICH}?", _date),
    (f"ordinal half_year {_YEAR} / ({_QUARTER} / code) {_WHICH}?", _part_of_year),
    (f"{_NAMED} (dot? {_YEAR} / comma? glue* that_year)", _named),
    (f"(that_year comma? at* / year year_word? at?) glue* {_NAMED}", _named),
    (_SHIFTED.format(_NAMED), _named),
    ("number? glue* unit ago / ago_before glue* number? glue* unit", _AGO),
    ("number glue* unit glue* from_now / ahead number glue* unit", _AHEAD),
    ("ahead unit=unit_h|unit_w|unit_m|unit_q|unit_y", _AHEAD),
    ("maybe_ahead number glue* unit", lambda w: _AHEAD(w) if w["is_ahead"]() else None),
    ("early|middle|late glue* : unit=unit_w|unit_m|unit_q|unit_y !of !time !number", _unit),
    ("weekday comma? at? glue* that_week / that_week comma? at* glue* weekday", _weekday),
    (_SHIFTED.format("weekday"), _weekday),
    ("at glue* : weekday", _weekday),
    ("weekday=weekday&bare_weekday", _weekday),
    (_SHIFTED.format("weekend"), _weekend),
    ("at glue* : weekend", _weekend),
    ("at|of glue* : month !date_day / season", _named),
    ("month=month&!unsure / season=season&bare_season", _named),
    ("between glue* : year glue* join|dash glue* last=year year_word?", _year, "whole"),
    ("at glue* : year !counted", _year),
    ("recent", lambda w: Stretch(w["today"] - 30 * DAY, w["today"] + DAY, sure=False)),
)  # fmt: skip
_NARROWING = Rules(
    *((f"{name} at? glue* time", partial(_third, which)) for which, name in enumerate(THIRDS)),
    ("number? glue* unit before glue* time", partial(_beside, -1)),
    ("number? glue* unit after glue* time", partial(_beside, 1)),
)
_OPENING = Rules(
    ("between glue* time join|dash at? glue* last=time / time dash last=time", _range),
    ("since at? glue* moment", lambda w: replace(w["moment"], end=None)),
    ("after at? glue* moment", lambda w: replace(w["moment"], start=w["moment"].end, end=None)),
    ("before at? glue* moment", lambda w: replace(w["moment"], start=None, end=w["moment"].start)),
    ("until at? glue* moment", lambda w: replace(w["moment"], start=None)),
)
STEPS = (_PARTS, _DATES, _NARROWING, _OPENING)
"""What the rules make of nodes, one step after the other."""
