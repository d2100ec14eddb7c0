"""What a query finds by its words: which chunks hold them, what BM25 makes of it, and stand-ins."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from vaultmind.index.columns import Columns, Flags, Floats, Ints, Postings, best
from vaultmind.index.db import SOME
from vaultmind.index.typos import StandIns
from vaultmind.index.words.identifiers import exactness, identifiers
from vaultmind.index.words.language import detect
from vaultmind.index.words.terms import Term, query_terms

MAX_TERMS = 24
"""Terms of a query that are looked for, the rarest."""
RARE_STOP_SHARE = 0.02
"""A stop word in less than this share of the chunks is a word like any other here."""
RESEMBLING_WEIGHT, MAX_RESEMBLING, MAX_RESEMBLING_POSTINGS = 0.5, 6, 1_000
"""What counts that only resembles a word of the query (typos, compounds, parts), how many tokens
are looked for in place of one word, and the chunks of all such tokens."""
COMMON_SHARE, COMMON_LEAST = 0.05, 20
"""A token in more chunks than this share (and number) never stands in for an unknown word."""
KIN_WEIGHT, MAX_KIN, MAX_KIN_POSTINGS = 0.3, 6, 300
"""The same of what is of the same family as a word of the query."""
KIN_BELOW = 20
"""Words in more chunks than so many have enough of their own."""
MAX_SAMPLE = 400
"""Letters of a query that its language is told by."""
CHANGING = frozenset({"pl", "ru"})
"""Languages whose words change inside."""
COMPOUNDING = frozenset({"de", "nl", "sv", "da", "no", "fi", "hu", "et"})
MAX_EXACT = 60
"""Best chunks that are looked through for identifiers to the letter."""
WHOLE, RESEMBLING_SHARE = 10, 7
"""Tenths of a word that a chunk holds which has it, or only what resembles it."""
_Tokens = dict[Term, list[str]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A telling word of a query, and what of a chunk counts as it."""

    weight: float
    """What it says: the rarer the more, in a vault of any size."""
    words: tuple[str, ...]
    """Tokens as typed, side by side; often one."""
    stems: tuple[str, ...] = ()
    """Of which any will do."""
    resembling: tuple[str, ...] = ()
    """Stand-ins of a word that nobody wrote, of which any will do."""


@dataclass(frozen=True, slots=True)
class Match:
    """What the words of a query find among all chunks."""

    wanted: tuple[Wanted, ...]
    """The telling words. Of a long query those that are known: no chunk holds most of a page."""
    text: NDArray[np.uint8]
    """Tenths of each telling word that each chunk's text holds, words by chunks; what resembles a
    word may stand in the title, too."""
    title: Flags
    """The same of its title, headings and tags."""
    plain: Floats
    """BM25 of the query's own words in each chunk."""
    scores: Floats
    """The same with stand-ins and exact identifiers, of what passes the filter."""
    found: Ints
    """The best of it."""
    exact: Mapping[int, float]
    """Share of the query that an identifier is which a chunk has to the letter."""

    def held(self, slots: Ints) -> Floats:
        """Return the share of each telling word that chunks hold, words by chunks."""
        return np.maximum(self.text[:, slots] / np.float32(WHOLE), self.title[:, slots])

    def covered(self, slots: Ints, of: Sequence[bool] | Flags) -> Floats:
        """Return the share of the weight of some of the telling words that chunks hold."""
        weights = np.array([one.weight for one in self.wanted]) * np.asarray(of, dtype=np.bool_)
        total = float(weights.sum())
        if not total:
            return np.zeros(len(slots), dtype=np.float32)
        return np.minimum(1.0, (weights / total) @ self.held(slots)).astype(np.float32)


class Matcher:
    """Looks for words in columns. Whoever uses it holds their lock."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._stand_ins = StandIns(columns.terms, columns.held_by)

    def match(self, query: str, mask: Flags, depth: int) -> Match:
        """Return what a query finds; the best `depth` of what passes a filter first."""
        columns = self._columns
        if self._stand_ins.terms is not columns.terms:
            self._stand_ins = StandIns(columns.terms, columns.held_by)
        counts = {term: self._count(term) for term in query_terms(query, columns.languages)}
        chosen = self._chosen(counts)
        plain = self.bm25((term.words, term.stems) for term in chosen)
        passing = np.where(mask, plain, np.float32(0.0))
        alike = self._resembling(counts, everything=not passing.any())
        kin = self._kin(counts, query)
        for found, weight in ((alike, RESEMBLING_WEIGHT), (kin, KIN_WEIGHT)):
            total = np.zeros(columns.count, dtype=np.float32)
            for token in dict.fromkeys(chain.from_iterable(found.values())):
                postings = columns.postings(token)
                often = postings.often(stemmed=False) + postings.stems
                columns.score(postings.slots, often, total)
            passing += weight * np.where(mask, total, np.float32(0.0))
        single = [term for term in counts if len(term.words) <= 1 and not term.stop]
        if len(single) > MAX_TERMS:
            single = [term for term in chosen if term in single] or single[:MAX_TERMS]
        wanted = tuple(
            Wanted(
                math.log1p(columns.living / (counts[term] + 1)),
                *(term.words, term.stems, (*alike.get(term, ()), *kin.get(term, ()))),
            )
            for term in single or counts
        )
        exact = self._exact(query, passing)
        return Match(wanted, *self._held(wanted), plain, passing, best(passing, depth), exact)

    def bm25(self, wanted: Iterable[tuple[tuple[str, ...], tuple[str, ...]]]) -> Floats:
        """Return the BM25 of each chunk for some words: by their stems, or else as typed."""
        columns = self._columns
        total = np.zeros(columns.count, dtype=np.float32)
        for words, stems in wanted:
            every = [columns.postings(stem) for stem in stems] or [self._typed(words)]
            for postings in every:
                columns.score(postings.slots, postings.often(stemmed=bool(stems)), total)
        return total

    def _typed(self, words: tuple[str, ...]) -> Postings:
        columns = self._columns
        return columns.postings(words[0]) if len(words) == 1 else columns.phrase(words)

    def _held(self, wanted: Sequence[Wanted]) -> tuple[NDArray[np.uint8], Flags]:
        text = np.zeros((len(wanted), self._columns.count), dtype=np.uint8)
        title = np.zeros(text.shape, dtype=np.bool_)
        for at, one in enumerate(wanted):
            for token in one.resembling:
                text[at, self._columns.postings(token).slots] = RESEMBLING_SHARE
            every = [self._columns.postings(stem) for stem in one.stems]
            if one.words and one.words != one.stems:
                every.append(self._typed(one.words))
            for postings in every:
                inside = (postings.words > 0) | (postings.stems > 0)
                text[at, postings.slots[inside]] = WHOLE
                title[at, postings.slots[postings.titles > 0]] = True
        return text, title

    def _count(self, term: Term) -> int:
        """Return how many chunks a term is in; a phrase is in no more than its rarest word."""
        held_by = self._columns.held_by
        words = min(map(held_by, term.words), default=0)
        return words if len(term.words) > 1 else max(words, *map(held_by, term.stems), 0)

    def _chosen(self, counts: Mapping[Term, int]) -> list[Term]:
        """Return the terms to look for: known ones, rarest first, stop words only if need be."""
        known = sorted((term for term in counts if counts[term]), key=lambda term: counts[term])
        rare = max(1.0, RARE_STOP_SHARE * self._columns.living)
        telling = [term for term in known if not term.stop or counts[term] <= rare] or known
        return telling[:MAX_TERMS]

    def _resembling(self, counts: Mapping[Term, int], *, everything: bool) -> _Tokens:
        """Return tokens that stand in for unknown words, and compounds of known ones.

        `everything` looks for stand-ins of all words: the known ones found nothing.
        """
        found: _Tokens = {}
        compounding = not COMPOUNDING.isdisjoint(self._columns.languages)
        for term in _plain(counts):
            if everything or not counts[term]:
                found[term] = self._in_place_of(term)
            elif compounding:
                found[term] = self._stand_ins.containing(term.plain, MAX_RESEMBLING)
        return self._affordable(found, MAX_RESEMBLING_POSTINGS)

    def _in_place_of(self, term: Term) -> list[str]:
        """Return tokens for a word that the index does not know."""
        word, stand_ins = term.plain, self._stand_ins
        tokens = stand_ins.near(word, MAX_RESEMBLING) or [
            token for stem in term.stems if stem != word for token in stand_ins.near(stem, 2)
        ]
        shortest = min((word, *term.stems), key=len)
        tokens += stand_ins.containing(shortest, MAX_RESEMBLING - len(tokens))
        return [token for token in tokens if token != word]

    def _kin(self, counts: Mapping[Term, int], query: str) -> _Tokens:
        """Return tokens of the families of words, in languages that change a word's inside."""
        spoken = CHANGING | {""}
        if CHANGING.isdisjoint(self._columns.languages) or detect(query[:MAX_SAMPLE]) not in spoken:
            return {}
        few = [term for term in _plain(counts) if counts[term] <= KIN_BELOW]
        found = {term: self._stand_ins.kin(term.plain, MAX_KIN) for term in few}
        return self._affordable(found, MAX_KIN_POSTINGS)

    def _affordable(self, found: _Tokens, left: int) -> _Tokens:
        """Return tokens that are there, without those that are too common, or too many together."""
        most = max(COMMON_LEAST, COMMON_SHARE * self._columns.living)
        kept: set[str] = set()
        for token in dict.fromkeys(chain.from_iterable(found.values())):
            if 0 < (count := self._columns.held_by(token)) <= min(most, left):
                left -= count
                kept.add(token)
        return {term: [one for one in tokens if one in kept] for term, tokens in found.items()}

    def _exact(self, query: str, scores: Floats) -> dict[int, float]:
        """Put what holds an identifier of the query to the letter before the rest.

        One adds to the score as much of the best score as it has of the words of the query.
        """
        wanted = identifiers(query)
        slots = best(scores, MAX_EXACT if wanted else 0)
        if not len(slots):
            return {}
        slot_of = {int(self._columns.rows["rowid"][slot]): int(slot) for slot in slots}
        with self._columns.database.read() as connection:
            rows = connection.execute(
                f"SELECT rowid, title || char(10) || text FROM chunks WHERE rowid {SOME}",
                (json.dumps(list(slot_of)),),
            ).fetchall()
        found = {slot_of[rowid]: exactness(wanted, text) for rowid, text in rows}
        top = float(scores[slots[0]])
        for slot, share in found.items():
            scores[slot] += share * top
        return {slot: share for slot, share in found.items() if share}


def _plain(terms: Iterable[Term]) -> list[Term]:
    """Return the terms that are single telling words."""
    return [term for term in terms if term.plain and not term.stop][:MAX_TERMS]
