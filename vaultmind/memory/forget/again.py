"""Whether a text says once more what was forgotten: the same, a part of it, or in other words."""

from __future__ import annotations

from functools import lru_cache

from vaultmind.memory.match import SAME_SHARE, echoed, numbers, same_fact, says, share_of
from vaultmind.memory.words import saying

_BEGINNING = 3
"""Letters that the forms of one word have in common, at least."""


def repeats(text: str, forgotten: str) -> bool:
    """Tell whether a new fact repeats a forgotten one.

    It says all of it, or nothing but a good part of it, or its name and half of the rest.
    """
    if not (numbers(text) or _beginnings(text) & _beginnings(forgotten)):
        return False
    if same_fact(text, forgotten) or says(text, forgotten) or echoed(text, forgotten):
        return True
    return says(forgotten, text) and share_of(text, forgotten) >= SAME_SHARE


@lru_cache(maxsize=4096)
def _beginnings(text: str) -> frozenset[str]:
    """Return how the words of a text begin: without one in common, two say different things."""
    return frozenset(word[:_BEGINNING] for word in saying(text))
