"""Questions made of the vault itself, which any ranker should answer: pure.

A note is asked for by its title, by a heading, by words of a sentence; what is memory by words of a
sentence. They are asked in the vault's own languages, since its texts say them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Literal

from vaultmind.types import Chunk

Ask = Literal["title", "heading", "words"]
LEAST_LETTERS, MOST_WORDS, LEAST_WORDS = 4, 6, 3
"""Of a word that is asked with; of words in a question."""
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
    """Yield a question for each chunk that has words enough, the ways to ask by turns."""
    ways: Iterator[tuple[Ask, ...]] = cycle(
        (("title", "words"), ("heading", "title", "words"), ("words",))
    )
    for chunk, asks in zip(chunks, ways, strict=False):
        for ask in asks if chunk.kind == "note" else ("words",):
            if query := _query(chunk, ask):
                yield SelfMade(ask, query, chunk.path)
                break


def _query(chunk: Chunk, ask: Ask) -> str:
    title, *headings = chunk.title.split(_TITLE_END)
    if ask == "title":
        return title if len(title) >= LEAST_LETTERS else ""
    if ask == "heading":
        return " ".join((title, *headings)) if headings else ""
    told = [_telling(one) for one in _SENTENCE.findall(chunk.text)]
    best = max(told, key=len, default=[])
    return " ".join(best[:MOST_WORDS]) if len(best) >= LEAST_WORDS else ""


def _telling(sentence: str) -> list[str]:
    found = (word for word in _WORD.findall(sentence) if len(word) >= LEAST_LETTERS)
    return list(dict.fromkeys(found))
