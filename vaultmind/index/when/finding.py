"""Find the times that a text speaks of: a cheap look for words of time, then a language's rules.

Most texts say no time, and for them only the first step is taken: are there words of time, or
figures that look like a date? If so, the rules read what stands around those words, then what
stands before each time found ("since", "before", "early", "the day after") and between two of
them ("from ... to"). A full date that the rules do not know is left to dateparser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from importlib import import_module
from itertools import islice

from vaultmind.index.when import calendar, written
from vaultmind.index.when.calendar import Stretch
from vaultmind.index.when.lexicon import LED, Lexicon, fold
from vaultmind.index.when.reading import Said, read
from vaultmind.index.when.span import Span

LANGUAGES: Mapping[str, str] = {
    "en": "english", "pl": "polish", "ru": "russian", "de": "german", "es": "spanish",
    "fr": "french",
}  # fmt: skip
"""Languages whose words of time are known, and their modules."""
MAX_CHARACTERS = 20_000
"""Of a text, that are looked at: nobody asks more, and a longer message is a pasted file."""
MAX_SPANS = 12
"""Times of one text; a timetable of a hundred days is about none of them."""
MAX_PLACES = 48
"""Words of time and years of a text that are looked at, from its beginning."""
_AROUND = 44
"""Characters before and after a word of time that its rules may reach."""
_LOOK_BACK = 28
_SENTENCE = 300
"""Characters either way in which a time's sentence is looked for."""
_CLOSED = frozenset({"ago", "ahead", "ahead?", "half", "halves", "last", "months", "years"})
"""Rules whose own first word ("vor drei Tagen") is not the one that opens an end ("vor Ostern")."""
_EITHER_WAY = frozenset(
    {
        "dmy",
        "dmw",
        "month",
        "months",
        "wd",
        "weekend",
        "season",
        "season?",
        "feast",
        "quarter",
        "ahead?",
    }
)
"""Rules that may mean what was or what is to come."""
_FIGURES = re.compile(r"(?:19|20)\d\d")
_WORD = re.compile(r"[^\W_]+")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?\n]\s")


def spans(query: str, language: str, base: datetime) -> tuple[Span, ...]:
    """Return the times that a question asks about, in the order of the text.

    `language` is an ISO 639-1 code; empty: the one of LANGUAGES whose words of time it has most.
    `base` is now, where the person is: days begin at its midnight, and the spans have its zone.
    """
    return _found(query[:MAX_CHARACTERS], language, base, told=False)


def mentioned(text: str, language: str, said: datetime) -> tuple[Span, ...]:
    """Return the times that a message speaks of, seen from the day it was said on.

    Code and addresses are not looked at.
    """
    text = text[:MAX_CHARACTERS]
    if "`" in text or "://" in text:
        text = _CODE.sub(lambda match: " " * len(match[0]), text)
    return _found(text, language, said, told=True)


@dataclass(frozen=True, slots=True)
class _Atom:
    """One time in a text, with what stands around it already taken in or not."""

    start: int
    core: int
    """Where its own words begin: what stands before may belong to the rule ("in", "since")."""
    end: int
    stretch: Stretch
    whole: bool = False
    """Whether it is a range by itself, so that nothing before it opens an end."""


@dataclass(frozen=True, slots=True)
class _Place:
    """What a time is found in."""

    text: str
    folded: str
    lexicon: Lexicon
    base: date
    told: bool
    """Whether somebody tells it, not asks."""


def _found(text: str, language: str, base: datetime, *, told: bool) -> tuple[Span, ...]:
    folded = fold(text)
    figures = _FIGURES.search(folded) is not None
    words = set(_WORD.findall(folded))
    lexicon = _lexicon(language, words)
    if not figures and lexicon.words.isdisjoint(words):
        return ()
    place = _Place(text, folded, lexicon, base.date(), told)
    atoms = list(islice(_atoms(place), 2 * MAX_SPANS))
    if figures:
        atoms = _with_written(atoms, text, language, base.date())
    made = [_span(opened, text, base) for opened in _opened(atoms, folded, lexicon)]
    return tuple(dict.fromkeys(made))[:MAX_SPANS]


def _lexicon(language: str, words: set[str]) -> Lexicon:
    if language:
        return lexicon_of(language)
    hits = {code: len(lexicon_of(code).words & words) for code in LANGUAGES}
    return lexicon_of(max(hits, key=lambda code: hits[code]))


@lru_cache(maxsize=64)
def lexicon_of(language: str) -> Lexicon:
    """Return the words of time of a language; of one that is not known: none, only figures."""
    if language in LANGUAGES:
        name = LANGUAGES[language]
        module = import_module(f"vaultmind.index.when.languages.{name}")
        found: Lexicon = getattr(module, name.upper())
        return found
    return Lexicon(code=language)


def _atoms(place: _Place) -> Iterator[_Atom]:
    for start, end in _windows(place.folded, place.lexicon):
        for match in place.lexicon.pattern.finditer(place.folded, start, end):
            atom = _atom(match, place)
            if atom is not None:
                yield atom


def _windows(folded: str, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that have a word of time, or figures like a date, near them."""
    if len(folded) <= 3 * _AROUND:
        yield 0, len(folded)
        return
    places = [word.start() for word in _WORD.finditer(folded) if word[0] in lexicon.words]
    places += [figure.start() for figure in _FIGURES.finditer(folded)]
    start = end = -1
    for place in sorted(places)[:MAX_PLACES]:
        if start >= 0 and place - _AROUND > end:
            yield start, end
            start = -1
        if start < 0:
            start = _word_edge(folded, max(end, place - _AROUND), 1)
        end = _word_edge(folded, place + _AROUND, -1)
        end = max(end, min(len(folded), place + _AROUND))
    if start >= 0:
        yield start, end


def _word_edge(folded: str, place: int, step: int) -> int:
    """Return the next place, that way, at which no word is cut."""
    while 0 < place < len(folded) and folded[place - 1].isalnum() and folded[place].isalnum():
        place += step
    return max(0, min(len(folded), place))


def _atom(match: re.Match[str], place: _Place) -> _Atom | None:
    lexicon = place.lexicon
    number = int((match.lastgroup or "r_0")[2:])
    meaning, _, shift = lexicon.meanings[number].partition(":")
    if meaning == "skip":
        return None
    words, core = _fields(match, number, lexicon)
    if not _plausible(meaning, place.text, match, words, lexicon):
        return None
    ahead = meaning in _EITHER_WAY and _ahead(match, place)
    said = Said(words, int(shift) if shift else None, place.base, lexicon, ahead)
    stretch = read(meaning, said)
    if lexicon.meanings[number] in LED:
        core = match.end("lead_" + str(number)) if match["lead_" + str(number)] else match.start()
    elif shift or meaning in _CLOSED:
        core = match.start()
    whole = "d2" in words or meaning in ("months", "years")
    return _Atom(match.start(), core, match.end(), stretch, whole) if stretch else None


def _fields(match: re.Match[str], number: int, lexicon: Lexicon) -> tuple[dict[str, str], int]:
    """Return a match's words by name, and where the first of them stands."""
    words: dict[str, str] = {}
    core = match.end()
    for name, group in lexicon.groups[number]:
        value = match[group]
        if value is not None and name != "lead":
            core = min(core, match.start(group))
            words[name] = value
            words.setdefault(name.rstrip("23456789"), value)
    return words, core if words else match.start()


def _plausible(
    meaning: str, text: str, match: re.Match[str], words: Mapping[str, str], lexicon: Lexicon
) -> bool:
    """Tell whether a month or a season that is also a name or a common word is meant as one."""
    if meaning == "season?":
        return not _capital(text, match, words["season"])
    if (
        meaning not in ("month", "dmy", "dmw")
        or "y" in words
        or words["month"] not in lexicon.names
    ):
        return True
    capital = _capital(text, match, words["month"])
    if lexicon.small_months:
        return not capital
    return capital or text.islower() or match[0].startswith(("in ", "since "))


def _capital(text: str, match: re.Match[str], word: str) -> bool:
    return text[match.start() + match[0].rindex(word)].isupper()


def _ahead(match: re.Match[str], place: _Place) -> bool:
    """Tell whether a time without a year or a week is one to come.

    People ask about what was. In a message it is said by the sentence: "I will", "I moved". One
    that says neither ("the deadline is 12 May") is of what is to come, but for "since May".
    """
    lexicon, folded = place.lexicon, match.string
    first, last = max(0, match.start() - _SENTENCE), match.end() + _SENTENCE
    ends = _SENTENCE_END.finditer(folded, first, match.start())
    before = max((end.end() for end in ends), default=first)
    found = _SENTENCE_END.search(folded, match.end(), last)
    after = found.start() if found else min(last, len(folded))
    if lexicon.to_come.search(folded, before, after):
        return True
    if not place.told or lexicon.is_over.search(place.text[before:after].lower()):
        return False
    return not lexicon.before_it("since").search(folded, before, _first_word_end(match))


def _first_word_end(match: re.Match[str]) -> int:
    """Return where the word after a match's first one begins, or the match, if it has but one."""
    blank = match[0].find(" ")
    return match.start() + blank + 1 if blank >= 0 else match.start()


def _with_written(atoms: list[_Atom], text: str, language: str, base: date) -> list[_Atom]:
    """Return the atoms, and full dates that only dateparser can read."""
    taken = [(atom.start, atom.end) for atom in atoms]
    found = [
        _Atom(start, start, end, calendar.day(day))
        for start, end, day in written.dates(text, language, base, taken)
    ]
    return sorted((*atoms, *found), key=lambda atom: atom.start)


def _opened(atoms: list[_Atom], folded: str, lexicon: Lexicon) -> Iterator[tuple[_Atom, str]]:
    """Yield each time with what stands around it taken in, and which end is open, if any."""
    atoms = [_narrowed(atom, folded, lexicon) for atom in atoms]
    number = 0
    while number < len(atoms):
        atom = atoms[number]
        joined = _range(atom, atoms[number + 1 : number + 2], folded, lexicon)
        if joined is not None:
            yield joined, ""
            number += 2
            continue
        yield _one_sided(atom, folded, lexicon)
        number += 1


def _narrowed(atom: _Atom, folded: str, lexicon: Lexicon) -> _Atom:
    """Take in "early", "the end of", "two days after"."""
    for which, name in enumerate(("early", "middle", "late")):
        match = _behind(atom, folded, lexicon, name)
        if match:
            stretch = calendar.third(atom.stretch, which)
            return replace(atom, start=match.start(), core=match.start(), stretch=stretch)
    match = _behind(atom, folded, lexicon, "beside")
    if not match:
        return atom
    said = Said({k: v for k, v in match.groupdict().items() if v}, 0, date.min, lexicon, False)
    stretch = _beside(atom.stretch, said.unit, said.count, bool(match["back"]))
    return replace(atom, start=match.start(), core=match.start(), stretch=stretch)


def _beside(stretch: Stretch, unit: str, count: int, back: bool) -> Stretch:
    days = calendar.UNIT_DAYS[unit] * count
    if unit == "d":
        shifted = stretch.start - timedelta(days) if back else stretch.end + timedelta(days - 1)
        return replace(calendar.day(shifted), sure=stretch.sure)
    width = timedelta(days=max(1, days))
    if back:
        return Stretch(stretch.start - width, stretch.start, sure=False)
    return Stretch(stretch.end, stretch.end + width, sure=False)


def _range(first: _Atom, rest: list[_Atom], folded: str, lexicon: Lexicon) -> _Atom | None:
    """Return two times as one, if they are a range: "from ... to", or a dash between dates."""
    if not rest:
        return None
    last = rest[0]
    gap = folded[first.end : last.start] or folded[first.end : last.core]
    opener = _behind(first, folded, lexicon, "between")
    joint = lexicon.join.fullmatch(folded, first.end, max(last.start, first.end))
    joint = joint or lexicon.join.fullmatch(folded, first.end, max(last.core, first.end))
    if joint is None or not (opener or gap.strip() in ("-", "–", "—")):
        return None
    left, right = first.stretch, last.stretch
    years = 0
    while not left.year_said and left.start.year + years > right.end.year - right.end.month // 12:
        years -= 1
    start = _years_on(left.start, years)
    end = right.end
    if start >= end and not left.year_said:
        start = _years_on(start, -1)
    while not right.year_said and left.year_said and _years_on(end, -1) > start:
        end = _years_on(end, -1)
    if start >= end:
        return None
    sure = (left.year_said or right.year_said) and all(
        side.sure or not side.year_said for side in (left, right)
    )
    return _Atom(
        opener.start() if opener else first.start, first.core, last.end,
        Stretch(start, end, sure),
    )  # fmt: skip


def _years_on(day: date, years: int) -> date:
    return day.replace(year=day.year + years, day=min(day.day, 28) if day.month == 2 else day.day)  # noqa: PLR2004


def _one_sided(atom: _Atom, folded: str, lexicon: Lexicon) -> tuple[_Atom, str]:
    for name in () if atom.whole else ("since", "after", "before", "until"):
        match = _behind(atom, folded, lexicon, name)
        if match:
            return replace(atom, start=match.start()), name
    return atom, ""


def _behind(atom: _Atom, folded: str, lexicon: Lexicon, name: str) -> re.Match[str] | None:
    """Return the match of what stands right before a time, or before its own words."""
    pattern = lexicon.before_it(name)
    for place in dict.fromkeys((atom.start, atom.core)):
        match = pattern.search(folded, max(0, place - _LOOK_BACK), place)
        if match:
            return match
    return None


def _span(opened: tuple[_Atom, str], text: str, base: datetime) -> Span:
    atom, side = opened
    stretch = atom.stretch
    start: date | None = stretch.start
    end: date | None = stretch.end
    if side in ("since", "after"):
        start, end = (stretch.start if side == "since" else stretch.end), None
    elif side in ("before", "until"):
        start, end = None, (stretch.start if side == "before" else stretch.end)
    return Span(
        _midnight(start, base),
        _midnight(end, base),
        text[atom.start : atom.end].strip(),
        stretch.sure,
    )


def _midnight(day: date | None, base: datetime) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), base.tzinfo)
