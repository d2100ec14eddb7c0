"""A second opinion on contradictions: what the rules see, and what a model sees, of a known fact.

Where the two agree, or the model is silent, the rules decide. Where they differ, the person does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from vaultmind.consolidate.model.asking import numbered
from vaultmind.consolidate.model.room import ask, room_of
from vaultmind.consolidate.types import Candidate
from vaultmind.memory.match import same_fact
from vaultmind.minion import prompts
from vaultmind.ports import Generator
from vaultmind.types import Fact

NONE = -1
"""No fact of the brain."""
BOTH_HOLD = "the rules see a contradiction with it, a model does not"
NOT_SEEN = "a model sees a contradiction with it, the rules do not"
ANOTHER = "a model takes it for another fact's successor: {fact}"
_TOKENS_A_STATEMENT = 40


def contested(
    facts: Sequence[Candidate], claims: Mapping[str, int], brain: Sequence[Fact]
) -> tuple[int, ...]:
    """Return the positions of facts on which rules and model differ so far.

    `claims`: by the words of a fact the position of the known one that it replaces for the model.
    What the person asked to have corrected is no matter of opinion.
    """
    return tuple(
        at
        for at, fact in enumerate(facts)
        if fact.category != "DELETE"
        and not (fact.asked and fact.category == "UPDATE")
        and _by_rules(fact, brain) != claims.get(fact.text, NONE)
    )


def opinions(
    generator: Generator, statements: Sequence[str], brain: Sequence[str], language: str
) -> tuple[int, ...]:
    """Return for each statement the position of the known fact that it ends; NONE for none.

    It is asked once. Raises MinionFailed where the answer names no fact of the brain.
    """
    words = prompts.load("opinion", language)
    text = words.filled(
        brain=numbered(brain, words.language), statements=numbered(statements, words.language)
    )
    room_of(generator, text)
    most = len(statements) * _TOKENS_A_STATEMENT

    def check(value: Mapping[str, Any]) -> Sequence[str]:
        named = [one["statement"] for one in value["answers"]]
        if sorted(named) != list(range(1, len(statements) + 1)):
            return (f'"answers" must hold each statement from 1 to {len(statements)} once',)
        if any(not 0 <= one["fact"] <= len(brain) for one in value["answers"]):
            return (f'"fact" must be a number from 0 to {len(brain)}',)
        return ()

    value = ask(generator, text, _schema(len(statements)), most, check, language=words.language)
    found = {one["statement"]: one["fact"] - 1 for one in value["answers"]}
    return tuple(found[number] for number in range(1, len(statements) + 1))


def decided(fact: Candidate, claim: int, opinion: int, brain: Sequence[Fact]) -> Candidate:
    """Return a contested fact as it stands after the second opinion.

    `claim` is what the model said of it at first, `opinion` what it said when asked again.
    """
    rules = _by_rules(fact, brain)
    if opinion == rules or (rules == NONE and opinion != claim):
        return fact
    if rules != NONE:
        why = BOTH_HOLD if opinion == NONE else ANOTHER.format(fact=brain[opinion].text)
        return replace(fact, doubt=fact.doubt or why)
    old = brain[opinion]
    return replace(
        fact,
        category="UPDATE",
        replaces=old.text,
        block=old.block,
        section=old.section or fact.section,
        doubt=fact.doubt or NOT_SEEN,
    )


def _by_rules(fact: Candidate, brain: Sequence[Fact]) -> int:
    """Return the position of the known fact whose place one takes by the rules."""
    if fact.category != "UPDATE":
        return NONE
    for at, known in enumerate(brain):
        if (fact.block and known.block == fact.block) or same_fact(known.text, fact.replaces):
            return at
    return NONE


def _schema(statements: int) -> dict[str, Any]:
    answer = {
        "type": "object",
        "properties": {"statement": {"type": "integer"}, "fact": {"type": "integer"}},
        "required": ["statement", "fact"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "answers": {
                "type": "array",
                "items": answer,
                "minItems": statements,
                "maxItems": statements,
            }
        },
        "required": ["answers"],
        "additionalProperties": False,
    }
