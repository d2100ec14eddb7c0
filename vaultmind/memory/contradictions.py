"""Which facts a new one takes the place of: only where that is nearly certain.

Small networks lay the words of two facts side by side, each word beside what is likest to it in
the other fact, and say how likely the older fact does not hold any more because of the newer one.
A word is what the reader of `language/network.py` makes of it, and whether it is a name, a number,
a denial, met in the other fact. Trained by `benchmarks/contradictions.py`. In doubt both facts
stay, each with its day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultmind.language.encoder import sentence_encoder, words_of
from vaultmind.language.names import alike
from vaultmind.language.network import network, stored
from vaultmind.language.text import fold_word
from vaultmind.language.words import NEGATIONS, Word, content, fold
from vaultmind.memory.brain import PROVENANCE
from vaultmind.tables import table
from vaultmind.types import Fact

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

WEIGHTS = Path(__file__).with_name("contradictions.npz")
SURE = 0.0
"""Score from which a fact is contradicted: of pairs of writers that the networks never saw, 97 in
a hundred found are right."""
NEAR = 0.0
"""Likeness of two facts' mean words below which they are about different things."""
SHARPLY = 10.0
"""How much more the likest word counts than others when two facts are laid side by side."""
ALIKE = 0.9
"""What two forms of a word count beside the very same word."""
WORDS = 8
"""Words of a usual fact."""
MOST_READ = 1024
"""Facts whose words are kept as they were read."""
_SAID = table(__file__)["contradictions"]
_COUNTS = {fold(w): str(n) for n, line in enumerate(_SAID["numbers"], 1) for w in line.split()}
_DENIED, _NOT_DENIED = (
    re.compile(rf"\b(?:{fold_word(_SAID[name])})(?!\w)") for name in ("denied", "not_denied")
)


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


def contradicts(new: str, old: str) -> bool:
    """Tell whether a new fact says that an old one does not hold any more, nearly for certain."""
    if not new.strip() or not old.strip():
        return False
    before, after = side(old), side(new)
    if before.vector @ after.vector < NEAR or fold_word(new) == fold_word(old):
        return False
    return score(old, new) >= SURE


def denies(text: str) -> bool:
    """Tell whether a text denies what it speaks of, by a `not` or by disliking it."""
    said = fold_word(" ".join(text.split())).replace("can't", "can not").replace("n't", " not")
    return bool(_DENIED.search(_NOT_DENIED.sub(" ", said)))


def is_count(word: str) -> bool:
    """Tell whether a word is a number, in digits or, up to ten, in letters."""
    return word[:1].isdigit() or fold(word) in _COUNTS


@lru_cache(maxsize=MOST_READ)
def side(text: str) -> Side:
    """Return a fact as the networks see it."""
    import numpy as np

    words = words_of(text)
    states = np.concatenate(network().states([words])[0], axis=1)
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
    same = np.array([[_same(one, other) for other in new.words] for one in old.words])
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
        laid.append((shares, np.column_stack(told)))
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
OUTDATED = "a newer fact says otherwise"
"""Why a fact is not told."""
MOST = 100
"""Facts that are compared with each other."""

_FACT_TOLD = re.compile(rf"(?m)^[ \t]*[-*+] (.+) \({SAID} (\d{{4}}-\d\d-\d\d)\)$")


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
    return _FACT_TOLD.findall(text)


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
