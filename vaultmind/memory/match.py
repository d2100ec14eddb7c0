"""Which fact is meant: the same said otherwise, or the one some words are about.

A wrong forget is the worst mistake a memory can make, so words must name one fact alone: where
two fit, or one only partly, nothing is chosen and the nearest are offered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.memory.words import NEGATIONS, SOFT, Word, content, fold, saying
from vaultmind.types import Fact

NEAREST = 3
"""How many facts are offered when none is meant for certain."""
ONE_WORD_SHARE = 0.25
"""A single word means a fact only where it is at least this part of what the fact says."""
SHORT_MESSAGE = 8
"""A message of so few content words says a fact of one word; a longer one mentions it."""
LONG_NUMBER = 6
_LIKE = 0.05
_BLOCK = re.compile(r"\^([A-Za-z0-9-]+)")
_SENTENCES = re.compile(r"(?<=[.!?…])\s+|\n+")
_DIGITS = re.compile(r"\d(?:[\d ().-]*\d)?")


@dataclass(frozen=True, slots=True)
class Match:
    """Positions of facts. `found` holds one fact, or several that say the same."""

    found: tuple[int, ...] = ()
    nearest: tuple[int, ...] = ()
    tied: bool = False
    """More than one fact was meant equally."""


def same_fact(one: str, other: str) -> bool:
    """Tell whether two texts say one fact: case, punctuation, diacritics, small words aside."""
    left = saying(one)
    return bool(left) and left == saying(other)


def find(facts: Sequence[Fact], words: str) -> Match:
    """Return the fact that some words mean: its block id (`^k3f9`), its words, its topic."""
    named = _BLOCK.fullmatch(words.strip())
    if named:
        return Match(tuple(i for i, fact in enumerate(facts) if fact.block == named.group(1)))
    same = tuple(i for i, fact in enumerate(facts) if same_fact(fact.text, words))
    if same:
        return Match(same)
    asked = content(words)
    for fits in (_says_exactly, _is_about):
        meant = tuple(i for i, fact in enumerate(facts) if fits(asked, content(fact.text)))
        if meant and all(same_fact(facts[i].text, facts[meant[0]].text) for i in meant):
            return Match(meant)
        if meant:
            return Match((), meant, tied=True)
    return Match((), _nearest(facts, words, asked))


def says(message: str, fact: str) -> bool:
    """Tell whether a message says a fact, in whatever words' forms and order.

    All that the fact says must stand within two neighbouring sentences of the message, or a
    long number (a telephone's) that the fact holds.
    """
    wanted = _hard(content(fact))
    if not wanted:
        return same_fact(message, fact)
    if _numbers(fact) & _numbers(message):
        return True
    if len(wanted) == 1 and len(content(message)) > SHORT_MESSAGE:
        return False
    sentences = [content(part) for part in _SENTENCES.split(message)]
    pairs = zip(sentences, [*sentences[1:], ()], strict=True)
    return any(_within(wanted, (*one, *following)) for one, following in pairs)


def _says_exactly(asked: tuple[Word, ...], said: tuple[Word, ...]) -> bool:
    return bool(asked) and _within(asked, said) and _within(said, asked)


def _is_about(asked: tuple[Word, ...], said: tuple[Word, ...]) -> bool:
    """Tell whether all that is asked stands in a fact, and the fact does not say the opposite."""
    hard = _hard(asked)
    if not hard or not _within(hard, said):
        return False
    positive = tuple(word for word in said if word.folded not in NEGATIONS)
    if len(hard) > 1 and len(positive) < len(said) and _within(positive, hard):
        return any(word.folded in NEGATIONS for word in hard)
    return len(hard) > 1 or len(said) * ONE_WORD_SHARE <= 1


def _hard(words: tuple[Word, ...]) -> tuple[Word, ...]:
    return tuple(word for word in words if word.folded not in SOFT)


def _within(words: tuple[Word, ...], others: tuple[Word, ...]) -> bool:
    return all(any(word.same(other) for other in others) for word in words)


def _numbers(text: str) -> set[str]:
    runs = ("".join(filter(str.isdigit, run)) for run in _DIGITS.findall(text))
    return {run for run in runs if len(run) >= LONG_NUMBER}


def _nearest(facts: Sequence[Fact], words: str, asked: tuple[Word, ...]) -> tuple[int, ...]:
    letters = _trigrams(words)
    scored = []
    for i, fact in enumerate(facts):
        said = content(fact.text)
        shared = sum(any(word.same(other) for other in said) for word in _hard(asked))
        alike = len(letters & _trigrams(fact.text)) / max(1, len(letters))
        if shared or alike > _LIKE:
            scored.append((-shared, -alike, i))
    return tuple(i for _, _, i in sorted(scored)[:NEAREST])


def _trigrams(text: str) -> set[str]:
    folded = f"  {' '.join(fold(text).split())} "
    return {folded[i : i + 3] for i in range(len(folded) - 2)}
