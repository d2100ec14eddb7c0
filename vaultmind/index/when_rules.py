"""The grammar of times: what stands in which order is a time, and which days it means.

The rules of six languages are one list, over the kinds of words of when_words. First come parts
("last week"), then dates, then what stands around a time ("early", "the day after", "since") and
between two of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, time, timedelta

from dateutil.easter import easter

from vaultmind.index.when_words import (
    DAY,
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
    TimedText,
    Words,
    read_words,
)

YEARS_AHEAD = 30
WEEK = timedelta(weeks=1)
_FEW = 3
"""How many "a few" are, about; "a couple" is less."""
_MONTHS = {"m": 1, "q": 3, "y": 12}
_DAYS = {"h": 0, "d": 1, "w": 7, "m": 30, "q": 91, "y": 365}


def one_day(of: date) -> Stretch:
    """Return one day."""
    return Stretch(of, of + DAY)


def _months(year: int, first: int, count: int = 1) -> Stretch:
    """Return so many months from the first of one, which may be under 1 or over 12."""
    start, end = (
        date(year + (one - 1) // 12, (one - 1) % 12 + 1, 1) for one in (first, first + count)
    )
    return Stretch(start, end)


def _moved(day: date, months: int) -> date:
    """Return the day so many months on; of a shorter month its last."""
    first = _months(day.year, day.month + months)
    return first.start + timedelta(days=min(day.day, (first.end - first.start).days) - 1)


def _numeric(w: Words) -> Stretch | None:
    """Read 2023-05-03, 2023-05, 3.5.2023 or 03/05/2023; in English the last may be either day."""
    first, second, *third = (int(part) for part in re.findall(r"\d+", w["date"])[:3])
    if first > 31:  # noqa: PLR2004
        return one_day(date(first, second, third[0])) if third else _months(first, second)
    if second > 12 >= first:  # noqa: PLR2004
        first, second = second, first
    elif "english" in w.kinds and "." not in w["date"] and first <= 12 and first != second:  # noqa: PLR2004
        return None
    return one_day(date(third[0], second, first))


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


def _code(w: Words) -> Stretch | None:
    if w["code"][0] == "h" and "year" not in w.values:
        return None  # a heading, or a field of a chess board
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
        elif name == "thanksgiving":
            fourth = date(year, 11, 22)
            first, days = fourth + timedelta(days=(3 - fourth.weekday()) % 7), 1
        else:
            return _months(year - (name == "winter"), 3 * (SEASONS.index(name) + 1), 3)
        return Stretch(first, first + days * DAY)

    stretch = _of_year(make, w)
    return stretch if "that_year" in w.values else replace(stretch, sure=False)


def _unit(w: Words) -> Stretch:
    """Return the calendar's week (from Monday), month, quarter or year, so many from now."""
    today, shift, unit = w.today, w.values.get("shift", 0), w["unit"]
    if unit == "w":
        monday = today + timedelta(weeks=shift, days=-today.weekday())
        return Stretch(monday, monday + WEEK)
    if unit == "q":
        return _months(today.year, 3 * ((today.month - 1) // 3 + shift) + 1, 3)
    if unit == "y":
        return _months(today.year + shift, 1, 12)
    return _months(today.year, today.month + shift)


def _several(w: Words) -> Stretch | None:
    """Read "the last three months"; "in the last days" is about three of them."""
    if w.values.get("shift") == 0:
        return None  # "these days"
    count = w.values.get("number", 1 if "one_unit" in w.kinds and "shifts" not in w.kinds else _FEW)
    is_sure = ("number" in w.values or count == 1) and "few" not in w.kinds
    unit, today, tomorrow = w["unit"], w.today, w.today + DAY
    if w.values.get("shift", -1) > 0:
        days = timedelta(days=count * max(1, _DAYS[unit]) + 1)
        end = _moved(today, count * _MONTHS[unit]) if unit in _MONTHS else today + days
        return Stretch(today, end, is_sure)
    if unit in _MONTHS:
        return Stretch(_moved(today, -count * _MONTHS[unit]), tomorrow, is_sure)
    return Stretch(today - (1 if unit == "h" else count * _DAYS[unit]) * DAY, tomorrow, is_sure)


def _around(unit: str, today: date, count: float) -> Stretch:
    """Return what so many units ago (below 0) or ahead means: days exactly, weeks about."""
    if unit in ("h", "d"):
        return one_day(today + timedelta(days=count if unit == "d" else round(count / 24)))
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
            days = timedelta(days=int(sign * count * _DAYS[unit]))
            return replace(one_day(w.today + days), sure=False)
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
        return one_day(w["that_week"].start + timedelta(days=w["weekday"]))
    ahead = (w["weekday"] - today.weekday() - 1) % 7 + 1
    if shift == 0:
        days = w["weekday"] - today.weekday()
    elif shift == 1 or (shift is None and w.is_ahead()):
        days = ahead
    else:
        days = ahead - 7 if ahead < 7 else -7  # noqa: PLR2004
    return replace(one_day(today + timedelta(days=days)), sure=False)


def _weekend(w: Words) -> Stretch:
    shift, monday = w.values.get("shift"), w.today - timedelta(days=w.today.weekday())
    week = shift or 0
    if shift is None and monday + 5 * DAY > w.today and not w.is_ahead():
        week = -1
    saturday = monday + timedelta(weeks=week, days=5)
    return Stretch(saturday, saturday + 2 * DAY, shift is not None)


def _year(w: Words) -> Stretch | None:
    first, last = w["year"], w.values.get("last", w["year"])
    is_year = first <= last <= w.today.year + YEARS_AHEAD
    return _months(first, 1, 12 * (last + 1 - first)) if is_year else None


def _decade(w: Words) -> Stretch:
    tens = int(re.findall(r"\d+", w["decade"])[-1][-2:])
    return replace(_months((2000 if tens < 50 else 1900) + tens, 1, 120), sure=False)  # noqa: PLR2004


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
            return replace(one_day(shifted), sure=of.sure)
        width = timedelta(days=max(1, days))
        if sign < 0:
            return Stretch(of.start - width, of.start, sure=False)
        return Stretch(of.end, of.end + width, sure=False)

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


def _led(*rules: Rule) -> Rules:
    """Return rules that may all begin with "in the", so that their order decides."""
    return Rules(*((f"{'' if ':' in words else 'at? glue* : '}{words}", *rest)
                    for words, *rest in rules))  # fmt: skip


def _shifted(kinds: str, reader: Reader, also: str = "moment") -> tuple[Rule, Rule]:
    """Return the rules of "last ..." before and after a word."""
    return (f"shift glue* {kinds} !of", reader, also), (f"{kinds} shift=shift_after", reader, also)


_PARTS = Rules(
    ("every number? ordinal? glue* weekday|unit|month|season|weekend", None),
    ("number unit maybe_ahead? per other=unit", None),
    ("shift glue* number glue* unit", _several),
    ("number shift=shifts glue* unit", _several),
    ("shift=shifts glue* unit", _several),
    *_shifted("season|maybe_season", _season),
    ("shift glue* unit=units", _several),
    ("within number? unit", _several),
    *_shifted("unit=unit_w", _unit, "that_week"),
    *_shifted("unit=unit_y", _unit, "that_year"),
    *_shifted("unit=unit_m|unit_q", _unit),
)
"""Rules of what is a part of longer times; a rule without a reader takes words out of reach."""
_YEAR = "glue* dot? comma? glue* year year_word?"


def _day_forms() -> Iterator[Rule]:
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
    ("day", lambda w: one_day(w.today + w["day"] * DAY)),
    *_day_forms(),
    (f"ordinal half_year {_YEAR}", _part_of_year(6)),
    (f"ordinal=ordinal|date_day dot? glue* quarter {_YEAR}", _part_of_year(3)),
    ("ordinal=ordinal|date_day dot? glue* quarter glue* that_year", _part_of_year(3)),
    (f"code {_YEAR}", _code),
    ("ordinal=ordinal|date_day dot? glue* quarter", _part_of_year(3)),
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
    *_shifted("month|maybe_month", _month),
    (f"season|maybe_season {_YEAR}", _season),
    ("year year_word? at? glue* season|maybe_season", _season),
    ("season|maybe_season comma? glue* that_year", _season),
    ("that_year comma? at* glue* season|maybe_season", _season),
    ("number glue* unit and_half ago", _counted(-1)),
    ("ago_before number glue* unit and_half", _counted(-1)),
    ("half|one_and_half unit ago", _counted(-1)),
    ("ago_before half|one_and_half unit", _counted(-1)),
    ("number? glue* unit ago", _counted(-1)),
    ("ago_before glue* number? glue* unit", _counted(-1)),
    ("number glue* unit glue* from_now", _counted(1)),
    ("ahead number glue* unit", _counted(1)),
    ("ahead unit=unit_h|unit_w|unit_m|unit_q|unit_y", _counted(1)),
    ("maybe_ahead number glue* unit", lambda w: _counted(1)(w) if w.is_ahead() else None),
    ("early|middle|late glue* : unit=unit_w|unit_m|unit_q|unit_y !of !time !number", _unit),
    ("weekday comma? at? glue* that_week", _weekday),
    ("that_week comma? at* glue* weekday", _weekday),
    *_shifted("weekday", _weekday),
    ("habit weekday", None),
    ("weekday day_part", _weekday),
    ("between glue* weekday glue* join glue* other=weekday", None),
    ("at glue* : weekday", _weekday),
    ("weekday glue* join|dash glue* other=weekday", None),
    ("weekday=bare_weekday", _weekday),
    *_shifted("weekend", _weekend),
    ("at glue* : weekend", _weekend),
    ("at|of glue* : month !date_day", _month),
    ("month=sure_month", _month),
    ("at|of glue* : season", _season),
    ("season=bare_season", _season),
    ("between glue* : year glue* join|dash glue* last=year year_word?", _year, "whole"),
    ("at? : year join|dash last=year year_word", _year, "whole"),
    ("decade", _decade),
    ("year year_word", _year),
    ("at glue* : year !counted", _year),
    ("glue|of : year stop", _year),
    ("recent", lambda w: Stretch(w.today - 30 * DAY, w.today + DAY, sure=False)),
)
_NARROWING = Rules(
    *((f"{name} at? glue* time", _third(which)) for which, name in enumerate(THIRDS)),
    ("number? glue* unit before glue* time", _beside(-1)),
    ("number? glue* unit after glue* time", _beside(1)),
)
_OPENING = Rules(
    ("between glue* time join|dash at? glue* last=time", _range),
    ("time dash last=time", _range),
    *((f"{name} at? glue* moment", lambda w: w["moment"], name) for name in OPENERS),
)


def find_times(
    text: str, language: str, base: datetime, *, told: bool, led: bool = False
) -> Iterator[Span]:
    """Yield the times of a text. `told`: it is told, not asked; `led`: as if "on" stood first."""
    lexicon, nodes = read_words(text, language)
    if not any(node.kinds.keys() & TELLING for node in nodes):
        return
    if led:
        nodes.insert(0, Node(0, 0, {"at": True}))
    place = TimedText(text, lexicon, base.date(), told)
    for rules in (_PARTS, _DATES, _NARROWING, _OPENING):
        nodes = rules.apply(nodes, place)
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
        opened = next((name for name in OPENERS if name in node.kinds), "")
        ends = {
            "since": (start, None), "after": (end, None), "before": (None, start),
            "until": (None, end), "": (start, end),
        }[opened]  # fmt: skip
        yield Span(*ends, said, stretch.sure)
