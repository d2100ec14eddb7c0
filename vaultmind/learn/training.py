"""Training of the planner's weights, and what a training of any kind comes to.

The new weights are those of least surprise at the lessons (`index/ranker/training`), pulled to the
weights that come with the program as if these were lessons, too: a few lessons move them little.
Each training starts from these anew and learns from all lessons there are: none counts twice,
however often somebody trains. No training more than doubles or halves a weight: an offer holds only
what the weights in use put first, and among these what they go by tells less apart than it does
among all files. What comes with a weight of 0, as what sort a file is of, is as free as others.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from vaultmind.index.ranker.active import SHIPPED_ID, WORDS, ModelKind
from vaultmind.index.ranker.model import written as written_ranker
from vaultmind.index.ranker.training import Lesson, train
from vaultmind.learn.jobs import Steps
from vaultmind.learn.lessons import Heard, PlanLesson, groups_of, plan_lessons
from vaultmind.learn.registry import ModelRegistry
from vaultmind.learn.shelf import PASSED, SHIPPED
from vaultmind.learn.trial import (
    LEAST_TRIED,
    WHOLE_ORDER,
    Marks,
    Trained,
    Verdict,
    by_group,
    marks_of,
    rounds,
    too_few,
    verdict,
)
from vaultmind.learn.weights import STUFFS, Learned, id_of, written
from vaultmind.planner.ranking.scorer import Stuff, Weights, built_in
from vaultmind.plural import counted
from vaultmind.ports import Clock

if TYPE_CHECKING:
    from vaultmind.learn.searches.searches import RankerLearnt

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


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """What a training is asked for."""

    since_days: int = 0
    """How far back lessons are taken from; 0: all there are."""
    min_lessons: int = 20
    """Fewer lessons make no model."""
    force_activate: bool = False
    """Whether a model is put into use whatever its trial says."""


Seen = Callable[[str], datetime | None]
"""Returns until when all was heard that a model was tried on, by the name of an embedder."""


class Trainer(Protocol):
    """Makes models of one kind, tries them, keeps them and puts the better ones into use."""

    kind: ModelKind

    def train(self, request: TrainRequest, steps: Steps) -> tuple[Trained, ...]:
        """Return what came of it. Raises Cancelled, and what keeps a file from being written."""
        ...


class PlannerTrainer:
    """Learns the planner's weights from episodes."""

    kind: ModelKind = "planner"

    def __init__(
        self,
        heard: Callable[[datetime | None, Steps], Iterable[Heard]],
        registry: ModelRegistry,
        clock: Clock,
    ) -> None:
        """`heard` gives the episodes that have offers, since a time or all."""
        self._heard = heard
        self._registry = registry
        self._clock = clock

    def train(self, request: TrainRequest, steps: Steps) -> tuple[Trained, ...]:
        """Learn for each sort of source of which there are lessons."""
        now = self._clock()
        since = now - timedelta(days=request.since_days) if request.since_days else None
        began = self._registry.in_use("planner")
        steps.tell("reading episodes")
        lessons = plan_lessons(self._heard(since, steps), now)
        done = []
        for of in STUFFS:
            mine = [one for one in lessons if one.of == of]
            if mine or (of == STUFFS[0] and not lessons):
                steps.tell(f"learning for sources of {of}")
                done.append(self._train_one(of, mine, request, began))
        return tuple(done)

    def _train_one(
        self,
        of: Stuff,
        lessons: Sequence[PlanLesson],
        request: TrainRequest,
        began: Mapping[str, str],
    ) -> Trained:
        rows = sum(len(one.paths) for one in lessons)
        if len(lessons) < max(1, request.min_lessons):
            few = f"{counted(len(lessons), 'lesson')}: it takes {request.min_lessons}."
            return Trained("planner", of, few, lessons=len(lessons), rows=rows)
        seen = None if request.force_activate else self._registry.seen("planner", of)
        fresh = zip(groups_of(lessons), unseen_of(lessons, seen), strict=True)
        unseen = len({group for group, is_new in fresh if is_new})
        if seen is not None and unseen < LEAST_TRIED:
            return Trained("planner", of, too_few(unseen), lessons=len(lessons), rows=rows)
        found = proposed(lessons, self._registry.weights(of), seen)
        told = found.told
        model = self._made(of, found, lessons[-1].time)
        self._registry.keep("planner", of, model.id, written(model))
        use = _Use("planner", of, model.id, began)
        activated, why = _put_into_use(self._registry, use, told, forced=request.force_activate)
        return Trained("planner", of, why, model.id, len(lessons), rows, activated, told)

    def _made(self, of: Stuff, found: Proposed, seen: datetime) -> Learned:
        """Return a model that says where it is from, and nothing of what it learnt from."""
        new, lessons, told, now = found.weights, found.lessons, found.told, self._clock()
        episodes = len({one.episode for one in lessons})
        first, last = lessons[0].time, lessons[-1].time
        content = json.dumps(dict(new.weights), sort_keys=True)
        return Learned(
            id_of(of, f"{now:%Y-%m-%d}", content),
            of,
            new.weights,
            now.isoformat(timespec="seconds"),
            f"{SHIPPED}{of}",
            (
                f"{counted(len(lessons), 'plan')} in {counted(episodes, 'episode')}",
                f"{first:%Y-%m-%d} to {last:%Y-%m-%d}",
                *moves_of(new, built_in(of)),
            ),
            {
                "mrr_before": told.before.mrr,
                "mrr": told.after.mrr,
                "precision_before": told.before.precision,
                "precision": told.after.precision,
                "average_before": told.before.average,
                "average": told.after.average,
                "lessons": told.lessons,
                "sure": told.sure,
                PASSED: float(told.better),
            },
            seen.isoformat(),
        )


class RankerTrainer:
    """Keeps what was learnt from searches, and puts it into use where it is better."""

    kind: ModelKind = "ranker"

    def __init__(
        self,
        learn: Callable[[datetime | None, int, Seen, Steps], RankerLearnt],
        registry: ModelRegistry,
        clock: Clock,
    ) -> None:
        """`learn` learns from verdicts since a time or all, of which there must be so many.

        It is told until when all is seen.
        """
        self._learn = learn
        self._registry = registry
        self._clock = clock

    def train(self, request: TrainRequest, steps: Steps) -> tuple[Trained, ...]:
        """Learn for the embedder that searches are asked with."""
        now = self._clock()
        since = now - timedelta(days=request.since_days) if request.since_days else None
        began = self._registry.in_use("ranker")
        told = self._learn(since, request.min_lessons, self._seen(request), steps)
        of = told.of or WORDS
        if told.model is None:
            return (Trained("ranker", of, told.why, lessons=told.lessons, rows=told.rows),)
        content = json.dumps(dict(told.model.weights), sort_keys=True)
        model = replace(told.model, name=id_of(of, f"{now:%Y-%m-%d}", content))
        self._registry.keep("ranker", of, model.name, written_ranker(model))
        use = _Use("ranker", of, model.name, began)
        verdict = told.verdict or Verdict(False, told.why)
        activated, why = _put_into_use(self._registry, use, verdict, forced=request.force_activate)
        done = (told.lessons, told.rows, activated, told.verdict)
        return (Trained("ranker", of, why, model.name, *done),)

    def _seen(self, request: TrainRequest) -> Seen:
        if request.force_activate:
            return lambda of: None
        return lambda of: self._registry.seen("ranker", of or WORDS)


@dataclass(frozen=True, slots=True)
class _Use:
    """A new model, and what was in use of its kind when it began to be made."""

    kind: ModelKind
    of: str
    id: str
    began: Mapping[str, str]


def _put_into_use(
    registry: ModelRegistry, use: _Use, told: Verdict, *, forced: bool
) -> tuple[bool, str]:
    """Put a new model into use if it is better, or must be; tell whether, and why.

    What somebody put into use in the meantime stays.
    """
    if not told.better and not forced:
        return False, told.why
    if not registry.activate_in_place_of(use.began.get(use.of, SHIPPED_ID), use.kind, use.id):
        changed = "What is in use was changed while it learnt, and stays"
        return False, f"{changed}: `vaultmind model activate {use.id}` uses it. {told.why}"
    return True, told.why if told.better else f"Put into use all the same. {told.why}"


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
    told, _ = train(stacked, l2, base.astype(np.float32))
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
    factor, _ = train(alone, _LITTLE)
    return min(MOST_SCALE, max(1 / MOST_SCALE, float(factor[0])))


def _lesson_of(lesson: PlanLesson, names: Sequence[str]) -> Lesson:
    rows = [[features.get(name, 0.0) for name in names] for features in lesson.features]
    right = np.array(lesson.right, dtype=np.float32)
    return Lesson(np.array(rows, dtype=np.float32), right, lesson.weight)
