"""Measure the gate: what one fact costs, by one writer and by sixteen at once on one brain.

    python benchmarks/gate_write.py --json benchmarks/out/gate_write.json

A write is the whole way: secrets, rights, contradictions, compare-and-swap with its flush to
disk, size limit, chained audit with its flush, index by words. Each case gets a fresh vault, empty
or with facts that were remembered before, most of which lie in the archive by then. Prints the
machine and a Markdown table.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from speed import machine

from vaultmind.app import App, open_app
from vaultmind.config import Flags, load_config
from vaultmind.types import Caller, MemoryWrite

MAIN = Caller("agent", "main", "benchmark")
WRITERS = (1, 16)
OWNERS = ("Anna", "Piotr", "Kasia", "Marek", "Ola", "Jan", "Ewa", "Adam", "Maria", "Tomek")
THINGS = (
    *("kayak", "bread oven", "tin whistle", "chess board", "walnut desk", "film camera", "lamp"),
    *("stamp album", "garden shed", "wool coat", "iron kettle", "clay pipe", "oak ladder", "tent"),
)
PLACES = ("Gdańsk", "Lublin", "Kraków", "Opole", "Toruń", "Poznań", "Zamość", "Sopot", "Łódź")


@dataclass(frozen=True, slots=True)
class Figures:
    """What one case took."""

    facts: int
    writers: int
    writes: int
    p50_ms: float
    p95_ms: float
    a_second: float
    known: int
    """Writes that came to nothing new; there should be none."""


def facts(seed: int) -> Iterator[str]:
    """Yield facts of which none says or contradicts another."""
    triples = list(itertools.product(OWNERS, THINGS, PLACES))
    random.Random(seed).shuffle(triples)
    return (f"{who} keeps a {thing} in a cellar in {where}" for who, thing, where in triples)


def measure(root: Path, facts_before: int, writers: int, each: int) -> Figures:
    """Return the figures of one case on a fresh vault."""
    vault = root / f"vault-{facts_before}-{writers}"
    (vault / ".obsidian").mkdir(parents=True)
    app = open_app(load_config(Flags(vault=str(vault), state_dir=str(root / "state"))))
    app.start()
    try:
        app.index.wait_ready(120, vectors=False)
        supply = facts(facts_before + writers)
        for _ in range(facts_before):
            app.gate.write(MemoryWrite("remember", "main", MAIN, next(supply)))
        lots = [[next(supply) for _ in range(each)] for _ in range(writers)]
        return _timed(app, facts_before, lots)
    finally:
        app.close()


def _timed(app: App, facts_before: int, lots: list[list[str]]) -> Figures:
    times_ms: list[float] = []
    outcomes: list[str] = []
    start = threading.Barrier(len(lots) + 1)

    def write(lot: list[str]) -> None:
        start.wait()
        for fact in lot:
            began = time.perf_counter()
            outcome = app.gate.write(MemoryWrite("remember", "main", MAIN, fact))
            times_ms.append((time.perf_counter() - began) * 1000)
            outcomes.append(outcome.outcome)

    threads = [threading.Thread(target=write, args=(lot,)) for lot in lots]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    cuts = statistics.quantiles(times_ms, n=20)
    return Figures(
        facts_before,
        len(lots),
        len(times_ms),
        round(statistics.median(times_ms), 1),
        round(cuts[-1], 1),
        round(len(times_ms) / took, 1),
        len(outcomes) - outcomes.count("written"),
    )


def table(results: list[Figures]) -> str:
    """Return the figures as a Markdown table."""
    rows = ["| facts before | writers at once | writes | p50, ms | p95, ms | writes/s |"]
    rows.append("|---" * 6 + "|")
    rows += [
        f"| {one.facts} | {one.writers} | {one.writes} | {one.p50_ms:,.0f} | {one.p95_ms:,.0f} "
        f"| {one.a_second:,.0f} |"
        for one in results
    ]
    return "\n".join(rows)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--facts", type=int, nargs="+", default=[0, 300])
    parser.add_argument("--writes", type=int, default=160, help="In each case, all writers'.")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="vaultmind-gate-"))
    try:
        results = [
            measure(root, before, writers, args.writes // writers)
            for before in args.facts
            for writers in WRITERS
        ]
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print(f"{machine()}\n\n{table(results)}")
    if any(one.known for one in results):
        print(f"\nNot new: {[one.known for one in results]}")
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        figures = [asdict(one) for one in results]
        args.json.write_text(json.dumps({"machine": machine(), "figures": figures}, indent=2))


if __name__ == "__main__":
    main()
