"""The features of a candidate, by name: pure functions of a `Scene`, vectorised.

BM25 has no upper end and its size differs from query to query, so that it is given as a share of
the best in the scene. Cosines differ from embedder to embedder: they come on the embedder's scale
(`relevance.Scale`), and once more by their place between the scene's median and its best. Counts
and lengths come as logarithms. So every number is between 0 and 1 (speakers apart: -1 to 1), in
a vault of any size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vaultmind.index.ranker.scene import BESIDE, Floats, Ints, Meaning, Scene

LONG_LETTERS = 2_000
"""A text of so many letters or more has length 1."""
MANY_LINKS = 30
CLOSEST = 1.5
"""On the embedder's scale, what has closeness 1."""
BEST_OF_FILE = 3
"""Chunks of a file whose mean says what the file is about."""
SURE = 0.8
"""Share of the subject that the best candidate has, from which words are fully believed."""
LEAST_SPREAD = 0.05
"""Closeness between the median and the best that is taken for a difference."""
_TINY = 1e-6
_Column = NDArray[np.floating[Any]]
_BEFORE, _AFTER = BESIDE.index(-1), BESIDE.index(1)
_TWO_AWAY = [BESIDE.index(-2), BESIDE.index(2)]


def columns(scene: Scene) -> dict[str, Floats]:
    """Return each feature's value for each candidate; of meaning only where there are vectors."""
    scene = _believed(scene)
    found = dict(_words(scene))
    found |= _around(scene)
    found |= _whole(scene)
    found |= _speaking(scene)
    found |= _about(scene)
    if scene.meaning is not None:
        found |= _meaning(scene, scene.meaning, found)
    return {name: column.astype(np.float32, copy=False) for name, column in found.items()}


def _believed(scene: Scene) -> Scene:
    """Return a scene whose BM25 counts as much as its best candidate matches the subject.

    Where hardly a word of the query stands anywhere (it is in another language, or in other words)
    the best match is one by chance, and would still be the best.
    """
    held = np.maximum(scene.matched.held[: scene.count], scene.matched.titled)
    best = float(_covered(held, _subject(scene)).max(initial=0.0))
    return replace(scene, trust=min(1.0, best / SURE))


def _words(scene: Scene) -> Iterator[tuple[str, _Column]]:
    count, matched = scene.count, scene.matched
    bm25 = _of_best(matched.bm25)[:count] * scene.trust
    topic = _of_best(matched.topic)[:count] * scene.trust
    yield "bm25", bm25
    yield "bm25_rank", _by_rank(bm25) * scene.trust
    yield "topic", topic
    yield "topic_rank", _by_rank(topic) * scene.trust
    held = matched.held[:count]
    yield "coverage", _covered(held, matched.weights)
    subject = _subject(scene)
    own = _covered(np.maximum(held, matched.titled), subject)
    yield "subject", own
    yield "rarest", held[:, int(np.argmax(subject))] if subject.size else np.zeros_like(own)
    yield "near", matched.near * scene.trust
    yield "exact", matched.exact
    yield "title", _covered(matched.titled, matched.weights)


def _around(scene: Scene) -> Iterator[tuple[str, _Column]]:
    count, beside = scene.count, scene.around.beside
    topic = _of_best(scene.matched.topic) * scene.trust
    near = _taken(topic, beside)
    yield "topic_before", near[:, _BEFORE]
    yield "topic_after", near[:, _AFTER]
    yield "topic_two_away", near[:, _TWO_AWAY].max(axis=1)
    subject = _subject(scene)
    held = scene.matched.held
    padded = np.concatenate([held, np.zeros((1, held.shape[1]), np.float32)])
    own = np.maximum(held[:count], scene.matched.titled)
    window = np.maximum(own, padded[beside[:, [_BEFORE, _AFTER]]].max(axis=1))
    yield "subject_around", _covered(window, subject)
    window = np.maximum(window, padded[beside[:, _TWO_AWAY]].max(axis=1))
    yield "subject_around_two", _covered(window, subject)
    asked = _taken(scene.asks.astype(np.float32), beside[:, _BEFORE])
    yield "answers_topic", asked * near[:, _BEFORE]


def _whole(scene: Scene) -> Iterator[tuple[str, _Column]]:
    """Yield what a candidate's whole file says: a note's, a session's."""
    count, place = scene.count, scene.around.place
    topic = _of_best(scene.matched.topic) * scene.trust
    best, top3 = _by_place(topic, place)
    here = place[:count]
    yield "whole_best", best[here]
    yield "whole_top3", top3[here]
    held = scene.matched.held
    united = np.zeros((len(best), held.shape[1]), np.float32)
    np.maximum.at(united, place, held)
    np.maximum.at(united, here, scene.matched.titled)
    yield "whole_subject", _covered(united, _subject(scene))[here]
    yield (
        "best_of_whole",
        ((topic[:count] >= best[here] - _TINY) & (topic[:count] > 0)) * scene.trust,
    )


def _speaking(scene: Scene) -> Iterator[tuple[str, _Column]]:
    speaker = scene.speaker[: scene.count]
    yield "speaker", speaker
    mentioned = scene.matched.held[: scene.count][:, scene.matched.names]
    yield "mentioned", mentioned.max(axis=1) if mentioned.shape[1] else np.zeros_like(speaker)
    yield "first_person", scene.said.first_person
    yield "asks", scene.said.question


def _about(scene: Scene) -> Iterator[tuple[str, _Column]]:
    written = scene.written
    yield "says_time", scene.said.time
    yield "says_number", scene.said.number
    yield "when", written.when
    length = np.minimum(1.0, np.log1p(written.letters) / np.log1p(LONG_LETTERS))
    yield "length", np.where(written.kinds["message"], 0.0, length)
    yield "message_length", np.where(written.kinds["message"], length, 0.0)
    yield "recent", written.age
    yield "foreign", written.foreign * 1.0
    for kind in ("note", "message", "fact"):
        yield kind, written.kinds[kind] * 1.0
    yield "summary", (written.kinds["summary"] | written.kinds["episode"]) * 1.0  # it sums up, too
    most = np.log1p(MANY_LINKS)
    yield "links_in", np.minimum(1.0, np.log1p(scene.around.links_in) / most)
    yield "links_out", np.minimum(1.0, np.log1p(scene.around.links_out) / most)
    yield "start", (scene.around.beside[:, _BEFORE] < 0) * 1.0


def _meaning(
    scene: Scene, meaning: Meaning, found: Mapping[str, _Column]
) -> Iterator[tuple[str, _Column]]:
    count, place = scene.count, scene.around.place
    close = np.clip(meaning.closeness, 0.0, CLOSEST) / CLOSEST
    own = close[:count]
    yield "meaning", own
    yield "meaning_of_best", _above_median(own)
    yield "meaning_rank", _by_rank(own)
    near = _taken(close, scene.around.beside)
    yield "meaning_before", near[:, _BEFORE]
    yield "meaning_after", near[:, _AFTER]
    yield "meaning_around", (own + near[:, _BEFORE] + near[:, _AFTER]) / 3
    yield "meaning_two_away", near[:, _TWO_AWAY].max(axis=1)
    best, top3 = _by_place(close, place)
    here = place[:count]
    yield "meaning_whole_best", best[here]
    yield "meaning_whole_top3", top3[here]
    yield "meaning_feedback", meaning.feedback
    yield "no_vector", ~meaning.known[:count] * 1.0
    yield "meaning_subject", own * found["subject"]
    yield "meaning_speaker", own * found["speaker"]
    yield "meaning_foreign", own * found["foreign"]


def _subject(scene: Scene) -> Floats:
    """Return the weights of the words without the names of those who speak."""
    return np.where(scene.matched.names, np.float32(0.0), scene.matched.weights)


def _of_best(values: Floats) -> Floats:
    """Return values as shares of the best."""
    return values / max(_TINY, float(values.max(initial=0.0)))


def _by_rank(values: Floats) -> Floats:
    """Return 1 for the best, .63 for the second, .5 for the third ...; 0 where nothing matches."""
    order = np.argsort(-values, kind="stable")
    ranks = np.empty(len(values), np.float32)
    ranks[order] = _worths(len(values))
    return np.where(values > 0, ranks, np.float32(0.0))


@lru_cache(maxsize=64)
def _worths(count: int) -> Floats:
    """Return what the first, the second, ... of so many are worth."""
    worths: Floats = (1.0 / np.log2(2.0 + np.arange(count))).astype(np.float32)
    return worths


def _above_median(values: Floats) -> Floats:
    """Return the place between the scene's median (0) and its best (1)."""
    middle = np.float32(np.median(values))
    spread = max(LEAST_SPREAD, float(values.max() - middle))
    above: Floats = np.clip((values - middle) / spread, 0.0, 1.0)
    return above


def _covered(held: Floats, weights: Floats) -> Floats:
    """Return the share of the words' weight that is held."""
    total = float(weights.sum())
    return held @ (weights / total) if total else np.zeros(len(held), np.float32)


def _taken(values: Floats, rows: Ints) -> Floats:
    """Return values by row, 0 for row -1."""
    return np.append(values, np.float32(0.0))[rows]


def _by_place(values: Floats, place: Ints) -> tuple[Floats, Floats]:
    """Return each file's best value, and the mean of its best three."""
    files = int(place.max()) + 1
    order = np.lexsort((-values, place))
    ordered, of = values[order], place[order]
    starts = np.searchsorted(of, np.arange(files))
    nth = np.arange(len(of)) - starts[of]
    top3 = np.bincount(of, weights=np.where(nth < BEST_OF_FILE, ordered, 0.0), minlength=files)
    return ordered[starts], (top3 / BEST_OF_FILE).astype(np.float32)
