"""What stands in for a word that nobody wrote: words a typing error away, and those it is part of.

Two sorted lists, the terms forward and backward, are all the structure there is: an edit leaves a
half (or, of two edits, a third) of a word whole, so the candidates start or end with it, and a
bisection finds them in microseconds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, takewhile
from operator import eq

from vaultmind.index.words.terms import skeleton

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


class StandIns:
    """Looks for terms among all there are. `count` tells in how many chunks one is."""

    def __init__(self, terms: list[str], count: Callable[[str], int]) -> None:
        """Take as `terms` a list that only grows."""
        self.terms = terms
        self._count = count
        self._forward: list[str] = []
        self._backward: list[str] = []
        self._families: defaultdict[str, list[str]] = defaultdict(list)

    def near(self, word: str, most: int) -> list[str]:
        """Return terms one or, for long words, two typing errors away, nearest first."""
        size = len(word)
        if size < MIN_TYPO:
            return []
        allowed = 2 if size >= MIN_TWO_TYPOS else 1
        cut = size // (allowed + 1)
        lengths = range(size - allowed, size + allowed + 1)
        swapped = word[: cut - 1] + word[cut] + word[cut - 1] + word[cut + 1 :]
        found = []
        for term in {*self._around(word[:cut], word[-cut:], lengths), swapped} - {word}:
            distance = edits(word, term, allowed)
            if distance <= allowed and (count := self._count(term)):
                begins = term[0] == word[0] or term[:2] == word[1::-1]
                found.append((begins, distance, term[0] != word[0], -count, term))
        if size < SHORT or (size == SHORT and any(begins for begins, *_ in found)):
            found = [one for one in found if one[0]]
        return [term for *_, term in sorted(found, key=lambda one: one[1:])[:most]]

    def containing(self, part: str, most: int) -> list[str]:
        """Return longer terms that start or end with a part, the shortest first."""
        if len(part) < MIN_PART:
            return []
        terms = sorted(set(self._around(part, part, range(len(part) + 1, 64))), key=len)
        return [term for term in terms if self._count(term)][:most]

    def kin(self, word: str, most: int) -> list[str]:
        """Return terms with the consonants that a word begins with, the likest first.

        Polish and Russian change a word's inside from case to case and aspect to aspect (`książka,
        książek`; `молоток, молотка`; `zamówić, zamawiać`), which stems leave apart.
        """
        self._read_new()
        begin = skeleton(word)[:KIN_CONSONANTS]
        family = self._families.get(begin, []) if len(begin) == KIN_CONSONANTS else []
        alike = {term: _common(word, term) for term in family if term != word and self._count(term)}
        near = [one for one in alike if alike[one] >= max(3, min(len(word), len(one)) / 2)]
        return sorted(near, key=lambda term: (-alike[term], term))[:most]

    def _read_new(self) -> None:
        """Take in the terms that came since."""
        if fresh := self.terms[len(self._forward) :]:
            self._forward = sorted(self._forward + fresh)
            self._backward = sorted(self._backward + [term[::-1] for term in fresh])
            for term in fresh:
                self._families[skeleton(term)[:KIN_CONSONANTS]].append(term)

    def _around(self, head: str, tail: str, lengths: range) -> Iterator[str]:
        """Yield terms of some lengths that start with a head or end with a tail."""
        self._read_new()
        yield from _within(self._forward, head, lengths)
        yield from (term[::-1] for term in _within(self._backward, tail[::-1], lengths))


def _within(held: Sequence[str], head: str, lengths: range) -> Iterator[str]:
    first, last = bisect_left(held, head), bisect_left(held, f"{head}\U0010ffff")
    return islice((one for one in held[first:last] if len(one) in lengths), MOST_CANDIDATES)


def _common(a: str, b: str) -> int:
    """Return with how many letters both begin."""
    return sum(1 for _ in takewhile(bool, map(eq, a, b)))


def edits(a: str, b: str, most: int) -> int:
    """Return the edits (insert, delete, change, swap of neighbours) from a to b.

    Where they are more than `most`, a number above it.
    """
    if len(set(a) ^ set(b)) > 2 * most:
        return most + 1
    same = _common(a, b)
    a, b = a[same:], b[same:]
    if not most or not a or not b:
        return len(a) + len(b)
    ways = [edits(a[1:], b, most - 1), edits(a, b[1:], most - 1), edits(a[1:], b[1:], most - 1)]
    if a[:2] == b[1::-1]:
        ways.append(edits(a[2:], b[2:], most - 1))
    return 1 + min(ways)
