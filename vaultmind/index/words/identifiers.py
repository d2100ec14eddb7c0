"""Names that are not words: what of a query is one, and whether a text holds it to the letter.

`PROJ-77`, `v1.2.3`, `#1234`, `docs/setup.md`, `std::vector`, `--no-cache`: full text holds them as
phrases of their parts, which other texts may hold as well, so a text that has the very letters
comes before. A number is the same however it is spaced. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

MAX_IDENTIFIERS = 8
"""Of a query that are looked for to the letter."""
MAX_LENGTH = 200
MIN_DIGITS = 6
"""Digits of a number that may be spaced in other ways: shorter ones are numbers of something."""
MAX_DIGITS = 34
MAX_CUTS = 64
"""Ways to cut a number into parts that are compared, ..."""
MAX_LOOKED_UP = 8
"""... and of these, that are looked up."""
WITHIN = 0.5
"""What a text gets that holds an identifier only as a part of a longer one."""

_OPENING, _CLOSING = "([{<'\"`«„“”", ")]}>'\"`»“”.,;:!?…"
_JOINED = re.compile(r"[\w\s'’ʼ]")
"""Letters that do not make an identifier."""
_WORD = re.compile(r"[^\W_]+")
_SPACED = re.compile(
    r"(?<![^\W_])[a-z]{0,4}\d(?:[ ().\-/\u00a0]{0,2}\d){5,33}(?![^\W_])", re.IGNORECASE
)

_SIZES = (4, 3, 2, 5, 6)
"""Digits that people write side by side."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """A part of a query that is to be found to the letter."""

    alone: re.Pattern[str]
    """Finds it by itself, ..."""
    within: re.Pattern[str]
    """... and as a part of a longer one."""
    share: float
    """Of the words of the query that it has."""


def identifiers(query: str) -> tuple[Identifier, ...]:
    """Return what of a query is more than words, each once."""
    pieces: dict[str, None] = {}
    for piece in query.split():
        name = piece.lstrip(_OPENING).rstrip(_CLOSING)
        bare = _JOINED.sub("", name)
        if (bare or "_" in name.strip("_")) and len(name) <= MAX_LENGTH and _WORD.search(name):
            pieces[name.casefold()] = None
            if len(pieces) == MAX_IDENTIFIERS:
                break
    if not pieces:
        return ()
    words = len(_WORD.findall(query.casefold()))
    return tuple(Identifier(*_patterns(name), len(_WORD.findall(name)) / words) for name in pieces)


def exactness(wanted: tuple[Identifier, ...], text: str) -> float:
    """Return how much of a query a text holds to the letter, from 0 to 1."""
    folded = text.casefold()
    held = sum(
        one.share if one.alone.search(folded) else WITHIN * one.share
        for one in wanted
        if one.within.search(folded)
    )
    return min(1.0, held)


def spaced(
    query: str, count: Callable[[str], int], stands: Callable[[tuple[str, ...]], bool]
) -> dict[str, tuple[str, ...]]:
    """Return, for tokens of long numbers in a query, the tokens that the index has them as.

    `count` tells how many chunks hold a token, `stands` whether one holds tokens side by side. Of
    the ways to cut a number the first that stands somewhere is taken, the rarest first.
    """
    found: dict[str, tuple[str, ...]] = {}
    for match in islice(_SPACED.finditer(query), MAX_IDENTIFIERS):
        typed = tuple(_WORD.findall(match.group().lower()))
        joined = "".join(typed)
        cuts: list[tuple[str, ...]] = [(joined,)] if count(joined) else []
        if not cuts and joined.isdecimal() and MIN_DIGITS <= len(joined) <= MAX_DIGITS:
            cuts = list(islice(_cuts(joined, count), MAX_CUTS))
        if cuts and typed not in cuts:
            rarest = sorted(cuts, key=lambda cut: max(map(count, cut)))[:MAX_LOOKED_UP]
            held = next((cut for cut in rarest if len(cut) == 1 or stands(cut)), ())
            found.update(dict.fromkeys(typed, held) if held else {})
    return found


def _patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of an identifier: by itself (`v` before a version aside), and within."""
    escaped = re.escape(name)
    before = r"(?<![^\W_])" if name[0].isalnum() else r"(?<![\w\-])"
    if name[0].isdecimal():
        before = r"(?<!\d)(?<!\d[.,:])(?<![^\W\dv_])"
    after = r"(?![^\W_])" if name[-1].isalnum() else ""
    outside = r"(?<![\w\-/\\.@:#][\-/\\.@:#])(?<!\w[_])" if name[0].isalnum() else ""
    return (
        re.compile(rf"{outside}{before}{escaped}{after}(?![_\-/\\.@:#][^\W_]|::)"),
        re.compile(rf"{before}{escaped}{after}"),
    )


def _cuts(number: str, count: Callable[[str], int]) -> Iterator[tuple[str, ...]]:
    """Yield the ways to cut a number into tokens that the index has."""
    ends = [False] * len(number) + [True]
    for at in range(len(number) - 1, -1, -1):
        ends[at] = any(
            ends[at + size] and count(number[at : at + size])
            for size in _SIZES
            if at + size <= len(number)
        )

    def after(at: int) -> Iterator[tuple[str, ...]]:
        if at == len(number):
            yield ()
            return
        for size in _SIZES:
            if at + size <= len(number) and ends[at + size] and count(number[at : at + size]):
                yield from ((number[at : at + size], *rest) for rest in after(at + size))

    return after(0) if ends[0] else iter(())
