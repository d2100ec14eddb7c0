"""Measure every line of the speed table that exists by now, on generated vaults.

    python benchmarks/speed.py --notes 1000 10000

Real processes: the daemon, the pipe, the watcher. Each size gets a fresh vault and a fresh state
folder below a temporary folder. Prints a Markdown table. `search_speed.py` times searches apart.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from make_vault import Sizes, Words, make_vault

from vaultmind.app import open_app
from vaultmind.client import launch
from vaultmind.client.client import Client
from vaultmind.config import Config, Flags, load_config

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "speed", "version": "1"},
    },
}


@dataclass(slots=True)
class Figures:
    """What was measured on one size of vault, by name."""

    notes: int
    values: dict[str, float] = field(default_factory=dict)

    def keep(self, name: str, value: float) -> None:
        """Keep a figure and show that it is there."""
        self.values[name] = round(value, 2)
        print(f"  {name}: {value:.2f}", file=sys.stderr, flush=True)


def measure(notes: int, root: Path, sizes: Sizes) -> Figures:
    """Return the figures of a vault of `notes` notes."""
    vault = root / f"vault-{notes}"
    make_vault(vault, notes, sizes=sizes)
    config = load_config(Flags(vault=str(vault), state_dir=str(root / "state")))
    figures = Figures(notes)
    first_index(config, figures)
    startup_check(config, figures)
    try:
        handshakes(config, figures)
        through_the_daemon(config, figures)
    finally:
        launch.stop(config)
    return figures


def first_index(config: Config, figures: Figures) -> None:
    """Index from nothing: text first, then vectors."""
    app = open_app(config)
    started = time.perf_counter()
    app.start()
    app.index.wait_ready(7200)
    text = time.perf_counter() - started
    app.index.wait_ready(7200, vectors=True)
    both = time.perf_counter() - started
    state = app.index.state()
    app.close()
    figures.keep("chunks", state.chunks)
    figures.keep("first index, text, notes/s", state.indexed / text)
    figures.keep("first index, vectors, chunks/s", state.vectors / both)
    figures.keep("first index, all, s", both)


def startup_check(config: Config, figures: Figures) -> None:
    """Open the unchanged vault again and wait until it is known to be unchanged."""
    taken = []
    for _ in range(3):
        app = open_app(config)
        started = time.perf_counter()
        app.start()
        app.index.wait_ready(600)
        taken.append(time.perf_counter() - started)
        app.index.wait_ready(600, vectors=True)
        app.close()
    figures.keep("start-up check, unchanged, s", statistics.median(taken))


def handshakes(config: Config, figures: Figures) -> None:
    """Start the pipe as a client would: without a daemon, then with one running."""
    cold = []
    for _ in range(5):
        launch.stop(config)
        cold.append(handshake(config))
    figures.keep("handshake cold p50, ms", statistics.median(cold))
    figures.keep("handshake cold max, ms", max(cold))
    warm = [handshake(config) for _ in range(30)]
    figures.keep("handshake warm p50, ms", statistics.median(warm))
    figures.keep("handshake warm p95, ms", p95(warm))


def handshake(config: Config) -> float:
    """Return the milliseconds from spawning the pipe to the answer to `initialize`."""
    command = [sys.executable, "-m", "vaultmind", "mcp", "--vault", str(config.vault)]
    command += ["--state-dir", str(config.state_dir.parent)]
    started = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as pipe:
        assert pipe.stdin and pipe.stdout
        pipe.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        pipe.stdin.flush()
        answer = json.loads(pipe.stdout.readline())
        taken = (time.perf_counter() - started) * 1000
        pipe.stdin.close()
        pipe.wait(10)
    if "result" not in answer:
        raise SystemExit(f"no handshake: {answer}")
    return taken


def through_the_daemon(config: Config, figures: Figures) -> None:
    """Save as Obsidian does and ask until it is found; then memory and the start context."""
    client = Client.connect(config)
    client.call("index", {})
    taken = [saved_to_found(config, client, number) for number in range(40)]
    figures.keep("save → found p50, ms", statistics.median(taken))
    figures.keep("save → found p95, ms", p95(taken))
    queries = make_queries(100, seed=5)
    asked = [timed(lambda q=query: client.call("memory_search", {"query": q})) for query in queries]
    figures.keep("search through the daemon p50, ms", statistics.median(asked))
    figures.keep("search through the daemon p95, ms", p95(asked))
    for number in range(12):
        fact = f"Fact number {number} about the person, long enough to cost some tokens"
        client.call("memory_update", {"op": "remember", "text": fact})
    writes = [
        timed(
            lambda n=number: client.call("memory_update", {"op": "remember", "text": f"Speed {n}"})
        )
        for number in range(5)
    ]
    figures.keep("remember p50, ms", statistics.median(writes))
    figures.keep("context at start, tokens", client.call("context_start", {})["tokens"])
    figures.keep("daemon memory, MB", rss_mb(int(launch.status(config)["pid"])))
    client.close()


def saved_to_found(config: Config, client: Client, number: int) -> float:
    """Return the milliseconds from a save to the first search that finds it."""
    notes = sorted(config.vault.rglob("note-*.md"))
    note = random.Random(number).choice(notes)
    word = f"fresh{number:04d}{int(time.time())}q"
    note.write_text(note.read_text("utf-8") + f"\nA new thought: {word}.\n", "utf-8")
    started = time.perf_counter()
    while time.perf_counter() - started < 30:
        if client.call("memory_search", {"query": word, "limit": 1})["hits"]:
            return (time.perf_counter() - started) * 1000
        time.sleep(0.01)
    raise SystemExit(f"{word} in {note} was never found")


def make_queries(count: int, seed: int = 3) -> list[str]:
    """Return sentences of 3 to 8 words in the vault's three languages."""
    rng = random.Random(7)
    words = {lang: Words(lang, rng) for lang in ("en", "pl", "ru")}
    rng = random.Random(seed)
    return [
        " ".join(words[rng.choice(("en", "pl", "ru"))].draw(rng) for _ in range(rng.randint(3, 8)))
        for _ in range(count)
    ]


def timed(work: Callable[[], Any]) -> float:
    """Return the milliseconds that a call takes."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def p95(values: list[float]) -> float:
    """Return the 95th percentile."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1] if values[1:] else values[0]


def rss_mb(pid: int) -> float:
    """Return a process's resident memory."""
    import psutil

    return psutil.Process(pid).memory_info().rss / 1e6


def machine() -> str:
    """Return the machine in a line."""
    cpu = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if os.name == "posix" else ():
        if line.startswith("model name"):
            cpu = line.partition(":")[2].strip()
            break
    return f"{os.cpu_count()} cores, {cpu}, Python {platform.python_version()}, {platform.system()}"


def table(results: list[Figures]) -> str:
    """Return the figures as a Markdown table."""
    names = list(dict.fromkeys(name for one in results for name in one.values))
    rows = [f"| | {' | '.join(f'{one.notes:,} notes' for one in results)} |"]
    rows.append("|---" * (len(results) + 1) + "|")
    for name in names:
        cells = (f"{one.values[name]:,.2f}" if name in one.values else "" for one in results)
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, nargs="+", default=[1000, 10000])
    parser.add_argument("--sections", type=int, nargs=2, default=(1, 4), metavar=("MIN", "MAX"))
    parser.add_argument("--sentences", type=int, nargs=2, default=(3, 8), metavar=("MIN", "MAX"))
    args = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="vaultmind-speed-"))
    try:
        sizes = Sizes(tuple(args.sections), tuple(args.sentences))
        results = [measure(notes, root, sizes) for notes in args.notes]
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print(f"{machine()}\n\n{table(results)}")


if __name__ == "__main__":
    main()
