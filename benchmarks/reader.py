"""Measure what the trained reader makes of messages: what is asked, of what, and what is left out.

    python benchmarks/reader.py                       # the blind sets
    python benchmarks/reader.py --file FILE --show    # any other, with what went wrong
    python benchmarks/reader.py --weights FILE        # other weights

A request is right when it leads to the right act: forget one fact and forget a topic are one, so
are recall and show. A payload is right when it shares .8 of its words with the labelled one (F1).
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import vaultmind.language.network as networks
from vaultmind.language.reader import Intent, intent_of

DATA = Path(__file__).parent / "data"
BLIND = ("asked_blind10.jsonl", "asked_blind11.jsonl")
ACTS = {
    "forget_topic": "forget",
    "forget_that": "forget",
    "do_not_keep": "skip",
    "show": "recall",
    "show_memory": "recall",
}
LANGUAGES = ("en", "pl", "ru")
SHARED = 0.8


@dataclass(frozen=True, slots=True)
class Answer:
    """A labelled line, and what was read in it."""

    line: dict[str, Any]
    intent: Intent

    @property
    def wanted(self) -> str:
        """Return the act that the line asks for."""
        asks: str = self.line.get("asks") or self.line["intent"]
        return ACTS.get(asks, asks)

    @property
    def given(self) -> str:
        """Return the act that was read."""
        return ACTS.get(self.intent.intent, self.intent.intent)

    @property
    def payload(self) -> str:
        """Return the words that are to be found; empty where there are none."""
        return self.line.get("new") or self.line.get("payload") or ""

    def finds_payload(self) -> bool:
        """Tell whether the payload that was found is nearly the labelled one."""
        one, other = (
            re.sub(r"\W+", " ", text.lower()).split()
            for text in (self.intent.payload, self.payload)
        )
        both = sum((Counter(one) & Counter(other)).values())
        return 2 * both >= SHARED * (len(one) + len(other))


def answered(paths: Iterable[Path]) -> list[Answer]:
    """Return what is read in each line of some files."""
    lines = [json.loads(raw) for path in paths for raw in path.read_text("utf-8").splitlines()]
    return [Answer(line, intent_of(line["text"])) for line in lines]


def figures(answers: Sequence[Answer]) -> dict[str, float]:
    """Return precision, recall and payload of some answers, and the share of false alarms."""
    asked = [one for one in answers if one.wanted != "none"]
    given = [one for one in answers if one.given != "none"]
    right = [one for one in asked if one.given == one.wanted]
    spans = [one for one in right if one.payload and one.wanted != "skip"]
    quiet = len(answers) - len(asked)
    return {
        "precision": len(right) / max(1, len(given)),
        "recall": len(right) / max(1, len(asked)),
        "payload": sum(one.finds_payload() for one in spans) / max(1, len(spans)),
        "false alarms": sum(one.wanted == "none" for one in given) / max(1, quiet),
    }


def table(answers: Sequence[Answer]) -> str:
    """Return a Markdown table by language, and by what is asked."""
    rows = [
        "| of | lines | precision | recall | payload | false alarms |",
        "|---|---|---|---|---|---|",
    ]
    parts = {"all": list(answers)}
    parts |= {lang: [a for a in answers if a.line["lang"] == lang] for lang in LANGUAGES}
    for act in ("remember", "forget", "correct", "skip", "recall"):
        parts[act] = [a for a in answers if act in (a.wanted, a.given)]
    for name, some in parts.items():
        if some:
            told = " | ".join(f"{value:.3f}" for value in figures(some).values())
            rows.append(f"| {name} | {len(some)} | {told} |")
    return "\n".join(rows)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, action="append", help="instead of the blind sets")
    parser.add_argument("--weights", type=Path, help="file of other weights")
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    given = parser.parse_args()
    if given.weights:
        networks.WEIGHTS = given.weights
    answers = answered(given.file or [DATA / name for name in BLIND])
    print(table(answers))
    for one in answers if given.show else ():
        if one.given != one.wanted:
            sure, text = one.intent.confidence, one.line["text"]
            print(f"{one.wanted} read as {one.given} ({sure:.2f}): {text}")


if __name__ == "__main__":
    main()
