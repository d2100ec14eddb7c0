"""Train the linear models that ship in vaultmind/consolidate/facts/weights, and measure them.

    python benchmarks/train_extractive.py            # five-fold measure of both, then write
    python benchmarks/train_extractive.py --only-measure --show

Learns from benchmarks/data/facts_{en,pl,ru}.jsonl (one line: {"category", "text"}). Softmax
regression with L2 in full batches; the same data gives the same bytes. Sentences that mean
nearly the same, in whichever languages, are held out together: else a model would be measured on
what it had read in translation.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vaultmind.consolidate.facts.features import PLACES, features
from vaultmind.consolidate.facts.linear import CLASSES, FOLDER, VECTORS, WORDS
from vaultmind.index.embed import open_embedder

DATA = Path(__file__).parent / "data"
LANGUAGES = ("en", "pl", "ru")
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


def load() -> list[Row]:
    """Return every labelled sentence."""
    return [
        Row(lang, CLASSES.index(row["category"]), row["text"])
        for lang in LANGUAGES
        for row in map(json.loads, (DATA / f"facts_{lang}.jsonl").read_text("utf-8").splitlines())
    ]


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


def folds(vectors: Floats, seed: int) -> list[Ints]:
    """Return the sentences in parts; those that mean nearly the same stand in one part."""
    alike = vectors @ vectors.T >= TWINS
    group = list(range(len(vectors)))

    def root(at: int) -> int:
        while group[at] != at:
            at = group[at]
        return at

    for one, other in np.argwhere(np.triu(alike, 1)):
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


def write(name: str, x: Floats, vectors: Floats | None, adds: Floats, bias: Floats) -> None:
    """Write a model's weights as signed bytes."""
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
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.weights"
    path.write_bytes(json.dumps(head).encode() + b"\n" + body)
    print(f"\nWrote {path} ({path.stat().st_size} bytes).")


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
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    rows = load()
    embedder = open_embedder(VECTORS)
    assert embedder is not None
    x, vectors = hashed(rows), embedder.embed([row.text for row in rows])
    y = np.array([row.label for row in rows])
    parts = folds(vectors, given.seed)
    by_words = x @ x.T
    by_both = by_words + EMBEDDED * EMBEDDED * (vectors @ vectors.T)
    for name, kernel, seen in ((WORDS, by_words, None), (VECTORS, by_both, vectors)):
        if not given.no_measure:
            found = held_out(kernel, y, parts)
            report(name, found, rows)
            if given.show:
                for row, told in zip(rows, found, strict=True):
                    if (told[-1] >= 0.5) != (CLASSES[row.label] == "SKIP"):
                        print(f"{row.lang} {CLASSES[row.label]} {1 - told[-1]:.2f} {row.text}")
        if not given.only_measure:
            write(name, x, seen, *train(kernel, y))


if __name__ == "__main__":
    main()
