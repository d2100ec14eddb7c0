"""How long the context before an answer takes to build, over 100 to 10,000 messages.

    python benchmarks/context.py PATH/locomo.json [--embedder use|e5|none]

LoCoMo (Maharana et al., ACL 2024) is CC BY-NC 4.0 and is not part of this repository. Its turns,
repeated to the length that is asked for, are imported as one session; each question of the first
conversation (categories 1 to 4) is the pending message of a context that the app builds: identity,
brain, summary, what is recalled, last messages. How often a context holds the evidence is asked by
`check.py`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from locomo import AGENT, load, questions, turns
from speed import p95, timed

from vaultmind.app import App, local_now, open_app
from vaultmind.config import Config, IndexConfig
from vaultmind.session.conversation import FOLDED_BY_ASKER
from vaultmind.session.imports import import_file
from vaultmind.session.parts import BuildRequest
from vaultmind.types import PERSON

SIZES = (100, 1_000, 10_000)
BUDGET = 4000
ROUNDS = 3
ASKED = 60
ADVERSARIAL = 5


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="LoCoMo's JSON file")
    parser.add_argument("--embedder", default="use", choices=("use", "e5", "none"))
    arguments = parser.parse_args()
    talks = load(arguments.data)
    print("| messages | p50 / p95 ms | first, ms |\n|---|---|---|")
    for size in SIZES:
        first, took = measured(talks, size, arguments.embedder)
        print(f"| {size:,} | {statistics.median(took):.1f} / {p95(took):.1f} | {first:.0f} |")


def measured(talks: list[dict[str, Any]], size: int, embedder: str) -> tuple[float, list[float]]:
    """Return milliseconds of builds over `size` messages: of the first one, and of the others."""
    asked = [one.text for one in questions(talks[:1]) if one.category != ADVERSARIAL][:ASKED]
    with opened(said(talks, size), embedder) as app:
        first = timed(lambda: build(app, "What was said at the beginning?", BUDGET))
        for _ in range(0, size, FOLDED_BY_ASKER):  # each folds so much of the summary
            build(app, asked[0], None)
        every = (timed(lambda text=text: build(app, text, BUDGET)) for text in asked * ROUNDS)
        return first, list(every)


def build(app: App, question: str, budget: int | None) -> None:
    """Build the context before an answer to a question."""
    app.builder.build(BuildRequest(AGENT, pending=(question,), budget=budget), PERSON)


def said(talks: list[dict[str, Any]], size: int) -> str:
    """Return the lines of an import of so many messages, a minute apart."""
    known = [json.loads(line) for talk in talks for line in turns(talk["conversation"])]
    lines = []
    for number in range(size):
        line = known[number % len(known)]
        text = line["content"] if number < len(known) else f"{line['content']} {number}"
        when = datetime.fromtimestamp(1_700_000_000 + 60 * number, UTC).isoformat()
        lines.append(json.dumps(line | {"content": text, "id": f"n{number}", "time": when}))
    return "".join(f"{line}\n" for line in lines)


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


if __name__ == "__main__":
    main()
