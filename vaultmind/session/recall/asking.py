"""Messages that only ask what is asked again: no answer to it, however many words they share. Pure.

An old question has all the words of the new one, so it would stand above the note that answers
it. It says nothing; what was said after it may.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from vaultmind.index.words.terms import Term, query_terms
from vaultmind.session.recall.triggers import LANGUAGES, small_words

GIVEN_ON = 0.65
"""Share of an old question's relevance that what was said after it gets: enough to be shown by
itself, and less than would keep lasting memory from being asked (`context.recall_gate`)."""
MOST_CHARACTERS = 300
"""A longer message says something besides its question."""
MOST_NEW = 2
"""Telling words that the same question in other words may add."""
LEAST_SHARED = 0.5
"""Of the question's telling words that such a one must have."""
LETTERS_UNTIL = "\u0600"
"""Before it stand the scripts whose lone letters are no words."""

_EMOJI = re.compile(r"u(?:2[67]|1f[3-9a])[0-9a-f]{2}")
"""An emoji as `index.words.terms` writes it."""
_MARK = ("?", "？", "؟")
_ENDING = " \n\t\"'»”’)]*_~"
_BLOCK_ID = re.compile(r"\s\^[A-Za-z0-9-]+\s*$")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.!?…:\n]\W*$")
_OF_QUESTIONS = re.compile(
    r"\b(?:ask(?:ed|ing|s)?|questions?|(?:za|s)?pyta\w*|спраш\w*|спрос\w*|вопрос\w*|(?:ge)?frag\w*"
    r"|pregunt\w*|demand(?:é|ais|ait|er|ons|ez)\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked now, as old questions are compared with it."""

    stems: frozenset[str]
    telling: int
    of_questions: bool
    """Whether it asks for what was asked."""


NO_QUESTION = Question(frozenset(), 0, False)


def telling_terms(terms: list[Term]) -> list[Term]:
    """Return the words that can say by themselves what a question is about.

    A lone letter, digit or emoji does not, nor several side by side as in `2+2`.
    """
    small = small_words()
    return [
        term
        for term in terms
        if not term.stop and term.plain not in small and not is_lone(term.words)
    ]


def is_lone(words: tuple[str, ...]) -> bool:
    """Tell whether words are letters or digits that stand alone, or emoji, which are a mood.

    Of a script that has words: a single character of another may be one.
    """
    return bool(words) and all(
        (len(word) == 1 and word < LETTERS_UNTIL) or _EMOJI.fullmatch(word) for word in words
    )


def question(query: str) -> Question:
    """Return what old questions are compared with."""
    told = _single(query)
    stems = frozenset(stem for term in told for stem in term.stems)
    return Question(stems, len(told), bool(_OF_QUESTIONS.search(query)))


def only_asks(text: str, asked: Question) -> bool:
    """Tell whether a text asks what is asked, maybe in other words, and says nothing."""
    if asked.of_questions or not asked.telling or len(text) > MOST_CHARACTERS:
        return False
    bare = _BLOCK_ID.sub("", text).rstrip(_ENDING)
    end = max(map(bare.rfind, _MARK)) + 1
    if not end or _single(bare[end:]):  # nothing is asked, or something said after it
        return False
    bare = bare[:end]
    told = _single(bare)
    new = [term for term in told if asked.stems.isdisjoint(term.stems)]
    if not new:
        return len(told) > 0
    shared = len(told) - len(new)
    if len(new) > MOST_NEW or shared < max(1.0, LEAST_SHARED * asked.telling):
        return False
    return not _names(bare) & {term.plain for term in new}


def says_something(text: str, asked: Question) -> bool:
    """Tell whether what was said after an old question may be its answer: more than its words."""
    if any(char.isdigit() for char in text):
        return True
    return any(asked.stems.isdisjoint(term.stems) for term in _single(text[:MOST_CHARACTERS]))


@lru_cache(maxsize=2048)
def _single(text: str) -> tuple[Term, ...]:
    """Return the single words that tell something: the same old questions come up again."""
    return tuple(term for term in telling_terms(query_terms(text, LANGUAGES)) if term.plain)


def _names(text: str) -> set[str]:
    """Return the words that name or count something: with a digit, or a capital in a sentence."""
    found: set[str] = set()
    for match in _WORD.finditer(text):
        word = match.group()
        inside = not _SENTENCE_END.search(text[: match.start()]) and match.start() > 0
        if any(char.isdigit() for char in word) or (inside and word[0].isupper()):
            found.add(_plain(word))
    return found


def _plain(word: str) -> str:
    terms = [term.plain for term in query_terms(word, ("en",)) if term.plain]
    return terms[0] if terms else ""
