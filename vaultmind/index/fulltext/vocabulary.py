"""Every token of the full-text index, in memory: what resembles a word that nobody wrote.

Two sorted lists for each length, the tokens forward and backward, are all the structure there
is: an edit leaves a half (or, of two edits, a third) of a word whole, so the candidates start or
end with it, and a bisection finds them in microseconds. For parts of words there is one long
string besides.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from vaultmind.index.words.kin import roots, wider_roots
from vaultmind.index.words.terms import MAX_TOKEN

MIN_TYPO = 4
"""Shorter words are too close to too many others."""
MIN_TWO_TYPOS = 8
SHORT = 5
"""Up to so many letters the first is taken as right, if anything has it: people mistype it
rarely."""
MIN_PART = 4
"""Shortest part of a compound that is looked for."""
MIN_HALF = 4
MOST_CANDIDATES = 600
MOST_UNSORTED = 500
"""New tokens that are looked through one by one before they are sorted in."""

MOST_UNROOTED = 500
"""New tokens whose roots a search finds on its way (5 ms); the rest are left to `warm`."""

_PIECE = re.compile(r"[^\W_]+")
_LINKS = ("", "s", "n", "en", "es", "o")
"""Letters that join the halves of a compound (German, Dutch, Swedish, Slavic)."""


class Vocabulary:
    """Tokens with the number of chunks they are in."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._gone: set[str] = set()
        """Tokens that no chunk holds any more; the lists still have them."""
        self._forward = _Sorted()
        self._backward = _Sorted()
        self._joined = "\n"
        self._unjoined: list[str] = []
        self._by_root: dict[str, str] = {}
        self._unrooted: list[str] = []
        self._rooting = threading.Lock()

    @classmethod
    def load(cls, connection: sqlite3.Connection) -> Vocabulary:
        """Read the tokens of the full-text index."""
        loaded = cls()
        loaded._counts = dict(connection.execute("SELECT term, doc FROM fts_vocabulary"))
        loaded._take(list(loaded._counts))
        return loaded

    def __contains__(self, token: object) -> bool:
        return token in self._counts

    def __len__(self) -> int:
        return len(self._counts)

    def count(self, token: str) -> int:
        """Return about how many chunks hold a token; full text has an odd one (`1⁄2`) in pieces."""
        found = self._counts.get(token, 0)
        if found or token.isalnum():
            return found
        pieces = _PIECE.findall(token)
        return min((self._counts.get(piece.lower(), 0) for piece in pieces), default=0)

    def add(self, tokens: Iterable[str]) -> None:
        """Count the tokens of one more chunk, each once."""
        counts = self._counts
        fresh: list[str] = []
        for token in set(tokens):
            known = counts.get(token)
            if known is None:
                counts[token] = 1
                if token in self._gone:
                    self._gone.discard(token)
                else:
                    fresh.append(token)
            else:
                counts[token] = known + 1
        if fresh:
            self._take(fresh)

    def remove(self, tokens: Iterable[str]) -> None:
        """Count the tokens of a chunk that is gone, each once."""
        for token in set(tokens):
            left = self._counts.get(token, 0) - 1
            if left > 0:
                self._counts[token] = left
            elif self._counts.pop(token, None) is not None:
                self._gone.add(token)

    def _take(self, tokens: list[str]) -> None:
        self._forward.add(tokens)
        self._backward.add(token[::-1] for token in tokens)
        self._unjoined += tokens
        self._unrooted += tokens

    @property
    def unrooted(self) -> int:
        """Return of how many tokens the roots are still to be found."""
        return len(self._unrooted)

    def warm(self) -> None:
        """Find the roots of all tokens, so that no search has to (1.2 s for 100,000)."""
        while self._unrooted:
            self._root_some()

    def kin(self, word: str, most: int) -> list[str]:
        """Return tokens of the same family as a word, the commonest first (`words/kin.py`)."""
        self._root_some()
        return self._of_roots(roots(word), word, most)

    def distant_kin(self, word: str, most: int) -> list[str]:
        """Return tokens that a word may be made from, or that may be made from it."""
        self._root_some()
        return self._of_roots(wider_roots(word), word, most)

    def _root_some(self) -> None:
        if not self._unrooted:
            return
        with self._rooting:
            some = self._unrooted[:MOST_UNROOTED]
            del self._unrooted[: len(some)]
            held = self._by_root
            for token in some:
                for root in roots(token):
                    held[root] = f"{held[root]} {token}" if root in held else token

    def _of_roots(self, wanted: Iterable[str], word: str, most: int) -> list[str]:
        lines = (self._by_root[root] for root in wanted if root in self._by_root)
        found = {token for line in lines for token in line.split() if token != word}
        found -= self._gone
        return sorted(found, key=lambda token: (-self._counts.get(token, 0), token))[:most]

    def near(self, word: str, most: int) -> list[str]:
        """Return tokens one or, for long words, two typing errors away, nearest first."""
        if len(word) < MIN_TYPO:
            return []
        allowed = 2 if len(word) >= MIN_TWO_TYPOS else 1
        found = {}
        for token in self._candidates(word, allowed):
            distance = edits(word, token, allowed)
            if distance <= allowed and token != word and token not in self._gone:
                found[token] = (distance, token[0] != word[0], -self._counts.get(token, 0))
        likely = [token for token in found if _same_head(word, token)]
        if not likely and len(word) >= SHORT:
            likely = list(found)
        return sorted(likely, key=lambda token: found[token])[:most]

    def containing(self, part: str, most: int) -> list[str]:
        """Return longer tokens that start or end with a part, or hold it, in this order."""
        if len(part) < MIN_PART:
            return []
        starts = self._forward.starting(part, len(part) + 1, MAX_TOKEN)
        ends = self._ending(part, len(part) + 3, MAX_TOKEN)
        found = dict.fromkeys([*starts, *ends])
        if not found and len(part) > MIN_PART:
            holding = islice(self._holding(part), MOST_CANDIDATES)
            found = dict.fromkeys(sorted(holding, key=len))
        return [token for token in found if token not in self._gone][:most]

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
        yield from self._forward.starting(word[:cut], low, high)
        tail = word[cut:] if allowed == 1 else word[size - cut :]
        yield from self._ending(tail, low, high)
        swapped = word[: cut - 1] + word[cut] + word[cut - 1] + word[cut + 1 :]
        if swapped in self._counts:
            yield swapped

    def _holding(self, part: str) -> Iterator[str]:
        """Yield longer tokens that hold a part."""
        if self._unjoined:
            self._joined += "".join(f"{token}\n" for token in self._unjoined)
            self._unjoined = []
        joined = self._joined
        at = joined.find(part)
        while at >= 0:
            end = joined.index("\n", at)
            start = joined.rindex("\n", 0, at) + 1
            if end - start > len(part):
                yield joined[start:end]
            at = joined.find(part, end)

    def _ending(self, tail: str, low: int, high: int) -> Iterator[str]:
        return (token[::-1] for token in self._backward.starting(tail[::-1], low, high))


class _Sorted:
    """Strings in a sorted list for each length; new ones wait unsorted until they are many."""

    def __init__(self) -> None:
        self._by_length: dict[int, list[str]] = {}
        self._fresh: list[str] = []
        self._lock = threading.Lock()

    def add(self, tokens: Iterable[str]) -> None:
        """Take in strings that are not there yet."""
        with self._lock:
            self._fresh += tokens
            if len(self._fresh) > MOST_UNSORTED:
                self._sort()

    def starting(self, head: str, low: int, high: int) -> list[str]:
        """Return strings of `low` to `high` letters that start with a head, short ones first.

        There are none where no length is left between the two.
        """
        found: list[str] = []
        with self._lock:
            found += (
                token
                for token in self._fresh
                if low <= len(token) <= high and token.startswith(head)
            )
            for length in range(max(low, len(head)), high + 1):
                held = self._by_length.get(length)
                if held is None:
                    continue
                at = bisect_left(held, head)
                while at < len(held) and len(found) < MOST_CANDIDATES and held[at].startswith(head):
                    found.append(held[at])
                    at += 1
        return sorted(found[:MOST_CANDIDATES], key=len)

    def _sort(self) -> None:
        fresh: defaultdict[int, list[str]] = defaultdict(list)
        for token in self._fresh:
            fresh[len(token)].append(token)
        self._fresh = []
        for length, tokens in fresh.items():
            self._by_length[length] = sorted(self._by_length.get(length, []) + tokens)


def _same_head(word: str, token: str) -> bool:
    """Tell whether two words begin alike; long ones need not."""
    return len(word) > SHORT or token[0] == word[0] or token[:2] == word[1::-1]


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
