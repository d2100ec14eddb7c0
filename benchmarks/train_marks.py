"""Train the network of `vaultmind/consolidate/marks.py`, and write the weights that ship.

    pip install torch && python benchmarks/train_marks.py

It learns over words as the reader's networks see them, which stay as they are: after
`train_reader.py` it is to be trained anew. What was told and is not to be kept counts for more.
`benchmarks/extraction.py` measures it. Needs torch, which the package does not.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from contradictions import words_digest
from torch import Tensor, nn
from torch.nn import functional
from train_reader import FACTS, Row, both_ways, learn, lines, sayings, span, write

from vaultmind.consolidate import marks
from vaultmind.consolidate.extract import own_words
from vaultmind.language.encoder import FEATURES
from vaultmind.language.network import network
from vaultmind.language.text import plain_sentences

SORTS = FACTS["fact"][:-1]
SEEN, HIDDEN, STATES, BESIDE = 64, 128, 384, len(FACTS["fact"]) + 1
EPOCHS, WORDS = 8, 2400
"""Times that all is learnt, and words of the conversations that are learnt in one step."""
NEVER = 3.0
"""What a word counts of what is told and not to be kept."""
AROUND, JOINED = 3, 0.5
"""Sentences before and after a plain fact; share of those that stand in the message before."""
Sentence = tuple[str, int, list[tuple[int, int, int]]]
"""A sentence, the number of its message, and what is marked in it: begin, end, tag."""
UNKEPT = -2
"""Tag of what is not to be kept."""


class Talk(NamedTuple):
    """What a person said in a conversation."""

    rows: list[Any]
    """By each of the reader's networks: a row a word."""
    tags: Any
    """What every word is."""


def read(said: Sequence[Sentence]) -> Talk:
    """Return what was said with its words as the networks see them."""
    each, rows = marks.seen([(text, at) for text, at, _ in said])
    tags = [
        next((tag for a, b, tag in spans if word.start < b and word.end > a), 0)
        for words, (_, _, spans) in zip(each, said, strict=True)
        for word in words
    ]
    return Talk([one.astype(np.float16) for one in rows], np.array(tags))


def talks() -> list[list[Sentence]]:
    """Return all that was marked, conversation by conversation, and what was labelled alone."""
    found: dict[str, list[Sentence]] = {}
    for stem, line in lines("marked_*.jsonl"):
        of = line.get("of") or f"{stem}/{len(found)}"
        talk = found.setdefault(of, [])
        at = talk[-1][1] + 1 if talk else 0
        told = [
            (one["text"], -1 if one.get("maybe") else SORTS.index(one["kind"]) + 1)
            for one in line["facts"]
        ]
        told += [(text, UNKEPT) for text in line.get("never", ())]
        for sentence in plain_sentences(own_words(line["text"])[0]):
            spans = [
                one for text, tag in told for one in span(sentence, " ".join(text.split()), tag)
            ]
            talk.append((sentence, at, spans))
    alone = [row for row in sayings() if row.spans is not None]
    single = ([(row.text, 0, row.spans or [])] for row in alone)
    return [*filter(None, found.values()), *single, *among(alone, found)]


def among(alone: Sequence[Row], found: dict[str, list[Sentence]]) -> Iterator[list[Sentence]]:
    """Yield short plain facts, and what looks like one, amid what people say of something else."""
    dice = random.Random(2)
    quiet: dict[str, list[list[Sentence]]] = {}
    for of, talk in found.items():
        if talk and all(tag != UNKEPT for *_, spans in talk for *_, tag in spans):
            quiet.setdefault(of.removeprefix("marked_")[:2], []).append(talk)
    for row in alone:
        if row.writer.startswith("facts_"):
            talk = dice.choice(quiet[row.writer[-2:]])
            at = dice.randrange(len(talk) + 1)
            message = talk[at - 1][1] if at and dice.random() < JOINED else -1
            yield [*talk[:at][-AROUND:], (row.text, message, row.spans or []), *talk[at:][:AROUND]]


class Marks(nn.Module):
    """The network of `vaultmind.consolidate.marks`, to be trained."""

    def __init__(self) -> None:
        super().__init__()
        self.proj = nn.Linear(FEATURES, SEEN)
        self.t1 = nn.Linear(SEEN + STATES + BESIDE, HIDDEN)
        self.gru = nn.GRU(HIDDEN, HIDDEN // 2, batch_first=True, bidirectional=True)
        self.tag = nn.Linear(2 * HIDDEN, len(SORTS) + 1)
        self.some, self.few = nn.Dropout(0.4), nn.Dropout(0.3)

    def forward(self, given: Tensor, there: Tensor) -> Tensor:
        """Return scores of the tags of each word."""
        features, states, beside = given.split([FEATURES, STATES, BESIDE], dim=-1)
        own = functional.relu(self.proj(self.few(features)))
        hidden = torch.cat([self.some(torch.cat([own, states], -1)), beside], -1)
        hidden = functional.relu(self.t1(hidden))
        found: Tensor = self.tag(self.some(both_ways(self.gru, hidden, self.some(hidden), there)))
        return found


def batches(rows: Sequence[tuple[Any, Any]], dice: random.Random) -> list[list[Any]]:
    """Return conversations of about the same length together, each batch of so many words."""
    rows, found = dice.sample(rows, len(rows)), []
    for at in range(0, len(rows), 600):
        some: list[Any] = []
        for row in sorted(rows[at : at + 600], key=lambda row: len(row[1])):
            if some and len(row[1]) * (len(some) + 1) > WORDS:
                found.append(some)
                some = []
            some.append(row)
        found.append(some)
    return dice.sample(found, len(found))


def loss_of(net: Marks, some: Sequence[tuple[Any, Any]]) -> Tensor:
    """Return how wrong a network is about some conversations."""
    longest = max(len(tags) for _, tags in some)
    given = torch.zeros(len(some), longest, some[0][0].shape[1])
    tags, there = torch.full((len(some), longest), -1), torch.zeros(len(some), longest)
    for at, (rows, right) in enumerate(some):
        given[at, : len(right)] = torch.from_numpy(rows.astype(np.float32))
        tags[at, : len(right)], there[at, : len(right)] = torch.from_numpy(right), 1
    weight = torch.where(tags == UNKEPT, NEVER, 1.0)
    right = tags.masked_fill(tags == UNKEPT, 0)
    scores = net(given, there).flatten(0, 1)
    loss = functional.cross_entropy(scores, right.flatten(), ignore_index=-1, reduction="none")
    return (loss * weight.flatten()).sum() / (right >= 0).sum()


_learnt: list[Talk] = []


def trained(seed: int) -> dict[str, Any]:
    """Return the weights of a network over the words of one of the reader's networks."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rows = [
        (talk.rows[seed][at : at + marks.TOGETHER], talk.tags[at : at + marks.TOGETHER])
        for talk in _learnt
        for at in range(0, len(talk.tags), marks.TOGETHER)
    ]
    dice, net = random.Random(seed), Marks()
    best = learn(net, lambda: batches(rows, dice), lambda some: loss_of(net, some), EPOCHS)
    return {key: value.numpy() for key, value in best.state_dict().items()}


def main() -> None:
    """Train the networks, and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=marks.WEIGHTS, help="file of the weights")
    given = parser.parse_args()
    torch.set_num_threads(1)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        _learnt.extend(pool.map(read, talks(), chunksize=200))
    print(f"{len(_learnt)} conversations and sentences", flush=True)
    members = range(len(network().members))
    with multiprocessing.get_context("fork").Pool(len(members)) as pool:
        nets = pool.map(trained, members)
    about = {"members": len(nets), "learnt": len(_learnt), "reader": words_digest()}
    write(nets, about, given.out)


if __name__ == "__main__":
    main()
