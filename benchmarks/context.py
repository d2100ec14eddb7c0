"""How often the evidence is in the built context, at which size, and how long a build takes.

    python benchmarks/context.py PATH/locomo.json [--embedder use|e5|none] [--times] [--json]

LoCoMo (Maharana et al., ACL 2024) is CC BY-NC 4.0 and is not part of this repository. The turns
of a conversation are imported one after the other as one session into a vault of its own; each
question (categories 1 to 4) is the pending message of a context that the app builds: identity,
brain, summary, what is recalled, last messages. A share is the mean over questions of how much
of their evidence stands there whole. With --times also builds over 100 to 10,000 messages.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from locomo import AGENT, Question, load, questions, turns

from vaultmind.app import App, local_now, open_app
from vaultmind.config import Config, IndexConfig
from vaultmind.session.conversation import FOLDED_BY_ASKER
from vaultmind.session.imports import import_file
from vaultmind.session.parts import BuildRequest, BuiltContext, PartName
from vaultmind.types import PERSON

BUDGETS = (1800, 4000)
SIZES = (100, 1_000, 10_000)
ROUNDS = 3
ASKED_TIMED = 60
ADVERSARIAL = 5
RECALLED: frozenset[PartName] = frozenset({"earlier", "memory", "associations"})
WAYS: dict[str, frozenset[PartName]] = {
    "last messages only": RECALLED | {"identity", "brain", "active context", "summary"},
    "summary and last messages": RECALLED,
    "all but auto-RAG": frozenset({"earlier"}),
    "as built": frozenset(),
}
"""What each row leaves out."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="LoCoMo's JSON file")
    parser.add_argument("--embedder", default="use", choices=("use", "e5", "none"))
    parser.add_argument("--times", action="store_true", help="time builds of growing length")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    talks = load(arguments.data)
    found: dict[str, Any] = {"evidence": evidence(talks, arguments.embedder)}
    if arguments.times:
        found["times"] = {str(size): timed(talks, size, arguments.embedder) for size in SIZES}
    if arguments.json:
        print(json.dumps(found, indent=1))
    else:
        _show(found)


def evidence(talks: list[dict[str, Any]], embedder: str) -> list[dict[str, Any]]:
    """Return a row for each way and budget: share of the evidence, tokens, by conversation."""
    held: dict[tuple[str, int], list[float]] = {}
    sizes: dict[tuple[str, int], list[int]] = {}
    for talk in talks:
        asked = questions_of(talk)
        with opened("".join(turns(talk["conversation"])), embedder) as app:
            for name, without in WAYS.items():
                for budget in BUDGETS:
                    built = [build(app, one.text, budget, without) for one in asked]
                    shares = [share(*pair) for pair in zip(asked, built, strict=True)]
                    held.setdefault((name, budget), []).append(statistics.fmean(shares))
                    sizes.setdefault((name, budget), []).extend(one.tokens for one in built)
    return [
        {
            "way": name,
            "budget": budget,
            "evidence": statistics.fmean(shares),
            "each": shares,
            "tokens": statistics.fmean(sizes[name, budget]),
            "most tokens": max(sizes[name, budget]),
        }
        for (name, budget), shares in held.items()
    ]


def build(
    app: App, question: str, budget: int | None, without: frozenset[PartName] = frozenset()
) -> BuiltContext:
    """Return the context before an answer to a question."""
    request = BuildRequest(AGENT, pending=(question,), budget=budget, without=without)
    return app.builder.build(request, PERSON)


def questions_of(talk: dict[str, Any]) -> list[Question]:
    """Return the questions of categories 1 to 4."""
    return [one for one in questions([talk]) if one.category != ADVERSARIAL]


def share(question: Question, built: BuiltContext) -> float:
    """Return how much of a question's evidence stands whole in a context."""
    shown = {key for part in built.parts for key in part.messages}
    return len(question.evidence & shown) / len(question.evidence)


@contextmanager
def opened(lines: str, embedder: str) -> Iterator[App]:
    """Yield an app over a vault that holds one imported session, once all of it has vectors."""
    with tempfile.TemporaryDirectory() as folder:
        vault, state = Path(folder, "vault"), Path(folder, "state")
        vault.mkdir()
        file = Path(folder, "talk.jsonl")
        file.write_text(lines, "utf-8")
        config = Config(vault, state, index=IndexConfig(embedder=embedder, watch=False))
        app = open_app(config, clock=local_now)
        app.init(AGENT, "en", PERSON)
        import_file(app.sessions, file, AGENT, one=True)
        app.start()
        try:
            if not app.index.wait_ready(3600, vectors=True):
                sys.exit("The index was not ready within an hour.")
            yield app
        finally:
            app.close()


def timed(talks: list[dict[str, Any]], size: int, embedder: str) -> dict[str, float]:
    """Return milliseconds of a build over `size` messages: the first one, then p50 and p95."""
    all_turns = [json.loads(line) for talk in talks for line in turns(talk["conversation"])]
    lines = []
    for number in range(size):
        line = all_turns[number % len(all_turns)]
        text = line["content"] if number < len(all_turns) else f"{line['content']} {number}"
        lines.append(line | {"content": text, "id": f"n{number}", "time": _minute(number)})
    asked = [one.text for one in questions_of(talks[0])][:ASKED_TIMED]
    with opened("".join(f"{json.dumps(line)}\n" for line in lines), embedder) as app:
        first = _milliseconds(app, "What was said at the beginning?")
        for _ in range(0, size, FOLDED_BY_ASKER):  # each folds so much of the summary
            build(app, asked[0], None)
        each = [min(_milliseconds(app, text) for _ in range(ROUNDS)) for text in asked]
        ordered = sorted(_milliseconds(app, text) for text in asked for _ in range(ROUNDS))
    return {
        "first ms": first,
        "p50 ms": statistics.median(ordered),
        "p95 ms": ordered[int(0.95 * len(ordered))],
        "p95 of the best of three ms": sorted(each)[int(0.95 * len(each))],
    }


def _minute(number: int) -> str:
    return datetime.fromtimestamp(1_700_000_000 + 60 * number, UTC).isoformat()


def _milliseconds(app: App, question: str) -> float:
    start = time.perf_counter()
    build(app, question, 4000)
    return (time.perf_counter() - start) * 1e3


def _show(found: dict[str, Any]) -> None:
    print("Share of the evidence in the context: mean (each conversation), mean tokens, most")
    for row in found["evidence"]:
        each = " ".join(f"{one:.3f}" for one in row["each"])
        print(
            f"  {row['way']:28}{row['budget']:>6}  {row['evidence']:.3f}  ({each})"
            f"  {row['tokens']:.0f}  {row['most tokens']}"
        )
    for size, values in found.get("times", {}).items():
        print(f"  {size:>6} messages  " + "  ".join(f"{k} {v:.1f}" for k, v in values.items()))


if __name__ == "__main__":
    main()
