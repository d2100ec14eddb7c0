"""Cues: the words by which a sentence shows that it decides, asks, promises, dates or counts.

Each language is a file in `cues/`. A sentence is met by the cues of every language written in
its script, since people change languages within a conversation; other languages have none.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, get_args

from vaultmind.index.words.terms import words

FOLDER = Path(__file__).parent / "cues"
LANGUAGES = ("en", "pl", "ru")
Cue = Literal[
    "decision",
    "undecided",
    "next",
    "musing",
    "deferral",
    "smalltalk",
    "greeting",
    "aside",
    "date",
    "number",
]
CUES: tuple[Cue, ...] = get_args(Cue)

_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Language:
    """One language's file."""

    code: str
    headings: dict[str, str]
    """By kind of line: `decision`, `fact`, `question`, `other`; and `topic`, `about`, `next`."""
    words: dict[str, str]
    """What is said of a conversation that hardly was one."""
    cues: dict[Cue, tuple[str, ...]]
    abbreviations: frozenset[str]
    common: frozenset[str]
    """Words, folded, that label no topic."""


@cache
def language_of(code: str) -> Language:
    """Return a language's file; English where there is none."""
    path = FOLDER / f"{code if code in LANGUAGES else 'en'}.toml"
    data = tomllib.loads(path.read_text("utf-8"))
    cues = data["cues"]
    return Language(
        code=data["language"],
        headings=data["headings"],
        words=data["words"],
        cues={name: tuple(cues.get(name, ())) for name in CUES},
        abbreviations=frozenset(cues.get("abbreviation", ())),
        common=frozenset(data["labels"]["common"].split()),
    )


@cache
def abbreviations() -> frozenset[str]:
    """Return what ends in a full stop and no sentence does, in any language, in lower case."""
    return frozenset().union(*(language_of(code).abbreviations for code in LANGUAGES))


@cache
def common_words() -> frozenset[str]:
    """Return the words, folded, that label no topic in any language."""
    return frozenset().union(*(language_of(code).common for code in LANGUAGES))


def said(folded: str, cue: Cue) -> bool:
    """Tell whether folded words, joined by spaces, hold a cue."""
    return how_often(folded, cue) > 0


@lru_cache(maxsize=4096)
def how_often(folded: str, cue: Cue) -> int:
    """Return how many times folded words, joined by spaces, hold a cue."""
    pattern = _pattern(cue, cyrillic=bool(_CYRILLIC.search(folded)))
    return sum(1 for _ in pattern.finditer(folded))


@cache
def _pattern(cue: Cue, *, cyrillic: bool) -> re.Pattern[str]:
    codes = ("ru",) if cyrillic else ("en", "pl")
    phrases = [phrase for code in codes for phrase in language_of(code).cues[cue]]
    if not phrases:
        return _NEVER
    longest_first = sorted({_phrase(phrase) for phrase in phrases}, key=len, reverse=True)
    return re.compile(rf"(?<![^ ])(?:{'|'.join(longest_first)})(?![^ ])")


def _phrase(phrase: str) -> str:
    """Return the pattern of a phrase, folded as sentences are."""
    pieces = []
    start = "^" if phrase.startswith("^") else ""
    for word in phrase.removeprefix("^").split():
        parts = [" ".join(words(part)) for part in word.split("*")]
        pieces.append(r"\w*".join(re.escape(part) for part in parts))
    return start + " ".join(pieces)
