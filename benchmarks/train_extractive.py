"""Train the linear models that ship in vaultmind/consolidate/facts/weights, and measure them.

    python benchmarks/train_extractive.py            # five-fold measure of both, then write
    python benchmarks/train_extractive.py --only-measure --show

    python benchmarks/train_extractive.py --dialogues --embedder use   # whole dialogues held out

Learns from benchmarks/data/facts_{en,pl,ru}.jsonl (one line: {"category", "text"}) and from what
users say in the labelled dialogues that were looked at. Softmax regression with L2 in full
batches; the same data gives the same bytes. Sentences that mean nearly the same, in whichever
languages, are held out together, and so are those of one dialogue: else a model would be measured
on what it had read in translation. `--dialogues` runs the whole of extraction on each dialogue
with models that never saw it, at several thresholds; nothing is written.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from extraction import PARTS, run, table
from extraction import load as dialogues
from numpy.typing import NDArray

from vaultmind.consolidate.facts import extractive, linear
from vaultmind.consolidate.facts.extractive import open_to, stated
from vaultmind.consolidate.facts.features import PLACES, features
from vaultmind.consolidate.facts.linear import CLASSES, FOLDER, VECTORS, WORDS, Linear
from vaultmind.consolidate.facts.talk import read_talk
from vaultmind.consolidate.facts.types import Category
from vaultmind.index.embed import open_embedder
from vaultmind.memory.words import fold
from vaultmind.types import Message

DATA = Path(__file__).parent / "data"
LANGUAGES = ("en", "pl", "ru")
TAUGHT = tuple(part for part in PARTS if part.startswith(("taught", "tuned", "round7")))
"""The dialogues that are learnt from: all that were looked at."""
FOLDS = 5
ROUNDS = 500
RATE = 4.0
L2 = 3e-4
EMBEDDED = 1.5
"""What a vector of length 1 weighs beside features of length 1."""
TWINS = 0.6
"""Cosine from which two sentences are held out together."""
THRESHOLDS = (0.4, 0.5, 0.6, 0.7)
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled sentence."""

    lang: str
    label: int
    text: str
    dialogue: str = ""
    """The dialogue it was said in; empty for a sentence by itself."""


def load() -> list[Row]:
    """Return every labelled sentence, and then those of dialogues."""
    alone = [
        Row(lang, CLASSES.index(row["category"]), row["text"])
        for lang in LANGUAGES
        for row in map(json.loads, (DATA / f"facts_{lang}.jsonl").read_text("utf-8").splitlines())
    ]
    return [*alone, *(row for part in TAUGHT for talk in dialogues(part) for row in said_in(talk))]


def said_in(dialogue: dict[str, Any]) -> Iterator[Row]:
    """Yield what the user of a dialogue says, labelled by its facts; the unclear is left out."""
    talk = read_talk([Message(m["role"], m["text"], "", id=m["id"]) for m in dialogue["messages"]])
    for one in open_to(list(talk.by_user())):
        text = stated(one)
        label = _label(one.key, fold(text), dialogue)
        if label is not None:
            yield Row(dialogue["lang"], CLASSES.index(label), text, dialogue["id"])


def _label(key: str, folded: str, dialogue: dict[str, Any]) -> Category | None:
    near = False
    for gold in (one for one in dialogue["gold"] if key in one["evidence"]):
        says = [any(fold(way) in folded for way in ways) for ways in gold["says"]]
        if all(says) and (named := [one for one in gold["category"] if one in CLASSES]):
            return cast("Category", named[0])
        near = near or any(says)
    for maybe in (one for one in dialogue["maybe"] if key in one["evidence"]):
        near = near or any(fold(way) in folded for ways in maybe["says"] for way in ways)
    return None if near else "SKIP"


def hashed(rows: list[Row]) -> Floats:
    """Return the hashed features of some sentences, each row of length 1."""
    found = np.zeros((len(rows), PLACES), dtype=np.float32)
    for at, row in enumerate(rows):
        places = features(row.text)
        found[at, places] = 1 / np.sqrt(len(places))
    return found


def train(kernel: Floats, y: Ints) -> tuple[Floats, Floats]:
    """Return what each sentence adds to the weights, and the bias.

    Accelerated gradient descent on the weights, written by what the sentences add to them: it
    needs only how alike each two are.
    """
    goal = np.eye(len(CLASSES), dtype=np.float32)[y]
    counts = goal.sum(axis=0)
    each = (goal @ np.sqrt(counts.mean() / counts)).astype(np.float32)[:, None] / len(y)
    adds = np.zeros(goal.shape, dtype=np.float32)
    bias = np.zeros(len(CLASSES), dtype=np.float32)
    before, ahead = adds, adds
    for turn in range(ROUNDS):
        off = (soft(kernel @ ahead + bias) - goal) * each
        adds = ahead - RATE * (off + L2 * ahead)
        bias = bias - RATE * off.sum(axis=0)
        ahead = adds + np.float32(turn / (turn + 3)) * (adds - before)
        before = adds
    return adds, bias


def soft(scores: Floats) -> Floats:
    """Return rows of scores as probabilities."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float32)


def folds(vectors: Floats, rows: list[Row], seed: int) -> list[Ints]:
    """Return the sentences in parts; those that mean nearly the same stand in one part.

    So do all sentences of one dialogue, which are like others by chance and join nothing.
    """
    alike = vectors @ vectors.T >= TWINS
    group = list(range(len(vectors)))

    def root(at: int) -> int:
        while group[at] != at:
            at = group[at]
        return at

    first: dict[str, int] = {}
    for at, row in enumerate(rows):
        if row.dialogue:
            group[at] = first.setdefault(row.dialogue, at)
    for one, other in np.argwhere(np.triu(alike, 1)):
        if not rows[int(one)].dialogue and not rows[int(other)].dialogue:
            group[root(int(other))] = root(int(one))
    together: dict[int, list[int]] = defaultdict(list)
    for at in range(len(vectors)):
        together[root(at)].append(at)
    order = sorted(together.values())
    random.Random(seed).shuffle(order)
    parts: list[list[int]] = [[] for _ in range(FOLDS)]
    for members in order:
        min(parts, key=len).extend(members)
    return [np.array(sorted(part)) for part in parts]


def held_out(kernel: Floats, y: Ints, parts: list[Ints]) -> Floats:
    """Return each sentence's probabilities by a model that never saw it."""
    found = np.zeros((len(y), len(CLASSES)), dtype=np.float32)
    for held in parts:
        rest = np.setdiff1d(np.arange(len(y)), held)
        adds, bias = train(kernel[np.ix_(rest, rest)], y[rest])
        found[held] = soft(kernel[np.ix_(held, rest)] @ adds + bias)
    return found


def report(name: str, found: Floats, rows: list[Row]) -> None:
    """Print how well facts are told from the rest, and the categories from each other."""
    skip = CLASSES.index("SKIP")
    keeps, best = 1 - found[:, skip], found[:, :-1].argmax(axis=1)
    y = np.array([row.label for row in rows])
    print(f"\n| {name} | sentences | threshold | precision | recall | category right |")
    print("|---|---:|---:|---:|---:|---:|")
    for lang in (*LANGUAGES, "all"):
        own = np.array([lang in (row.lang, "all") for row in rows])
        facts = own & (y != skip)
        for threshold in THRESHOLDS:
            kept = own & (keeps >= threshold)
            right = kept & facts
            same = float((best[right] == y[right]).mean())
            print(
                f"| {lang} | {own.sum()} | {threshold} | {right.sum() / kept.sum():.3f} "
                f"| {right.sum() / facts.sum():.3f} | {same:.3f} |"
            )


def packed(x: Floats, vectors: Floats | None, adds: Floats, bias: Floats) -> bytes:
    """Return a model's file: its head, and its weights as signed bytes."""
    weights, scale = small(x.T @ adds)
    body, dim, vector_scale = weights.T.tobytes(), 0, 0.0
    if vectors is not None:
        meaning, vector_scale = small(EMBEDDED * EMBEDDED * (vectors.T @ adds))
        body, dim = body + meaning.T.tobytes(), vectors.shape[1]
    head = {
        "classes": list(CLASSES),
        "scale": scale,
        "bias": [round(float(one), 6) for one in bias],
        "dim": dim,
        "vector_scale": vector_scale,
        "sentences": len(x),
        "made by": "benchmarks/train_extractive.py",
    }
    return json.dumps(head).encode() + b"\n" + body


def write(name: str, data: bytes) -> None:
    """Write a model's file into the package."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.weights"
    path.write_bytes(data)
    print(f"\nWrote {path} ({path.stat().st_size} bytes).")


def whole(name: str, rows: list[Row], x: Floats, vectors: Floats | None, kernel: Floats) -> None:
    """Print what extraction finds in dialogues that its model has not seen, by threshold."""
    y = np.array([row.label for row in rows])
    embedder = None if vectors is None else open_embedder(VECTORS)
    talks = [talk for part in TAUGHT for talk in dialogues(part)]
    models: list[Linear] = []
    for fold_ in range(FOLDS):
        held = {talk["id"] for talk in talks[fold_::FOLDS]}
        rest = np.array([at for at, row in enumerate(rows) if row.dialogue not in held])
        seen = None if vectors is None else vectors[rest]
        data = packed(x[rest], seen, *train(kernel[np.ix_(rest, rest)], y[rest]))
        models.append(linear.read(data, name))
    for threshold in THRESHOLDS:
        extractive.KEEPS = extractive.KEEPS_BY_WORDS = threshold
        found = []
        for fold_, model in enumerate(models):
            setattr(linear, "model", lambda _, model=model: model)  # noqa: B010
            found += [run(talk, embedder) for talk in talks[fold_::FOLDS]]
        for part in TAUGHT:
            own = {talk["id"] for talk in dialogues(part)}
            table(
                f"{part} held out, {name}, from {threshold}",
                [one for one in found if one.dialogue["id"] in own],
            )


def small(weights: Floats) -> tuple[NDArray[np.int8], float]:
    """Return weights as signed bytes, and what a byte of 1 weighs."""
    scale = round(float(np.abs(weights).max()) / 127, 9)
    return np.round(weights / scale).clip(-127, 127).astype(np.int8), scale


def main() -> None:
    """Measure, then write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only-measure", action="store_true")
    parser.add_argument("--no-measure", action="store_true")
    parser.add_argument("--show", action="store_true", help="print the sentences that are wrong")
    parser.add_argument("--dialogues", action="store_true", help="hold out whole dialogues")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    rows = load()
    embedder = open_embedder(VECTORS)
    assert embedder is not None
    x, vectors = hashed(rows), embedder.embed([row.text for row in rows])
    y = np.array([row.label for row in rows])
    parts = folds(vectors, rows, given.seed)
    by_words = x @ x.T
    by_both = by_words + EMBEDDED * EMBEDDED * (vectors @ vectors.T)
    for name, kernel, seen in ((WORDS, by_words, None), (VECTORS, by_both, vectors)):
        if given.dialogues:
            whole(name, rows, x, seen, kernel)
            continue
        if not given.no_measure:
            found = held_out(kernel, y, parts)
            report(name, found, rows)
            if given.show:
                for row, told in zip(rows, found, strict=True):
                    if (told[-1] >= 0.5) != (CLASSES[row.label] == "SKIP"):
                        print(f"{row.lang} {CLASSES[row.label]} {1 - told[-1]:.2f} {row.text}")
        if not given.only_measure:
            write(name, packed(x, seen, *train(kernel, y)))


if __name__ == "__main__":
    main()
