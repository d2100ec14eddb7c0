"""The words of a folded text, and what stands between them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vaultmind.memory.intents.text import MASK

SPACE, COMMA, COLON, DASH, OTHER = " ", ",", ":", "-", "."
_TOKEN = re.compile(rf"[^\W_]+(?:['-][^\W_]+)*|{MASK}+")
_DASH = re.compile(r"(?:^|\s)-{1,2}>?(?:\s|$)|--")


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text's words. `gaps[i]` is what stands before word `i`; the last is what ends the text."""

    text: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    gaps: tuple[str, ...]

    def within(self, start: int, end: int) -> tuple[int, int]:
        """Return the words that a stretch of the text has: the first, and one past the last."""
        first = next((i for i, place in enumerate(self.starts) if place >= start), len(self.words))
        last = next((i for i in range(first, len(self.words)) if self.starts[i] >= end), None)
        return first, len(self.words) if last is None else last

    def span(self, first: int, last: int, limits: tuple[int, int]) -> tuple[int, int]:
        """Return the stretch of text of some words, with the signs that cling to them."""
        start, end = self.starts[first], self.ends[last - 1]
        while (
            start > limits[0] and not self.text[start - 1].isspace() and start > self._after(first)
        ):
            start -= 1
        while end < limits[1] and not self.text[end].isspace() and self.text[end] not in ",;:":
            end += 1
        return start, end

    def _after(self, word: int) -> int:
        return self.ends[word - 1] + 1 if word else 0


def tokenise(text: str) -> Tokens:
    """Return the words of a folded text; a masked part is one word that nothing matches."""
    matches = list(_TOKEN.finditer(text))
    places = [0, *(match.end() for match in matches)]
    starts = [*(match.start() for match in matches), len(text)]
    return Tokens(
        text,
        tuple(match.group().replace("'", "") for match in matches),
        tuple(match.start() for match in matches),
        tuple(match.end() for match in matches),
        tuple(_gap(text[a:b]) for a, b in zip(places, starts, strict=True)),
    )


def _gap(between: str) -> str:
    if not between or between.isspace():
        return SPACE
    if ":" in between or "=" in between:
        return COLON
    if _DASH.search(between):
        return DASH
    if any(mark in between for mark in ".;!?_/\\()[]{}<>|*&#@"):
        return OTHER
    return COMMA if "," in between else SPACE
