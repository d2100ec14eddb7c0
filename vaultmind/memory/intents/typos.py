"""One wrong key in a long word: a typed word becomes the word of the rules that was meant.

Only words that the rules look for are mended. An inflected neighbour is not a typo: "forgets",
"zapamiętał" and "запомнит" are other words, so endings are left alone and a file can list more
words that stand as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

MIN_LETTERS = 6
ENDING = 2
"""Letters at the end that carry the grammar: none may be missing or too many there."""


class Typos:
    """The long words of one language's rules, found again with one edit in them."""

    def __init__(self, words: Iterable[str], known: Iterable[str], inflected: bool) -> None:
        self._words = frozenset(word for word in words if len(word) >= MIN_LETTERS)
        self._known = frozenset(known) | frozenset(words)
        self._inflected = inflected
        self._by_part: dict[str, set[str]] = {}
        for word in self._words:
            for part in (word, *_parts(word)):
                self._by_part.setdefault(part, set()).add(word)

    def mend(self, word: str) -> str:
        """Return the rules' word that this one is a typo of, or the word itself."""
        if len(word) < MIN_LETTERS - 1 or word in self._known:
            return word
        near: set[str] = set()
        for part in (word, *_parts(word)):
            near |= self._by_part.get(part, set())
        fits = sorted(meant for meant in near if self._is_typo(word, meant))
        return max(fits, key=len, default=word)

    def _is_typo(self, word: str, meant: str) -> bool:
        if word[0] != meant[0]:
            return False
        edit = _edit(word, meant)
        if edit is None:
            return False
        at, swapped = edit
        ending = ENDING if len(word) != len(meant) else 1
        return swapped or not self._inflected or at < len(meant) - ending


def _parts(word: str) -> Iterator[str]:
    """Yield the word with each of its letters left out."""
    return (word[:at] + word[at + 1 :] for at in range(len(word)))


def _edit(word: str, meant: str) -> tuple[int, bool] | None:
    """Return where the one edit between two words is, and whether two letters changed places."""
    shorter = min(len(word), len(meant))
    at = next((i for i in range(shorter) if word[i] != meant[i]), shorter)
    if len(word) == len(meant):
        if word[at + 1 :] == meant[at + 1 :]:
            return at, False
        swapped = word[at : at + 2] == meant[at : at + 2][::-1]
        return (at, True) if swapped and word[at + 2 :] == meant[at + 2 :] else None
    if len(word) + 1 == len(meant):
        return (at, False) if word[at:] == meant[at + 1 :] else None
    if len(word) == len(meant) + 1:
        return (at, False) if word[at + 1 :] == meant[at:] else None
    return None
