"""Facts and time: the day that a fact is from, and which of two that exclude each other holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vaultmind.memory.brain import PROVENANCE
from vaultmind.memory.contradictions import contradicts
from vaultmind.types import Fact

SAID = "said"
"""Stands before the day that a fact is from, which could be taken for a part of it."""
OUTDATED = "a newer fact says otherwise"
"""Why a fact is not told."""
MOST = 100
"""Facts that are compared with each other."""

_TOLD = re.compile(rf"(?m)^[ \t]*[-*+] (.+) \({SAID} (\d{{4}}-\d\d-\d\d)\)$")


def with_days(text: str) -> str:
    """Return a brain's text with the day that each fact is from in the place of its provenance."""
    return PROVENANCE.sub(_days, text)


def _days(match: re.Match[str]) -> str:
    parts = [(SAID, match["date"]), ("until", match["until"])]
    return f"({', '.join(f'{word} {day}' for word, day in parts if day)})"


def told(fact: Fact) -> str:
    """Return a fact with the day that it is from; one that a person typed has none."""
    return f"{fact.text} ({SAID} {fact.written})" if fact.written else fact.text


def facts_told(text: str) -> list[tuple[str, str]]:
    """Return the facts that a shown brain tells with their day, and that day."""
    return _TOLD.findall(text)


def superseded(facts: Sequence[tuple[str, str]]) -> frozenset[int]:
    """Return which of some facts, each with its day, a newer one of them contradicts.

    Of one day the later in the list is newer. What has no day is neither newer nor older, and of
    very many the newest are compared.
    """
    dated = sorted((day, at) for at, (_, day) in enumerate(facts) if day)[-MOST:]
    return frozenset(
        at
        for place, (_, at) in enumerate(dated)
        for _, newer in dated[place + 1 :]
        if contradicts(facts[newer][0], facts[at][0])
    )
