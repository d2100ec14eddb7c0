"""Search: what was found and ranked, measured, checked against the disk, and told in an answer."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Literal

from vaultmind.errors import VaultMindError
from vaultmind.heavy import importing
from vaultmind.index.embedders.scale import STRONG, scale_of
from vaultmind.index.fulltext.coverage import coverage_of
from vaultmind.index.fulltext.text_index import TextIndex
from vaultmind.index.outlet import Outlet, Shown
from vaultmind.index.search.asked import where_of
from vaultmind.index.search.candidates import Candidates, Finder
from vaultmind.index.search.relevance import floor_of, is_bare, relevance
from vaultmind.index.search.results import Answered, Ranked, Reasons, answer
from vaultmind.index.storage.found import changed_on_disk, chunks_beside, chunks_of
from vaultmind.index.storage.where import Where
from vaultmind.index.sync.hand_edits import HandEdits
from vaultmind.index.words.terms import shortened, words
from vaultmind.ports import Clock, FileIndexer, Nearest
from vaultmind.types import Caller, Chunk, Hit, IndexState, SearchRequest, SearchResponse

if TYPE_CHECKING:
    from vaultmind.index.ranker.ranking import Ranking

ROUNDS = 3
"""Searches again when hits turn out to be out of date."""
LOOKED_AT, NEAREST = 24, 3
"""Candidates of which the best says how good a hit must be, whatever page is asked for: the first,
and those nearest in meaning wherever they stand."""
IN_TIME = 0.6
"""Score, at least, of what is of the time that is named where nothing else is asked for."""
TIME_SHARE = 0.4
"""How much of a question it answers to be of the time that it names."""
CLEARLY = 0.2
"""By how much what is of other times must answer more to be shown all the same."""
OUT_OF_TIME = 0.7
"""Share of what its other words answer that a hit of another time is worth, where there are only
such."""
_PAGE = 24


@dataclass(frozen=True, slots=True)
class _Looked:
    """What may be shown and is good enough, best first."""

    ranked: Iterable[Ranked]
    """Read only as far as an answer needs."""
    reasons: Reasons
    outside: bool = False

    def weakness(self, hits: Sequence[Hit]) -> str:
        """Return what a person should know about the hits of the first page."""
        if self.outside:
            return "Nothing of that time answers the question: these are of other times, too."
        if any(hit.score >= STRONG for hit in hits):
            return ""
        return "Only weak matches: they share little with the question and may not answer it."


class Search:
    """Answers searches over one index. Any thread."""

    def __init__(
        self,
        text: TextIndex,
        nearest: Nearest,
        outlet: Outlet,
        indexer: FileIndexer,
        state: Callable[[], IndexState],
        *,
        clock: Clock,
    ) -> None:
        self._text = text
        self._outlet = outlet
        self._indexer = indexer
        self._state = state
        self._hand_edits = HandEdits(outlet.paths, indexer)
        self._lock = threading.Lock()
        self._held: Ranking | None = None
        self.finder = Finder(text, nearest, lambda: state().embedder, self._ranking, clock)
        """What looks in both indexes, for those that make something else of it than an answer."""

    def close(self) -> None:
        """Let go of the threads that look for meaning."""
        self.finder.close()

    def warm(self) -> None:
        """Load what ranks, so that the first search need not."""
        self._ranking().warm(self._text.database)
        self.finder.warm()

    def faults(self) -> tuple[str, ...]:
        """Return what is wrong with the vault's own models, which are left out."""
        return self._held.registry().faults if self._held else ()

    def search(self, request: SearchRequest, caller: Caller) -> SearchResponse:
        """Return the best hits. Raises BadArgument for a filter that nothing can pass."""
        started = time.perf_counter()
        readable = self._outlet.readable_agents(caller)
        where = where_of(request, caller, readable, self._outlet.paths)
        request = replace(request, query=shortened(request.query))
        if not words(request.query):
            return SearchResponse((), "no_query", self._state())
        before = self._state()
        self._hand_edits.take(where.agents or ())
        looked, found = self._fresh(request, where, caller)
        state = self._state()
        took_ms = (time.perf_counter() - started) * 1000
        if found.hits:
            weakness = "" if request.offset else looked.weakness(found.hits)
            message = " ".join(part for part in (weakness, _progress(state)) if part)
            return SearchResponse(
                found.hits, "found", state, message, found.omitted, took_ms, found.next_offset
            )
        # A damaged index is noticed while it is read, so the state after counts as well.
        indexing = any(one.phase in ("starting", "indexing") for one in (before, state))
        told: Literal["indexing", "nothing_found"] = "indexing" if indexing else "nothing_found"
        return SearchResponse((), told, state, _progress(state), found.omitted, took_ms)

    def _fresh(
        self, request: SearchRequest, where: Where, caller: Caller
    ) -> tuple[_Looked, Answered]:
        """Return the best candidates whose files are indexed as they stand on disk.

        Files that changed are indexed at once and the search starts over; what still differs
        after some rounds, because it keeps changing, is left out.
        """
        stale: set[str] = set()
        for round_ in range(ROUNDS + 1):
            mark = self._text.database.journal.version
            shows = self._outlet.shown_to(caller)
            looked = self._looked(request, where, shows, stale if round_ == ROUNDS else set())
            found = answer(
                looked.ranked,
                request,
                self._beside(),
                shows,
                self._outlet.clean,
                looked.reasons,
            )
            changed = self._changed(found.paths) | self._rewritten(found.paths, mark)
            if not changed:
                return looked, found
            stale |= changed
            with suppress(VaultMindError):
                self._indexer.refresh(changed)
        return looked, replace(found, hits=_without(found.hits, changed))

    def _looked(
        self, request: SearchRequest, where: Where, shows: Shown, without: set[str]
    ) -> _Looked:
        """Return the best candidates that may be shown and are good enough, best first."""
        everyone = set(where.agents or ()) >= set(self._outlet.paths.agent_names())
        candidates = self.finder.find(request.query, where, everyone=everyone)

        def may_be_shown(one: Ranked) -> bool:
            return one.chunk.path not in without and shows(one.chunk)

        outside = self._is_elsewhere(candidates, may_be_shown)
        rowids = candidates.rowids if outside else candidates.timely
        first: list[Ranked] = []
        at = 0
        while len(first) < LOOKED_AT and at < len(rowids):
            page = self._measured(candidates, rowids[at : at + _PAGE], outside=outside)
            first += filter(may_be_shown, page)
            at += _PAGE
        nearest = candidates.nearest(rowids, NEAREST)
        near = filter(may_be_shown, self._measured(candidates, nearest, outside=outside))
        best = max((one.score for one in (*first[:LOOKED_AT], *near)), default=0.0)
        floor = floor_of(best, by_words_alone=not candidates.embedder)
        rest = self._measured(candidates, rowids[at:], outside=outside, least=floor)
        good = chain(
            (one for one in first if one.score >= floor),
            (one for one in rest if may_be_shown(one)),
        )
        return _Looked(good, candidates.reasons, outside)

    def _is_elsewhere(self, candidates: Candidates, may_be_shown: Callable[[Ranked], bool]) -> bool:
        """Tell whether what is asked for is clearly not of the time that is named.

        "Who recommended the film Yesterday?" names none, and what was said today may be of no use.
        """
        if len(candidates.timely) == len(candidates.rowids):
            return False
        if self._is_answered(candidates, may_be_shown):
            return False
        timely = frozenset(candidates.timely)
        others = [rowid for rowid in candidates.rowids if rowid not in timely]
        inside, outside = (
            max(
                (
                    one.score
                    for one in self._measured(candidates, rowids[:LOOKED_AT], outside=True)
                    if may_be_shown(one)
                ),
                default=0.0,
            )
            for rowids in (candidates.timely, others)
        )
        return outside > inside + CLEARLY

    def _is_answered(self, candidates: Candidates, may_be_shown: Callable[[Ranked], bool]) -> bool:
        """Tell whether something of the time that is named holds all that is asked of it."""
        if not candidates.timeless:
            return False
        rowids = candidates.timely[:LOOKED_AT]
        with self._text.database.read() as connection:
            covered = coverage_of(connection, candidates.timeless, rowids)
        whole = [rowid for rowid in rowids if covered.get(rowid, 0.0) >= 1.0]
        return any(map(may_be_shown, self._measured(candidates, whole, outside=True)))

    def _measured(
        self,
        candidates: Candidates,
        rowids: Sequence[int],
        *,
        outside: bool,
        least: float = 0.0,
    ) -> Iterator[Ranked]:
        """Yield some candidates with their chunks and scores; none whose score is below `least`.

        `outside`: whatever they answer, being of the time that is named is no part of it.
        """
        order = candidates.order
        if order is None:
            return
        scale = scale_of(candidates.embedder)
        meaning = {rowid: min(1.0, max(0.0, order.closeness.get(rowid, 0.0))) for rowid in rowids}
        for at in range(0, len(rowids), _PAGE):
            page = rowids[at : at + _PAGE]
            with self._text.database.read() as connection:
                covered = _covered(connection, candidates, page, outside=outside)
                scores = {rowid: relevance(covered[rowid], meaning[rowid]) for rowid in page}
                chunks = chunks_of(connection, [one for one in page if scores[one] >= least])
            for rowid in (one for one in page if one in chunks):
                if not covered[rowid] and is_bare(chunks[rowid]):
                    continue
                raw = {"rank": order.scores[rowid], "coverage": covered[rowid]}
                if rowid in candidates.bm25:
                    raw["bm25"] = candidates.bm25[rowid]
                if rowid in order.closeness:
                    raw["cosine"] = scale.cosine(order.closeness[rowid])
                if order.when[rowid]:
                    raw["when"] = order.when[rowid]
                yield Ranked(chunks[rowid], scores[rowid], raw, rowid)

    def _beside(self) -> Callable[[Chunk], Sequence[Chunk]]:
        """Return what reads the chunks around one, each once."""
        known: dict[str, Sequence[Chunk]] = {}

        def read(chunk: Chunk) -> Sequence[Chunk]:
            if chunk.id not in known:
                with self._text.database.read() as connection:
                    known[chunk.id] = chunks_beside(connection, chunk)
            return known[chunk.id]

        return read

    def _changed(self, paths: Collection[str]) -> set[str]:
        """Return the files that are not on disk as they were indexed."""
        with self._text.database.read() as connection:
            return changed_on_disk(connection, self._outlet.reader, paths)

    def _rewritten(self, paths: Collection[str], mark: int) -> set[str]:
        """Return the files that were indexed anew since a mark: what was read of them is old."""
        _, written = self._text.database.journal.since(mark)
        return set(paths if written is None else written.intersection(paths))

    def _ranking(self) -> Ranking:
        if self._held is None:
            with importing():
                from vaultmind.index.ranker.ranking import Ranking

            with self._lock:
                paths = self._outlet.paths
                self._held = self._held or Ranking(paths.root / paths.memory_dir)
        return self._held


def _covered(
    connection: sqlite3.Connection,
    candidates: Candidates,
    rowids: Sequence[int],
    *,
    outside: bool,
) -> dict[int, float]:
    """Return the share of the query that each candidate answers by its words.

    Words that only say when are answered by whatever is of that time.
    """
    order = candidates.order
    if order is None or candidates.listing:
        return dict.fromkeys(rowids, IN_TIME)
    covered = coverage_of(connection, candidates.wanted, rowids)
    found = {rowid: covered.get(rowid, 0.0) for rowid in rowids}
    if not (outside or any(order.when[rowid] for rowid in rowids)):
        return found
    rest = coverage_of(connection, candidates.timeless, rowids) if candidates.timeless else {}
    for rowid in rowids:
        told = rest.get(rowid, 0.0)
        timely = order.when[rowid] * (TIME_SHARE + (1.0 - TIME_SHARE) * told)
        found[rowid] = max(found[rowid], OUT_OF_TIME * told if outside else timely)
    return found


def _without(hits: Sequence[Hit], paths: Collection[str]) -> tuple[Hit, ...]:
    kept = (hit for hit in hits if hit.path not in paths)
    return tuple(
        replace(hit, also=tuple(path for path in hit.also if path not in paths)) for hit in kept
    )


def _progress(state: IndexState) -> str:
    if state.phase in ("starting", "indexing"):
        return f"Still indexing: {state.indexed} of {state.files} files are searchable."
    return " ".join(state.notes)
