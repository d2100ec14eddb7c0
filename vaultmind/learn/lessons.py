"""Lessons for the planner and for the search ranker: what is right of what they ranked.

The planner's weights, learnt from what its plans offered and what turned out to be right.

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

Lessons for the search ranker, from what searches turned out to be worth, and its training.

Each query is asked again of the index as it is now: right is what was of use, as far as it is
still there and may be shown. What is learnt is a taste: for recent things, for what was said, for
long pages with many links. How well a hit's words and meaning match is judged as before, since that
was learnt from thousands of questions. Beside these lessons stand questions made of the vault
itself, as anybody might ask them: the new ranker is taught to answer one half of them as the one in
use does, and a taste goes as far as nearly all answers stay, in both halves. The half that was not
learnt is the guard of the trial.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from vaultmind.episodes.types import Episode, Offer, Result
from vaultmind.index.columns import Floats
from vaultmind.index.models import FEATURES, WITHOUT_MEANING, WORDS, shipped
from vaultmind.index.rank import weights_of
from vaultmind.index.search import Search, Seen
from vaultmind.index.training import Lesson
from vaultmind.index.training import train as fitted
from vaultmind.learn.feedback import Judged, folded
from vaultmind.learn.learning import ON_SEARCHES, stuff_of
from vaultmind.learn.trial import NEVER, Case, Guard, Learner, Steps, mean_of
from vaultmind.planner.scorer import Stuff, Weights, built_in
from vaultmind.times import time_of
from vaultmind.types import PERSON, Caller, Chunk, Kind

PLAN_PULL = 200.0
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


def plan_learner(of: Stuff, cases: Sequence[Case], active: Weights) -> Learner:
    """Return what learns from lessons of one sort of source, beside the weights that rank now."""
    names = [*built_in(of).weights]
    in_use = np.array([active.weights.get(one, 0.0) for one in names], np.float32)
    return Learner("planner", of, ("plan", "task"), cases, names, in_use, partial(learnt, of))


def learnt(of: Stuff, cases: Sequence[Case], pull: float = PLAN_PULL) -> Floats:
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
    return np.asarray(moved, np.float64)


# --- what searches teach ---

MOST_LESSONS = 600
"""Queries that are learnt from, the latest: asking each again takes some ten milliseconds."""
SELF_MADE: dict[Kind, int] = {"note": 160, "message": 40, "fact": 20, "summary": 20}
"""Chunks of each kind that are asked for, at most; half to learn along, half for the guard."""
LEAST_SELF_LETTERS = 60
BESIDE_WRONG = 5
"""Where all that is known is what is wrong: so many of the best others should stand above it."""
WRONG_WEIGHT = 0.5
_TASTE = "length message_length start note message fact links_out foreign first_person asks title"
TASTE = frozenset(_TASTE.split())
"""The features that may be learnt: what a hit is, and what names it."""
SHARES = (100.0, 40.0, 27.0, 18.0, 12.0, 8.0, 5.0)
"""What the questions of the vault weigh in training together, beside all that was judged: the
smallest that keeps the answers."""
KEPT, KEPT_IN_TRIAL = 0.95, 0.93
"""Mean reciprocal rank that what stood first has to have afterwards: in choosing the share, and in
the half that was not learnt."""
SPOILS = 0.005
"""MRR of known answers that a taste may cost in choosing the share; in the trial `GUARD_FALL`."""
PULL = 3.0
"""How strongly weights are pulled to those in use besides, as if by so many lessons."""
LEAST_SCALE = 0.2
"""Of what matching counts beside a taste: it is never turned around."""
GUARD = "questions made of the vault"
STAYING = "their first answers, which should stay"
MOST_WORDS, LEAST_WORDS, LONGEST = 6, 3, 200
"""Of a question and of a sentence that one is made of: words that tell something, and letters."""


def search_learner(scenes: Search, judged: Sequence[Judged], steps: Steps) -> Learner:
    """Return what learns from verdicts on searches with the embedder that most are asked with now.

    It learns on top of the model that has no taste yet: else trainings would go a little further
    each time, until nothing stays.
    """
    found, heard = list[Case](), persons_first(judged)
    for number, one in enumerate(heard):
        steps("asking again what was asked", number, len(heard))
        caller = Caller("agent", one.agent) if one.by == "agent" else PERSON
        seen = scenes.seen(one.query, caller)
        if seen is not None and (taught := lesson_of(one, seen, scenes)) is not None:
            found.append(taught)
    counts = Counter(one.of for one in found)  # while one loads, some go without
    ((embedder, _),) = counts.most_common(1) or (("", 0),)
    cases = sorted((one for one in found if one.of == embedder), key=lambda one: one.time)
    active = scenes.active(embedder)
    has_taste = any(ON_SEARCHES in it for it in active.trained_on)
    names = [it for it in FEATURES if embedder or it in WITHOUT_MEANING]
    prior = weights_of(shipped(embedder) if has_taste else active, names)

    @cache
    def own() -> list[Case]:
        return [one for one in _self_made(scenes, steps) if one.of == embedder]

    def guards(weights: Floats) -> list[Guard]:
        half = own()[1::2]
        stays = Guard(STAYING, 1.0, _kept(half, prior, weights), 1.0 - KEPT_IN_TRIAL)
        return [Guard(GUARD, _mrr(half, prior), _mrr(half, weights)), stays] if half else []

    return Learner(
        "ranker", embedder.partition("-")[0] or WORDS, ("verdict", "question"), cases, names,
        weights_of(active, names), lambda some: _taste(some, own(), prior, names), guards,
    )  # fmt: skip


def persons_first(judged: Sequence[Judged]) -> list[Judged]:
    """Return what is learnt from, oldest first: the person's verdicts before the agents'."""
    by_weight = sorted(judged, key=lambda one: one.by == "person")
    kept = {id(one) for one in by_weight[-MOST_LESSONS:]}
    return [one for one in judged if id(one) in kept]


def lesson_of(judged: Judged, seen: Seen, scenes: Search) -> Case | None:
    """Return what one query's verdicts teach of its candidates; None for nothing.

    Where all that is known is what is wrong, some of the best others should stand above it.
    """
    places = [f"{one.path}{one.anchor}" for one in seen.chunks]
    worth = np.zeros(len(places), dtype=np.float32)
    for line, strength in judged.places:
        same = [at for at, one in enumerate(seen.chunks) if one.id == line.hit]
        same = same or [at for at, it in enumerate(places) if it == f"{line.path}{line.anchor}"]
        worth[same] = strength
    right, rows = np.maximum(worth, 0.0), np.arange(len(places))
    strength = float(right.max(initial=0.0))
    if not strength and worth.any():
        order = seen.order(weights_of(scenes.active(seen.embedder), seen.found.names))
        others = [at for at in order if not worth[at]][:BESIDE_WRONG]
        rows = np.array([*others, *np.flatnonzero(worth)])
        right, strength = (worth == 0).astype(np.float32), -WRONG_WEIGHT * float(worth.min())
    right = right[rows]
    if not right.any() or right.all():
        return None
    work, time = folded(judged.query), time_of(judged.time) or NEVER
    kept = tuple(places[at] for at in rows)
    features, share = seen.features[rows], right / right.max()
    return Case(features, share, strength, seen.embedder, work, time, kept)


def _taste(
    told: Sequence[Case], own: Sequence[Case], prior: Floats, names: Sequence[str]
) -> Floats:
    """Return weights as far from those before as the answers to the vault's questions stay.

    Only features of taste may go their own way; all others go together, as one more column: what
    they come to by the weights before. `own`: the vault's questions, of which every other one is
    taught to be answered as before.
    """
    free = np.array([name in TASTE for name in names])
    rest = np.where(free, np.float32(0.0), prior)

    def columns(one: Case) -> Floats:
        return np.column_stack([one.features[:, free], one.features @ rest])

    def as_before(one: Case) -> Floats:
        scores = one.features @ prior
        odds = np.exp(scores - scores.max())
        chances: Floats = (odds / odds.sum()).astype(np.float32)
        return chances

    best, before = prior, _mrr(own, prior)
    for share in SHARES if own else SHARES[:1]:
        each = share * sum(one.weight for one in told) / max(1, len(own[::2]))
        lessons = [Lesson(columns(one), one.right, one.weight) for one in told]
        lessons += [Lesson(columns(one), as_before(one), each) for one in own[::2]]
        start = np.append(prior[free], np.float32(1.0))
        learnt, _ = fitted(lessons, PULL / len(told) / (1 + share), start)
        weights = prior.copy()
        weights[free] = learnt[:-1] / max(LEAST_SCALE, float(learnt[-1]))
        if _mrr(own, weights) < before - SPOILS or _kept(own, prior, weights) < KEPT:
            break
        best = weights
    return best


def _self_made(scenes: Search, steps: Steps) -> list[Case]:
    """Return questions made of the vault as lessons: right are all chunks of the file."""
    asked: list[tuple[str, str]] = []
    for kind, count in SELF_MADE.items():
        asked += questions_of(scenes.sample(kind, count, LEAST_SELF_LETTERS))
    asked.sort(key=lambda one: zlib.crc32(one[0].encode()))  # each half in every way
    found = []
    for number, (query, path) in enumerate(asked):
        steps("asking what any ranker should answer", number, len(asked))
        if (seen := scenes.seen(query, PERSON)) is not None:
            paths = tuple(chunk.path for chunk in seen.chunks)
            right = np.array([one == path for one in paths], dtype=np.float32)
            if right.any() and not right.all():
                found.append(Case(seen.features, right, 1.0, seen.embedder, query, NEVER, paths))
    return found


def questions_of(chunks: Sequence[Chunk]) -> Iterator[tuple[str, str]]:
    """Yield questions made of a vault, as anybody might ask them, and where the answer stands.

    Of each chunk by turns: a sentence, the words of one that tell something, the note's title.
    """
    for number, chunk in enumerate(chunks):
        sentences = [one.strip() for one in re.split(r"[.!?…\n]+", chunk.text)]
        words = [(one, list(dict.fromkeys(re.findall(r"[^\W\d_]{4,}", one)))) for one in sentences]
        told = [one for one in words if len(one[1]) >= LEAST_WORDS and len(one[0]) <= LONGEST]
        at = zlib.crc32(f"{chunk.path}{chunk.anchor}".encode()) % max(1, len(told))
        sentence, usual = told[at] if told else ("", [])
        title = chunk.title.partition(" › ")[0] if chunk.kind == "note" else ""
        ways = (sentence, " ".join(usual[:MOST_WORDS]), title or sentence)
        if query := ways[number % len(ways)]:
            yield query, chunk.path


def _kept(own: Sequence[Case], prior: Floats, weights: Floats) -> float:
    """Return the mean reciprocal rank that what stood first has by other weights."""
    firsts = [(one.features @ weights, int((one.features @ prior).argmax())) for one in own]
    return float(np.mean([1 / (1 + (it > it[at]).sum()) for it, at in firsts])) if own else 1.0


def _mrr(told: Sequence[Case], weights: Floats) -> float:
    return mean_of([one.marks(weights) for one in told]).mrr
