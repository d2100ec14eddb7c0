"""A trial: a new model against the one in use, on what neither learnt from; and what follows it.

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
from collections.abc import Callable, Hashable, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

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
MEASURES = ("MRR", "precision", "average precision")
"""Of `Marks`, in order. The first two must never fall."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a trial asks of a new model."""

    gains: tuple[str, ...] = MEASURES[:2]
    """Measures of which one must be better."""
    margin: float = MARGIN
    sure: float = SURE


WHOLE_ORDER = Rule(MEASURES[2:], 0.005, 0.975)
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
class Training:
    """A training of any kind of model: what it is asked for, and what it works with."""

    models: Models
    now: datetime
    steps: Steps
    since_days: int = 0
    """How far back lessons are taken from; 0: all there are."""
    min_lessons: int = 20
    """Fewer lessons make no model."""
    force_activate: bool = False
    """Whether a model is put into use whatever its trial says."""
    asked: Caller = PERSON

    def since(self) -> str:
        """Return the day from which on lessons are taken; empty for all."""
        days = self.since_days
        return (self.now - timedelta(days=days)).date().isoformat() if days else ""

    def conclude(
        self, told: Trained, lessons: Sequence[tuple[Hashable, datetime]],
        propose: Callable[[datetime | None], tuple[str, str, Verdict]],
    ) -> Trained:  # fmt: skip
        """Have a model made of lessons, if there are enough; keep it, and use it if it is better.

        `lessons` tells of each what work it is of, and when it was. `propose` returns a model's id,
        the text of its file and what came of its trial; it learns nothing less than it is tried on:
        on what came after the time that it is given. What somebody put into use meanwhile stays.
        """
        least, count = max(1, self.min_lessons), len(lessons)
        if count < least:
            return replace(told, why=f"{counted(count, 'lesson')}: it takes {least}.")
        kind, of = told.kind, told.of
        seen = None if self.force_activate else self.models.seen(kind, of)
        unseen = len({work for work, time in lessons if seen is None or time > seen})
        if seen is not None and unseen < LEAST_TRIED:
            return replace(told, why=too_few(unseen))
        was = self.models.in_use(kind, of)
        id, text, verdict = propose(seen)
        self.models.keep(kind, of, id, text)
        told = replace(told, id=id, why=verdict.why, verdict=verdict)
        if not (verdict.better or self.force_activate):
            return told
        why = "in use after a training"
        if not self.models.activate(id, why=why, asked=self.asked, instead_of=was):
            changed = "What is in use was changed while it learnt, and stays"
            use = f"`vaultmind model activate {id}` uses it"
            return replace(told, why=f"{changed}: {use}. {told.why}")
        why = told.why if verdict.better else f"Put into use all the same. {told.why}"
        return replace(told, why=why, activated=True)


def marks_of(right: Sequence[bool]) -> Marks:
    """Return how well candidates are ranked, of which, best first, these are right."""
    places = np.flatnonzero(right) + 1
    if not len(places):
        return Marks()
    shares = np.arange(1, len(places) + 1) / places
    return Marks(1 / int(places[0]), int((places <= CUT).sum()) / CUT, float(shares.mean()))


def verdict(
    active: Sequence[Marks],
    new: Sequence[Marks],
    guards: Sequence[Guard] = (),
    rule: Rule = Rule(),
    seed: int = 0,
) -> Verdict:
    """Return whether a new model is better than the one in use, lesson by lesson."""
    count = len(new)
    if count < LEAST_TRIED:
        return Verdict(False, too_few(count))
    before, after = _table(active), _table(new)
    gain = after.mean(axis=0) - before.mean(axis=0)
    samples = np.random.default_rng(seed).integers(0, count, (RESAMPLED, count))
    sureness = ((after - before)[samples].mean(axis=1) > 0).mean(axis=0)

    def said(at: int) -> str:
        was, now = before[:, at].mean(), after[:, at].mean()
        return f"{MEASURES[at]} {was:.3f} before, {now:.3f} with it"

    asked = [at for at, name in enumerate(MEASURES) if name in rule.gains]
    gained = [at for at in asked if gain[at] >= rule.margin]
    best = max(gained or asked, key=lambda at: (sureness[at], gain[at]))
    worst = min((0, 1), key=lambda at: gain[at])
    sure, better = float(sureness[best]), False
    fallen = [one for one in guards if one.before - one.after > one.most_fall]
    if not gained:
        why = f"Not better by {rule.margin}: {said(best)}."
    elif -gain[worst] > MOST_FALL:
        why = f"{said(best)}, but the other measure fell: {said(worst)}."
    elif sure < rule.sure:
        chance = f"{sure:.1%} of samples are better, of {rule.sure * 100:g}%"
        why = f"{said(best)}, which may be chance ({chance})."
    elif fallen:
        spoilt = ", ".join(f"{one.name} {one.before:.3f} to {one.after:.3f}" for one in fallen)
        why = f"{said(best)}, but it spoils what is watched: {spoilt}."
    else:
        better = True
        why = f"Better: {said(best)}, on {counted(count, 'lesson')} not learnt from."
    return Verdict(better, why, count, mean_of(active), mean_of(new), sure, tuple(guards))


def too_few(count: int) -> str:
    """Return in words that there is too little for a trial."""
    return f"Only {counted(count, 'unseen lesson')} to try it on: a trial needs {LEAST_TRIED}."


def apart(groups: Sequence[Hashable], fresh: Sequence[bool], later: float = LATER) -> set[Hashable]:
    """Return the groups of the latest lessons, to try on: none of theirs is learnt from.

    `groups` names what is the same work, lesson by lesson, oldest first. Only what is `fresh` is
    tried on.
    """
    wanted, count, tried = max(1, round(len(groups) * later)), 0, set[Hashable]()
    for at in reversed(range(len(groups))):
        if fresh[at] and groups[at] not in tried and count < wanted:
            tried.add(groups[at])
            count += sum(new and it == groups[at] for it, new in zip(groups, fresh, strict=True))
    return tried


def rounds(groups: Sequence[Hashable], fresh: Sequence[bool]) -> list[tuple[list[int], list[int]]]:
    """Return how lessons, oldest first, are learnt from and tried on, as time goes.

    Each round has the places of what it learns from, all from before what it is tried on and none
    of a group that it is tried on, and of that, which is `fresh`. So every lesson of a trial is
    ranked by weights that never saw it, and a trial can have more of them than the last few.
    """
    edges = np.linspace(FIRST_LEARNT, 1.0, ROUNDS + 1) * len(groups)
    found = []
    for start, end in itertools.pairwise(np.rint(edges).astype(int).tolist()):
        tried = [at for at in range(start, end) if fresh[at]]
        same = {groups[at] for at in tried}
        first = [at for at in range(start) if groups[at] not in same]
        if first and tried:
            found.append((first, tried))
    return found


def by_group(marks: Sequence[Marks], groups: Sequence[Hashable]) -> list[Marks]:
    """Return the means of what is the same work, a group each: it tells as much as one lesson."""
    grouped: dict[Hashable, list[Marks]] = {}
    for group, one in zip(groups, marks, strict=True):
        grouped.setdefault(group, []).append(one)
    return [mean_of(each) for each in grouped.values()]


def mean_of(marks: Sequence[Marks]) -> Marks:
    """Return the means; 0 of nothing."""
    return Marks(*_table(marks).mean(axis=0).tolist()) if marks else Marks()


def _table(marks: Sequence[Marks]) -> NDArray[np.float64]:
    return np.array([astuple(one) for one in marks])
