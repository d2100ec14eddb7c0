"""Search: what a query finds by words, meaning and time, ranked, measured, and checked on disk.

The order of hits comes from the ranker, which says nothing about whether any of them is good. The
score of a hit does: the share of the query's telling words that it holds, the rare ones counting
most, and its closeness in meaning on the embedder's scale; each fills a part of what the other
leaves open. 0.8 answers nearly all of the query, 0.5 a good half, 0.25 hardly more than chance.
The numbers come from `benchmarks/relevance.py`; docs/benchmarks.md has the trade-off.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from vaultmind.errors import VaultMindError
from vaultmind.index import rank
from vaultmind.index.asking import IDLE_WORDS, NamedTime, named_time
from vaultmind.index.columns import Columns, Floats
from vaultmind.index.db import Database, changed_on_disk, chunks_beside, chunks_of
from vaultmind.index.embed import STRONG, scale_of
from vaultmind.index.matching import Matcher
from vaultmind.index.models import Model, Registry, Stamp, registry_of, stamp_of
from vaultmind.index.outlet import Outlet, Shown
from vaultmind.index.results import Answered, Ranked, answer
from vaultmind.index.where import Where, where_of
from vaultmind.index.words.language import detect
from vaultmind.index.words.terms import shortened, words
from vaultmind.ports import Clock, FileIndexer, Nearest
from vaultmind.types import Caller, Chunk, IndexState, SearchRequest, SearchResponse

DEPTH = 200
"""Candidates of each list."""
TIMELY_DEPTH = 100
"""Of what is of the time that a query names, the latest."""
MAX_QUERY_LANGUAGE = 400
"""Characters of a query that its language is told by."""
ROUNDS, PATIENCE = 3, 0.3
"""Searches again when hits turn out to be out of date; seconds that each waits while other files
are indexed."""
LOOKED_AT, NEAREST = 24, 3
"""Candidates of which the best says how good a hit must be, whatever page is asked for: the first,
and those nearest in meaning wherever they stand."""
CHANCE, CHANCE_BY_WORDS = 0.25, 0.2
"""Where no hit scores more, nothing was found; the second where there is no embedder."""
LEAST = 0.1
"""What a hit of a weak answer scores at least ..."""
SHARE_OF_BEST = 0.3
"""... and beside strong ones at least this much of the best."""
IN_TIME = 0.6
"""Score, at least, of what is of the time that is named where nothing else is asked for."""
TIME_SHARE = 0.4
"""How much of a question it answers to be of the time that it names."""
OUT_OF_TIME = 0.7
"""Share of what its other words answer that a hit of another time is worth."""
LOOKED_INTO = 150
"""Chunks, the best, of which it is told which words they hold."""
_PAGE = 24
_BEHIND_ALL = "9999-12-31"
WEAK = "Only weak matches: they share little with the question and may not answer it."
ELSEWHERE = "Nothing of that time answers the question: these are of other times, too."


class Candidates:
    """What a query finds, best first: a row a candidate."""

    def __init__(
        self, scene: rank.Scene, model: Model, telling: Sequence[bool], *, listing: bool
    ) -> None:
        """Take which words do not only say when; `listing`: there are none of them."""
        match, told = scene.found.match, rank.features_of(scene)
        ranks, features = rank.scored(model, told)
        rowids = scene.columns.rows["rowid"][scene.slots[: scene.count]]
        order = rank.order_of(ranks, scene.exact, rowids)
        slots = scene.slots[order]
        self.model = model
        self.rowids: list[int] = rowids[order].tolist()
        self.ranks, self.features = ranks[order], features[order]
        """The ranker's scores, and what they are made of; those of two queries do not compare."""
        self.told = {name: column[order] for name, column in told.items()}
        """Each feature, by name."""
        self.bm25 = match.scores[slots]
        self.closeness: Floats = np.full(len(order), np.nan, dtype=np.float32)
        """In meaning, on the embedder's scale: 0 unrelated, 1 says the same; NaN without."""
        if scene.closeness is not None:
            self.closeness = np.where(scene.known[order], scene.closeness[order], self.closeness)
        self.when = scene.when[order]
        """How near each is to the time that the query names."""
        self.embedder = scene.columns.embedder if scene.found.vector is not None else ""
        """The id of that by which meaning was looked for; empty for none."""
        self.held = match.held(slots[:LOOKED_INTO]).T
        """Share of each telling word that each of the first holds; rows by words."""
        self.weights = scene.weights
        """What each telling word says."""
        self.covered = match.covered(slots, [True] * len(telling))
        """Share of the query that each answers by its words: those that only say when are answered
        by whatever is of that time."""
        meaning = np.clip(np.nan_to_num(self.closeness), 0.0, 1.0)
        self.outside = False
        """Whether the query names a time for certain, and nothing that was found is of it."""
        if named := scene.found.named:
            timeless = match.covered(slots, telling)
            of_it = self.when * (TIME_SHARE + (1.0 - TIME_SHARE) * timeless)
            covered = np.maximum(self.covered, np.maximum(of_it, OUT_OF_TIME * timeless))
            self.covered = np.maximum(covered, IN_TIME) if listing else covered
            self.outside = named.explicit and not (self.when >= named.inside).any()
        self.scores = (1.0 - (1.0 - self.covered) * (1.0 - meaning)).astype(np.float32)
        """How much of the query each answers, by its words and its meaning."""


class Finder:
    """Looks in the columns and ranks what it finds. Any thread."""

    def __init__(
        self,
        columns: Columns,
        nearest: Nearest,
        embedder: Callable[[], str],
        memory_folder: Path,
        clock: Clock,
    ) -> None:
        """Take as `embedder` what returns the id of the one in use, empty for none."""
        self.columns = columns
        self._matcher = Matcher(columns)
        self.nearest = nearest
        self._embedder = embedder
        self._folder = memory_folder
        self._clock = clock
        self._lock = threading.Lock()
        self._registry: tuple[Stamp | None, Registry] = (None, Registry())

    def warm(self) -> None:
        """Load what the first search would have to wait for."""
        self.columns.follow()
        self._named("what did we talk about yesterday, and what is to be done next week?")

    def registry(self) -> Registry:
        """Return the models at hand; the vault's own are read again when their files change."""
        stamp = stamp_of(self._folder)
        with self._lock:
            if self._registry[0] != stamp:
                self._registry = (stamp, registry_of(self._folder))
            return self._registry[1]

    def find(self, query: str, where: Where) -> Candidates | None:
        """Return what a query finds; None where that is nothing."""
        vector, named, columns = self.vector(query), self._named(query), self.columns
        columns.follow()
        with columns.lock:
            mask = columns.mask(where)
            match = self._matcher.match(query, mask, DEPTH)
            idle = IDLE_WORDS | (named.words if named else frozenset())
            telling = [not (one.words and idle.issuperset(one.words)) for one in match.wanted]
            near = timely = match.found[:0]
            inside = _inside(where, named)
            if inside:
                timely = columns.latest(inside, TIMELY_DEPTH)
            listing = len(timely) > 0 and not any(telling)
            if listing and inside:
                mask, match = columns.mask(inside), replace(match, found=match.found[:0])
            elif vector is not None:
                near = columns.nearest(vector, mask, DEPTH)
            found = rank.Found(query, match, near, timely, vector, named)
            if not len(seeds := rank.seeds_of(columns, found)):
                return None
            scene = rank.Scene(columns, self._matcher, found, mask, seeds)
            model = self.registry().choose(columns.embedder if scene.closeness is not None else "")
            return Candidates(scene, model, telling, listing=listing)

    def vector(self, query: str) -> Floats | None:
        """Return a question's vector, once those of the chunks are at hand; None for none."""
        vector = self.nearest.query_vector(query)
        return vector if self.columns.embedder == self._embedder() else None

    def saying(self, text: str, where: Where, limit: int) -> list[int]:
        """Return the rowids of what holds words of a text and passes a filter, likeliest first."""
        columns = self.columns
        columns.follow()
        with columns.lock:
            match = self._matcher.match(shortened(text), columns.mask(where), limit)
            return list(columns.rows["rowid"][match.found].tolist())

    def _named(self, query: str) -> NamedTime | None:
        return named_time(query, detect(query[:MAX_QUERY_LANGUAGE]) or "", self._clock())


def _inside(where: Where, named: NamedTime | None) -> Where | None:
    """Return the filter of what is of the time that is asked for; None where none is."""
    after, before = named.days if named else ("", "")
    if (named and not (after and before)) or not (named or where.after or where.before):
        return None
    before = min(where.before or before, before or where.before)
    return replace(where, after=max(where.after, after), before=before or _BEHIND_ALL)


def reading(
    database: Database, rowids: Sequence[int], shows: Callable[[Chunk], bool]
) -> Iterator[tuple[int, Chunk]]:
    """Yield candidates, by their place, that are still there and may be shown, read by pages."""
    for start in range(0, len(rowids), _PAGE):
        page = rowids[start : start + _PAGE]
        with database.read() as connection:
            found = chunks_of(connection, page)
        for at, rowid in enumerate(page, start):
            if rowid in found and shows(found[rowid]):
                yield at, found[rowid]


class Search:
    """Answers searches over one index. Any thread."""

    def __init__(
        self,
        finder: Finder,
        outlet: Outlet,
        indexer: FileIndexer,
        state: Callable[[], IndexState],
    ) -> None:
        self._finder = finder
        self._database = finder.columns.database
        self._outlet = outlet
        self._indexer = indexer
        self._state = state

    def search(self, request: SearchRequest, caller: Caller) -> SearchResponse:
        """Return the best hits. Raises BadArgument for a filter that nothing can pass."""
        started = time.perf_counter()
        readable = self._outlet.readable_agents(caller)
        where = where_of(request, caller, readable)
        request = replace(request, query=shortened(request.query))
        before = self._state()
        if not words(request.query):
            return SearchResponse((), "no_query", before)
        found, weakness = self._fresh(request, for_everyone(where, self._outlet), caller)
        state = self._state()
        told = " ".join(state.notes)
        if state.phase in ("starting", "indexing"):
            told = f"Still indexing: {state.indexed} of {state.files} files are searchable."
        # A damaged index is noticed while it is read, so the state after counts as well.
        indexing = any(one.phase in ("starting", "indexing") for one in (before, state))
        return SearchResponse(
            found.hits,
            "found" if found.hits else "indexing" if indexing else "nothing_found",
            state,
            told if request.offset else f"{weakness} {told}".strip(),
            found.omitted,
            (time.perf_counter() - started) * 1000,
            found.next_offset if found.hits else None,
        )

    def _fresh(self, request: SearchRequest, where: Where, caller: Caller) -> tuple[Answered, str]:
        """Return hits whose files are indexed as they stand on disk, and what weakens them.

        Files that changed are indexed at once and the search starts over; what still differs
        after some rounds, because it keeps changing, is left out.
        """
        for _ in range(ROUNDS):
            mark = self._database.journal.version
            found, weakness = self._answered(request, where, self._outlet.shown_to(caller))
            changed = changed_on_disk(self._database, self._outlet.reader, found.paths)
            _, written = self._database.journal.since(mark)
            changed |= set(found.paths if written is None else written.intersection(found.paths))
            if not changed:
                break
            with suppress(VaultMindError):
                self._indexer.refresh(changed, PATIENCE)
        hits = [
            hit
            for hit in found.hits
            if changed.isdisjoint((hit.path, *(place.partition("#")[0] for place in hit.also)))
        ]
        return found._replace(hits=tuple(hits)), weakness if hits else ""

    def _answered(self, request: SearchRequest, where: Where, shows: Shown) -> tuple[Answered, str]:
        found = self._finder.find(request.query, where)
        if found is None:
            return Answered(), ""

        def beside(chunk: Chunk) -> Sequence[Chunk]:
            with self._database.read() as connection:
                return chunks_beside(connection, chunk.id)

        answered = answer(_good(found, self._database, shows), request, beside, shows)
        if found.outside:
            return answered, ELSEWHERE
        return answered, WEAK if all(hit.score < STRONG for hit in answered.hits) else ""


def for_everyone(where: Where, outlet: Outlet) -> Where:
    """Return a filter without its agents where it leaves none out."""
    everyone = set(where.agents or ()) >= set(outlet.paths.agent_names())
    return replace(where, agents=None) if everyone else where


def _good(found: Candidates, database: Database, shows: Shown) -> Iterator[Ranked]:
    """Yield what may be shown and is good enough, best first."""
    near = np.argsort(-np.nan_to_num(found.closeness), kind="stable")[:NEAREST]
    best = float(found.scores[np.union1d(np.arange(len(found.scores))[:LOOKED_AT], near)].max())
    if best < (CHANCE if found.embedder else CHANCE_BY_WORDS):
        return
    floor = LEAST if best < STRONG else max(LEAST, SHARE_OF_BEST * best)
    rows = np.flatnonzero(found.scores >= floor).tolist()
    scale = scale_of(found.embedder)
    for at, chunk in reading(database, [found.rowids[row] for row in rows], shows):
        row = rows[at]
        parts = {"rank": float(found.ranks[row]), "coverage": float(found.covered[row])}
        if found.bm25[row] > 0:
            parts["bm25"] = float(found.bm25[row])
        if not np.isnan(found.closeness[row]):
            parts["cosine"] = scale.cosine(float(found.closeness[row]))
        if found.when[row]:
            parts["when"] = float(found.when[row])
        reasons = partial(rank.why, found.model, found.features, row)
        yield Ranked(chunk, float(found.scores[row]), parts, reasons)
