"""The planner's weights, learnt from what its plans offered and what turned out to be right.

An episode that went well teaches: of what a plan offered, the files that were then edited are right
(1), those that were only read are so in part (0.3), the others are wrong. What failed teaches
nothing. Lessons fade, and one task that is done over and over counts as a few.

Only what was done after a plan counts for it. A file that was edited before in the same episode is
left out of the lesson: its features (changed lately, changes together) tell of that already.

The new weights are those of least surprise at the lessons (`index/training`), pulled to the
weights that come with the program as if these were lessons, too: a few lessons move them little.
Each training starts from these anew and learns from all lessons there are: none counts twice,
however often somebody trains. No training more than doubles or halves a weight: an offer holds only
what the weights in use put first, and among these what they go by tells less apart than it does
among all files. What comes with a weight of 0, as what sort a file is of, is as free as others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from vaultmind.episodes.types import Episode, Offer, Result, time_of
from vaultmind.index.columns import Floats
from vaultmind.index.training import train as fitted
from vaultmind.learn.models import stuff_of
from vaultmind.learn.trial import Case, Learner
from vaultmind.planner.scorer import Stuff, Weights, built_in

PULL = 200.0
"""How many lessons the weights count as that come with the program."""
MOST_TIMES = 2.0
"""By how much a training may multiply or divide a weight."""
LEAST_ROOM = 0.2
"""Up to which a small weight may rise all the same."""
FREE_ROOM = 1.0
"""How far from 0 a weight may go that comes as 0: of what no two histories have in common."""
MOST_SCALE = 10.0
_LITTLE = 1e-3
EDITED, READ = 1.0, 0.3
"""How right a file is that was edited, that was only read."""
WORTH: Mapping[Result, float] = {"success": 1.0, "partial": 0.5, "unknown": 0.0, "failed": 0.0}
"""What an episode's lessons count. Silence is no success."""
HALF_LIFE_SECONDS = 90 * 86_400.0
MOST_ALIKE = 5
"""Episodes of one task that count, the latest."""
MOST_CANDIDATES = 100
MOST_FEATURE = 10.0
"""Features are between 0 and 1, or near it: an offer's file can be edited by hand."""


class Heard(NamedTuple):
    """An episode, and what plans offered in it."""

    episode: Episode
    offers: tuple[Offer, ...]


# --- what episodes teach ---


def plan_lessons(heard: Iterable[Heard], now: datetime) -> list[Case]:
    """Return the lessons of episodes, oldest first; those that teach nothing are left out."""
    ended = [one for one in heard if one.episode.state != "running" and one.offers]
    ended.sort(key=lambda one: (one.episode.started, one.episode.name))
    same, taught = defaultdict[tuple[str, str], int](int), list[Case]()
    for one in reversed(ended):
        episode = one.episode
        task = (episode.source, episode.task.fingerprint)
        same[task] += 1 if WORTH[episode.outcome] else 0
        if same[task] <= MOST_ALIKE or not episode.task.fingerprint:
            taught += _of_episode(one, now)
    return sorted(taught, key=lambda one: (one.time, one.work))


def _of_episode(heard: Heard, now: datetime) -> list[Case]:
    """Return the lessons of one episode, which count as one together.

    Of several offers of one task the first: what a later one offers follows from the work. None of
    the future, which a wrong clock wrote: whatever came before it would count as seen.
    """
    episode, cases = heard.episode, []
    worth, mark = WORTH[episode.outcome], episode.task.fingerprint
    work = f"{episode.source} {mark}" if mark else episode.name
    for offer in {one.fingerprint: one for one in reversed(heard.offers)}.values():
        time = time_of(offer.time) or time_of(episode.started) or now
        right, of = _right(episode, offer), stuff_of(offer.weights)
        if not worth or of is None or time > now or not 0 < math.fsum(right.values()) < len(right):
            continue
        names, paths = [*built_in(of).weights], sorted(right)
        rows = [[offer.files[path].get(name, 0.0) for name in names] for path in paths]
        features = np.nan_to_num(np.array(rows, np.float32), posinf=0.0, neginf=0.0)
        fades = 0.5 ** ((now - time).total_seconds() / HALF_LIFE_SECONDS)
        share = np.array([right[path] for path in paths], np.float32)
        clipped = features.clip(-MOST_FEATURE, MOST_FEATURE)
        cases.append(Case(clipped, share, worth * fades, of, work, time, tuple(paths)))
    return [replace(one, weight=one.weight / len(cases)) for one in cases]


def _right(episode: Episode, offer: Offer) -> dict[str, float]:
    """Return how right each of an offer's candidates is, by what was done after it."""
    offered = time_of(offer.time)
    start = offered.replace(microsecond=0) if offered else None  # events have whole seconds
    worth: dict[str, float] = {}
    before: set[str] = set()
    for event in episode.events:
        value = EDITED if event.changes else READ if event.kind == "read" else 0.0
        done = time_of(event.time)
        if done is None or start is None or done >= start:
            worth[event.path] = max(worth.get(event.path, 0.0), value)
        elif event.changes:
            before.add(event.path)
    paths = islice(offer.files, MOST_CANDIDATES)
    return {path: worth.get(path, 0.0) for path in paths if path not in before}


# --- training ---


def plan_learner(of: Stuff, cases: Sequence[Case], active: Weights) -> Learner:
    """Return what learns from lessons of one sort of source, beside the weights that rank now."""
    names = [*built_in(of).weights]
    in_use = np.array([active.weights.get(one, 0.0) for one in names], np.float32)
    return Learner("planner", of, ("plan", "task"), cases, names, in_use, partial(learnt, of))


def learnt(of: Stuff, cases: Sequence[Case], pull: float = PULL) -> Floats:
    """Return weights that some lessons of one sort of source moved from those it came with.

    Deterministic; at least one lesson must be given. The weights that came count as `pull` lessons.
    """
    base = np.array([*built_in(of).weights.values()])
    # Scores are scaled first so that they surprise least, which changes no order: else the lessons
    # would move the weights' size, on which the packing relies, before they move what ranks.
    scores = [(one.features @ base).astype(np.float32)[:, None] for one in cases]
    alone = [replace(one, features=each) for one, each in zip(cases, scores, strict=True)]
    scale = min(MOST_SCALE, max(1 / MOST_SCALE, float(fitted(alone, _LITTLE)[0][0])))
    l2 = pull / sum(one.weight for one in cases)
    value = fitted(cases, l2, (base * scale).astype(np.float32))[0] / scale
    # As far from what it was as one training may move a weight; its sign stays.
    size = np.abs(base)
    most = np.maximum(size * MOST_TIMES, LEAST_ROOM)
    moved = np.copysign(np.clip(value * np.sign(base), size / MOST_TIMES, most), base)
    moved = np.where(base == 0, np.clip(value, -FREE_ROOM, FREE_ROOM), moved)
    weights: Floats = moved.astype(np.float64)
    return weights
