"""What kind of work a task is, by its cues, and how sure that is. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vaultmind.planner.intent.cues import NAMED, STRENGTHS, Found, lexicon, prefixes
from vaultmind.planner.intent.text import Text, subject
from vaultmind.planner.types import TASK_KINDS, TaskKind

LEADING, OPENING = 1.8, 1.2
"""Factors of a cue with which a task begins, and of one in its first sentence."""
IN_A_STATEMENT = 0.35
"""Factor of a thing that a task names where it says how something is."""
DECAY = 0.55
"""What each further cue of a kind counts beside the one before it."""
NEGATED_WITHIN = 3
"""Words from a negation to the cue that it takes back."""
PREFIX = 7.0
"""What a commit's prefix (`fix(auth):`) or a label (`[bug]`) counts."""
TRACED = 3.0
"""What a traceback counts for a bugfix."""
QUESTION = 2.0
"""What a task that ends with a question mark counts for research."""
LEAST = 1.5
"""Below which nothing is known of a task."""
ACUTE, BESIDE_ACUTE = 3.0, 0.5
"""A score of an incident from which questions about it count so much less."""
LONG = 3
"""Telling words from which a task without any cue is held for the name of a new thing."""
AT_MARGIN, AT_BEST, AT_NOTHING = 2.5, 0.31, -1.75
"""Of the confidence: by the lead of the best kind as a share, by its score, and without either."""
FULL = 8.0
"""A score beyond which more cues make nothing surer."""
GUESSED, VAGUE, UNTOLD = 0.45, 0.85, 0.65
"""Confidence where no cue was found: in a thing that is named, in nothing, in too little."""

_PREFIX = re.compile(
    r"\s*(?:[-*>#]+\s*)?(?:\[([\w -]{2,20})\]|([\w-]{2,20})(?:\([^()\n]{0,60}\))?!?:(?=\s))"
)


@dataclass(frozen=True, slots=True)
class Judged:
    """What kind of work a task is held for."""

    kind: TaskKind
    confidence: float
    scores: dict[TaskKind, float]
    reasons: tuple[str, ...]


def judged(text: Text, cues: Sequence[Found]) -> Judged:
    """Return the kind of work of a task; `unknown` where too little points to any."""
    about = subject(text.whole, text.language)
    weights: dict[TaskKind, list[tuple[float, str]]] = {kind: [] for kind in TASK_KINDS}
    alarms: dict[str, float] = {}
    states = lexicon().states_something(text.words, text.sentences)
    for found in cues:
        if not negated(text, found):
            said = " ".join(text.words[found.first : found.last + 1])
            weights[_kind(found.cue.name)].append((_weight(text, found, states), f"“{said}”"))
            if found.cue.name == "incident":
                alarms[said] = found.cue.weight
    _by_form(text, weights)
    scores = {kind: _sum(some) for kind, some in weights.items()}
    _settle(scores, alarms, text)
    best = max(TASK_KINDS, key=lambda kind: (scores[kind], -TASK_KINDS.index(kind)))
    if not about and not text.traced:
        return Judged("unknown", VAGUE, scores, ("it names no subject",))
    if scores[best] >= LEAST:
        return Judged(best, confidence(scores), scores, _reasons(best, weights))
    if about >= LONG and states:
        return Judged("bugfix", GUESSED, scores, ("bugfix: it says how something is",))
    if about >= LONG:
        return Judged("feature", GUESSED, scores, ("feature: it only names a thing",))
    return Judged("unknown", UNTOLD, scores, ("no words that tell the kind of work",))


def confidence(scores: dict[TaskKind, float]) -> float:
    """Return how often a task with such scores is of the kind that they say, from 0 to 1."""
    first, second = sorted(scores.values(), reverse=True)[:2]
    margin = (first - second) / (first + 1.0)
    return round(
        1.0 / (1.0 + math.exp(-(AT_MARGIN * margin + AT_BEST * min(first, FULL) + AT_NOTHING))), 3
    )


def _settle(scores: dict[TaskKind, float], alarms: Mapping[str, float], text: Text) -> None:
    """Let what is on fire go before what is asked about it, and what fails before why.

    One word that is heard in alarms is none: it takes a strong one, or two.
    """
    if len(alarms) == 1 and max(alarms.values()) < STRENGTHS["strong"]:
        scores["incident"] *= BESIDE_ACUTE
    if scores["incident"] >= ACUTE:
        scores["research"] *= BESIDE_ACUTE
        scores["bugfix"] *= BESIDE_ACUTE
    if text.traced:
        scores["research"] *= BESIDE_ACUTE


def negated(text: Text, found: Found) -> bool:
    """Tell whether a cue is taken back: by a word before it in its clause, or by `no` as answer."""
    sentence = max((start for start in text.sentences if start <= found.first), default=0)
    if sentence in text.denied:
        return True
    return not lexicon().negations.isdisjoint(words_before(text, found))


def words_before(text: Text, found: Found) -> Sequence[str]:
    """Return the words of its clause that stand closely before a cue."""
    begins = max((start for start in text.clauses if start <= found.first), default=0)
    return text.words[max(begins, found.first - NEGATED_WITHIN) : found.first]


def _weight(text: Text, found: Found, states: bool) -> float:
    if states and found.cue.weight == NAMED:
        return found.cue.weight * IN_A_STATEMENT
    leads = lexicon().leads(text.words, text.sentences[:1])
    if found.first in leads:
        return found.cue.weight * LEADING
    second = next(iter(text.sentences[1:]), len(text.words))
    return found.cue.weight * (OPENING if found.first < second else 1.0)


def _by_form(text: Text, weights: dict[TaskKind, list[tuple[float, str]]]) -> None:
    """Add what a task's form says, whatever its words."""
    match = _PREFIX.match(text.whole)
    label = (match[1] or match[2]).casefold() if match else ""
    if kind := prefixes().get(label):
        weights[_kind(kind)].append((PREFIX, f"it begins with “{label}:”"))
    if text.traced:
        weights["bugfix"].append((TRACED, "it holds a traceback or a log"))
    if text.question:
        weights["research"].append((QUESTION, "it ends with a question mark"))


def _sum(some: list[tuple[float, str]]) -> float:
    """Return the sum of weights, each cue once, of which each next one counts less."""
    strongest: dict[str, float] = {}
    for weight, said in some:
        strongest[said] = max(weight, strongest.get(said, 0.0))
    ordered = sorted(strongest.values(), reverse=True)
    return sum(weight * DECAY**n for n, weight in enumerate(ordered))


def _reasons(kind: TaskKind, weights: dict[TaskKind, list[tuple[float, str]]]) -> tuple[str, ...]:
    said = list(dict.fromkeys(said for _, said in sorted(weights[kind], key=lambda one: -one[0])))
    return (f"{kind}: {', '.join(said[:4])}",)


def _kind(name: str) -> TaskKind:
    for kind in TASK_KINDS:
        if kind == name:
            return kind
    raise ValueError(f"a cue is of the kind {name!r}, which is none of {', '.join(TASK_KINDS)}")
