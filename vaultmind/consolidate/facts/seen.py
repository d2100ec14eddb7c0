"""Texts as the rules compare them, each looked at once: words, what finds them again, values.

A long talk has many pairs of pieces; nearly all of them share nothing, and a look at two sets
tells so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from vaultmind.consolidate.facts.cues import CYRILLIC, features
from vaultmind.consolidate.facts.ordinals import ordinals
from vaultmind.consolidate.facts.slots import LABEL_WORDS
from vaultmind.memory.contradictions.lexicon import entry
from vaultmind.memory.contradictions.measures import measures
from vaultmind.memory.words import NEGATIONS, SOFT, Word, content, fold

NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_BEGINNING = 3
"""Letters in which two forms of one word begin alike."""
_SOUNDS = 4
"""Letters in which one name begins alike in two scripts."""
_LATIN = str.maketrans(
    dict(zip("абвгдезийклмнопрстуфхцыэвйё", "abvgdeziiklmnoprstufhcyevie", strict=True))
    | {"ж": "z", "ч": "c", "ш": "s", "щ": "s", "ю": "u", "я": "a", "ь": "", "ъ": "", "w": "v"}
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A text's content words and values."""

    words: tuple[Word, ...]
    keys: frozenset[str]
    """What two words that are forms of one share at least one of."""
    values: frozenset[str]
    """Its numbers, days and months."""


@lru_cache(maxsize=16_384)
def seen(text: str) -> Seen:
    """Return a text as it is compared with others."""
    words = tuple(
        word
        for word in content(text)
        if not word.folded.isdigit() and word.folded not in NEGATIONS | SOFT | LABEL_WORDS
    )
    keys = frozenset(key for word in words for key in _keys(word))
    return Seen(words, keys, _values(fold(text)))


def shared(one: str, other: str) -> list[Word]:
    """Return the words of a text that another has too, in whatever form."""
    mine, theirs = seen(one), seen(other)
    if mine.keys.isdisjoint(theirs.keys):
        return []
    return [
        word
        for word in mine.words
        if not _keys(word).isdisjoint(theirs.keys) and any(word.same(w) for w in theirs.words)
    ]


def contradicts(new: str, old: str) -> bool:
    """Tell whether a statement contradicts another; cheap where they speak of different things."""
    from vaultmind.memory.contradictions.contradict import relation

    return _may_touch(new, old) and relation(new, old) == "contradicts"


@dataclass(frozen=True, slots=True)
class _Side:
    """What of a statement another must meet to contradict it."""

    topic: tuple[frozenset[str], ...]
    """What finds each word of its topic again."""
    all: frozenset[str]
    slots: frozenset[str]
    compares: bool
    replaces: bool


def _may_touch(new: str, old: str) -> bool:
    one, other = _side(new), _side(old)
    if one.replaces or (one.compares and other.compares) or not one.slots.isdisjoint(other.slots):
        return True
    return _within(one, other) or _within(other, one)


def _within(some: _Side, others: _Side) -> bool:
    return not any(keys.isdisjoint(others.all) for keys in some.topic)


@lru_cache(maxsize=16_384)
def _side(text: str) -> _Side:
    from vaultmind.memory.contradictions.claims import read

    found = read(text)
    each = tuple(_keys(word) for word in found.topic)
    slots = frozenset(claim.slot for claim in found.claims)
    every = frozenset().union(*each)
    return _Side(each, every, slots, bool(found.compared), bool(found.replaced))


@lru_cache(maxsize=16_384)
def _keys(word: Word) -> frozenset[str]:
    found = {word.folded[:_BEGINNING], *word.stems}
    found.add(f"~{word.folded.translate(_LATIN)[:_SOUNDS]}")
    for table in ("synonym", "exonym"):
        if group := entry(table, word.folded):
            found.add(f"={group}")
    return frozenset(found)


def _values(folded: str) -> frozenset[str]:
    days = features(cyrillic=bool(CYRILLIC.search(folded)))["month"]
    written = {str(number) for number in measures(folded, set()).numbers}
    named = (match.group() for match in days.finditer(folded))
    return frozenset({*map(bare, NUMBER.findall(folded)), *written, *ordinals(folded), *named})


def bare(number: str) -> str:
    """Return a number without the marks after it."""
    return number.rstrip(".,:")


def values(text: str) -> frozenset[str]:
    """Return the numbers, days and months of a text."""
    return seen(text).values
