"""Whether a text says anything that another does not: copies and near-copies. Pure.

A copy may lack something or have a few words of its own: a typing error put right, a heading
renamed. A number, a name or a negation that the other text does not have makes it none, however
alike the rest is. `tests/index/test_copies.py` holds the labelled pairs that the limits come from.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from vaultmind.index.words.terms import fold

SHINGLE = 3
"""Words that are compared as one."""
LEAST_WORDS = 12
"""A shorter text is a copy only if it has the very same words."""
LEAST_EDITED = 25
"""Of a shorter one every word must stand in the other text: one else is another thing said."""
CONTAINED = 0.7
"""Share of a copy's shingles that the other text has, at least."""
NEW_WORDS = 0.06
"""Share of a longer copy's different words that the other text does not have, at most."""
_NEGATIONS = """
    no not never none without cannot dont doesnt didnt isnt arent wasnt werent wont cant couldnt
    shouldnt wouldnt nie nigdy bez zaden zadna не ни нет никогда без nicht kein keine keinen ohne
    nunca jamas sin pas jamais sans aucun aucune
"""
NEGATIONS = frozenset(_NEGATIONS.split())
"""Folded, of six languages."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
"""Scripts without spaces are compared by their characters."""
_APOSTROPHES = re.compile("['’ʼ]")
_DIGIT = re.compile(r"\d")
_INSIDE = re.compile(r"(?<=[\w,;] )[^\W\d_]\w*")
"""A word that does not begin a sentence."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A text as it is compared with others."""

    text: str
    words: tuple[str, ...]
    """Folded, in order."""
    different: frozenset[str]

    def __or__(self, other: Wording) -> Wording:
        """Return the wording of two texts that are shown as one."""
        both = f"{self.text}\n\n{other.text}"
        return Wording(both, self.words + other.words, self.different | other.different)

    def shingles(self) -> set[tuple[str, ...]]:
        """Return its runs of words."""
        return set(zip(*(self.words[at:] for at in range(SHINGLE)), strict=False))

    def telling(self) -> Counter[str]:
        """Return its numbers and negations, as often as they stand there."""
        return Counter(word for word in self.words if word in NEGATIONS or _DIGIT.search(word))

    def names(self) -> set[str]:
        """Return the words that have a capital and begin no sentence, folded."""
        found = (match[0] for match in _INSIDE.finditer(self.text))
        return {fold(one) for one in found if one[0].isupper()}


def wording(text: str) -> Wording:
    """Return how a text is worded, without case and marks."""
    said = tuple(_WORD.findall(_APOSTROPHES.sub("", fold(text))))
    return Wording(text, said, frozenset(said))


def is_copy(one: Wording, other: Wording) -> bool:
    """Tell whether a text says nothing that another does not say as well."""
    if one.words == other.words:
        return True
    new = one.different - other.different
    most = NEW_WORDS * len(one.different) if len(one.words) >= LEAST_EDITED else 0
    if len(one.words) < LEAST_WORDS or len(new) > most:
        return False
    if one.telling() - other.telling() or not new.isdisjoint(one.names()):
        return False
    own = one.shingles()
    return len(own & other.shingles()) >= CONTAINED * len(own)
