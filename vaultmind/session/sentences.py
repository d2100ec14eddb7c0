"""A message's sentences: read for what they decide, ask, count and name, and cut.

Each stands in its message word for word. What a sentence does is told by cues, phrases of
`words.toml`: it is met by the cues of every language written in its script, since people change
languages within a conversation; other languages have none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from vaultmind.index.words import BY_LANGUAGE, detect, fold, stems, words
from vaultmind.language.text import MARK
from vaultmind.tables import table
from vaultmind.tokens import clip, count
from vaultmind.types import Message

LANGUAGES = ("en", "pl", "ru")
"""Languages that have cues and headings."""
CONTEXT_LANGUAGES = (*LANGUAGES, "de", "es", "fr")
CAPITAL_NOUNS, OTHER_CYRILLIC = frozenset({"de"}), frozenset({"uk", "be", "bg", "sr"})
"""Languages that write every noun with a capital letter; and with Cyrillic letters, but Russian."""
SAME = 0.85
"""Two sentences with so large a share of their content words in common say the same."""
MIN_CONTENT, ENOUGH_CONTENT = 2, 6
"""Content words without which a sentence says nothing by itself, and with which it says much."""
SAMPLE_MESSAGES, SAMPLE_CHARACTERS = 8, 150
"""By which the conversation's language is told: of its newest messages."""
SMALL_TALK_WORDS = 9
"""A sentence of small words for the most part is small talk up to so many words."""

Kind = Literal["decision", "fact", "question", "other"]
KINDS: tuple[Kind, ...] = ("decision", "fact", "question", "other")
"""Kinds of sentences in the order in which they are shown. A question is one left open."""

_CLAUSE = re.compile(r"[,;:—–]\s+|\s[-(]\s?")
NUMBER = re.compile(r"(?<![^\W_])[^\W\d_]{0,5}[-–]?\d[\d.,:/ \u00a0-]*|[$€£%№]")
_NAME = re.compile(r"(?<=[^.!?…:\n\s\"„«“'(*_])[\"„«“'(*_ ]+([^\W\d_][\w'’-]+)")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_I = re.compile(r"(?:i['’](?:m|ll|ve|d)|ok)$", re.IGNORECASE)
_ASKS = re.compile(r"[?？][\"'»”’)\]*_\s]{0,20}[\U0001f300-\U0001faff\ufe0f\s]{0,20}$")


# --- words --------------------------------------------------------------------------------


@cache
def context_words(language: str) -> dict[str, str]:
    """Return what stands above and beside the parts of a context; English for other languages."""
    at = CONTEXT_LANGUAGES.index(language) if language in CONTEXT_LANGUAGES else 0
    rows = ((name, row) for name, row in table(__file__).items() if isinstance(row, list))
    return {name: row[at] if at < len(row) else row[0] for name, row in rows}


@cache
def small_words() -> frozenset[str]:
    """Return the words of all languages that say nothing in a conversation."""
    return frozenset(word for text in table(__file__)["small"].values() for word in words(text))


@lru_cache(maxsize=8192)
def said(folded: str, cue: str) -> bool:
    """Tell whether folded words, joined by spaces, hold a cue."""
    return bool(_pattern(cue, cyrillic=bool(_CYRILLIC.search(folded))).search(folded))


@cache
def _pattern(cue: str, *, cyrillic: bool) -> re.Pattern[str]:
    codes = ("ru",) if cyrillic else ("en", "pl")
    listed = (one for code in codes for one in table(__file__)["cues"][code][cue].split("|"))
    return re.compile(rf"(?<![^ ])(?:{'|'.join(map(_phrase, listed))})(?![^ ])")


def _phrase(phrase: str) -> str:
    """Return the pattern of a phrase, folded as sentences are: `*` is any ending, `^` the start."""
    phrase = phrase.strip()
    pieces = (
        r"\w*".join(re.escape(" ".join(words(part))) for part in word.split("*"))
        for word in phrase.removeprefix("^").split()
    )
    return ("^" if phrase.startswith("^") else "") + " ".join(pieces)


def language_of(messages: Sequence[Message]) -> str:
    """Return the language of a conversation: of what the user said last, else the assistant."""
    users = [one for one in messages if one.role == "user"] or messages
    return detect("\n".join(one.text[:SAMPLE_CHARACTERS] for one in users[-SAMPLE_MESSAGES:]), "en")


# --- cutting ------------------------------------------------------------------------------


def shortened(text: str, max_tokens: int) -> str:
    """Return a sentence, or the piece of it that weighs most, marked where it was cut.

    A piece starts where the sentence or a clause does, and weighs what it tells.
    """
    if count(text) <= max_tokens:
        return text
    body, starts = unmarked(text), (0, *(match.end() for match in _CLAUSE.finditer(unmarked(text))))
    pieces = {at: clip(body[at:], max(2, max_tokens - 2), mark="") for at in starts}
    start = max(pieces, key=lambda at: _telling(pieces[at]) - 0.5 * bool(at))
    piece, is_end = pieces[start], body[start:] == pieces[start]
    if not any(map(str.isalnum, piece)):
        return clip(text, max_tokens)
    before = f"{MARK} " if start or text.startswith(f"{MARK} ") else ""
    after = "" if is_end and not text.endswith(f" {MARK}") else f" {MARK}"
    return before + piece.strip() + after


def unmarked(text: str) -> str:
    """Return a sentence without the marks of where it was cut."""
    body = text.removeprefix(f"{MARK} ")
    return body.removesuffix(f" {MARK}") if len(body) > 1 else body


# --- reading ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with what can be told of it alone."""

    text: str
    folded: str
    """Its words, folded, joined by spaces."""
    stems: tuple[str, ...]
    """Of its content words, in order."""
    numbers: tuple[str, ...]
    names: tuple[str, ...]
    asks: bool
    is_open: bool
    """Whether it says in words that something is not decided or not known."""
    decides: bool
    """Whether it states a decision: no question, and not that there is none."""

    @property
    def puts_off(self) -> bool:
        """Tell whether it is no answer to a question that was asked before it."""
        return self.is_open or said(self.folded, "deferral")

    @property
    def is_small_talk(self) -> bool:
        """Tell whether nobody would miss it: what only points, too ("That is still open.")."""
        if self.numbers or self.decides:
            return False
        if self.is_open:
            return not self.asks and len(self.stems) <= MIN_CONTENT
        spoken = self.folded.split(" ")
        small = sum(word in small_words() for word in spoken)
        short = len(spoken) <= SMALL_TALK_WORDS and len(self.stems) < ENOUGH_CONTENT
        return len(self.stems) < MIN_CONTENT or (short and 2 * small >= len(spoken))

    @property
    def kind(self) -> Kind:
        """Return which list of a summary it belongs to."""
        if self.decides:
            return "decision"
        if self.asks or self.is_open:
            return "question"
        return "fact" if self.numbers or self.names or said(self.folded, "date") else "other"


@lru_cache(maxsize=2048)
def read(text: str, language: str) -> Sentence:
    """Return a sentence with its words, numbers and names."""
    spoken, asks = words(text), bool(_ASKS.search(text))
    own = "ru" if _CYRILLIC.search(text) and language not in OTHER_CYRILLIC else language
    stop, folded = BY_LANGUAGE.get(own, frozenset()) | BY_LANGUAGE["en"], " ".join(spoken)
    telling = (one for one in spoken if len(one) > 1 or one.isdigit() or not one.isascii())
    content = tuple(stems(one, own)[0] for one in telling if one not in stop)
    numbers = tuple(filter(None, (found.strip(" .,:-") for found in NUMBER.findall(text))))
    is_open = said(folded, "undecided")
    says = len(content) >= MIN_CONTENT or bool(numbers)
    decides = says and not asks and not is_open and said(folded, "decision")
    names = () if language in CAPITAL_NOUNS else names_in(text)
    return Sentence(text, folded, content, numbers, names, asks, is_open, decides)


def names_in(text: str) -> tuple[str, ...]:
    """Return the words that start with a capital letter and no sentence."""
    found = (match[1] for match in _NAME.finditer(text))
    return tuple(one for one in found if one[0].isupper() and not _I.match(one))


def same(one: Sentence, other: Sentence) -> bool:
    """Tell whether two sentences say the same: nearly the same words, and the same numbers."""
    left, right = set(one.stems), set(other.stems)
    if not left or not right or set(one.numbers) != set(other.numbers):
        return fold(one.text) == fold(other.text)
    less, more = sorted((len(left), len(right)))
    return len(left & right) >= SAME * less and less * 2 >= more


def _telling(text: str) -> float:
    """Return how much of what must stay a piece of a sentence holds: numbers first, names, cues."""
    folded = " ".join(words(text))
    cues = 2.0 * said(folded, "decision") + said(folded, "date")
    return 2.0 * len(NUMBER.findall(text)) + len(names_in(text)) + cues
