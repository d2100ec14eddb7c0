"""Asking a model to sum lines up: window by window, and what comes of it again, until it is short.

Each sentence keeps the keys of the lines that it comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from vaultmind.consolidate.model.room import ask, few_enough, room_of
from vaultmind.consolidate.model.transcript import Line, shares, text_of
from vaultmind.minion import prompts
from vaultmind.ports import Generator

SENTENCE_CHARACTERS = 300
MOST_SENTENCES = 5
MOST_SOURCES = 6
"""Lines that a sentence names."""


@dataclass(frozen=True, slots=True)
class Summed:
    """A sentence of a model about some lines."""

    text: str
    keys: tuple[str, ...]
    """Of the lines that it names, as far as there are such."""


def summed_up(generator: Generator, lines: Sequence[Line], language: str) -> list[Summed]:
    """Return at most `MOST_SENTENCES` sentences about some lines; raises MinionFailed.

    A model that makes nothing shorter is not asked for ever: the last sentences may be more.
    """
    current = _once(generator, lines, language)
    while len(current) > MOST_SENTENCES:
        notes = [Line(at, "", "", one.text) for at, one in enumerate(current, 1)]
        shorter = _again(generator, notes, current, language)
        if len(shorter) >= len(current):
            break
        current = shorter
    return current


def condensed(generator: Generator, sentences: Iterable[str], language: str) -> list[str]:
    """Return the sentences of several summaries as those of one; raises MinionFailed."""
    texts = [one for one in dict.fromkeys(sentences) if one.strip()]
    if len(texts) <= MOST_SENTENCES:
        return texts
    lines = [Line(at, "", "", one) for at, one in enumerate(texts, 1)]
    return [one.text for one in summed_up(generator, lines, language)]


def _once(generator: Generator, lines: Sequence[Line], language: str) -> list[Summed]:
    """Return what a model says of each window of lines."""
    words = prompts.load("summary", language)
    room = room_of(generator, words.filled(transcript=""))
    parts = shares(lines, room.tokens, generator.count)
    few_enough(len(parts), generator)
    found: list[Summed] = []
    for window, there in parts:
        text = words.filled(transcript=text_of(window))
        value = ask(generator, text, _SCHEMA, room.answer, language=words.language)
        keys = {line.number: line.key for line in there}
        found += [
            Summed(one["text"], tuple(dict.fromkeys(keys[n] for n in one["from"] if n in keys)))
            for one in value["sentences"]
        ]
    return found


def _again(
    generator: Generator, notes: Sequence[Line], said: Sequence[Summed], language: str
) -> list[Summed]:
    """Return what a model makes of its own sentences, with the keys of what they were about."""
    numbered = [Line(one.number, str(one.number), "", one.text) for one in notes]
    return [
        Summed(
            one.text,
            tuple(dict.fromkeys(key for at in one.keys for key in said[int(at) - 1].keys)),
        )
        for one in _once(generator, numbered, language)
    ]


_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "sentences": {
            "type": "array",
            "maxItems": MOST_SENTENCES,
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string", "maxLength": SENTENCE_CHARACTERS},
                    "from": {
                        "type": "array",
                        "items": {"type": "integer"},
                        "maxItems": MOST_SOURCES,
                    },
                },
                "required": ["text", "from"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["sentences"],
    "additionalProperties": False,
}
