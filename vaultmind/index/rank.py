"""The ranker: features of what a query found, as columns, and a linear model over them.

BM25 has no upper end and its size differs from query to query, so that it is given as a share of
the best in the scene. Cosines differ from embedder to embedder: they come on the embedder's scale,
and once more by their place between the scene's median and its best. Counts and lengths come as
logarithms. So every number is between 0 and 1 (speakers apart: -1 to 1), in a vault of any size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import lru_cache, partial
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vaultmind.index import words as said
from vaultmind.index.columns import Columns, Flags, Floats, Ints
from vaultmind.index.embed import scale_of
from vaultmind.index.matching import WHOLE, Match
from vaultmind.index.models import FAMILIES, FEATURES, Model
from vaultmind.index.when import NamedTime
from vaultmind.index.words import detect, stems, words
from vaultmind.types import KINDS, Reason

SEEDS, MOST = 110, 220
"""The best of all lists that the scene is built around, and the candidates with their neighbours.
"""
COPIES = 5
"""Of what stands in many places word for word, that leave room for something else."""
BESIDE = (-2, -1, 1, 2)
"""Places in the file, from a candidate's own, of the columns of `Scene.beside`."""
EXACT = 0.99
"""Share of a query from which it is nothing but an identifier."""
FEEDBACK = 3
"""Candidates that say together what an answer may mean."""
LONG_LETTERS = 2_000
"""A text of so many letters or more has length 1."""
MANY_LINKS = 30
_ALONE = "_alone"
"""Ends the name of a feature that counts once more the less the query's words find."""
CLOSEST = 1.5
"""On the embedder's scale, what has closeness 1."""
SURE = 0.8
"""Share of the subject that the best candidate has, from which words are fully believed."""
LEAST_SPREAD = 0.05
"""Closeness between the median and the best that is taken for a difference."""
MOST_REASONS, LEAST_SHARE = 3, 0.08
"""Reasons that are told; one with a smaller share is none."""
_SAYS_LITTLE = ("kind", "written", "links")
"""Families that move a hit, but tell a reader nothing of why this one: told if nothing else is."""
_TINY = 1e-6
_BEFORE, _AFTER = BESIDE.index(-1), BESIDE.index(1)
_TWO_AWAY = [BESIDE.index(-2), BESIDE.index(2)]
_FACT = KINDS.index("fact")
_Column = NDArray[np.floating[Any]]


class Found(NamedTuple):
    """What the searches say to a query."""

    query: str
    match: Match
    near: Ints
    """The nearest in meaning, nearest first."""
    timely: Ints
    """What is of the time that the query names, `named`."""
    vector: Floats | None
    """The query's; None where nothing can be said about meaning."""
    named: NamedTime | None


class Scene:
    """Candidates and what is around them: rows, of which the first `count` are candidates.

    To be used while the columns are locked.
    """

    def __init__(self, columns: Columns, found: Found, mask: Flags, seeds: Ints) -> None:
        self.columns, self.found = columns, found
        own, self.slots, self.beside = _with_neighbours(columns, seeds, mask)
        self.count = len(own)
        match, rows = found.match, np.take(columns.rows, self.slots)
        self.known = columns.has_vector[self.slots]
        """Which rows have a vector."""
        places = np.where(rows["kind"] == _FACT, -1 - self.slots, rows["file"])
        self.place = np.unique(places, return_inverse=True)[1]
        """Number of each row's file among those of the scene; a fact is a file of its own, so that
        the other facts of a brain lend it none of their words."""
        names = list(columns.speakers)
        called = _called(found, {names[at] for at in rows["speaker"].tolist()})
        by_name = np.array([called.get(one, 0.0) for one in names], np.float32)
        self.speaker = by_name[rows["speaker"]]
        """Of each row: 1 if the query names who said it, -1 if it names somebody else here."""
        forms = {form for one in called if called[one] > 0 for form in _forms(one)}
        is_name = [not forms.isdisjoint((one.plain, *one.stems)) for one in match.wanted]
        self.weights = match.weights
        """Of the telling words: how rare each is here."""
        self.subject = self.weights * ~np.array(is_name, dtype=np.bool_)
        """The same without the names of those who speak."""
        self.held: Floats = np.asarray(match.text[:, self.slots].T / WHOLE, np.float32)
        """Share of each telling word that each row's text holds; rows by words."""
        self.titled = match.title[:, own].T.astype(np.float32)
        """The same of each candidate's title, headings and tags; candidates by words."""
        scores = np.where(mask[self.slots], match.scores[self.slots], np.float32(0.0))
        topic = bm25 = np.maximum(match.plain[self.slots], scores)
        if any(is_name):
            told = zip(match.wanted, is_name, strict=True)
            others = (one.stems for one, named in told if not named)
            topic = columns.bm25(chain.from_iterable(others))[self.slots]
        covered = covered_by(np.maximum(self.held[: self.count], self.titled), self.subject)
        self.covered = covered
        """Share of the subject that each candidate holds."""
        self.trust = np.float32(min(1.0, float(covered.max(initial=0.0)) / SURE))
        """BM25 counts as much as the best candidate matches the subject: where hardly a word of
        the query stands anywhere (it is in another language, or in other words) the best match is
        one by chance."""
        self.bm25, self.topic = _of_best(bm25) * self.trust, _of_best(topic) * self.trust
        """Of each row, as a share of the best; and without the names of those who speak."""
        self.is_named, self.exact = _named(columns, own, found)
        """Whether the name of each candidate's note stands in the query; and the share of the query
        that an identifier is which it has to the letter, 1 where the query is that name."""
        self.when = np.zeros(self.count, np.float32)
        """How near each candidate's own time (of messages, facts, daily notes) is to the one that
        the query names, 0 to 1; 0 if it names none."""
        if found.named:
            self.when[:] = [found.named.near(columns.times[slot]) for slot in own.tolist()]
        self.closeness: Floats | None = None
        """Each row's to the query on the embedder's scale, where 0 is unrelated and 1 says the same
        (it can be less or more); 0 of a row without a vector. None where there is no embedder."""
        if found.vector is not None and self.known.any():
            scale = scale_of(columns.embedder)
            self.vectors = columns.vectors(self.slots)
            closeness = (self.vectors @ found.vector - scale.nothing) / (scale.same - scale.nothing)
            self.closeness = np.where(self.known, closeness, np.float32(0.0))


def seeds_of(columns: Columns, found: Found) -> Ints:
    """Return the best of all lists, by turns, without too many copies of one text."""
    lists = (found.match.found.tolist(), found.near.tolist(), found.timely.tolist())
    seeds: dict[int, None] = {}
    copies: dict[bytes, int] = {}
    for slot in chain.from_iterable(zip_longest(*lists)):
        if slot is None or slot in seeds:
            continue
        key = columns.hashes[slot]
        copies[key] = copies.get(key, 0) + 1
        if copies[key] <= COPIES:
            seeds[slot] = None
        if len(seeds) == SEEDS:
            break
    return np.fromiter(seeds, dtype=np.int64, count=len(seeds))


def _with_neighbours(columns: Columns, seeds: Ints, mask: Flags) -> tuple[Ints, Ints, Ints]:
    """Return the candidates, all rows of the scene, and the row of each candidate's neighbours.

    Candidates are the seeds and what stands right beside them in the same file; the chunks near
    those are looked at for what they say about the one in their middle.
    """
    before, after = partial(columns.beside, "before"), partial(columns.beside, "after")
    beside_them = _without(seeds, np.append(before(seeds), after(seeds)), columns.count)
    own = np.concatenate([seeds, beside_them[mask[beside_them]]])[:MOST]
    first, last = before(own), after(own)
    near = np.stack([before(first), first, last, after(last)], axis=1)
    slots = np.append(own, _without(own, near, columns.count))
    row_of = np.full(columns.count + 1, -1)  # the last is that of -1
    row_of[slots] = np.arange(len(slots))
    return own, slots, row_of[near]


def _named(columns: Columns, own: Ints, found: Found) -> tuple[Flags, Floats]:
    """Return what `is_named` and `exact` of a scene hold."""
    asked, rows = f" {' '.join(words(found.query))} ", columns.rows[own]
    names = [columns.names[file] for file in rows["file"].tolist()]
    is_note = rows["kind"] == KINDS.index("note")
    stands = is_note & [bool(name.strip()) and name in asked for name in names]
    exact = [found.match.exact.get(slot, 0.0) for slot in own.tolist()]
    is_all = stands & [name == asked for name in names]
    return stands, np.maximum(is_all, np.array(exact, dtype=np.float32))


def _without(own: Ints, near: Ints, count: int) -> Ints:
    """Return in order the places of some chunks, each once, without others and without -1."""
    is_other = np.zeros(count + 1, dtype=np.bool_)  # the last is that of -1
    is_other[near], is_other[own] = True, False
    return np.flatnonzero(is_other[:-1])


def _called(found: Found, here: Set[str]) -> dict[str, float]:
    """Return for each speaker whether the query names them (1), or only somebody else (-1)."""
    asked = {*words(found.query), *(stem for one in found.match.wanted for stem in one.stems)}
    named = {one for one in here if not _forms(one).isdisjoint(asked)}
    return {one: (1.0 if one in named else -1.0 if named else 0.0) for one in here if one}


def _forms(name: str) -> set[str]:
    """Return the words of a name, and their stems."""
    return {form for word in words(name) for form in (word, *stems(word, "en"))}


# --- features -----------------------------------------------------------------------------


def features_of(scene: Scene) -> tuple[tuple[str, ...], Floats]:
    """Return the names of the features and a row of them a candidate, in FEATURES' order.

    Of meaning only where there are vectors.
    """
    written = dict(_written(scene))
    found = dict([*_of_words(scene), *written.items(), *_of_meaning(scene, written["foreign"])])
    for name in FEATURES:
        if name.endswith(_ALONE) and scene.closeness is not None:
            found[name] = found[name.removesuffix(_ALONE)] * (1 - scene.trust)
    names = tuple(name for name in FEATURES if name in found)
    return names, np.stack([found[name] for name in names], axis=1).astype(np.float32)


def _of_words(scene: Scene) -> Iterator[tuple[str, _Column]]:
    held, own, here = scene.held, scene.held[: scene.count], scene.place[: scene.count]
    for name, column in (("bm25", scene.bm25), ("topic", scene.topic)):
        yield name, column[: scene.count]
        yield f"{name}_rank", _by_rank(column[: scene.count]) * scene.trust
    yield "subject", scene.covered
    yield "coverage", covered_by(own, scene.weights)
    yield "exact", scene.exact
    yield "title", covered_by(scene.titled, scene.weights)
    padded = np.concatenate([held, np.zeros((1, held.shape[1]), np.float32)])
    window = np.maximum(scene.titled, padded[scene.beside].max(axis=1))
    window = np.maximum(window, own)
    yield "subject_around_two", covered_by(window, scene.subject)
    before = scene.beside[:, _BEFORE]
    asked = _taken(_flag(scene.columns.rows["flags"][scene.slots], said.HAS_QUESTION), before)
    yield "answers_topic", asked * _taken(scene.topic, before)
    told = np.concatenate([np.maximum(own, scene.titled), held[scene.count :]])
    yield "whole_subject", covered_by(_best_by(scene.place, told), scene.subject)[here]


def _written(scene: Scene) -> Iterator[tuple[str, _Column]]:
    columns, count = scene.columns, scene.count
    rows = np.take(columns.rows, scene.slots[:count])
    yield "speaker", scene.speaker[:count]
    yield "first_person", _flag(rows["flags"], said.FIRST_PERSON)
    yield "asks", _flag(rows["flags"], said.ENDS_ASKING)
    named, digits = (_flag(rows["flags"], bit) for bit in (said.NAMES_TIME, said.HAS_DIGITS))
    yield "says_time", np.maximum(named, digits / 2) * said.asks_when(scene.found.query)
    yield "when", scene.when
    kinds = {kind: rows["kind"] == at for at, kind in enumerate(KINDS)}
    length = np.minimum(1.0, np.log1p(rows["letters"]) / np.log1p(LONG_LETTERS))
    yield "length", np.where(kinds["message"], 0.0, length)
    yield "message_length", np.where(kinds["message"], length, 0.0)
    lang = detect(scene.found.query)
    none, asked = (columns.langs.get(one, -1) for one in ("", lang))
    is_foreign = (rows["lang"] != none) & (rows["lang"] != asked)
    yield "foreign", is_foreign * (1.0 if lang else 0.0)
    for kind in ("note", "message", "fact"):
        yield kind, kinds[kind] * 1.0
    links = np.log1p([columns.links[file] for file in rows["file"].tolist()])
    yield "links_out", np.minimum(1.0, links / np.log1p(MANY_LINKS))
    is_note = [not columns.is_code[file] for file in rows["file"].tolist()]
    yield "start", ((scene.beside[:, _BEFORE] < 0) & is_note) * 1.0


def _of_meaning(scene: Scene, foreign: _Column) -> Iterator[tuple[str, _Column]]:
    count, place, closeness = scene.count, scene.place, scene.closeness
    if closeness is None:
        return
    close = np.clip(closeness, 0.0, CLOSEST) / CLOSEST
    own = close[:count]
    yield "meaning", own
    ordered = np.sort(own)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / np.float32(2)
    spread = max(LEAST_SPREAD, float(ordered[-1] - middle))
    yield "meaning_rank", _by_rank(own)
    yield "meaning_of_best", np.clip((own - middle) / spread, 0.0, 1.0)
    near = _taken(close, scene.beside)
    yield "meaning_before", near[:, _BEFORE]
    yield "meaning_after", near[:, _AFTER]
    yield "meaning_two_away", near[:, _TWO_AWAY].max(axis=1)
    yield "meaning_whole_best", _best_by(place, close)[place[:count]]
    vectors = scene.vectors[:count]
    nearest = np.argsort(-closeness[:count], kind="stable")[:FEEDBACK]
    yield "meaning_feedback", np.clip(vectors @ vectors[nearest].mean(axis=0), 0.0, 1.0)
    yield "meaning_subject", own * scene.covered
    yield "meaning_foreign", own * foreign


def _of_best(values: Floats) -> Floats:
    """Return values as shares of the best."""
    return values / np.float32(max(_TINY, float(values.max(initial=0.0))))


def _by_rank(values: Floats) -> Floats:
    """Return 1 for the best, .63 for the second, .5 for the third ...; 0 where nothing matches."""
    order = np.argsort(-values, kind="stable")
    ranks = np.empty(len(values), np.float32)
    ranks[order] = 1.0 / np.log2(2.0 + np.arange(len(values)))
    return np.where(values > 0, ranks, np.float32(0.0))


def covered_by(held: Floats, weights: Floats) -> Floats:
    """Return the share of the words' weight that each row holds."""
    total = float(weights.sum())
    return held @ (weights / total) if total else np.zeros(len(held), np.float32)


def _best_by(place: Ints, values: Floats) -> Floats:
    """Return the best of the rows of each place."""
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    return np.maximum.reduceat(values[order], starts, axis=0)


def _taken(values: Floats, rows: Ints) -> Floats:
    """Return values by row, 0 for row -1."""
    return np.append(values, np.float32(0.0))[rows]


def _flag(flags: Ints, bit: int) -> Floats:
    return ((flags & bit) > 0).astype(np.float32)


# --- the model ----------------------------------------------------------------------------


def weights_of(model: Model, names: Sequence[str]) -> Floats:
    """Return a model's weights of some features; 0 of those that it does not know."""
    return np.array([model.features.get(name, 0.0) for name in names], np.float32)


def order_of(scores: Floats, exact: Floats, ties: Ints) -> Ints:
    """Return the rows of candidates, best first.

    What has the identifier that is the whole query, to the letter, comes before what has its parts.
    """
    return np.lexsort((ties, -scores, exact < EXACT))


def why(
    names: tuple[str, ...], weights: Floats, usual: Floats, features: Floats, row: int
) -> tuple[Reason, ...]:
    """Return the strongest reasons of a candidate, strongest first.

    A feature lifts a hit by its weight times how much more of it the hit has than the candidates
    have on average, `usual`; so what all have alike says nothing. Features of one family say the
    same to a person, and some take back what others give: they are told together.
    """
    families, member = _members(names)
    lifts = (((features[row] - usual) * weights) @ member).tolist()
    total = sum(lift for lift in lifts if lift > 0)
    told = [one for one in zip(lifts, families, strict=True) if one[0] > 0]
    kept = [one for one in told if one[0] / total >= LEAST_SHARE]
    kept = [one for one in kept if one[1] not in _SAYS_LITTLE] or kept
    shown = sorted(kept, key=lambda one: (-one[0], one[1]))[:MOST_REASONS]
    return tuple(Reason(FAMILIES[family][0], lift / total, family) for lift, family in shown)


@lru_cache(maxsize=8)
def _members(names: tuple[str, ...]) -> tuple[tuple[str, ...], Floats]:
    """Return the families of some features, and which feature is of which."""
    of = [FEATURES[name] for name in names]
    families = tuple(dict.fromkeys(of))
    return families, np.array([[one == family for family in families] for one in of], np.float32)
