"""Train the judge of credentials, and choose its threshold on lines that it has not seen.

    python benchmarks/train_credentials.py              # trains, and writes the weights that ship
    python benchmarks/train_credentials.py --held-out   # measures on lines it did not learn from

Learns from benchmarks/data/credentials_train.jsonl: sentences (`frame` numbers those that differ
in their secrets and names only) filled with made-up secrets and their look-alikes. The same data
gives the same bytes. credentials.jsonl, the blind set by another hand, is only measured.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vaultmind.redact.credentials import NEVER, TABLE, WEIGHTS, features, shape, tokens

DATA = Path(__file__).parent / "data"
TRAIN = DATA / "credentials_train.jsonl"
TUNING = [DATA / f"credentials_tuning_{part}.jsonl" for part in "abc"]
FOLDS = 4
EPOCHS, BATCH = 6, 512
RATE, L2, DROPPED = 0.3, 0.01, 0.15
PRECISION = 0.994
"""What the threshold is chosen for, on held-out lines."""
STEPS = np.arange(-3.0, 10.0, 0.1)

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


def load(*paths: Path) -> list[dict[str, Any]]:
    """Return the labelled lines of some files."""
    return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]


def rows(lines: list[dict[str, Any]]) -> tuple[Ints, Floats, Ints]:
    """Return each token's features, whether it is of a secret, and its line."""
    found, labels, owners = [], [], []
    for number, line in enumerate(lines):
        text, spans = line["text"], tokens(line["text"])
        if not spans:
            continue
        label = np.zeros(len(spans), np.float32)
        for secret in line["secrets"]:
            at = text.find(secret)
            while at >= 0:
                for i, (start, end) in enumerate(spans):
                    label[i] = max(label[i], start < at + len(secret) and end > at)
                at = text.find(secret, at + len(secret))
        keep = np.array([shape(text[a:b])[0] != NEVER for a, b in spans])
        found.append(features(text, spans)[keep])
        labels.append(label[keep])
        owners.append(np.full(keep.sum(), number))
    return np.concatenate(found), np.concatenate(labels), np.concatenate(owners)


def train(table: Ints, labels: Floats) -> Floats:
    """Return the weights of a logistic regression, by AdaGrad in a seeded order."""
    random = np.random.default_rng(0)
    weights = np.zeros(TABLE, np.float32)
    squares = np.full(TABLE, 1e-6, np.float32)
    for epoch in range(EPOCHS):
        order = random.permutation(len(table))
        for at in range(0, len(order), BATCH):
            some = order[at : at + BATCH]
            kept = random.random(table[some].shape) >= DROPPED
            odds = (weights[table[some]] * kept).sum(1) / (1 - DROPPED)
            wrong = 1 / (1 + np.exp(-np.clip(odds, -30, 30))) - labels[some]
            places, inverse = np.unique(table[some], return_inverse=True)
            slope = np.bincount(inverse.ravel(), (wrong[:, None] * kept).ravel(), len(places))
            slope = slope.astype(np.float32) + L2 * weights[places]
            squares[places] += slope * slope
            rate = RATE * (1 - epoch / EPOCHS)
            weights[places] -= rate * slope / np.sqrt(squares[places])
    return weights


def tops(lines: list[dict[str, Any]], owners: Ints, odds: Floats) -> list[tuple[bool, float]]:
    """Return for each line whether it holds a secret, and its highest odds."""
    best = np.full(len(lines), -99.0)
    np.maximum.at(best, owners, odds)
    return [(bool(line["secrets"]), float(top)) for line, top in zip(lines, best, strict=True)]


def measure(judged: list[tuple[bool, float]], threshold: float) -> tuple[float, float]:
    """Return recall and precision of lines at a threshold."""
    masked = [holds for holds, top in judged if top > threshold]
    right = sum(masked)
    return right / max(1, sum(h for h, _ in judged)), right / max(1, len(masked))


def choose(judged: list[tuple[bool, float]]) -> float:
    """Return the lowest threshold of the wanted precision, at it and above."""
    good = [float(step) for step in STEPS if measure(judged, float(step))[1] < PRECISION]
    return max(good, default=float(STEPS[0])) + 0.1


def by_frame(lines: list[dict[str, Any]]) -> list[tuple[bool, float]]:
    """Return each line's odds by weights that have not learnt from its frame."""
    table, labels, owners = rows(lines)
    fold = np.array([line["frame"] * 2654435761 % 97 % FOLDS for line in lines])[owners]
    odds = np.zeros(len(labels), np.float32)
    for one in range(FOLDS):
        seen = fold != one
        odds[~seen] = train(table[seen], labels[seen])[table[~seen]].sum(1)
    return tops(lines, owners, odds)


def by_file(taught: list[dict[str, Any]], others: bool) -> list[tuple[bool, float]]:
    """Return the odds of the tuning files' lines; each file may learn from the two others."""
    judged = []
    weights = None if others else train(*rows(taught)[:2])
    for path in TUNING:
        more = load(*(one for one in TUNING if one != path))
        lines = load(path)
        table, _, owners = rows(lines)
        learnt = weights if weights is not None else train(*rows(taught + more)[:2])
        judged += tops(lines, owners, learnt[table].sum(1))
    return judged


def show(name: str, judged: list[tuple[bool, float]], threshold: float) -> None:
    """Print recall and precision about a threshold."""
    for step in (threshold - 2, threshold - 1, threshold, threshold + 1):
        recall, precision = measure(judged, step)
        print(f"{name} at {step:.1f}: recall {recall:.3f}, precision {precision:.3f}")


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", action="store_true")
    options = parser.parse_args()
    taught, tuning = load(TRAIN), load(*TUNING)
    judged = by_file(taught, others=True)
    threshold = choose(judged)
    show("tuning files, each by the others", judged, threshold)
    if options.held_out:
        show("tuning files, not learnt from", by_file(taught, others=False), threshold)
        show("held-out frames", by_frame(taught), threshold)
        return
    weights = train(*rows(taught + tuning)[:2])
    scale = float(np.abs(weights).max()) / 127
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in (TRAIN, *TUNING))).hexdigest()
    packed = np.rint(weights / scale).astype(np.int8)
    np.savez_compressed(
        WEIGHTS,
        weights=packed,
        scale=np.float32(scale),
        threshold=np.float32(threshold),
        digest=np.frombuffer(digest.encode(), np.uint8),
    )
    print(f"{WEIGHTS.name}: {WEIGHTS.stat().st_size} bytes, {(packed != 0).sum()} weights")


if __name__ == "__main__":
    main()
