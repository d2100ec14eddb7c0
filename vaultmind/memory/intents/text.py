"""A message made ready for the rules: folded, with what is not the person's own words masked.

Folding takes case and diacritics away ("Zapamiętaj" → "zapamietaj", "ё" → "е") and keeps for
each letter where it stood, so that a span of the folded text is a span of the message.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from vaultmind.redact import private_spans

MASK = "\ue000"
"""Stands for a letter that no rule may read: code, quotes, recalled text."""
MAX_LETTERS = 4000
"""A longer message is a paste: only its beginning is read."""

_LETTERS = {"ł": "l", "ø": "o", "đ": "d", "ß": "ss", "œ": "oe", "æ": "ae", "ı": "i"} | {
    "’": "'", "ʼ": "'", "‘": "'", "`": "'", "–": "-", "—": "-", "−": "-", "\u00a0": " ", "…": "."
}  # fmt: skip
_RECALLED = re.compile(r"<<recalled (?P<mark>\w+)[^\n]*>>.*?(?:<<end (?P=mark)>>|\Z)", re.DOTALL)
_MASKED = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]+`"
    r"|<(?P<tag>[a-zA-Z][\w-]*)\b[^<>\n]*>.*?</(?P=tag)>"
    r"|^[ \t]*>[^\n]*$"
    r"|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^”“\"\n]{1,400}[”“\"]|«[^»\n]{1,400}»|»[^«\n]{1,400}«"
    r"|(?<!\w)['‘](?=\S)[^'’\n]{2,400}['’](?!\w)|(?<!\w)‚[^‘’\n]{1,400}[‘’]"
    r"|https?://\S+",
    re.DOTALL | re.MULTILINE,
)
_END = re.compile(
    r"(?:(?<![.!?])[.!?]+[\"')\]]*(?=\s|$)|(?<![!?])[!?]+(?=[^\W\d_]))\s*|(?<!\s)\s*\n\s*"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(.])(?:[^\W\d_]|dr|mr|mrs|ms|st|no|vs|etc|approx|e\.g|i\.e|np|ul|tel|godz|nr|m\.in|"
    r"prof|inz|ok|tzw|tzn|им|ул|тел|руб|т\.д|т\.п|z\.b|bzw|ca|usw|sra|sr|mme)\.$"
)
_ORDINAL = re.compile(r"\s\d{1,2}\.$")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text for the rules. `origin[i]` is where its letter `i` stood, and one for the end."""

    text: str
    origin: tuple[int, ...] | range

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the message of a span of the folded text."""
        if end <= start:
            return self.origin[start], self.origin[start]
        return self.origin[start], self.origin[end - 1] + 1


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the folded text: its span, and whether it asks."""

    start: int
    end: int
    question: bool


@lru_cache(maxsize=4096)
def _fold_letter(letter: str) -> str:
    lower = letter.lower()
    if lower in _LETTERS:
        return _LETTERS[lower]
    kept = "".join(c for c in unicodedata.normalize("NFD", lower) if not unicodedata.combining(c))
    return _LETTERS.get(kept, kept)


def fold_word(text: str) -> str:
    """Return a text of the phrase files as the rules see it."""
    return "".join(map(_fold_letter, text))


def fold(text: str) -> Folded:
    """Return the message folded, its foreign parts masked."""
    text = mask(text[:MAX_LETTERS])
    if text.isascii():
        return Folded(text.lower().replace("`", "'"), range(len(text) + 1))
    letters: list[str] = []
    origin: list[int] = []
    for place, letter in enumerate(text):
        folded = _fold_letter(letter)
        letters.append(folded)
        origin.extend([place] * len(folded))
    return Folded("".join(letters), (*origin, len(text)))


def mask(text: str) -> str:
    """Return the text, as long as before, with code, quotes and recalled text made unreadable.

    And private passages: nobody asks for anything there.
    """
    for start, stop in private_spans(text):
        text = text[:start] + MASK * (stop - start) + text[stop:]
    if "<<recalled " in text:
        text = _RECALLED.sub(_veil, text)
    return _MASKED.sub(_veil, text)


def _veil(match: re.Match[str]) -> str:
    return MASK * len(match.group())


def sentences(folded: str) -> list[Sentence]:
    """Return the sentences of a folded text; a line's end always ends one."""
    found: list[Sentence] = []
    start = 0
    for match in _END.finditer(folded):
        mark = match.group()
        whole = folded[start : match.start() + 1]
        if mark.startswith(".") and "\n" not in mark and _goes_on(whole, folded, match.end()):
            continue
        if folded[start : match.start()].strip():
            found.append(Sentence(start, match.start(), "?" in mark))
        start = match.end()
    if folded[start:].strip():
        found.append(Sentence(start, len(folded.rstrip()), False))
    return found


def _goes_on(whole: str, folded: str, after: int) -> bool:
    """Return whether the full stop belongs to an abbreviation, or to "3." before a month."""
    if after >= len(folded) or whole.endswith(".."):
        return False
    number = _ORDINAL.search(whole)
    return bool(_ABBREVIATION.search(whole) or number)
