"""Train the model that tells the kind and the risk of a task, and say how good it is.

    python benchmarks/train_tasks.py [--folds 5] [--save]

Learnt from are the labelled tasks of data/intents_train.jsonl and data/intents_own.jsonl, and the
words of data/task_words.jsonl, which count less. With `--folds` it is measured on the tasks that
were held out, never on what it has seen; `--save` writes the weights, a byte each.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from example import DATA, read
from numpy.typing import NDArray

from vaultmind.planner.task import BUCKETS, RISKS, WEIGHTS, bucket_of, features_of
from vaultmind.planner.types import TASK_KINDS

Floats = NDArray[np.float32]
STEPS, RATE, DECAY = 250, 0.1, 1e-5
WORD_WEIGHT = 0.8
"""What a word counts beside a task, times its strength."""


def rows_of(texts: Sequence[str]) -> Floats:
    """Return a row of features a text, its length 1."""
    rows = np.zeros((len(texts), BUCKETS + 1), np.float32)
    for at, text in enumerate(texts):
        places = sorted({bucket_of(feature) for feature, _ in features_of(text)})
        rows[at, places] = 1 / np.sqrt(max(1, len(places)))
    rows[:, BUCKETS] = 1.0
    return rows


def trained(rows: Floats, labels: NDArray[np.intp], counts: Floats, classes: int) -> Floats:
    """Return the weights of a logistic regression, found by Adam."""
    wanted = np.eye(classes, dtype=np.float32)[labels]
    weights = np.zeros((rows.shape[1], classes), np.float32)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        scores = rows @ weights
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        error = (odds / odds.sum(axis=1, keepdims=True) - wanted) * counts[:, None]
        slope = rows.T @ error / counts.sum() + DECAY * weights
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope * slope
        moved = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        weights -= RATE * moved
    return weights


def main() -> None:
    """Measure on tasks that were held out, then train on all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    tasks = [*read(DATA / "intents_train.jsonl"), *read(DATA / "intents_own.jsonl")]
    words = read(DATA / "task_words.jsonl")
    rows = rows_of([one["task"] for one in tasks])
    known = rows_of([one["text"] for one in words])
    parts = []
    for head, names in (("kind", TASK_KINDS), ("risk", RISKS)):
        labels = np.array([names.index(one[head]) for one in tasks])
        told = [at for at, one in enumerate(words) if head in one]
        more = np.array([names.index(words[at][head]) for at in told])
        weight = np.array([WORD_WEIGHT * words[at]["weight"] for at in told], np.float32)
        held = np.random.default_rng(0).permutation(len(tasks)) % max(1, options.folds)
        right = 0
        for fold in range(options.folds):
            seen = held != fold
            counts = np.concatenate([np.ones(seen.sum(), np.float32), weight])
            both = np.vstack([rows[seen], known[told]])
            found = trained(both, np.concatenate([labels[seen], more]), counts, len(names))
            right += int(((rows[~seen] @ found).argmax(axis=1) == labels[~seen]).sum())
        if options.folds:
            print(f"{head}: {right / len(tasks):.3f} of the tasks that were held out")
        if options.save:
            counts = np.concatenate([np.ones(len(tasks), np.float32), weight])
            both = np.vstack([rows, known[told]])
            parts.append(trained(both, np.concatenate([labels, more]), counts, len(names)))
    if options.save:
        weights = np.hstack(parts)
        scale = (np.abs(weights).max(axis=0) / 127).astype(np.float32)
        np.savez_compressed(WEIGHTS, weights=np.rint(weights / scale).astype(np.int8), scale=scale)
        print(f"{WEIGHTS}: {WEIGHTS.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
