"""What a matched rule means: its words and the day it is said on become days of the calendar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta

from vaultmind.index.when import calendar
from vaultmind.index.when.calendar import MONTHS, Stretch
from vaultmind.index.when.lexicon import Lexicon

_ORDINALS = (
    ("1", "first", "pierw", "перв", "erst", "prem", "prim"),
    ("2", "second", "drug", "втор", "zwei", "segund", "deux"),
    ("3", "third", "trzeci", "трет", "dritt", "tercer", "trois"),
    ("4", "fourth", "last", "czwart", "четв", "viert", "cuart", "quatr", "dernier"),
)
FEW = 3
"""What "a few" is about; "a couple" is less, and nearer to what it says."""
_CENTURY = 100
_THIS_CENTURY = 50
"""Decades under it are of the 2000s ("the 20s"), the others of the 1900s."""


@dataclass(frozen=True, slots=True)
class Said:
    """A matched rule: its words by name, and whence it is said."""

    words: Mapping[str, str]
    shift: int | None
    """From now, where the rule says it; None: it does not ("on Tuesday")."""
    base: date
    lexicon: Lexicon
    ahead: bool
    """Whether the text speaks of what is to come."""

    def number(self, name: str) -> int:
        """Return a number in figures."""
        return int(self.words[name])

    @property
    def day(self) -> int:
        """Return the day of the month."""
        if "dw" in self.words:
            return self.lexicon.ordinals[self._squeezed("dw")]
        return self.number("d")

    @property
    def month(self) -> int:
        """Return the month."""
        return self.lexicon.months[self._squeezed("month")]

    @property
    def count(self) -> int:
        """Return how many units: one where no number stands."""
        said = self.words.get("n")
        if said is None:
            return 1
        return int(said) if said.isdigit() else self.lexicon.numbers[" ".join(said.split())]

    @property
    def unit(self) -> str:
        """Return the unit."""
        return self.lexicon.units[self._squeezed("unit")]

    @property
    def weekday(self) -> int:
        """Return the weekday, Monday being 0."""
        return self.lexicon.weekdays[self._squeezed("wd")]

    @property
    def season(self) -> str:
        """Return the season's name."""
        return self.lexicon.seasons[self._squeezed("season")]

    @property
    def feast(self) -> str:
        """Return the feast's name."""
        return self.lexicon.feasts[self._squeezed("feast")]

    def _squeezed(self, name: str) -> str:
        return " ".join(self.words[name].split())


def read(meaning: str, said: Said) -> Stretch | None:
    """Return the days that a rule's words mean, or None where they are no date (31 February)."""
    with suppress(ValueError, OverflowError):
        stretch = _READERS[meaning](said)
        if stretch is not None and stretch.start.year >= calendar.FIRST_YEAR:
            return stretch
    return None


def _iso(said: Said) -> Stretch:
    parts = [int(part) for part in said.words["iso"].replace("/", "-").split("-")]
    return calendar.month(*parts) if len(parts) == 2 else calendar.day(date(*parts))  # noqa: PLR2004


def _numeric(said: Said) -> Stretch | None:
    """Read 3.5.2023 or 03/05/2023; day first, but 03/05 in English may be either: no date."""
    written = said.words["numeric"]
    first, second, year = (
        int(part) for part in written.replace("/", ".").replace("-", ".").split(".")
    )
    if second > MONTHS >= first:
        first, second = second, first
    elif said.lexicon.month_first and "." not in written and first <= MONTHS and first != second:
        return None
    return calendar.day(date(year, second, first))


def _dmy(said: Said) -> Stretch | None:
    first = said.day
    last = int(said.words.get("d2", first))
    month = said.month

    def make(year: int) -> Stretch:
        return Stretch(date(year, month, first), date(year, month, last) + timedelta(days=1))

    if last < first:
        return None
    return make(said.number("y")) if "y" in said.words else _nearest(make, said)


def _nearest(make: Callable[[int], Stretch], said: Said) -> Stretch:
    """Return this stretch of a year: the next one, or the last that has begun, or so many on.

    29 February is looked for up to eight years away.
    """
    base = said.base
    years = (
        range(base.year - 1, base.year + 9)
        if said.ahead
        else range(base.year + 1, base.year - 9, -1)
    )
    for year in years:
        with suppress(ValueError):
            stretch = make(year)
            if stretch.end > base if said.ahead else stretch.start <= base:
                return replace(stretch, sure=False, year_said=False)
    raise ValueError("no such day")


def _shifted(make: Callable[[int], Stretch], said: Said) -> Stretch:
    """Return this, the last one that is over, or the next one that has not begun."""
    if said.shift is None:
        return _nearest(make, said)
    base = said.base
    if said.shift < 0:
        year = next(y for y in range(base.year + 1, base.year - 3, -1) if make(y).end <= base)
    elif said.shift > 0:
        year = next(y for y in range(base.year - 1, base.year + 3) if make(y).start > base)
    else:
        year = base.year
    return make(year).guessed()


def _month(said: Said) -> Stretch:
    return _shifted(lambda year: calendar.month(year, said.month), said)


def _months(said: Said) -> Stretch:
    first = said.month
    last = said.lexicon.months[said.words["month2"]]
    count = (last - first) % MONTHS + 1

    def make(year: int) -> Stretch:
        return calendar.months(year, first, count)

    if "y" in said.words:
        return make(said.number("y") - (last < first))
    return _nearest(make, said)


def _weekday(said: Said) -> Stretch:
    """Return the weekday before or after today; "this" one is of this week."""
    base = said.base
    if said.shift == 0:
        return calendar.day(base + timedelta(days=said.weekday - base.weekday())).guessed()
    if said.shift == 1 or (said.shift is None and said.ahead):
        return calendar.day(
            base + timedelta(days=(said.weekday - base.weekday() - 1) % 7 + 1)
        ).guessed()
    return calendar.day(
        base - timedelta(days=(base.weekday() - said.weekday - 1) % 7 + 1)
    ).guessed()


def _weekday_of_week(said: Said) -> Stretch:
    monday = calendar.unit("w", said.base, said.shift or 0).start
    return calendar.day(monday + timedelta(days=said.weekday))


def _weekend(said: Said) -> Stretch:
    def saturday(shift: int) -> Stretch:
        start = calendar.unit("w", said.base, shift).start + timedelta(days=5)
        return Stretch(start, start + timedelta(days=2))

    if said.shift is not None:
        return saturday(said.shift)
    this = saturday(0)
    return (this if said.ahead or this.start <= said.base else saturday(-1)).guessed()


def _which(said: Said) -> int:
    """Return which quarter or half is meant: a figure or an ordinal."""
    word = said.words["q"].rstrip(".")
    for number, stems in enumerate(_ORDINALS, 1):
        if word.startswith(stems):
            return number
    raise ValueError(f"{word} is neither of the first four")


def _half_year(said: Said) -> Stretch:
    return calendar.months(said.number("y"), 6 * _which(said) - 5, 6)


def _quarter(said: Said) -> Stretch:
    number = _which(said)

    def make(year: int) -> Stretch:
        return calendar.months(year, 3 * number - 2, 3)

    return make(said.number("y")) if "y" in said.words else _nearest(make, said)


def _ago(said: Said) -> Stretch | None:
    if "n" not in said.words and said.words["unit"] in said.lexicon.several:
        return None  # so many that the number is not known
    stretch = calendar.counted(said.unit, said.base, -said.count)
    if said.words.get("n", "") not in said.lexicon.some:
        return stretch
    if said.count < FEW:
        leeway = timedelta(days=said.unit == "d")
        return Stretch(stretch.start - leeway, stretch.end + leeway, sure=False)
    earliest = calendar.counted(said.unit, said.base, -said.count - 1)
    latest = calendar.counted(said.unit, said.base, -said.count + 1)
    return Stretch(earliest.start, latest.end, sure=False)


def _ahead(said: Said) -> Stretch:
    return calendar.counted(said.unit, said.base, said.count)


def _half(said: Said) -> Stretch:
    months = {"y": 6, "m": 0, "w": 0}[said.unit]
    if months:
        return calendar.counted("m", said.base, -months)
    return calendar.counted("d", said.base, -calendar.UNIT_DAYS[said.unit] // 2).guessed()


def _half_more(said: Said) -> Stretch:
    if said.unit == "y":
        return calendar.counted("m", said.base, -18)
    days = calendar.UNIT_DAYS[said.unit] * 3 // 2
    middle = said.base - timedelta(days=days)
    leeway = timedelta(days=days // 6)
    return Stretch(middle - leeway, middle + leeway + timedelta(days=1), sure=False)


def _last(said: Said) -> Stretch:
    """Return the last so many units; "in the last days" is about three of them."""
    count, vague = _so_many(said)
    stretch = calendar.recent(said.unit, said.base, count)
    return stretch.guessed() if vague else stretch


def _coming(said: Said) -> Stretch:
    count, vague = _so_many(said)
    stretch = calendar.coming(said.unit, said.base, count)
    return stretch.guessed() if vague else stretch


def _so_many(said: Said) -> tuple[int, bool]:
    """Return how many units, and whether it is only about so many ("the last days")."""
    if "n" in said.words:
        return said.count, said.words["n"] in said.lexicon.some
    several = said.words["unit"] in said.lexicon.several
    return (FEW, True) if several else (1, False)


def _year(said: Said) -> Stretch | None:
    number = said.number("y")
    return calendar.year(number) if number <= said.base.year + calendar.YEARS_AHEAD else None


def _years(said: Said) -> Stretch:
    return Stretch(date(said.number("y"), 1, 1), date(said.number("y2") + 1, 1, 1))


def _decade(said: Said) -> Stretch:
    tens = said.number("dec")
    first = (2000 if tens < _THIS_CENTURY else 1900) + tens % _CENTURY
    return Stretch(date(first, 1, 1), date(first + 10, 1, 1), sure=False)


def _season_of(said: Said) -> Callable[[int], Stretch]:
    return lambda year: calendar.season(said.season, year)


def _feast_of(said: Said) -> Callable[[int], Stretch]:
    return lambda year: calendar.feast(said.feast, year, said.lexicon.east)


def _this_feast(said: Said) -> Stretch:
    if said.shift == 0:
        return _nearest(_feast_of(said), said)
    return _shifted(_feast_of(said), said)


def _shift_of(said: Said) -> int:
    return said.base.year + (said.shift or 0)


_READERS: Mapping[str, Callable[[Said], Stretch | None]] = {
    "skip": lambda said: None,
    "iso": _iso,
    "isomonth": _iso,
    "numeric": _numeric,
    "dmy": _dmy,
    "dmw": _dmy,
    "month": _month,
    "months": _months,
    "monthy": lambda said: calendar.month(said.number("y"), said.month),
    "month_in": lambda said: calendar.month(_shift_of(said), said.month),
    "quarter": _quarter,
    "halfyear": _half_year,
    "day": lambda said: calendar.unit("d", said.base, said.shift or 0),
    "unit": lambda said: calendar.unit(said.unit, said.base, said.shift or 0),
    "edge": lambda said: calendar.unit(said.unit, said.base, 0),
    "ago": _ago,
    "ahead": _ahead,
    "ahead?": lambda said: _ahead(said) if said.ahead else None,
    "coming": _coming,
    "half": _half,
    "halves": _half_more,
    "last": _last,
    "wd": _weekday,
    "wdweek": _weekday_of_week,
    "weekend": _weekend,
    "season": lambda said: _shifted(_season_of(said), said),
    "season?": lambda said: _shifted(_season_of(said), said),
    "seasony": lambda said: _season_of(said)(said.number("y")).guessed(),
    "season_in": lambda said: _season_of(said)(_shift_of(said)),
    "feast": _this_feast,
    "feasty": lambda said: _feast_of(said)(said.number("y")).guessed(),
    "feast_in": lambda said: _feast_of(said)(_shift_of(said)).guessed(),
    "year": _year,
    "years": _years,
    "decade": _decade,
    "recent": lambda said: calendar.recent("d", said.base, said.shift or 30).guessed(),
}
