"""Training of the planner's weights, and what a training of any kind comes to.

The new weights are those of least surprise at the lessons (`index/ranker/training`), pulled to the
weights that come with the program as if these were lessons, too: a few lessons move them little.
Each training starts from these anew and learns from all lessons there are: none counts twice,
however often somebody trains. No training more than doubles or halves a weight: an offer holds only
what the weights in use put first, and among these what they go by tells less apart than it does
among all files. What comes with a weight of 0, as what sort a file is of, is as free as others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from vaultmind.index.ranker.active import SHIPPED_ID
from vaultmind.index.ranker.training import Lesson
from vaultmind.index.ranker.training import train as fitted
from vaultmind.learn.lessons import Heard, PlanLesson, groups_of, plan_lessons
from vaultmind.learn.models import PASSED, SHIPPED, STUFFS, Learned, Models, id_of, text_of
from vaultmind.learn.trial import (
    LEAST_TRIED,
    WHOLE_ORDER,
    Marks,
    Steps,
    Trained,
    TrainRequest,
    Verdict,
    by_group,
    marks_of,
    put_into_use,
    rounds,
    too_few,
    verdict,
)
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


def train(
    heard: Iterable[Heard], models: Models, now: datetime, request: TrainRequest, steps: Steps
) -> tuple[Trained, ...]:
    """Learn the planner's weights for each sort of source of which there are lessons.

    What is learnt is kept, and put into use where it is better.
    """
    began = models.in_use("planner")
    steps("reading episodes")
    lessons = plan_lessons(heard, now)
    done = []
    for of in STUFFS:
        mine = [one for one in lessons if one.of == of]
        if mine or (of == STUFFS[0] and not lessons):
            steps(f"learning for sources of {of}")
            done.append(_train_one(of, mine, models, now, request, began.get(of, SHIPPED_ID)))
    return tuple(done)


def _train_one(
    of: Stuff, lessons: Sequence[PlanLesson], models: Models, now: datetime,
    request: TrainRequest, began: str,
) -> Trained:  # fmt: skip
    rows = sum(len(one.paths) for one in lessons)
    if len(lessons) < max(1, request.min_lessons):
        few = f"{counted(len(lessons), 'lesson')}: it takes {request.min_lessons}."
        return Trained("planner", of, few, lessons=len(lessons), rows=rows)
    seen = None if request.force_activate else models.seen("planner", of)
    fresh = zip(groups_of(lessons), unseen_of(lessons, seen), strict=True)
    unseen = len({group for group, is_new in fresh if is_new})
    if seen is not None and unseen < LEAST_TRIED:
        return Trained("planner", of, too_few(unseen), lessons=len(lessons), rows=rows)
    found = proposed(lessons, models.weights(of), seen)
    model = _made(of, found, lessons[-1].time, now)
    models.keep("planner", of, model.id, text_of(model))
    used, why = put_into_use(models, began, ("planner", model.id), found.told, request)
    return Trained("planner", of, why, model.id, len(lessons), rows, used, found.told)


def _made(of: Stuff, found: Proposed, seen: datetime, now: datetime) -> Learned:
    """Return a model that says where it is from, and nothing of what it learnt from."""
    new, lessons, told = found.weights, found.lessons, found.told
    episodes = len({one.episode for one in lessons})
    days = f"{lessons[0].time:%Y-%m-%d} to {lessons[-1].time:%Y-%m-%d}"
    plans = f"{counted(len(lessons), 'plan')} in {counted(episodes, 'episode')}"
    measures = ("mrr", "precision", "average")
    return Learned(
        id_of(of, now, new.weights),
        of,
        new.weights,
        now.isoformat(timespec="seconds"),
        f"{SHIPPED}{of}",
        (plans, days, *moves_of(new, built_in(of))),
        {
            **{f"{one}_before": getattr(told.before, one) for one in measures},
            **{one: getattr(told.after, one) for one in measures},
            "lessons": told.lessons,
            "sure": told.sure,
            PASSED: float(told.better),
        },
        seen.isoformat(),
    )


@dataclass(frozen=True, slots=True)
class Proposed:
    """New weights, what they were learnt from, and what came of their trial."""

    weights: Weights
    lessons: tuple[PlanLesson, ...]
    told: Verdict


def proposed(
    lessons: Sequence[PlanLesson], active: Weights, seen: datetime | None = None
) -> Proposed:
    """Return new weights of some lessons, and what came of trying them as time goes.

    In each round weights are learnt from the lessons before some, and tried on these; the last are
    the new ones. At least one lesson must be given; of too few there is no trial that could be
    passed. Nor is there one on what was there at the time until which all is `seen`.
    """
    groups = groups_of(lessons)
    before: list[Marks] = []
    after: list[Marks] = []
    tried: list[int] = []
    first, new = tuple(lessons), None
    for each in rounds(groups, unseen_of(lessons, seen)):
        first = tuple(lessons[at] for at in each.first)
        new = learnt(first)
        before += [ranked(lessons[at], active) for at in each.tried]
        after += [ranked(lessons[at], new) for at in each.tried]
        tried += [groups[at] for at in each.tried]
    told = verdict(by_group(before, tried), by_group(after, tried), rule=WHOLE_ORDER)
    return Proposed(new or learnt(first), first, told)


def unseen_of(lessons: Sequence[PlanLesson], seen: datetime | None) -> list[bool]:
    """Tell of each lesson whether it came after the time until which all is seen."""
    return [seen is None or one.time > seen for one in lessons]


def learnt(lessons: Sequence[PlanLesson], pull: float = PULL) -> Weights:
    """Return weights that some lessons of one sort of source moved from those it came with.

    Deterministic; at least one lesson must be given. The weights that came count as `pull` lessons.
    """
    prior = built_in(lessons[0].of)
    names = [*prior.weights]
    stacked = [_lesson_of(one, names) for one in lessons]
    base = np.array([prior.weights[name] for name in names])
    scale = _scale(stacked, base)
    base = base * scale
    l2 = pull / sum(one.weight for one in stacked)
    told, _ = fitted(stacked, l2, base.astype(np.float32))
    moved = {
        name: round(_within(prior.weights[name], float(value) / scale), _DIGITS)
        for name, value in zip(names, told, strict=True)
    }
    return Weights("", moved, prior.words)


def moves_of(new: Weights, prior: Weights) -> Iterator[str]:
    """Yield in words what most counts more for a file than it did, and what less."""
    moves = {name: value - prior.weights[name] for name, value in new.weights.items()}
    for words, sign in (("more", 1.0), ("less", -1.0)):
        best = sorted(moves, key=lambda name: (-sign * moves[name], name))[:MOST_MOVES]
        told = [prior.words.get(one, one) for one in best if sign * moves[one] >= LEAST_MOVE]
        if told:
            yield f"{words} for: {'; '.join(told)}"


def _within(before: float, value: float) -> float:
    """Return a weight as far from what it was as one training may move it; its sign stays."""
    if not before:
        return max(-FREE_ROOM, min(FREE_ROOM, value))
    most = max(abs(before) * MOST_TIMES, LEAST_ROOM)
    size = value if before > 0 else -value
    return math.copysign(max(abs(before) / MOST_TIMES, min(most, size)), before)


def ranked(lesson: PlanLesson, weights: Weights) -> Marks:
    """Return how well weights rank a lesson's candidates."""
    scores = [weights.score(features) for features in lesson.features]
    return marks_of(scores, lesson.truth, lesson.paths)


def _scale(lessons: Sequence[Lesson], base: NDArray[np.float64]) -> float:
    """Return by what the scores of some weights are multiplied so that they surprise least.

    It changes no order. Without it the lessons would move the weights' size, on which the packing
    relies, before they move what ranks.
    """
    scores = [(one.features @ base).astype(np.float32)[:, None] for one in lessons]
    alone = [Lesson(each, one.right, one.weight) for each, one in zip(scores, lessons, strict=True)]
    factor, _ = fitted(alone, _LITTLE)
    return min(MOST_SCALE, max(1 / MOST_SCALE, float(factor[0])))


def _lesson_of(lesson: PlanLesson, names: Sequence[str]) -> Lesson:
    rows = [[features.get(name, 0.0) for name in names] for features in lesson.features]
    right = np.array(lesson.right, dtype=np.float32)
    return Lesson(np.array(rows, dtype=np.float32), right, lesson.weight)
