"""One question to a model about a whole conversation: its facts and its summary.

A conversation that does not fit the window is asked about piece by piece; what it is said to be
about is put together again by the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vaultmind.consolidate.model.room import ask, few_enough, room_of
from vaultmind.consolidate.model.summing import MOST_SENTENCES, SENTENCE_CHARACTERS, condensed
from vaultmind.consolidate.model.transcript import Line, shares, text_of
from vaultmind.consolidate.types import CATEGORIES, Category
from vaultmind.minion import prompts
from vaultmind.ports import Generator

FACT_CHARACTERS = 200
MOST_EVIDENCE = 4
NOTHING = {"en": "(nothing)", "pl": "(nic)", "ru": "(ничего)"}


@dataclass(frozen=True, slots=True)
class Named:
    """A fact as a model names it: nothing of it has been looked at yet."""

    category: Category
    text: str
    numbers: tuple[int, ...]
    """Of the lines that are to say it."""
    replaces: int
    """The number of a fact that is known; 0: none."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model makes of a conversation."""

    facts: tuple[Named, ...]
    sentences: tuple[str, ...]


def facts_schema(max_facts: int) -> dict[str, Any]:
    """Return what an answer about a conversation has to look like."""
    fact = {
        "type": "object",
        "properties": {
            "category": {"enum": list(CATEGORIES)},
            "fact": {"type": "string", "maxLength": FACT_CHARACTERS},
            "evidence": {
                "type": "array",
                "items": {"type": "integer"},
                "minItems": 1,
                "maxItems": MOST_EVIDENCE,
            },
            "replaces": {"type": "integer"},
        },
        "required": ["category", "fact", "evidence", "replaces"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "facts": {"type": "array", "items": fact, "maxItems": max(1, max_facts)},
            "summary": {
                "type": "array",
                "items": {"type": "string", "maxLength": SENTENCE_CHARACTERS},
                "maxItems": MOST_SENTENCES,
            },
        },
        "required": ["facts", "summary"],
        "additionalProperties": False,
    }


def ask_about(
    generator: Generator, lines: Sequence[Line], known: Sequence[str], language: str, max_facts: int
) -> Answer:
    """Return what a model makes of a conversation; raises MinionFailed.

    `known` are the facts of the memory, in the order of their numbers.
    """
    words = prompts.load("extraction", language)
    fixed = {"brain": numbered(known, words.language), "facts": str(max_facts)}
    room = room_of(generator, words.filled(transcript="", **fixed))
    parts = shares(lines, room.tokens, generator.count)
    few_enough(len(parts), generator)
    schema = facts_schema(max_facts)
    facts: list[Named] = []
    sentences: list[str] = []
    for window, there in parts:
        text = words.filled(transcript=text_of(window), **fixed)
        allowed = frozenset(line.number for line in there)
        value = ask(generator, text, schema, room.answer, _Check(allowed), language=words.language)
        facts += [_named(one, allowed) for one in value["facts"]]
        sentences += value["summary"]
    if len(parts) > 1:
        sentences = condensed(generator, sentences, language)
    return Answer(tuple(facts), tuple(sentences))


def numbered(facts: Sequence[str], language: str) -> str:
    """Return facts as a model is shown them, one numbered line each."""
    if not facts:
        return NOTHING.get(language, NOTHING["en"])
    return "\n".join(f"{number}. {fact}" for number, fact in enumerate(facts, 1))


class _Check:
    """Tells whether an answer names lines that there are; of a few that are not, nothing is said.

    Those facts are left out later; where most are wrong, the model has not understood.
    """

    def __init__(self, allowed: frozenset[int]) -> None:
        self._allowed = allowed

    def __call__(self, value: Mapping[str, Any]) -> Sequence[str]:
        facts = value["facts"]
        wrong = [one for one in facts if not self._allowed.intersection(one["evidence"])]
        if not facts or 2 * len(wrong) <= len(facts):
            return ()
        return (
            f'"evidence" must hold numbers of messages, from {min(self._allowed)} to '
            f"{max(self._allowed)}",
        )


def _named(one: Mapping[str, Any], allowed: frozenset[int]) -> Named:
    numbers = tuple(dict.fromkeys(number for number in one["evidence"] if number in allowed))
    return Named(one["category"], str(one["fact"]), numbers, int(one["replaces"]))
