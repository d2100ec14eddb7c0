"""Names by their sound, in whatever case, alphabet or short form: "Dexterowi", «Декстеру»."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from pathlib import Path

from vaultmind.language.words import Word, fold, letters_shared

SHORT = 4
"""Letters of a part of a name that may stand for it."""
_CYRILLIC = str.maketrans(
    dict(zip("абвгдезийклмнопрстуфхцыэ", "abvgdeziiklmnoprstufhcie", strict=True))
    | {"ж": "z", "ч": "C", "ш": "s", "щ": "s", "ъ": "", "ь": "", "ю": "iu", "я": "ia", "ё": "io"}
)
_SOUNDS = (
    ("szcz", "s"), ("shch", "s"), ("cz", "C"), ("zh", "z"), ("ph", "f"), ("sch", "s"), ("ts", "c"),
    ("sh", "s"), ("sz", "s"), ("ch", "h"), ("kh", "h"), ("th", "t"), ("dz", "z"),
    ("rz", "r"), ("x", "ks"), ("q", "k"), ("w", "v"), ("j", "i"), ("y", "i"),
)  # fmt: skip
_BY_SOUND = (
    """a i u e o em om am ov ovi evi ou oi ei ego ogo emu omu ie ii im ih imi ah ami eh ski s"""
)
_CASES = frozenset(_BY_SOUND.split()) | {""}
"""Endings of a name's cases by their sound."""
_SOFT = (("ce", "t"), ("ce", "k"), ("cie", "t"), ("ze", "d"), ("ze", "g"), ("se", "h"), ("ci", "t"))
"""Ends of Polish locatives by their sound, and what other cases have there."""


def agent_meant(word: str, names: Collection[str]) -> str:
    """Return the agent that a word names, in whatever case; empty when none or two."""
    folded = fold(word)
    exact = {fold(name): name for name in names}
    meant = [exact[one] for one in exact if (one + folded).isalpha() and _is_form(folded, one)]
    return exact.get(folded, meant[0] if len(meant) == 1 else "")


@cache
def groups() -> dict[str, frozenset[int]]:
    """Return by its sound which names of one kind a word is among."""
    found: dict[str, set[int]] = {}
    lines = Path(__file__).with_name("names.txt").read_text("utf-8").splitlines()
    for number, line in enumerate(lines):
        for word in line.split():
            found.setdefault(sound(fold(word)), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


@lru_cache(maxsize=4096)
def _group(heard: str) -> frozenset[int]:
    """Return which names a word may be a form of, by its sound."""
    own = (
        own
        for one, own in groups().items()
        if one == heard or (len(one) >= SHORT <= len(heard) and _inflected(one, heard))
    )
    return frozenset().union(*own)


@lru_cache(maxsize=50_000)
def same_name(one: str, other: str, *, loosely: bool = True) -> bool:
    """Tell whether two folded words are one name, in whatever cases and alphabets."""
    if one == other or _is_form(one, other):
        return True
    for a, b in ((a, b) for a in _sounds(one) for b in _sounds(other)):
        short, long = sorted((a, b), key=len)
        alike = letters_shared(a, b)
        enough = alike > SHORT and alike >= min(0.7 * len(long), len(short) - 2)
        if enough or _group(a) & _group(b):
            return True
        within = len(short) >= SHORT and (short in long or long.startswith(short[:-1]))
        if loosely and (within or (alike >= SHORT and alike >= 0.6 * len(long))):
            return True
    return False


def _is_form(one: str, other: str) -> bool:
    pairs = ((a, b) for a in _sounds(one) for b in _sounds(other))
    return any(a == b or _inflected(a, b) for a, b in pairs)


def _sounds(folded: str) -> set[str]:
    """Return how a folded word may sound; `ch` is two sounds, `c` two as well."""
    ways = {sound(folded), sound(folded.replace("ch", "cz"))}
    return ways | {re.sub(r"c(?![ei])k?", "k", heard) for heard in ways}


def _inflected(one: str, other: str) -> bool:
    """Tell whether the endings alone of two names differ, by their sound."""
    for a, b in ((one, other), (other, one)):
        alike = letters_shared(a, b)
        if alike >= 2 and len(a) > 2 and len(b) > 2 and {a[alike:], b[alike:]} <= _CASES:  # noqa: PLR2004
            return True
        for soft, hard in _SOFT:
            base = a.removesuffix(soft) + hard
            same = a.endswith(soft) and len(base) >= SHORT - 1 and b.startswith(base)
            if same and b[len(base) :] in _CASES:
                return True
    fleeting = [re.sub(r"(?<=[^aeiou])[eo](?=[rklncsv]$)", "", one) for one in (one, other)]
    return fleeting != [one, other] and len(min(fleeting, key=len)) > 2 and _inflected(*fleeting)  # noqa: PLR2004


@lru_cache(maxsize=20_000)
def sound(folded: str) -> str:
    """Return a folded word by its sound, alike for Latin and Cyrillic letters."""
    heard = folded.translate(_CYRILLIC)
    for letters, said in _SOUNDS:
        heard = heard.replace(letters, said)
    heard = re.sub(r"i(?=[aeou])", "", heard)
    return re.sub(r"(.)\1+", r"\1", heard)


# --- words, names among them ----------------------------------------------------------------


@lru_cache(maxsize=100_000)
def alike(one: Word, other: Word) -> bool:
    """Tell whether two words are one: by form, or as one name in two scripts."""
    if one.folded == other.folded or one.same(other):
        return True
    if one.folded.isascii() == other.folded.isascii():
        return False
    left, right = sound(one.folded), sound(other.folded)
    shared = letters_shared(left, right)
    return shared >= SHORT and max(len(left), len(right)) - shared < SHORT


def covers(words: Sequence[Word], others: Sequence[Word]) -> bool:
    """Tell whether each of some words is one of the others."""
    return all(any(alike(word, other) for other in others) for word in words)


def mutual(one: Sequence[Word], other: Sequence[Word]) -> bool:
    """Tell whether two groups hold the same words."""
    return covers(one, other) and covers(other, one)
