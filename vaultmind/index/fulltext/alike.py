"""What stands in for a word of a query: tokens that resemble it, compounds of it, and its kin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from vaultmind.index.fulltext.rarity import chunks_with
from vaultmind.index.fulltext.vocabulary import Vocabulary
from vaultmind.index.words.language import detect
from vaultmind.index.words.terms import Term, stems

MAX_TERMS = 24
"""Words of a query for which anything is sought."""
MAX_RESEMBLING, MAX_RESEMBLING_POSTINGS = 6, 1_000
"""Tokens looked for in place of one unknown word, and the chunks of all such tokens."""
COMMON_SHARE, COMMON_LEAST = 0.05, 20
"""A token in more chunks than this share (and number) never stands in for an unknown word."""
COMPOUNDING = frozenset({"de", "nl", "sv", "da", "no", "fi", "hu", "et"})
CHANGING = frozenset({"pl", "ru"})
"""Languages whose words change inside: see `index/words/kin.py`."""
KIN_BELOW = 20
"""Words in more chunks than so many have enough of their own."""
MAX_KIN, MOST_KIN, MAX_KIN_POSTINGS = 6, 16, 300
MAX_SAMPLE = 400
"""Letters of a query that its language is told by."""

Found = dict[Term, list[str]]


@dataclass(frozen=True, slots=True)
class Alike:
    """What an index holds that is like the words of a query."""

    vocabulary: Vocabulary
    langs: Sequence[str]
    """The languages of the index."""
    chunks: int
    """How many there are."""

    def resembling(self, terms: Sequence[Term], *, everything: bool) -> Found:
        """Return tokens that stand in for unknown words, and compounds of known ones.

        `everything` looks for stand-ins of all words: the known ones found nothing.
        """
        plain = [term for term in terms if term.plain and not term.stop][:MAX_TERMS]
        found: Found = {term: [] for term in plain}
        for first, second in pairwise(plain):
            if first.plain + second.plain in self.vocabulary:
                found[first].append(first.plain + second.plain)
                found[second].append(first.plain + second.plain)
        compounding = not COMPOUNDING.isdisjoint(self.langs)
        for term in plain:
            if everything or not chunks_with(term, self.vocabulary):
                found[term] += stand_ins(term, self.vocabulary)
            elif compounding:
                found[term] += self.vocabulary.containing(term.plain, MAX_RESEMBLING)
        return self._affordable(found, MAX_RESEMBLING_POSTINGS)

    def kin(self, terms: Sequence[Term], query: str) -> Found:
        """Return tokens of the families of words, in languages that change a word's inside."""
        if CHANGING.isdisjoint(self.langs):
            return {}
        plain = [
            term
            for term in terms
            if term.plain and not term.stop and chunks_with(term, self.vocabulary) <= KIN_BELOW
        ][:MAX_TERMS]
        found = {term: apart(term, self.vocabulary.kin(term.plain, MOST_KIN)) for term in plain}
        if not any(found.values()):
            return {}
        spoken = detect(query[:MAX_SAMPLE])
        if spoken and spoken not in CHANGING:
            return {}
        return self._affordable(found, MAX_KIN_POSTINGS)

    def _affordable(self, found: Found, most_postings: int) -> Found:
        """Return the tokens that are not too common, as long as they are not too many together."""
        most = max(COMMON_LEAST, COMMON_SHARE * self.chunks)
        left = most_postings
        kept: dict[str, bool] = {}
        for token in dict.fromkeys(token for tokens in found.values() for token in tokens):
            count = self.vocabulary.count(token)
            kept[token] = count <= min(most, left)
            left -= count if kept[token] else 0
        return {term: [one for one in tokens if kept[one]] for term, tokens in found.items()}


def stand_ins(term: Term, vocabulary: Vocabulary) -> list[str]:
    """Return tokens for a word that the index does not know."""
    word = term.plain
    tokens = vocabulary.near(word, MAX_RESEMBLING) or [
        token for stem in term.stems if stem != word for token in vocabulary.near(stem, 2)
    ]
    shortest = min((word, *term.stems), key=len)
    tokens += vocabulary.containing(shortest, MAX_RESEMBLING - len(tokens))
    tokens += vocabulary.halves(word)
    tokens = tokens or vocabulary.distant_kin(word, MAX_RESEMBLING)
    return [token for token in tokens if token != word]


def apart(term: Term, kin: Sequence[str]) -> list[str]:
    """Return those of a word's kin that it is not found with anyway: by a stem they share."""
    lang = "pl" if term.plain.isascii() else "ru"
    return [one for one in kin if not set(stems(one, lang)).intersection(term.stems)][:MAX_KIN]
