"""Measure reading a long audit: the log's last lines, one operation, all, and the chain's check.

    python benchmarks/audit_log.py --lines 100000

The lines are of two devices, chained, and one in a thousand is a forgetting. Prints the machine
and a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from speed import machine
from vaultmind.memory.audit.chain import chain, render, verify

from vaultmind.memory.audit import (
    AuditLine,
    Wanted,
    audit_files,
    chained_digest,
    find_line,
    history,
)
from vaultmind.vault.paths import VaultPaths

AGENTS = ("main",)
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
FORGETTING = 1000


def furnish(paths: VaultPaths, lines: int) -> None:
    """Write the audit of two devices."""
    (paths.root / paths.memory("main")).mkdir(parents=True)
    for device in ("laptop", "phone"):
        prev, written = "", []
        for number in range(lines // 2):
            text = f"Fact number {number} about a garden, a boat or a bicycle"
            time_of = (BEGAN + timedelta(minutes=number)).isoformat()
            line = AuditLine(time_of, "main", "benchmark", "main", "remember", "written", "user")
            forgets = number % FORGETTING == 0
            texts = {"op": "forget", "before": text} if forgets else {"after": text}
            value = chain(AuditLine(**_fields(line) | texts), prev)
            prev = chained_digest(value)
            written.append(render(value) + "\n")
        path = paths.root / paths.audit("main", device)
        path.write_text("".join(written), "utf-8")


def _fields(line: AuditLine) -> dict[str, str]:
    names = ("time", "caller", "client", "agent", "op", "outcome", "section")
    return {name: getattr(line, name) for name in names}


def measure(paths: VaultPaths, lines: int) -> dict[str, float]:
    """Return milliseconds of processor time by what was read."""
    last_day = BEGAN + timedelta(minutes=lines // 2 - 60 * 24)
    oldest = history(paths, Wanted(AGENTS))[0][0].line.id
    return {
        "the last 20 lines": _ms(lambda: history(paths, Wanted(AGENTS, limit=20))),
        "the last 20 forgettings": _ms(
            lambda: history(paths, Wanted(AGENTS, ops=("forget",), limit=20))
        ),
        "the last day": _ms(lambda: history(paths, Wanted(AGENTS, since=last_day))),
        "the oldest line by its id": _ms(lambda: find_line(paths, AGENTS, oldest)),
        "all lines": _ms(lambda: history(paths, Wanted(AGENTS))),
        "the check of both chains": _ms(lambda: [_checked(path) for path in _files(paths)]),
    }


def _files(paths: VaultPaths) -> list[Path]:
    return [path for path, _ in audit_files(paths, AGENTS)]


def _checked(path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        if faults := verify(lines).faults:
            raise SystemExit(f"{path}: {faults[0]}")


def _ms(read: Callable[[], object]) -> float:
    began = time.process_time()
    read()
    return round((time.process_time() - began) * 1000, 1)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="vaultmind-log-"))
    try:
        paths = VaultPaths(root)
        furnish(paths, args.lines)
        megabytes = sum(path.stat().st_size for path in _files(paths)) / 1e6
        figures = measure(paths, args.lines)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    rows = [f"| {what} | {took:,.1f} |" for what, took in figures.items()]
    what = f"of {args.lines:,} lines, {megabytes:.0f} MB"
    print(f"{machine()}\n\n| {what} | processor time, ms |\n|---|---|")
    print("\n".join(rows))
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps({"machine": machine(), "figures": figures}, indent=2))


if __name__ == "__main__":
    main()
