"""Every token of the full-text index, in memory: what resembles a word that nobody wrote.

Two long strings, the tokens forward and backward, are all the structure there is: an edit
leaves a half (or, of two edits, a third) of a word whole, so the candidates start or end with
it, and a regular expression over 2 MB finds them in a millisecond.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator

MIN_TYPO = 4
"""Shorter words are too close to too many others."""
MIN_TWO_TYPOS = 8
SHORT = 5
"""Up to so many letters the first is taken as right: people mistype it rarely."""
MIN_PART = 4
"""Shortest part of a compound that is looked for."""
MIN_HALF = 4
MOST_CANDIDATES = 600

_LINKS = ("", "s", "n", "en", "es", "o")
"""Letters that join the halves of a compound (German, Dutch, Swedish, Slavic)."""


class Vocabulary:
    """Tokens with the number of chunks they are in (kept roughly: it only grows)."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._fresh: list[str] = []
        self._forward = "\n"
        self._backward = "\n"

    @classmethod
    def load(cls, connection: sqlite3.Connection) -> Vocabulary:
        """Read the tokens of the full-text index."""
        loaded = cls()
        loaded._counts = dict(connection.execute("SELECT term, doc FROM fts_vocabulary"))
        loaded._fresh = list(loaded._counts)
        return loaded

    def __contains__(self, token: str) -> bool:
        return token in self._counts

    def __len__(self) -> int:
        return len(self._counts)

    def count(self, token: str) -> int:
        """Return about how many chunks hold a token."""
        return self._counts.get(token, 0)

    def add(self, tokens: Iterable[str]) -> None:
        """Count the tokens of one more chunk, each once."""
        counts = self._counts
        for token in set(tokens):
            known = counts.get(token)
            if known is None:
                counts[token] = 1
                self._fresh.append(token)
            else:
                counts[token] = known + 1

    def near(self, word: str, most: int) -> list[str]:
        """Return tokens one or, for long words, two typing errors away, nearest first."""
        if len(word) < MIN_TYPO:
            return []
        allowed = 2 if len(word) >= MIN_TWO_TYPOS else 1
        found = {}
        for token in self._candidates(word, allowed):
            distance = edits(word, token, allowed)
            if distance <= allowed and token != word and _same_head(word, token):
                found[token] = (distance, token[0] != word[0], -self._counts.get(token, 0))
        return sorted(found, key=lambda token: found[token])[:most]

    def containing(self, part: str, most: int) -> list[str]:
        """Return longer tokens that start or end with a part, or hold it, in this order."""
        if len(part) < MIN_PART:
            return []
        starts = list(self._starting(part, len(part) + 1, 40))
        ends = list(self._ending(part, len(part) + 3, 40))
        found = dict.fromkeys(sorted(starts, key=len) + sorted(ends, key=len))
        if not found and len(part) > MIN_PART:
            self._settle()
            found = dict.fromkeys(sorted(_holding(self._forward, part), key=len))
        return list(found)[:most]

    def halves(self, word: str) -> tuple[str, ...]:
        """Return the two tokens that a compound is made of, the longest first one that fits."""
        for at in range(len(word) - MIN_HALF, MIN_HALF - 1, -1):
            for link in _LINKS:
                head, tail = word[:at], word[at:]
                if head.endswith(link) and tail in self._counts:
                    head = head[: len(head) - len(link)]
                    if len(head) >= MIN_HALF and head in self._counts:
                        return head, tail
        return ()

    def _candidates(self, word: str, allowed: int) -> Iterator[str]:
        """Yield tokens that share an end with a word, of about its length."""
        size = len(word)
        cut = size // 2 if allowed == 1 else size // 3
        low, high = size - allowed, size + allowed
        yield from self._starting(word[:cut], low, high)
        tail = word[cut:] if allowed == 1 else word[size - cut :]
        yield from self._ending(tail, low, high)
        swapped = word[: cut - 1] + word[cut] + word[cut - 1] + word[cut + 1 :]
        if swapped in self._counts:
            yield swapped

    def _starting(self, head: str, low: int, high: int) -> Iterator[str]:
        self._settle()
        return _starting(self._forward, head, low, high)

    def _ending(self, tail: str, low: int, high: int) -> Iterator[str]:
        self._settle()
        return (token[::-1] for token in _starting(self._backward, tail[::-1], low, high))

    def _settle(self) -> None:
        """Take the tokens that came since into the two strings."""
        if self._fresh:
            fresh, self._fresh = self._fresh, []
            self._forward += "".join(f"{token}\n" for token in fresh)
            self._backward += "".join(f"{token[::-1]}\n" for token in fresh)


def _same_head(word: str, token: str) -> bool:
    """Tell whether two words begin alike; long ones need not."""
    return len(word) > SHORT or token[0] == word[0] or token[:2] == word[1::-1]


def _starting(joined: str, head: str, low: int, high: int) -> Iterator[str]:
    """Yield tokens of `low` to `high` letters that start with `head`."""
    least, most = max(0, low - len(head)), max(0, high - len(head))
    if most < least:  # a word longer than any that is looked for
        return
    pattern = re.compile(rf"\n({re.escape(head)}[^\n]{{{least},{most}}})(?=\n)")
    for _, match in zip(range(MOST_CANDIDATES), pattern.finditer(joined), strict=False):
        yield match.group(1)


def _holding(joined: str, part: str) -> Iterator[str]:
    """Yield tokens that hold a part."""
    at = joined.find(part)
    for _ in range(MOST_CANDIDATES):
        if at < 0:
            return
        end = joined.index("\n", at)
        yield joined[joined.rindex("\n", 0, at) + 1 : end]
        at = joined.find(part, end)


def edits(a: str, b: str, most: int) -> int:
    """Return the edits (insert, delete, change, swap of neighbours) from a to b, at most most+1."""
    if abs(len(a) - len(b)) > most or len(set(a) ^ set(b)) > 2 * most:
        return most + 1
    far = most + 1
    width = len(b)
    before = [far] * (width + 1)
    row = [j if j <= most else far for j in range(width + 1)]
    for i, letter in enumerate(a, 1):
        before, last, row = row, before, [far] * (width + 1)
        row[0] = min(i, far)
        for j in range(max(1, i - most), min(width, i + most) + 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != b[j - 1]))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == b[j - 1]:
                cost = min(cost, last[j - 2] + 1)
            row[j] = cost
        if min(row) >= far:
            return far
    return min(row[-1], far)
