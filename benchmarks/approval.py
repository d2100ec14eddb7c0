"""Measure how soon a tick in Suggestions.md is done: in the brain, and settled in the note.

    python benchmarks/approval.py --ticks 40

A real daemon on a small vault; an agent of level 1 suggests, the note is ticked in place as
Obsidian does. The first tick, which meets an index that still loads, is not counted. Prints a
Markdown table.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from vaultmind.client import launch
from vaultmind.client.client import Client
from vaultmind.config import Flags, load_config
from vaultmind.types import Caller

MAIN = Caller("agent", "main", "benchmark")
LIMIT_SECONDS = 10.0
STEP_SECONDS = 0.002
PERCENTILE = 0.95


def main() -> None:
    """Suggest, tick, wait; print the times."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--ticks", type=int, default=40)
    ticks: int = parser.parse_args().ticks
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        identity = vault / "VaultMind/agents/main/identity.md"
        identity.parent.mkdir(parents=True)
        identity.write_text("---\nautonomy: 1\n---\n", "utf-8")
        (vault / ".obsidian").mkdir()
        os.environ["VAULTMIND_STATE_DIR"] = str(Path(folder) / "state")
        os.environ["VAULTMIND_INDEX_EMBEDDER"] = "none"
        config = load_config(Flags(vault=str(vault)))
        try:
            with Client.connect(config, MAIN) as client:
                measured = [measure(client, vault, number) for number in range(ticks + 1)][1:]
        finally:
            launch.stop(config)
    print("| from the tick to | p50 | p95 |\n|---|---|---|")
    for name, column in zip(
        ("the fact in the brain", "settled in the note"), zip(*measured, strict=True), strict=True
    ):
        times = sorted(1000 * one for one in column)
        p95 = times[min(len(times) - 1, int(PERCENTILE * len(times)))]
        print(f"| {name} | {statistics.median(times):.0f} ms | {p95:.0f} ms |")


def measure(client: Client, vault: Path, number: int) -> tuple[float, float]:
    """Return the seconds from one tick to the fact in the brain, and to the settled line."""
    fact = f"Keeps the {number}th key of the cellar in box {number * 7}"
    done = client.call("memory_update", {"op": "remember", "text": fact})
    note, id_ = vault / "VaultMind/Suggestions.md", done["block"]
    note.write_text(note.read_text("utf-8").replace("- [ ] ", "- [x] ", 1), "utf-8")
    began = time.perf_counter()
    brain = vault / "VaultMind/agents/main/memory/brain.md"
    wait(lambda: brain.exists() and fact in brain.read_text("utf-8"))
    written = time.perf_counter() - began
    wait(lambda: f'"id":"{id_}"' in note.read_text("utf-8").partition("## Settled")[2])
    return written, time.perf_counter() - began


def wait(condition: Callable[[], object]) -> None:
    """Return once a condition holds."""
    deadline = time.perf_counter() + LIMIT_SECONDS
    while not condition():
        if time.perf_counter() > deadline:
            raise SystemExit(f"not within {LIMIT_SECONDS:g} seconds")
        time.sleep(STEP_SECONDS)


if __name__ == "__main__":
    main()
