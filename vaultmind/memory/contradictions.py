"""Which facts a new one takes the place of: only where that is certain, or nearly.

Networks tell what is likely enough. Certain are three ways: another value of one named slot ("My
boss is Julia", "Peter is my boss"), the same words with another number ("Has two cats", "Has three
cats"), the same words denied. What is left in doubt stays, each fact with its day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultmind.language.encoder import sentence_encoder
from vaultmind.language.names import alike, mutual
from vaultmind.language.network import network, stored
from vaultmind.language.words import NEGATIONS, Word, content, fold
from vaultmind.memory.brain import PROVENANCE
from vaultmind.tables import table
from vaultmind.types import Fact

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

_SAID = table(__file__)["contradictions"]
_COUNTS = {fold(w): str(n) for n, line in enumerate(_SAID["numbers"], 1) for w in line.split()}


def contradicts(new: str, old: str, *, typed: bool = False) -> bool:
    """Tell whether a new fact almost certainly means that an old one is no longer true.

    Of an old one that a person `typed` into the file no network judges.
    """
    one, other = _read(new), _read(old)
    if one.folded == other.folded:
        return False
    return _excludes(one, other) or (not typed and outdates(new, old))


def denies(text: str) -> bool:
    """Tell whether a text denies what it speaks of, by a `not` or by disliking it."""
    return _read(text).denied


def is_count(word: str) -> bool:
    """Tell whether a word is a number, in digits or, up to ten, in letters."""
    return word[:1].isdigit() or fold(word) in _COUNTS


# --- what is certain ---------------------------------------------------------------------


def _pattern(name: str) -> re.Pattern[str]:
    text = fold(_SAID[name].replace("{now}", _SAID["now"]))
    return re.compile(rf"\b(?:{text})(?!\w)")


_CUES = {
    name: _pattern(name) for name in ("home", "employer", "called", "reply", "reply_po", "age")
}
"""What says that a person has the value that follows: a name, but for these."""
_ANY_VALUE = ("age", "reply_po")
_COPULA, _SLOT, _STATE = map(_pattern, ("copula", "slot", "state"))
"""... of what somebody has one of; and what holds now and may have another number next: an event
("ran 5 km") may happen again."""
_DENIED, _LIKING, _CHANGED, _HEDGED = map(_pattern, ("denied", "liking", "changed", "hedged"))
"""Words that make no difference to what a fact is about; and those that say that something holds
beside the rest, at times, not yet or not any more."""
_JOINT = re.compile(_SAID["joint"])
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*(?:st|nd|rd|th)?(?!\w)|[^\W\d]+")
_COUNTRY = re.compile(_SAID["country"])
"""Who lives in a country may be said to live in a town of it next."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A fact taken apart, as far as it is certain."""

    folded: str
    words: tuple[Word, ...]
    """What it is about, without numbers and denials."""
    numbers: tuple[str, ...]
    denied: bool
    hedged: bool
    slots: tuple[tuple[str, tuple[Word, ...], tuple[Word, ...]], ...]
    """(slot, whose, value)."""


@lru_cache(maxsize=4096)
def _read(text: str) -> _Reading:
    text = " ".join(text.split())
    said = fold(text)
    plain = said.replace("can't", "can not").replace("n't", " not")
    about = content(_LIKING.sub(" ", _CHANGED.sub(" ", _DENIED.sub(" ", plain))))
    left_out = NEGATIONS | _COUNTS.keys()
    words = tuple(one for one in about if one.folded[0].isalpha() and one.folded not in left_out)
    denied, hedged = bool(_DENIED.search(plain)), bool(_HEDGED.search(said))
    slots = () if denied or len(text) != len(said) else tuple(_slots(text, said))
    return _Reading(said, words, _numbers(said), denied, hedged, slots)


def _excludes(one: _Reading, other: _Reading) -> bool:
    if one.hedged or other.hedged:
        return False
    same = bool(one.words) and mutual(one.words, other.words)
    if one.denied or other.denied:
        return same and one.denied != other.denied and one.numbers == other.numbers
    return (same and _counted_anew(one, other)) or any(
        slot == name and mutual(whose, owner) and _differ(slot, value, before)
        for slot, whose, value in one.slots
        for name, owner, before in other.slots
    )


def _differ(slot: str, value: Sequence[Word], before: Sequence[Word]) -> bool:
    """Tell whether two values of one slot exclude each other."""
    words, others = ([one for one in each if one.folded.isalpha()] for each in (value, before))
    shared = any(alike(one, other) for one in value for other in before)
    if shared and (not mutual(words, others) or mutual(value, before)):
        return False
    if slot == "home":
        lands = [bool(_COUNTRY.match(one[0].folded)) for one in (value, before)]
        return lands[0] == lands[1]
    return True


def _counted_anew(one: _Reading, other: _Reading) -> bool:
    """Tell whether two facts give different numbers for how things are now."""
    states = _STATE.search(one.folded), _STATE.search(other.folded)
    if len(one.numbers) != len(other.numbers) or one.numbers == other.numbers or not all(states):
        return False
    # a number before the verb is a part of a name: "room 12 is"
    return len({_numbers(state.string[: state.start()]) for state in states if state}) == 1


def _numbers(folded: str) -> tuple[str, ...]:
    return tuple(_COUNTS.get(one, one) for one in _NUMBER.findall(folded) if is_count(one))


def _slots(text: str, folded: str) -> Iterator[tuple[str, tuple[Word, ...], tuple[Word, ...]]]:
    """Yield the slots that a whole fact fills, and nothing else beside."""
    found = []
    for name, cue in _CUES.items():
        if match := cue.search(folded):
            about = text[: match.end() if name == "age" else match.start()]
            found.append((name, about, text[match.end() :]))
    if match := _COPULA.search(folded) or re.search(r"\s[-–—=]\s|:\s", folded):
        sides = text[: match.start()], text[match.end() :]
        for about, value in (sides, sides[::-1]):
            if _SLOT.search(fold(about)) and not _SLOT.search(fold(value)):
                found.append(("slot", about, value))
    for name, about, value in found:
        is_named = value.strip()[:1].isupper() or name in ("slot", *_ANY_VALUE)
        words = tuple(one for one in content(value) if one.folded[0].isalnum())
        if is_named and words and not _JOINT.search(value):
            yield name, content(_CHANGED.sub(" ", fold(about))), words


# --- what is likely ----------------------------------------------------------------------
# Small networks lay the words of two facts side by side, each word beside what is likest to it in
# the other fact, and say how likely the older fact does not hold any more because of the newer
# one. A word is what the reader of `language/network.py` makes of it, and whether it is a name, a
# number, a denial, met in the other fact. Trained by `benchmarks/train_contradictions.py`.

WEIGHTS = Path(__file__).with_name("contrast.npz")
SURE = 1.2
"""Score from which a fact is contradicted: of what it finds in pairs by writers that the networks
never saw, 98 in a hundred are right."""
NEAR, LONGEST = 0.25, 100
"""Likeness of two facts below which they are about different things, a quick check. Characters of
a fact that is judged: a longer one says several things, and most may still be true."""
SHARPLY = 10.0
"""How much more the likest word counts than others when two facts are laid side by side."""
ALIKE = 0.9
"""What two forms of a word count, where the very same word counts 1."""
WORDS = 8
"""Words of a usual fact."""
MOST_READ = 1024
"""Facts whose words are kept as they were read."""
MOST_COMPARED = 20_000
"""Pairs of which the answer is kept: whole brains are compared again and again."""


@dataclass(frozen=True, slots=True)
class Side:
    """A fact as the networks see it: arrays with a row a word."""

    words: tuple[tuple[str, Word | None], ...]
    """Each word folded, numbers in digits; and comparable, if it says what the fact is about."""
    states: Matrix
    directions: Matrix
    """The states, each of length 1."""
    mean: Matrix
    vector: Matrix
    """What the encoder makes of the whole fact."""
    marks: Matrix
    """Whether a word bears content, is a number, a denial, a name, no word at all, the first."""


@lru_cache(maxsize=MOST_COMPARED)
def outdates(new: str, old: str) -> bool:
    """Tell whether a new fact almost certainly means that an old one is no longer true."""
    if not new.strip() or not old.strip() or max(len(new), len(old)) > LONGEST:
        return False
    return bool(side(old).vector @ side(new).vector >= NEAR) and score(old, new) >= SURE


@lru_cache(maxsize=MOST_READ)
def side(text: str) -> Side:
    """Return a fact as the networks see it."""
    import numpy as np

    seen = next(network().see([text]))
    words, states = seen.words, np.concatenate(seen.states, axis=1)
    about = {word.folded: word for word in content(text) if word.folded[0].isalnum()}
    folded = [fold(word.text) for word in words]
    marks = [
        (
            one in about,
            is_count(one),
            one in NEGATIONS or one.endswith("n't"),
            at > 0 and word.text[0].isupper() and word.text != "I",
            not word.text[0].isalnum(),
            at == 0,
        )
        for at, (one, word) in enumerate(zip(folded, words, strict=True))
    ]
    directions = states / np.linalg.norm(states, axis=1, keepdims=True).clip(1e-6)
    mean = directions.sum(axis=0)
    return Side(
        tuple((_COUNTS.get(one, one), about.get(one)) for one in folded),
        states,
        directions,
        mean / np.linalg.norm(mean).clip(1e-6),
        sentence_encoder().encode([text])[0],
        np.array(marks, dtype=np.float32),
    )


def beside(old: Side, new: Side) -> tuple[list[tuple[Matrix, Matrix]], Matrix]:
    """Lay two facts side by side.

    Returns for each of them how much each of its words is like each of the other's, in shares, and
    numbers that tell of each word what is not in its state; and numbers that tell of both facts.
    """
    import numpy as np

    near = old.directions @ new.directions.T
    same = np.array([[_same(one, other) for other in new.words] for one in old.words], np.float32)
    whole, own, numbers = [float(old.mean @ new.mean)], [], []
    for at, fact in enumerate((old, new)):
        met = same.max(axis=1 - at)
        about, number, denial, name = fact.marks.T[:4] > 0
        own.append(np.column_stack([fact.marks, met == 1, met > 0, number & (met == 0)]))
        left = (about & ~number & (met == 0)).sum()
        whole += [(about & (met > 0)).sum() / max(about.sum(), 1), min(left, 6) / 6]
        whole += [denial.any(), (name & (met > 0)).any()]
        numbers.append({word for (word, _), one in zip(fact.words, number, strict=True) if one})
    whole.append(all(numbers) and numbers[0].isdisjoint(numbers[1]))
    laid = []
    for at, likeness in enumerate((near + same, (near + same).T)):
        powers = np.exp(SHARPLY * (likeness - likeness.max(axis=1, keepdims=True)))
        shares = powers / powers.sum(axis=1, keepdims=True)
        told = [own[at], shares @ own[1 - at], near.max(axis=1 - at)]
        laid.append((shares, np.column_stack(told).astype(np.float32)))
    return laid, np.array(whole, dtype=np.float32)


def _same(one: tuple[str, Word | None], other: tuple[str, Word | None]) -> float:
    if one[0] == other[0]:
        return 1.0
    return ALIKE if one[1] and other[1] and alike(one[1], other[1]) else 0.0


@cache
def _layers() -> dict[str, Any]:
    """Return the arrays of all networks, one upon another."""
    import numpy as np

    members = stored(WEIGHTS)[1]
    return {name: np.stack([one[name] for one in members]) for name in members[0]}


def _layer(name: str, given: Matrix) -> Matrix:
    weight, bias = _layers()[f"{name}.weight"], _layers()[f"{name}.bias"]
    result: Matrix = given @ weight.transpose(0, 2, 1) + bias[:, None]
    return result if name == "out" else result.clip(0)


@lru_cache(maxsize=MOST_READ)
def _hidden(text: str) -> Matrix:
    return _layer("word", side(text).states[None])


def score(old: str, new: str) -> float:
    """Return how likely a new fact contradicts an old one, as log-odds."""
    import numpy as np

    laid, whole = beside(side(old), side(new))
    hidden, pooled = [_hidden(old), _hidden(new)], []
    for at, (shares, told) in enumerate(laid):
        own, like = hidden[at], shares @ hidden[1 - at]
        beside_it = np.broadcast_to(told, (len(own), *told.shape))
        seen = [own, like, abs(own - like), own * like, beside_it]
        words = _layer(("old", "new")[at], np.concatenate(seen, axis=2))
        pooled += [words.max(axis=1), words.sum(axis=1) / WORDS]
    both = np.concatenate([*pooled, np.tile(whole, (len(pooled[0]), 1))], axis=1)[:, None]
    return float(_layer("out", _layer("both", both)).mean())


# --- facts and time ----------------------------------------------------------------------
# The day that a fact is from, and which of two that exclude each other holds.

SAID = "said"
"""Stands before the day that a fact is from, which could be taken for a part of it."""
MOST = 100
"""Facts that are compared with each other."""

FACT_TOLD = re.compile(rf"(?m)^[ \t]*[-*+] (.+) \({SAID} (\d{{4}}-\d\d-\d\d)\)$")
"""A fact in a shown brain, and its day."""


def with_days(text: str) -> str:
    """Return a brain's text with the day that each fact is from in the place of its provenance."""
    return PROVENANCE.sub(lambda it: f"({SAID} {it['date']})" if it["date"] else "", text)


def dated(fact: Fact) -> str:
    """Return a fact with the day that it is from, or was till; one that a person typed has none."""
    day = f"until {fact.until}" if fact.until else fact.written and f"{SAID} {fact.written}"
    return f"{fact.text} ({day})" if day else fact.text


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
