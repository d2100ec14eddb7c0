"""The words of time of one language, and its rules compiled into one pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

MARKED = "àáâãäåąçćčďèéêëęěìíîïłñńňòóôõöøřśšťùúûüůýÿźžżё’"
PLAIN = "aaaaaaacccdeeeeeeiiiilnnnoooooorsstuuuuuyyzzzе'"
_FOLD = str.maketrans(MARKED, PLAIN)
_MARKS = re.compile(f"[{MARKED}]")
_PLACE = re.compile(r"\{(?P<name>[a-z]+)(?P<again>[2-9]?)(?::(?P<inline>[^{}]*))?\}")
NEVER = "(?!)"
"""Pattern of nothing."""
_SPLIT = re.compile(r"[\s'-]+")
_DAY_NUMBER = r"(?<![\d.,:/-])(?:3[01]|[12]\d|0?[1-9])"
_YEAR = r"(?:19|20)\d\d(?![.,:/-]?\d)"

COMMON: tuple[tuple[str, str], ...] = (
    (
        "iso",
        r"(?<![\d/-]){iso:\d\d\d\d-(?:0\d|1[0-2])-[0-3]\d|\d\d\d\d/(?:0\d|1[0-2])/[0-3]\d}"
        r"(?:t[\d:.]+z?)?(?![/-]?\d)",
    ),
    ("isomonth", r"(?<![\d/.-]){iso:(?:19|20)\d\d-(?:0[1-9]|1[0-2])}(?![/.-]?\d)"),
    (
        "numeric",
        r"(?<![\d/.-]){numeric:\d\d?\.\d\d?\.\d\d\d\d|\d\d?/\d\d?/\d\d\d\d|\d\d?-\d\d?-\d\d\d\d}"
        r"(?![/-]?\d)",
    ),
)
"""Rules of all languages, tried before its own."""


LED = frozenset(
    ["monthy", "month_in:-1", "month_in:0", "month_in:1", "seasony", "season_in:-1", "feasty",
        "feast_in:-1", "quarter", "halfyear",
        "wdweek:-1", "wdweek:1", "wd:-1", "wd:0", "wd:1", "month:-1",
        "month:0", "month:1", "season:-1", "season:0", "season:1", "feast:-1", "feast:0", "feast:1",
        "weekend:-2", "weekend:-1", "weekend:0", "weekend:1"]
)  # fmt: skip
"""Rules that take the words that lead to them, lest a rule that says less is there first."""


def fold(text: str) -> str:
    """Return a text in small letters without diacritics, character for character as long."""
    small = text.lower()
    if len(small) != len(text):
        small = "".join(char if len(char) == 1 else char[0] for char in map(str.lower, text))
    return small.translate(_FOLD) if _MARKS.search(small) else small


def numbered(*forms: str, start: int = 1) -> dict[str, int]:
    """Return form → number for strings of forms, separated by blanks, that are counted up."""
    return {form: number for number, line in enumerate(forms, start) for form in line.split()}


@dataclass(frozen=True)
class Lexicon:
    """What a language says of time. All words are folded; a blank in a rule is any white space.

    A rule is (what it means, pattern). In the pattern `{month}` is any word of that table, and
    `{month:may|june}` a group of the same name with other words; a second group of one name
    is `{month2}`. `_reading` knows the meanings;
    ":-1" after one is the shift from now. A rule "skip" takes its words out of the others' reach.
    """

    code: str
    numbers: Mapping[str, int] = field(default_factory=dict)
    ordinals: Mapping[str, int] = field(default_factory=dict)
    """Days of the month in words, "the fifth"."""
    units: Mapping[str, str] = field(default_factory=dict)
    months: Mapping[str, int] = field(default_factory=dict)
    weekdays: Mapping[str, int] = field(default_factory=dict)
    seasons: Mapping[str, str] = field(default_factory=dict)
    feasts: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[tuple[str, str], ...] = ()
    cues: frozenset[str] = frozenset()
    """Words of its rules that are in no table."""
    leads: str = NEVER
    """Pattern of words that lead to a time ("in", "since"), which LED rules may begin with."""
    since: str = NEVER
    after: str = NEVER
    before: str = NEVER
    until: str = NEVER
    """Patterns of what stands before a time and opens one end of it."""
    between: str = NEVER
    joined: str = NEVER
    """Patterns of what stands before the first, and between the two times of a range."""
    early: str = NEVER
    middle: str = NEVER
    late: str = NEVER
    """Patterns of what stands before a time and means a third of it."""
    beside: str = "{unit:(?!)}{back:(?!)}"
    """Pattern of "the day before", with groups unit, n and back (what means "before")."""
    past: str = NEVER
    """Pattern of words, small but not folded, of a sentence that speaks of what is over."""
    future: str = NEVER
    """Pattern of words that say that a sentence speaks of what is to come."""
    month_first: bool = False
    small_months: bool = True
    """Whether a month has a small first letter, so that with a capital it is a name."""
    names: frozenset[str] = frozenset()
    """Months that are also names or common words."""
    some: frozenset[str] = frozenset()
    """Numbers that are about three ("a few")."""
    several: frozenset[str] = frozenset()
    """Units in the plural, which without a number are about three."""
    east: bool = False
    """Whether its feasts are those of the Orthodox calendar."""

    @cached_property
    def words(self) -> frozenset[str]:
        """Words of which a text has one if it says a time in words."""
        tables = (self.units, self.months, self.weekdays, self.seasons, self.feasts)
        split = [_SPLIT.split(form) for table in tables for form in table]
        return self.cues | {form[-1] for form in split if self.units.keys().isdisjoint(form[:-1])}

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return all rules as one pattern; the group that closes last names the rule."""
        return re.compile(rf"(?<!\w)(?:{'|'.join(self._alternatives())})(?!\w)")

    @cached_property
    def groups(self) -> tuple[tuple[tuple[str, int], ...], ...]:
        """The groups of each rule in `pattern`: name and number."""
        made: list[list[tuple[str, int]]] = [[] for _ in self.meanings]
        for name, number in self.pattern.groupindex.items():
            bare, _, rule = name.partition("_")
            if bare != "r":
                made[int(rule)].append((bare, number))
        return tuple(tuple(groups) for groups in made)

    @cached_property
    def meanings(self) -> tuple[str, ...]:
        """What each rule means, in the order of `pattern`."""
        return tuple(meaning for meaning, _ in (*COMMON, *self.rules))

    def before_it(self, name: str) -> re.Pattern[str]:
        """Return the pattern of an attribute, for the end of what stands before a time."""
        return self._lookback[name]

    @cached_property
    def _lookback(self) -> dict[str, re.Pattern[str]]:
        names = ("since", "after", "before", "until", "between", "early", "middle", "late")
        made = {name: re.compile(rf"(?<!\w)(?:{_spaced(getattr(self, name))})$") for name in names}
        made["beside"] = re.compile(rf"(?<!\w)(?:{self._filled(self.beside, '')})$")
        return made

    @cached_property
    def to_come(self) -> re.Pattern[str]:
        """Return the pattern of `future`."""
        return re.compile(rf"(?<!\w)(?:{_spaced(self.future)})(?!\w)")

    @cached_property
    def is_over(self) -> re.Pattern[str]:
        """Return the pattern of `past`."""
        return re.compile(rf"(?<!\w)(?:{_spaced(self.past)})(?!\w)")

    @cached_property
    def join(self) -> re.Pattern[str]:
        """Return the pattern of what joins the two times of a range."""
        return re.compile(rf"\s*(?:{_spaced(self.joined)})\s*")

    def _alternatives(self) -> Iterator[str]:
        lead = rf"(?:(?:{_spaced(self.leads)})\s+)"
        for number, (meaning, rule) in enumerate((*COMMON, *self.rules)):
            led = rf"(?P<lead_{number}>{lead})?" if meaning in LED else ""
            yield rf"(?P<r_{number}>{led}(?:{self._filled(rule, f'_{number}')})(?!\w))"

    def _filled(self, rule: str, suffix: str) -> str:
        taken: set[str] = set()

        def group(match: re.Match[str]) -> str:
            inside = match["inline"] or self._table(match["name"])
            name = match["name"] + match["again"]
            while name in taken:
                name = match["name"] + str(int(name.removeprefix(match["name"]) or 1) + 1)
            taken.add(name)
            return f"(?P<{name}{suffix}>{inside})"

        return _PLACE.sub(group, _spaced(rule))

    def _table(self, name: str) -> str:
        fixed = {"d": _DAY_NUMBER, "y": _YEAR}
        if name in fixed:
            return fixed[name]
        tables: dict[str, Mapping[str, object]] = {
            "n": self.numbers,
            "dw": self.ordinals,
            "unit": self.units,
            "month": self.months,
            "wd": self.weekdays,
            "season": self.seasons,
            "feast": self.feasts,
        }
        forms = sorted(tables[name], key=len, reverse=True)
        listed = "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in forms)
        return rf"\d\d?\d?|{listed}" if name == "n" else listed


def _spaced(pattern: str) -> str:
    return pattern.replace(" ", r"\s+")
