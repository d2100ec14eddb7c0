"""What the linear model sees of a sentence: words, beginnings and endings of words, and cues.

And how it was led to: `by the way` is no part of the statement, and says that one follows.

Every feature is a string, hashed into a fixed number of places; nothing depends on the order in
which things were seen, so that a model trained on one machine reads the same on another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vaultmind.consolidate.facts import cues
from vaultmind.memory.weights import hashed
from vaultmind.memory.words import fold, tokens

PLACES = 1 << 15
BEGINNING = 5
"""Letters by which forms of one word are mostly alike."""
ENDING = 3
"""Letters in which Polish and Russian say who speaks and when."""
FEW, SOME, MANY = 3, 8, 16
BEGUN = 80
"""Characters of a sentence in which its beginning stands."""
LEADING = 3
"""Words with which a sentence was begun, as it was said, that are looked at."""

_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<=[\w,] )[^\W\d_a-zа-я][^\W\d_]{2,}")


def features(text: str) -> list[int]:
    """Return the places of a sentence's features, each once, in order."""
    return hashed(_names(text), PLACES)


def leading(whole: str) -> list[int]:
    """Return the places of how a sentence begins as it was said, each once, in order."""
    words = [fold(token) for token in tokens(whole[:BEGUN]) if token[0].isalnum()][:LEADING]
    begun = (f"l{many} {' '.join(words[:many])}" for many in range(1, len(words) + 1))
    return hashed(begun, PLACES)


def _names(text: str) -> Iterator[str]:
    words = [fold(token) for token in tokens(text) if token[0].isalnum()]
    for at, word in enumerate(words):
        shown = "#" if word.isdigit() else word
        yield f"w {shown}"
        if len(word) > BEGINNING:
            yield f"b {word[:BEGINNING]}"
        if len(word) > ENDING:
            yield f"e {word[-ENDING:]}"
        if at:
            yield f"2 {words[at - 1]} {shown}"
    yield from (f"s{at} {word}" for at, word in enumerate(words[:2]))
    yield from _cued(text)
    yield f"long {sum(len(words) > limit for limit in (FEW, SOME, MANY))}"
    if _NUMBER.search(text):
        yield "number"
    if _NAME.search(text):
        yield "name"


def _cued(text: str) -> Iterator[str]:
    """Yield which cues a sentence holds, which two of them, and which it begins with."""
    folded = fold(" ".join(text.split()))
    cued = [name for name, cue in _cues(folded) if cue.search(folded)]
    for name in cued:
        yield f"c {name}"
        yield from (f"c {name} {other}" for other in cued if other > name)
    for name, cue in _cues(folded):
        if cue.match(folded):
            yield f"first {name}"


def _cues(folded: str) -> list[tuple[str, re.Pattern[str]]]:
    cyrillic = bool(cues.CYRILLIC.search(folded))
    return list(cues.features(cyrillic=cyrillic).items())
