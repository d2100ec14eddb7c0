"""How long the tables of episodes take to be filled and asked.

    python benchmarks/episode_tables.py [--episodes 10000] [--sources 10] [--notes 500]

Made-up episodes of some twenty events each, over several sources; a tenth of them are of the
source that is asked. Times are of the processor, so that others on the machine change them less.
Goal: what 50 episodes did with files in less than 5 ms. `--notes` are written as notes and read
back: what making the tables anew costs.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from vaultmind.episodes.affinity import used
from vaultmind.episodes.files import EpisodeFiles
from vaultmind.episodes.note import rendered
from vaultmind.episodes.store import Tables
from vaultmind.episodes.types import Episode, Event, TaskMark
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
KINDS = ("read", "read", "read", "edit", "hit")
ALIKE = 50
SOURCE = "source0"


def made(number: int, sources: int, rng: random.Random) -> Episode:
    """Return an episode of half an hour before the next one."""
    began = NOW - timedelta(minutes=30 * number)
    events = [
        Event(
            rng.choice(KINDS),  # type: ignore[arg-type]
            (began + timedelta(seconds=at)).isoformat(),
            f"src/part{rng.randint(0, 20)}/file{min(20, int(rng.expovariate(0.3)))}.py",
            how="hook",
            block=f"e{at + 1}",
        )
        for at in range(rng.randint(12, 28))
    ]
    commit = Event(
        "commit", began.isoformat(), text=f"Fix #{number % 900}", commit=f"{number:040x}"
    )
    return Episode(
        id=f"2026-11-22_{number + 1:05}",
        agent="main",
        source=f"source{number % sources}",
        task=TaskMark(f"fix part {number % 3000} of the shop", "bugfix", f"f{number % 3000}"),
        started=began.isoformat(),
        ended=began.isoformat(),
        state="ended",
        outcome=rng.choice(("success", "success", "unknown", "failed")),
        events=(*events, commit),
    )


def measured(name: str, work: Callable[[], object], times: int = 60) -> None:
    """Print how long some work takes."""
    took = []
    for _ in range(times):
        began = time.process_time()
        work()
        took.append((time.process_time() - began) * 1000)
    took.sort()
    print(f"{name:42} {took[len(took) // 2]:9.2f} {took[int(len(took) * 0.95)]:9.2f}")


def anew(folder: Path, episodes: list[Episode]) -> float:
    """Return the seconds in which tables are made of notes."""
    paths = VaultPaths(folder / "vault")
    files = EpisodeFiles(paths, VaultReader(paths, 0))
    for one in episodes:
        note = paths.root / files.path(one.name)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(rendered(one), "utf-8")
    tables = Tables(folder / "anew.db")
    began = time.process_time()
    tables.follow(files)
    took = time.process_time() - began
    tables.close()
    return took


def main() -> None:
    """Measure it and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--sources", type=int, default=10)
    parser.add_argument("--notes", type=int, default=500)
    args = parser.parse_args()
    rng = random.Random(8)
    episodes = [made(number, args.sources, rng) for number in range(args.episodes)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = Tables(folder / "episodes.db")
        began = time.process_time()
        for one in reversed(episodes):
            tables.put(one)
        each = (time.process_time() - began) * 1000 / len(episodes)
        stats = tables.stats()
        size = (folder / "episodes.db").stat().st_size / 1e6
        print(f"{stats.episodes} episodes, {stats.events} events, {size:.0f} MB")
        print(f"{each:.2f} ms to put one\n\n{'ms of the processor':42} {'p50':>9} {'p95':>9}")
        asked(tables, rng)
        tables.close()
        if args.notes:
            took = anew(folder, episodes[: args.notes])
            print(f"\n{args.notes} notes read in {took:.1f} s", file=sys.stdout)


def asked(tables: Tables, rng: random.Random) -> None:
    """Ask what a plan and the reports ask."""
    names = [row.episode for row in tables.tasks(SOURCE)]

    def some() -> list[str]:
        return rng.sample(names, min(ALIKE, len(names)))

    def weighed() -> None:
        one = some()
        used(tables.load(one).values(), dict.fromkeys(one, 0.5), NOW)

    measured(f"tasks of a source, all {len(names)} read", lambda: tables.tasks(SOURCE), 20)
    measured(f"what {ALIKE} episodes did (load)", lambda: tables.load(some()))
    measured(f"affinity of {ALIKE} alike tasks (load, used)", weighed)
    measured("episodes that name an issue", lambda: tables.naming(SOURCE, ["#10"]))
    measured("stats", tables.stats, 20)


if __name__ == "__main__":
    main()
