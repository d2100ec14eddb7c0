"""Two versions of the search, asked the same in turn: what one takes of the other's time.

    python benchmarks/paired_search.py OLDER NEWER --keep FOLDER [--chunks 10000]

OLDER and NEWER are checkouts of this project, FOLDER is what `search_speed.py --keep` left. Each
version runs in a process of its own over a copy of that index, and every query goes to both, now
one first, now the other: so a machine that is slow for a while is slow for both. Told are the
milliseconds of a search's own thread and of the whole search, p50 / p95 and mean, and the median
of NEWER's share of OLDER's.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

QUERIES, WARM = 300, 30
_WORKER = "--work"


def main() -> None:
    """Ask both, and print what they took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("versions", nargs=2, type=Path, metavar="CHECKOUT")
    parser.add_argument("--keep", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--chunks", type=int, default=10_000)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sides = [
            Side(root, told.keep, told.chunks, Path(folder) / name)
            for root, name in zip(told.versions, ("older", "newer"), strict=True)
        ]
        kinds: dict[str, list[str]] = sides[1].ask("")
        for kind, queries in kinds.items():
            pairs = [_pair(sides, query, number) for number, query in enumerate(queries)]
            _tell(kind, pairs[WARM:])
        for side in sides:
            side.close()


class Side:
    """One version at work. Answers a query with its milliseconds, an empty one with all queries."""

    def __init__(self, root: Path, keep: Path, chunks: int, state: Path) -> None:
        shutil.copytree(keep / f"state-{chunks}", state)
        vault = keep / f"vault-{chunks}"
        self._process = subprocess.Popen(
            [sys.executable, __file__, _WORKER, str(root), str(vault), str(state)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ
            | {"PYTHONPATH": str(root), "OPENBLAS_NUM_THREADS": "1"},  # as the daemon
        )

    def ask(self, query: str) -> Any:  # noqa: ANN401
        """Return what the other process says."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the process has no pipes")
        print(json.dumps(query), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """Let it end."""
        self._process.communicate()


def work(root: str, vault: str, state: str) -> None:
    """Answer the queries of standard input by the version in `root`."""
    sys.path.insert(0, f"{root}/benchmarks")
    from example import NOTE_QUESTIONS, read
    from search_speed import Stages  # that version's
    from speed import make_queries

    stages = Stages(Path(vault), Path(state))
    for line in sys.stdin:
        query = json.loads(line)
        if not query:
            usual = make_queries(QUERIES + WARM)
            strange = [one["query"] for one in read(NOTE_QUESTIONS)]
            print(json.dumps({"usual": usual, "strange words": strange}), flush=True)
            continue
        started = time.thread_time()
        whole = stages.search(query)
        print(json.dumps([(time.thread_time() - started) * 1000, whole]), flush=True)
    stages.close()


def _pair(sides: list[Side], query: str, number: int) -> list[list[float]]:
    order = (0, 1) if number % 2 else (1, 0)
    found = {at: sides[at].ask(query) for at in order}
    return [found[0], found[1]]


def _tell(kind: str, pairs: list[list[list[float]]]) -> None:
    for at, what in enumerate(("own thread", "whole")):
        older, newer = ([one[side][at] for one in pairs] for side in (0, 1))
        share = statistics.median(new / old for old, new in zip(older, newer, strict=True))
        print(f"{kind:14} {what:11} {_of(older)}   {_of(newer)}   share {share:.3f}")


def _of(values: list[float]) -> str:
    late = sorted(values)[int(len(values) * 0.95)]
    return f"{statistics.median(values):5.1f} / {late:5.1f}, mean {statistics.fmean(values):5.1f}"


if __name__ == "__main__":
    if sys.argv[1:2] == [_WORKER]:
        work(*sys.argv[2:])
    else:
        main()
