"""How well what is to be read for a task is told: a repository's own commits, asked again.

    python benchmarks/replay.py [--repo PATH] [--last N] [--every K] [--half first|second]
        [--budget 3000] [--embedder none|use|e5] [--rows ...]

A task is the message of a commit, right are the files that it changed and that were there before;
whoever is asked sees the tree before it and nothing later (`history.py`). Left out, and counted:
merges, commits of bots, bumps of the version, those that changed more than 20 files or none that
was there. Rows, all over one and the same tree:

- `routing by type`: the baseline. What the layers for the task's kind put first, blind to its
  words; tokens are what `vaultmind explore --detail compact` says of these layers.
- `text search`: BM25 alone, files in the order of their best passage; tokens of ten passages.
- `search`: `vaultmind search --source`, ten files, within the budget.
- `planner`: `vaultmind plan`, no model (`--ml-mode off`), `--detail compact`, within the budget.
- `planner+episodes`: the same, with an episode known for each earlier commit that could be asked
  about: its message was the task, its files were changed, it went well (`replay_earlier.py`).

P@10 counts right files among the first ten places, however few are filled; R@10 is the share of
the right files that are there; MRR is the mean of 1 / the place of the first right one, 0 past
ten. `first` is the share of commits all of whose files are there: one look was enough. `right` is
the share of right files among those that are named, `tokens` a median. Two
rows are compared commit by commit: better, the same, worse, and 95 % of the
mean differences of samples with replacement.

`--no-git`: the tree holds files alone, nothing of the commits before.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from history import (
    MAX_FILES,
    History,
    Step,
    copied,
    read_history,
    replayed,
)
from replay_earlier import Memory, Recalling
from replay_rows import (
    CUT,
    Answer,
    Planned,
    Room,
    Routing,
    Row,
    Search,
    TextSearch,
)

from vaultmind.index.embed import open_embedder

ROOT = Path(__file__).parent.parent
MEASURES = ("P@10", "R@10", "MRR", "first")
ROWS = ("routing", "text", "search", "planner", "episodes")
_RESAMPLED = 2000


@dataclass(frozen=True, slots=True)
class Asked:
    """A commit, and what each row answered."""

    step: Step
    answers: dict[str, Answer]


@dataclass(slots=True)
class Replay:
    """What came of a replay."""

    history: History
    asked: list[Asked] = field(default_factory=list)
    seconds: float = 0.0


def measured(truth: frozenset[str], files: Sequence[str]) -> dict[str, float]:
    """Return the measures of one answer."""
    first = list(dict.fromkeys(files))[:CUT]
    right = [path in truth for path in first]
    place = right.index(True) + 1 if any(right) else 0
    return {
        "P@10": sum(right) / CUT,
        "R@10": sum(right) / len(truth),
        "MRR": 1 / place if place else 0.0,
        "first": float(truth <= set(first)),
    }


def replay(
    history: History,
    steps: Iterator[Step],
    rows: Sequence[Row],
    tell: Callable[[str], None] = lambda _: None,
) -> Replay:
    """Ask every row about every step."""
    done, began = Replay(history), time.monotonic()
    for number, step in enumerate(steps, 1):
        answers = {row.name: row.ask(step) for row in rows}
        done.asked.append(Asked(step, answers))
        tell(f"{number}: {step.commit.sha[:8]} {step.commit.subject[:60]}")
    done.seconds = time.monotonic() - began
    return done


def figures(done: Replay) -> dict[str, dict[str, float]]:
    """Return the means of every row, and medians of what it costs."""
    told: dict[str, dict[str, float]] = {}
    for name in done.asked[0].answers if done.asked else ():
        answers = [one.answers[name] for one in done.asked]
        rows = [
            measured(one.step.truth, answer.files)
            for one, answer in zip(done.asked, answers, strict=True)
        ]
        told[name] = {key: statistics.mean(row[key] for row in rows) for key in MEASURES}
        named = [len(answer.files[:CUT]) for answer in answers]
        right = sum(row["P@10"] for row in rows) * CUT
        told[name]["right"] = right / max(1, sum(named))
        told[name]["files"] = statistics.mean(named)
        told[name]["tokens"] = statistics.median(answer.tokens for answer in answers)
        told[name]["ms"] = statistics.median(answer.took_ms for answer in answers)
    return told


def compared(
    done: Replay, name: str, other: str, measure: str, seed: int = 0
) -> dict[str, float | int]:
    """Return how often a row is better than another, equal (ties) or worse, and by how much.

    `low` and `high` hold 95 % of the mean differences of samples with replacement.
    """
    differences = [
        measured(one.step.truth, one.answers[name].files)[measure]
        - measured(one.step.truth, one.answers[other].files)[measure]
        for one in done.asked
    ]
    chance = random.Random(seed)
    count = len(differences)
    means = sorted(
        statistics.fmean(chance.choices(differences, k=count)) for _ in range(_RESAMPLED)
    )
    return {
        "better": sum(one > 0 for one in differences),
        "ties": sum(one == 0 for one in differences),
        "worse": sum(one < 0 for one in differences),
        "difference": statistics.fmean(differences),
        "low": means[int(0.025 * _RESAMPLED)],
        "high": means[int(0.975 * _RESAMPLED)],
    }


@contextmanager
def opened(folder: Path, arguments: argparse.Namespace, history: History) -> Iterator[list[Row]]:
    """Open the rows that are asked for, over one source and a full text of their own."""
    with ExitStack() as stack:
        room = Room(
            folder / "state",
            open_embedder(arguments.embedder),
            vault=arguments.as_vault,
        )
        stack.callback(room.close)
        text = TextSearch(folder)
        stack.callback(text.close)
        memory = Memory(folder / "episodes.db", room.clock, history.commits)
        stack.callback(memory.close)
        every: dict[str, Row] = {
            "routing": Routing(room),
            "text": text,
            "search": Search(room, arguments.budget),
            "planner": Planned(room, arguments.budget),
            "episodes": Recalling(room, arguments.budget, memory),
        }
        yield [every[name] for name in arguments.rows]


def show(done: Replay, repo: Path, arguments: argparse.Namespace) -> None:
    """Print what was found out as tables."""
    right = statistics.mean(len(one.step.truth) for one in done.asked)
    print(
        f"{repo}: {len(done.asked)} of {len(done.history.commits)} commits, {right:.1f} right "
        f"each; {done.seconds:.1f} s; budget {arguments.budget}, embedder {arguments.embedder}"
    )
    print(f"left out: {done.history.skipped}")
    rows = figures(done)
    columns = (*MEASURES, "right", "files", "tokens", "ms")
    shares = len(MEASURES) + 1
    print(f"\n{'':22}" + "".join(f"{key:>9}" for key in columns))
    for name, row in rows.items():
        numbers = "".join(f"{row[key]:9.3f}" for key in columns[:shares])
        print(f"{name:22}{numbers}{row['files']:9.1f}{row['tokens']:9.0f}{row['ms']:9.1f}")
    names = list(rows)
    for a, b in ((a, b) for at, a in enumerate(names) for b in names[:at]):
        print(f"\n{a} against {b}")
        for key in MEASURES:
            one = compared(done, a, b, key)
            print(
                f"  {key:6}{one['difference']:+.3f}  ({one['low']:+.3f} to {one['high']:+.3f})  "
                f"better {one['better']}, the same {one['ties']}, worse {one['worse']}"
            )


def replayed_repo(repo: Path, arguments: argparse.Namespace) -> Replay:
    """Replay a repository and return what came of it."""
    with tempfile.TemporaryDirectory(prefix="vaultmind-replay-") as passing:
        folder = Path(passing)
        whole = copied(repo, folder)
        history = read_history(whole, max_files=arguments.max_files)
        commits = history.chosen(arguments.last, arguments.every, arguments.half)
        if not commits:
            sys.exit(f"{repo}: no commit can be asked about; left out: {history.skipped}")
        steps = replayed(whole, commits, folder, git=not arguments.no_git)
        with opened(folder, arguments, history) as rows:
            done = replay(history, steps, rows)
    return done


def add_options(parser: argparse.ArgumentParser, max_files: int = MAX_FILES) -> None:
    """Add the options of every replay."""
    add = parser.add_argument
    add("--last", type=int, default=200, help="commits, from the end; 0: all")
    add("--every", type=int, default=1, help="only every so manieth of these")
    add("--half", choices=("first", "second"), default="", help="of the history, by time")
    add("--max-files", type=int, default=max_files, help="a commit that changed more is left out")
    add("--budget", type=int, default=3000, help="tokens of a search's and a plan's answer")
    add("--embedder", default="none", help="none, use or e5")
    add("--rows", nargs="+", choices=ROWS, default=list(ROWS))
    add("--no-git", action="store_true", help="without the commits before the tree")
    add("--as-vault", action="store_true", help="the repository is a vault, not a linked folder")


def main() -> None:
    """Replay and print tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repo", type=Path, default=ROOT, help="any git repository (this one)")
    add_options(parser)
    arguments = parser.parse_args()
    show(replayed_repo(arguments.repo, arguments), arguments.repo, arguments)


if __name__ == "__main__":
    main()
