"""Places: where in a file a task is spoken of, by what the search found and by what is defined."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from vaultmind.planner.candidates.pool import Spot
from vaultmind.planner.sources.freshness import Page
from vaultmind.planner.types import Definition
from vaultmind.planner.words import stems_of

MOST_DEFINED = 3
"""Definitions of a file that are places though the search did not find them."""
LEAST_SHARE = 0.5
"""Of what the best definition of a file says of the task, for another to be a place."""
ASIDE, AROUND = 0.5, 0.25
"""What a word counts in the doc line or of a constant, and in the name of what is around."""
MOST_ABOVE = 8
"""Lines of comments and decorators above a definition that are shown with it."""
STEM = 3
"""Characters by which a word is looked for before it is looked at closely."""
MOST_SEARCHED = 200_000
"""Characters of a file whose definitions are searched for the words of a task."""
_ABOVE = ("#", "//", "/*", "*", "@", "--", ";")


@dataclass(frozen=True, slots=True)
class _Defined:
    """A definition that shares words with the task."""

    start: int
    end: int
    name: str
    score: float


@dataclass(frozen=True, slots=True)
class EarlierUse:
    """What leads into a file that earlier work on such tasks used."""

    parts: frozenset[str]
    """Definitions or headings that the work told to have changed."""
    words: frozenset[str]
    """Stems of the task's telling words."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A definition, or what stands below a heading."""

    start: int
    end: int
    name: str


def places_of(
    page: Page, spots: Sequence[Spot], told: Mapping[str, float], most_chars: int
) -> list[Spot]:
    """Return the places of a file, the best first, none over another.

    `told` says how much each word of the task tells. In code, a definition that shares a word
    with the task goes before lines that belong to none: imports, the head of a file. One within a
    place of more than `most_chars`, which is cut, is a place of its own.
    """
    found = [*spots] if page.indexed else []
    defined = _defined(page, told)
    if defined:
        found = [_with(one, defined, most_chars) for one in found]
        found += _alone(found, defined, most_chars)
        bodies = [one for one in found if one.part or _inside(one, defined)]
        found = bodies or found
    kept: list[Spot] = []
    for spot in sorted(found, key=lambda one: (-one.score, one.start)):
        if all(spot.end <= one.start or one.end <= spot.start for one in kept):
            kept.append(spot)
    return kept


def with_earlier(page: Page, places: Sequence[Spot], earlier: EarlierUse) -> list[Spot]:
    """Return the places of a file that earlier work used: what it changed there goes first.

    Where nobody told what that was, and no place is of a definition or a section, those go first
    whose own text says most of the task: the head of a file says nothing of what is to be done.
    """
    parts = _parts(page)
    first = [one for one in parts if _is_named(one.name, earlier.parts)]
    if not first:
        if any(one.part or _holds(one, parts) for one in places):
            return [*places]
        first = _saying(page, parts, earlier.words)
    kept: list[Spot] = []
    for spot in (*(Spot(one.start, one.end, f"#{one.name}", 1.0) for one in first), *places):
        if all(spot.end <= one.start or one.end <= spot.start for one in kept):
            kept.append(spot)
    return kept


def beginnings(words: Iterable[str]) -> re.Pattern[str]:
    """Return what finds texts that may hold some stems."""
    return re.compile("|".join(re.escape(word[:STEM]) for word in words), re.IGNORECASE)


def may_hold(begins: re.Pattern[str], text: str) -> bool:
    """Tell whether a text is to be looked at closely: a stem has no accents, a text may."""
    return not text.isascii() or begins.search(text) is not None


def _defined(page: Page, told: Mapping[str, float]) -> list[_Defined]:
    """Return the definitions that share words with the task, the best first."""
    record, total = page.record, sum(told.values())
    if record is None or record.shape != "code" or not total:
        return []
    begins = beginnings(told)
    said = [
        (one, _said(one, told) / total)
        for one in record.definitions
        if may_hold(begins, f"{one.name} {one.summary}")
    ]
    if not any(score for _, score in said):
        return []
    lines = page.text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found = []
    for one, score in said:
        if score and 0 < one.line <= one.last_line <= len(lines):
            first, end = _first_line(lines, one.line), starts[one.last_line] - 1
            found.append(_Defined(starts[first - 1], end, f"#{one.name}", score))
    return sorted(found, key=lambda one: (-one.score, one.start))


def _parts(page: Page) -> list[_Part]:
    """Return what a file is made of, in order: its definitions, or its sections."""
    record = page.record
    if record is None:
        return []
    lines = page.text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    if record.shape == "code":
        named = [
            (_first_line(lines, one.line), one.last_line, one.name)
            for one in record.definitions
            if 0 < one.line <= one.last_line <= len(lines)
        ]
    else:
        headings = [one for one in record.headings if 0 < one.line <= len(lines)]
        ends = [*(one.line - 1 for one in headings[1:]), len(lines)]
        named = [(one.line, last, one.text) for one, last in zip(headings, ends, strict=False)]
    found = [_Part(starts[first - 1], starts[last] - 1, name) for first, last, name in named]
    return sorted(found, key=lambda one: (one.start, -one.end))


def _is_named(name: str, wanted: Iterable[str]) -> bool:
    """Tell whether a part is one of those named, be it by the last part of its name."""
    return any(name == one or name.endswith(f".{one}") for one in wanted)


def _holds(spot: Spot, parts: Sequence[_Part]) -> bool:
    return any(spot.start <= one.start < spot.end for one in parts)


def _saying(page: Page, parts: Sequence[_Part], words: frozenset[str]) -> list[_Part]:
    """Return the innermost parts that hold most of some words, the rare ones first of all."""
    if not words or len(page.text) > MOST_SEARCHED:
        return []
    ends = (*(one.start for one in parts[1:]), math.inf)
    inner = [one for one, after in zip(parts, ends, strict=False) if after >= one.end]
    begins = beginnings(words)
    held: dict[_Part, frozenset[str]] = {}
    for one in inner:
        text = page.text[one.start : one.end]
        if may_hold(begins, text) and (both := words.intersection(stems_of(text))):
            held[one] = both
    holding = Counter(word for each in held.values() for word in each)
    score = {
        one: math.fsum(math.log1p(len(inner) / holding[word]) for word in each)
        for one, each in held.items()
    }
    least = LEAST_SHARE * max(score.values(), default=0.0)
    ranked = sorted(score, key=lambda one: (-score[one], one.start))
    return [one for one in ranked if score[one] >= least][:MOST_DEFINED]


def _said(one: Definition, told: Mapping[str, float]) -> float:
    around, _, name = one.name.rpartition(".")
    counted: dict[str, float] = {}
    for text, share in ((name, 1.0), (one.summary, ASIDE), (around, AROUND)):
        for word in stems_of(text):
            counted.setdefault(word, share)
    share = ASIDE if one.kind == "constant" else 1.0
    return share * math.fsum(part * told.get(word, 0.0) for word, part in counted.items())


def _first_line(lines: Sequence[str], line: int) -> int:
    """Return the line at which what stands above a definition, and belongs to it, begins."""
    first = line
    while first > max(1, line - MOST_ABOVE) and lines[first - 2].lstrip().startswith(_ABOVE):
        first -= 1
    return first


def _inside(spot: Spot, defined: Sequence[_Defined]) -> list[_Defined]:
    """Return the definitions that a place holds, or is a part of by its name."""
    return [one for one in defined if one.name == spot.part or spot.start <= one.start < spot.end]


def _with(spot: Spot, defined: Sequence[_Defined], most_chars: int) -> Spot:
    """Return a place with what its definitions say of the task added to its score."""
    inside = _inside(spot, defined)
    whole = [one for one in inside if one.name == spot.part or spot.end - spot.start <= most_chars]
    return replace(spot, score=spot.score + max((one.score for one in whole), default=0.0))


def _alone(spots: Sequence[Spot], defined: Sequence[_Defined], most_chars: int) -> list[Spot]:
    """Return the definitions that stand in no place which is shown whole.

    Each goes before the place that holds it and is cut.
    """
    least = LEAST_SHARE * defined[0].score
    alone: list[Spot] = []
    for one in defined:
        around = [spot for spot in spots if _inside(spot, (one,))]
        whole = any(one.name == spot.part or spot.end - spot.start <= most_chars for spot in around)
        if one.score >= least and not whole:
            score = one.score + max((spot.score for spot in around), default=0.0)
            alone.append(Spot(one.start, one.end, one.name, score))
    return alone[:MOST_DEFINED]
