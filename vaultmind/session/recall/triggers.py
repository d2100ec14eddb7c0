"""Words that point back in a conversation, and words that say nothing; by language.

`phrases/<language>.toml` holds them, with what the block is called. A phrase is words: `*` is
any one, `(a | b)` either, `[a]` maybe, `stem~` a word with any ending.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from vaultmind.index.words.language import detect
from vaultmind.index.words.terms import fold, words

Kind = Literal["", "back", "explicit", "start", "weak"]
LANGUAGES = ("en", "pl", "ru", "de", "es", "fr")
_FOLDER = Path(__file__).parent / "phrases"
_WORD = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"[()\[\]|*]|[^\s()\[\]|*]+")


@dataclass(frozen=True, slots=True)
class Trigger:
    """Why more than the segment is searched; `kind` is empty where nothing asks for it."""

    kind: Kind = ""
    words: str = ""
    """The folded words that say so."""

    def __bool__(self) -> bool:
        return bool(self.kind)


@dataclass(frozen=True, slots=True)
class Phrases:
    """One language's file."""

    language: str
    header: str
    user: str
    assistant: str
    patterns: tuple[tuple[Kind, re.Pattern[str]], ...]
    small: frozenset[str]
    """Folded words that say nothing in a conversation."""


def find_trigger(text: str) -> Trigger:
    """Return what in a message points back, in any of the languages."""
    folded = plain(text)
    for kind in ("start", "explicit", "back"):
        for language in LANGUAGES:
            for name, pattern in phrases(language).patterns:
                if name == kind and (match := pattern.search(folded)):
                    return Trigger(name, match.group().strip())
    return Trigger()


@cache
def small_words() -> frozenset[str]:
    """Return the words of all languages that say nothing in a conversation."""
    return frozenset().union(*(phrases(language).small for language in LANGUAGES))


def language_of(text: str, fallback: str = "en") -> str:
    """Return which of the languages a text is in, or the fallback."""
    found = detect(text, fallback)
    return found if found in LANGUAGES else fallback if fallback in LANGUAGES else "en"


@cache
def phrases(language: str) -> Phrases:
    """Return a language's phrases; those of English for a language that has no file."""
    name = language if language in LANGUAGES else "en"
    data = tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))
    kinds: tuple[Kind, ...] = ("start", "explicit", "back")
    return Phrases(
        language=data["language"],
        header=data["header"],
        user=data["user"],
        assistant=data["assistant"],
        patterns=tuple((kind, _pattern(phrase)) for kind in kinds for phrase in data[kind]),
        small=frozenset(words(data["small"])),
    )


def plain(text: str) -> str:
    """Return a text's folded words with a space between and around them."""
    return f" {' '.join(_WORD.findall(fold(text)))} "


def _pattern(phrase: str) -> re.Pattern[str]:
    """Return a phrase as a pattern for `plain` texts: each word brings the space after it."""
    built = " "
    for part in _PARTS.findall(phrase):
        if part in "()|":
            built += {"(": "(?:", ")": ")", "|": "|"}[part]
        elif part == "[":
            built += "(?:"
        elif part == "]":
            built += ")?"
        else:
            built += _word(part)
    return re.compile(built)


def _word(part: str) -> str:
    if part == "*":
        return r"\w+ "
    folded = " ".join(_WORD.findall(fold(part)))
    return rf"{folded}\w* " if part.endswith("~") else f"{folded} "
