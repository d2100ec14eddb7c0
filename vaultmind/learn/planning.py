"""The planner's weights, learnt from what its plans offered and what turned out to be right.

An episode that went well teaches: of what a plan offered, the files that were then edited are right
(1), those that were only read are so in part (0.3), the others are wrong. What failed teaches
nothing by itself, and takes back what the same task taught before it: of a file that was edited in
as many later episodes that failed as in such that went well nothing is left, nor of what was read
for it. What went well in the end stands, however often it failed first. Lessons fade, and one task
that is done over and over counts as a few.

Only what was done after a plan counts for it. A file that was edited before in the same episode is
left out of the lesson: its features (changed lately, changes together) tell of that already.

The new weights are those of least surprise at the lessons (`index/ranker/training`), pulled to the
weights that come with the program as if these were lessons, too: a few lessons move them little.
Each training starts from these anew and learns from all lessons there are: none counts twice,
however often somebody trains. No training more than doubles or halves a weight: an offer holds only
what the weights in use put first, and among these what they go by tells less apart than it does
among all files. What comes with a weight of 0, as what sort a file is of, is as free as others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations, islice
from typing import TYPE_CHECKING

import numpy as np

from vaultmind.episodes.types import Episode, Offer, Result, time_of
from vaultmind.index.training import Lesson
from vaultmind.index.training import train as fitted
from vaultmind.learn.learned import Learned, text_of
from vaultmind.learn.models import PASSED, STUFFS, id_of, stuff_of
from vaultmind.learn.trial import Marks, Trained, Training, Verdict, marks_of, tried
from vaultmind.planner.scorer import Stuff, Weights, built_in
from vaultmind.plural import counted

if TYPE_CHECKING:
    from vaultmind.planner.types import Understood

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


EDITED, READ = 1.0, 0.3
"""How right a file is that was edited, that was only read."""
WORTH: Mapping[Result, float] = {"success": 1.0, "partial": 0.5, "unknown": 0.0, "failed": 0.0}
"""What an episode's lessons count. Silence is no success."""
HALF_LIFE_SECONDS = 90 * 86_400.0
MOST_ALIKE = 5
"""Episodes of one task that count, the latest."""
NEARLY_SAME = 0.8
"""How alike two tasks are that count as one, as `planner.intent.similarity` tells it."""
MOST_CANDIDATES = 100
MOST_FEATURE = 10.0
"""Features are between 0 and 1, or near it: an offer's file can be edited by hand."""


@dataclass(frozen=True, slots=True)
class Heard:
    """An episode, and what plans offered in it."""

    episode: Episode
    offers: tuple[Offer, ...]


@dataclass(frozen=True, slots=True)
class PlanLesson:
    """The candidates of one plan, and how right each is."""

    of: Stuff
    """Which weights ranked: those for a source of code, or of notes."""
    episode: str
    tasks: frozenset[tuple[str, str]]
    """What it was about, by source and fingerprint: the episode's task, and the plan's."""
    time: datetime
    paths: tuple[str, ...]
    features: tuple[Mapping[str, float], ...]
    right: tuple[float, ...]
    """From 0 to 1."""
    weight: float
    source: str = ""
    about: Understood | None = None
    """By what the episode's task is told to be nearly that of another. A lesson is made for one
    training, of what the notes still say then, and kept nowhere: there is nothing to erase."""

    @property
    def truth(self) -> tuple[bool, ...]:
        """Return what a trial takes for right: what was edited, or read where nothing was."""
        least = max(self.right, default=0.0) / 2
        return tuple(0 < one >= least for one in self.right)


def plan_lessons(heard: Iterable[Heard], now: datetime) -> tuple[PlanLesson, ...]:
    """Return the lessons of episodes, oldest first; those that teach nothing are left out."""
    ended = [one for one in heard if one.episode.state != "running" and one.offers]
    ended.sort(key=lambda one: (one.episode.started, one.episode.name))
    balances = _balances([one.episode for one in ended])
    same: dict[tuple[str, str], int] = {}
    lessons: list[PlanLesson] = []
    for one in reversed(ended):
        episode = one.episode
        if not WORTH[episode.outcome]:
            continue
        key = (episode.source, episode.task.fingerprint)
        same[key] = same.get(key, 0) + 1
        if same[key] <= MOST_ALIKE or not episode.task.fingerprint:
            lessons += _of_episode(one, balances.get(episode.name, {}), now)
    return tuple(sorted(lessons, key=lambda one: (one.time, one.episode)))


def groups_of(lessons: Sequence[PlanLesson]) -> list[int]:
    """Return for each lesson a number that is the same where an episode or a task is.

    Tasks of one source that are nearly the same are one: in other words, a model would be tried
    on what it has learnt by heart.
    """
    leads: dict[Hashable, Hashable] = {}

    def lead(mark: Hashable) -> Hashable:
        while leads.setdefault(mark, mark) != mark:
            mark = leads[mark]
        return mark

    for one in lessons:
        for task in one.tasks:
            leads[lead(task)] = lead(one.episode)
    for episode, another in _nearly_same(lessons):
        leads[lead(episode)] = lead(another)
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(lead(one.episode), len(numbers)) for one in lessons]


def _nearly_same(lessons: Sequence[PlanLesson]) -> Iterator[tuple[str, str]]:
    """Yield pairs of episodes of one source whose tasks are nearly the same."""
    from vaultmind.planner.task import alike  # its patterns cost a start 20 ms

    tasks: dict[str, dict[Understood, str]] = {}
    for one in lessons:
        if one.about is not None:
            tasks.setdefault(one.source, {}).setdefault(one.about, one.episode)
            yield tasks[one.source][one.about], one.episode
    for told in tasks.values():
        for (about, episode), (other, another) in combinations(told.items(), 2):
            if alike(about, other) >= NEARLY_SAME:
                yield episode, another


def _about(episode: Episode) -> Understood | None:
    """Return what of an episode's task is compared; None of one without words."""
    from vaultmind.planner.task import earlier_task

    task = episode.task
    if not task.text:
        return None
    return earlier_task(task.text, task.kind, task.fingerprint, episode.source)


def _of_episode(heard: Heard, balance: Mapping[str, float], now: datetime) -> list[PlanLesson]:
    """Return the lessons of one episode, which count as one together.

    Of several offers of one task the first: what a later one offers follows from the work. None of
    the future, which a wrong clock wrote: whatever came before it would count as seen.
    """
    episode = heard.episode
    first = {offer.fingerprint: offer for offer in reversed(heard.offers)}
    lessons = []
    for offer in first.values():
        time = time_of(offer.time) or time_of(episode.started) or now
        rows = _rows(episode, offer, balance)
        of, total = stuff_of(offer.weights), math.fsum(value for *_, value in rows)
        if of is None or time > now or not 0 < total < len(rows):
            continue
        weight = WORTH[episode.outcome] * 0.5 ** ((now - time).total_seconds() / HALF_LIFE_SECONDS)
        named = (episode.task.fingerprint, offer.fingerprint)
        tasks = frozenset((episode.source, one) for one in named if one)
        paths, features, right = zip(*rows, strict=True)
        lessons.append(
            PlanLesson(
                of, episode.name, tasks, time, paths, features, right, weight, episode.source,
                _about(episode),
            )
        )  # fmt: skip
    return [replace(one, weight=one.weight / len(lessons)) for one in lessons]


def _rows(
    episode: Episode, offer: Offer, balance: Mapping[str, float]
) -> list[tuple[str, Mapping[str, float], float]]:
    """Return an offer's candidates with their features and how right each is."""
    offered = time_of(offer.time)
    # Times of events are whole seconds.
    time = offered.replace(microsecond=0) if offered else None
    right: dict[str, float] = {}
    before: set[str] = set()
    for event in episode.events:
        worth = EDITED if event.changes else READ if event.kind == "read" else 0.0
        done = time_of(event.time)
        if done is None or time is None or done >= time:
            right[event.path] = max(right.get(event.path, 0.0), worth)
        elif worth == EDITED:
            before.add(event.path)
    reads = max(balance.values(), default=1.0)
    rows: list[tuple[str, Mapping[str, float], float]] = []
    for path, features in islice(offer.files.items(), MOST_CANDIDATES):
        value = right.get(path, 0.0)
        value *= balance.get(path, 1.0) if value == EDITED else reads
        clean = {
            name: max(-MOST_FEATURE, min(MOST_FEATURE, it))
            for name, it in features.items()
            if math.isfinite(it)
        }
        if path not in before:
            rows.append((path, clean, value))
    return rows


def _balances(episodes: Sequence[Episode]) -> dict[str, dict[str, float]]:
    """Return by episode that went well, oldest first, how right each of its edits was.

    1 where nothing that was done later for the same task speaks against it, 0 where as many or
    more episodes failed with it since as went well. A task that nobody can name has none.
    """
    good: Counter[tuple[str, str, str]] = Counter()
    failed: Counter[tuple[str, str, str]] = Counter()
    edits = {
        one.name: {(one.source, mark, it.path) for it in one.events if it.changes}
        for one in episodes
        if (mark := one.task.fingerprint)
    }
    for one in episodes:
        for key in edits.get(one.name, ()):
            good[key] += WORTH[one.outcome]  # type: ignore[assignment]
    balances: dict[str, dict[str, float]] = {}
    for one in reversed(episodes):
        keys = edits.get(one.name, set())
        if one.outcome == "failed":
            failed.update(keys)
        elif WORTH[one.outcome]:
            balances[one.name] = {
                key[-1]: max(0.0, (good[key] - failed[key]) / (good[key] + failed[key]))
                for key in keys
            }
    return balances


# --- training ---


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
