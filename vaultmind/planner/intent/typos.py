"""A wrong key in a word that would tell the kind of work: `refacotr`, `implemnt`. Pure.

Only two letters that changed places, one that is missing and one that is doubled are mended: a
letter for another makes other words (`leading`, `leaking`). Only the strongest cues are looked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.planner.intent.cues import STRENGTHS, lexicon

MIN_LETTERS, MAX_LETTERS = 6, 24
MAX_WORDS = 30
"""Of a task that are looked at, from its start."""


def mended(folded: Sequence[str]) -> list[str]:
    """Return folded words, those that are a cue but for one key as the cue."""
    known = lexicon()
    return [
        _meant(word) if n < MAX_WORDS and not known.begins_cue(word) else word
        for n, word in enumerate(folded)
    ]


def _meant(word: str) -> str:
    if not MIN_LETTERS - 1 <= len(word) <= MAX_LETTERS or (word.isascii() and not word.isalpha()):
        return word
    if any(word in listed for listed in BY_LANGUAGE.values()):
        return word
    whole, begun = _looked_for()
    for stem, rest in ((word, ""), *((word[:at], word[at:]) for at in range(len(word), 5, -1))):
        found = (whole if not rest else begun).get(stem) or begun.get(stem)
        if found:
            return found + rest
    return word


@cache
def _looked_for() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return misspelt whole words, and misspelt beginnings of words, with what was meant."""
    known = lexicon()
    whole: dict[str, str] = {}
    begun: dict[str, str] = {}
    for cue in (cue for some in known.exact.values() for cue in some):
        if cue.role == "kind" and len(cue.words) == 1 and cue.weight == STRENGTHS["strong"]:
            whole.update(_misspelt(cue.words[0]))
    for cue in (cue for some in known.open.values() for cue in some):
        if cue.role == "kind" and len(cue.words) == 1 and cue.weight == STRENGTHS["strong"]:
            begun.update(_misspelt(cue.words[0].removesuffix("*")))
    return whole, begun


def _misspelt(word: str) -> dict[str, str]:
    """Return how a word looks with one key wrong; its first letter is right."""
    if len(word) < MIN_LETTERS:
        return {}
    places = range(1, len(word))
    swapped = {
        word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in places if n + 1 < len(word)
    }
    missing = {word[:n] + word[n + 1 :] for n in places if len(word) > MIN_LETTERS}
    doubled = {word[:n] + word[n] + word[n:] for n in places}
    return dict.fromkeys((swapped | missing | doubled) - {word}, word)
