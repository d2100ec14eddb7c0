"""Facts nearest in meaning to what a person said, where its words lead to none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from vaultmind.memory.brain import parse_brain
from vaultmind.memory.match import NEAREST, Match, asked_about, find
from vaultmind.redact import mask
from vaultmind.types import Caller, Fact, Hit, Outcome

SURE = 0.45
"""Score from which a fact answers a question by its meaning; below it is only the closest."""

_ME = "me myself mnie mną mi mój moja moje moim mego меня мне мной моя mich mir mí moi"
ME = frozenset(_ME.split())
"""Words of a recall that mean everything about the person."""
Near = Callable[[str, str, Caller], Sequence[Hit]]
"""Finds facts of an agent by the meaning of some words, as a caller may see them, best first."""


def nowhere(agent: str, words: str, caller: Caller) -> Sequence[Hit]:
    """Find nothing: where there is no search."""
    return ()


def known_about(
    facts: Sequence[Fact], words: str, near: Callable[[], Sequence[Hit]]
) -> tuple[tuple[Fact, ...], tuple[str, ...]]:
    """Return the facts that some words are about, and the names of what to say before them.

    Those that hold the words; else those that mean the same; else the closest, as no more. For no
    words, and for those that mean the person, all.
    """
    words = words.strip(" ?!.").lower()
    if not words or words in ME:
        return tuple(facts), ("known",) if facts else ("nothing_known",)
    held = tuple(facts[at] for at in asked_about(facts, words))
    if held or not facts:
        return held, ("known",) if held else ("nothing_known",)
    found = [(hit.score, fact) for hit in near() if (fact := _of(facts, hit)) is not None]
    sure = tuple(fact for score, fact in found if score >= SURE)
    if sure:
        return sure, ("known",)
    closest = tuple(fact for _, fact in found[:NEAREST])
    return closest, ("nothing_known", "nearest") if closest else ("nothing_known",)


def is_unknown(outcome: Outcome) -> bool:
    """Tell whether a request found no fact that it means."""
    return outcome.outcome == "not_found" and not outcome.fact


def offered(outcome: Outcome, hits: Sequence[Hit]) -> Outcome:
    """Return an outcome with facts to choose from: nearest by their words, then by meaning."""
    choices = dict.fromkeys((*outcome.nearest, *(hit.text for hit in hits)))
    return replace(outcome, nearest=tuple(choices)[:NEAREST])


def nearest_to(brain: str, words: str) -> tuple[str, ...]:
    """Return the facts of a brain that hold some words, as they may be told."""
    facts = parse_brain(brain).all()
    match = find(facts, words) if words else Match()
    near = (facts[at] for at in (*match.found, *match.nearest)[:NEAREST])
    return tuple(mask(fact.text).text for fact in near)


def name_of(fact: Fact) -> str:
    """Return what names one fact for certain: its block id, else its words."""
    return f"^{fact.block}" if fact.block else fact.text


def _of(facts: Sequence[Fact], hit: Hit) -> Fact | None:
    """Return the fact that a hit is."""
    named = (fact for fact in facts if fact.block and hit.anchor == f"#^{fact.block}")
    same = (fact for fact in facts if fact.text == hit.text)
    return next(named, None) or next(same, None)
