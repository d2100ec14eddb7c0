"""Measure how well a task is understood: kind, risk, calibration of the confidence, time.

    python benchmarks/task_intents.py [--file benchmarks/data/intents_train.jsonl] [--show] [--json]

One line of the file is {"id", "task", "kind", "risk", "lang"}. Prints accuracy by language, by kind
with precision and recall, what is taken for what, how often a confidence comes true (by bins,
expected calibration error, Brier score), and the accuracy of the risk, high risks apart. The rules
were tuned on `intents_train.jsonl` and `intents_own.jsonl`, so these say what they can do at best;
a file that was written without looking at the rules says what they do. The sets of the second
file were each measured before they were learnt from: 0.67 (second, third), 0.71 (fourth), 0.84
(fifth), 0.70 (sixth) of their kinds were right.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from vaultmind.planner.intent import understand
from vaultmind.planner.types import TASK_KINDS, Understood

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


def kind_table(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return n, precision, recall and F1 of each kind."""
    table = {}
    for kind in TASK_KINDS:
        labelled = [row for row in rows if row.label["kind"] == kind]
        predicted = [row for row in rows if row.found.predicted == kind]
        recall = accuracy(labelled)
        precision = accuracy(predicted)
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        table[kind] = {"n": len(labelled), "precision": precision, "recall": recall, "f1": f1}
    return table


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


def report(rows: Sequence[Row]) -> dict[str, Any]:
    """Return everything that is measured."""
    bins, error, brier = calibration(rows)
    times = sorted(row.took_ms for row in rows)
    return {
        "tasks": len(rows),
        "accuracy": accuracy(rows),
        "by_language": {lang: accuracy(some) for lang, some in by(rows, _lang).items()},
        "by_kind": kind_table(rows),
        "confusions": _confusions(rows),
        "calibration": {"bins": bins, "expected_error": error, "brier": brier},
        "risk": risks(rows),
        "ms": {"p50": statistics.median(times), "p95": times[int(len(times) * 0.95)]},
    }


def _lang(row: Row) -> str:
    return str(row.label["lang"])


def _confusions(rows: Sequence[Row]) -> dict[str, int]:
    wrong = Counter(f"{r.label['kind']} → {r.found.predicted}" for r in rows if not r.right)
    return dict(wrong.most_common())


def printed(found: dict[str, Any]) -> None:
    """Print what was measured as Markdown."""
    print(f"{found['tasks']} tasks, kind right: {found['accuracy']:.3f}")
    print(", ".join(f"{lang} {share:.3f}" for lang, share in found["by_language"].items()))
    print("\n| kind | n | precision | recall | F1 |\n|---|---|---|---|---|")
    for kind, one in found["by_kind"].items():
        print(f"| {kind} | {one['n']} | {one['precision']:.3f} | {one['recall']:.3f} ", end="")
        print(f"| {one['f1']:.3f} |")
    wrong = ", ".join(f"{pair} {count}" for pair, count in found["confusions"].items())
    print(f"\nTaken for another: {wrong or 'none'}")
    print("\n| confidence | n | mean | right |\n|---|---|---|---|")
    for name, count, said, share in found["calibration"]["bins"]:
        print(f"| {name} | {count} | {said:.3f} | {share:.3f} |")
    error, brier = (found["calibration"][name] for name in ("expected_error", "brier"))
    print(f"\nExpected calibration error {error:.3f}, Brier score {brier:.3f}")
    print("Risk: " + ", ".join(f"{name} {value:.3f}" for name, value in found["risk"].items()))
    print(f"Time: p50 {found['ms']['p50']:.2f} ms, p95 {found['ms']['p95']:.2f} ms, new words")


def shown(rows: Sequence[Row]) -> None:
    """Print what was taken for something else."""
    for row in rows:
        label, found = row.label, row.found
        if not row.right or found.risk != label["risk"]:
            print(f"{label['id']} {label['lang']} {label['kind']}/{label['risk']} → ", end="")
            print(f"{found.predicted}/{found.risk} {found.confidence:.2f}: {label['task'][:160]!r}")
            print(f"      {' | '.join(found.reasons)}")


def main() -> None:
    """Measure a file and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=DEFAULT)
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    parser.add_argument("--json", action="store_true", help="print one object")
    options = parser.parse_args()
    lines = options.file.read_text("utf-8").splitlines()
    rows = measured([json.loads(line) for line in lines if line.strip()])
    if options.show:
        shown(rows)
    found = report(rows)
    print(json.dumps(found, ensure_ascii=False, indent=2)) if options.json else printed(found)


if __name__ == "__main__":
    main()
