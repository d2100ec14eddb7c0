"""Whether a plan ever shows what the disk no longer holds, while its files change all the time.

    python benchmarks/planner_storm.py [--seconds 60] [--files 300] [--writers 3]

Gate G1. Writers in processes of their own rewrite, replace, delete and make anew the files of a
vault and of a linked folder, as fast as they can and with the times told; meanwhile plans are made
and sources explored. Every line of every file bears a mark with the file's number and its
version. A line that is shown must have been on disk at some moment while the answer was made: one
of a version that was over before the question came, or of a file that was gone, is a stale
incident. Lines are compared with what the writers told, and all of what stands still at the end
with the disk itself.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from storm_writer import MARK, STOP, TOPICS, Written, laid_out

from vaultmind.app import App, open_app
from vaultmind.config import Flags, load_config
from vaultmind.planner.layers import explore
from vaultmind.planner.sources import Source
from vaultmind.planner.types import TASK_KINDS, PlanRequest
from vaultmind.types import PERSON

WRITER = Path(__file__).with_name("storm_writer.py")
NEVER = float("inf")
_WAIT_SECONDS = 300.0
_STEP_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer: when it was asked and given, and the marks that stand in it."""

    asked: float
    given: float
    marks: tuple[tuple[str, int, int], ...]
    what: str


@dataclass(slots=True)
class Storm:
    """What came of it."""

    answers: int = 0
    lines: int = 0
    edits: int = 0
    overtaken: int = 0
    """Lines of a version that was replaced while the answer was made: seen, and rightly so."""
    stale: list[str] = field(default_factory=list)


def history_of(
    logs: Sequence[Path], begin: Sequence[Written]
) -> dict[tuple[str, int], list[Written]]:
    """Return the versions of each file, oldest first."""
    found: defaultdict[tuple[str, int], list[Written]] = defaultdict(list)
    for one in begin:
        found[one.name, one.number].append(one)
    for log in logs:
        for line in log.read_text("utf-8").splitlines():
            one = Written(*json.loads(line))
            found[one.name, one.number].append(one)
    return found


def judged(shown: Sequence[Shown], history: dict[tuple[str, int], list[Written]]) -> Storm:
    """Return how many lines were right, and which were stale."""
    storm = Storm(answers=len(shown), edits=sum(len(some) - 1 for some in history.values()))
    for one in shown:
        for name, number, version in one.marks:
            storm.lines += 1
            since, until = seen_between(history[name, number], version)
            if since > one.given or until < one.asked:
                late = (one.asked - until) * 1000
                storm.stale.append(f"{one.what}: {name} {number} v{version}, {late:.0f} ms over")
            storm.overtaken += until <= one.given
    return storm


def seen_between(versions: Sequence[Written], version: int) -> tuple[float, float]:
    """Return when a version could be seen first and last; never, where it was not written."""
    for at, one in enumerate(versions):
        if one.version == version:
            return one.began, versions[at + 1].done if at + 1 < len(versions) else NEVER
    return NEVER, -NEVER


def marks_in(text: str) -> tuple[tuple[str, int, int], ...]:
    """Return the marks of a text."""
    return tuple((name, int(number), int(version)) for name, number, version in MARK.findall(text))


def asked_until(over: Callable[[], bool], app: App, sources: Sequence[Source]) -> list[Shown]:
    """Plan and explore until it is over; return what was shown."""
    shown, topics = [], TOPICS
    number = 0
    while not over():
        source, topic = sources[number % len(sources)], topics[number % len(topics)]
        began = time.monotonic()
        if number % 3 == 2:
            text = explore(source.structure, TASK_KINDS[number % len(TASK_KINDS)]).text
            what = "explore"
        else:
            request = PlanRequest(source.name, f"change the {topic}, part {number % 40}")
            text = app.planner.plan(request, PERSON).context.text
            what = "plan"
        shown.append(Shown(began, time.monotonic(), marks_in(text), what))
        number += 1
    return shown


def storm(folder: Path, files: int, writers: int, over: Callable[[], bool]) -> Storm:
    """Plan in a storm until it is over; return what came of it."""
    roots = {"notes": folder / "vault", "code": folder / "project"}
    begin = [one for name, root in roots.items() for one in laid_out(root, name, files)]
    env = {
        "VAULTMIND_STATE_DIR": str(folder / "state"),
        "VAULTMIND_CONFIG": str(folder / "config/none.toml"),
        "VAULTMIND_INDEX_EMBEDDER": "none",
    }
    app = open_app(load_config(Flags(vault=str(roots["notes"])), env=env))
    logs, running = folder / "logs", []
    logs.mkdir()
    try:
        app.start()
        sources = (app.sources.vault, app.sources.link(str(roots["code"]), "code"))
        for source in sources:
            source.index.wait_ready(_WAIT_SECONDS)
            app.planner.settle(source, _WAIT_SECONDS)
        for at, (name, root) in enumerate(roots.items()):
            for share in range(writers):
                words = [sys.executable, str(WRITER), str(root), name, str(files), str(share)]
                words += [str(writers), str(logs / f"{name}-{share}"), str(share * 7 + at)]
                running.append(subprocess.Popen(words))
        told = [logs / f"{name}-{share}" for name in roots for share in range(writers)]
        while not all(log.exists() and log.stat().st_size for log in told):
            time.sleep(_STEP_SECONDS)
        shown = asked_until(over, app, sources)
        (logs / STOP).touch()
        for process in running:
            process.wait(30)
        result = judged(shown, history_of(sorted(logs.glob("*-*")), begin))
        result.stale += _at_rest(app, sources)
        return result
    finally:
        (logs / STOP).touch()
        app.close()


def _at_rest(app: App, sources: Sequence[Source]) -> list[str]:
    """Return what plans show that is not on disk, once nothing changes any more."""
    wrong = []
    for source in sources:
        for topic in TOPICS:
            request = PlanRequest(source.name, f"change the {topic}")
            plan = app.planner.plan(request, PERSON)
            for path in plan.context.files:
                if not (source.root / path).is_file():
                    wrong.append(f"at rest: {path} is gone")
            held = {path: (source.root / path).read_text("utf-8") for path in plan.context.files}
            told = "".join(held.values())
            lost = [mark for mark in MARK.finditer(plan.context.text) if mark[0] not in told]
            wrong += [f"at rest: {mark[0]}" for mark in lost]
    return wrong


def main() -> None:
    """Let it blow, and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--writers", type=int, default=2, help="of each source")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vaultmind-storm-") as passing:
        began: list[float] = []

        def over() -> bool:
            began.append(time.monotonic())
            return began[-1] - began[0] > arguments.seconds

        result = storm(Path(passing).resolve(), arguments.files, arguments.writers, over)
    print(
        f"{result.answers} answers with {result.lines} marked lines during {result.edits} edits; "
        f"{result.overtaken} lines were overtaken while the answer was made; "
        f"stale incidents: {len(result.stale)}"
    )
    for line in result.stale[:20]:
        print(f"  {line}")
    sys.exit(1 if result.stale else 0)


if __name__ == "__main__":
    main()
