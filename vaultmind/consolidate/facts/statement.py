"""A sentence as a short statement: without what only leads to it, trails it or asks beside it.

The words stay the person's own, in their language: a fact that was reworded by rules would be
wrong in one case in ten, and the memory of it could not be found in what was said.
"""

from __future__ import annotations

import re

from vaultmind.consolidate.facts.cues import CYRILLIC, Rule, rules
from vaultmind.memory.words import NEGATIONS, fold
from vaultmind.vault.oneline import one_line

MOST_CHARACTERS = 200
_EDGE = re.compile(r"^[\s,;:.!?…–—-]+")
_SIGNS = re.compile(
    "[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f]+|(?<!\\w)[:;]-?[)(DPp]+|[)]{2,}|(?<=\\s)[)]+"
)
_CLAUSE = re.compile(r"[,;]\s+|\s[-–—]\s+")


def unled(folded: str) -> str:
    """Return a folded text without the small words that lead to what it says."""
    while True:
        folded = _EDGE.sub("", folded)
        match = _lead(folded, ("lead",))
        if not match:
            return folded
        folded = folded[match.end() :]


def statement(text: str) -> str:
    """Return a piece of a sentence as a statement of one line, its first letter a capital."""
    text = one_line(_SIGNS.sub(" ", text)).strip()
    text = _without_lead(text)
    text = _without_tail(text).strip(" ,;:.!?…–—-")
    if len(text) > MOST_CHARACTERS:
        text = _first_clauses(text)
    return text[:1].upper() + text[1:]


def _lead(folded: str, named: tuple[Rule, ...]) -> re.Match[str] | None:
    cyrillic = bool(CYRILLIC.search(folded))
    for rule in named:
        match = rules(rule, cyrillic=cyrillic).match(folded)
        if match and _ends_a_lead(folded, match.end(), match.group()):
            return match
    return None


def _ends_a_lead(folded: str, end: int, word: str) -> bool:
    """Tell whether a leading word is one: more follows it, after a mark or a space.

    A no needs a mark: `no, I live in Leeds` has one, `no sugar for me` is what is said.
    """
    if word in NEGATIONS and folded[end : end + 1] in " -":
        return False
    return end < len(folded) and folded[end : end + 1] in " ,:;.!-–—?" and len(folded) - end > 1


def _without_lead(text: str) -> str:
    while True:
        text = _EDGE.sub("", text)
        folded = fold(text)
        if len(folded) != len(text):
            return text
        match = _lead(folded, ("lead", "polite"))
        if not match:
            return text
        text = text[match.end() :]


def _without_tail(text: str) -> str:
    while True:
        text = text.rstrip(" ,;:.!?…–—-")
        at = max(text.rfind(" "), text.rfind(","))
        folded = fold(text)
        if at < 0 or len(folded) != len(text):
            return text
        tail = rules("tail", cyrillic=bool(CYRILLIC.search(folded)))
        starts = [m.start() for m in tail.finditer(folded) if m.end() == len(folded)]
        if not starts or not starts[0]:
            return text
        text = text[: starts[0]]


def _first_clauses(text: str) -> str:
    ends = [match.start() for match in _CLAUSE.finditer(text) if match.start() <= MOST_CHARACTERS]
    if ends:
        return text[: ends[-1]]
    return text[: text.rfind(" ", 0, MOST_CHARACTERS)]
