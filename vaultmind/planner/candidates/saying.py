"""Saying: a task without the words that say nothing of its subject."""

from __future__ import annotations

import re
from typing import Literal

from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.index.words.terms import fold

_ASKING = """
    write prepare draft describe explain summarize summarise tell give help please
    napisz przygotuj opisz wyjasnij podsumuj streszcz opracuj sporzadz pomoz prosze
    напиши подготовь опиши объясни составь резюмируи помоги пожалуиста"""
ASKING = frozenset(_ASKING.split())
"""Folded words with which a task asks for a text. Of code some are names, of notes none is."""
_WORD = re.compile(r"[^\W_]+")
_STEADY = ("en", "")
"""Languages whose small words are left out wherever words are counted."""


def said_of(task: str, language: str, stuff: Literal["code", "notes"]) -> str:
    """Return a task without the small words of its language, and over notes without what asks.

    The task itself where nothing would be left. A word in an identifier or path stays.
    """
    small = frozenset() if language in _STEADY else frozenset(BY_LANGUAGE.get(language, ()))
    asking = ASKING if stuff == "notes" else frozenset()
    if not (small or asking):
        return task
    kept, begins = [], True
    for one in task.split(" "):
        word = fold(one.strip(",.:;!?()\"'„”«»"))
        idle = word in small or (begins and word in asking)
        if not idle:
            kept.append(one)
        begins = (idle and begins) or one.endswith((".", "!", "?", "\n"))
    said = " ".join(kept)
    return said if _WORD.search(said) else task
