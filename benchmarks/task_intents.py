"""Measure how well a task is understood: kind, risk, calibration of the confidence, time.

    python benchmarks/task_intents.py [--file benchmarks/data/intents_train.jsonl]

One line of the file is {"id", "task", "kind", "risk", "lang"}. Prints accuracy by language, how
often a confidence comes true (by bins, expected calibration error, Brier score), and the accuracy
of the risk, high risks apart. The
model has learnt from `intents_train.jsonl` and `intents_own.jsonl`, so these say only that nothing
broke: `train_tasks.py --folds 5` says how good it is on tasks that it has not seen.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from example import read

from vaultmind.planner.task import understand
from vaultmind.planner.types import Understood

DEFAULT = Path(__file__).parent / "data" / "intents_train.jsonl"
BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled task and what it was understood as."""

    label: dict[str, Any]
    found: Understood
    took_ms: float

    @property
    def right(self) -> bool:
        """Return whether its kind is the labelled one."""
        return bool(self.found.predicted == self.label["kind"])


def measured(labels: Sequence[dict[str, Any]]) -> list[Row]:
    """Return what each task is understood as, and the time that it took."""
    understand("warm up", "bench")
    rows = []
    for label in labels:
        began = time.perf_counter()
        found = understand(label["task"], "bench")
        rows.append(Row(label, found, (time.perf_counter() - began) * 1000))
    return rows


def accuracy(rows: Sequence[Row]) -> float:
    """Return the share of tasks whose kind is right."""
    return sum(row.right for row in rows) / len(rows) if rows else 0.0


def by(rows: Sequence[Row], key: Callable[[Row], str]) -> dict[str, list[Row]]:
    """Return rows by a key, in the order of the keys."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return dict(sorted(groups.items()))


def calibration(rows: Sequence[Row]) -> tuple[list[tuple[str, int, float, float]], float, float]:
    """Return bins of (confidence, n, mean confidence, accuracy), the expected error and Brier."""
    table = []
    error = 0.0
    for low, high in pairwise(BINS):
        held = [row for row in rows if low <= row.found.confidence < high]
        if held:
            said = statistics.fmean(row.found.confidence for row in held)
            table.append((f"{low:.1f}–{min(high, 1.0):.1f}", len(held), said, accuracy(held)))
            error += len(held) / len(rows) * abs(said - accuracy(held))
    brier = statistics.fmean((row.found.confidence - row.right) ** 2 for row in rows)
    return table, error, brier


def risks(rows: Sequence[Row]) -> dict[str, float]:
    """Return the accuracy of the risk class, and precision and recall of a high one."""
    right = sum(row.found.risk == row.label["risk"] for row in rows)
    high = [row for row in rows if row.label["risk"] == "high"]
    said = [row for row in rows if row.found.risk == "high"]
    both = sum(row.label["risk"] == "high" for row in said)
    return {
        "accuracy": right / len(rows),
        "high_precision": both / len(said) if said else 1.0,
        "high_recall": both / len(high) if high else 1.0,
        "high_called_low": sum(row.found.risk == "low" for row in high) / max(len(high), 1),
    }


def main() -> None:
    """Measure a file and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=DEFAULT)
    options = parser.parse_args()
    rows = measured(read(options.file))
    print(f"{len(rows)} tasks, kind right: {accuracy(rows):.3f}")
    languages = by(rows, lambda row: str(row.label["lang"]))
    print(", ".join(f"{lang} {accuracy(some):.3f}" for lang, some in languages.items()))
    bins, error, brier = calibration(rows)
    print("\n| confidence | n | mean | right |\n|---|---|---|---|")
    for name, count, said, share in bins:
        print(f"| {name} | {count} | {said:.3f} | {share:.3f} |")
    print(f"\nExpected calibration error {error:.3f}, Brier score {brier:.3f}")
    print("Risk: " + ", ".join(f"{name} {value:.3f}" for name, value in risks(rows).items()))
    times = sorted(row.took_ms for row in rows)
    p95 = times[int(len(times) * 0.95)]
    print(f"Time: p50 {statistics.median(times):.2f} ms, p95 {p95:.2f} ms, new words")


if __name__ == "__main__":
    main()
