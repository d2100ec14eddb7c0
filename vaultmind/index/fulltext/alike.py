"""What stands in for a word of a query: tokens that resemble it, and its kin. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from vaultmind.index.fulltext.vocabulary import Vocabulary
from vaultmind.index.words.terms import Term, stems

MAX_RESEMBLING = 6
"""Tokens looked for in place of one unknown word."""
MAX_KIN = 6


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
