"""Measure the recognition of voice commands: precision, recall, payloads, time.

    python benchmarks/intents.py --file tests/data/utterances.jsonl --show

One line of the file is {"id", "text", "lang", "intent"} and "payload", or "old" and "new" for
`correct`. A command counts as found when its intent is right; its payload is right when it is the
labelled one but for case and the marks around it. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaultmind.memory.intents import INTENTS, Intent, recogniser

DEFAULT = Path(__file__).parent.parent / "tests" / "data" / "utterances.jsonl"
ALL = "all"


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds that one sentence took: by the clock, and of the processor."""

    wall: float
    busy: float


@dataclass(slots=True)
class Score:
    """Counts of one language and intent."""

    expected: int = 0
    found: int = 0
    right: int = 0
    payloads: int = 0

    @property
    def precision(self) -> float:
        """Return the share of what was found that is right."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Return the share of what was there that was found."""
        return self.right / self.expected if self.expected else 1.0

    @property
    def payload(self) -> float:
        """Return the share of the right commands that have the right payload."""
        return self.payloads / self.right if self.right else 1.0


def bare(text: str) -> str:
    """Return a payload without case and the marks around it."""
    return " ".join(text.split()).strip(" .,;:!?\"'“”„«»()").casefold()


def payload_right(row: dict[str, Any], intent: Intent) -> bool:
    """Return whether the payload is the labelled one."""
    if row["intent"] == "correct":
        pairs = [(row.get("old", ""), intent.old), (row["new"], intent.new)]
    else:
        pairs = [(row.get("payload", ""), intent.payload)]
    return all(bare(label) == bare(found) for label, found in pairs)


def measure(rows: list[dict[str, Any]], show: bool) -> tuple[dict[Any, Score], list[Cost]]:
    """Return the scores by (language, intent) and what each sentence cost."""
    known = recogniser()
    known.warm()  # as the daemon does in the background when it starts
    recognise = known.recognise
    scores: dict[Any, Score] = defaultdict(Score)
    times = []
    for row in rows:
        began, busy = time.perf_counter(), time.thread_time()
        intent = recognise(row["text"])
        cost = Cost(time.perf_counter() - began, time.thread_time() - busy)
        times.append(cost)
        right = intent.intent == row["intent"]
        payload = right and payload_right(row, intent)
        for lang in (row["lang"], ALL):
            scores[lang, row["intent"]].expected += 1
            scores[lang, intent.intent].found += 1
            scores[lang, row["intent"]].right += right
            scores[lang, row["intent"]].payloads += payload
        if show and not payload:
            print(f"{row['id']} {row['intent']} → {intent.intent} [{intent.lang}]: {row['text']!r}")
            if right:
                print(f"      {intent.old!r} → {intent.payload!r}")
    return scores, times


def spread(name: str, seconds: list[float]) -> str:
    """Return the median, p95 and maximum of some times, in milliseconds."""
    times = sorted(one * 1000 for one in seconds)
    median, p95 = statistics.median(times), times[int(len(times) * 0.95)]
    return f"{name}: p50 {median:.2f}, p95 {p95:.2f}, max {times[-1]:.2f} ms"


def commands(scores: dict[Any, Score], lang: str) -> Score:
    """Return the scores of all commands of a language together."""
    parts = [scores[lang, name] for name in INTENTS if name != "none"]
    return Score(
        sum(part.expected for part in parts),
        sum(part.found for part in parts),
        sum(part.right for part in parts),
        sum(part.payloads for part in parts),
    )


def main() -> None:
    """Measure a file and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=DEFAULT)
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    options = parser.parse_args()
    lines = options.file.read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    scores, times = measure(rows, options.show)
    langs = [*dict.fromkeys(row["lang"] for row in rows), ALL]
    print("\n| lang | intent | n | found | precision | recall | payload |")
    print("|---|---|---|---|---|---|---|")
    for lang in langs:
        named = [(name, scores[lang, name]) for name in INTENTS if (lang, name) in scores]
        for name, score in [*named, ("**commands**", commands(scores, lang))]:
            print(
                f"| {lang} | {name} | {score.expected} | {score.found} | {score.precision:.3f} "
                f"| {score.recall:.3f} | {score.payload:.3f} |"
            )
    print(f"\n{len(rows)} sentences, each")
    print(spread("by the clock", [cost.wall for cost in times]))
    print(spread("of the processor", [cost.busy for cost in times]))


if __name__ == "__main__":
    main()
