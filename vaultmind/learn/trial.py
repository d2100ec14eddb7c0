"""A trial: a new model against the one in use, on what neither learnt from. Pure.

The new one is better only if what a `Rule` names is better on the mean, by a margin; if that is
hardly chance (samples with replacement); if neither the place of the first right thing (MRR) nor
what is right among the first ten (precision) falls by more than a little; and if nothing that is
watched apart (`Guard`) falls. Where only what a model itself put first is ranked
again, as with offers, the model in use has the better start: such a trial is on the careful side.

What is the same work stands on one side, however often it was done, and counts as one (`apart`,
`by_group`): else a model that knows its lessons by heart would pass. And what a model that was put
into use was tried on is not unseen any more.
"""

from __future__ import annotations

import itertools
import random
import statistics
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from vaultmind.index.ranker.active import ModelKind
from vaultmind.learn.models import Models
from vaultmind.plural import counted
from vaultmind.types import PERSON, Caller

Steps = Callable[..., None]
"""Says what is done now, and of how many steps which; raises when the work is to end."""
CUT = 10
MARGIN = 0.01
"""By which a new model must be better in one measure."""
MOST_FALL = 0.005
"""By which no measure may be worse."""
GUARD_FALL = 0.01
SURE = 0.9
"""Share of the samples in which it must be better."""
RESAMPLED = 1000
LATER = 0.3
"""Share of the lessons, the latest, that are kept for the trial."""
LEAST_TRIED = 5
"""Lessons of a trial, at least."""
FIRST_LEARNT = 0.4
"""Share of the lessons, the earliest, that the first of some rounds learns from ..."""
ROUNDS = 6
"""... and in how many the others are tried on: each learns from all before what it is tried on."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a trial asks of a new model."""

    gains: tuple[str, ...] = ("MRR", "precision")
    """Measures of which one must be better."""
    margin: float = MARGIN
    sure: float = SURE


WHOLE_ORDER = Rule(("average precision",), 0.005, 0.975)
"""Of plans, which have more than one right file: where all of these stand tells more of one lesson
than its first, so that a smaller gain shows sooner, and is asked to be surer."""


@dataclass(frozen=True, slots=True)
class Marks:
    """How a lesson's candidates were ranked; or the means of many."""

    mrr: float = 0.0
    """1 / the place of the first right one."""
    precision: float = 0.0
    """Right ones among the first ten places, however few are filled."""
    average: float = 0.0
    """The mean, over the right ones, of how much is right down to the place of each."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A measure of something else that a new model must not spoil."""

    name: str
    before: float
    after: float
    most_fall: float = GUARD_FALL

    @property
    def holds(self) -> bool:
        """Tell whether it did not fall by more than it may."""
        return self.before - self.after <= self.most_fall


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a trial."""

    better: bool
    why: str
    """In words."""
    lessons: int = 0
    before: Marks = Marks()
    after: Marks = Marks()
    sure: float = 0.0
    """Share of samples with replacement in which the new model is better, by its best measure."""
    guards: tuple[Guard, ...] = ()


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of a training, of one kind of model and for one thing that it ranks."""

    kind: ModelKind
    of: str
    """`code`, `notes`; an embedder's name."""
    why: str
    """In words: why it is in use now, or is not."""
    id: str = ""
    """Of the new model; empty where none was made."""
    lessons: int = 0
    rows: int = 0
    """Candidates of these lessons."""
    activated: bool = False
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """What a training is asked for."""

    since_days: int = 0
    """How far back lessons are taken from; 0: all there are."""
    min_lessons: int = 20
    """Fewer lessons make no model."""
    force_activate: bool = False
    """Whether a model is put into use whatever its trial says."""
    asked: Caller = PERSON

    def since(self, now: datetime) -> datetime | None:
        """Return from when on lessons are taken; None for all."""
        return now - timedelta(days=self.since_days) if self.since_days else None


def put_into_use(
    models: Models, was: str, model: tuple[ModelKind, str], told: Verdict, request: TrainRequest
) -> tuple[bool, str]:
    """Put a new model into use if it is better, or must be; tell whether, and why.

    What somebody put into use since it was begun, when it `was` another, stays.
    """
    if not told.better and not request.force_activate:
        return False, told.why
    if not models.activate_in_place_of(was, *model, request.asked):
        changed = "What is in use was changed while it learnt, and stays"
        return False, f"{changed}: `vaultmind model activate {model[1]}` uses it. {told.why}"
    return True, told.why if told.better else f"Put into use all the same. {told.why}"


def marks_of(scores: Sequence[float], right: Sequence[float], names: Sequence[str]) -> Marks:
    """Return how well scores rank; ties go by name, and none is right by half."""
    order = sorted(range(len(names)), key=lambda at: (-scores[at], names[at]))
    places = [place for place, at in enumerate(order, 1) if right[at] > 0]
    first = 1 / places[0] if places else 0.0
    shares = [count / place for count, place in enumerate(places, 1)]
    average = statistics.fmean(shares) if shares else 0.0
    return Marks(first, sum(place <= CUT for place in places) / CUT, average)


def verdict(
    active: Sequence[Marks],
    new: Sequence[Marks],
    guards: Sequence[Guard] = (),
    rule: Rule = Rule(),
    seed: int = 0,
) -> Verdict:
    """Return whether a new model is better than the one in use, lesson by lesson."""
    if len(new) < LEAST_TRIED:
        return Verdict(False, too_few(len(new)))
    before, after = mean_of(active), mean_of(new)
    held = (
        _Measure("MRR", [one.mrr for one in active], [one.mrr for one in new]),
        _Measure("precision", [one.precision for one in active], [one.precision for one in new]),
    )
    order = _Measure(
        "average precision", [one.average for one in active], [one.average for one in new]
    )
    asked = [one for one in (*held, order) if one.name in rule.gains]
    gained = [one for one in asked if one.gain >= rule.margin]
    best = max(gained or asked, key=lambda one: (one.sureness(seed), one.gain))
    worst = min(held, key=lambda one: one.gain)
    sure = best.sureness(seed)
    fallen = [one for one in guards if not one.holds]
    better = False
    if not gained:
        why = f"Not better by {rule.margin}: {best.told}."
    elif -worst.gain > MOST_FALL:
        why = f"{best.told}, but the other measure fell: {worst.told}."
    elif sure < rule.sure:
        chance = f"{sure:.1%} of samples are better, of {rule.sure * 100:g}%"
        why = f"{best.told}, which may be chance ({chance})."
    elif fallen:
        told = ", ".join(f"{one.name} {one.before:.3f} to {one.after:.3f}" for one in fallen)
        why = f"{best.told}, but it spoils what is watched: {told}."
    else:
        better, why = (
            True,
            f"Better: {best.told}, on {counted(len(new), 'lesson')} not learnt from.",
        )
    return Verdict(better, why, len(new), before, after, sure, tuple(guards))


def too_few(count: int) -> str:
    """Return in words that there is too little for a trial."""
    return f"Only {counted(count, 'unseen lesson')} to try it on: a trial needs {LEAST_TRIED}."


def apart(
    groups: Sequence[Hashable], fresh: Sequence[bool], later: float = LATER
) -> tuple[list[int], list[int]]:
    """Return the places of lessons to learn from, and of the latest, to try on.

    `groups` names what is the same work, lesson by lesson, oldest first: no group is on both
    sides. Only what is `fresh` is tried on; what is not, of a group that is, goes to neither.
    """
    wanted, tried, count = max(1, round(len(groups) * later)), set[Hashable](), 0
    for at in reversed(range(len(groups))):
        if fresh[at] and groups[at] not in tried:
            if count >= wanted:
                break
            tried.add(groups[at])
            same = zip(groups, fresh, strict=True)
            count += sum(new and group == groups[at] for group, new in same)
    places = range(len(groups))
    first = [at for at in places if groups[at] not in tried]
    return first, [at for at in places if groups[at] in tried and fresh[at]]


@dataclass(frozen=True, slots=True)
class Round:
    """Places of lessons: of those that are learnt from, and of the next, to try that on."""

    first: tuple[int, ...]
    tried: tuple[int, ...]


def rounds(groups: Sequence[Hashable], fresh: Sequence[bool]) -> tuple[Round, ...]:
    """Return how lessons, oldest first, are learnt from and tried on, as time goes.

    Each round learns from what came before what it is tried on, and from nothing of a group that
    it is tried on. Only what is `fresh` is tried on. So every lesson of a trial is ranked by
    weights that never saw it, and a trial can have more of them than are kept from the last.
    """
    count = len(groups)
    edges = [
        round(count * (FIRST_LEARNT + (1 - FIRST_LEARNT) * at / ROUNDS)) for at in range(ROUNDS + 1)
    ]
    found = []
    for start, end in itertools.pairwise(edges):
        tried = tuple(at for at in range(start, end) if fresh[at])
        same = {groups[at] for at in tried}
        first = tuple(at for at in range(start) if groups[at] not in same)
        if first and tried:
            found.append(Round(first, tried))
    return tuple(found)


def by_group(marks: Sequence[Marks], groups: Sequence[Hashable]) -> list[Marks]:
    """Return the means of what is the same work, a group each: it tells as much as one lesson."""
    grouped: dict[Hashable, list[Marks]] = {}
    for group, one in zip(groups, marks, strict=True):
        grouped.setdefault(group, []).append(one)
    return [mean_of(each) for each in grouped.values()]


def mean_of(marks: Sequence[Marks]) -> Marks:
    """Return the means; 0 of nothing."""
    if not marks:
        return Marks()
    return Marks(
        statistics.fmean(one.mrr for one in marks),
        statistics.fmean(one.precision for one in marks),
        statistics.fmean(one.average for one in marks),
    )


@dataclass(frozen=True, slots=True)
class _Measure:
    """A measure of both models, lesson by lesson."""

    name: str
    before: Sequence[float]
    after: Sequence[float]

    @property
    def gain(self) -> float:
        """Return by how much the new model is better on the mean."""
        return statistics.fmean(self.after) - statistics.fmean(self.before)

    @property
    def told(self) -> str:
        """Return both means, in words."""
        before, after = statistics.fmean(self.before), statistics.fmean(self.after)
        return f"{self.name} {before:.3f} before, {after:.3f} with it"

    def sureness(self, seed: int) -> float:
        """Return the share of samples with replacement whose mean difference is above 0."""
        differences = [new - old for old, new in zip(self.before, self.after, strict=True)]
        chance, count = random.Random(seed), len(differences)
        above = sum(sum(chance.choices(differences, k=count)) > 0 for _ in range(RESAMPLED))
        return above / RESAMPLED
