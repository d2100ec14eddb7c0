"""Names and words: which files are called what a task speaks of, which texts share its words."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import Generic, TypeVar

from vaultmind.index.words import BY_LANGUAGE, fold, stems
from vaultmind.planner.types import FileRecord

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
MOST_NAMES = 120
"""Definitions and headings of a file whose names count."""
_RAW = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\dA-Za-z_]+")
Key = TypeVar("Key", str, int)


def stems_of(text: str) -> dict[str, str]:
    """Return the stems of a text's words, each with how it is written there first.

    A name that is joined (`camelCase`, `gpt4`) counts whole and in parts.
    """
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


class WordTable(Generic[Key]):
    """Texts by a key, and the keys of each word's texts. Not for two threads at once."""

    def __init__(self) -> None:
        self.counts: dict[Key, Counter[str]] = {}
        """Of each text, how often it has which word."""
        self.texts: dict[str, dict[Key, int]] = {}
        """Of each word, how often which text has it."""
        self._total = 0

    def put(self, key: Key, text: str | None) -> None:
        """Take a text in place of the one before; None: it is gone."""
        for word, count in self.counts.pop(key, {}).items():
            self._total -= count
            del self.texts[word][key]
            if not self.texts[word]:
                del self.texts[word]
        if text is not None:
            found = [stem for raw in _RAW.findall(text) for stem in _stems(raw)][:MOST_WORDS]
            self.counts[key] = Counter(found)
            self._total += len(found)
            for word, count in self.counts[key].items():
                self.texts.setdefault(word, {})[key] = count

    def worth(self, word: str) -> float:
        """Return how much a word tells, from 0: its inverse document frequency."""
        count, among = len(self.texts.get(word, ())), len(self.counts)
        return math.log(1.0 + (among - count + 0.5) / (count + 0.5)) if count else 0.0

    def like(self, text: str, most: int) -> dict[Key, float]:
        """Return how like one text those are that share most with it, best first, 0 to 1.

        1 is the best where it holds most of what the text tells; where even the best holds
        little of it, all are less. Of equals the one with the lower key comes first.
        """
        wanted = stems_of(text)
        scores = sorted(self._scores(wanted).items(), key=lambda one: (-one[1], one[0]))
        best = scores[0][1] if scores else 1.0
        unknown = math.log(2.0 + 2.0 * len(self.counts)) / 2
        told = math.fsum(self.worth(one) or unknown for one in wanted) or 1.0
        sure = min(1.0, best / (ENOUGH * told)) ** 0.5
        return {key: sure * score / best for key, score in scores[:most]}

    def _scores(self, words: Iterable[str]) -> dict[Key, float]:
        """Return BM25 of every text that has one of some words, but for those that most have."""
        mean = self._total / max(1, len(self.counts)) or 1.0
        common = min(max(3.0, COMMON_SHARE * len(self.counts)), MOST_TEXTS)
        scores: dict[Key, float] = defaultdict(float)
        looked_at = 0
        for word in sorted(words, key=lambda one: (len(self.texts.get(one, ())), one)):
            texts = self.texts.get(word, {})
            looked_at += len(texts)
            if looked_at > MOST_LOOKED_AT or len(texts) > common:
                break
            for key, count in texts.items():
                length = 1.0 - FLAT + FLAT * len(self.counts[key]) / mean
                scores[key] += self.worth(word) * count * (FULL + 1.0) / (count + FULL * length)
        return scores


def told_by(one: FileRecord) -> list[str]:
    """Return the texts of a file's definitions, headings, tags and abstract."""
    names = [f"{each.name} {each.summary}" for each in one.parts[:MOST_NAMES]]
    return [*names, *one.tags, one.abstract]


def folder_of(path: str) -> str:
    """Return the folder that a file lies in; empty at the top."""
    return path.rpartition("/")[0]


def path_words(one: FileRecord) -> str:
    """Return what a file is called: by its path, its name and its title."""
    stem = one.path.rpartition("/")[2]
    title = one.title if one.shape in ("note", "text") else ""
    return f"{one.path.rpartition('.')[0] or one.path} {stem.rpartition('.')[0] or stem} {title}"
