"""Places: where in a file a task is spoken of, by what the search found and by what is defined."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from vaultmind.planner.candidates.pool import Spot
from vaultmind.planner.candidates.wording import tokens_of
from vaultmind.planner.sources.freshness import Page
from vaultmind.planner.structure.records import Definition

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
_ABOVE = ("#", "//", "/*", "*", "@", "--", ";")


@dataclass(frozen=True, slots=True)
class _Defined:
    """A definition that shares words with the task."""

    start: int
    end: int
    name: str
    score: float


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


def _said(one: Definition, told: Mapping[str, float]) -> float:
    around, _, name = one.name.rpartition(".")
    counted: dict[str, float] = {}
    for text, share in ((name, 1.0), (one.summary, ASIDE), (around, AROUND)):
        for word in tokens_of(text):
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
