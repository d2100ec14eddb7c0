"""Names that are not words: what of a query is one, and whether a text holds it to the letter.

`PROJ-77`, `v1.2.3`, `#1234`, `docs/setup.md`, `std::vector`, `--no-cache`: full text holds them as
phrases of their parts, which other texts may hold as well, so a text that has the very letters
comes before. A number is the same however it is spaced. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

MAX_IDENTIFIERS = 8
"""Of a query that are looked for to the letter."""
MAX_LENGTH = 200
MIN_DIGITS = 6
"""Digits of a number that may be spaced in other ways: shorter ones are numbers of something."""
MAX_DIGITS = 34
WITHIN = 0.5
"""What a text gets that holds an identifier only as a part of a longer one."""

_OPENING, _CLOSING = "([{<'\"`«„“”", ")]}>'\"`»“”.,;:!?…"
_JOINED = re.compile(r"[\w\s'’ʼ]")
"""Letters that do not make an identifier."""
_WORD = re.compile(r"[^\W_]+")
_SPACED = re.compile(
    r"(?<![^\W_])[a-z]{0,4}\d(?:[ ().\-/\u00a0]{0,2}\d){5,33}(?![^\W_])", re.IGNORECASE
)


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
    words = len(_WORD.findall(query))
    return tuple(Identifier(*_patterns(name), len(_WORD.findall(name)) / words) for name in pieces)


def exactness(wanted: tuple[Identifier, ...], text: str) -> float:
    """Return how much of a query a text holds to the letter, from 0 to 1."""
    folded = text.casefold()
    return sum(
        one.share if one.alone.search(folded) else WITHIN * one.share
        for one in wanted
        if one.within.search(folded)
    )


def spaced(query: str, known: Container[str]) -> dict[str, tuple[str, ...]]:
    """Return, for tokens of long numbers in a query, the tokens that the index has them as."""
    found: dict[str, tuple[str, ...]] = {}
    for match in _SPACED.finditer(query):
        typed = _WORD.findall(match.group().lower())
        joined = "".join(typed)
        held: tuple[str, ...] = (joined,) if joined in known else ()
        if not held and joined.isdecimal() and MIN_DIGITS <= len(joined) <= MAX_DIGITS:
            held = _pieces(joined, known, set())
        if held and held != tuple(typed):
            found.update(dict.fromkeys(typed, held))
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


def _pieces(number: str, known: Container[str], failed: set[str]) -> tuple[str, ...]:
    """Return known tokens that make up a number, the longest first ones that fit."""
    for size in (4, 3, 2, 5, 6):
        head, rest = number[:size], number[size:]
        if len(head) < size or head not in known or rest in failed:
            continue
        if not rest:
            return (head,)
        found = _pieces(rest, known, failed)
        if found:
            return (head, *found)
        failed.add(rest)
    return ()
