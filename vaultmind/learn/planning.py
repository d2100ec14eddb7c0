"""Training of the planner's weights.

The new weights are those of least surprise at the lessons (`index/ranker/training`), pulled to the
weights that come with the program as if these were lessons, too: a few lessons move them little.
Each training starts from these anew and learns from all lessons there are: none counts twice,
however often somebody trains. No training more than doubles or halves a weight: an offer holds only
what the weights in use put first, and among these what they go by tells less apart than it does
among all files. What comes with a weight of 0, as what sort a file is of, is as free as others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from vaultmind.index.training import Lesson
from vaultmind.index.training import train as fitted
from vaultmind.learn.learned import Learned, text_of
from vaultmind.learn.lessons import Heard, PlanLesson, groups_of, plan_lessons
from vaultmind.learn.models import PASSED, STUFFS, id_of
from vaultmind.learn.trial import Marks, Trained, Training, Verdict, marks_of, tried
from vaultmind.planner.ranking.scorer import Stuff, Weights, built_in
from vaultmind.plural import counted

PULL = 200.0
"""How many lessons the weights count as that come with the program."""
MOST_TIMES = 2.0
"""By how much a training may multiply or divide a weight."""
LEAST_ROOM = 0.2
"""Up to which a small weight may rise all the same."""
MOST_MOVES, LEAST_MOVE = 2, 0.05
"""Weights that are told to have moved, each way, and by how much at least."""
FREE_ROOM = 1.0
"""How far from 0 a weight may go that comes as 0: of what no two histories have in common."""
MOST_SCALE = 10.0
_LITTLE = 1e-3
_DIGITS = 4


def train(heard: Iterable[Heard], training: Training) -> tuple[Trained, ...]:
    """Learn the planner's weights for each sort of source of which there are lessons.

    What is learnt is kept, and put into use where it is better.
    """
    training.steps("reading episodes")
    lessons = plan_lessons(heard, training.now)
    done = []
    for of in STUFFS:
        mine = [one for one in lessons if one.of == of]
        if mine or (of == STUFFS[0] and not lessons):
            training.steps(f"learning for sources of {of}")
            done.append(_train_one(of, mine, training))
    return tuple(done)


def _train_one(of: Stuff, lessons: Sequence[PlanLesson], training: Training) -> Trained:
    rows = sum(len(one.paths) for one in lessons)
    told = Trained("planner", of, "", lessons=len(lessons), rows=rows)
    times = (one.time for one in lessons)

    def propose(seen: datetime | None) -> tuple[str, str, Verdict]:
        found = proposed(lessons, training.models.weights(of), seen)
        model = _learned(of, found, lessons[-1].time, training.now)
        return model.name, text_of(model), found.told

    return training.conclude(told, [*zip(groups_of(lessons), times, strict=True)], propose)


def _learned(of: Stuff, found: NewWeights, seen: datetime, now: datetime) -> Learned:
    """Return a model that says where it is from, and nothing of what it learnt from."""
    new, lessons, told = found.weights, found.lessons, found.told
    episodes = len({one.episode for one in lessons})
    days = f"{lessons[0].time:%Y-%m-%d} to {lessons[-1].time:%Y-%m-%d}"
    plans = f"{counted(len(lessons), 'plan')} in {counted(episodes, 'episode')}"
    scores = {"lessons": float(told.lessons), "sure": told.sure, PASSED: float(told.better)}
    for name in ("mrr", "precision", "average"):
        scores[f"{name}_before"] = getattr(told.before, name)
        scores[name] = getattr(told.after, name)
    return Learned(
        name=id_of(of, now, new.weights),
        of=of,
        created=now.isoformat(timespec="seconds"),
        learnt_on=(plans, days, *moves_of(new, built_in(of))),
        seen=seen.isoformat(),
        scores={name: round(value, _DIGITS) for name, value in scores.items()},
        weights=dict(new.weights),
    )


@dataclass(frozen=True, slots=True)
class NewWeights:
    """New weights, what they were learnt from, and what came of their trial."""

    weights: Weights
    lessons: tuple[PlanLesson, ...]
    told: Verdict


def proposed(
    lessons: Sequence[PlanLesson], active: Weights, seen: datetime | None = None
) -> NewWeights:
    """Return new weights of some lessons, and what came of trying them, as `tried` does."""
    works = [*zip(groups_of(lessons), (one.time for one in lessons), strict=True)]
    new, first, told = tried(
        lessons, works, seen,
        learn=learnt, marks=lambda one, new: ranked(one, active if new is None else new),
    )  # fmt: skip
    return NewWeights(new, tuple(first), told)


def learnt(lessons: Sequence[PlanLesson], pull: float = PULL) -> Weights:
    """Return weights that some lessons of one sort of source moved from those it came with.

    Deterministic; at least one lesson must be given. The weights that came count as `pull` lessons.
    """
    prior = built_in(lessons[0].of)
    names, base = [*prior.weights], np.array([*prior.weights.values()])
    stacked = [
        Lesson(
            np.array([[row.get(name, 0.0) for name in names] for row in one.features], np.float32),
            np.array(one.right, np.float32),
            one.weight,
        )
        for one in lessons
    ]
    scale = _scale(stacked, base)
    l2 = pull / sum(one.weight for one in stacked)
    told, _ = fitted(stacked, l2, (base * scale).astype(np.float32))
    # As far from what it was as one training may move a weight; its sign stays.
    size, value = np.abs(base), told / scale
    most = np.maximum(size * MOST_TIMES, LEAST_ROOM)
    moved = np.copysign(np.clip(value * np.sign(base), size / MOST_TIMES, most), base)
    moved = np.where(base == 0, np.clip(value, -FREE_ROOM, FREE_ROOM), moved)
    weights = moved.astype(np.float64).round(_DIGITS).tolist()
    return Weights("", dict(zip(names, weights, strict=True)), prior.words)


def moves_of(new: Weights, prior: Weights) -> Iterator[str]:
    """Yield in words what most counts more for a file than it did, and what less."""
    moves = {name: value - prior.weights[name] for name, value in new.weights.items()}
    for words, sign in (("more", 1.0), ("less", -1.0)):
        best = sorted(moves, key=lambda name: (-sign * moves[name], name))[:MOST_MOVES]
        told = [prior.words.get(one, one) for one in best if sign * moves[one] >= LEAST_MOVE]
        if told:
            yield f"{words} for: {'; '.join(told)}"


def ranked(lesson: PlanLesson, weights: Weights) -> Marks:
    """Return how well weights rank a lesson's candidates; ties go by name."""
    rows = zip(map(weights.score, lesson.features), lesson.paths, lesson.truth, strict=True)
    return marks_of([right for _, _, right in sorted(rows, key=lambda it: (-it[0], it[1]))])


def _scale(lessons: Sequence[Lesson], base: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Return by what the scores of some weights are multiplied so that they surprise least.

    It changes no order. Without it the lessons would move the weights' size, on which the packing
    relies, before they move what ranks.
    """
    scores = [(one.features @ base).astype(np.float32)[:, None] for one in lessons]
    alone = [Lesson(each, one.right, one.weight) for each, one in zip(scores, lessons, strict=True)]
    factor, _ = fitted(alone, _LITTLE)
    return min(MOST_SCALE, max(1 / MOST_SCALE, float(factor[0])))
