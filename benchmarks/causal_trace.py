"""Measure how many agent runs leave their whole chain: task, reads, changes, outcome.

    python benchmarks/causal_trace.py --runs 48 --out runs.json

Scripted runs of Claude Code in linked projects and in the vault: each reads, searches, changes and
commits files for real, and tells of it through the hooks' own processes and a real daemon, as
`vaultmind connect claude-code --hooks` sets them up. The kinds of run differ in what goes wrong: a
daemon that is killed or not there yet, hooks that never came, changes by scripts, no git, two
sources, two conversations at once, several tasks, a run that nobody ends. A chain is whole if the
note has the task, every file that was read, every file that was changed and no other, and an
outcome that somebody stated. Prints a Markdown table by kind of run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from vaultmind.cli import claude_code, connect
from vaultmind.client import hook, launch
from vaultmind.client.client import Client
from vaultmind.config import Config, Flags, load_config
from vaultmind.episodes.files import EpisodeFiles
from vaultmind.episodes.gains import figures_of, works
from vaultmind.episodes.store import Tables
from vaultmind.episodes.types import Episode
from vaultmind.errors import VaultMindError
from vaultmind.types import Caller
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

AS_ANNA = ("-c", "user.name=Anna", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
AREAS = (
    "auth", "cart", "invoice", "search", "mail", "report", "stock", "price", "login", "export",
    "cache", "queue", "image", "audit", "theme", "payment",
)  # fmt: skip
TASKS = (
    "Fix the crash in {0} when the list is empty",
    "Add a retry with backoff to {0}",
    "Refactor {0}: split the long function in two",
    "Why does {0} take so long? Make it faster",
    "Rename the option of {0} and mend its tests",
    "Document how {0} works, with an example",
)
WAIT_SECONDS = 20.0


@dataclass
class Wanted:
    """What an episode should say."""

    source: str
    task: str
    reads: set[str] = field(default_factory=set)
    edits: set[str] = field(default_factory=set)
    outcome: str = "unknown"


@dataclass
class House:
    """A vault, its daemon, three projects, and the hooks' commands."""

    config: Config
    root: Path
    projects: dict[str, Path]
    commands: dict[str, str]
    rng: random.Random
    took_ms: list[float] = field(default_factory=list)

    def tell(self, event: str, given: dict[str, Any]) -> None:
        """Run a hook as Claude Code does."""
        began = time.perf_counter()
        done = subprocess.run(
            shlex.split(self.commands[event]), input=json.dumps(given).encode(),
            capture_output=True, check=True,
        )  # fmt: skip
        self.took_ms.append((time.perf_counter() - began) * 1000)
        assert not done.stderr, done.stderr

    def says(self, op: str, args: dict[str, Any]) -> None:
        """Call an operation as the agent's own tool call would."""
        agent = Caller("agent", self.config.agent, "claude-code")
        with contextlib.closing(Client.connect(self.config, agent)) as client:
            client.call(op, args)

    def kill(self) -> None:
        """Kill the daemon as a crash would."""
        if pid := int(launch.status(self.config).get("pid", 0)):
            os.kill(pid, signal.SIGKILL)
            while launch.status(self.config)["running"]:
                time.sleep(0.02)
        (self.config.state_dir / launch.BEGUN).unlink(missing_ok=True)

    def settled(self) -> None:
        """Wait until what was told is written down: until no note has changed for a while."""
        folder = self.config.vault / self.config.memory_dir
        deadline, before = time.monotonic() + WAIT_SECONDS, -1
        while time.monotonic() < deadline:
            now = sum(one.stat().st_mtime_ns for one in folder.rglob("episodes/*.md"))
            if now == before:
                return
            before = now
            time.sleep(0.7)

    def back(self) -> None:
        """Wait for the daemon that a hook has started."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not launch.status(self.config)["running"] and time.monotonic() < deadline:
            time.sleep(0.05)


class Run:
    """One conversation, scripted."""

    def __init__(self, house: House, number: int, source: str) -> None:
        self.house = house
        self.session = f"run-{number:03d}"
        self.source = source
        self.cwd = house.projects[source]
        self.wanted: list[Wanted] = []
        self._path = house.root / f"transcripts/{self.session}.jsonl"
        self._path.parent.mkdir(exist_ok=True)
        self._path.touch()
        self._number = 0
        self.area = house.rng.choice(AREAS)
        self.deaf = False
        """Whether hooks after tools never come."""

    @property
    def now(self) -> Wanted:
        return self.wanted[-1]

    def file(self, *, test: bool = False) -> str:
        if self.source == "vault":
            return f"Notes/{self.area}.md"
        return f"tests/test_{self.area}.py" if test else f"src/{self.area}.py"

    def tell(self, event: str, **more: object) -> None:
        common = {"session_id": self.session, "transcript_path": str(self._path)}
        self.house.tell(event, {**common, "cwd": str(self.cwd), "hook_event_name": event, **more})

    def asks(self, words: str, *, new: bool = True) -> None:
        if new:
            self.wanted.append(Wanted(self.source, words))
        self.tell("UserPromptSubmit", prompt=words)
        self._number += 1
        line = {
            "type": "user", "uuid": f"{self.session}-{self._number}", "sessionId": self.session,
            "timestamp": datetime.now().astimezone().isoformat(),
            "message": {"role": "user", "content": words},
        }  # fmt: skip
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def task(self) -> None:
        self.asks(self.house.rng.choice(TASKS).format(self.area))

    def used(self, tool: str, asked: dict[str, Any], answered: object, **more: object) -> None:
        if self.deaf:
            return
        self._number += 1
        event = hook.AFTER_FAILURE if "error" in more else hook.AFTER_TOOL
        self.tell(event, tool_name=tool, tool_input=asked, tool_response=answered, duration_ms=50,
                  tool_use_id=f"toolu_{self.session}_{self._number}", **more)  # fmt: skip

    def reads(self, name: str, **more: object) -> None:
        text = (self.cwd / name).read_text("utf-8")
        answered = {"type": "text", "file": {"filePath": name, "content": text}}
        self.used("Read", {"file_path": str(self.cwd / name)}, answered, **more)
        self.now.reads.add(name)

    def searches(self) -> None:
        names = [self.file()]
        self.used("Grep", {"pattern": self.area}, {"mode": "files_with_matches", "numFiles": 1,
                                                  "filenames": names})  # fmt: skip

    def edits(self, name: str, *, seen: bool = True) -> None:
        path = self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not path.exists()
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n# {self.session} {time.monotonic_ns()}\n")
        self.now.edits.add(name)
        if seen:
            answered = {"type": "create" if new else "update", "filePath": str(path)}
            tool = "Write" if new else self.house.rng.choice(("Edit", "MultiEdit"))
            self.used(tool, {"file_path": str(path)}, answered)

    def runs(self, command: str, printed: str = "", **more: object) -> None:
        answered = {"stdout": printed, "stderr": "", "interrupted": False, "isImage": False}
        self.used("Bash", {"command": command}, answered, **more)

    def commits(self, message: str) -> None:
        names = sorted(self.now.edits)
        git(self.cwd, "add", *names)
        git(self.cwd, "commit", "-q", "-m", message, "--", *names)
        self.runs(f"git add -A && git commit -m '{message}'", f"[main 1] {message}")

    def states(self, outcome: str, *, by: str = "episode_end", source: str = "") -> None:
        """Say what came of it: the agent at its end, or the person afterwards."""
        note = f"{self.area} does what it should"
        self.now.outcome = outcome
        args: dict[str, Any] = {"session_id": self.session, "outcome": outcome, "note": note}
        try:
            self.house.says(by, args)
        except VaultMindError as error:  # an agent goes on, whatever a tool answers
            print(f"{self.session}: {error.message}", file=sys.stderr)

    def stops(self) -> None:
        self.tell("Stop")

    def ends(self) -> None:
        self.tell("SessionEnd", reason="other")


# --- kinds of run ---------------------------------------------------------------------------


def plain(run: Run) -> None:
    """Everything goes as it should, with a commit."""
    run.task()
    run.searches()
    run.reads(run.file())
    run.reads(run.file(test=True))
    run.edits(run.file())
    run.edits(run.file(test=True))
    run.runs("pytest -q", error="Exit code 1\n1 failed", is_interrupt=False)
    run.edits(run.file())
    run.runs("cd src && pytest -q | tail -3", "2 passed in 0.1s")
    run.commits(f"Mend {run.area}, #12")
    run.states("success")
    run.stops()
    run.ends()


def by_script(run: Run) -> None:
    """A script changes the files: no hook tells of an edit."""
    run.task()
    run.reads(run.file())
    run.edits(run.file(), seen=False)
    run.edits(f"src/{run.area}_new.py", seen=False)
    run.runs(f"sed -i s/a/b/ src/{run.area}.py && ./generate.sh")
    run.stops()
    run.states("success")
    run.ends()


def deaf(run: Run) -> None:
    """Half of the hooks after tools never come; the file is read again later."""
    run.task()
    run.reads(run.file())
    run.deaf = True
    run.edits(run.file())
    run.edits(run.file(test=True))
    run.deaf = False
    run.states("partial")
    run.stops()
    run.ends()


def killed(run: Run) -> None:
    """The daemon is killed in the middle."""
    run.task()
    run.reads(run.file())
    run.house.kill()
    run.edits(run.file())
    run.house.back()
    run.reads(run.file(test=True))
    run.stops()
    run.states("success")
    run.ends()


def not_there(run: Run) -> None:
    """No daemon runs when the conversation begins."""
    run.house.kill()
    run.task()
    run.reads(run.file())
    run.edits(run.file())
    run.house.back()
    run.edits(run.file(test=True))
    run.states("failed")
    run.stops()
    run.ends()


def several(run: Run) -> None:
    """Two tasks, and prompts that only go on."""
    run.task()
    run.reads(run.file())
    run.asks("go on", new=False)
    run.edits(run.file())
    run.states("success")
    run.stops()
    run.area = run.house.rng.choice([one for one in AREAS if one != run.area])
    run.asks(f"Write an announcement of the new {run.area} page for the newsletter of March")
    run.reads(run.file())
    run.edits(f"docs/{run.area}.md")
    run.asks("now commit it", new=False)
    run.commits("News")
    run.states("partial")
    run.stops()
    run.ends()


def sub_agents(run: Run) -> None:
    """Sub-agents do the work, and the host lets go of what was said in between."""
    run.task()
    run.reads(run.file(), agent_id="a1", agent_type="Explore")
    run.tell("PreCompact", trigger="auto")
    run.tell("SessionStart", source="compact")
    run.edits(run.file(), seen=False)
    git(run.cwd, "commit", "-q", "-m", "By a sub-agent", "--", *run.now.edits)
    run.used("Agent", {"prompt": "Do it", "subagent_type": "x"}, {"status": "completed"})
    run.states("success")
    run.stops()
    run.ends()


def after_the_end(run: Run) -> None:
    """The person says what came of it when the conversation is over."""
    run.task()
    run.reads(run.file())
    run.edits(run.file())
    run.stops()
    run.ends()
    run.house.settled()
    run.states("success", by="feedback")


def of_notes(run: Run) -> None:
    """The work is on the person's notes."""
    run.task()
    run.reads(run.file())
    run.edits(run.file())
    run.stops()
    run.states("success")
    run.ends()


def two_sources(run: Run) -> None:
    """One task over a project and the notes."""
    run.task()
    run.reads(run.file())
    run.edits(run.file())
    run.states("success")
    first, run.source = run.source, "vault"
    run.cwd = run.house.projects["vault"]
    run.wanted.append(Wanted("vault", run.now.task))
    run.asks("Also put what you did into the note on it, with the reason", new=False)
    run.wanted[-1].task = "Also put what you did into the note on it, with the reason"
    run.reads(run.file())
    run.edits(run.file())
    run.states("success")
    run.stops()
    run.ends()
    run.source, run.cwd = first, run.house.projects[first]


def not_ended(run: Run) -> None:
    """Nobody says what came of it, and the terminal is closed."""
    run.task()
    run.reads(run.file())
    run.edits(run.file())


KINDS: dict[str, tuple[Callable[[Run], None], tuple[str, ...], int]] = {
    "all goes well": (plain, ("shop", "tool"), 10),
    "changed by scripts": (by_script, ("shop", "plain"), 6),
    "hooks after edits missing": (deaf, ("shop", "plain"), 4),
    "daemon killed in the middle": (killed, ("shop", "tool"), 4),
    "no daemon at the start": (not_there, ("tool",), 3),
    "two tasks": (several, ("shop", "tool"), 4),
    "sub-agents, a compaction": (sub_agents, ("tool",), 3),
    "outcome after the end": (after_the_end, ("shop", "plain"), 4),
    "on notes": (of_notes, ("vault",), 4),
    "project and notes": (two_sources, ("tool",), 2),
    "without git": (of_notes, ("plain",), 2),
    "nobody ends it": (not_ended, ("shop",), 2),
}
"""By name: the script, the sources it is run in, and its share of 48."""


def interleaved(one: Run, other: Run) -> None:
    """Two conversations at once in one source."""
    one.task()
    other.task()
    one.reads(one.file())
    other.reads(other.file())
    other.edits(other.file())
    one.edits(one.file())
    one.runs("make check")
    other.states("success")
    one.states("success")
    one.stops()
    other.stops()
    one.ends()
    other.ends()


# --- measuring ------------------------------------------------------------------------------


def git(folder: Path, *words: str) -> None:
    """Run git as the person of these projects."""
    subprocess.run(["git", *AS_ANNA, *words], cwd=folder, capture_output=True, check=True)


def make_project(folder: Path, *, with_git: bool) -> Path:
    """Return a project of a file and its test for each area."""
    for area in AREAS:
        for name, text in (
            (f"src/{area}.py", f"def {area}(lines):\n    return [one for one in lines if one]\n"),
            (f"tests/test_{area}.py", f"from src.{area} import {area}\n"),
        ):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    if with_git:
        git(folder, "init", "-q", "-b", "main")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", "Begin")
    return folder.resolve()


@contextlib.contextmanager
def a_house(root: Path, seed: int) -> Iterator[House]:
    """Yield a vault with a daemon and three linked projects."""
    vault = root / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "Notes").mkdir()
    for area in AREAS:
        (vault / f"Notes/{area}.md").write_text(f"# {area.title()}\n\nHow {area} works.\n", "utf-8")
    projects = {
        "shop": make_project(root / "shop", with_git=True),
        "tool": make_project(root / "tool", with_git=True),
        "plain": make_project(root / "plain", with_git=False),
    }
    config = load_config(Flags(vault=str(vault), state_dir=str(root / "state")))
    entry = connect.server_entry(config, str(root / "state"))
    commands = claude_code.commands(config, entry)
    house = House(config, root, {**projects, "vault": vault.resolve()}, commands,
                  random.Random(seed))  # fmt: skip
    try:
        with contextlib.closing(Client.connect(config)) as client:
            for name, folder in projects.items():
                client.call("link", {"path": str(folder), "name": name})
            client.call("index", {"vectors": False})
        yield house
    finally:
        launch.stop(config)


def script(house: House, runs: int, only: str) -> list[tuple[str, Run]]:
    """Run them all, in an order that is shuffled."""
    kinds = [
        (name, sources[number % len(sources)])
        for name, (_, sources, share) in KINDS.items()
        if name.startswith(only)
        for number in range(max(1, round(share * runs / 48)))
    ]
    house.rng.shuffle(kinds)
    done = []
    for number, (name, source) in enumerate(kinds):
        run = Run(house, number, source)
        KINDS[name][0](run)
        done.append((name, run))
    pairs = max(1, runs // 24) if "two at once".startswith(only) else 0
    for pair in range(pairs):
        at = 900 + 2 * pair
        one, other = Run(house, at, "shop"), Run(house, at + 1, "shop")
        other.area = house.rng.choice([area for area in AREAS if area != one.area])
        interleaved(one, other)
        done += [("two at once", one), ("two at once", other)]
    return done


def faults(wanted: Wanted, found: list[Episode]) -> list[str]:
    """Return what a chain lacks."""
    same = [one for one in found if one.source == wanted.source and one.task.text == wanted.task]
    if not same:
        return ["no episode"]
    episode = same[-1]
    read = {one.path for one in episode.events if one.kind == "read"}
    changed = {one.path for one in episode.events
               if one.path and one.kind in ("edit", "delta", "commit")}  # fmt: skip
    lacks = []
    if not wanted.reads <= read:
        lacks.append(f"reads: {sorted(wanted.reads - read)}")
    if wanted.edits - changed:
        lacks.append(f"changes: {sorted(wanted.edits - changed)}")
    if changed - wanted.edits:
        lacks.append(f"changes of others: {sorted(changed - wanted.edits)}")
    if episode.outcome == "unknown":
        lacks.append("outcome: nobody stated one")
    elif episode.outcome != wanted.outcome:
        lacks.append(f"outcome: {episode.outcome}")
    return lacks


def main() -> None:
    """Parse the arguments, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=48)
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", default="", help="runs of the kinds that begin so")
    parser.add_argument("--keep", action="store_true", help="keep the vault and the state")
    arguments = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="vaultmind-trace-"))
    os.environ["VAULTMIND_STATE_DIR"] = str(root / "state")
    os.environ["VAULTMIND_INDEX_EMBEDDER"] = "none"
    try:
        with a_house(root, arguments.seed) as house:
            done = script(house, arguments.runs, arguments.only)
            house.settled()
        report(house, done, arguments.out)
    finally:
        if arguments.keep:
            print(root)
        else:
            shutil.rmtree(root, ignore_errors=True)


def report(house: House, done: list[tuple[str, Run]], out: Path | None) -> None:
    """Print the table, and write what each run lacks."""
    paths = VaultPaths(house.config.vault, house.config.memory_dir)
    files = EpisodeFiles(paths, VaultReader(paths, 10_000_000))
    episodes = [files.read(one.name) for one in files.listed()]
    rows: dict[str, list[list[str]]] = {}
    for name, run in done:
        own = [one for one in episodes if one.session == run.session]
        for wanted in run.wanted:
            lacks = faults(wanted, own)
            rows.setdefault(name, []).append(lacks)
            if lacks:
                print(f"{run.session} {name}: {'; '.join(lacks)}", file=sys.stderr)
    print("| runs | tasks | whole chains | task, reads and changes whole |")
    print("|---|---|---|---|")
    every = [lacks for some in rows.values() for lacks in some]
    for name, some in [*sorted(rows.items()), ("**all**", every)]:
        whole = sum(not one for one in some)
        seen = sum(all(what.startswith("outcome") for what in one) for one in some)
        print(f"| {name} | {len(some)} | {whole} ({whole / len(some):.0%}) "
              f"| {seen} ({seen / len(some):.0%}) |")  # fmt: skip
    with contextlib.closing(Tables(house.config.state_dir / "episodes.db")) as tables:
        tables.follow(files)
        told = figures_of(works(tables, paths.agent_names(), clock() - timedelta(days=1)))
        print(f"\nby the figures' own count: {told.causal_trace_completeness}")
    took = sorted(house.took_ms)
    print(f"{len(episodes)} episodes; {len(took)} hooks, p50 {took[len(took) // 2]:.0f} ms, p95 "
          f"{took[int(0.95 * len(took))]:.0f} ms; load {os.getloadavg()[0]:.1f}")  # fmt: skip
    if out is not None:
        out.write_text(json.dumps(rows, indent=1), "utf-8")


def clock() -> datetime:
    """Return the present."""
    return datetime.now().astimezone()


if __name__ == "__main__":
    main()
