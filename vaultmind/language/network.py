"""A small network over the words of a text: what the text is, and what each word is in it.

Words are projected, read in both directions by a gated recurrent layer, and pooled: by the largest
value and by attention. Each task (what is asked of the memory, what is a secret, what is a fact)
has heads of its own over the same words. Two networks that learnt from another start read each
text, and what is returned is their mean. `consolidate/marks.py` goes on from the same words over
whole conversations. Trained by `benchmarks/train_reader.py`; weights are stored as signed bytes, a
scale for each array.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
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
    """A row a word, a probability each tag; tag 0 is "nothing". Empty where a task has none."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the networks see in a text: rows of its words."""

    words: list[Word]
    features: Matrix
    """What the encoder makes of them."""
    states: list[Matrix]
    """What each network makes of those."""


class Network:
    """The trained networks of the package."""

    def __init__(self, path: Path) -> None:
        about, self.members = stored(path)
        self.heads: dict[str, dict[str, list[str]]] = about["heads"]
        """The labels of each head, by task."""

    def read(self, task: str, texts: Sequence[str]) -> list[Reading]:
        """Return what each text of a few sentences is: many at once take a fraction of the time."""
        return [self._reading(task, seen) for seen in self.see(texts)]

    def see(self, texts: Sequence[str]) -> Iterator[Seen]:
        """Yield what the networks see in each text."""
        for first in range(0, len(texts), AT_ONCE):
            said = [words_of(text) or [NOTHING] for text in texts[first : first + AT_ONCE]]
            yield from self._seen(said)

    def _seen(self, said: Sequence[list[Word]]) -> Iterator[Seen]:
        spelt = np.array([spellings(word.text) for words in said for word in words])
        seen, sizes = encoded(said), [len(words) for words in said]
        states = []
        for at in self.members:
            state = seen @ at["proj.weight"].T + at["proj.bias"]
            state = np.maximum(state + at["emb.weight"][spelt].sum(axis=1), 0)
            states.append(both_ways(at, "gru", state, sizes))
        each = (np.split(rows, np.cumsum(sizes)[:-1]) for rows in (seen, *states))
        for words, features, *own in zip(said, *each, strict=True):
            yield Seen(words, features, own)

    def labels(self, member: int, task: str, state: Matrix) -> list[Matrix]:
        """Return the probabilities of the labels of each head of a task, by one network."""
        at = self.members[member]
        weight = soft(layer(at, f"parts.{task}.att", state).T)
        pooled = np.concatenate([state.max(axis=0), (weight @ state)[0]])
        sizes = [len(names) for names in self.heads[task].values()]
        scores = layer(at, f"parts.{task}.out", pooled)
        return [soft(part[None])[0] for part in np.split(scores, np.cumsum(sizes)[:-1])]

    def _tags(self, member: int, task: str, state: Matrix, main: Matrix) -> Matrix:
        """Return the probabilities of the tags of each word, by one network."""
        at, own = self.members[member], f"parts.{task}"
        if f"{own}.tag.weight" not in at:
            return state[:, :0]
        beside = np.repeat(main[None], len(state), axis=0)
        hidden = np.maximum(layer(at, f"{own}.t1", np.concatenate([state, beside], axis=1)), 0)
        return soft(layer(at, f"{own}.tag", hidden))

    def _reading(self, task: str, seen: Seen) -> Reading:
        """Return the mean of what each network says of a text."""
        said = [self.labels(at, task, state) for at, state in enumerate(seen.states)]
        tags = [
            self._tags(at, task, state, heads[0])
            for at, (state, heads) in enumerate(zip(seen.states, said, strict=True))
        ]
        means = [np.mean(each, axis=0).tolist() for each in zip(*said, strict=True)]
        heads = {
            head: dict(zip(names, mean, strict=True))
            for (head, names), mean in zip(self.heads[task].items(), means, strict=True)
        }
        return Reading(seen.words, heads, np.mean(tags, axis=0))


def layer(at: dict[str, Any], name: str, given: Matrix) -> Matrix:
    """Return rows through a layer of a network."""
    result: Matrix = given @ at[f"{name}.weight"].T + at[f"{name}.bias"]
    return result


def both_ways(at: dict[str, Any], name: str, seen: Matrix, sizes: list[int]) -> Matrix:
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


def soft(scores: Matrix) -> Matrix:
    """Return rows of scores as probabilities."""
    powers: Matrix = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Matrix = powers / powers.sum(axis=1, keepdims=True)
    return shares
