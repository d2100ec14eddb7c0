"""Lessons for the search ranker, from what searches turned out to be worth, and its training.

Each query is asked again of the index as it is now: right is what was of use, as far as it is
still there and may be shown. The new weights start from those in use and are pulled to them. Beside
these lessons stand questions made of the vault itself, which any ranker should answer: one half is
learnt along, so that a taste is not bought with what everybody needs; the other is the guard of
the trial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from vaultmind.index.ranker.model import Model
from vaultmind.index.ranker.scene import Floats
from vaultmind.index.ranker.training import Lesson, train
from vaultmind.index.scenes import Scenes, Seen
from vaultmind.learn.jobs import Steps
from vaultmind.learn.questions import SelfMade, questions_of
from vaultmind.learn.trial import CUT, LATER, Guard, Marks, Verdict, mean_of, verdict
from vaultmind.learn.verdicts import Judged
from vaultmind.plural import counted
from vaultmind.types import PERSON, Caller, Kind

MOST_LESSONS = 600
"""Queries that are learnt from, the latest: asking each again takes some ten milliseconds."""
SELF_MADE: dict[Kind, int] = {"note": 160, "message": 40, "fact": 20, "summary": 20}
"""Chunks of each kind that are asked for, at most; half to learn along, half for the guard."""
SELF_SHARE = 1.0
"""What they weigh in training together, beside all that was judged."""
LEAST_SELF_LETTERS = 60
BESIDE_WRONG = 5
"""Where all that is known is what is wrong: so many of the best others should stand above it."""
WRONG_WEIGHT = 0.5
PULLS = (100.0, 30.0, 10.0, 3.0)
"""How strongly weights are pulled to those in use, as if by so many lessons: the strongest that
is not beaten clearly is taken."""
CLEARLY = 0.005
"""MRR by which a weaker pull must be better to be taken."""
GUARD = "questions made of the vault"


@dataclass(frozen=True, slots=True)
class RankerLearnt:
    """What a training of the search ranker came to. Nothing of it is stored yet."""

    of: str
    """The name of the embedder that it goes with, e.g. `use`; empty: a search without one."""
    why: str
    """In words."""
    lessons: int = 0
    rows: int = 0
    model: Model | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Taught:
    """A query's candidates, which of them are right, and what that weighs."""

    seen: Seen
    right: Floats
    weight: float
    places: tuple[str, ...]
    """What a candidate counts as: chunks of one place are one answer."""

    def lesson(self) -> Lesson:
        """Return it as the trainer takes it."""
        return Lesson(self.seen.features, self.right, self.weight)

    def marks(self, weights: Floats) -> Marks:
        """Return how well some weights rank it."""
        order = self.seen.order(weights)
        places = list(dict.fromkeys(self.places[at] for at in order))
        right = {self.places[at] for at in order if self.right[at] > 0}
        first = next((at for at, place in enumerate(places, 1) if place in right), 0)
        within = sum(place in right for place in places[:CUT])
        return Marks(1 / first if first else 0.0, within / CUT)


def train_ranker(
    scenes: Scenes, judged: Sequence[Judged], now: datetime, min_lessons: int, steps: Steps
) -> RankerLearnt:
    """Learn from verdicts, oldest first, and try the result on the later ones and on the guard.

    No model is made of fewer lessons than `min_lessons`. Raises Cancelled, IndexUnavailable.
    """
    told = _asked_again(scenes, judged[-MOST_LESSONS:], steps)
    embedder = _embedder_of(told)
    told = [one for one in told if one.seen.embedder == embedder]
    name, rows = embedder.partition("-")[0], sum(len(one.places) for one in told)
    if len(told) < max(1, min_lessons):
        there = counted(len(told), "search that taught something", "searches that taught something")
        few = f"Too little to learn from: {there}"
        return RankerLearnt(name, f"{few}, of {min_lessons} that are needed.", len(told), rows)
    own = [one for one in _self_made(scenes, steps) if one.seen.embedder == embedder]
    active = scenes.active(embedder)
    names = told[0].seen.names
    prior = np.array([active.weights.get(one, 0.0) for one in names], dtype=np.float32)
    later = max(1, round(LATER * len(told)))
    earlier, tried = told[:-later], told[-later:]
    steps.tell("learning")
    weights, spread = _learnt(earlier, own[::2], prior)
    before, after = [[one.marks(each) for one in tried] for each in (prior, weights)]
    guard = [mean_of([one.marks(each) for one in own[1::2]]).mrr for each in (prior, weights)]
    found = verdict(before, after, [Guard(GUARD, *guard)] if own[1::2] else [])
    model = Model(
        name=name or "words",
        embedder=name,
        weights={one: float(weight) for one, weight in zip(names, weights, strict=True)},
        spread={one: float(value) for one, value in zip(names, spread, strict=True)},
        trained_on=(f"{counted(len(earlier), 'verdict')} on searches, up to {now:%Y-%m-%d}",),
        scores={
            "later searches": {"MRR": found.after.mrr, "MRR before": found.before.mrr},
            GUARD: {"MRR": guard[1], "MRR before": guard[0]},
        },
    )
    return RankerLearnt(name, found.why, len(told), rows, model, found)


def _learnt(told: Sequence[Taught], own: Sequence[Taught], prior: Floats) -> tuple[Floats, Floats]:
    """Return weights and spreads, pulled to the prior as the latest of the lessons bear out."""
    later = max(1, round(LATER * len(told)))
    first, last = told[:-later], told[-later:]
    best, pull = -1.0, PULLS[0]
    for each in PULLS if first else ():
        weights, _ = _trained(first, own, prior, each)
        mrr = mean_of([one.marks(weights) for one in last]).mrr
        if mrr > best + CLEARLY:
            best, pull = mrr, each
    return _trained(told, own, prior, pull)


def _trained(
    told: Sequence[Taught], own: Sequence[Taught], prior: Floats, pull: float
) -> tuple[Floats, Floats]:
    share = SELF_SHARE * sum(one.weight for one in told) / max(1, len(own))
    lessons = [one.lesson() for one in told]
    lessons += [replace(one, weight=share).lesson() for one in own]
    return train(lessons, pull / len(told), prior)


def _asked_again(scenes: Scenes, judged: Sequence[Judged], steps: Steps) -> list[Taught]:
    """Return what the verdicts teach: nothing where none of the hits is found any more."""
    found = []
    for number, one in enumerate(judged):
        steps.tell("asking again what was asked", number, len(judged))
        caller = PERSON if one.by == "person" else Caller("agent", one.agent)
        seen = scenes.of(one.query, caller)
        taught = taught_by(one, seen, scenes) if seen is not None else None
        if taught is not None:
            found.append(taught)
    return found


def taught_by(judged: Judged, seen: Seen, scenes: Scenes) -> Taught | None:
    """Return what one query's verdicts teach of its candidates."""
    rows = range(len(seen.chunks))
    places = tuple(f"{one.path}{one.anchor}" for one in seen.chunks)
    worth = np.zeros(len(places), dtype=np.float32)
    for place in judged.places:
        same = [at for at in rows if seen.chunks[at].id == place.hit]
        same = same or [at for at in rows if places[at] == f"{place.path}{place.anchor}"]
        worth[same] = place.strength
    right = np.maximum(worth, 0.0)
    if right.any():
        strength = float(right.max())
        share: Floats = np.divide(right, right.max(), dtype=np.float32)
        return None if right.all() else Taught(seen, share, strength, places)
    wrong = [at for at in rows if worth[at] < 0]
    others = [at for at in _active_order(seen, scenes) if worth[at] == 0][:BESIDE_WRONG]
    if not wrong or not others:
        return None
    kept = [*others, *wrong]
    part = replace(seen, chunks=tuple(seen.chunks[at] for at in kept), features=seen.features[kept])
    above = np.array([1.0] * len(others) + [0.0] * len(wrong), dtype=np.float32)
    weight = WRONG_WEIGHT * float(-worth[wrong].min())
    return Taught(part, above, weight, tuple(places[at] for at in kept))


def _active_order(seen: Seen, scenes: Scenes) -> list[int]:
    weights = scenes.active(seen.embedder).weights
    return seen.order(np.array([weights.get(one, 0.0) for one in seen.names], dtype=np.float32))


def _self_made(scenes: Scenes, steps: Steps) -> list[Taught]:
    """Return questions made of the vault as lessons: right are all chunks of the file."""
    asked: list[SelfMade] = []
    for kind, count in SELF_MADE.items():
        asked += questions_of(scenes.sample(kind, count, LEAST_SELF_LETTERS))
    found = []
    for number, one in enumerate(asked):
        steps.tell("asking what any ranker should answer", number, len(asked))
        seen = scenes.of(one.query, PERSON)
        if seen is None:
            continue
        paths = tuple(chunk.path for chunk in seen.chunks)
        right = np.array([path == one.path for path in paths], dtype=np.float32)
        if right.any() and not right.all():
            found.append(Taught(seen, right, 1.0, paths))
    return found


def _embedder_of(told: Sequence[Taught]) -> str:
    """Return the embedder of most lessons: while one loads, some are asked without."""
    counts = Counter(one.seen.embedder for one in told)
    return counts.most_common(1)[0][0] if counts else ""
