"""Whether two words of facts are one: by form, by meaning, by sound across two scripts."""

from __future__ import annotations

from functools import lru_cache

from vaultmind.memory.contradictions.lexicon import entry
from vaultmind.memory.words import Word

ALIKE = 5
"""Letters from which words of one beginning are taken for one (`allergic`, `allergy`)."""
_PREFIX = 4
_ENDING = 3
_LATIN = str.maketrans(
    dict(zip("абвгдезийклмнопрстуфхцыэвйё", "abvgdeziiklmnoprstufhcyevie", strict=True))
    | {"ж": "z", "ч": "c", "ш": "s", "щ": "s", "ю": "u", "я": "a", "ь": "", "ъ": "", "w": "v"}
)


@lru_cache(maxsize=100_000)
def alike(one: Word, other: Word) -> bool:
    """Tell whether two words are one: by form, by meaning, or one name in two languages."""
    if one.folded == other.folded or one.same(other):
        return True
    for table in ("synonym", "exonym"):
        group = entry(table, one.folded)
        if group and group == entry(table, other.folded):
            return True
    return one.folded.isascii() != other.folded.isascii() and _sounds_alike(one, other)


def _sounds_alike(one: Word, other: Word) -> bool:
    left, right = (word.folded.translate(_LATIN) for word in (one, other))
    shared = next(
        (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )
    return shared >= _PREFIX and max(len(left), len(right)) - shared <= _ENDING


def begin_alike(one: str, other: str) -> bool:
    """Tell whether two folded words have one long beginning."""
    return one == other or (one[:ALIKE] == other[:ALIKE] and len(one) >= ALIKE)


def covers(words: tuple[Word, ...], others: tuple[Word, ...]) -> bool:
    """Tell whether each of some words is one of the others."""
    return all(any(alike(word, other) for other in others) for word in words)


def mutual(one: tuple[Word, ...], other: tuple[Word, ...]) -> bool:
    """Tell whether two groups hold the same words."""
    return covers(one, other) and covers(other, one)


def without(words: tuple[Word, ...], others: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the words that are none of the others."""
    return tuple(word for word in words if not any(alike(word, other) for other in others))
