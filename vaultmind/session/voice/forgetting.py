"""The one fact that words to forget something mean.

It is told by the words that stand in it and in no other fact; where two are as near, none is meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vaultmind.index.words.terms import roots
from vaultmind.language.text import fold_word
from vaultmind.memory.contradictions import alike, denies, is_liking
from vaultmind.memory.words import NEGATIONS, SOFT, Word, content
from vaultmind.types import Fact

MOST = 0.6
"""Part of the words asked with that must stand in a fact, where it is not all of them."""
MARGIN = 0.2
"""How much nearer than any other the fact must be."""
EXACT = 0.35
"""What words count more for in the very form in which the fact has them."""
SHORT = 2
ALIKE = 5
"""Letters from which words of one beginning are taken for one (`allergic`, `allergy`)."""
_VOWELS = frozenset("aeiouyаеиоуыюя")
_CLAUSE = re.compile(r"(?i)\W{0,3}(?:that|i|we|my|ze|że|что)\b")

_MEMORY = re.compile(
    r"\b(?:(?:from|out of|of|z|ze|из|в)\s+)?(?:(?:your|my|twoj\w*|swoj\w*|сво\w+|тво\w+)\s+)?"
    r"(?:memor\w+|brain|remember\w*|you know|knowledge|notes?(?= (?:about|on|that)|$)|facts?|"
    r"pamiec\w*|pamieta\w*|wiesz|notat\w*|fakt\w*|wpis\w*|"
    r"памят\w*|помнишь|знаешь|заметк\w*|факт\w*|запис[ьи]\w*)\b"
)
_BREAK = re.compile(
    r"(?:[!?;,]|(?<=\w{4})\.)\s(?!\s{0,3}(?:that|ze|co|gdzie|kiedy|что|где|когда|как)\b)|\s-\s"
)
_NO_CONTENT = """
    name names imie imiona имя имена thing things rule fact info preference
    decision plan plans part stuff note entry like want anymore longer please now was were
    zasada zasadzie informacja informacje decyzja decyzji wpis
    plan juz gdzie kiedy jak правило правиле решение запись план планы больше уже где когда как
    мою свою нашу нашего
"""
_EMPTY = frozenset(_NO_CONTENT.split())
"""Words that only say that a fact is meant."""


def meant(facts: Sequence[Fact], words: str, *, loosely: bool = False) -> Fact | None:
    """Return the fact that words to forget something mean; None where it is none or several.

    `loosely`: the words say more than what to forget, and may say it the other way round.
    """
    part = words if loosely else _BREAK.split(words, maxsplit=1)[0]
    part = part if _asked(part) else words
    asked = _asked(part)
    proper = {one.folded for one in asked if not loosely and _is_proper(one.folded, part)}
    near: list[tuple[float, float, Fact]] = []
    for fact in facts:
        said = content(fact.text)
        held = [one for one in asked if any(_same(one, other) for other in said)]
        exact = {one.folded for one in held} & {other.folded for other in said}
        turned = denies(fact.text) != denies(part) and (denies(part) or _CLAUSE.match(words))
        if held and proper <= {one.folded for one in held} and (loosely or not turned):
            share = len(held) / len(asked)
            near.append((share + EXACT * len(exact) / len(asked), share, fact))
    near.sort(key=lambda one: -one[0])
    if not near:
        return None
    (best, share, fact), (second, other, _) = (*near, (0.0, 0.0, near[0][2]))[:2]
    if best - second < MARGIN and not share == 1 > other:
        return None
    return fact if share == 1 or (share >= MOST and share * len(asked) > 1) else None


def _is_proper(folded: str, words: str) -> bool:
    """Tell whether a word asked with is a number, or a name within the words."""
    found = re.search(rf"(?<=\w\W){re.escape(folded)}", fold_word(words))
    return folded[0].isdigit() or bool(found and words[found.start() : found.start() + 1].isupper())


def _asked(words: str) -> list[Word]:
    plain = _MEMORY.sub(" ", fold_word(words))
    return [
        one
        for one in content(plain)
        if one.folded[0].isalnum()
        and one.folded not in SOFT | NEGATIONS | _EMPTY
        and not is_liking(one.folded)
    ]


def _same(one: Word, other: Word) -> bool:
    a, b = one.folded, other.folded
    if alike(one, other) or not (a.isalpha() and b.isalpha()):
        return alike(one, other)
    short = min(len(a), len(b)) > SHORT and a[:-1] == b[:-1] and {a[-1], b[-1]} <= _VOWELS
    return short or (a[:ALIKE] == b[:ALIKE] and len(a) >= ALIKE) or bool({*roots(a)} & {*roots(b)})


def strays(fact: Fact, facts: Sequence[Fact], words: str) -> bool:
    """Tell whether a fact has none of some words, and another one has."""
    asked = _asked(words)
    others = [one for one in facts if one.text != fact.text]
    return not _shares(fact, asked) and any(_shares(one, asked) for one in others)


def _shares(fact: Fact, asked: Sequence[Word]) -> bool:
    return any(_same(one, other) for one in asked for other in content(fact.text))
