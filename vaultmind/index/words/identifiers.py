"""Names that are not words: what of a query is one, and whether a text holds it to the letter.

`PROJ-77`, `v1.2.3`, `#1234`, `docs/setup.md`, `std::vector`, `--no-cache`: full text holds them as
phrases of their parts, which other texts may hold as well, so a text that has the very letters
comes before. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_IDENTIFIERS = 8
"""Of a query that are looked for to the letter."""
MAX_LENGTH = 200
WITHIN = 0.5
"""What a text gets that holds an identifier only as a part of a longer one."""

_OPENING, _CLOSING = "([{<'\"`«„“”", ")]}>'\"`»“”.,;:!?…"
_JOINED = re.compile(r"[\w\s'’ʼ]")
"""Letters that do not make an identifier."""
_WORD = re.compile(r"[^\W_]+")


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
