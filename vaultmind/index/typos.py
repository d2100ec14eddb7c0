"""What stands in for a word that nobody wrote: words a typing error away, and those it is part of.

Two sorted lists, the terms forward and backward, are all the structure there is: an edit leaves a
half (or, of two edits, a third) of a word whole, so the candidates start or end with it, and a
bisection finds them in microseconds.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, takewhile
from operator import eq

MIN_TYPO, MIN_TWO_TYPOS = 4, 8
"""Shorter words are too close to too many others; of two errors, shorter than the second."""
SHORT = 5
"""Up to so many letters the first is taken as right, if anything has it: people mistype it
rarely."""
MIN_PART = 4
"""Shortest part of a compound that is looked for."""
MOST_CANDIDATES = 600
KIN_CONSONANTS = 3
"""Consonants that words of one family have in common at their beginning."""
_SOFT = (("cz", "k"), ("sz", "s"), ("ch", "h"), ("c", "k"), ("ч", "к"), ("щ", "ш"), ("ж", "г"))
_VOWELS = re.compile("[aeiouyаеиоуыэюяйьъ]")


class StandIns:
    """Looks for terms among all there are. `count` tells in how many chunks one is."""

    def __init__(self, terms: list[str], count: Callable[[str], int]) -> None:
        """Take as `terms` a list that only grows."""
        self.terms = terms
        self._count = count
        self._forward: list[str] = []
        self._backward: list[str] = []
        self._families: defaultdict[str, list[str]] = defaultdict(list)
        self._in_families = 0

    def near(self, word: str, most: int) -> list[str]:
        """Return terms one or, for long words, two typing errors away, nearest first."""
        size = len(word)
        if size < MIN_TYPO:
            return []
        allowed = 2 if size >= MIN_TWO_TYPOS else 1
        cut = size // (allowed + 1)
        tail = word[cut:] if allowed == 1 else word[size - cut :]
        low, high = size - allowed, size + allowed
        swapped = word[: cut - 1] + word[cut] + word[cut - 1] + word[cut + 1 :]
        halves = *self._starting(word[:cut], low, high), *self._ending(tail, low, high)
        found = {}
        for term in {*halves, swapped} - {word}:
            distance = edits(word, term, allowed)
            if distance <= allowed and self._count(term):
                found[term] = (distance, term[0] != word[0], -self._count(term), term)
        likely = [
            term for term in found if size > SHORT or term[0] == word[0] or term[:2] == word[1::-1]
        ]
        if not likely and size >= SHORT:
            likely = list(found)
        return sorted(likely, key=lambda term: found[term])[:most]

    def containing(self, part: str, most: int) -> list[str]:
        """Return longer terms that start or end with a part, in this order."""
        if len(part) < MIN_PART:
            return []
        starts = sorted(self._starting(part, len(part) + 1), key=len)
        ends = sorted(self._ending(part, len(part) + 3), key=len)
        return [term for term in dict.fromkeys([*starts, *ends]) if self._count(term)][:most]

    def kin(self, word: str, most: int) -> list[str]:
        """Return terms with the consonants that a word begins with, the likest first.

        Polish and Russian change a word's inside from case to case and aspect to aspect (`książka,
        książek`; `молоток, молотка`; `zamówić, zamawiać`), which stems leave apart.
        """
        for term in self.terms[self._in_families :]:
            if len(begin := _consonants(term)) == KIN_CONSONANTS:
                self._families[begin].append(term)
        self._in_families = len(self.terms)
        family = self._families.get(_consonants(word), []) if len(word) >= MIN_TYPO else []
        alike = {
            term: sum(1 for _ in takewhile(bool, map(eq, word, term)))
            for term in family
            if term != word and self._count(term)
        }
        near = [one for one in alike if alike[one] >= max(3, min(len(word), len(one)) / 2)]
        return sorted(near, key=lambda term: (-alike[term], term))[:most]

    def _starting(self, head: str, low: int, high: int = 1_000) -> Iterator[str]:
        """Yield terms of `low` to `high` letters that start with a head."""
        if fresh := self.terms[len(self._forward) :]:
            self._forward = sorted(self._forward + fresh)
            self._backward = sorted(self._backward + [term[::-1] for term in fresh])
        return _within(self._forward, head, low, high)

    def _ending(self, tail: str, low: int, high: int = 1_000) -> Iterator[str]:
        """Yield the same that end with a tail. `_starting` is asked before."""
        return (one[::-1] for one in _within(self._backward, tail[::-1], low, high))


def _consonants(word: str) -> str:
    """Return the first consonants of a word, softened ones as the hard ones."""
    for soft, hard in _SOFT:
        word = word.replace(soft, hard)
    return _VOWELS.sub("", word)[:KIN_CONSONANTS]


def _within(held: Sequence[str], head: str, low: int, high: int) -> Iterator[str]:
    first, last = bisect_left(held, head), bisect_left(held, f"{head}\U0010ffff")
    return islice((one for one in held[first:last] if low <= len(one) <= high), MOST_CANDIDATES)


def edits(a: str, b: str, most: int) -> int:
    """Return the edits (insert, delete, change, swap of neighbours) from a to b, at most most+1."""
    far, width = most + 1, len(b)
    if abs(len(a) - width) > most or len(set(a) ^ set(b)) > 2 * most:
        return far
    before = [far] * (width + 1)
    row = [min(j, far) for j in range(width + 1)]
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
