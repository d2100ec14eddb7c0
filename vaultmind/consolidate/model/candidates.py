"""From what a model names to facts: numbers become messages, kinds are set right, doubts are told.

Nothing is believed here: each of these facts still has to be grounded in what was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from vaultmind.consolidate.facts.linear import probabilities
from vaultmind.consolidate.facts.statement import statement
from vaultmind.consolidate.facts.taken import Found, settled
from vaultmind.consolidate.facts.talk import Said, Talk
from vaultmind.consolidate.model.asking import Named
from vaultmind.consolidate.types import SECTION_OF, Candidate, Category, Dropped
from vaultmind.memory.contradictions.alike import covers
from vaultmind.memory.match import same_fact
from vaultmind.memory.words import SOFT, content
from vaultmind.ports import Embedder
from vaultmind.types import Fact

ASKED = 5.0
WEIGHT: dict[Category, float] = {
    "CORE": 4.0,
    "PREFERENCE": 3.5,
    "DECISION": 3.0,
    "PROJECT": 2.5,
    "UPDATE": 5.0,
}
"""The same importance as that of facts which rules find."""
REPEATED = 0.5
PASSING = 0.9
"""Where the rules are so sure that nothing of it will matter, a model's word does not count."""
_ABOUT = re.compile(
    r"\s{0,20}(?:(?:the )?user|użytkowni(?:k|czka)|пользовател(?:ь|ьница))\b[,:]?(?!['’])\s+",
    re.IGNORECASE,
)
"""Whom every fact is about need not be said in each."""


@dataclass(frozen=True, slots=True)
class Claims:
    """The facts of a model, and which known fact each is to take the place of."""

    facts: tuple[Candidate, ...]
    dropped: tuple[Dropped, ...]
    replaces: Mapping[str, int]
    """By the words of a fact: the position of the known fact; what names none is not in it."""


def claims_of(
    named: Iterable[Named],
    keys: Mapping[int, str],
    brain: Sequence[Fact],
    talk: Talk,
    embedder: Embedder | None = None,
) -> Claims:
    """Return what a model names as facts; what was taken back in the talk is left out.

    `keys`: those of the messages by their numbers; `brain`: the facts by theirs.
    """
    found: list[Found] = []
    dropped: list[Dropped] = []
    rest: list[Candidate] = []
    replaces: dict[str, int] = {}
    for one in named:
        candidate = _candidate(one, keys, talk)
        if not candidate.text:
            continue
        said = _nearest(candidate.text, candidate.evidence, talk)
        if one.category in ("SKIP", "DELETE") or (said and _is_passing(candidate, said, embedder)):
            dropped.append(Dropped(candidate.text, "passing", candidate.evidence, one.category))
            continue
        if 0 < one.replaces <= len(brain) and one.category == "UPDATE":
            replaces[candidate.text] = one.replaces - 1
        if said is not None and said.role == "user":
            found.append(Found(candidate, said))
        else:
            rest.append(candidate)
    kept, gone = settled(found, list(talk.by_user()))
    dropped += [
        Dropped(one.text, "taken back", one.evidence, one.category, key) for one, key in gone
    ]
    facts, twins = once([*rest, *(one.candidate for one in kept)])
    return Claims(tuple(facts), (*dropped, *twins), replaces)


def once(facts: Iterable[Candidate]) -> tuple[list[Candidate], list[Dropped]]:
    """Return facts, each once: what was named again weighs more and has more evidence."""
    kept: list[Candidate] = []
    dropped: list[Dropped] = []
    for fact in facts:
        at = next((at for at, other in enumerate(kept) if _is_twin(fact, other)), None)
        if at is None:
            kept.append(fact)
            continue
        other = kept[at]
        fuller, lesser = _fuller(fact, other)
        kept[at] = replace(
            fuller,
            evidence=tuple(dict.fromkeys((*other.evidence, *fact.evidence))),
            weight=min(ASKED, max(fact.weight, other.weight) + REPEATED),
            asked=fact.asked or other.asked,
            doubt=fact.doubt and other.doubt,
        )
        dropped.append(Dropped(lesser.text, "said twice", lesser.evidence, lesser.category))
    return kept, dropped


def _candidate(one: Named, keys: Mapping[int, str], talk: Talk) -> Candidate:
    """Return a fact as it may be kept, its kind one that a brain has."""
    text = statement(_ABOUT.sub("", one.text))
    evidence = tuple(dict.fromkeys(keys[number] for number in one.numbers if number in keys))
    category = _usual(text) if one.category in ("UPDATE", "DELETE", "SKIP") else one.category
    nearest = _nearest(text, evidence, talk)
    asked = nearest is not None and nearest.intent.intent in ("remember", "correct")
    weight = ASKED if asked else WEIGHT[category]
    return Candidate(category, text, evidence, weight, SECTION_OF[category], asked=asked)


def _usual(text: str) -> Category:
    """Return what a fact would be if nothing like it were known."""
    told = probabilities([text])[0]
    return max(SECTION_OF, key=lambda name: told[name])


def _nearest(text: str, evidence: Sequence[str], talk: Talk) -> Said | None:
    """Return the piece of the talk that says most of a fact, of the user's before others'."""
    words = content(text)
    said = [one for one in talk.said if one.key in evidence]
    held = [(_held(words, one), one.role == "user", -at) for at, one in enumerate(said)]
    return said[-max(held)[2]] if held else None


def _held(words: Sequence[object], one: Said) -> int:
    theirs = content(one.text)
    return sum(any(word.same(other) for other in theirs) for word in words)  # type: ignore[attr-defined]


def _is_passing(fact: Candidate, said: Said, embedder: Embedder | None) -> bool:
    """Tell whether rules are sure that nothing of what was said will matter another day."""
    if fact.asked or said.role != "user":
        return False
    told = probabilities([statement(said.text), statement(said.whole), fact.text], embedder)
    return min(one["SKIP"] for one in told) >= PASSING


def _fuller(one: Candidate, other: Candidate) -> tuple[Candidate, Candidate]:
    """Return two facts that say the same, the one to keep first."""
    return (one, other) if len(one.text) > len(other.text) else (other, one)


def _is_twin(one: Candidate, other: Candidate) -> bool:
    """Tell whether one fact says no more than another."""
    if (one.category == "DELETE") != (other.category == "DELETE"):
        return False
    if same_fact(one.text, other.text):
        return True
    left = tuple(word for word in content(one.text) if word.folded not in SOFT)
    right = tuple(word for word in content(other.text) if word.folded not in SOFT)
    less, more = (left, right) if len(left) <= len(right) else (right, left)
    return len(less) > 1 and covers(less, more)
