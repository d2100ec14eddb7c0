"""How times in questions and messages are found: precision and recall.

`check.py --only times` tells the figures. One line of benchmarks/data/when_*.jsonl is {"lang",
"kind": "question" or "message", "text", "spans"}; a span is [first day, day after the last,
explicit], null being an open end. Everything is said on Wednesday 2026-11-18. A time is right if
both ends are the labelled ones; a vague one ("a few weeks ago", "late May") also if it shares half
of its days with the label.

when_tuned.jsonl is what the rules were made on. when_blind.jsonl was written after them and read
once (precision 1.00, recall .98) before a rule was changed; when_hard.jsonl, of turns of phrase
that were not thought of, too (.58, .50).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from vaultmind.index.when import Span, mentioned, spans

BASE = datetime(2026, 11, 18, 10, 0)
SHARED = 0.5
OPEN = (datetime(1970, 1, 1), datetime(2070, 1, 1))
Label = tuple[str | None, str | None, bool]


@dataclass(slots=True)
class Score:
    """Counts of times: that were labelled, that were found, and that were found as labelled."""

    labelled: int = 0
    found: int = 0
    right: int = 0


def score(rows: Sequence[dict[str, Any]]) -> Score:
    """Return how well the times of labelled texts are found."""
    total = Score()
    for row in rows:
        ask = mentioned if row["kind"] == "message" else spans
        found = ask(row["text"], row["lang"], BASE)
        total.labelled += len(row["spans"])
        total.found += len(found)
        total.right += sum(any(is_right(tuple(one), hit) for hit in found) for one in row["spans"])
    return total


def is_right(label: Label, hit: Span) -> bool:
    """Tell whether a time that was found is the labelled one."""
    start, end = (datetime.fromisoformat(day) if day else None for day in label[:2])
    if (start, end) == (hit.start, hit.end):
        return True
    if label[2] or (start is None) != (hit.start is None) or (end is None) != (hit.end is None):
        return False
    first, last = (start or OPEN[0], end or OPEN[1])
    other_first, other_last = (hit.start or OPEN[0], hit.end or OPEN[1])
    common = min(last, other_last) - max(first, other_first)
    return common / (max(last, other_last) - min(first, other_first)) >= SHARED
