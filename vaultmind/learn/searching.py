"""Lessons for the search ranker, from what searches turned out to be worth, and its training.

Each query is asked again of the index as it is now: right is what was of use, as far as it is
still there and may be shown. What is learnt is a taste: for recent things, for what was said, for
long pages with many links. How well a hit's words and meaning match is judged as before, since that
was learnt from thousands of questions. Beside these lessons stand questions made of the vault
itself, as anybody might ask them: the new ranker is taught to answer one half of them as the one in
use does, and a taste goes as far as nearly all answers stay, in both halves. The half that was not
learnt is the guard of the trial.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import cycle
from typing import Literal

import numpy as np

from vaultmind.episodes.types import time_of
from vaultmind.index.ranker.active import SHIPPED_ID, WORDS
from vaultmind.index.ranker.model import Model, written
from vaultmind.index.ranker.registry import shipped
from vaultmind.index.ranker.scene import Flags, Floats
from vaultmind.index.ranker.training import Lesson
from vaultmind.index.ranker.training import train as fitted
from vaultmind.index.search.scenes import Scenes, Seen
from vaultmind.learn.feedback import Judged, folded
from vaultmind.learn.models import HEARD_UNTIL, PASSED, TRIAL, Models, id_of
from vaultmind.learn.trial import (
    CUT,
    LEAST_TRIED,
    Guard,
    Marks,
    Steps,
    Trained,
    TrainRequest,
    Verdict,
    apart,
    by_group,
    mean_of,
    put_into_use,
    too_few,
    verdict,
)
from vaultmind.plural import counted
from vaultmind.types import PERSON, Caller, Chunk, Kind

MOST_LESSONS = 600
"""Queries that are learnt from, the latest: asking each again takes some ten milliseconds."""
SELF_MADE: dict[Kind, int] = {"note": 160, "message": 40, "fact": 20, "summary": 20}
"""Chunks of each kind that are asked for, at most; half to learn along, half for the guard."""
LEAST_SELF_LETTERS = 60
BESIDE_WRONG = 5
"""Where all that is known is what is wrong: so many of the best others should stand above it."""
WRONG_WEIGHT = 0.5
TASTE = frozenset(
    {
        "recent", "length", "message_length", "start", "note", "message", "fact", "summary",
        "links_in", "links_out", "foreign", "first_person", "asks", "no_vector", "title",
    }
)  # fmt: skip
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
ON_SEARCHES = "on searches, up to"
"""By which a model is known that was learnt here."""
GUARD = "questions made of the vault"
NEVER = datetime.min.replace(tzinfo=UTC)
STAYING = "their first answers, which should stay"
PERSONS = "what the person judged"


Ask = Literal["title", "heading", "sentence", "words", "two"]
NOTES: tuple[Ask, ...] = ("sentence", "title", "words", "sentence", "heading", "two")
MEMORY: tuple[Ask, ...] = ("sentence", "words", "two")
"""The ways to ask, by turns."""
LEAST_LETTERS, MOST_WORDS, LEAST_WORDS = 4, 6, 3
"""Of a word that tells something; of such words in a question and in a sentence."""
LONGEST = 200
"""Maximum number of characters of a sentence."""
_WORD = re.compile(r"[^\W\d_]+")
_SENTENCE = re.compile(r"[^.!?…\n]+")
_TITLE_END = " › "


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
    asked: str = ""
    """The query, as it is the same whoever asks."""
    by: str = ""
    """The agent in whose memory it is judged; empty: the person's word."""
    time: datetime = NEVER

    def marks(self, weights: Floats) -> Marks:
        """Return how well some weights rank it."""
        order = self.seen.order(weights)
        places = list(dict.fromkeys(self.places[at] for at in order))
        right = {self.places[at] for at in order if self.right[at] > 0}
        first = next((at for at, place in enumerate(places, 1) if place in right), 0)
        within = sum(place in right for place in places[:CUT])
        return Marks(1 / first if first else 0.0, within / CUT)


def train(
    scenes: Scenes, judged: Sequence[Judged], models: Models, now: datetime,
    request: TrainRequest, steps: Steps,
) -> tuple[Trained, ...]:  # fmt: skip
    """Learn for the embedder that searches are asked with; keep it, use it where it is better."""
    began = models.in_use("ranker")

    def seen(of: str) -> datetime | None:
        return None if request.force_activate else models.seen("ranker", of or WORDS)

    told = train_ranker(scenes, judged, now, request.min_lessons, steps, seen)
    of, size = told.of or WORDS, (told.lessons, told.rows)
    if told.model is None:
        return (Trained("ranker", of, told.why, "", *size),)
    model = replace(told.model, name=id_of(of, now, told.model.weights))
    models.keep("ranker", of, model.name, written(model))
    was, found = began.get(of, SHIPPED_ID), told.verdict or Verdict(False, told.why)
    used, why = put_into_use(models, was, ("ranker", model.name), found, request)
    return (Trained("ranker", of, why, model.name, *size, used, told.verdict),)


def train_ranker(
    scenes: Scenes,
    judged: Sequence[Judged],
    now: datetime,
    min_lessons: int,
    steps: Steps,
    seen: Callable[[str], datetime | None] = lambda of: None,
) -> RankerLearnt:
    """Learn from verdicts, oldest first, and try the result on the later ones and on the guards.

    It is learnt on top of the model that has no taste yet, and tried against the one in use. No
    model is made of fewer lessons than `min_lessons`, nor where too few of them are later than
    what is `seen`. Raises Cancelled, IndexUnavailable.
    """
    told = _asked_again(scenes, heard_fairly(judged, min_lessons), steps)
    embedder = _embedder_of(told)
    told = [one for one in told if one.seen.embedder == embedder]
    name, rows = embedder.partition("-")[0], sum(len(one.places) for one in told)
    if len(told) < max(1, min_lessons):
        there = counted(len(told), "search that taught something", "searches that taught something")
        few = f"Too little to learn from: {there}"
        return RankerLearnt(name, f"{few}, of {min_lessons} that are needed.", len(told), rows)
    first, later = _parted(told, seen(name))
    unseen = len({one.asked for one in later})
    if seen(name) is not None and unseen < LEAST_TRIED:
        return RankerLearnt(name, too_few(unseen), len(told), rows)
    own = [one for one in _self_made(scenes, steps) if one.seen.embedder == embedder]
    active = scenes.active(embedder)
    base = _base(active)
    names = told[0].seen.names
    in_use, prior = (
        np.array([model.weights.get(one, 0.0) for one in names], dtype=np.float32)
        for model in (active, base)
    )
    steps("learning")
    weights = _learnt(first, own, _Course(prior, names))
    guards = [*_guards(own[1::2], prior, weights), *_guard_of_person(later, in_use, weights)]
    found = verdict(_marks(later, in_use), _marks(later, weights), guards)
    model = Model(
        name=name or "words",
        embedder=name,
        weights={one: float(weight) for one, weight in zip(names, weights, strict=True)},
        spread={one: base.spread.get(one, 1.0) for one in names},
        trained_on=(
            f"{counted(len(first), 'verdict')} {ON_SEARCHES} {now:%Y-%m-%d}",
            f"{HEARD_UNTIL}{max(one.time for one in told).isoformat()}",
        ),
        scores={
            TRIAL: {PASSED: float(found.better)},
            "later searches": {"MRR": found.after.mrr, "MRR before": found.before.mrr},
            **{one.name: {"MRR": one.after, "MRR before": one.before} for one in found.guards},
        },
    )
    return RankerLearnt(name, found.why, len(told), rows, model, found)


def _base(active: Model) -> Model:
    """Return the model that a taste is learnt on top of: the one in use if no taste is in it.

    Else trainings would go a little further each time, until nothing stays.
    """
    learnt = any(ON_SEARCHES in one for one in active.trained_on)
    return shipped(active.embedder) if learnt else active


def heard_fairly(judged: Sequence[Judged], enough: int) -> list[Judged]:
    """Return what is learnt from, oldest first: the latest, of each agent no more than its share.

    Who asks most must not drown the others: where the person judged enough to learn from, no agent
    is heard more than the person.
    """
    person = [one for one in judged if one.by == "person"]
    agents = {one.agent for one in judged if one.by == "agent"}
    share = MOST_LESSONS // max(1, len(agents))
    if len(person) >= max(1, enough):
        share = min(share, len(person))
    left = dict.fromkeys(agents, share)
    heard = {id(one) for one in person[-MOST_LESSONS:]}
    for one in reversed(judged):
        if one.by == "agent" and left[one.agent] and len(heard) < MOST_LESSONS:
            left[one.agent] -= 1
            heard.add(id(one))
    return [one for one in judged if id(one) in heard]


def _parted(
    told: Sequence[Taught], seen: datetime | None
) -> tuple[Sequence[Taught], Sequence[Taught]]:
    """Return the lessons to learn from and the latest of each who judged, to try on.

    No query is in both, whoever asked it.
    """
    tried: set[str] = set()
    for by in dict.fromkeys(one.by for one in told):
        same = [one for one in told if one.by == by]
        fresh = [seen is None or one.time > seen for one in same]
        tried |= {same[at].asked for at in apart([one.asked for one in same], fresh)[1]}
    later = [one for one in told if one.asked in tried and (seen is None or one.time > seen)]
    first = [one for one in told if one.asked not in tried]
    return (first, later) if first else (told, ())


def _marks(told: Sequence[Taught], weights: Floats) -> list[Marks]:
    return by_group([one.marks(weights) for one in told], [one.asked for one in told])


def _guard_of_person(later: Sequence[Taught], in_use: Floats, weights: Floats) -> list[Guard]:
    """Return a guard of what the person judged, where agents did, too."""
    person = [one for one in later if not one.by]
    if not person or len(person) == len(later):
        return []
    before, after = [mean_of(_marks(person, each)).mrr for each in (in_use, weights)]
    return [Guard(PERSONS, before, after)]


def _guards(own: Sequence[Taught], prior: Floats, weights: Floats) -> list[Guard]:
    if not own:
        return []
    before, after = [mean_of([one.marks(each) for one in own]).mrr for each in (prior, weights)]
    kept = _kept(own, prior, weights)
    return [Guard(GUARD, before, after), Guard(STAYING, 1.0, kept, 1.0 - KEPT_IN_TRIAL)]


@dataclass(frozen=True, slots=True)
class _Course:
    """In which directions weights may go: features of taste, and all others as one."""

    prior: Floats
    names: tuple[str, ...]

    def columns(self, seen: Seen) -> Floats:
        """Return the features of taste, and last what all others come to by the weights in use."""
        rest = seen.features @ np.where(self._free, np.float32(0.0), self.prior)
        found: Floats = np.concatenate([seen.features[:, self._free], rest[:, None]], axis=1)
        return found

    def as_before(self, seen: Seen) -> Floats:
        """Return how likely each candidate is right by the weights in use; together 1."""
        scores = seen.features @ self.prior
        odds = np.exp(scores - scores.max())
        chances: Floats = (odds / odds.sum()).astype(np.float32)
        return chances

    def start(self) -> Floats:
        """Return the weights in use, by `columns`."""
        return np.append(self.prior[self._free], np.float32(1.0))

    def whole(self, learnt: Floats) -> Floats:
        """Return learnt weights for all features; of the others each counts as it did."""
        weights = self.prior.copy()
        weights[self._free] = learnt[:-1] / max(LEAST_SCALE, float(learnt[-1]))
        return weights

    @property
    def _free(self) -> Flags:
        return np.array([name in TASTE for name in self.names], dtype=np.bool_)


def _learnt(told: Sequence[Taught], own: Sequence[Taught], course: _Course) -> Floats:
    """Return weights as far from those in use as the answers to the vault's questions stay."""
    best, before = course.prior, mean_of([one.marks(course.prior) for one in own]).mrr
    for share in SHARES if own else SHARES[:1]:
        weights = _trained(told, own[::2], course, share)
        here = mean_of([one.marks(weights) for one in own]).mrr
        if here < before - SPOILS or _kept(own, course.prior, weights) < KEPT:
            break
        best = weights
    return best


def _trained(
    told: Sequence[Taught], own: Sequence[Taught], course: _Course, share: float
) -> Floats:
    """Return what some lessons teach, where the vault's own questions are answered as before."""
    each = share * sum(one.weight for one in told) / max(1, len(own))
    lessons = [Lesson(course.columns(one.seen), one.right, one.weight) for one in told]
    lessons += [Lesson(course.columns(one.seen), course.as_before(one.seen), each) for one in own]
    weights, _ = fitted(lessons, PULL / len(told) / (1 + share), course.start())
    return course.whole(weights)


def _kept(own: Sequence[Taught], prior: Floats, weights: Floats) -> float:
    """Return the mean reciprocal rank that what stood first has by other weights."""
    ranks = [one.seen.order(weights).index(one.seen.order(prior)[0]) for one in own]
    return sum(1 / (rank + 1) for rank in ranks) / len(ranks) if ranks else 1.0


def _asked_again(scenes: Scenes, judged: Sequence[Judged], steps: Steps) -> list[Taught]:
    """Return what the verdicts teach: nothing where none of the hits is found any more."""
    found = []
    for number, one in enumerate(judged):
        steps("asking again what was asked", number, len(judged))
        caller = PERSON if one.by == "person" else Caller("agent", one.agent)
        seen = scenes.of(one.query, caller)
        taught = taught_by(one, seen, scenes) if seen is not None else None
        if taught is not None:
            by = one.agent if one.by == "agent" else ""
            time = time_of(one.time) or taught.time
            found.append(replace(taught, asked=folded(one.query), by=by, time=time))
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
    asked.sort(key=lambda one: zlib.crc32(one.query.encode()))  # each half in every way
    found = []
    for number, one in enumerate(asked):
        steps("asking what any ranker should answer", number, len(asked))
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


# --- questions made of the vault itself, as anybody might ask them --------------------------


@dataclass(frozen=True, slots=True)
class SelfMade:
    """A question whose answer is known."""

    ask: Ask
    query: str
    path: str
    """Where the answer stands."""


def questions_of(chunks: Sequence[Chunk]) -> Iterator[SelfMade]:
    """Yield a question for each chunk that has words enough, in each way by turns."""
    for_notes, for_memory = cycle(NOTES), cycle(MEMORY)
    for chunk in chunks:
        ask = next(for_notes if chunk.kind == "note" else for_memory)
        query = _query(chunk, ask) or _query(chunk, "words")
        if query:
            yield SelfMade(ask, query, chunk.path)


def _query(chunk: Chunk, ask: Ask) -> str:
    title, *headings = chunk.title.split(_TITLE_END)
    if ask == "title":
        return title if len(title) >= LEAST_LETTERS else ""
    if ask == "heading":
        return " ".join((title, *headings)) if headings else ""
    sentences = [one.group().strip() for one in _SENTENCE.finditer(chunk.text)]
    told = [one for one in sentences if len(_telling(one)) >= LEAST_WORDS and len(one) <= LONGEST]
    if not told:
        return ""
    chance = zlib.crc32(chunk.id.encode())
    sentence = told[chance % len(told)]
    words = _telling(sentence)
    if ask == "sentence":
        return sentence
    if ask == "words":
        return " ".join(words[:MOST_WORDS])
    at = chance % (len(words) - 1)
    return " ".join(words[at : at + 2])


def _telling(sentence: str) -> list[str]:
    found = (word for word in _WORD.findall(sentence) if len(word) >= LEAST_LETTERS)
    return list(dict.fromkeys(found))
