"""Train the planner's weights on commits: which candidates a task's commit then changed.

    python benchmarks/train_planner.py collect REPO --out FILE [--half first] [--last N] [--every K]
    python benchmarks/train_planner.py train FILE... [--l2 0.02] [--write]
    python benchmarks/train_planner.py test FILE...

`collect` replays a repository (`history.py`) and keeps the features of every candidate of every
task. `train` learns one weight a feature, listwise (ListNet's top-one form, as for the search's
ranker), pulled towards the weights as they are rather than to nothing, so that what a history
cannot show (`fix(cart): …`, links of notes) keeps its place; each file of lessons counts the same.
`test` tells how the built-in weights rank kept lessons.
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from history import copied, read_history, replayed
from replay_earlier import Memory
from replay_rows import One, Room

from vaultmind.index.embed import open_embedder
from vaultmind.planner.candidates import Asked, measured
from vaultmind.planner.plan import Planner
from vaultmind.planner.scorer import FOLDER, Weights, built_in
from vaultmind.planner.task import understand
from vaultmind.planner.types import PlanRequest
from vaultmind.types import PERSON

CUT = 10
STEPS, RATE, MOMENTUM = 600, 0.5, 0.9
PAST = ("similar",)


@dataclass(frozen=True, slots=True)
class Task:
    """A commit's candidates with their features, and what it changed."""

    message: str
    truth: tuple[str, ...]
    paths: tuple[str, ...]
    features: tuple[Mapping[str, float], ...]


def collect(arguments: argparse.Namespace) -> list[Task]:
    """Return the tasks of a repository's history."""
    history = read_history(arguments.repo, max_files=arguments.max_files)
    commits = history.chosen(arguments.last, arguments.every, arguments.half)
    tasks: list[Task] = []
    with tempfile.TemporaryDirectory() as folder:
        whole = copied(arguments.repo, Path(folder))
        embedder = open_embedder(arguments.embedder)
        room = Room(Path(folder) / "state", embedder, vault=arguments.vault)
        memory = Memory(Path(folder) / "episodes.db", room.clock, history.commits)
        planner: Planner | None = None
        try:
            for number, step in enumerate(
                replayed(whole, commits, Path(folder), git=not arguments.no_git), 1
            ):
                source = room.follow(step)
                planner = planner or Planner(One(source), room.clock)
                source.settle(600)
                task = step.commit.message
                understood = understand(task, source.name)
                memory.follow(step)
                recalled, _ = memory.earlier.recall(understood, source, PERSON)
                asked = Asked(
                    PlanRequest(source.name, task),
                    understood,
                    source,
                    PERSON,
                    step.now,
                    recalled if arguments.episodes else (),
                )
                pool = measured(asked)
                paths = tuple(one.path for one in pool)
                told = tuple(one.signals for one in pool)
                tasks.append(Task(task, tuple(sorted(step.truth)), paths, told))
                print(f"{number}/{len(commits)} {step.commit.subject[:70]}", flush=True)
        finally:
            memory.close()
            room.close()
    return tasks


def names_of(tasks: Sequence[Task]) -> list[str]:
    """Return the names of all features."""
    return sorted({name for task in tasks for each in task.features for name in each})


def matrix(task: Task, names: Sequence[str]) -> np.ndarray:
    """Return the features of a task's candidates, a row each."""
    rows = [[each.get(name, 0.0) for name in names] for each in task.features]
    return np.array(rows, dtype=np.float32).reshape(len(rows), len(names))


def tested(tasks: Sequence[Task], weights: Mapping[str, float]) -> dict[str, float]:
    """Return the measures of a ranking by some weights."""
    names = [*weights]
    row = np.array([weights[name] for name in names], dtype=np.float32)
    right, found, places, reach = [], [], [], []
    for task in tasks:
        truth = set(task.truth)
        scores = matrix(task, names) @ row
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], task.paths[at]))
        first = [task.paths[at] in truth for at in order[:CUT]]
        right.append(sum(first) / CUT)
        found.append(sum(first) / len(truth))
        places.append(1 / (first.index(True) + 1) if any(first) else 0.0)
        reach.append(len(truth.intersection(task.paths)) / len(truth))
    told = {"P@10": right, "R@10": found, "MRR": places, "reach": reach}
    return {name: float(np.mean(values)) for name, values in told.items()}


def learnt(
    groups: Sequence[Sequence[Task]], prior: Mapping[str, float], l2: float
) -> dict[str, float]:
    """Return the weights of the least loss: how unlikely the right files are, and how far the
    weights are from a prior. What a prior takes for a sign in a file's favour is never taken for
    one against it. Convex; gradient descent with momentum finds the one minimum.
    """
    names = [*prior]
    base = np.array([prior[name] for name in names])
    lessons = []
    for tasks in groups:
        for task in tasks:
            right = np.array([path in task.truth for path in task.paths], dtype=float)
            if 0 < right.sum() < len(right):
                share = 1.0 / (len(groups) * len(tasks))
                lessons.append((matrix(task, names).astype(float), right / right.sum(), share))
    weights, speed = base.copy(), np.zeros(len(base))
    for _ in range(STEPS):
        slope = l2 * (weights - base)
        for rows, goal, share in lessons:
            scores = rows @ weights
            odds = np.exp(scores - scores.max())
            slope += share * (rows.T @ (odds / odds.sum() - goal))
        speed = MOMENTUM * speed - RATE * slope
        weights = np.where(base >= 0, np.maximum(weights + speed, 0.0), weights + speed)
    return {name: float(value) for name, value in zip(names, weights, strict=True)}


def _without_past(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks as if nothing was known of earlier commits."""
    return [
        replace(
            task,
            features=tuple(
                {name: value for name, value in each.items() if name not in PAST}
                for each in task.features
            ),
        )
        for task in tasks
    ]


def main() -> None:
    """Collect, train or test."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parts = parser.add_subparsers(dest="what", required=True)
    one = parts.add_parser("collect")
    one.add_argument("repo", type=Path)
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--half", default="", choices=["", "first", "second"])
    one.add_argument("--last", type=int, default=0)
    one.add_argument("--every", type=int, default=1)
    one.add_argument("--max-files", type=int, default=20)
    one.add_argument("--vault", action="store_true")
    one.add_argument("--no-git", action="store_true")
    one.add_argument("--episodes", action="store_true", help="know one for each earlier commit")
    one.add_argument("--embedder", default="none", help="none, use or e5")
    for name in ("train", "test"):
        one = parts.add_parser(name)
        one.add_argument("files", type=Path, nargs="+")
        one.add_argument("--l2", type=float, default=0.02)
        one.add_argument("--weights", default="code", help="code or notes")
        one.add_argument("--without-past", action="store_true", help="each also without a history")
        one.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.what == "collect":
        arguments.out.write_bytes(pickle.dumps(collect(arguments)))
        return
    groups = {file.stem: pickle.loads(file.read_bytes()) for file in arguments.files}
    if arguments.without_past:
        groups |= {f"{name}, no past": _without_past(tasks) for name, tasks in groups.items()}
    weights: Weights = built_in(arguments.weights)
    chosen = dict(weights.weights)
    if arguments.what == "train":
        chosen = learnt([*groups.values()], weights.weights, arguments.l2)
        print(json.dumps({name: round(value, 3) for name, value in chosen.items()}, indent=1))
    for name, tasks in groups.items():
        told = "  ".join(f"{key} {value:.3f}" for key, value in tested(tasks, chosen).items())
        print(f"{name:24} {len(tasks):4} tasks  {told}")
    if arguments.what == "train" and arguments.write:
        file = FOLDER / f"{arguments.weights}.json"
        kept = json.loads(file.read_text("utf-8"))
        kept["weights"] = {name: round(value, 4) for name, value in chosen.items()}
        file.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
