"""How rare the words of a query are here, and what that makes them worth. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from vaultmind.index.fulltext.vocabulary import Vocabulary
from vaultmind.index.words.terms import Term


def chunks_with(term: Term, vocabulary: Vocabulary) -> int:
    """Return about how many chunks a term is in; a phrase is in no more than its rarest word."""
    words = min((vocabulary.count(token) for token in term.words), default=0)
    if len(term.words) > 1:
        return words
    return max(words, *(vocabulary.count(stem) for stem in term.stems), 0)


def telling_terms(terms: Sequence[Term]) -> Sequence[Term]:
    """Return the terms that say what a query is about: words and pairs of characters."""
    return [term for term in terms if len(term.words) <= 1 and not term.stop] or terms


def worth(count: int, chunks: int) -> float:
    """Return what a word of a query counts for: the rarer the more, in a vault of any size."""
    return math.log1p(chunks / (count + 1))
