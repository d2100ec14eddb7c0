"""Words of many short texts: names, titles, messages. Which of them share words with a task."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

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


@dataclass(frozen=True, slots=True)
class WordTable:
    """Texts by number, and the numbers of each word's texts. Never changes."""

    counts: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    """Of each text, how often it has which word."""
    texts: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """Of each word, how often which text has it."""
    total: int = 0
    """Words of all texts."""

    def with_texts(self, changed: Mapping[int, str | None]) -> WordTable:
        """Return the table after some texts came, changed or went (None)."""
        counts, texts, total = dict(self.counts), dict(self.texts), self.total
        copied: dict[str, dict[int, int]] = {}

        def own(word: str) -> dict[int, int]:
            if word not in copied:
                texts[word] = copied[word] = dict(texts.get(word, {}))
            return copied[word]

        for number, text in changed.items():
            for word in counts.get(number, {}):
                own(word).pop(number, None)
            total -= sum(counts.pop(number, {}).values())
            if text is not None:
                counts[number] = Counter(stems_of(text)[:MOST_WORDS])
                total += sum(counts[number].values())
                for word, count in counts[number].items():
                    own(word)[number] = count
        return WordTable(counts, texts, total)

    def worth(self, word: str) -> float:
        """Return how much a word tells, from 0: its inverse document frequency."""
        count, among = len(self.texts.get(word, ())), len(self.counts)
        return math.log(1.0 + (among - count + 0.5) / (count + 0.5)) if count else 0.0

    def texts_with(self, word: str) -> Iterable[int]:
        """Return the texts that have a word; none for one that most have."""
        each = self.texts.get(word, {})
        most = min(max(3.0, COMMON_SHARE * len(self.counts)), MOST_TEXTS)
        return each if len(each) <= most else ()

    def like(self, text: str, most: int, names: Sequence[str] = ()) -> list[tuple[int, float]]:
        """Return (number, likeness) of the texts that share most with one, best first, 0 to 1.

        1 is the best where it holds most of what the text tells; where even the best holds
        little of it, all are less. Of equals the one that is named first, or that came last.
        """
        wanted = dict.fromkeys(stems_of(text))
        key = lambda one: (-one[1], names[one[0]] if names else -one[0])  # noqa: E731
        ranked = sorted(self._scores(wanted).items(), key=key)[:most]
        if not ranked:
            return []
        best = ranked[0][1]
        unknown = math.log(2.0 + 2.0 * len(self.counts))
        told = math.fsum(self.worth(one) or unknown / 2 for one in wanted)
        sure = min(1.0, best / (ENOUGH * told)) ** 0.5
        return [(number, sure * score / best) for number, score in ranked]

    def _scores(self, words: Iterable[str]) -> dict[int, float]:
        """Return BM25 of every text that has one of some words, but for those that most have."""
        mean = self.total / max(1, len(self.counts)) or 1.0
        scores: dict[int, float] = {}
        looked_at = 0
        for word in sorted(words, key=lambda one: (len(self.texts.get(one, ())), one)):
            looked_at += len(self.texts.get(word, ()))
            if looked_at > MOST_LOOKED_AT:
                break
            worth = self.worth(word)
            for number in self.texts_with(word):
                count = self.texts[word][number]
                length = 1.0 - FLAT + FLAT * len(self.counts[number]) / mean
                gain = worth * count * (FULL + 1.0) / (count + FULL * length)
                scores[number] = scores.get(number, 0.0) + gain
        return scores
