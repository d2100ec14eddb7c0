"""Measure what ordinary requests cost a memory: facts deleted, hidden or replaced by guess.

    python -m benchmarks.ordinary_requests --embedder none
    python -m benchmarks.ordinary_requests --file tests/data/requests_tuned.jsonl --each

One line of the file is {"id", "lang", "brain": [{"section", "text"}], "requests": [text],
"forget": {"text", "fact"}}. The person has the facts remembered; the requests are then said in a
conversation that hooks tell of, which ends and is consolidated; with `--each`, each in one of its
own. At last the person tells the memory to forget one fact, which must go alone. Prints a table.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.session.transcripts import Script
from vaultmind.app import App, open_app
from vaultmind.config import Config, DaemonConfig, IndexConfig
from vaultmind.memory.brain import parse_brain
from vaultmind.serve.op import Call, run_operation
from vaultmind.types import PERSON, Caller, MemoryWrite

DEFAULT = Path(__file__).parent / "data" / "ordinary_requests.jsonl"
HOST = Caller("agent", "main", "claude-code")
COUNTS = ("lines", "requests", "heard as a change", "deleted", "moved", "hidden", "suggested",
          "forgotten as asked", "others lost")  # fmt: skip


@contextmanager
def opened(folder: Path, embedder: str) -> Iterator[App]:
    """Open an app over an empty vault."""
    (folder / "vault").mkdir()
    config = Config(
        vault=(folder / "vault").resolve(),
        state_dir=folder / "state",
        index=replace(IndexConfig(), watch=False, embedder=embedder),
        daemon=DaemonConfig(http_port=0),
    )
    app = open_app(config)
    app.start()
    try:
        app.index.wait_ready(60, vectors=embedder != "none")
        yield app
    finally:
        app.close()


def facts(app: App, archive: bool = False) -> list[str]:
    """Return the texts of the brain's facts, or of the archive's."""
    path = app.paths.archive("main") if archive else app.paths.brain("main")
    file = app.paths.root / path
    return [one.text for one in parse_brain(file.read_text("utf-8")).all()] if file.exists() else []


def converse(app: App, script: Script, texts: Sequence[str]) -> None:
    """Let a host's hooks tell of a conversation, and consolidate it."""
    args: dict[str, Any] = {
        "session_id": script.session_id,
        "transcript_path": str(script.path),
    }
    for text in texts:
        script.user(text)
        run_operation(
            app, Call(HOST), "hook", {"event": "UserPromptSubmit", "prompt": text, **args}
        )
        script.says("All right.")
        run_operation(app, Call(HOST), "hook", {"event": "Stop", **args})
    run_operation(app, Call(HOST), "hook", {"event": "SessionEnd", **args})
    run_operation(app, Call(PERSON), "consolidate", {})


def measure(line: dict[str, Any], embedder: str, each: bool) -> Counter[str]:
    """Return what one line came to."""
    found: Counter[str] = Counter(lines=1, requests=len(line["requests"]))
    with tempfile.TemporaryDirectory() as name, opened(Path(name), embedder) as app:
        for one in line["brain"]:
            write = MemoryWrite("remember", "main", PERSON, one["text"], section=one["section"])
            app.gate.write(write)
        before = facts(app)
        groups = [[one] for one in line["requests"]] if each else [line["requests"]]
        for number, texts in enumerate(groups):
            soon = datetime.now(UTC) + timedelta(seconds=5 + 60 * number)
            converse(app, Script(Path(name) / f"p/s{number}-1.jsonl", f"s{number}-1", soon), texts)
        for text in line["requests"]:
            intent = app.words.understand(text).intent
            found["heard as a change"] += intent in ("forget_topic", "forget_that", "correct")
        now, archived = facts(app), facts(app, archive=True)
        found["deleted"] += sum(one not in now and one not in archived for one in before)
        found["moved"] += sum(one not in now and one in archived for one in before)
        tombstones = Path(name).rglob("tombstones-*.jsonl")
        found["hidden"] += sum(len(one.read_text("utf-8").splitlines()) for one in tombstones)
        found["suggested"] += app.gate.queue.waiting()
        forget(app, line, before, found)
    return found


def forget(app: App, line: dict[str, Any], before: Sequence[str], found: Counter[str]) -> None:
    """Tell the memory to forget one fact, and count what went."""
    run_operation(app, Call(PERSON), "say", {"utterance": line["forget"]["text"]})
    left = {*facts(app), *facts(app, archive=True)}
    meant = line["brain"][line["forget"]["fact"]]["text"]
    found["forgotten as asked"] += meant not in left
    found["others lost"] += sum(one not in left for one in before if one != meant)


def main() -> None:
    """Measure a file and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=DEFAULT)
    parser.add_argument("--embedder", choices=("none", "use"), default="none")
    parser.add_argument("--each", action="store_true", help="each request in a session of its own")
    parser.add_argument("--show", action="store_true", help="print the lines that lost something")
    options = parser.parse_args()
    totals: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for raw in options.file.read_text("utf-8").splitlines():
        line = json.loads(raw)
        found = measure(line, options.embedder, options.each)
        wrong = any(found[name] for name in ("deleted", "moved", "hidden", "others lost"))
        if options.show and (wrong or not found["forgotten as asked"]):
            print(line["id"], dict(found), line["forget"]["text"])
        totals[line["lang"]] += found
        totals["all"] += found
    print("| | " + " | ".join(totals) + " |")
    print("|---|" + "---|" * len(totals))
    for name in COUNTS:
        row = " | ".join(str(one[name]) for one in totals.values())
        print(f"| {name} | {row} |")


if __name__ == "__main__":
    main()
