"""Train the linear models that ship in vaultmind/consolidate/facts/weights, and measure one.

    python benchmarks/train_extractive.py            # trains both, and writes
    python benchmarks/train_extractive.py --measure  # the second, dialogues held out

The first tells what a sentence is to memory. It learns from benchmarks/data/facts_{en,pl,ru}.jsonl
(one line: {"category", "text"}) and from what users say in the labelled dialogues that were looked
at. The second tells whether a stranger understands a clause and has use for it. It learns from the
same sentences and from closed_judged.jsonl (one line: {"id", "lang", "text", "good", "dialogue"}),
clauses of the same dialogues that were judged one by one. Softmax regression with L2; the same
data gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from extraction import PARTS
from extraction import load as dialogues
from softmax import Floats, Rows, packed, train

from vaultmind.consolidate.facts import closed
from vaultmind.consolidate.facts.extractive import LASTS, WEIGHT, WRITTEN, open_to, stated
from vaultmind.consolidate.facts.features import PLACES, features, leading
from vaultmind.consolidate.facts.linear import CLASSES, FOLDER, LED, probabilities
from vaultmind.consolidate.facts.talk import Said, read_talk
from vaultmind.consolidate.facts.types import Category
from vaultmind.memory.weights import WORDS, hashed
from vaultmind.memory.words import fold
from vaultmind.types import Message

DATA = Path(__file__).parent / "data"
LANGUAGES = ("en", "pl", "ru")
TAUGHT = tuple(
    part for part in PARTS if part.startswith(("taught", "tuned", "round7", "round8", "round9"))
)
"""The dialogues that are learnt from: all that were looked at."""
FOLDS = 5
IN_A_TALK = 0.5
"""What it weighs that a sentence stands in a talk: single ones are more often facts."""
BALANCE = 0.5
"""Power of how rare a class is by which its sentences count for more."""
LIGHT = 5e-5
"""The L2 of the second model: few of its clauses are alike."""
THRESHOLDS = (0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled sentence."""

    label: int
    text: str
    whole: str = ""
    talk: bool = False
    """Whether it stands in a talk, and not by itself."""


def lines(name: str) -> list[dict[str, Any]]:
    """Return the rows of a data file."""
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def sentences() -> list[Row]:
    """Return every labelled sentence by itself."""
    rows = (row for lang in LANGUAGES for row in lines(f"facts_{lang}.jsonl"))
    return [Row(CLASSES.index(row["category"]), row["text"]) for row in rows]


def spoken() -> Iterator[Row]:
    """Yield what the users of dialogues say, labelled by its facts; the unclear is left out."""
    for dialogue in (one for part in TAUGHT for one in dialogues(part)):
        talk = read_talk(
            [Message(m["role"], m["text"], "", id=m["id"]) for m in dialogue["messages"]]
        )
        for one in open_to(talk.by_user()):
            text = stated(one)
            label = _label(one.key, fold(text), dialogue)
            if label is not None:
                yield Row(CLASSES.index(label), text, one.whole, talk=True)


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


def seen(text: str, whole: str = "", *, talk: bool = False) -> list[tuple[int, float]]:
    """Return the features of a sentence as the models weigh them."""
    led, places = leading(whole), features(text)
    own = [(place, 1 / float(np.sqrt(len(places)))) for place in places]
    begun = [(place, LED / float(np.sqrt(len(led)))) for place in led]
    return [*own, *begun, (PLACES, IN_A_TALK if talk else 0.0)]


def lasting() -> bytes:
    """Return the file of the model that tells what a sentence is to memory."""
    rows = [*sentences(), *spoken()]
    goal = np.eye(len(CLASSES), dtype=np.float32)[[row.label for row in rows]]
    counts = goal.sum(axis=0)
    each = goal @ (counts.mean() / counts) ** np.float32(BALANCE)
    nothing = np.zeros((len(rows), 0), dtype=np.float32)
    places = Rows.of([seen(row.text, row.whole, talk=row.talk) for row in rows])
    return filed(train(places, nothing, goal, each, PLACES + 1), CLASSES, len(rows))


def alone(judged: Sequence[dict[str, Any]]) -> bytes:
    """Return the file of the model that tells what a stranger understands."""
    skip = CLASSES.index("SKIP")
    rows = [(row.text, row.label != skip) for row in sentences()]
    rows += [(row["text"], row["good"]) for row in judged]
    goal = np.eye(2, dtype=np.float32)[[int(not good) for _, good in rows]]
    each = np.ones(len(rows), dtype=np.float32)
    nothing = np.zeros((len(rows), 0), dtype=np.float32)
    found = train(Rows.of([seen(text) for text, _ in rows]), nothing, goal, each, PLACES + 1, LIGHT)
    return filed(found, closed.CLASSES, len(rows))


def filed(found: Floats, classes: Sequence[str], count: int) -> bytes:
    """Return a model's file: its head, and its weights as signed bytes."""
    bias = found[-1] + IN_A_TALK * found[PLACES]
    head = {
        "classes": list(classes),
        "sentences": count,
        "made by": "benchmarks/train_extractive.py",
    }
    return packed(head, np.concatenate([found[:PLACES], bias[None]]), PLACES)


def measure() -> None:
    """Print what of the judged clauses is taken by a model that never saw their dialogue."""
    judged = lines("closed_judged.jsonl")
    told: list[tuple[float, bool]] = []
    for number in range(FOLDS):
        held = [hashed([row["dialogue"]], FOLDS) == [number] for row in judged]
        seen_ = [row for row, out in zip(judged, held, strict=True) if not out]
        weights = closed.read(alone(seen_))
        for row in (row for row, out in zip(judged, held, strict=True) if out):
            if has_form(row["text"]):
                told.append((closed.likely(row["text"], weights), row["good"]))
    print("| from | taken | good among them | good that is taken |\n|---:|---:|---:|---:|")
    all_good = sum(good for _, good in told)
    for least in THRESHOLDS:
        taken = [good for sure, good in told if sure >= least]
        right, share = sum(taken) / max(1, len(taken)), sum(taken) / all_good
        print(f"| {least} | {len(taken)} | {right:.2f} | {share:.2f} |")


def has_form(text: str) -> bool:
    """Tell whether all of a clause has closed form, and lasts for all that the first model says."""
    told = probabilities(text)
    category = max(WEIGHT, key=lambda name: told[name])
    whole = text in closed.runs(Said(text, "", 0, "user", whole=text))
    return whole and 1 - told["SKIP"] >= LASTS and category in WRITTEN


def write(name: str, data: bytes) -> None:
    """Write a model's file into the package."""
    path = FOLDER / f"{name}.weights"
    path.write_bytes(data)
    print(f"Wrote {path} ({path.stat().st_size} bytes).")


def main() -> None:
    """Measure, or write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="measure, and write nothing")
    if parser.parse_args().measure:
        measure()
        return
    write(WORDS, lasting())
    write("alone", alone(lines("closed_judged.jsonl")))


if __name__ == "__main__":
    main()
