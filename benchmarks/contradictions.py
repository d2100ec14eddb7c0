"""Measure which facts a new one takes the place of: precision, recall and time, by language.

    python benchmarks/contradictions.py --file tests/data/contradictions.jsonl --show

One line of the file is {"lang", "new", "old", "relation"}. Prints a Markdown table, and what one
new fact costs against a brain of 60.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

from vaultmind.memory.contradictions import contradicts

DEFAULT = Path(__file__).parent.parent / "tests" / "data" / "contradictions.jsonl"
FACTS = 60
ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Pair:
    """A labelled pair and what is said of it."""

    lang: str
    new: str
    old: str
    excludes: bool
    found: bool


@dataclass(frozen=True, slots=True)
class Score:
    """Precision and recall."""

    expected: int
    precision: float
    recall: float


def load(path: Path) -> list[Pair]:
    """Return the pairs of a file with what is found for each."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [
        Pair(
            row["lang"],
            row["new"],
            row["old"],
            row["relation"] == "contradicts",
            contradicts(row["new"], row["old"]),
        )
        for row in rows
    ]


def score(pairs: list[Pair]) -> Score:
    """Return how well contradictions are found."""
    expected = sum(pair.excludes for pair in pairs)
    found = [pair for pair in pairs if pair.found]
    right = sum(pair.excludes for pair in found)
    return Score(
        expected, right / len(found) if found else 1.0, right / expected if expected else 1.0
    )


def milliseconds(pairs: list[Pair]) -> tuple[float, float]:
    """Return the mean and the worst time of one unseen fact against 60 known ones."""
    facts = list(dict.fromkeys(pair.old for pair in pairs))[:FACTS]
    contradicts("warm up", facts[0])
    took = []
    for turn in range(ROUNDS):
        new = f"{pairs[turn % len(pairs)].new} x{turn}"
        start = time.perf_counter()
        [contradicts(new, old) for old in facts]
        took.append((time.perf_counter() - start) * 1000)
    return sum(took) / len(took), max(took)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=DEFAULT)
    parser.add_argument("--show", action="store_true", help="print the pairs that are wrong")
    given = parser.parse_args()
    pairs = load(given.file)
    print("| language | contradictions | precision | recall |\n|---|---:|---:|---:|")
    for lang in (*sorted({pair.lang for pair in pairs}), "all"):
        one = score([pair for pair in pairs if lang in (pair.lang, "all")])
        print(f"| {lang} | {one.expected} | {one.precision:.2f} | {one.recall:.2f} |")
    mean, worst = milliseconds(pairs)
    print(f"\nOne new fact against {FACTS}: {mean:.2f} ms on average, {worst:.2f} ms at worst.")
    if given.show:
        for pair in pairs:
            if pair.found != pair.excludes:
                print(f"{'missed' if pair.excludes else 'wrong'}: {pair.new} / {pair.old}")


if __name__ == "__main__":
    main()
