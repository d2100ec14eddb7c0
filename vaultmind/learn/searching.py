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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from vaultmind.episodes.types import time_of
from vaultmind.index.columns import Floats
from vaultmind.index.models import WORDS, Model, model_text, shipped
from vaultmind.index.raw import Raw, Seen
from vaultmind.index.training import Lesson
from vaultmind.index.training import train as fitted
from vaultmind.learn.feedback import Judged, folded
from vaultmind.learn.models import HEARD_UNTIL, PASSED, TRIAL, id_of
from vaultmind.learn.trial import (
    Guard,
    Marks,
    Steps,
    Trained,
    Training,
    Verdict,
    marks_of,
    mean_of,
    tried,
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
STAYING = "their first answers, which should stay"
MOST_WORDS, LEAST_WORDS, LONGEST = 6, 3, 200
"""Of a question and of a sentence that one is made of: words that tell something, and letters."""
NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class JudgedQuery:
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
        right = {place for place, value in zip(self.places, self.right, strict=True) if value > 0}
        ranked = dict.fromkeys(self.places[at] for at in self.seen.order(weights))
        return marks_of([place in right for place in ranked])


def train(scenes: Raw, judged: Sequence[Judged], training: Training) -> tuple[Trained, ...]:
    """Learn from verdicts, oldest first, for the embedder that searches are asked with.

    What is learnt is tried on the later verdicts and on the guards, against what is in use. It is
    learnt on top of the model that has no taste yet: else trainings would go a little further each
    time, until nothing stays. Raises Cancelled, IndexUnavailable.
    """
    told = _asked_again(scenes, heard_fairly(judged, training.min_lessons), training.steps)
    counts = Counter(one.seen.embedder for one in told)  # while one loads, some go without
    ((embedder, _),) = counts.most_common(1) or (("", 0),)
    told = [one for one in told if one.seen.embedder == embedder]
    told.sort(key=lambda one: one.time)
    works = [(one.asked, one.time) for one in told]
    name = embedder.partition("-")[0]
    rows = sum(len(one.places) for one in told)
    result = Trained("ranker", name or WORDS, "", lessons=len(told), rows=rows)

    def propose(seen: datetime | None) -> tuple[str, str, Verdict]:
        own = [one for one in _self_made(scenes, training.steps) if one.seen.embedder == embedder]
        training.steps("learning")
        active = scenes.active(embedder)
        learnt = any(ON_SEARCHES in one for one in active.trained_on)
        base = shipped(embedder) if learnt else active
        names = told[0].seen.names
        in_use, prior = _weights(active, names), _weights(base, names)

        def guards(weights: Floats) -> list[Guard]:
            half = own[1::2]
            if not half:
                return []
            stays = Guard(STAYING, 1.0, _kept(half, prior, weights), 1.0 - KEPT_IN_TRIAL)
            return [Guard(GUARD, _mrr(half, prior), _mrr(half, weights)), stays]

        weights, first, found = tried(
            told, works, seen,
            learn=lambda some: _learnt(some, own, prior, names),
            marks=lambda one, new: one.marks(in_use if new is None else new),
            guards=guards,
        )  # fmt: skip
        watched = guards(weights)
        model = Model(
            name="",
            embedder=name,
            features=dict(zip(names, weights.tolist(), strict=True)),
            spread={one: base.spread.get(one, 1.0) for one in names},
            trained_on=(
                f"{counted(len(first), 'verdict')} {ON_SEARCHES} {training.now:%Y-%m-%d}",
                f"{HEARD_UNTIL}{max(one.time for one in told).isoformat()}",
            ),
            scores={
                TRIAL: {PASSED: float(found.better)},
                "later searches": {"MRR": found.after.mrr, "MRR before": found.before.mrr},
                **{one.name: {"MRR": one.after, "MRR before": one.before} for one in watched},
            },
        )
        model = replace(model, name=id_of(result.of, training.now, model.features))
        return model.name, model_text(model), found

    return (training.conclude(result, works, propose),)


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


def taught_by(judged: Judged, seen: Seen, scenes: Raw) -> JudgedQuery | None:
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
        return None if right.all() else JudgedQuery(seen, share, strength, places)
    wrong = [at for at in rows if worth[at] < 0]
    order = seen.order(_weights(scenes.active(seen.embedder), seen.names))
    others = [at for at in order if worth[at] == 0][:BESIDE_WRONG]
    if not wrong or not others:
        return None
    kept = [*others, *wrong]
    part = replace(seen, chunks=tuple(seen.chunks[at] for at in kept), features=seen.features[kept])
    above = np.array([1.0] * len(others) + [0.0] * len(wrong), dtype=np.float32)
    weight = WRONG_WEIGHT * float(-worth[wrong].min())
    return JudgedQuery(part, above, weight, tuple(places[at] for at in kept))


def _asked_again(scenes: Raw, judged: Sequence[Judged], steps: Steps) -> list[JudgedQuery]:
    """Return what the verdicts teach: nothing where none of the hits is found any more."""
    found = []
    for number, one in enumerate(judged):
        steps("asking again what was asked", number, len(judged))
        by = one.agent if one.by == "agent" else ""
        seen = scenes.seen(one.query, Caller("agent", by) if by else PERSON)
        if seen is not None and (taught := taught_by(one, seen, scenes)) is not None:
            time = time_of(one.time) or NEVER
            found.append(replace(taught, asked=folded(one.query), by=by, time=time))
    return found


def _learnt(
    told: Sequence[JudgedQuery], own: Sequence[JudgedQuery], prior: Floats, names: Sequence[str]
) -> Floats:
    """Return weights as far from those before as the answers to the vault's questions stay.

    Only features of taste may go their own way; all others go together, as one more column: what
    they come to by the weights before. `own`: the vault's questions, of which every other one is
    taught to be answered as before.
    """
    free = np.array([name in TASTE for name in names])
    rest = np.where(free, np.float32(0.0), prior)

    def columns(seen: Seen) -> Floats:
        return np.column_stack([seen.features[:, free], seen.features @ rest])

    def as_before(seen: Seen) -> Floats:
        scores = seen.features @ prior
        odds = np.exp(scores - scores.max())
        chances: Floats = (odds / odds.sum()).astype(np.float32)
        return chances

    def trained(share: float) -> Floats:
        each = share * sum(one.weight for one in told) / max(1, len(own[::2]))
        lessons = [Lesson(columns(one.seen), one.right, one.weight) for one in told]
        lessons += [Lesson(columns(one.seen), as_before(one.seen), each) for one in own[::2]]
        start = np.append(prior[free], np.float32(1.0))
        learnt, _ = fitted(lessons, PULL / len(told) / (1 + share), start)
        weights = prior.copy()
        weights[free] = learnt[:-1] / max(LEAST_SCALE, float(learnt[-1]))
        return weights

    best, before = prior, _mrr(own, prior)
    for share in SHARES if own else SHARES[:1]:
        weights = trained(share)
        if _mrr(own, weights) < before - SPOILS or _kept(own, prior, weights) < KEPT:
            break
        best = weights
    return best


def _self_made(scenes: Raw, steps: Steps) -> list[JudgedQuery]:
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
                found.append(JudgedQuery(seen, right, 1.0, paths))
    return found


def questions_of(chunks: Sequence[Chunk]) -> Iterator[tuple[str, str]]:
    """Yield questions made of a vault, as anybody might ask them, and where the answer stands.

    Of each chunk by turns: a sentence, the words of one that tell something, the note's title.
    """
    for number, chunk in enumerate(chunks):
        sentences = [one.strip() for one in re.split(r"[.!?…\n]+", chunk.text)]
        words = [(one, list(dict.fromkeys(re.findall(r"[^\W\d_]{4,}", one)))) for one in sentences]
        told = [one for one in words if len(one[1]) >= LEAST_WORDS and len(one[0]) <= LONGEST]
        sentence, usual = told[zlib.crc32(chunk.id.encode()) % len(told)] if told else ("", [])
        title = chunk.title.partition(" › ")[0] if chunk.kind == "note" else ""
        ways = (sentence, " ".join(usual[:MOST_WORDS]), title or sentence)
        if query := ways[number % len(ways)]:
            yield query, chunk.path


def _kept(own: Sequence[JudgedQuery], prior: Floats, weights: Floats) -> float:
    """Return the mean reciprocal rank that what stood first has by other weights."""
    ranks = [one.seen.order(weights).index(one.seen.order(prior)[0]) for one in own]
    return sum(1 / (rank + 1) for rank in ranks) / len(ranks) if ranks else 1.0


def _mrr(told: Sequence[JudgedQuery], weights: Floats) -> float:
    return mean_of([one.marks(weights) for one in told]).mrr


def _weights(model: Model, names: Sequence[str]) -> Floats:
    return np.array([model.features.get(one, 0.0) for one in names], dtype=np.float32)
