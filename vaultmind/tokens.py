"""An estimate of how many tokens a text costs a language model.

Words are counted by script: about four Latin letters a token in English, fewer in languages
with diacritics, fewer still in Cyrillic, and one token or more for each CJK character.
"""

from __future__ import annotations

import re
from functools import lru_cache

LATIN_PER_TOKEN = 4.6
ACCENTED_COST = 0.55
"""Extra tokens for each accented Latin letter: a tokenizer breaks the word there."""
CYRILLIC_PER_TOKEN = 2.6
CJK_COST = 1.1
DIGITS_PER_TOKEN = 2.6
PUNCTUATION_COST = 0.75

_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PIECES = re.compile(
    rf"{_LATIN.pattern}+|{_CYRILLIC.pattern}+|\d+|{_CJK.pattern}|\n+|[^\s]",
)


def count(text: str) -> int:
    """Return the estimated number of tokens in a text, at least 1 for any non-empty text."""
    return max(1, round(sum(map(_cost, _PIECES.findall(text))))) if text else 0


@lru_cache(maxsize=50_000)
def _cost(piece: str) -> float:
    first = piece[0]
    if _LATIN.match(first):
        accents = sum(1 for letter in piece if letter > "\x7f")
        return max(1.0, len(piece) / LATIN_PER_TOKEN) + accents * ACCENTED_COST
    if _CYRILLIC.match(first):
        return max(1.0, len(piece) / CYRILLIC_PER_TOKEN)
    if first.isdecimal():
        return max(1.0, len(piece) / DIGITS_PER_TOKEN)
    if _CJK.match(first):
        return CJK_COST
    return 1.0 if first == "\n" else PUNCTUATION_COST


def clip(text: str, max_tokens: int, *, mark: str = " …") -> str:
    """Return the longest prefix within `max_tokens`, cut at a space, with a mark if cut."""
    if count(text) <= max_tokens:
        return text
    low = _longest(text, max_tokens - 1)
    space = text.rfind(" ", 0, low)
    return text[: space if space > low // 2 else low].rstrip() + mark


def _longest(text: str, most: int) -> int:
    """Return the length of the longest prefix of a longer text that costs at most so much."""
    if most < 1:
        return 0
    total = 0.0
    for match in _PIECES.finditer(text):
        piece = match.group()
        if round(total + _cost(piece)) > most:
            parts = range(1, len(piece))
            fitting = [at for at in parts if round(total + _cost(piece[:at])) <= most]
            return match.start() + max(fitting, default=0)
        total += _cost(piece)
    return len(text)
