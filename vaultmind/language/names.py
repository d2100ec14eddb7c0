"""What agents are called when a person speaks of them: "Dexterowi", "Jaskra", «Декстеру».

Only agents that exist count. A word and a name are compared by how they sound, so that Cyrillic
letters and Polish endings make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from vaultmind.language.text import fold_word

SHORT = 2
"""Letters of a stem below which a name is never inflected: "al" is in too many words."""
_CYRILLIC = str.maketrans(
    {
        "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ж": "z", "з": "z", "и": "i",
        "к": "k", "л": "l", "м": "m", "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t",
        "у": "u", "ф": "f", "х": "h", "ц": "c", "ч": "c", "ш": "s", "щ": "s", "ъ": "", "ы": "i",
        "ь": "", "э": "e", "ю": "iu", "я": "ia",
    }
)  # fmt: skip
_SOUNDS = (
    ("szcz", "s"), ("shch", "s"), ("cz", "c"), ("zh", "z"), ("ph", "f"), ("sch", "s"),
    ("sh", "s"), ("sz", "s"), ("ch", "h"), ("kh", "h"), ("ck", "k"), ("th", "t"),
    ("rz", "r"), ("x", "ks"), ("q", "k"), ("w", "v"), ("j", "i"), ("y", "i"),
)  # fmt: skip
_SOFT = re.compile(r"i(?=[aeou])")
_HARD_C = re.compile(r"c(?![ei])")
_DOUBLE = re.compile(r"(.)\1+")
_FLEETING = re.compile(r"(?<=[^aeiou])e(?=[rklnc]$)")
_VOWEL_END = re.compile(r"[aeiou]$")
_BY_SOUND = "a i u e o em om am ovi evi ou oi ei ze s"
CASES = frozenset({"", *_BY_SOUND.split()})
"""Endings of a name's cases by their sound, folded; nothing for the name as it is."""


class Names:
    """The names of the agents there are."""

    def __init__(self, names: Collection[str]) -> None:
        self._exact = {fold_word(name): name for name in names}
        self._sounds = {sound(folded) for folded in self._exact}
        self._stems: list[tuple[str, str]] = []
        for folded, name in self._exact.items():
            if folded.isalpha():
                self._stems += [(stem, name) for stem in stems(sound(folded))]

    def __bool__(self) -> bool:
        return bool(self._exact)

    def meant(self, word: str) -> str:
        """Return the agent that a folded word names, in whatever case; empty when none or two."""
        if word in self._exact:
            return self._exact[word]
        if not word.isalpha():
            return ""
        said = sound(word)
        meant = {
            name
            for stem, name in self._stems
            if said.startswith(stem)
            and said[len(stem) :] in (CASES if len(stem) >= SHORT else ("",))
        }
        return meant.pop() if len(meant) == 1 else ""

    def called(self, word: str) -> bool:
        """Tell whether a folded word calls an agent by its very name."""
        return word in self._exact or sound(word) in self._sounds


def stems(heard: str) -> set[str]:
    """Return what all of a name's cases begin with: "jaskier" and "jaskr-owi"."""
    return {heard, _VOWEL_END.sub("", heard), _FLEETING.sub("", heard)}


def sound(folded: str) -> str:
    """Return a word by its sound, alike for Latin and Cyrillic letters."""
    heard = folded.translate(_CYRILLIC)
    for letters, said in _SOUNDS:
        heard = heard.replace(letters, said)
    heard = _HARD_C.sub("k", _SOFT.sub("", heard))
    return _DOUBLE.sub(r"\1", heard)
