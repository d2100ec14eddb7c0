"""Words of many short texts: names, titles, messages. Which of them share words with a task."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Generic, TypeVar

from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.index.words.terms import fold, stems

COMMON_SHARE, MOST_TEXTS = 0.25, 1500
"""A word that more of the texts have tells nothing."""
MOST_LOOKED_AT = 5000
"""Texts that the words of one task are looked for in, the rarest words first."""
FULL, FLAT = 1.2, 0.6
"""BM25's k1 and b."""
ENOUGH = 0.6
"""Share of what a text tells, by which another is as like it as need be."""
MOST_WORDS = 400
"""Different words of one text."""
_RAW = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\dA-Za-z_]+")
Key = TypeVar("Key", str, int)


def stems_of(text: str) -> list[str]:
    """Return the stems of a text's words; a name that is joined (`camelCase`, `gpt4`) in parts."""
    return [stem for raw in _RAW.findall(text) for stem in _stems(raw)]


def written_in(text: str) -> dict[str, str]:
    """Return of each stem of a text how it is written there first."""
    written: dict[str, str] = {}
    for raw in _RAW.findall(text):
        for stem in _stems(raw):
            written.setdefault(stem, raw)
    return written


@lru_cache(maxsize=50_000)
def _stems(raw: str) -> tuple[str, ...]:
    parts = [raw] if raw.islower() or raw.istitle() else _PARTS.findall(raw)
    wanted = parts if len(parts) == 1 else [raw, *parts]
    found = (
        stems(one, "en")[0] for one in wanted if len(one) > 1 and fold(one) not in BY_LANGUAGE["en"]
    )
    return tuple(dict.fromkeys(found))


def may_hold(words: Iterable[str], text: str) -> bool:
    """Tell whether a text is to be looked at closely for stems: these have no accents."""
    return not text.isascii() or _beginnings(tuple(words)).search(text) is not None


@lru_cache(maxsize=16)
def _beginnings(words: tuple[str, ...]) -> re.Pattern[str]:
    starts = "|".join(re.escape(word[:3]) for word in words) or r"(?!)"
    return re.compile(starts, re.IGNORECASE)


class WordTable(Generic[Key]):
    """Texts by a key, and the keys of each word's texts. Not for two threads at once."""

    def __init__(self) -> None:
        self.counts: dict[Key, Counter[str]] = {}
        """Of each text, how often it has which word."""
        self.texts: dict[str, dict[Key, int]] = {}
        """Of each word, how often which text has it."""
        self._total = 0
        """Words of all texts."""

    def put(self, key: Key, text: str | None) -> None:
        """Take a text in place of the one before; None: it is gone."""
        for word in (before := self.counts.pop(key, Counter())):
            del self.texts[word][key]
            if not self.texts[word]:
                del self.texts[word]
        self._total -= before.total()
        if text is not None:
            counts = self.counts[key] = Counter(stems_of(text)[:MOST_WORDS])
            self._total += counts.total()
            for word, count in counts.items():
                self.texts.setdefault(word, {})[key] = count

    def worth(self, word: str) -> float:
        """Return how much a word tells, from 0: its inverse document frequency."""
        count, among = len(self.texts.get(word, ())), len(self.counts)
        return math.log(1.0 + (among - count + 0.5) / (count + 0.5)) if count else 0.0

    def texts_with(self, word: str) -> Iterable[Key]:
        """Return the texts that have a word; none for one that most have."""
        each = self.texts.get(word, {})
        most = min(max(3.0, COMMON_SHARE * len(self.counts)), MOST_TEXTS)
        return each if len(each) <= most else ()

    def like(self, text: str, most: int) -> dict[Key, float]:
        """Return how like one text those are that share most with it, best first, 0 to 1.

        1 is the best where it holds most of what the text tells; where even the best holds
        little of it, all are less. Of equals the one with the lower key comes first.
        """
        wanted = dict.fromkeys(stems_of(text))
        scores = sorted(self._scores(wanted).items(), key=lambda one: (-one[1], one[0]))
        best = scores[0][1] if scores else 1.0
        unknown = math.log(2.0 + 2.0 * len(self.counts)) / 2
        told = math.fsum(self.worth(one) or unknown for one in wanted) or 1.0
        sure = min(1.0, best / (ENOUGH * told)) ** 0.5
        return {key: sure * score / best for key, score in scores[:most]}

    def _scores(self, words: Iterable[str]) -> dict[Key, float]:
        """Return BM25 of every text that has one of some words, but for those that most have."""
        mean = self._total / max(1, len(self.counts)) or 1.0
        scores: dict[Key, float] = {}
        looked_at = 0
        for word in sorted(words, key=lambda one: (len(self.texts.get(one, ())), one)):
            looked_at += len(self.texts.get(word, ()))
            if looked_at > MOST_LOOKED_AT:
                break
            worth = self.worth(word)
            for key in self.texts_with(word):
                count = self.texts[word][key]
                length = 1.0 - FLAT + FLAT * len(self.counts[key]) / mean
                gain = worth * count * (FULL + 1.0) / (count + FULL * length)
                scores[key] = scores.get(key, 0.0) + gain
        return scores
