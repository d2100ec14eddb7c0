"""Facts from a talk without a model: only what is certain, in the person's words.

A clause of the user's that nothing speaks against is written where it has a closed form
(`closed.py`) and a small linear model takes it for something lasting. What may be a fact and is
not certain is dropped as "unclear alone": it waits for the next model or agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from vaultmind.consolidate.facts.closed import closed, dangles
from vaultmind.consolidate.facts.cues import CYRILLIC, begins, features, says
from vaultmind.consolidate.facts.linear import probabilities
from vaultmind.consolidate.facts.own import is_gap, pieces, shown_gaps
from vaultmind.consolidate.facts.seen import seen
from vaultmind.consolidate.facts.statement import statement
from vaultmind.consolidate.facts.taken import Found, doubted, settled
from vaultmind.consolidate.facts.talk import Said, Talk
from vaultmind.consolidate.facts.types import SECTION_OF, Candidate, Category, Dropped
from vaultmind.memory.match import same_fact
from vaultmind.memory.words import SOFT, Word, content, fold

KEEPS = 0.65
"""Likelihood of being lasting from which a statement may be a fact, whoever understands it."""
LASTS = 0.35
"""The same of a clause in closed form, from which it is written: the other model is surer of it."""
ASKED, PERSONAL, TASTE, DECIDED, GOING_ON = 5.0, 4.0, 3.5, 3.0, 2.5
WEIGHT: dict[Category, float] = {
    "CORE": PERSONAL,
    "PREFERENCE": TASTE,
    "DECISION": DECIDED,
    "PROJECT": GOING_ON,
}
WRITTEN: tuple[Category, ...] = ("CORE", "PREFERENCE")
"""What is written unasked: plans and decisions lean on the talk in two cases of five."""
REPEATED = 0.5
"""What a fact weighs more for being said twice."""
FEWEST = 2
"""Content words from which a statement says something without speaking of the person."""


def extract(talk: Talk) -> tuple[list[Candidate], list[Dropped]]:
    """Return the facts of a talk, the most important first, and what was dropped of it."""
    said = list(talk.by_user())
    faulty = [one for one in said if one.fault and one.fault != "request"]
    dropped = [_passed_over(one) for one in faulty if not is_gap(one.text)]
    kept, gone = settled(list(_found(said, dropped)), said)
    dropped += [
        Dropped(one.text, "taken back", one.evidence, one.category, key) for one, key in gone
    ]
    facts = _once([one.candidate for one in doubted(kept, said)], dropped)
    return sorted([*_forgets(said), *facts], key=lambda one: -one.weight), dropped


def _forgets(said: Iterable[Said]) -> Iterator[Candidate]:
    """Yield what the user asked the memory, in words addressed to it, to forget."""
    done: set[str] = set()
    for one in said:
        words = one.intent.payload if one.intent.intent == "forget_topic" else ""
        words = words[slice(*next(pieces(words), (0, 0)))]
        if one.fault in (None, "request") and one.whole not in done and _telling(words):
            done.add(one.whole)
            yield Candidate("DELETE", words, (one.key,), ASKED, asked=True)


def _passed_over(one: Said) -> Dropped:
    shown = "" if one.fault in ("private", "secret", "asked not to keep") else shown_gaps(one.text)
    return Dropped(shown, one.fault or "unclear alone", (one.key,))


def _found(said: Iterable[Said], dropped: list[Dropped]) -> Iterator[Found]:
    """Yield the candidates among some pieces of talk, in order."""
    for one in open_to(said):
        in_words = one.intent.intent == "remember"
        asked = in_words or one.intent.intent == "correct" or bool(says(one.folded, "remember"))
        whole = stated(one)
        certain = ("" if dangles(whole) else whole) if in_words else _certain(one)
        text = certain or whole
        told = probabilities(text, one.whole)
        category = max(WEIGHT, key=lambda name: told[name])
        if certain:
            weight = ASKED if asked else WEIGHT[category]
            section = SECTION_OF[category]
            yield Found(Candidate(category, text, (one.key,), weight, section, asked=asked), one)
        elif in_words or 1 - told["SKIP"] >= KEEPS:
            dropped.append(Dropped(text, "unclear alone", (one.key,), category))


def _certain(one: Said) -> str:
    """Return what of a piece of talk can be read alone and lasts; empty if nothing surely does."""
    text = closed(one)
    told = probabilities(text, one.whole)
    lasts = 1 - told["SKIP"] >= LASTS
    return text if lasts and max(WEIGHT, key=lambda name: told[name]) in WRITTEN else ""


def open_to(said: Iterable[Said]) -> list[Said]:
    """Return the pieces of talk that may be facts, for all that rules can tell."""
    return [one for one in said if not one.fault and _may_be_a_fact(one)]


def _may_be_a_fact(one: Said) -> bool:
    if one.intent.intent in ("forget_topic", "forget_that", "skip", "recall", "show_memory"):
        return False
    folded = fold(statement(one.text))
    if begins(folded, "forget") or says(folded, "undo"):
        return False
    words = _telling(statement(one.text))
    seen = features(cyrillic=bool(CYRILLIC.search(one.folded)))["self"]
    alone = one.intent.intent == "remember" or seen.search(one.folded)
    return len(words) >= FEWEST or bool(words and alone)


def _telling(text: str) -> list[Word]:
    return [word for word in content(text) if word.folded not in SOFT]


def stated(one: Said) -> str:
    """Return what a piece of talk says as a statement."""
    payload = one.intent.payload
    if one.intent.intent == "remember" and payload and payload in one.text:
        return statement(payload)
    return statement(one.text)


def _once(facts: Iterable[Candidate], dropped: list[Dropped]) -> list[Candidate]:
    """Return the facts, each once: what was said again weighs more and has more evidence."""
    kept: list[Candidate] = []
    for fact in facts:
        twin = next((i for i, other in enumerate(kept) if _alike(fact.text, other.text)), None)
        if twin is None:
            kept.append(fact)
            continue
        other = kept[twin]
        fuller, lesser = (fact, other) if len(fact.text) > len(other.text) else (other, fact)
        evidence = tuple(dict.fromkeys((*other.evidence, *fact.evidence)))
        weight = min(ASKED, max(fact.weight, other.weight) + REPEATED)
        kept[twin] = replace(fuller, evidence=evidence, weight=weight)
        dropped.append(Dropped(lesser.text, "said twice", lesser.evidence, lesser.category))
    return kept


def _alike(one: str, other: str) -> bool:
    """Tell whether one statement says no more than another."""
    if same_fact(one, other):
        return True
    if seen(one).keys.isdisjoint(seen(other).keys):
        return False
    left, right = content(one), content(other)
    less, more = (left, right) if len(left) <= len(right) else (right, left)
    return len(less) > 1 and all(any(word.same(w) for w in more) for word in less)
