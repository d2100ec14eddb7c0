"""Train the networks of `vaultmind/memory/contradictions.py`, and write the weights that ship.

    pip install torch && python benchmarks/train_contradictions.py
    python benchmarks/train_contradictions.py --held-out b --out /tmp/contradictions.npz

Each writer's pairs are a file; held out, a writer's pairs are measured by networks that learnt from
the others'. Needs torch, which the package does not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from contradictions import lives, words_digest
from torch import Tensor
from torch.nn import functional, init
from train_reader import write

from vaultmind.memory.contradictions import WEIGHTS, WORDS, Side, beside, side

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

DATA = Path(__file__).parent / "data"
MEMBERS, WORD, PAIR, LAST = 3, 32, 48, 32
"""Networks that learn from another start; sizes of their layers."""
EPOCHS, BATCH, RATE, DECAY, DROP = 14, 64, 2e-3, 0.05, 0.2
OTHERS, CLOSE = 2500, 0.6
"""Pairs of an epoch whose facts are about something else; the share whose words are close."""
APART, NEAREST = 0.45, 14
"""Likeness of two old facts below which a new one that contradicts one says nothing of the other;
how many close ones a new fact is shown beside."""
COMPATIBLE = ("claims_blind2", "claims_blind3", "dialogues_alone")
"""Facts of one person each."""
LIFE = 700
"""Pairs of them in an epoch."""
WRITERS = "abcdefghij"
BASIS, TOLD, WHOLE = 192, 19, 10
"""Sizes of what is seen: of a word's state, of what tells of a word and of a pair."""
TURNED, CROSSED, APART_COUNTS = 0.5, 0.4, 0.7
"""What a pair counts that was made by turning one round, by saying the old fact
otherwise, or of facts about different things."""


class Pair:
    """Two facts, whether the new one contradicts the old one, and what the example counts."""

    def __init__(self, line: dict[str, Any], old: str, new: str, weight: float = 1.0) -> None:
        self.old, self.new, self.weight = old, new, weight
        self.lang, self.relation = line["lang"], line["relation"]
        self.right = float(self.relation == "contradicts")


def pairs(writer: str) -> list[Pair]:
    """Return a writer's pairs."""
    path = DATA / f"contradict_{writer}.jsonl"
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    return [Pair(line, line["old"], line["new"]) for line in lines]


def varied(rows: Sequence[Pair]) -> Iterator[Pair]:
    """Yield pairs made of others: turned round, with the old fact said otherwise, or with more."""
    dice, said = random.Random(1), {}
    for row in rows:
        if row.relation == "same":
            said.setdefault(row.old, []).append(row.new)
    for row in rows:
        line = {"lang": row.lang, "relation": row.relation}
        if row.relation in ("adds", "unrelated"):
            yield Pair(line, row.new, row.old, TURNED)
        for old in said.get(row.old, ()):
            yield Pair(line, *((old, row.new) if old != row.new else (old, row.old)), CROSSED)
        more = dice.choice(rows)
        if more.lang == row.lang and more.old != row.old:
            more = f"{row.old}, {more.old[:1].lower()}{more.old[1:]}"
            yield Pair({**line, "relation": "adds"}, row.old, more, TURNED)


def others(
    rows: Sequence[Pair], known: dict[str, Side]
) -> Iterator[tuple[Pair, list[str], list[str]]]:
    """Yield pairs with facts that their new fact says nothing of: close ones, and all."""
    for lang in {row.lang for row in rows}:
        own = [row for row in rows if row.lang == lang]
        old, new = ([known[getattr(row, name)] for row in own] for name in ("old", "new"))
        said = np.stack([fact.vector for fact in old])
        close = np.stack([fact.vector for fact in new]) @ said.T
        close += np.stack([fact.mean for fact in new]) @ np.stack([fact.mean for fact in old]).T
        for row, likeness, likest in zip(own, said @ said.T, np.argsort(-close), strict=True):
            far = [own[at].old for at in likest if likeness[at] < APART]
            if far:
                yield row, far[:NEAREST], far


class Examples:
    """Pairs of facts as arrays, each laid out once; states in the directions where they vary."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.sides = {text: side(text) for text in texts}
        states = np.concatenate([fact.states for fact in self.sides.values()])
        _, vectors = np.linalg.eigh(states.T @ states)
        self.basis = vectors[:, -BASIS:]
        self._known: dict[tuple[str, str], Any] = {}

    def one(self, pair: tuple[str, str]) -> Any:  # noqa: ANN401
        """Return two facts' words, how they lie beside each other, and what tells of both."""
        if pair not in self._known:
            both = [self.sides[text] for text in pair]
            self._known[pair] = ([fact.states @ self.basis for fact in both], *beside(*both))
        return self._known[pair]

    def batch(self, pairs: Sequence[tuple[str, str]]) -> list[Tensor]:
        """Return pairs as tensors, filled up to the longest fact."""
        seen = [self.one(pair) for pair in pairs]
        long = max(len(side) for both, _, _ in seen for side in both)

        def filled(rows: list[list[Matrix]], wide: int) -> Tensor:
            found = torch.zeros(2, len(rows), long, wide)
            for at, both in enumerate(rows):
                for k, one in enumerate(both):
                    found[k, at, : one.shape[0], : one.shape[1]] = torch.from_numpy(one)
            return found

        states = filled([both for both, _, _ in seen], BASIS)
        shares = filled([[share for share, _ in laid] for _, laid, _ in seen], long)
        told = filled([[tell for _, tell in laid] for _, laid, _ in seen], TOLD)
        there = filled([[np.ones((len(side), 1)) for side in both] for both, _, _ in seen], 1)
        return [states, shares, told, there, torch.from_numpy(np.stack([one[2] for one in seen]))]


def forward(at: dict[str, Tensor], seen: Sequence[Tensor], drop: float = 0.0) -> Tensor:
    """Return scores, as `vaultmind.memory.contradictions.score` does."""
    states, shares, told, there, whole = seen

    def layer(name: str, given: Tensor) -> Tensor:
        given = functional.dropout(given, drop, bool(drop))
        return functional.linear(given, at[f"{name}.weight"], at[f"{name}.bias"])

    hidden = functional.dropout(functional.relu(layer("word", states)) * there, drop, bool(drop))
    pooled = []
    for k, name in enumerate(("old", "new")):
        own, like = hidden[k], shares[k] @ hidden[1 - k]
        both = torch.cat([own, like, (own - like).abs(), own * like, told[k]], -1)
        both = functional.linear(both, at[f"{name}.weight"], at[f"{name}.bias"])
        both = functional.relu(both) * there[k]
        pooled += [both.max(1).values, both.sum(1) / WORDS]
    last = functional.relu(layer("both", torch.cat([*pooled, whole], -1)))
    return layer("out", last).squeeze(-1)


def learn(rows: Sequence[Pair], examples: Examples, seed: int) -> dict[str, Tensor]:
    """Return the layers of a network that learnt from pairs."""
    torch.manual_seed(seed)
    dice = random.Random(seed)
    shapes = {"word": (WORD, BASIS), "old": (PAIR, 4 * WORD + TOLD), "new": (PAIR, 4 * WORD + TOLD)}
    shapes |= {"both": (LAST, 4 * PAIR + WHOLE), "out": (1, LAST)}
    at = {f"{name}.weight": torch.empty(shape) for name, shape in shapes.items()}
    at |= {f"{name}.bias": torch.zeros(out) for name, (out, _) in shapes.items()}
    for name in shapes:
        init.kaiming_uniform_(at[f"{name}.weight"], a=5**0.5)
    apart = list(others(rows, examples.sides))
    weights = [1.0 if row.right else 0.4 for row, _, _ in apart]
    taught = [((row.old, row.new), row.right, row.weight) for row in (*rows, *varied(rows))]
    for each in at.values():
        each.requires_grad_()
    compatible = list(lives(*COMPATIBLE))
    steps = EPOCHS * ((len(taught) + OTHERS + LIFE) // BATCH)
    optimiser = torch.optim.AdamW(at.values(), lr=RATE, weight_decay=DECAY)
    plan = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, (step + 1) / 50) * max(0, 1 - step / steps)
    )
    for _ in range(EPOCHS):
        shown = [*taught, *((pair, 0.0, 1.0) for pair in dice.sample(compatible, LIFE))]
        for row, near, far in dice.choices(apart, weights, k=OTHERS):
            old = dice.choice(near if dice.random() < CLOSE else far)
            shown.append(((old, row.new), 0.0, APART_COUNTS))
        dice.shuffle(shown)
        for first in range(0, len(shown) - BATCH + 1, BATCH):
            pairs, right, count = zip(*shown[first : first + BATCH], strict=True)
            scores = forward(at, examples.batch(pairs), DROP)
            each = functional.binary_cross_entropy_with_logits(
                scores, torch.tensor(right), reduction="none"
            )
            optimiser.zero_grad()
            (each * torch.tensor(count)).mean().backward()
            optimiser.step()
            plan.step()
    return {name: each.detach() for name, each in at.items()}


_learnt: list[tuple[list[Pair], Examples]] = []
"""What is learnt from: the processes that learn have it from the one that read it."""


def trained(seed: int) -> dict[str, Any]:
    """Return the weights of a network that learnt from a start of its own."""
    torch.set_num_threads(1)
    rows, examples = _learnt[0]
    net = {name: each.numpy() for name, each in learn(rows, examples, seed).items()}
    return {**net, "word.weight": net["word.weight"] @ examples.basis.T}


def main() -> None:
    """Train the networks, and write them for the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", default="", help="writers to leave out: bc")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="file of the weights")
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows = [row for one in WRITERS if one not in given.held_out for row in pairs(one)]
    said = [text for row in (*rows, *varied(rows)) for text in (row.old, row.new)]
    examples = Examples(
        [*dict.fromkeys([*said, *(text for pair in lives(*COMPATIBLE) for text in pair)])]
    )
    _learnt.append((rows, examples))
    with multiprocessing.get_context("fork").Pool() as pool:
        nets = pool.map(trained, range(MEMBERS))
    digest = hashlib.sha256("\n".join(sorted(f"{row.old} {row.new}" for row in rows)).encode())
    about = {"version": 1, "members": MEMBERS, "rows": len(rows), "data": digest.hexdigest()[:16]}
    write(nets, {**about, "reader": words_digest()}, given.out)


if __name__ == "__main__":
    main()
