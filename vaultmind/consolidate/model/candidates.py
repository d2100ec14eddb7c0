"""From what a model names to facts: numbers become messages, kinds are set right, doubts are told.

Nothing is believed here: each of these facts still has to be grounded in what was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vaultmind.consolidate.extract import once, settled, weighed
from vaultmind.consolidate.model.asking import Named
from vaultmind.consolidate.talk import Talk, Utterance, statement
from vaultmind.consolidate.types import SECTION_OF, Candidate, Category, Dropped
from vaultmind.memory.words import content
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
    found: list[tuple[Candidate, Utterance]] = []
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
            found.append((candidate, said))
        else:
            rest.append(candidate)
    kept, gone = settled(found, list(talk.by_user()))
    dropped += gone
    facts, twins = once([*rest, *(one for one, _ in kept)])
    return Claims(tuple(facts), (*dropped, *twins), replaces)


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
    told = weighed([(text, "", -1)])[0]
    return max(SECTION_OF, key=lambda name: told[name])


def _nearest(text: str, evidence: Sequence[str], talk: Talk) -> Utterance | None:
    """Return the piece of the talk that says most of a fact, of the user's before others'."""
    words = content(text)
    said = [one for one in talk.said if one.key in evidence]
    held = [(_held(words, one), one.role == "user", -at) for at, one in enumerate(said)]
    return said[-max(held)[2]] if held else None


def _held(words: Sequence[object], one: Utterance) -> int:
    theirs = content(one.text)
    return sum(any(word.same(other) for other in theirs) for word in words)  # type: ignore[attr-defined]


def _is_passing(fact: Candidate, said: Utterance, embedder: Embedder | None) -> bool:
    """Tell whether rules are sure that nothing of what was said will matter another day."""
    if fact.asked or said.role != "user":
        return False
    texts = [statement(said.text), statement(said.whole), fact.text]
    told = weighed([(text, "", -1) for text in texts], embedder)
    return min(one["SKIP"] for one in told) >= PASSING
