"""Train the three readers that ship in vaultmind/consolidate/weights, and measure them.

    python benchmarks/train_extractive.py                    # write the weights
    python benchmarks/train_extractive.py --measure alone    # by fives of the data, by threshold

`fact` says what sort of fact a piece of a sentence is: it learns from single sentences
(benchmarks/data/facts_*.jsonl) and from labelled dialogues. `alone` says whether a piece can be
understood by itself (alone_*.jsonl, the facts of dialogues_alone.jsonl, plain ones of facts_*);
`manner` says whether it is said in earnest (manner.jsonl). Each is trained by words alone, and
with vectors of the bundled embedder.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from extraction import PARTS
from extraction import load as dialogues
from softmax import Floats, Rows, packed, soft, train

from vaultmind.consolidate.extract import ALONE, MANNERS, PLACES, SORTS, WEIGHTS, places
from vaultmind.consolidate.talk import read_talk, spans
from vaultmind.index.embed import open_embedder
from vaultmind.memory.weights import VECTORS, WORDS
from vaultmind.memory.words import fold
from vaultmind.types import Message

DATA = Path(__file__).parent / "data"
TAUGHT = tuple(
    part for part in PARTS if part.startswith(("taught", "tuned", "round7", "round8", "round9"))
)
FOLDS = 5
MEANS = 1.5
"""What a vector weighs beside words."""
BALANCE = 0.5
"""Power of how rare a class is by which its texts count for more."""
PLAIN = 0.5
"""What a plain fact counts as one that stands alone: nobody labelled it so."""
THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled text, and what it counts."""

    label: int
    text: str
    weight: float = 1.0


def facts() -> Iterator[Row]:
    """Yield pieces of sentences with the sort of fact they are."""
    for lang in ("en", "pl", "ru"):
        for line in (DATA / f"facts_{lang}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            yield Row(SORTS.index(row["category"]), row["text"])
    for part in TAUGHT:
        for dialogue in dialogues(part):
            messages = [Message(m["role"], m["text"], "", id=m["id"]) for m in dialogue["messages"]]
            for one in read_talk(messages).by_user():
                if one.fault:
                    continue
                for at, piece in enumerate(spans(one.text)):
                    label = _label(one.key, fold(piece), dialogue)
                    if label is not None and (label != "SKIP" or at < 2):
                        yield Row(SORTS.index(label), piece, 0.3 if at else 1.0)


def _label(key: str, folded: str, dialogue: dict[str, Any]) -> str | None:
    near = False
    for gold in (one for one in dialogue["gold"] if key in one["evidence"]):
        says = [any(fold(way) in folded for way in ways) for ways in gold["says"]]
        if all(says) and (named := [one for one in gold["category"] if one in SORTS]):
            return str(named[0])
        near = near or any(says)
    for maybe in (one for one in dialogue["maybe"] if key in one["evidence"]):
        near = near or any(fold(way) in folded for ways in maybe["says"] for way in ways)
    return None if near else "SKIP"


def alone() -> Iterator[Row]:
    """Yield pieces of sentences with whether they can be understood by themselves."""
    files = [*DATA.glob("alone_t*.jsonl"), *DATA.glob("alone_[ab].jsonl")]
    for path in sorted(files):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield Row(int(row["alone"]), row["text"].rstrip(".!"))
    for line in (DATA / "dialogues_alone.jsonl").read_text("utf-8").splitlines():
        yield from (Row(1, fact["text"].rstrip(".")) for fact in json.loads(line)["facts"])
    for lang in ("en", "pl", "ru"):  # short and plain, which the rest hardly has: "I live in Leeds"
        for line in (DATA / f"facts_{lang}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            if row["category"] in ("CORE", "PREFERENCE"):
                yield Row(1, row["text"].rstrip(".!"), PLAIN)


def manners() -> Iterator[Row]:
    """Yield sentences with the manner in which they are said."""
    for line in (DATA / "manner.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        yield Row(MANNERS.index(row["label"]), row["text"], 3.0 if "own" in row else 1.0)
    for lang in ("en", "pl", "ru"):
        for line in (DATA / f"facts_{lang}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            if row["category"] != "SKIP":
                yield Row(0, row["text"], 2.0)


def seen(rows: Sequence[Row]) -> Rows:
    """Return the features of texts as the models weigh them."""
    found = [places(row.text) or [0] for row in rows]
    return Rows.of([[(place, 1 / np.sqrt(len(one))) for place in one] for one in found])


def trained(rows: Sequence[Row], dense: Floats, classes: Sequence[str], l2: float) -> Floats:
    """Return the weights of a model that learnt from texts."""
    goal = np.eye(len(classes), dtype=np.float32)[[row.label for row in rows]]
    each = np.array([row.weight for row in rows], dtype=np.float32)
    counts = (goal * each[:, None]).sum(axis=0)
    each = each * (goal @ (counts.mean() / counts) ** np.float32(BALANCE))
    return train(seen(rows), MEANS * dense, goal, each, PLACES, l2)


def measured(rows: Sequence[Row], dense: Floats, classes: Sequence[str], l2: float) -> None:
    """Print precision and recall of the last class against the rest (or of all but SKIP)."""
    told = np.zeros(len(rows))
    for fold_ in range(FOLDS):
        away = [at for at in range(len(rows)) if at // 7 % FOLDS == fold_]
        kept = [at for at in range(len(rows)) if at // 7 % FOLDS != fold_]
        found = trained([rows[at] for at in kept], dense[kept], classes, l2)
        there = [rows[at] for at in away]
        scores = seen(there).times(found[:PLACES]) + MEANS * dense[away] @ found[PLACES:-1]
        told[away] = 1 - soft(scores + found[-1])[:, -1 if classes == SORTS else 0]
    no = len(classes) - 1 if classes == SORTS else 0
    right = np.array([row.label != no for row in rows])
    for least in THRESHOLDS:
        chosen = told >= least
        precision = (right & chosen).sum() / max(1, chosen.sum())
        print(f"  {least}: P {precision:.3f} R {(right & chosen).sum() / right.sum():.3f}")


def main() -> None:
    """Measure, or write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--measure", choices=("fact", "alone", "manner"))
    parser.add_argument("--only", choices=("fact", "alone", "manner"))
    parser.add_argument("--l2", type=float, default=2e-4)
    given = parser.parse_args()
    embedder = open_embedder(VECTORS)
    assert embedder is not None
    WEIGHTS.mkdir(exist_ok=True)
    for name, load, classes in (
        ("fact", facts, SORTS),
        ("alone", alone, ALONE),
        ("manner", manners, MANNERS),
    ):
        if name not in (given.measure or given.only or name):
            continue
        rows = list(load())
        print(name, len(rows), flush=True)
        vectors = embedder.embed([row.text for row in rows]).astype(np.float32)
        for kind, dense in ((WORDS, vectors[:, :0]), (VECTORS, vectors)):
            if given.measure:
                print(kind)
                measured(rows, dense, classes, given.l2)
                continue
            found = trained(rows, dense, classes, given.l2)
            found[PLACES:-1] *= MEANS
            head = {"classes": list(classes), "texts": len(rows), "made by": Path(__file__).name}
            data = packed(head, found, PLACES)
            (WEIGHTS / f"{name}-{kind}.weights").write_bytes(data)
            print(f"Wrote {name}-{kind}.weights ({len(data)} bytes).", flush=True)


if __name__ == "__main__":
    main()
