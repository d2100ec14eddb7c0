"""From a conversation to the changes of memory that it asks for: read, find, ground, merge.

Pure: messages and facts in, facts and reasons out. Whoever finds the facts (the built-in rules,
a model, the agent itself), grounding and merging are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, time

from vaultmind.consolidate.facts import extractive
from vaultmind.consolidate.facts.ground import ground
from vaultmind.consolidate.facts.merge import merge
from vaultmind.consolidate.facts.talk import Talk, Understand, read_talk
from vaultmind.consolidate.facts.types import Candidate, Extraction
from vaultmind.index.when import with_dates
from vaultmind.index.words.clauses import facts_in
from vaultmind.ports import Embedder
from vaultmind.types import Fact, Message

MAX_FACTS = 8


def extract(
    messages: Sequence[Message],
    brain: Sequence[Fact] = (),
    *,
    max_facts: int = MAX_FACTS,
    embedder: Embedder | None = None,
    understand: Understand | None = None,
) -> Extraction:
    """Return what a conversation leaves behind, found by the built-in rules.

    Give only messages that may be recalled: what was forgotten is left out by the caller.
    """
    talk = read_talk(messages, understand, embedder)
    found, dropped = extractive.extract(talk, embedder)
    kept = settle(found, talk, brain, max_facts)
    return Extraction(kept.facts, (*dropped, *kept.dropped))


def settle(
    found: Iterable[Candidate],
    talk: Talk,
    brain: Sequence[Fact] = (),
    max_facts: int = MAX_FACTS,
) -> Extraction:
    """Return which facts, found by whomever, the talk says and the brain does not know yet."""
    single = [replace(one, text=text) for one in found for text in _told_singly(one)]
    checked = [(one, ground(one, talk)) for one in single]
    wrong = [why for _, why in checked if why is not None]
    said = [_dated(one, talk) for one, why in checked if why is None]
    facts, dropped = merge(said, brain, max_facts)
    return Extraction(tuple(facts), (*wrong, *dropped))


def _told_singly(one: Candidate) -> tuple[str, ...]:
    if one.category == "DELETE":
        return (one.text,)
    first, *others = facts_in(one.text)
    return (first, *(other[:1].upper() + other[1:] for other in others))


def _dated(one: Candidate, talk: Talk) -> Candidate:
    """Return a fact with its dates as seen from the last day on which it was said."""
    days = [talk.days[key] for key in one.evidence if key in talk.days]
    if not days or one.category == "DELETE":
        return one
    return replace(one, text=with_dates(one.text, datetime.combine(max(days), time())))
