"""The part of a text that a question is about, within a budget. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from functools import lru_cache

from vaultmind import tokens
from vaultmind.index.words.irregular import BASES
from vaultmind.index.words.terms import fold, query_terms, stems

MARK = "…"
LEAST_MARKED = 12
"""Tokens below which no mark is spent on saying that something is missing."""
LEAD = 0.25
"""Share of a passage that stands before the first word sought, where there is a choice."""
MOST_LETTERS = 4000
"""Of a question, that are looked for."""
MOST_STARTS = 80
MOST_MATCHES = 200
LONG_WORD = 60
STEMS_BEGIN_ALIKE = frozenset(
    ("", "bg", "be", "ca", "cs", "da", "de", "en", "es", "fi", "fr", "hu", "it", "no", "pl", "pt")
) | {"ro", "ru", "sk", "sv", "uk"}
"""Languages whose stems begin as the words do: no prefix is taken off."""
SPARE = 0.97
"""Of a budget that a window is measured for by its letters; the exact cut comes after."""

_WORD = re.compile(r"\w+")
_WORD_START = re.compile(r"(?<!\S)\S")
_OPENING = re.compile(r"(?:(?<=[.!?…])[\"'»”)\]]*\s+|(?<!\n)\n+|[。！？]+)(?=\S)")


def sought(query: str, languages: Collection[str]) -> frozenset[str]:
    """Return the stems of a question's words in the languages of the texts that may hold them."""
    terms = query_terms(query[:MOST_LETTERS], sorted({"en", *languages}))
    return frozenset(stem for term in terms if not term.stop for stem in term.stems)


def passage(text: str, about: Collection[str], lang: str, most_tokens: int) -> str:
    """Return at most so many tokens of a text: where most of what is sought stands together.

    `…` stands where something is left out. Where nothing that is sought stands in it, its
    beginning is returned.
    """
    cost = tokens.count(text)
    if cost <= most_tokens:
        return text
    if most_tokens < LEAST_MARKED:
        return tokens.clip(text, most_tokens, mark="")
    start = _start(text, about, lang, int(len(text) * most_tokens / cost * SPARE))
    if not start:
        return tokens.clip(text, most_tokens, mark=f" {MARK}")
    before = f"{MARK} "
    rest = text[start:]
    room = most_tokens - tokens.count(before)
    shown = tokens.clip(rest, room, mark=f" {MARK}")
    while room and tokens.count(before + shown) > most_tokens:  # two sums are rounded, then one
        room -= 1
        shown = tokens.clip(rest, room, mark=f" {MARK}")
    return before + shown


def ending(text: str, most_tokens: int) -> str:
    """Return at most so many tokens of a text from its end, with a mark where it was cut."""
    cost = tokens.count(text)
    if cost <= most_tokens:
        return text
    before = f"{MARK} "
    start = _word_start(text, len(text) - int(len(text) * most_tokens / cost * SPARE))
    while start < len(text) and tokens.count(before + text[start:]) > most_tokens:
        start = _word_start(text, start + 1)
    return before + text[start:] if start < len(text) else ""


def _start(text: str, about: Collection[str], lang: str, window: int) -> int:
    """Return where the best window of so many letters begins."""
    places = _places(text, about, lang)
    if not places:
        return 0
    last = _word_start(text, len(text) - window)
    opens = [0, *(match.end() for match in _OPENING.finditer(text))]
    led = [_word_start(text, at - int(window * LEAD)) for at, _ in places]
    starts = sorted({min(start, last) for start in (*opens, *led)})
    first_lead = window * LEAD

    def worth(start: int) -> tuple[int, int, bool, bool, float]:
        first, after = (bisect_left(places, (at, "")) for at in (start, start + window))
        held = [stem for _, stem in places[first:after]]
        lead = abs(places[first][0] - start - first_lead) if held else first_lead
        return len(set(held)), len(held), start == 0, start in opens or start == last, -lead

    return max(_spread(starts), key=worth)


def _places(text: str, about: Collection[str], lang: str) -> list[tuple[int, str]]:
    """Return where what is sought stands, and what of it, in order."""
    found: list[tuple[int, str]] = []
    firsts = {stem[:1] for stem in about}
    every = lang not in STEMS_BEGIN_ALIKE
    for match in _WORD.finditer(text):
        word = match[0]
        if not (every or _first_letter(word[0]) in firsts or word.lower() in BASES):
            continue  # most words, and to stem one that is new takes a while
        for stem in stems(word, lang):
            if stem in about:
                found.append((match.start(), stem))
                break
        if len(found) >= MOST_MATCHES:
            break
    return found or _within_words(text, about)


@lru_cache(maxsize=2_000)
def _first_letter(letter: str) -> str:
    """Return what the stem of a word that begins so begins with."""
    return fold(letter)[:1]


def _within_words(text: str, about: Collection[str]) -> list[tuple[int, str]]:
    """Return the same for scripts without spaces."""
    folded = fold(text)
    if len(folded) != len(text):
        return []
    found = [(folded.find(stem), stem) for stem in about if len(stem) > 1]
    return sorted(one for one in found if one[0] >= 0)


def _word_start(text: str, at: int) -> int:
    """Return where a word begins at or soon after a place; the place itself where none does."""
    match = _WORD_START.search(text, max(0, at), max(0, at) + LONG_WORD)
    return match.start() if match else max(0, at)


def _spread(starts: Sequence[int]) -> Sequence[int]:
    """Return at most so many of the places, from all over the text."""
    step = -(-len(starts) // MOST_STARTS)
    return starts[:: step or 1]
