"""Full text of one conversation in memory: BM25 over stems, postings as arrays."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmind.index.words.language import detect
from vaultmind.index.words.terms import Term, index_terms, query_terms

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

K1, B = 1.2, 0.75
MAX_TERMS = 24
"""Words of a query that are looked for, the rarest."""
MAX_LANGUAGES = 4
EARNED = 2.3
"""What the words that a message shares with the query must weigh together, for it to be found by
words at all: one word that stands in less than a tenth of the messages weighs as much. Two words
have earned it, however common: a whole conversation may be about one thing."""


@dataclass(frozen=True, slots=True)
class WordScores:
    """What the words of a query say of each message, by place."""

    score: Matrix
    """BM25 divided by its best."""
    coverage: Matrix
    """Share of the query's telling words that a message holds, the rare ones counting most; 0
    where what it holds is too common to mean anything."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A word of a query, where it stands and how often there."""

    word: str
    weight: float
    places: Matrix
    times: Matrix


class Postings:
    """Which message holds which stem, and how often. Places only grow."""

    def __init__(self) -> None:
        self._places: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        self._times: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        self._lengths = array("i")
        self._languages: Counter[str] = Counter()

    def add(self, text: str, lang: str = "") -> None:
        """Take the next message; its language is guessed where none is given."""
        usual = next(iter(self._languages.most_common(1)), ("", 0))[0]
        lang = lang or detect(text, usual)
        stems = index_terms(text, lang)[1].split()
        for stem, times in Counter(stems).items():
            self._places[stem].append(len(self._lengths))
            self._times[stem].append(times)
        self._lengths.append(len(stems))
        self._languages[lang] += 1

    def skip(self) -> None:
        """Take a message without words."""
        self._lengths.append(0)

    def telling(self, query: str) -> list[Term]:
        """Return the words that say what a query is about: all but stop words."""
        langs = [lang for lang, _ in self._languages.most_common(MAX_LANGUAGES) if lang]
        return [term for term in query_terms(query, langs) if term.stems and not term.stop]

    def score(self, terms: Sequence[Term], empty: Collection[str]) -> WordScores:
        """Return what some words say of every message; those of `empty` cover nothing."""
        import numpy as np

        count = len(self._lengths)
        score, held = np.zeros(count, np.float32), np.zeros(count, np.float32)
        lengths = np.array(self._lengths, np.float32)
        norm = K1 * (1 - B + B * lengths / max(1.0, float(lengths.mean()) if count else 1.0))
        shared, total = np.zeros(count, np.int16), 0.0
        found = sorted((self._looked_up(term) for term in terms), key=lambda one: one.weight)
        for one in found[-MAX_TERMS:]:
            score[one.places] += one.weight * one.times * (K1 + 1) / (one.times + norm[one.places])
            if one.word not in empty:
                held[one.places] += one.weight
                shared[one.places] += 1
                total += one.weight
        best = float(score.max(initial=0.0)) or 1.0
        covered = np.where((held >= EARNED) | (shared > 1), held / (total or 1.0), np.float32(0))
        return WordScores(score / best, covered)

    def _looked_up(self, term: Term) -> _Found:
        places, times = self._union(term)
        return _Found(term.plain, _weight(len(places), len(self._lengths)), places, times)

    def _union(self, term: Term) -> tuple[Matrix, Matrix]:
        """Return where any of a term's stems stands, and how often there."""
        import numpy as np

        known = [stem for stem in term.stems if stem in self._places]
        if not known:
            return np.empty(0, np.intp), np.empty(0, np.float32)
        places = np.concatenate([np.array(self._places[stem], np.intp) for stem in known])
        times = np.concatenate([np.array(self._times[stem], np.float32) for stem in known])
        if len(known) == 1:
            return places, times
        unique, inverse = np.unique(places, return_inverse=True)
        most = np.zeros(len(unique), np.float32)
        np.maximum.at(most, inverse, times)
        return unique, most


def _weight(holding: int, count: int) -> float:
    """Return BM25's inverse document frequency, never below 0."""
    return math.log(1 + (count - holding + 0.5) / (holding + 0.5))
