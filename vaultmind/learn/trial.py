"""A trial: a new model against the one in use, on what neither learnt from; and what follows it.

The new one is better only if the right things stand higher on the mean, by a margin; if that is
hardly chance (samples with replacement); if neither the place of the first right one (MRR) nor
what is right among the first ten (precision) falls by more than a little; and if nothing that is
watched apart (`Guard`) falls. Where only what a model itself put first is ranked again, as with
offers, the model in use has the better start: such a trial is on the careful side.

What is the same work is learnt from or tried on, however often it was done, and counts as one
(`rounds`): else a model that knows its lessons by heart would pass. And what a model
that was put into use was tried on is not unseen any more.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime

import numpy as np

from vaultmind.index.columns import Floats
from vaultmind.index.models import ModelKind
from vaultmind.index.training import Lesson
from vaultmind.plural import counted

Steps = Callable[..., None]
"""Says what is done now, and of how many steps which; raises when the work is to end."""
PASSED = "passed"
"""What of a model's scores tells that it was put into use for having been better."""
_DIGITS = 4
NEVER = datetime.min.replace(tzinfo=UTC)
CUT = 10
MARGIN = 0.005
"""By which a new model must be better in average precision, which looks at where all right things
stand: it tells more of one case than its first one."""
MOST_FALL = 0.005
"""By which no measure may be worse."""
GUARD_FALL = 0.01
SURE = 0.975
"""Share of the samples in which it must be better."""
RESAMPLED = 1000
LEAST_TRIED = 5
"""Works of a trial, at least."""
FIRST_LEARNT = 0.4
"""Share of the cases, the earliest, that the first of some rounds learns from ..."""
ROUNDS = 6
"""... and in how many the others are tried on: each learns from all before what it is tried on."""
MEASURES = ("MRR", "precision", "average precision")
"""Of `Marks`, in order. The last must be better, the others must not fall."""


@dataclass(frozen=True, slots=True)
class Marks:
    """How a case's candidates were ranked; or the means of many."""

    mrr: float = 0.0
    """1 / the place of the first right one."""
    precision: float = 0.0
    """Right ones among the first ten places, however few are filled."""
    average: float = 0.0
    """The mean, over the right ones, of how much is right down to the place of each."""


@dataclass(frozen=True, slots=True, eq=False)
class Case(Lesson):
    """What was ranked once, and how right each candidate turned out to be: some are, not all."""

    of: str = ""
    """Which weights rank it: `code`, `notes`; an embedder's id."""
    work: Hashable = None
    """The same for what is the same work."""
    time: datetime = NEVER
    places: tuple[str, ...] = ()
    """What a candidate counts as: chunks of one place are one answer."""

    def marks(self, weights: Floats) -> Marks:
        """Return how well some weights rank it. Right is what is at least half as right as any."""
        least = self.right.max() / 2
        right = {at for at, it in zip(self.places, self.right, strict=True) if it >= least}
        order = np.argsort(-(self.features @ weights), kind="stable")
        ranked = dict.fromkeys(self.places[at] for at in order)
        found = np.flatnonzero([one in right for one in ranked]) + 1
        shares = np.arange(1, len(found) + 1) / found
        return Marks(1 / int(found[0]), int((found <= CUT).sum()) / CUT, float(shares.mean()))


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

    def scores(self) -> dict[str, float]:
        """Return it as numbers, as models' files have them."""
        told = {"lessons": float(self.lessons), "sure": self.sure, PASSED: float(self.better)}
        for name in Marks.__slots__:
            told[f"{name}_before"] = getattr(self.before, name)
            told[name] = getattr(self.after, name)
        return {name: round(value, _DIGITS) for name, value in told.items()}


@dataclass(frozen=True, slots=True)
class Learner:
    """What one kind of model is learnt from, and how."""

    kind: ModelKind
    of: str
    """What it ranks: `code`, `notes`; an embedder's name."""
    nouns: tuple[str, str]
    """What a case is called, and what is the same in several."""
    cases: Sequence[Case]
    """Oldest first."""
    names: Sequence[str]
    """The features, in the order of weights."""
    in_use: Floats
    """The weights that rank now."""
    learn: Callable[[Sequence[Case]], Floats]
    """Returns weights of some cases; at least one must be given."""
    guards: Callable[[Floats], Sequence[Guard]] = lambda weights: ()
    """Returns what new weights must not spoil."""


def mean_of(marks: Sequence[Marks]) -> Marks:
    """Return the means; 0 of nothing."""
    return Marks(*np.mean([astuple(one) for one in marks], axis=0).tolist()) if marks else Marks()


def verdict(
    active: Sequence[Marks], new: Sequence[Marks], guards: Sequence[Guard] = (), seed: int = 0
) -> Verdict:
    """Return whether a new model is better than the one in use, work by work."""
    count = len(new)
    if count < LEAST_TRIED:
        return Verdict(False, too_few(count))
    before, after = (np.array([astuple(one) for one in marks]) for marks in (active, new))
    was, now = (marks.mean(axis=0).tolist() for marks in (before, after))
    samples = np.random.default_rng(seed).integers(0, count, (RESAMPLED, count))
    sure = float(((after - before)[samples].mean(axis=1) > 0).mean(axis=0)[-1])

    said = f"{MEASURES[-1]} {was[-1]:.3f} before, {now[-1]:.3f} with it"
    others = (Guard(*one, MOST_FALL) for one in zip(MEASURES, was, now, strict=True))
    fallen = [one for one in (*others, *guards) if one.before - one.after > one.most_fall]
    if better := now[-1] - was[-1] >= MARGIN and sure >= SURE and not fallen:
        why = f"Better: {said}, on {counted(count, 'lesson')} not learnt from."
    elif now[-1] - was[-1] < MARGIN:
        why = f"Not better by {MARGIN}: {said}."
    elif fallen:
        spoilt = ", ".join(f"{one.name} {one.before:.3f} to {one.after:.3f}" for one in fallen)
        why = f"{said}, but it spoils what is watched: {spoilt}."
    else:
        chance = f"{sure:.1%} of samples are better, of {SURE * 100:g}%"
        why = f"{said}, which may be chance ({chance})."
    return Verdict(better, why, count, mean_of(active), mean_of(new), sure, tuple(guards))


def too_few(count: int) -> str:
    """Return in words that there is too little for a trial."""
    return f"Only {counted(count, 'unseen lesson')} to try it on: a trial needs {LEAST_TRIED}."


def tried(
    learner: Learner, seen: datetime | None
) -> tuple[dict[str, float], Sequence[Case], Verdict]:
    """Return new weights, what they were learnt from, and what came of their trial.

    In each round weights are learnt from the cases before some, and tried on these; the last are
    the new ones. At least one case must be there; of too few there is no trial that could be
    passed. Nor is there one on what was there at the time until which all is `seen`.
    """
    before: defaultdict[Hashable, list[Marks]] = defaultdict(list)
    after: defaultdict[Hashable, list[Marks]] = defaultdict(list)
    learnt, weights = learner.cases, None
    for learnt, later in rounds(learner.cases, seen):
        weights = learner.learn(learnt)
        for one in later:
            before[one.work].append(one.marks(learner.in_use))
            after[one.work].append(one.marks(weights))
    new = learner.learn(learnt) if weights is None else weights
    was, now = ([mean_of(each) for each in marks.values()] for marks in (before, after))
    named = dict(zip(learner.names, new.astype(float).round(_DIGITS).tolist(), strict=True))
    return named, learnt, verdict(was, now, learner.guards(new))


def rounds(
    cases: Sequence[Case], seen: datetime | None
) -> Iterator[tuple[Sequence[Case], Sequence[Case]]]:
    """Yield how cases, oldest first, are learnt from and tried on, as time goes.

    Each round has what it learns from, all from before what it is tried on and none of a work that
    it is tried on, and of that, what is not `seen`. So every case of a trial is ranked by weights
    that never saw it, and a trial can have more of them than the last few.
    """
    edges = np.rint(np.linspace(FIRST_LEARNT, 1.0, ROUNDS + 1) * len(cases)).astype(int)
    for start, end in itertools.pairwise(edges.tolist()):
        later = [one for one in cases[start:end] if seen is None or one.time > seen]
        works = {one.work for one in later}
        first = [one for one in cases[:start] if one.work not in works]
        if first and later:
            yield first, later
