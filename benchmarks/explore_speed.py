"""How fast a source's layers are, and how often they are at hand while somebody edits.

    python benchmarks/explore_speed.py [--notes 10000] [--files 5000] [--steps 400] [--json]

Two sources, each with its index and structure as in the daemon (watcher on, no vectors): the vault
of make_vault.py, and the project of make_code.py under git, as a linked folder.

`unchanged`: every kind of task at every detail, asked again and again. `first`: the first answer of
a daemon that finds everything kept from the last time. `cpu_p95_ms` is the time of the thread
itself: what remains of `p95_ms` on a machine that does nothing else.

`session`: a scripted one with a fixed seed. Before each question there are 0 to 2 edits (two on the
average for every three questions): 85 % in one of five files that are worked on, which change
slowly, else in any file; 70 % within a paragraph or a function, 15 % a heading or function
more, 8 % a task, 4 % a new file, 1 % a deleted one, 2 % a commit (of code). Questions are of kinds
as agents have them; every second comes at once, before any event of the edit has arrived, the
others when the index has seen it. What is counted: `layers` = the share of layers that came from
the cache, of all that were asked for; `answers` = the share of answers with `cache_status` hit,
which means all their layers; `partial` and `rebuilt` the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from make_code import make_code
from make_vault import make_vault
from speed import machine, p95

from vaultmind.config import Flags, load_config
from vaultmind.index.index import Index
from vaultmind.index.linked import FolderGround
from vaultmind.index.outlet import Withheld
from vaultmind.memory.forget.tombstones import Tombstones
from vaultmind.planner.layers import ROUTES, explore
from vaultmind.planner.structure import FILE, Structure
from vaultmind.planner.types import Detail, TaskKind
from vaultmind.types import Caller
from vaultmind.vault.paths import VaultPaths

KINDS: dict[TaskKind, int] = {
    "bugfix": 30, "feature": 25, "refactor": 15, "research": 10, "writing": 10, "unknown": 5,
    "incident": 5,
}  # fmt: skip
EDITS = {"body": 70, "more": 15, "task": 8, "new": 4, "gone": 1, "commit": 2}
WORKED_ON, DRIFT, NEAR = 5, 0.05, 0.85
"""Files that are worked on, how often one of them is left for another, and how many of the edits
are in them.
"""
UNCHANGED = 600
GIT = (
    "git",
    "-c",
    "user.name=Anna",
    "-c",
    "user.email=a@example.org",
    "-c",
    "commit.gpgsign=false",
)


class _Everyone:
    """Implements ports.Readers."""

    def lets_read(self, caller: Caller, owner: str, /) -> bool:
        """Let everybody read."""
        return True


def now() -> datetime:
    """Return the present."""
    return datetime.now(UTC)


@contextmanager
def opened(root: Path, state: Path, *, code: bool) -> Iterator[tuple[Index, Structure]]:
    """Give a folder's index and structure, followed as in the daemon."""
    config = load_config(Flags(vault=str(root), state_dir=str(state)), env={})
    config = replace(config, state_dir=state)
    ground = FolderGround(root) if code else VaultPaths(root)
    paths = ground.paths if isinstance(ground, FolderGround) else ground
    withheld = Withheld(Tombstones(paths), _Everyone())
    index = Index(config, ground, withheld, clock=now, embedder=lambda: None)
    structure = Structure(root.name, state / FILE, index, clock=now)
    index.start()
    try:
        yield index, structure
    finally:
        structure.close()
        index.close()


def measure(root: Path, state: Path, steps: int, *, code: bool) -> dict[str, Any]:
    """Return the figures of one source."""
    began = time.monotonic()
    with opened(root, state, code=code) as (index, structure):
        index.wait_ready(3600)
        built = time.monotonic()
        while structure.settle(1.0) == "partial":
            pass
        structure.graph  # noqa: B018
        figures: dict[str, Any] = {
            "files": len(structure.records()),
            "index_s": round(built - began, 1),
            "structure_s": round(time.monotonic() - built, 1),
        }
    with opened(root, state, code=code) as (index, structure):
        index.wait_ready(3600)
        began = time.monotonic()
        while structure.settle(1.0) == "partial":
            pass
        structure.graph  # noqa: B018
        figures["load_s"] = round(time.monotonic() - began, 2)
        figures["first_ms"] = round(explore(structure, "bugfix").took_ms, 1)
        figures["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        figures["unchanged"] = unchanged(structure)
        figures["session"] = session(Session(root, index, structure, code=code), steps)
    return figures


def unchanged(structure: Structure) -> dict[str, float]:
    """Ask every kind at every detail, again and again."""
    details = get_args(Detail)
    asked = [(kind, detail) for kind in ROUTES for detail in details]
    for kind, detail in asked:
        explore(structure, kind, detail=detail)
    took, worked, hits = [], [], 0
    for number in range(UNCHANGED):
        kind, detail = asked[number % len(asked)]
        began = time.thread_time()
        found = explore(structure, kind, detail=detail)
        worked.append((time.thread_time() - began) * 1000)
        took.append(found.took_ms)
        hits += found.cache_status == "hit"
    compact = [explore(structure, kind).tokens for kind in ROUTES]
    return {
        "p50_ms": round(sorted(took)[len(took) // 2], 2),
        "p95_ms": round(p95(took), 2),
        "cpu_p95_ms": round(p95(worked), 2),
        "hits": hits / len(took),
        "compact_tokens": sorted(compact)[len(compact) // 2],
    }


class Session:
    """Somebody who edits."""

    def __init__(self, root: Path, index: Index, structure: Structure, *, code: bool) -> None:
        self.root, self.index, self.structure, self.code = root, index, structure, code
        self.chance = random.Random(11)
        self.made: Counter[str] = Counter()
        self._suffix = ".py" if code else ".md"
        self._files = [one for one in structure.records() if one.endswith(self._suffix)]
        self._working = self.chance.sample(self._files, WORKED_ON)

    def edit(self) -> None:
        """Make one edit as the script has it."""
        kind = self.chance.choices(list(EDITS), list(EDITS.values()))[0]
        kind = "body" if kind == "commit" and not self.code else kind
        self.made[kind] += 1
        if self.chance.random() < DRIFT:
            self._working[self.chance.randrange(WORKED_ON)] = self.chance.choice(self._files)
        near = self.chance.random() < NEAR
        path = self.chance.choice(self._working if near else self._files)
        _EDITS[kind](self, path)

    def body(self, path: str) -> None:
        """Change a line within a paragraph or a function."""
        text = self._read(path)
        lines = text.split("\n")
        plain = [at for at, line in enumerate(lines) if self._is_plain(line)]
        at = self.chance.choice(plain[len(plain) // 3 :] or [len(lines) - 1])
        words = f"word{self.chance.randrange(10**6)}"
        lines[at] += f"  # {words}" if self.code else f" {words}"
        self._write(path, "\n".join(lines))

    def more(self, path: str) -> None:
        """Add a heading or a function."""
        name = f"part_{self.chance.randrange(10**6)}"
        more = (
            f"\n\ndef {name}(value: int) -> int:\n    return value\n"
            if self.code
            else (f"\n## {name}\n\nSome words.\n")
        )
        self._write(path, self._read(path) + more)

    def task(self, path: str) -> None:
        """Add a task, or tick one."""
        text = self._read(path)
        if "- [ ]" in text:
            self._write(path, text.replace("- [ ]", "- [x]", 1))
            return
        added = "\n# TODO: look at this again\n" if self.code else "\n- [ ] look at this again\n"
        self._write(path, text + added)

    def new(self, path: str) -> None:
        """Make a file."""
        name = f"{Path(path).parent.as_posix()}/new_{self.chance.randrange(10**6)}{self._suffix}"
        name = name.removeprefix("./")
        self._write(name, '"""New."""\n' if self.code else "# New\n\nSome words.\n")
        self._files.append(name)

    def gone(self, path: str) -> None:
        """Delete a file."""
        (self.root / path).unlink(missing_ok=True)
        self._files = [one for one in self._files if one != path]
        self._working = [
            one if one != path else self.chance.choice(self._files) for one in self._working
        ]

    def commit(self, path: str) -> None:
        """Commit what there is."""
        for words in (("add", "-A"), ("commit", "-q", "-m", "Work", "--allow-empty")):
            subprocess.run([*GIT, *words], cwd=self.root, check=True, capture_output=True)

    def _is_plain(self, line: str) -> bool:
        if self.code:
            return line.startswith("    ") and '"""' not in line and not line.strip().endswith(":")
        return bool(line) and line[0].isalpha() and ":" not in line and "[[" not in line

    def _read(self, path: str) -> str:
        file = self.root / path
        return file.read_text("utf-8") if file.exists() else ""

    def _write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, "utf-8")


_EDITS: dict[str, Callable[[Session, str], None]] = {
    "body": Session.body, "more": Session.more, "task": Session.task, "new": Session.new,
    "gone": Session.gone, "commit": Session.commit,
}  # fmt: skip


def session(person: Session, steps: int) -> dict[str, Any]:
    """Edit and ask by turns; return how often layers and answers were at hand."""
    chance = random.Random(5)
    statuses: Counter[str] = Counter()
    asked, at_hand = Counter[str](), Counter[str]()
    took: list[float] = []
    for step in range(steps):
        for _ in range(chance.choices((0, 1, 2), (50, 33, 17))[0]):
            person.edit()
        if step % 2:
            time.sleep(0.05)  # the event's way
            person.index.wait_ready(10)
        kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
        found = explore(person.structure, kind)
        took.append(found.took_ms)
        statuses[found.cache_status] += 1
        asked.update(ROUTES[kind])
        at_hand.update(found.cached)
    return {
        "questions": steps,
        "edits": dict(person.made),
        "layers": round(at_hand.total() / asked.total(), 3),
        "answers": round(statuses["hit"] / steps, 3),
        "partial": round(statuses["partial"] / steps, 3),
        "rebuilt": round(statuses["rebuilt"] / steps, 3),
        "by_layer": {one: round(at_hand[one] / asked[one], 2) for one in sorted(asked)},
        "p50_ms": round(sorted(took)[len(took) // 2], 1),
        "p95_ms": round(p95(took), 1),
    }


def _age(root: Path) -> None:
    """Give files the times of a year's work: not all of them are of today."""
    chance, today = random.Random(3), time.time()
    for file in sorted(root.rglob("*")):
        if file.is_file():
            at = today - chance.expovariate(1 / 90) * 86_400 - 86_400
            os.utime(file, (at, at))


def main() -> None:
    """Make the sources, measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        if args.notes:
            make_vault(top / "vault", args.notes)
            _age(top / "vault")
            results["vault"] = measure(top / "vault", top / "s1", args.steps, code=False)
        if args.files:
            make_code(top / "project", args.files)
            _age(top / "project")
            for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "Begin")):
                subprocess.run([*GIT, *words], cwd=top / "project", check=True, capture_output=True)
            results["project"] = measure(top / "project", top / "s2", args.steps, code=True)
    print(machine())
    print(json.dumps(results, indent=None if args.json else 2))


if __name__ == "__main__":
    main()
