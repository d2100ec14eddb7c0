"""Labels: the most telling words of some messages, as they were written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache

from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.index.words.terms import words
from vaultmind.session.summary.cues import LANGUAGES, common_words
from vaultmind.session.summary.weigh import CAPITAL_NOUNS, read, stemmed

WORDS = 3
SHORT = 3
"""Letters of a word that is no abbreviation in capitals: "ms" is no label, "AI" is one."""
NAME_COUNTS = 1.5
"""What a name counts, other words counting 1."""

Counts = Mapping[str, float]
"""How often each stem was said."""
Forms = Mapping[str, str]
"""Each stem as it was first written."""


def counted(text: str, language: str) -> tuple[dict[str, float], dict[str, str]]:
    """Return how often a text says each stem that may stand in a label, and how it is written."""
    names = set(read(text, language).names)
    counts: dict[str, float] = {}
    forms: dict[str, str] = {}
    for stem, form in stemmed(text, language):
        if len(form) > 1 and form.isalpha() and not _is_common(form):
            counts[stem] = counts.get(stem, 0.0) + (NAME_COUNTS if form in names else 1.0)
            opens = form.istitle() and form not in names and language not in CAPITAL_NOUNS
            forms.setdefault(stem, form.lower() if opens else form)
    return counts, forms


@lru_cache(maxsize=8192)
def _is_common(form: str) -> bool:
    """Tell whether a word labels no topic: people change languages within a conversation."""
    small = len(form) < SHORT and not form.isupper()
    folded = words(form)
    stops = any(not BY_LANGUAGE[code].isdisjoint(folded) for code in LANGUAGES)
    return small or stops or not common_words().isdisjoint(folded)


def label(counts: Counts, forms: Forms, before: Counts) -> str:
    """Return the words said often here and seldom `before`; empty where there are none.

    What was said before without end, as speakers' names count, is no label.
    """
    worth = {
        stem: often * often / (1 + math.sqrt(before.get(stem, 0.0)))
        for stem, often in counts.items()
    }
    ranked = sorted(filter(worth.__getitem__, worth), key=lambda stem: (-worth[stem], stem))
    return ", ".join(forms.get(stem, stem) for stem in ranked[:WORDS])


def label_of(texts: Iterable[str], language: str, speakers: Iterable[str] = ()) -> str:
    """Return the most telling words of some texts, other than the speakers' names."""
    before = dict.fromkeys(names_of(speakers, language), math.inf)
    total: dict[str, float] = {}
    written: dict[str, str] = {}
    for text in texts:
        counts, forms = counted(text, language)
        written = {**forms, **written}
        for stem in counts:
            total[stem] = total.get(stem, 0.0) + counts[stem]
    return label(total, written, before)


def names_of(speakers: Iterable[str], language: str) -> set[str]:
    """Return the stems of speakers' names."""
    return {stem for one in speakers for stem, _ in stemmed(one, language)}
