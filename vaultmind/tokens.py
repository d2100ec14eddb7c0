"""An estimate of how many tokens a text costs a language model.

Words are counted by script: about four Latin letters a token in English, fewer in languages
with diacritics, fewer still in Cyrillic, and one token or more for each CJK character.
"""

from __future__ import annotations

import re

LATIN_PER_TOKEN = 4.6
ACCENTED_COST = 0.55
"""Extra tokens for each accented Latin letter: a tokenizer breaks the word there."""
CYRILLIC_PER_TOKEN = 2.6
CJK_COST = 1.1
DIGITS_PER_TOKEN = 2.6
PUNCTUATION_COST = 0.75

_PIECES = re.compile(
    r"(?P<latin>[A-Za-z\u00c0-\u024f]+)|(?P<cyrillic>[\u0400-\u052f]+)"
    r"|(?P<digits>\d+)|(?P<cjk>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])"
    r"|(?P<newline>\n+)|(?P<other>[^\s])"
)


def count(text: str) -> int:
    """Return the estimated number of tokens in a text, at least 1 for any non-empty text."""
    total = 0.0
    for match in _PIECES.finditer(text):
        total += _cost(match.lastgroup or "other", match.group())
    return max(1, round(total)) if text else 0


def _cost(kind: str, piece: str) -> float:
    if kind == "latin":
        accents = sum(1 for letter in piece if letter > "\x7f")
        return max(1.0, len(piece) / LATIN_PER_TOKEN) + accents * ACCENTED_COST
    if kind == "cyrillic":
        return max(1.0, len(piece) / CYRILLIC_PER_TOKEN)
    if kind == "digits":
        return max(1.0, len(piece) / DIGITS_PER_TOKEN)
    if kind == "cjk":
        return CJK_COST
    return PUNCTUATION_COST if kind == "other" else 1.0


def clip(text: str, max_tokens: int, *, mark: str = " …") -> str:
    """Return the longest prefix within `max_tokens`, cut at a space, with a mark if cut."""
    if count(text) <= max_tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle]) + 1 <= max_tokens:
            low = middle
        else:
            high = middle - 1
    space = text.rfind(" ", 0, low)
    return text[: space if space > low // 2 else low].rstrip() + mark
