"""What a correction of one clause leaves of a fact that says more."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vaultmind.memory.contradictions import contradicts
from vaultmind.memory.words import Word, content

# A Polish "a" that joins has a comma before it; without one it is the article of "is a cat".
_JOINT = re.compile(
    r"\s{0,20}[,;]\s+(?:(?:and|but|oraz|i|ale|a|и|но|а)\s+)?|\s{1,20}(?:and|but|oraz|i|ale|with|ze?|и|но|а|со?)\s+",
    re.IGNORECASE,
)


def loses(new: str, old: str) -> bool:
    """Tell whether a fact that took an old one's place would lose something that it says."""
    clauses = _clauses(old)
    return len(_spoken_of(new, clauses)) < len(clauses)


def kept_whole(new: str, old: str) -> str:
    """Return the old fact with the one clause that the new words correct replaced by them.

    Empty where it is not certain which clause that is, or where something would still be lost.
    """
    clauses = _clauses(old)
    wrong = [one for one in clauses if contradicts(new, one[2])]
    wrong = wrong or _spoken_of(new, clauses)
    if len(wrong) != 1:
        return ""
    start, end, _ = wrong[0]
    text = f"{old[:start]}{new}{old[end:]}"
    return "" if loses(text, old) else text


def _clauses(text: str) -> list[tuple[int, int, str]]:
    joints = list(_JOINT.finditer(text))
    starts = [0, *(joint.end() for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(text)]
    return [(a, b, text[a:b]) for a, b in zip(starts, ends, strict=True)]


def _spoken_of(new: str, clauses: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return the clauses that new words say something of; what every clause says tells nothing."""
    said, given = [content(clause[2]) for clause in clauses], content(new)
    if len(clauses) == 1:
        return clauses
    own = [[word for word in one if not all(_is_in(word, other) for other in said)] for one in said]
    return [
        clause
        for clause, words in zip(clauses, own, strict=True)
        if not words or any(_is_in(word, given) for word in words)
    ]


def _is_in(word: Word, others: Sequence[Word]) -> bool:
    return any(word.same(other) for other in others)
