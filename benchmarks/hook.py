"""Measure what a hook of Claude Code costs: the whole process, from its start to its end.

    python benchmarks/hook.py --notes 1000 --messages 1000 --runs 100

A generated vault, a daemon with the configured embedder, a transcript that grows by four lines
between two prompts, and the command that `vaultmind connect claude-code --hooks` writes. Prints a
Markdown table: wall time by event, with a daemon and without one, and how many prompts got their
answer before the hook's own limit.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from make_vault import Sizes, make_vault
from speed import p95

from vaultmind.cli import connect
from vaultmind.client import hook, launch
from vaultmind.client.client import Client
from vaultmind.config import Config, Flags, load_config

TOPICS = ("oven", "garden", "bicycle", "holiday", "printer", "violin", "kitchen", "harbour")


def _children_ms() -> float:
    """Return the processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


class Transcript:
    """A transcript as Claude Code writes it, which grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._number = 0
        self._time = datetime.now(UTC) - timedelta(minutes=20)

    def grow(self, turns: int) -> None:
        """Add turns of four lines: a question, a call, its result, an answer."""
        lines: list[dict[str, Any]] = []
        for _ in range(turns):
            topic = TOPICS[self._number // 4 % len(TOPICS)]
            call = f"toolu_{self._number}"
            use = {"type": "tool_use", "id": call, "name": "Read", "input": {"path": topic}}
            result = {"type": "tool_result", "tool_use_id": call, "content": "x" * 4000}
            said = f"In note {self._number} the {topic} is planned for day {self._number % 28}."
            lines += [
                self._line("user", f"What did we decide on the {topic}, number {self._number}?"),
                self._line("assistant", [use]),
                self._line("user", [result]),
                self._line("assistant", [{"type": "text", "text": said}]),
            ]
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)

    def compact(self) -> None:
        """Write that the host let go of what stands above."""
        boundary = {"type": "system", "subtype": "compact_boundary", "uuid": f"c{self._number}"}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(boundary) + "\n")

    def _line(self, kind: str, content: object) -> dict[str, Any]:
        self._number += 1
        self._time += timedelta(milliseconds=500)
        return {
            "type": kind,
            "uuid": f"line-{self._number}",
            "sessionId": "bench",
            "timestamp": self._time.isoformat(),
            "message": {"role": kind, "content": content},
        }


class Bench:
    """One vault, its daemon and the hook's commands."""

    def __init__(self, config: Config, state_root: Path, transcript: Transcript) -> None:
        self.config = config
        self.transcript = transcript
        entry = connect.server_entry(config, str(state_root))
        self._commands = connect.hook_commands(config, entry)
        self.took: defaultdict[str, list[float]] = defaultdict(list)
        self.spent: defaultdict[str, list[float]] = defaultdict(list)
        self.answered: defaultdict[str, int] = defaultdict(int)

    def run(self, event: str, label: str = "", **more: object) -> None:
        """Run the hook of an event as a process and keep how long it took."""
        given = {"session_id": "bench", "transcript_path": str(self.transcript.path), **more}
        began, spent = time.perf_counter(), _children_ms()
        done = subprocess.run(
            shlex.split(self._commands[event]),
            input=json.dumps(given).encode(),
            capture_output=True,
            check=True,
        )
        self.took[label or event].append((time.perf_counter() - began) * 1000)
        self.spent[label or event].append(_children_ms() - spent)
        self.answered[label or event] += bool(done.stdout)

    def table(self) -> str:
        """Return the figures as a Markdown table."""
        rows = [
            "| event | runs | p50 ms | p95 ms | max ms | processor ms | told something |",
            "|---|---|---|---|---|---|---|",
        ]
        for label, took in self.took.items():
            rows.append(
                f"| {label} | {len(took)} | {statistics.median(took):.0f} | {p95(took):.0f} "
                f"| {max(took):.0f} | {statistics.median(self.spent[label]):.0f} "
                f"| {self.answered[label]} |"
            )
        return "\n".join(rows)


def measure(bench: Bench, messages: int, runs: int) -> None:
    """Tell of a conversation with a daemon that runs, then of one without."""
    bench.transcript.grow(messages // 4)
    with_backend(bench.config)
    bench.run("SessionStart", "first look at the transcript", source="resume")
    for _ in range(20):
        bench.run("Stop", "warm-up")
    for number in range(runs):
        if number == runs // 2:
            bench.run("PreCompact", trigger="auto")
            bench.transcript.compact()
            bench.run("SessionStart", "SessionStart, compact", source="compact")
        when = "" if number < runs // 2 else " after a compaction"
        prompt = f"What did we decide on the {TOPICS[number % len(TOPICS)]} in note {number}?"
        bench.run("UserPromptSubmit", f"UserPromptSubmit{when}", prompt=prompt)
        bench.transcript.grow(1)
        bench.run("Stop")
        if number % 5 == 0:
            bench.run("SessionStart", source="startup")
        task = {"description": "look it up", "prompt": f"Find out {prompt[0].lower()}{prompt[1:]}"}
        work = {"tool_name": "Task", "tool_input": task, "cwd": str(bench.config.vault)}
        bench.run(hook.BEFORE_TASK, "PreToolUse, a plan", **work)
        used(bench, number)
    bench.run("Stop", "Stop, after edits")
    del bench.took["warm-up"]
    launch.stop(bench.config)
    for _ in range(max(3, runs // 20)):
        (bench.config.state_dir / launch.BEGUN).unlink(missing_ok=True)
        bench.run("Stop", "no daemon: one is started")
        bench.run("Stop", "no daemon yet: one is starting")
        note = str(next(bench.config.vault.rglob("*.md")))
        bench.run(hook.AFTER_TOOL, "PostToolUse, no daemon yet", **tool("Edit", file_path=note))
        while not launch.status(bench.config)["running"]:
            time.sleep(0.05)
        launch.stop(bench.config)


def tool(name: str, answered: object = None, **asked: object) -> dict[str, Any]:
    """Return what Claude Code tells of a tool's use."""
    return {
        "tool_name": name,
        "tool_input": asked,
        "tool_response": answered or {},
        "tool_use_id": f"toolu_{time.monotonic_ns()}",
        "duration_ms": 20,
    }


def used(bench: Bench, number: int) -> None:
    """Tell of a read of a long file, an edit and a run of tests."""
    notes = sorted(bench.config.vault.rglob("*.md"))
    note, where = str(notes[number % len(notes)]), {"cwd": str(bench.config.vault)}
    text = {"type": "text", "file": {"filePath": note, "content": "x" * 200_000}}
    bench.run(hook.AFTER_TOOL, "PostToolUse, Read", **where, **tool("Read", text, file_path=note))
    bench.run(hook.AFTER_TOOL, "PostToolUse, Edit", **where, **tool("Edit", file_path=note))
    printed = {"stdout": "1 passed\n" * 500, "stderr": "", "interrupted": False}
    command = tool("Bash", printed, command="cd src && pytest -q 2>&1 | tail -500")
    bench.run(hook.AFTER_TOOL, "PostToolUse, Bash", **where, **command)


def with_backend(config: Config) -> None:
    """Start the daemon and wait until all is searchable, vectors too."""
    backend = Client.connect(config)
    try:
        backend.call("index", {"vectors": True})
    finally:
        backend.close()


def main() -> None:
    """Parse the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=100)
    arguments = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="vaultmind-hook-"))
    os.environ["VAULTMIND_STATE_DIR"] = str(root / "state")
    try:
        make_vault(root / "vault", arguments.notes, sizes=Sizes())
        config = load_config(Flags(vault=str(root / "vault"), state_dir=str(root / "state")))
        bench = Bench(config, root / "state", Transcript(root / "bench.jsonl"))
        try:
            measure(bench, arguments.messages, arguments.runs)
        finally:
            launch.stop(config)
        print(bench.table())
        log = config.state_dir / hook.LOG
        lines = log.read_text("utf-8").splitlines() if log.exists() else []
        late = [line for line in lines if "TooLate" in line]
        plans = sum(hook.BEFORE_TASK in line for line in late)
        print(f"\nover the hook's own limits: {len(late)}, {plans} of them plans", end="; ")
        print(f"other failures: {len(lines) - len(late)}; load {os.getloadavg()[0]:.1f}")
        print("\n".join(line for line in lines if line not in late))
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
