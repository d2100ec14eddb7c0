"""Names that are not words: what of a query is one, and whether a text holds it to the letter.

`PROJ-77`, `v1.2.3`, `#1234`, `docs/setup.md`, `std::vector`, `--no-cache`: full text holds them as
phrases of their parts, which other texts may hold as well, so a text that has the very letters
comes before. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

MAX_IDENTIFIERS = 8
"""Of a query that are looked for to the letter."""
MAX_LENGTH = 200
WITHIN = 0.5
"""What a text gets that holds an identifier only as a part of a longer one."""

_OPENING, _CLOSING = "([{<'\"`«„“”", ")]}>'\"`»“”.,;:!?…"
_JOINED = re.compile(r"[\w\s'’ʼ]")
"""Letters that do not make an identifier."""
_WORD = re.compile(r"[^\W_]+")
_ALONE = r"(?<![\w\-/\\.@:#]){}(?![\-/\\.@:#]*[^\W_])"
_WITHIN = r"(?<![^\W_]){}(?![^\W_])"
"""Where an identifier stands by itself, and where it is a part of a longer one."""


def identifiers(query: str) -> dict[str, float]:
    """Return what of a query is more than words, with the share of its words that it has."""
    names: dict[str, float] = {}
    words = len(_WORD.findall(query.casefold()))
    for piece in query.split():
        name = piece.lstrip(_OPENING).rstrip(_CLOSING).casefold()
        bare = _JOINED.sub("", name)
        if (bare or "_" in name.strip("_")) and len(name) <= MAX_LENGTH and _WORD.search(name):
            names[name] = len(_WORD.findall(name)) / words
            if len(names) == MAX_IDENTIFIERS:
                break
    return names


def exactness(wanted: Mapping[str, float], text: str) -> float:
    """Return how much of a query a text holds to the letter, from 0 to 1."""
    folded, held = text.casefold(), 0.0
    for name, share in wanted.items():
        if re.search(_ALONE.format(re.escape(name)), folded):
            held += share
        elif re.search(_WITHIN.format(re.escape(name)), folded):
            held += WITHIN * share
    return min(1.0, held)
