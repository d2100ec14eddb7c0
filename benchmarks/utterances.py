"""Measure what the person's words cost more than a named operation, in turns, one process.

    python benchmarks/utterances.py --facts 200

Each turn remembers one new fact by `op` and one by `utterance`, half of these with a message id,
in a vault of its own with words alone. Prints p50 and p95 in milliseconds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from vaultmind.app import App, open_app
from vaultmind.config import Config, IndexConfig
from vaultmind.serve.operations import Call, run_operation
from vaultmind.types import Caller

MAIN = Caller("agent", "main", "benchmark")


def took(app: App, arguments: dict[str, str]) -> float:
    """Return the milliseconds of one memory_update that writes."""
    began = time.perf_counter()
    done = run_operation(app, Call(MAIN), "memory_update", arguments, "mcp")
    spent = (time.perf_counter() - began) * 1000
    if done["outcome"] != "written":
        raise SystemExit(f"{arguments} came to {done}")
    return spent


def spread(name: str, times: list[float]) -> str:
    """Return a line of the table."""
    ordered = sorted(times)
    p95 = ordered[int(len(ordered) * 0.95)]
    return f"| {name} | {len(times)} | {statistics.median(times):.1f} | {p95:.1f} |"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=200, help="facts of each kind")
    facts = parser.parse_args().facts
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "vault").mkdir()
        config = Config(
            vault=(root / "vault").resolve(),
            state_dir=root / "state",
            index=IndexConfig(watch=False, embedder="none"),
        )
        app = open_app(config)
        app.start()
        app.index.wait_ready(60)
        app.ears.warm()
        by_op, by_words, by_id = [], [], []
        for n in range(facts):
            place = f"stands in hall {n * 3 % 1000} behind gate {n + 1}"
            by_op.append(took(app, {"op": "remember", "text": f"Parcel {n} {place}"}))
            given = {"utterance": f"Remember that crate {n} {place}"}
            if n % 2:
                by_id.append(took(app, given | {"message_id": f"u{n}"}))
            else:
                by_words.append(took(app, given))
        app.close()
    print("| remembered | times | p50 ms | p95 ms |\n|---|---|---|---|")
    print(spread("by op and text", by_op))
    print(spread("by utterance", by_words))
    print(spread("by utterance and message_id", by_id))


if __name__ == "__main__":
    main()
