"""Candidates: what search, names, links and history find for a task, each file once.

Features: what is known of each, as numbers from 0 to 1.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from vaultmind.errors import IndexUnavailable
from vaultmind.index.rank import covered_by
from vaultmind.index.words import BY_LANGUAGE, fold
from vaultmind.planner.graph import folder_of, stems_of
from vaultmind.planner.task import risk_of_path
from vaultmind.planner.types import FileRecord, Piece, PlanRequest, TaskKind, Understood
from vaultmind.types import Caller, Chunk, Reason
from vaultmind.vault.files import FileStat

if TYPE_CHECKING:
    from vaultmind.planner.source import Source

FOUND_CHUNKS, MOST_SPOTS = 200, 5
"""Chunks of a search that are looked at; and of them of one file."""
MOST_LIKE, MOST_COMMITS = 40, 60
"""Files by their names; commits by their words."""
SEEDS, MOST_EDGES = 8, 40
"""The strongest candidates, whose neighbours are looked at; and how many of each, one way."""
FADING = 0.6
"""What the next best chunk of a file adds, as a share of the one before."""
SURE = {
    "words": 1.0, "words_sum": 0.7, "path": 0.7, "definitions": 0.5, "named": 2.0, "defined": 1.0,
    "similar": 0.8, "affinity": 1.0, "meaning": 0.5,
}  # fmt: skip
"""What makes a candidate strong enough that its neighbours are looked at."""
TIES = ("coverage", "path", "definitions", "named", "defined", "affinity", "similar")
"""What leads from a task's words to a file. A share of BM25 does not: `of` would have one."""
NEAR = 0.15
"""How near in meaning a file is that no word of the task leads to."""
MOST_NEAR, SHARE = 3, 0.5
"""Files that are shown of a task of which no word is known, and how near they are at least beside
the nearest."""
LINKED = {"used": "used by", "user": "uses", "test": "tests", "tested": "tested by"}
"""What a signal of the links says of a strong candidate, before its name."""
BIG_TOKENS = 20_000
"""A file of so many tokens or more costs as much as any."""
HALF_LIFE_DAYS, SECONDS_A_DAY = 30.0, 86_400.0
"""Days after which a change is half as recent."""
HAS_TESTS = 0.3
"""Of the test proximity: a file that tests touch, though they are none of this task's."""
_ROLES = ("code", "test", "document", "data", "note")
_FITS: Mapping[TaskKind, tuple[float, ...]] = {
    "bugfix": (1.0, 0.8, 0.4, 0.4, 0.5),
    "feature": (1.0, 0.8, 0.6, 0.5, 0.5),
    "refactor": (1.0, 0.8, 0.3, 0.3, 0.5),
    "incident": (1.0, 0.4, 0.5, 0.8, 0.7),
    "research": (0.6, 0.4, 1.0, 0.5, 1.0),
    "writing": (0.5, 0.3, 1.0, 0.4, 1.0),
    "unknown": (0.8, 0.7, 0.8, 0.6, 0.8),
}
"""How well each role of a file goes with a kind of task: which layers such a task is asked of."""
_RISKS = {"low": 0.2, "medium": 0.6, "high": 1.0}
_STRUCTURAL = ("path", "definitions", "named", "defined", "used", "user", "tested")
_SCOPE = re.compile(r"\s*([\w./\\-]{2,60})(?:\(([^)\n]{1,60})\))?!?:\s")


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file that speaks for it: offsets as a chunk has them."""

    start: int
    end: int
    part: str
    """The anchor of a note's section or the name of a definition; empty at the top."""
    score: float
    """From 0 to 1, among the spots of one plan."""


class Form(NamedTuple):
    """One way to show a file: its pieces, what they cost, how much of its worth they have."""

    pieces: tuple[Piece, ...]
    tokens: int
    gain: float


@dataclass(slots=True, eq=False)
class Candidate:
    """A file on its way into a plan: found, measured, read. Each stage fills in what it knows."""

    path: str
    """Relative to the source."""
    signals: dict[str, float] = field(default_factory=dict)
    """What was measured, by the name of the signal or feature; most from 0 to 1."""
    spots: tuple[Spot, ...] = ()
    because: dict[str, None] = field(default_factory=dict)
    """In words, what found it: `used by src/auth.py`."""
    parts: tuple[str, ...] = ()
    """Definitions or headings that such work told to have changed."""
    score: float = 0.0
    reasons: tuple[Reason, ...] = ()
    relevance: float = 1.0
    confidence: float = 1.0
    text: str = ""
    """As it was read for the plan, without private passages and keys; offsets as on disk."""
    stat: FileStat | None = None
    record: FileRecord | None = None
    """What is known of it, if that is of these very bytes."""
    forms: tuple[Form, ...] = ()
    """The shortest first."""

    def is_told(self, names: Iterable[str], least: float = 0.0) -> bool:
        """Tell whether any of some signals speaks for it."""
        return any(self.signals.get(name, 0.0) > least for name in names)


@dataclass(frozen=True, slots=True)
class Asked:
    """All that candidates are looked for with."""

    request: PlanRequest
    understood: Understood
    source: Source
    caller: Caller
    now: datetime
    recalled: Sequence[Candidate] = ()
    """Files that earlier work on such tasks read or changed."""

    @property
    def said(self) -> str:
        """The task without the words that say nothing of its subject."""
        return said_of(self.request.task, self.understood.language)


def said_of(task: str, language: str) -> str:
    """Return a task without the small words of its language; the task where nothing would be left.

    A word in an identifier or path stays.
    """
    small = frozenset() if language in ("en", "") else frozenset(BY_LANGUAGE.get(language, ()))
    said = " ".join(it for it in task.split(" ") if fold(it.strip(",.:;!?()\"'„”«»")) not in small)
    return said if re.search(r"[^\W_]", said) else task


# --- finding ------------------------------------------------------------------------------


def candidates(asked: Asked) -> dict[str, Candidate]:
    """Return the files that may belong to a task, none of which is hidden from the caller."""
    source, pool = asked.source, _searched(asked)
    graph, past, understood = source.graph, source.history.past, asked.understood
    outlet, task = source.index.outlet, asked.said

    def add(signal: str, found: Mapping[str, float], *because: str) -> None:
        for path, value in found.items():
            one = pool.setdefault(path, Candidate(path))
            one.signals[signal] = max(one.signals.get(signal, value), value)
            one.because |= dict.fromkeys(because)

    def keep(is_kept: Callable[[Candidate], bool]) -> None:
        for path in [path for path, one in pool.items() if not is_kept(one)]:
            del pool[path]

    shows = cache(lambda path: source.shows(path) and outlet.shows(path, asked.caller))

    def is_there(one: Candidate) -> bool:
        return bool(source.record(one.path) or one.spots) and shows(one.path)

    called, defining = source.names
    add("path", called.like(task, MOST_LIKE))
    add("definitions", defining.like(task, MOST_LIKE))
    add("named", graph.named(understood.paths))
    add("defined", graph.defined(understood.identifiers))
    add("similar", past.similar(task, MOST_COMMITS))
    for one in asked.recalled:
        for signal, value in one.signals.items():
            add(signal, {one.path: value}, *one.because)
        pool[one.path].parts = one.parts
    keep(is_there)
    tied = [one for one in pool.values() if one.is_told(TIES) or one.is_told(["meaning"], NEAR)]
    if not any(one.is_told(TIES) for one in tied):  # any two texts are somewhat near each other
        tied.sort(key=lambda one: (-one.signals["meaning"], one.path))
        least = SHARE * tied[0].signals["meaning"] if tied else 0.0
        return {it.path: it for it in tied[:MOST_NEAR] if it.signals["meaning"] >= least}
    seeds = seeds_of(tied)
    for signal, found, because in _around(asked, seeds):
        add(signal, found, because)
    add("beside", _beside(graph.folders, pool, seeds))
    leads = (*LINKED, *(["beside"] if graph.stuff == "code" else []))
    near = {one.path for one in tied}
    keep(lambda one: (one.path in near or one.is_told(leads)) and is_there(one))
    return pool


def seeds_of(found: Iterable[Candidate]) -> dict[str, float]:
    """Return the strongest candidates with a weight, the best 1."""
    strength = {
        one.path: sum(share * one.signals.get(name, 0.0) for name, share in SURE.items())
        for one in found
    }
    ranked = sorted(strength.items(), key=lambda one: (-one[1], one[0]))[:SEEDS]
    return {path: value / ranked[0][1] for path, value in ranked if ranked[0][1]}


def missing_of(asked: Asked) -> tuple[str, ...]:
    """Return the files that a task names and that are not there, as far as the caller may know.

    One outside of the source is none of its own: tracebacks are full of them.
    """
    graph, outlet = asked.source.graph, asked.source.index.outlet
    return tuple(
        path
        for path in asked.understood.paths
        if (path.startswith(f"{asked.source.root}/") or not path.startswith(("/", "~")))
        and "." in path.rpartition("/")[2]
        and not any(outlet.shows(one, asked.caller) for one in graph.named((path,)))
    )


def _searched(asked: Asked) -> dict[str, Candidate]:
    """Return the files of the best chunks: their best, and how much there is beside it.

    None while the index cannot be read: its state says so in the plan's notes.
    """
    try:
        seen = asked.source.index.raw.seen(asked.said, asked.caller, FOUND_CHUNKS)
    except IndexUnavailable:
        return {}
    by_file: defaultdict[str, dict[int, Chunk]] = defaultdict(dict)
    for row, chunk in zip(seen.rows, seen.chunks, strict=True) if seen else ():
        if chunk.kind != "message":  # what was said in passing is asked for by a search
            by_file[chunk.path][row] = chunk
    if seen is None or not by_file:
        return {}
    answers = seen.found
    shares = answers.bm25 / (answers.bm25.max() or 1.0)
    covered = covered_by(answers.held, answers.weights)
    scores = ((shares + answers.meaning + covered) / 3).tolist()
    words, meaning, ranks = shares.tolist(), answers.meaning.tolist(), answers.ranks.tolist()
    of_files = [ranks[row] for each in by_file.values() for row in each]
    low, width = min(of_files), (max(of_files) - min(of_files)) or 1.0

    def faded(rows: Iterable[int]) -> float:
        """Return a sum of its words' shares in which each next best counts less."""
        best = sorted((words[row] for row in rows), reverse=True)[:MOST_SPOTS]
        return math.fsum(value * FADING**at for at, value in enumerate(best))

    most = max(map(faded, by_file.values())) or 1.0
    found = {}
    for path, each in by_file.items():
        together = answers.held[[*each]].max(axis=0, keepdims=True)
        signals = {
            "words": max(words[row] for row in each),
            "words_sum": faded(each) / most,
            "coverage": float(covered_by(together, answers.weights)[0]),
            "meaning": max(meaning[row] for row in each),
            "rank": (max(ranks[row] for row in each) - low) / width,
        }
        spots = tuple(
            Spot(chunk.start, chunk.end, chunk.anchor, scores[row])
            for row, chunk in islice(each.items(), MOST_SPOTS)
        )
        found[path] = Candidate(path, signals, spots)
    return found


def _around(
    asked: Asked, seeds: Mapping[str, float]
) -> Iterator[tuple[str, dict[str, float], str]]:
    """Yield what strong candidates lead to, what leads to them, and their tests."""
    graph = asked.source.graph
    for seed, weight in seeds.items():
        around = {
            "used": dict.fromkeys(path for kind, path in graph.out(seed) if kind != "tests"),
            "user": dict.fromkeys(path for kind, path in graph.into(seed) if kind != "tests"),
            "test": graph.tests_of(seed),
            "tested": [path for kind, path in graph.out(seed) if kind == "tests"],
        }
        for signal, paths in around.items():
            share = weight / (1.0 + math.log1p(min(len(paths), MOST_EDGES)))
            yield signal, dict.fromkeys([*paths][:MOST_EDGES], share), f"{LINKED[signal]} {seed}"


def _beside(
    folders: Mapping[str, set[str]], pool: Iterable[str], seeds: Mapping[str, float]
) -> dict[str, float]:
    """Return what lies in the folders of the strongest candidates, the smaller the more."""
    weights, found = defaultdict[str, float](float), dict[str, float]()
    for seed, weight in seeds.items():
        weights[folder_of(seed)] += weight
    for folder, weight in weights.items():
        inside = folders.get(folder, set())
        share = weight / math.fsum(weights.values()) / (1.0 + math.log1p(len(inside)) / 4)
        here = {path for path in pool if folder_of(path) == folder}
        here |= inside if len(inside) <= MOST_EDGES else set()
        found |= dict.fromkeys(here, share)
    return found


# --- features ---------------------------------------------------------------------------


def scope_of(task: str) -> frozenset[str]:
    """Return the words of the place that a task names before a colon; of `a/b.py: …` all parts."""
    if (found := _SCOPE.match(task)) is None:
        return frozenset()
    return frozenset(stems_of(found[2] or found[1]))


def _role(path: str, record: FileRecord | None) -> str:
    """Return what a file is to a task: one of `_ROLES`."""
    if record is None or record.shape == "note":
        return "note" if path.endswith((".md", ".canvas")) else "data"
    kinds = {"code": "code", "text": "document"}
    return "test" if record.test else kinds.get(record.shape, "data")


def features_of(
    one: Candidate, asked: Asked, scope: frozenset[str], age_days: float = math.inf
) -> dict[str, float]:
    """Return all features of a candidate by name. `scope`: see `scope_of`."""
    source, understood, signals = asked.source, asked.understood, one.signals
    record = source.record(one.path)
    role = _role(one.path, record)
    told = max((signals.get(name, 0.0) for name in _STRUCTURAL), default=0.0)
    near = max(signals.get("test", 0.0), signals.get("tested", 0.0))
    if role == "code" and any(kind == "tests" for kind, _ in source.graph.into(one.path)):
        near = max(near, HAS_TESTS)
    cost = math.log1p(record.tokens if record else 0) / math.log1p(BIG_TOKENS)
    fit = _FITS[understood.predicted][_ROLES.index(role)]
    return {
        **signals,
        "f_structural_relevance": fit * (0.4 + 0.6 * min(1.0, told)),
        "f_semantic_score": signals.get("meaning", 0.0),
        "f_affinity_score": min(1.0, signals.get("affinity", 0.0)),
        "f_recency_score": 0.5 ** (max(0.0, age_days) / HALF_LIFE_DAYS),
        "f_risk_score": risk_of_path(one.path) * _RISKS[understood.risk],
        "f_test_proximity": min(1.0, near),
        "f_token_cost": min(1.0, cost),
        "scope": len(scope & stems_of(one.path).keys()) / len(scope) if scope else 0.0,
        "is_test": float(role == "test"),
    }


def measured(asked: Asked) -> list[Candidate]:
    """Return every candidate with its features. Ages are whole days: a plan lasts a day."""
    with asked.source.lock:
        pool = candidates(asked)
        scope, now = scope_of(asked.request.task), asked.now.timestamp()
        for path, one in pool.items():
            age = (now - asked.source.changed_at(path)) // SECONDS_A_DAY
            one.signals = features_of(one, asked, scope, age)
        return [*pool.values()]
