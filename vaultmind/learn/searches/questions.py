"""Questions made of the vault itself, as anybody might ask them: pure.

A note is asked for by its title, by a heading, by a sentence of it, or by some words of one; what
is memory by its sentences and words: in the vault's own languages, since its texts say them.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Literal

from vaultmind.types import Chunk

Ask = Literal["title", "heading", "sentence", "words", "two"]
NOTES: tuple[Ask, ...] = ("sentence", "title", "words", "sentence", "heading", "two")
MEMORY: tuple[Ask, ...] = ("sentence", "words", "two")
"""The ways to ask, by turns."""
LEAST_LETTERS, MOST_WORDS, LEAST_WORDS = 4, 6, 3
"""Of a word that tells something; of such words in a question and in a sentence."""
LONGEST = 200
"""Characters of a sentence."""
_WORD = re.compile(r"[^\W\d_]+")
_SENTENCE = re.compile(r"[^.!?…\n]+")
_TITLE_END = " › "


@dataclass(frozen=True, slots=True)
class SelfMade:
    """A question whose answer is known."""

    ask: Ask
    query: str
    path: str
    """Where the answer stands."""


def questions_of(chunks: Sequence[Chunk]) -> Iterator[SelfMade]:
    """Yield a question for each chunk that has words enough, in each way by turns."""
    for_notes, for_memory = cycle(NOTES), cycle(MEMORY)
    for chunk in chunks:
        ask = next(for_notes if chunk.kind == "note" else for_memory)
        query = _query(chunk, ask) or _query(chunk, "words")
        if query:
            yield SelfMade(ask, query, chunk.path)


def _query(chunk: Chunk, ask: Ask) -> str:
    title, *headings = chunk.title.split(_TITLE_END)
    if ask == "title":
        return title if len(title) >= LEAST_LETTERS else ""
    if ask == "heading":
        return " ".join((title, *headings)) if headings else ""
    sentences = [one.group().strip() for one in _SENTENCE.finditer(chunk.text)]
    told = [one for one in sentences if len(_telling(one)) >= LEAST_WORDS and len(one) <= LONGEST]
    if not told:
        return ""
    chance = zlib.crc32(chunk.id.encode())
    sentence = told[chance % len(told)]
    words = _telling(sentence)
    if ask == "sentence":
        return sentence
    if ask == "words":
        return " ".join(words[:MOST_WORDS])
    at = chance % (len(words) - 1)
    return " ".join(words[at : at + 2])


def _telling(sentence: str) -> list[str]:
    found = (word for word in _WORD.findall(sentence) if len(word) >= LEAST_LETTERS)
    return list(dict.fromkeys(found))
