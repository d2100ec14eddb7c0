"""A correction names what was wrong and what is right, often by a word: the rest of a fact stays.

"Not in Gdańsk but in Łódź" makes "I live in Gdańsk" read "I live in Łódź".
"""

from __future__ import annotations

import re

from vaultmind.memory.words import content, forms

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")
_MORE_WORDS = 1
"""A new part with more words than the old one, and this many, is a sentence of its own."""


def amended(fact: str, old: str, new: str) -> str:
    """Return a fact with `new` in the place of `old`; `new` alone where it says the whole anew."""
    span = _place(fact, old)
    if span is None:
        return new
    start, end = _fitted(fact, span, new)
    rest = content(f"{fact[:start]} {fact[end:]}")
    said, before = content(new), content(fact[start:end])
    is_whole = any(word.same(other) for word in said for other in rest)
    if not rest or is_whole or len(said) > len(before) + _MORE_WORDS:
        return new
    return fact[:start] + _cased(new, fact[start:end]) + fact[end:]


def _place(fact: str, old: str) -> tuple[int, int] | None:
    """Return where a fact says some words, in whatever forms; None where it does not, or twice."""
    said = list(_WORD.finditer(fact))
    wanted = [forms(word.casefold()) for word in _WORD.findall(old)]
    runs = [said[at : at + len(wanted)] for at in range(len(said) - len(wanted) + 1)]
    found = [
        run
        for run in runs
        if wanted
        and all(
            forms(one.group().casefold()).same(word) for one, word in zip(run, wanted, strict=True)
        )
    ]
    return (found[0][0].start(), found[0][-1].end()) if len(found) == 1 else None


def _fitted(fact: str, span: tuple[int, int], new: str) -> tuple[int, int]:
    """Return the span with or without a preposition, so that it stands there once."""
    start, end = span
    first = _WORD.match(new.strip())
    if first is None:
        return span
    lead = _is_small(first.group())
    while not lead and (word := _WORD.match(fact, start, end)) and _is_small(word.group()):
        after = _WORD.search(fact, word.end(), end)
        if after is None:
            break
        start = after.start()
    before = list(_WORD.finditer(fact, 0, start))
    if lead and before and before[-1].group().casefold() == first.group().casefold():
        start = before[-1].start()
    return start, end


def _is_small(word: str) -> bool:
    return not content(word)


def _cased(new: str, old: str) -> str:
    """Return the new words with the old ones' capital at the head of a sentence."""
    new = new.strip()
    begins = old[:1].isupper() and _is_small(_WORD.findall(old)[0])
    return new[:1].upper() + new[1:] if begins else new
