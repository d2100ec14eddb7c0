"""A small network over the words of a text: what the text is, and what each word is in it.

Words are projected, read in both directions by a gated recurrent layer, and pooled: by the largest
value and by attention. Each task (what is asked of the memory, what is a secret, what is a fact)
has heads of its own over the same words. Two networks that learnt from another start read each
text, and what is returned is their mean. Trained by `benchmarks/train_reader.py`; weights are
stored as signed bytes, a scale for each array.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vaultmind.language.encoder import Word, encoded, spellings, words_of

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

WEIGHTS = Path(__file__).parent / "weights.npz"
AT_ONCE = 48
"""Texts that are read together."""
NOTHING = Word("so", 0, 0)
"""Read where a text has no words: an English word that asks for nothing and tells nothing."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a network makes of a text."""

    words: list[Word]
    heads: dict[str, dict[str, float]]
    """For each question that the network answers, a probability each label."""
    tags: Matrix
    """A row a word, a probability each tag; tag 0 is "nothing"."""


class Network:
    """The trained networks of the package."""

    def __init__(self, path: Path) -> None:
        about, self.members = stored(path)
        self.heads: dict[str, dict[str, list[str]]] = about["heads"]
        """The labels of each head, by task."""

    def read(self, task: str, texts: Sequence[str]) -> list[Reading]:
        """Return what each text of a few sentences is: many at once take a fraction of the time."""
        found: list[Reading] = []
        for first in range(0, len(texts), AT_ONCE):
            said = [words_of(text) or [NOTHING] for text in texts[first : first + AT_ONCE]]
            states = zip(said, self.states(said), strict=True)
            found += [self._reading(task, words, state) for words, state in states]
        return found

    def states(self, said: Sequence[list[Word]]) -> list[list[Matrix]]:
        """Return, for texts that hold words, a row a word by each network."""
        spelt = np.array([spellings(word.text) for words in said for word in words])
        seen, sizes = encoded(said), [len(words) for words in said]
        states = []
        for at in self.members:
            state = seen @ at["proj.weight"].T + at["proj.bias"]
            state = np.maximum(state + at["emb.weight"][spelt].sum(axis=1), 0)
            states.append(_both_ways(at, "gru", state, sizes))
        ends = np.cumsum(sizes)[:-1]
        return [list(own) for own in zip(*(np.split(one, ends) for one in states), strict=True)]

    def _reading(self, task: str, words: list[Word], states: Sequence[Matrix]) -> Reading:
        """Return the mean of what each network says of a text."""
        labels = self.heads[task]
        sizes = [len(names) for names in labels.values()]
        told = [_said(at, task, one, sizes) for at, one in zip(self.members, states, strict=True)]
        heads = {
            head: dict(
                zip(names, np.mean([own[at] for own, _ in told], axis=0).tolist(), strict=True)
            )
            for at, (head, names) in enumerate(labels.items())
        }
        return Reading(words, heads, np.mean([tags for _, tags in told], axis=0))


def _said(
    at: dict[str, Any], task: str, state: Matrix, sizes: Sequence[int]
) -> tuple[list[Matrix], Matrix]:
    """Return the probabilities of the labels of each head, and of each word's tags."""

    def layer(name: str, given: Matrix) -> Matrix:
        own = f"parts.{task}.{name}"
        result: Matrix = given @ at[f"{own}.weight"].T + at[f"{own}.bias"]
        return result

    weight = _soft(layer("att", state).T)
    scores = layer("out", np.concatenate([state.max(axis=0), (weight @ state)[0]]))
    heads = [_soft(part[None])[0] for part in np.split(scores, np.cumsum(sizes)[:-1])]
    beside = np.repeat(heads[0][None], len(state), axis=0)
    hidden = np.maximum(layer("t1", np.concatenate([state, beside], axis=1)), 0)
    own = f"parts.{task}.gru"
    if f"{own}.weight_hh_l0" in at:
        hidden = _both_ways(at, own, hidden, [len(hidden)])
    return heads, _soft(layer("tag", hidden))


def _both_ways(at: dict[str, Any], name: str, seen: Matrix, sizes: list[int]) -> Matrix:
    """Return rows with the states of a gated recurrent unit, word after word and from the last one.

    The rows of `seen` are the words of texts of these sizes, which are gone through together.
    """
    long, found, places = np.array(sizes), [seen], range(max(sizes))
    starts = np.cumsum(long) - long
    for way, order in (("l0", places), ("l0_reverse", reversed(places))):
        given = seen @ at[f"{name}.weight_ih_{way}"].T + at[f"{name}.bias_ih_{way}"]
        weights, bias = at[f"{name}.weight_hh_{way}"].T, at[f"{name}.bias_hh_{way}"]
        size = weights.shape[0]
        states = np.empty((len(seen), size), dtype=np.float32)
        state = np.zeros((len(sizes), size), dtype=np.float32)
        for place in order:
            goes_on = long > place
            rows = starts[goes_on] + place
            own, last = given[rows], state[goes_on]
            before = last @ weights + bias
            gates = 1 / (1 + np.exp(-(own[:, : 2 * size] + before[:, : 2 * size])))
            new = np.tanh(own[:, 2 * size :] + gates[:, :size] * before[:, 2 * size :])
            state[goes_on] = states[rows] = (1 - gates[:, size:]) * new + gates[:, size:] * last
        found.append(states)
    return np.concatenate(found, axis=1)


def stored(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what a file of weights says of itself, and the arrays of each network in it."""
    with np.load(path) as file:
        about: dict[str, Any] = json.loads(str(file["about"]))
        members: list[dict[str, Any]] = [{} for _ in range(about["members"])]
        for key in (one for one in file.files if one.startswith("s_")):
            member, _, name = key[2:].partition(".")
            members[int(member)][name] = file[key[2:]].astype(np.float32) * np.float32(file[key])
    return about, members


@cache
def network() -> Network:
    """Return the networks that ship with the package, loaded once."""
    return Network(WEIGHTS)


def _soft(scores: Matrix) -> Matrix:
    """Return rows of scores as probabilities."""
    powers: Matrix = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Matrix = powers / powers.sum(axis=1, keepdims=True)
    return shares
