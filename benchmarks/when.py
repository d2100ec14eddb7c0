"""Measure how times in questions and messages are found: precision, recall, cost.

    python benchmarks/when.py --file benchmarks/data/when_tuned.jsonl --show

One line of the file is {"lang", "kind": "question" or "message", "text", "spans"}; a span is
[first day, day after the last, explicit], null being an open end. Everything is said on Wednesday
2026-11-18. A time is right if both ends are the labelled ones; a vague one ("a few weeks ago",
"late May") also if it shares half of its days with the label. `--dateparser` asks dateparser's
own search in place of the rules (it finds days, not stretches, so it is right if its day is in
the labelled stretch). Prints Markdown tables.

when_tuned.jsonl is what the rules were made on. when_blind.jsonl was written after them and read
once (precision 1.00, recall .98) before a rule was changed; when_hard.jsonl, of turns of phrase
that were not thought of, too (.58, .50).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from vaultmind.index.when import Span, mentioned, spans

DATA = Path(__file__).parent / "data"
DEFAULT = DATA / "when_tuned.jsonl"
BASE = datetime(2026, 11, 18, 10, 0)
SHARED = 0.5
ROUNDS = 20
OPEN = (datetime(1970, 1, 1), datetime(2070, 1, 1))
NO_TIME = {
    "en": "Which database do we use for the billing service and why did we choose it?",
    "pl": "Gdzie schowałem zapasowe klucze do mieszkania i kto jeszcze o nich wie?",
    "ru": "Какую базу данных мы выбрали для нового сервиса и почему?",
    "de": "Welche Datenbank benutzen wir für den neuen Dienst und warum?",
    "es": "¿Qué base de datos usamos para el nuevo servicio y por qué?",
    "fr": "Quelle base de données utilisons-nous pour le nouveau service ?",
}

Label = tuple[str | None, str | None, bool]


@dataclass(slots=True)
class Score:
    """Counts of one language."""

    labelled: int = 0
    found: int = 0
    right: int = 0
    explicit: int = 0
    texts: int = 0
    without: int = 0
    false_alarms: int = 0
    without_us: list[float] = field(default_factory=list)
    with_us: list[float] = field(default_factory=list)


def main() -> None:
    """Measure a file and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=DEFAULT)
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    parser.add_argument("--dateparser", action="store_true", help="ask dateparser's search instead")
    wanted = parser.parse_args()
    rows = [json.loads(line) for line in wanted.file.read_text("utf-8").splitlines() if line]
    scores: defaultdict[str, Score] = defaultdict(Score)
    for row in rows:
        ask = _dateparser if wanted.dateparser else mentioned if row["kind"] == "message" else spans
        _count(row, ask, (scores[row["lang"]], scores["all"]), wanted.show)
    _print_scores(scores)
    if not wanted.dateparser:
        _print_costs()


def score(rows: Sequence[dict[str, Any]]) -> Score:
    """Return how well the times of labelled texts are found."""
    found = Score()
    for row in rows:
        _count(row, mentioned if row["kind"] == "message" else spans, (found,), show=False)
    return found


def _count(
    row: dict[str, Any],
    ask: Callable[[str, str, datetime], Sequence[Span]],
    into: Sequence[Score],
    show: bool,
) -> None:
    rounds = 1 if ask is _dateparser else ROUNDS
    found = ask(row["text"], row["lang"], BASE)
    took_us = _cost(lambda: ask(row["text"], row["lang"], BASE), rounds)
    loose = ask is _dateparser
    labels = [tuple(label) for label in row["spans"]]
    pairs = [(label, hit) for label in labels for hit in found if _right(label, hit, loose)]
    right = len({label for label, _ in pairs})
    explicit = len({label for label, hit in pairs if label[2] == hit.explicit})
    for score in into:
        score.texts += 1
        score.labelled += len(labels)
        score.found += len(found)
        score.right += right
        score.explicit += explicit
        score.without += not labels
        score.false_alarms += not labels and bool(found)
        (score.with_us if labels else score.without_us).append(took_us)
    if show and (right < len(labels) or len(found) > right or explicit < right):
        told = [(str(s.start)[:10], str(s.end)[:10], s.text, s.explicit) for s in found]
        print(f"{row['lang']}: {row['text']}\n    wanted {row['spans']}\n    found  {told}")


def _right(label: Label, hit: Span, loose: bool) -> bool:
    start, end = (datetime.fromisoformat(day) if day else None for day in label[:2])
    if loose:
        moment = hit.start or BASE
        return (start or OPEN[0]) <= moment < (end or OPEN[1])
    if (start, end) == (hit.start, hit.end):
        return True
    if label[2] or (start is None) != (hit.start is None) or (end is None) != (hit.end is None):
        return False
    first, last = (start or OPEN[0], end or OPEN[1])
    other_first, other_last = (hit.start or OPEN[0], hit.end or OPEN[1])
    common = min(last, other_last) - max(first, other_first)
    return common / (max(last, other_last) - min(first, other_first)) >= SHARED


def _dateparser(text: str, language: str, base: datetime) -> tuple[Span, ...]:
    from dateparser.search import search_dates  # type: ignore[import-untyped]

    found = search_dates(text, languages=[language], settings={"RELATIVE_BASE": base}) or ()
    return tuple(
        Span(day.replace(tzinfo=None), day.replace(tzinfo=None), words, True)
        for words, day in found
    )


def _print_scores(scores: dict[str, Score]) -> None:
    columns = "texts, times, precision, recall, explicit right, false alarms, µs without, µs with"
    print("| | " + columns.replace(", ", " | ") + " |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, score in scores.items():
        cells = (
            score.texts,
            score.labelled,
            f"{score.right / max(1, score.found):.3f}",
            f"{score.right / max(1, score.labelled):.3f}",
            f"{score.explicit / max(1, score.right):.3f}",
            f"{score.false_alarms} of {score.without}",
            f"{_median(score.without_us):.0f}",
            f"{_median(score.with_us):.0f}",
        )
        print(f"| {name} | {' | '.join(map(str, cells))} |")


def _print_costs() -> None:
    """Print what texts cost that say no time, and long messages."""
    quiet = [
        _cost(lambda text=text, code=code: spans(text, code, BASE))
        for code, text in NO_TIME.items()
    ]
    middle, worst = statistics.median(quiet), max(quiet)
    print(f"\nA question without a word of time: {middle:.1f} µs (worst language {worst:.1f})")
    message = " ".join([NO_TIME["en"]] * 8 + ["Yesterday I met Ann, and last week we moved."] * 2)
    for name, text in (("without a time", NO_TIME["en"] * 10), ("with four", message)):
        took = _cost(lambda text=text: mentioned(text, "en", BASE))
        print(f"A message of {len(text)} characters {name}: {took:.0f} µs")


def _cost(call: Callable[[], object], rounds: int = 200) -> float:
    """Return microseconds of this thread's processor time: the machine may be busy."""
    took = []
    for _ in range(rounds):
        begun = time.thread_time_ns()
        call()
        took.append((time.thread_time_ns() - begun) / 1e3)
    return statistics.median(took)


def _median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else 0.0


if __name__ == "__main__":
    main()
