"""Which words of a conversation tell a fact that can be understood by itself, and still holds.

A small network reads all that a person said in a conversation, forwards and backwards, over the
words as `language/network.py` sees them: "let's rehearse, I'll be the patient" counts for what
follows, "scrap that, we take Svelte" for what came before. There are two of them, as there are of
the reader, and their mean counts. Trained by `benchmarks/train_marks.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vaultmind.language.encoder import FEATURES, Word
from vaultmind.language.network import both_ways, layer, network, soft, stored

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

WEIGHTS = Path(__file__).with_name("marks.npz")
TOGETHER = 700
"""Words of a conversation that are read together, at most: a longer one is read in pieces."""


def marked(said: Sequence[tuple[str, object]]) -> Iterator[tuple[list[Word], Matrix]]:
    """Yield the words of each sentence and a row of probabilities a word: that it tells nothing,
    or a part of each sort of fact. `said` are a person's sentences, each with its message.
    """
    if not said:
        return
    words, rows = seen(said)
    each = [_tags(at, own) for at, own in zip(_networks(), rows, strict=True)]
    ends = np.cumsum([len(own) for own in words])[:-1]
    yield from zip(words, np.split(np.mean(each, axis=0), ends), strict=True)


def seen(said: Sequence[tuple[str, object]]) -> tuple[list[list[Word]], list[Matrix]]:
    """Return the words of each sentence, and for each network a row a word of all: what the encoder
    and the reader make of it, what sort of fact its sentence may be, whether it begins a message.
    """
    reader, words, last = network(), [], None
    rows: list[list[Matrix]] = [[] for _ in reader.members]
    for one, (_, message) in zip(reader.see([text for text, _ in said]), said, strict=True):
        words.append(one.words)
        for member, state in enumerate(one.states):
            likely = np.repeat(reader.labels(member, "facts", state)[0][None], len(state), axis=0)
            opens = np.zeros((len(state), 1), np.float32)
            opens[0] = message != last
            rows[member].append(np.concatenate([one.features, state, likely, opens], axis=1))
        last = message
    return words, [np.concatenate(own) for own in rows]


def _tags(at: dict[str, Any], rows: Matrix) -> Matrix:
    own = np.maximum(layer(at, "proj", rows[:, :FEATURES]), 0)
    hidden = np.maximum(layer(at, "t1", np.concatenate([own, rows[:, FEATURES:]], axis=1)), 0)
    sizes = [len(hidden[first:][:TOGETHER]) for first in range(0, len(hidden), TOGETHER)]
    return soft(layer(at, "tag", both_ways(at, "gru", hidden, sizes)))


@cache
def _networks() -> list[dict[str, Any]]:
    return stored(WEIGHTS)[1]
