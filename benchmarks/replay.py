"""How well what is to be read for a task is told: a repository's own commits, asked again.

    python benchmarks/replay.py [--repo PATH] [--last N] [--every K] [--half first|second] [--json]

A task is the message of a commit, right are the files that it changed; whoever is asked sees the
tree before it and nothing later (`history.py`). Rows:

- `text search`: BM25 alone over words and stems; files in the order of their best passage.

P@10 counts right files among the first ten places, however few are filled; R@10 is the share of
the right files that are there; MRR is the mean of 1 / the place of the first right one, 0 past
ten. Tokens are those of the text that the answer would have one read: of a search the best passage
of each of its ten files. `possible` is what an oracle would get: few commits change ten files.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from history import MAX_FILES, History, Step, copied, read_history, replayed, subjects_only

from vaultmind import tokens
from vaultmind.index.chunking import Place
from vaultmind.index.database import Database
from vaultmind.index.draft import Chunked
from vaultmind.index.rows import Gone, Taken, store
from vaultmind.index.text import TextIndex
from vaultmind.index.where import Where
from vaultmind.types import Chunk
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

ROOT = Path(__file__).parent.parent
CUT = 10
MEASURES = ("P@10", "R@10", "MRR")
_FOUND = 400
"""Passages that a search is asked for: ten files of them."""
_PASSAGE = 1200
_RESAMPLED = 2000
_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a row would have one read: files best first, and how many tokens that takes."""

    files: tuple[str, ...]
    tokens: int
    took_ms: float = 0.0


class Row(Protocol):
    """Somebody who is asked. Sees a step's tree, message and time, and nothing else."""

    name: str

    def ask(self, step: Step) -> Answer:
        """Return what to read for the step's task."""
        ...


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


class TextSearch:
    """Full text over passages of a tree's text files, kept up to date from step to step."""

    name = "text search"

    def __init__(self, folder: Path) -> None:
        self._database = Database(folder / "words.db")
        self._text = TextIndex(self._database)
        self._fresh = True

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def ask(self, step: Step) -> Answer:
        """Return the files with the best passages."""
        self._follow(step)
        began = time.perf_counter()
        hits = self._text.answer(step.commit.message, Where(), _FOUND).hits
        with self._database.read() as connection:
            rows = connection.execute("SELECT rowid, path, text FROM chunks").fetchall()
        took_ms = (time.perf_counter() - began) * 1000
        known = {rowid: (path, text) for rowid, path, text in rows}
        best: dict[str, str] = {}
        for hit in hits:
            path, text = known[hit.rowid]
            best.setdefault(path, text)
        read = list(best.values())[:CUT]
        return Answer(tuple(best), sum(tokens.count(text) for text in read), took_ms)

    def _follow(self, step: Step) -> None:
        reader = VaultReader(VaultPaths(step.root), _MAX_BYTES)
        with self._database.write() as connection:
            for path in step.touched:
                taken = _taken(reader, step.root, path)
                store(connection, self._text, taken or Gone(path), "")
        if self._fresh:
            self._text.tidy()
        self._fresh = False


def _taken(reader: VaultReader, root: Path, path: str) -> Taken | None:
    """Return a text file cut at blank lines, or None for what is none."""
    if not (root / path).is_file() or (root / path).is_symlink():
        return None
    try:
        file = reader.read(path)
    except Exception:  # binary, huge, gone: nobody can search it
        return None
    chunks = tuple(
        Chunk(f"{path}:{start}", path, "note", "", "", path, text, start, start + len(text))
        for start, text in passages(file.text)
    )
    return Taken(path, Place("note", "", "note"), file, Chunked(chunks, path, "", ""))


def passages(text: str) -> Iterator[tuple[int, str]]:
    """Yield a text's blocks between blank lines, joined while they are short, with offsets."""
    start, held = 0, ""
    for block in text.split("\n\n"):
        if held and len(held) + len(block) > _PASSAGE:
            yield start, held
            start, held = start + len(held) + 2, block
        else:
            held = f"{held}\n\n{block}" if held else block
    if held.strip():
        yield start, held


def measured(truth: frozenset[str], files: Sequence[str]) -> dict[str, float]:
    """Return the measures of one answer."""
    first = list(dict.fromkeys(files))[:CUT]
    right = [path in truth for path in first]
    place = right.index(True) + 1 if any(right) else 0
    return {
        "P@10": sum(right) / CUT,
        "R@10": sum(right) / len(truth),
        "MRR": 1 / place if place else 0.0,
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
        told[name]["files"] = statistics.mean(len(answer.files[:CUT]) for answer in answers)
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


def possible(done: Replay) -> dict[str, float]:
    """Return what an oracle would get."""
    truths = [one.step.truth for one in done.asked]
    return {
        key: statistics.mean(measured(truth, sorted(truth))[key] for truth in truths)
        for key in MEASURES
    }


@contextmanager
def opened(folder: Path) -> Iterator[list[Row]]:
    """Open every row there is, each with a folder of its own."""
    with closing(TextSearch(folder)) as text:
        yield [text]


def told(done: Replay, arguments: argparse.Namespace) -> dict[str, object]:
    """Return everything that was found out, for JSON."""
    rows = figures(done)
    names = list(rows)
    against = [(a, b) for at, a in enumerate(names) for b in names[:at]]
    return {
        "repo": str(arguments.repo),
        "commits": len(done.asked),
        "could be asked": len(done.history.commits),
        "skipped": done.history.skipped,
        "right files, mean": statistics.mean(len(one.step.truth) for one in done.asked),
        "seconds": round(done.seconds, 1),
        "rows": rows,
        "possible": possible(done),
        "against": {
            f"{a} against {b}": {key: compared(done, a, b, key) for key in MEASURES}
            for a, b in against
        },
    }


def show(result: Mapping[str, object], rows: Mapping[str, Mapping[str, float]]) -> None:
    """Print what was found out as a table."""
    print(f"{result['repo']}: {result['commits']} of {result['could be asked']} commits")
    print(f"left out: {result['skipped']}; right files: {result['right files, mean']:.1f}")
    print(f"\n{'':22}" + "".join(f"{key:>9}" for key in (*MEASURES, "files", "tokens", "ms")))
    for name, row in rows.items():
        numbers = "".join(f"{row[key]:9.3f}" for key in MEASURES)
        print(f"{name:22}{numbers}{row['files']:9.1f}{row['tokens']:9.0f}{row['ms']:9.1f}")


def main() -> None:
    """Replay and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repo", type=Path, default=ROOT, help="any git repository (this one)")
    parser.add_argument("--last", type=int, default=200, help="commits, from the end; 0: all")
    parser.add_argument("--every", type=int, default=1, help="only every so manieth of these")
    parser.add_argument("--half", choices=("first", "second"), default="", help="by time")
    parser.add_argument("--max-files", type=int, default=MAX_FILES)
    parser.add_argument("--subject", action="store_true", help="ask the first line alone")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vaultmind-replay-") as passing:
        folder = Path(passing)
        whole = copied(arguments.repo, folder)
        history = read_history(whole, max_files=arguments.max_files)
        commits = history.chosen(arguments.last, arguments.every, arguments.half)
        commits = subjects_only(commits) if arguments.subject else commits
        if not commits:
            raise SystemExit(f"{arguments.repo}: no commit can be asked about: {history.skipped}")
        with opened(folder) as rows:
            done = replay(history, replayed(whole, commits, folder), rows)
    result = told(done, arguments)
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        show(result, figures(done))


if __name__ == "__main__":
    main()
