"""Candidates: what search, names, links and history find for a task, each file once."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from vaultmind.errors import IndexUnavailable
from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.index.words.terms import fold
from vaultmind.planner.names import Known
from vaultmind.planner.types import PlanRequest, Understood
from vaultmind.planner.words import stems_of
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.index.outlet import Shown
    from vaultmind.index.raw import Strong
    from vaultmind.planner.graph import Graph
    from vaultmind.planner.sources import Source


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file that speaks for it: offsets as a chunk has them."""

    start: int
    end: int
    part: str
    """The anchor of a note's section or the name of a definition; empty at the top."""
    score: float
    """From 0 to 1, among the spots of one plan."""
    text: str = ""
    """What may be shown of it, where that is not what the file says there: of an agent's memory."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file and its signals. Paths are relative to the source."""

    path: str
    signals: Mapping[str, float] = field(default_factory=dict)
    """What was measured, by the name of the signal (`candidates.SIGNALS`); most from 0 to 1."""
    spots: tuple[Spot, ...] = ()
    because: tuple[str, ...] = ()
    """In words, what found it: `linked from src/auth.py`."""
    causal: float = 0.0
    """How sure it is that earlier work of this kind changed it, from 0 to 1."""
    parts: tuple[str, ...] = ()
    """Definitions or headings that such work told to have changed."""


class Pool:
    """Collects what speaks for files, each file once."""

    def __init__(self) -> None:
        self._signals: dict[str, dict[str, float]] = {}
        self._spots: dict[str, tuple[Spot, ...]] = {}
        self._because: dict[str, dict[str, None]] = {}
        self._causal: dict[str, float] = {}
        self._parts: dict[str, tuple[str, ...]] = {}

    def add(self, path: str, signal: str, value: float, because: str = "") -> None:
        """Add a signal of a file; of two with one name the stronger counts."""
        known = self._signals.setdefault(path, {})
        known[signal] = max(known.get(signal, value), value)
        if because:
            self._because.setdefault(path, {})[because] = None

    def take(self, one: Candidate) -> None:
        """Add a whole candidate."""
        for name, value in one.signals.items():
            self.add(one.path, name, value)
        if one.spots:
            self._spots[one.path] = tuple(
                dict.fromkeys((*self._spots.get(one.path, ()), *one.spots))
            )
        for words in one.because:
            self._because.setdefault(one.path, {})[words] = None
        self._causal[one.path] = max(self._causal.get(one.path, 0.0), one.causal)
        if one.parts:
            known = self._parts.get(one.path, ())
            self._parts[one.path] = tuple(dict.fromkeys((*known, *one.parts)))

    def signals(self) -> Mapping[str, Mapping[str, float]]:
        """Return the signals of each file."""
        return self._signals

    def has_spots(self, path: str) -> bool:
        """Tell whether a place in a file was found."""
        return path in self._spots

    def drop(self, path: str) -> None:
        """Forget a file."""
        for table in (self._signals, self._spots, self._because, self._causal, self._parts):
            table.pop(path, None)

    def candidates(self) -> dict[str, Candidate]:
        """Return the candidates by path."""
        return {
            path: Candidate(
                path,
                signals,
                self._spots.get(path, ()),
                tuple(self._because.get(path, ())),
                self._causal.get(path, 0.0),
                self._parts.get(path, ()),
            )
            for path, signals in self._signals.items()
        }


_ASKING = """
    write prepare draft describe explain summarize summarise tell give help please
    napisz przygotuj opisz wyjasnij podsumuj streszcz opracuj sporzadz pomoz prosze
    напиши подготовь опиши объясни составь резюмируи помоги пожалуиста"""
ASKING = frozenset(_ASKING.split())
"""Folded words with which a task asks for a text. Of code some are names, of notes none is."""
_WORD = re.compile(r"[^\W_]+")
_STEADY = ("en", "")
"""Languages whose small words are left out wherever words are counted."""


def said_of(task: str, language: str, stuff: Literal["code", "notes"]) -> str:
    """Return a task without the small words of its language, and over notes without what asks.

    The task itself where nothing would be left. A word in an identifier or path stays.
    """
    small = frozenset() if language in _STEADY else frozenset(BY_LANGUAGE.get(language, ()))
    asking = ASKING if stuff == "notes" else frozenset()
    if not (small or asking):
        return task
    kept, begins = [], True
    for one in task.split(" "):
        word = fold(one.strip(",.:;!?()\"'„”«»"))
        idle = word in small or (begins and word in asking)
        if not idle:
            kept.append(one)
        begins = (idle and begins) or one.endswith((".", "!", "?", "\n"))
    said = " ".join(kept)
    return said if _WORD.search(said) else task


FOUND_CHUNKS = 200
"""Chunks of a search that are looked at."""
MOST_SPOTS = 5
"""Of a file."""
MOST_LIKE, MOST_COMMITS = 40, 60
"""Files by their names; commits by their words, or of one file."""
SEEDS = 8
"""Of the strongest candidates, whose neighbours are looked at."""
MOST_EDGES = 40
"""Of a file, one way: what half the source imports says nothing."""
FADING = 0.6
"""What the next best chunk of a file adds, as a share of the one before."""
SURE = {"words": 1.0, "words_sum": 0.7, "path": 0.7, "definitions": 0.5, "named": 2.0}
SURE |= {"defined": 1.0, "similar": 0.8, "affinity": 1.0, "meaning": 0.5}
"""What makes a candidate strong enough that its neighbours are looked at."""
TIES = ("coverage", "path", "definitions", "named", "defined", "place", "similar", "told")
"""What leads from a task's words to a file. A share of BM25 does not: `of` would have one."""
_TIED = frozenset((*TIES, "affinity"))
NEAR = 0.15
"""How near in meaning a file is that no word of the task leads to."""
MOST_NEAR, SHARE = 3, 0.5
"""Files that are shown of a task of which no word is known, and how near they are at least beside
the nearest."""

LINKED = {"used": "used by", "user": "uses", "test": "tests", "tested": "tested by"}
"""What a signal of the links says of a strong candidate, before its name."""
_LEADS = frozenset((*LINKED, "beside", "together"))


@dataclass(frozen=True, slots=True)
class Asked:
    """All that candidates are looked for with."""

    request: PlanRequest
    understood: Understood
    source: Source
    caller: Caller
    now: datetime
    known: Known
    recalled: Sequence[Candidate] = ()
    """Files that earlier work on such tasks read or changed."""

    @property
    def said(self) -> str:
        """The task without the words that say nothing of its subject."""
        return said_of(self.request.task, self.understood.language, self.known.names.stuff)


def candidates(asked: Asked) -> dict[str, Candidate]:
    """Return the files that may belong to a task, none of which is hidden from the caller."""
    pool = Pool()
    shows = asked.source.index.outlet.shown_to(asked.caller)
    _search(asked, pool, shows)
    _look_up_names(asked, pool)
    _look_back(asked, pool)
    for one in asked.recalled:
        pool.take(one)
    _keep_shown(asked, pool, shows)
    tied = {path: one for path, one in pool.signals().items() if is_tied(one)}
    if not any(is_said(one) for one in tied.values()):
        return _by_meaning(pool)
    seeds = seeds_of(tied)
    _look_around(asked, pool, seeds)
    _look_beside(asked, pool, seeds)
    for path, value in asked.known.past.together(seeds, MOST_COMMITS).items():
        pool.add(path, "together", value)
    _keep_shown(asked, pool, shows)
    leads = _LEADS - {"beside"} if asked.known.names.stuff == "notes" else _LEADS
    for path in [
        path for path, one in pool.signals().items() if not (is_tied(one) or _led(one, leads))
    ]:
        pool.drop(path)
    rates = asked.known.past.rates
    for path in pool.signals():
        pool.add(path, "frequent", rates.get(path, 0.0))
    return pool.candidates()


def seeds_of(pool: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the strongest candidates with a weight, the best 1."""
    strength = {
        path: sum(share * signals.get(name, 0.0) for name, share in SURE.items())
        for path, signals in pool.items()
    }
    ranked = sorted(strength.items(), key=lambda one: (-one[1], one[0]))[:SEEDS]
    best = ranked[0][1] if ranked else 0.0
    return {path: value / best for path, value in ranked if best}


def is_tied(signals: Mapping[str, float]) -> bool:
    """Tell whether anything of the task itself speaks for a file: no other may be worth much."""
    if signals.get("meaning", 0.0) >= NEAR:
        return True
    return is_said(signals)


def is_said(signals: Mapping[str, float]) -> bool:
    """Tell whether a word of the task, or earlier work, leads to a file: not meaning alone."""
    return not _TIED.isdisjoint(signals) and any(signals.get(name, 0.0) > 0 for name in _TIED)


def missing_of(asked: Asked) -> tuple[str, ...]:
    """Return the paths that a task names and that are not there, as far as the caller may know.

    One outside of the source is none of its own: tracebacks are full of them.
    """
    names, outlet = asked.known.names, asked.source.index.outlet
    root = f"{asked.source.root}/"
    return tuple(
        path
        for path in asked.understood.entities.paths
        if (path.startswith(root) or not path.startswith(("/", "~")))
        and not any(outlet.shows(one, asked.caller) for one in names.at(path))
    )


def _by_meaning(pool: Pool) -> dict[str, Candidate]:
    """Return the few files that are near a task of which no word is known: nothing beside them.

    Any two texts are somewhat near each other, letters without a meaning as well.
    """
    near = {path: one.get("meaning", 0.0) for path, one in pool.signals().items()}
    best = max(near.values(), default=0.0)
    kept = sorted((path for path in near if near[path] >= max(NEAR, SHARE * best)),
                  key=lambda path: (-near[path], path))[:MOST_NEAR]  # fmt: skip
    for path in near.keys() - set(kept):
        pool.drop(path)
    return pool.candidates()


def _led(signals: Mapping[str, float], leads: frozenset[str]) -> bool:
    """Tell whether a strong candidate leads to a file: of notes, no folder does."""
    return any(signals.get(name, 0.0) > 0 for name in leads)


def _keep_shown(asked: Asked, pool: Pool, shows: Shown) -> None:
    """Drop what the caller may not see and what is there no longer."""
    structure = asked.source.structure
    for path in [*pool.signals()]:
        known = structure is not None and structure.record(path) is not None
        if not ((known or pool.has_spots(path)) and shows.shows(path)):
            pool.drop(path)


def _search(asked: Asked, pool: Pool, shows: Shown) -> None:
    """Add the files of the best chunks: their best, and how much there is beside it.

    None while the index cannot be read: its state says so in the plan's notes.
    """
    try:
        raw = asked.source.index.raw
        told = raw.strongest(asked.said, asked.caller, FOUND_CHUNKS, shows)
    except IndexUnavailable:
        return
    strong = told.strong
    by_file: dict[str, list[Strong]] = {}
    for one in strong:
        by_file.setdefault(one.chunk.path, []).append(one)
    most = max((_faded([c.words for c in each]) for each in by_file.values()), default=0.0) or 1.0
    ranks = [one.rank for one in strong]
    low = min(ranks, default=0.0)
    width = (max(ranks, default=0.0) - low) or 1.0
    for path, each in by_file.items():
        signals = {
            "words": max(one.words for one in each),
            "words_sum": _faded([one.words for one in each]) / most,
            "coverage": _covered(each, told.weights),
            "meaning": max(one.meaning for one in each),
            "rank": max((one.rank - low) / width for one in each),
        }
        spots = tuple(_spot_of(one, told.weights) for one in each[:MOST_SPOTS])
        pool.take(Candidate(path, signals, spots))


def _covered(each: Sequence[Strong], weights: Sequence[float]) -> float:
    """Return the share of the telling words that a file's chunks hold together."""
    total = math.fsum(weights)
    if not total:
        return 0.0
    held = (max(shares) for shares in zip(*(one.held for one in each if one.held), strict=False))
    return math.fsum(weight * share for weight, share in zip(weights, held, strict=False)) / total


def _spot_of(one: Strong, weights: Sequence[float]) -> Spot:
    chunk = one.chunk
    held = math.fsum(weight * share for weight, share in zip(weights, one.held, strict=False))
    score = (one.words + one.meaning + held / (math.fsum(weights) or 1.0)) / 3
    text = "" if chunk.kind == "note" else chunk.text
    return Spot(chunk.start, chunk.end, chunk.anchor, score, text)


def _look_up_names(asked: Asked, pool: Pool) -> None:
    """Add the files that are called what the task says, or define it."""
    names, entities, task = asked.known.names, asked.understood.entities, asked.said
    found: dict[str, dict[str, float]] = {
        "path": names.like_path(task, MOST_LIKE),
        "definitions": names.like_definitions(task, MOST_LIKE),
        "named": names.named(entities.paths),
        "defined": names.defined(entities.identifiers),
        "place": names.near(missing_of(asked)),
    }
    for signal, each in found.items():
        for path, value in each.items():
            pool.add(path, signal, value)
    told = frozenset(stems_of(task))
    for path in pool.signals():
        pool.add(path, "whole_name", names.whole(path, told))


def _look_back(asked: Asked, pool: Pool) -> None:
    """Add the files that commits with the task's words changed."""
    past = asked.known.past
    for path, value in past.similar(asked.said, MOST_COMMITS).items():
        pool.add(path, "similar", value)
    for path, value in past.told(asked.said, MOST_COMMITS).items():
        pool.add(path, "told", value)


def _look_around(asked: Asked, pool: Pool, seeds: Mapping[str, float]) -> None:
    """Add what the strongest candidates lead to, what leads to them, and their tests."""
    structure = asked.source.structure
    if structure is None:
        return
    graph = structure.graph
    for seed, weight in seeds.items():
        for signal, paths in _around(graph, seed).items():
            share = weight / (1.0 + math.log1p(len(paths)))
            for path in paths:
                pool.add(path, signal, share, f"{LINKED[signal]} {seed}")


def _look_beside(asked: Asked, pool: Pool, seeds: Mapping[str, float]) -> None:
    """Add what lies in the folders of the strongest candidates, the smaller the folder the more."""
    weights: dict[str, float] = {}
    for seed, weight in seeds.items():
        folder = seed.rpartition("/")[0]
        weights[folder] = weights.get(folder, 0.0) + weight
    whole = math.fsum(weights.values()) or 1.0
    for folder, weight in weights.items():
        inside = asked.known.names.folders.get(folder, frozenset())
        share = weight / whole / (1.0 + math.log1p(len(inside)) / 4)
        here = inside if len(inside) <= MOST_EDGES else ()
        for path in here:
            pool.add(path, "beside", share)
    for path in pool.signals():
        folder = path.rpartition("/")[0]
        if folder in weights:
            size = len(asked.known.names.folders.get(folder, ()))
            pool.add(path, "beside", weights[folder] / whole / (1.0 + math.log1p(size) / 4))


def _around(graph: Graph, path: str) -> dict[str, Sequence[str]]:
    out = dict.fromkeys(edge.target for edge in graph.out(path) if edge.kind != "tests")
    into = dict.fromkeys(edge.source for edge in graph.into(path) if edge.kind != "tests")
    return {
        "used": [*out][:MOST_EDGES],
        "user": [*into][:MOST_EDGES],
        "test": graph.tests_of(path)[:MOST_EDGES],
        "tested": graph.tested_by(path)[:MOST_EDGES],
    }


def _faded(values: Sequence[float]) -> float:
    """Return a sum in which each next best counts less."""
    ranked = sorted(values, reverse=True)[:MOST_SPOTS]
    return math.fsum(value * FADING**at for at, value in enumerate(ranked))
