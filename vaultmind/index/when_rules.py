"""The grammar of times: what stands in which order is a time, and which days it means.

A text becomes nodes: words, each with the kinds of word that it may be (a unit, a month, "ago").
The words of six languages stand in when.toml; of others dates in figures are read. Rules over kinds
say what in which order is a time: first parts ("last week"), then dates, then what stands around a
time ("early", "the day after", "since") and between two of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, time, timedelta

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta

from vaultmind.index.when_words import (
    LAST_DAY,
    OPENERS,
    SEASONS,
    TELLING,
    THIRDS,
    Node,
    Reader,
    Rule,
    Rules,
    Span,
    Stretch,
    Words,
    read_words,
)
from vaultmind.index.words.terms import fold

MAX_SPANS = 12
"""Times of one text; a timetable of a hundred days is about none of them."""
YEARS_AHEAD = 30
DAY, WEEK = timedelta(days=1), timedelta(weeks=1)
_FEW = 3
"""How many "a few" are, about; "a couple" is less."""
_MONTHS = {"m": 1, "q": 3, "y": 12}
_DAYS = {"h": 0, "d": 1, "w": 7, "m": 30, "q": 91, "y": 365}
_LAST_MONTH = 12
_CENTURY_TURNS = 50
"""Decades below it are of this century."""
_SENTENCE_END = re.compile(r"[.!?\n]\s")
_SENTENCE = 300
"""Characters either way in which a time's sentence is looked for."""
WORDS = re.compile(r"[^\W_]+")


def find_times(
    text: str, language: str, base: datetime, *, told: bool = False, led: bool = False
) -> tuple[Span, ...]:
    """Return the times of a text. `told`: it is told, not asked; `led`: as if "on" stood first."""
    lexicon, nodes = read_words(text, language)
    if not any(node.kinds.keys() & TELLING for node in nodes):
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
        lead = WORDS.findall(fold(text[before:start]))[-2:]
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
        opened = next((ends[name] for name in OPENERS if name in node.kinds), (start, end))
        found.append(Span(*opened, said, stretch.sure))
    return tuple(dict.fromkeys(found))[:MAX_SPANS]


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
    if first > LAST_DAY:
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
        return _months(year - (name == "winter"), 3 * (SEASONS.index(name) + 1), 3)

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
_YEAR, _JOIN = "glue* dot? comma? glue* year year_word?", "glue* join|dash glue*"
_WHICH = f"({_YEAR} / glue* that_year)"
_DATED_MONTH = f"({_MONTH} {_WHICH} / month)"
_DAY = "weekday? comma? glue*"
_QUARTER = "ordinal=ordinal|date_day dot? glue* quarter"
_AGO, _AHEAD = _counted(-1), _counted(1)
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
    (f"{_DAY} date_day dot? {_JOIN} last=date_day dot? glue* {_DATED_MONTH}", _date, "whole"),
    (f"{_DAY} month=month_first glue* date_day {_JOIN} last=date_day ({_YEAR})?", _date, "whole"),
    (f"{_DAY} (date_day dot? / (tens=number|ordinal)? ordinal) glue* {_DATED_MONTH}", _date),
    (f"{_DAY} month=month_first dot? glue* date_day {_WHICH}?", _date),
    (f"{_DAY} maybe_month dot? glue* date_day {_YEAR}", _date),
    (f"ordinal half_year {_YEAR} / ({_QUARTER} / code) {_WHICH}?", _part_of_year),
    (f"between glue* : {_MONTH} {_JOIN} last={_MONTH} {_YEAR}", _month, "whole"),
    (f"between glue* : month {_JOIN} last=month", _month, "whole"),
    (f"{_NAMED} (dot? {_YEAR} / comma? glue* that_year)", _named),
    (f"(that_year comma? at* / year year_word? at?) glue* {_NAMED}", _named),
    (_SHIFTED.format(_NAMED), _named),
    ("(number glue* unit and_half / half|one_and_half unit / number? glue* unit) ago", _AGO),
    ("ago_before (number glue* unit and_half / half|one_and_half unit)", _AGO),
    ("ago_before glue* number? glue* unit", _AGO),
    ("number glue* unit glue* from_now / ahead number glue* unit", _AHEAD),
    ("ahead unit=unit_h|unit_w|unit_m|unit_q|unit_y", _AHEAD),
    ("maybe_ahead number glue* unit", lambda w: _AHEAD(w) if w["is_ahead"]() else None),
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
    *((f"{name} at? glue* time", _third(which)) for which, name in enumerate(THIRDS)),
    ("number? glue* unit before glue* time", _beside(-1)),
    ("number? glue* unit after glue* time", _beside(1)),
)
_OPENING = Rules(
    ("between glue* time join|dash at? glue* last=time / time dash last=time", _range),
    *((f"{name} at? glue* moment", lambda w: w["moment"], name) for name in OPENERS),
)
