"""What a change of embedder costs: how long it takes, how searches fare meanwhile, and the disk.

    python benchmarks/change_embedder.py [--vault PATH] [--from use] [--to e5] [--json]

A vault (the example's, or another, which is only read) is indexed with one embedder; then it is
opened with another, and asked two questions a second until the new vectors have taken the place of
the old. Told are: seconds until meaning can be searched at all, seconds until the swap, what share
of the questions was answered by meaning meanwhile, their time, and what Chroma's folder and the
index database take before, at the end of the change at the most, and after it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from example_search import QUESTIONS, ROOT

from vaultmind.app import open_app
from vaultmind.config import Config, IndexConfig
from vaultmind.types import PERSON, SearchRequest

_WAIT_SECONDS = 3600.0
_PAUSE_SECONDS = 0.5
"""Between two questions: about as often as one person with several agents asks."""
_MEGABYTE = 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--vault", type=Path, default=ROOT / "vault-example")
    parser.add_argument("--from", dest="old", default="use", help="as in index.embedder")
    parser.add_argument("--to", dest="new", default="e5", help="as in index.embedder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as state:
        row = measured(given.vault.resolve(), Path(state), given.old, given.new)
    if given.json:
        print(json.dumps(row, indent=1))
        return
    for name, value in row.items():
        print(f"{name:34}{value:10.2f}")


def measured(vault: Path, state: Path, old: str, new: str) -> dict[str, float]:
    """Return the figures of one change."""
    first = open_app(configured(vault, state, old))
    first.start()
    first.index.wait_ready(_WAIT_SECONDS, vectors=True)
    row = {"chunks with a vector": float(first.index.state().embeddable)}
    first.close()
    row["disk before, MB"] = most = size(state)
    queries = [json.loads(line)["query"] for line in QUESTIONS.read_text("utf-8").splitlines()]
    began = time.monotonic()
    app = open_app(configured(vault, state, new))
    app.start()
    took, by_meaning, ready = [], 0, 0.0
    while not app.index.state().embedder.startswith(new):
        if not app.index.state().embedder:
            time.sleep(0.01)
            continue
        ready = ready or time.monotonic() - began
        query = queries[len(took) % len(queries)]
        answer = app.index.search(SearchRequest(query), PERSON)
        took.append(answer.took_ms)
        by_meaning += bool(answer.state.embedder)
        most = max(most, size(state))
        time.sleep(_PAUSE_SECONDS)
    row["seconds until meaning is searched"] = ready
    row["seconds until the swap"] = time.monotonic() - began
    row["questions meanwhile"] = float(len(took))
    row["share of them by meaning"] = by_meaning / max(1, len(took))
    row["p50, ms"] = statistics.median(took) if took else 0.0
    row["p95, ms"] = sorted(took)[int(0.95 * len(took))] if took else 0.0
    app.index.wait_ready(_WAIT_SECONDS, vectors=True)
    app.close()
    row["disk at the most, MB"] = most
    row["disk after, MB"] = size(state)
    return row


def configured(vault: Path, state: Path, embedder: str) -> Config:
    """Return the configuration of a vault with an embedder."""
    return Config(vault, state, index=replace(IndexConfig(), embedder=embedder, watch=False))


def size(folder: Path) -> float:
    """Return what a folder holds, in MB."""
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.stat().st_size
        except OSError:  # it went in between
            continue
    return total / _MEGABYTE


if __name__ == "__main__":
    main()
