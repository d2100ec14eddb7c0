"""Stretches of the calendar: days, weeks, months, seasons and feasts, without any words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta

FIRST_YEAR = 1900
YEARS_AHEAD = 30
MONTHS = 12
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
"""The month in which each begins, in the north."""
UNIT_DAYS = {"h": 0, "d": 1, "w": 7, "m": 30, "q": 91, "y": 365}
"""About so many days has each unit."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Days from `start` up to, and without, `end`."""

    start: date
    end: date
    sure: bool = True
    """Whether nothing was guessed."""
    year_said: bool = True
    """Whether its year is said or counted, so that a range need not lend it one."""

    def guessed(self) -> Stretch:
        """Return the same, not sure."""
        return replace(self, sure=False)


def day(of: date) -> Stretch:
    """Return one day."""
    return Stretch(of, of + timedelta(days=1))


def month(year: int, number: int) -> Stretch:
    """Return a month; `number` may be under 1 or over 12, then it is of another year."""
    return months(year, number, 1)


def months(year: int, first: int, count: int) -> Stretch:
    """Return so many months from the first of one."""
    return Stretch(_first(year, first), _first(year, first + count))


def year(number: int) -> Stretch:
    """Return a year."""
    return months(number, 1, MONTHS)


def unit(name: str, base: date, shift: int) -> Stretch:
    """Return the calendar's day, week (from Monday), month, quarter or year, so many from now."""
    if name == "y":
        return year(base.year + shift)
    if name == "m":
        return month(base.year, base.month + shift)
    if name == "q":
        return months(base.year, 3 * ((base.month - 1) // 3 + shift) + 1, 3)
    if name == "w":
        monday = base - timedelta(days=base.weekday()) + timedelta(weeks=shift)
        return Stretch(monday, monday + timedelta(weeks=1))
    return day(base + timedelta(days=shift))


def counted(name: str, base: date, count: int) -> Stretch:
    """Return what "`count` units ago" (below 0) or "in `count` units" means.

    Days are meant exactly; "three weeks ago" is some days of leeway around that day.
    """
    if name in ("h", "d"):
        return day(base + timedelta(days=count if name == "d" else round(count / 24)))
    if name == "w":
        middle, leeway = base + timedelta(weeks=count), 3
    elif name == "y":
        middle, leeway = _moved(base, MONTHS * count), 91
    else:
        middle, leeway = _moved(base, count * (3 if name == "q" else 1)), 15
    width = timedelta(days=leeway)
    return Stretch(middle - width, middle + width + timedelta(days=1), sure=False)


def recent(name: str, base: date, count: int) -> Stretch:
    """Return the last `count` units up to the end of today."""
    if name in ("h", "d"):
        start = base - timedelta(days=count if name == "d" else 1)
    elif name == "w":
        start = base - timedelta(weeks=count)
    else:
        start = _moved(base, -count * {"m": 1, "q": 3, "y": MONTHS}[name])
    return Stretch(start, base + timedelta(days=1))


def coming(name: str, base: date, count: int) -> Stretch:
    """Return the next `count` units, from today."""
    if name in ("h", "d", "w"):
        return Stretch(base, base + timedelta(days=count * max(1, UNIT_DAYS[name]) + 1))
    return Stretch(base, _moved(base, count * {"m": 1, "q": 3, "y": MONTHS}[name]))


def season(name: str, number: int) -> Stretch:
    """Return a season of a year; a winter is named by the year in which it ends."""
    first = SEASONS[name]
    return months(number - (name == "winter"), first, 3)


def feast(name: str, number: int, east: bool = False) -> Stretch:
    """Return the days of a feast in a year; `east`: by the Orthodox calendar."""
    if name == "christmas":
        first = date(number, 1, 6) if east else date(number, 12, 24)
        return Stretch(first, first + timedelta(days=2 if east else 3))
    if name == "newyear":
        return Stretch(date(number - 1, 12, 31), date(number, 1, 2))
    if name == "easter":
        sunday = _orthodox_easter(number) if east else _easter(number)
        return Stretch(sunday - timedelta(days=2), sunday + timedelta(days=2))
    if name == "thanksgiving":
        first = date(number, 11, 1)
        return day(first + timedelta(days=(3 - first.weekday()) % 7 + 21))
    return day({"halloween": date(number, 10, 31), "valentine": date(number, 2, 14)}[name])


def third(of: Stretch, which: int) -> Stretch:
    """Return the first (0), middle (1) or last (2) third of a stretch."""
    days = max(1, (of.end - of.start).days)
    return Stretch(
        of.start + timedelta(days=days * which // 3),
        of.start + timedelta(days=max(1, -(-days * (which + 1) // 3))),
        sure=False,
    )


def _first(year: int, month: int) -> date:
    return date(year + (month - 1) // MONTHS, (month - 1) % MONTHS + 1, 1)


def _moved(base: date, count: int) -> date:
    start = _first(base.year, base.month + count)
    last = (_first(start.year, start.month + 1) - timedelta(days=1)).day
    return start.replace(day=min(base.day, last))


def _easter(year: int) -> date:
    """Return the western Easter Sunday (the anonymous Gregorian computus)."""
    a, b, c = year % 19, year // 100, year % 100
    d = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    e = (32 + 2 * (b % 4) + 2 * (c // 4) - d - c % 4) % 7
    f = d + e - 7 * ((a + 11 * d + 22 * e) // 451) + 114
    return date(year, f // 31, f % 31 + 1)


def _orthodox_easter(year: int) -> date:
    """Return the Orthodox Easter Sunday (Meeus' Julian rule; right from 1900 to 2099)."""
    d = (19 * (year % 19) + 15) % 30
    e = (2 * (year % 4) + 4 * (year % 7) - d + 34) % 7
    f = d + e + 114
    return date(year, f // 31, f % 31 + 1) + timedelta(days=13)
