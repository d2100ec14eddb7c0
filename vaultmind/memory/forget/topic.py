"""Which facts a topic means, for a person to look at before any is forgotten. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.memory.forget.wanted import Wanted
from vaultmind.memory.match import find, mentions
from vaultmind.types import Fact


@dataclass(frozen=True, slots=True)
class About:
    """Positions of facts."""

    sure: tuple[int, ...]
    """They hold all the words that the topic is about, in any form."""
    perhaps: tuple[int, ...] = ()
    """The nearest otherwise."""


def about(facts: Sequence[Fact], topic: str) -> About:
    """Return the facts that are about a topic; several may be, unlike with `match.find`."""
    words = Wanted([topic])
    sure = [
        i for i, fact in enumerate(facts) if mentions(fact.text, topic) or words.says(fact.text)
    ]
    match = find(facts, topic)
    sure = sorted({*sure, *match.found})
    return About(tuple(sure), tuple(i for i in match.nearest if i not in sure))
