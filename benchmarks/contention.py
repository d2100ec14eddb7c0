"""Whether writes to the tables of episodes succeed while many processes write at once.

    python benchmarks/contention.py [--processes 8] [--writes 500] [--hold-ms 150]

Each process writes running episodes that grow, ends and drops some and reads in between; one more
holds the file for itself again and again; one is killed in the middle. Counted are the writes that
failed (goal: at least 99.9 % succeed); the same with hardly any waiting by SQLite shows that there
is something to contend for. At the end the file must be whole, and hold what each process wrote
last.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from vaultmind.episodes import store
from vaultmind.episodes.store import Tables
from vaultmind.episodes.types import Episode, Event, TaskMark
from vaultmind.errors import IndexUnavailable

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
STOP = "stop"
"""A file whose coming ends the one that holds."""
FREE = 0.25
"""How long it is let go of, as a share of how long it is held."""
_WAIT_SECONDS = 600.0


@dataclass(slots=True)
class Wrote:
    """What one process did."""

    name: str
    writes: int = 0
    failed: int = 0
    last_events: int = 0
    """Of its last episode."""
    took_ms: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Contended:
    """What came of it."""

    writes: int
    failed: int
    p50_ms: float
    p95_ms: float
    longest_ms: float
    is_whole: bool
    """SQLite finds no fault in the file."""
    lost: int
    """Processes whose last episode is not there as they wrote it."""

    @property
    def share(self) -> float:
        """Return the share of writes that succeeded."""
        return 1.0 - self.failed / self.writes if self.writes else 0.0


def contend(
    folder: Path, processes: int, writes: int, hold_ms: float, busy_seconds: float = 30.0
) -> Contended:
    """Let processes write at once; return how that went. Forks: call it from a single thread."""
    path, stop = folder / "episodes.db", folder / STOP
    forked = multiprocessing.get_context("fork")
    told = forked.SimpleQueue()

    def work(seed: int) -> None:
        told.put(asdict(write(path, writes, busy_seconds, seed)))

    holder = forked.Process(target=hold, args=(path, hold_ms, stop))
    victim = forked.Process(target=write, args=(path, 1_000_000, busy_seconds, processes))
    workers = [forked.Process(target=work, args=(seed,)) for seed in range(processes)]
    for one in (holder, victim, *workers):
        one.start()
    while victim.is_alive() and not _episodes_of(path, processes):
        time.sleep(0.01)
    victim.kill()
    wrote = [Wrote(**told.get()) for _ in workers]
    stop.touch()
    for one in (holder, victim, *workers):
        one.join()
    return _judged(path, wrote)


def write(path: Path, writes: int, busy_seconds: float, seed: int) -> Wrote:
    """Write episodes as an agent's work does; return how that went."""
    rng = random.Random(seed)
    store.BUSY_SECONDS = busy_seconds
    tables = _opened(path)
    done = Wrote(f"agent{seed}")
    events: list[Event] = []
    number = 1
    for _ in range(writes):
        if len(events) >= rng.randint(10, 40):
            events, number = [], number + 1
        events.append(_event(rng, len(events)))
        began = time.perf_counter()
        try:
            tables.put(_episode(done.name, number, events, ended=len(events) >= 10))
            done.last_events = len(events)
        except IndexUnavailable:
            done.failed += 1
        done.writes += 1
        done.took_ms.append((time.perf_counter() - began) * 1000)
        if rng.random() < 0.1:
            _read(tables)
    tables.close()
    return done


def hold(path: Path, hold_ms: float, stop: Path, seed: int = 0) -> None:
    """Take the file for oneself again and again, until a file appears."""
    rng = random.Random(seed)
    connection = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
    while not stop.exists():
        connection.execute("BEGIN IMMEDIATE")
        time.sleep(rng.uniform(0.5, 1.5) * hold_ms / 1000)
        connection.execute("COMMIT")
        time.sleep(rng.uniform(0.5, 1.5) * hold_ms / 1000 * FREE)
    connection.close()


def _opened(path: Path) -> Tables:
    """Open the tables; that is tried again, as it is not what is measured."""
    while True:
        try:
            return Tables(path)
        except IndexUnavailable:
            time.sleep(0.05)


def _read(tables: Tables) -> None:
    rows = tables.tasks("shop")[:20]
    tables.load([row.episode for row in rows])


def _event(rng: random.Random, at: int) -> Event:
    kind = rng.choice(("read", "read", "read", "edit"))
    path = f"src/part{rng.randint(0, 30)}.py"
    return Event(kind, NOW.isoformat(), path, how="hook", block=f"e{at + 1}")  # type: ignore[arg-type]


def _episode(agent: str, number: int, events: Sequence[Event], ended: bool) -> Episode:
    return Episode(
        id=f"2026-11-22_{number:03}",
        agent=agent,
        source="shop",
        task=TaskMark(f"fix the part {number % 7}", "bugfix", f"f{number % 7}"),
        started=NOW.isoformat(),
        state="ended" if ended else "running",
        outcome="success" if ended else "unknown",
        events=tuple(events),
    )


def _judged(path: Path, wrote: Sequence[Wrote]) -> Contended:
    tables = Tables(path)
    held = tables.load(tables.names())
    newest = {row.agent: row for row in sorted(held.values(), key=lambda one: one.id)}
    lost = sum(
        one.failed == 0
        and (one.name not in newest or len(newest[one.name].events) != one.last_events)
        for one in wrote
    )
    tables.close()
    connection = sqlite3.connect(path)
    whole = connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()
    took = sorted(ms for one in wrote for ms in one.took_ms)
    return Contended(
        writes=sum(one.writes for one in wrote),
        failed=sum(one.failed for one in wrote),
        p50_ms=round(took[len(took) // 2], 1),
        p95_ms=round(took[int(len(took) * 0.95)], 1),
        longest_ms=round(took[-1], 1),
        is_whole=whole,
        lost=lost,
    )


def _episodes_of(path: Path, seed: int) -> int:
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            query = "SELECT count(*) FROM episodes WHERE agent = ?"
            return int(connection.execute(query, (f"agent{seed}",)).fetchone()[0])
        finally:
            connection.close()
    except sqlite3.OperationalError:  # not there yet
        return 0


def _told(name: str, done: Contended) -> str:
    return (
        f"{name:22} {done.writes:6} {done.failed:6} {done.share:8.3%} "
        f"{done.p50_ms:8.1f} {done.p95_ms:8.1f} {done.longest_ms:8.1f} "
        f"{'yes' if done.is_whole else 'NO':>6} {done.lost:5}"
    )


def main() -> None:
    """Measure it and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--writes", type=int, default=500, help="of each process")
    parser.add_argument("--hold-ms", type=float, default=200.0)
    parser.add_argument("--json", action="store_true", help="only with waiting, as JSON")
    args = parser.parse_args()
    if args.json:
        with tempfile.TemporaryDirectory() as folder:
            done = contend(Path(folder), args.processes, args.writes, args.hold_ms)
        print(json.dumps(asdict(done) | {"share": done.share}))
        return
    print(
        f"{args.processes} processes, {args.writes} writes each, one that holds the file for about "
        f"{args.hold_ms:g} ms at a time, one that is killed\n"
    )
    print(
        f"{'':22} {'writes':>6} {'failed':>6} {'share':>8} {'p50 ms':>8} "
        f"{'p95 ms':>8} {'longest':>8} {'whole':>6} {'lost':>5}"
    )
    for name, seconds in (("waits", 30.0), ("waits 0.1 s", 0.1)):
        with tempfile.TemporaryDirectory() as folder:
            done = contend(Path(folder), args.processes, args.writes, args.hold_ms, seconds)
            print(_told(name, done), flush=True)


if __name__ == "__main__":
    main()
