"""How likely an older fact does not hold any more because of a newer one, told by networks.

Small networks lay the words of two facts side by side, each word beside what is likest to it in
the other fact, and say how likely the older fact does not hold any more because of the newer one.
A word is what the reader of `language/network.py` makes of it, and whether it is a name, a number,
a denial, met in the other fact. Trained by `benchmarks/train_contradictions.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultmind.language.encoder import sentence_encoder, words_of
from vaultmind.language.names import alike
from vaultmind.language.network import network, stored
from vaultmind.language.words import NEGATIONS, Word, content, fold
from vaultmind.tables import table

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

WEIGHTS = Path(__file__).with_name("contrast.npz")
SURE = 1.3
"""Score from which a fact is contradicted: of what is found in pairs by writers that the networks
never saw, 96 or 97 in a hundred are right."""
NEAR = 0.25
"""Likeness of two facts below which they are about different things: it is told fast."""
SHARPLY = 10.0
"""How much more the likest word counts than others when two facts are laid side by side."""
ALIKE = 0.9
"""What two forms of a word count beside the very same word."""
WORDS = 8
"""Words of a usual fact."""
MOST_READ = 1024
"""Facts whose words are kept as they were read."""
MOST_COMPARED = 20_000
"""Pairs of which the answer is kept: whole brains are compared again and again."""
_SAID = table(__file__)["contradictions"]
_COUNTS = {fold(w): str(n) for n, line in enumerate(_SAID["numbers"], 1) for w in line.split()}


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
    """Tell whether an old fact does not hold any more because of a new one, nearly for certain."""
    if not new.strip() or not old.strip() or side(old).vector @ side(new).vector < NEAR:
        return False
    return score(old, new) >= SURE


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
            one[:1].isdigit() or one in _COUNTS,
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
