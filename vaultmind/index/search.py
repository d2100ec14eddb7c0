"""Search: text and vectors fused, every hit checked against the disk, within a budget."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from vaultmind import tokens
from vaultmind.errors import VaultMindError
from vaultmind.index.asked import where_of
from vaultmind.index.coverage import Wanted, coverage_of
from vaultmind.index.found import changed_on_disk, chunks_of, hit_of, rows_of
from vaultmind.index.fusion import Fused, fuse, weights_for
from vaultmind.index.hand import HandEdits
from vaultmind.index.language import detect
from vaultmind.index.outlet import Outlet
from vaultmind.index.relevance import STRONG, floor_of, relevance, scale_of
from vaultmind.index.terms import words
from vaultmind.index.text import TextIndex
from vaultmind.index.vectors import collection_of
from vaultmind.index.where import Where
from vaultmind.ports import FileIndexer, Nearest
from vaultmind.types import (
    KINDS,
    Caller,
    Chunk,
    Hit,
    IndexState,
    SearchRequest,
    SearchResponse,
)

DEPTH, VECTOR_DEPTH = 100, 40
"""Candidates of each list: vectors fill in below what text finds, so that fewer do."""
FILTERED_DEPTH = 500
"""Vectors asked for when a filter that Chroma does not know will take some away."""
ROUNDS = 3
"""Searches again when hits turn out to be out of date."""
MAX_QUERY_LANGUAGE = 400
"""Characters of a query that its language is told by."""
MIN_CLIP_TOKENS = 60
"""A hit is cut to what is left of the budget if that is so much; else it is left out."""
LOOKED_AT, LOOKED_AT_PER_HIT = 24, 2
"""Candidates whose score is told, at least and for each hit wanted."""
_PAGE = 24


@dataclass(frozen=True, slots=True)
class _Found:
    """A candidate: its chunk, its place in the fusion, and the raw values behind it."""

    chunk: Chunk
    fused: Fused
    raw: dict[str, float]
    score: float
    """How much of the query it answers: see `relevance`."""


class Search:
    """Answers searches over one index. Any thread."""

    def __init__(
        self,
        text: TextIndex,
        nearest: Nearest,
        outlet: Outlet,
        indexer: FileIndexer,
        state: Callable[[], IndexState],
    ) -> None:
        self._text = text
        self._nearest = nearest
        self._outlet = outlet
        self._indexer = indexer
        self._state = state
        self._hand_edits = HandEdits(outlet.paths, indexer)
        self._beside = ThreadPoolExecutor(4, "meaning")

    def close(self) -> None:
        """Let go of the threads that look for meaning."""
        self._beside.shutdown(wait=False, cancel_futures=True)

    def search(self, request: SearchRequest, caller: Caller) -> SearchResponse:
        """Return the best hits. Raises BadArgument for a filter that nothing can pass."""
        started = time.perf_counter()
        readable = self._outlet.readable_agents(caller)
        where = where_of(request, caller, readable, self._outlet.paths)
        if not words(request.query):
            return SearchResponse((), "no_query", self._state())
        self._hand_edits.take(where.agents or ())
        found = self._fresh(request, where, caller)
        hits, omitted = _within(found, request.max_tokens, self._outlet.clean)
        state = self._state()
        took_ms = (time.perf_counter() - started) * 1000
        if hits:
            message = " ".join(part for part in (_weakness(found), _progress(state)) if part)
            return SearchResponse(hits, "found", state, message, omitted, took_ms)
        indexing = state.phase in ("starting", "indexing")
        answer: Literal["indexing", "nothing_found"] = "indexing" if indexing else "nothing_found"
        return SearchResponse((), answer, state, _progress(state), omitted, took_ms)

    def _fresh(self, request: SearchRequest, where: Where, caller: Caller) -> list[_Found]:
        """Return the best candidates whose files are indexed as they stand on disk.

        Files that changed are indexed at once and the search starts over; what still differs
        after some rounds, because it keeps changing, is left out.
        """
        stale: set[str] = set()
        for round_ in range(ROUNDS + 1):
            found = self._chosen(request, where, caller, stale if round_ == ROUNDS else set())
            changed = self._changed({item.chunk.path for item in found})
            if not changed:
                return found
            stale |= changed
            with suppress(VaultMindError):
                self._indexer.refresh(changed)
        return [item for item in found if item.chunk.path not in changed]

    def _chosen(
        self, request: SearchRequest, where: Where, caller: Caller, without: set[str]
    ) -> list[_Found]:
        """Return the best candidates that may be shown and are good enough, best first."""
        looked_at = max(LOOKED_AT, LOOKED_AT_PER_HIT * request.limit)
        candidates = islice(self._candidates(request.query, where), looked_at)
        shown = [
            item
            for item in candidates
            if item.chunk.path not in without and self._outlet.shows_chunk(item.chunk, caller)
        ]
        best = max((item.score for item in shown), default=0.0)
        floor = floor_of(best, by_words_alone=not self._state().embedder)
        chosen: list[_Found] = []
        per_note: Counter[str] = Counter()
        for item in shown:
            path = item.chunk.path
            if item.score >= floor and per_note[path] < request.per_note:
                chosen.append(item)
                per_note[path] += 1
                if len(chosen) == request.limit:
                    break
        return chosen

    def _candidates(self, query: str, where: Where) -> Iterator[_Found]:
        """Yield what text and vectors find, best first."""
        everyone = set(where.agents or ()) >= set(self._outlet.paths.agent_names())
        text_where = replace(where, agents=None) if everyone else where
        near = self._beside.submit(self._near, query, where)
        text = self._text.answer(query, text_where, DEPTH)
        by_vector, foreign = self._by_vector(query, where, near.result())
        share = text.hits[0].share if text.hits else 0.0
        ranked = fuse(
            [hit.rowid for hit in text.hits], list(by_vector), foreign, weights_for(share)
        )
        bm25 = {hit.rowid: hit.score for hit in text.hits}
        for at in range(0, len(ranked), _PAGE):
            page = ranked[at : at + _PAGE]
            yield from self._measured(query, text.wanted, page, bm25, by_vector)

    def _measured(
        self,
        query: str,
        wanted: Sequence[Wanted],
        page: Sequence[Fused],
        bm25: dict[int, float],
        by_vector: dict[int, float],
    ) -> Iterator[_Found]:
        """Yield some candidates with their chunks and scores."""
        rowids = [item.key for item in page]
        with self._text.database.read() as connection:
            chunks = chunks_of(connection, rowids)
            coverage = coverage_of(connection, wanted, rowids)
        cosines = {chunks[key].id: by_vector[key] for key in chunks if key in by_vector}
        lacking = [chunk.id for chunk in chunks.values() if chunk.id not in cosines]
        cosines |= self._nearest.closeness(query, lacking)
        scale = scale_of(self._state().embedder)
        for item in page:
            chunk = chunks.get(item.key)
            if chunk is None:
                continue
            raw = {"coverage": coverage.get(item.key, 0.0)}
            if item.key in bm25:
                raw["bm25"] = bm25[item.key]
            meaning = 0.0
            if chunk.id in cosines:
                raw["cosine"] = cosines[chunk.id]
                meaning = scale.meaning(raw["cosine"])
            yield _Found(chunk, item, raw, relevance(raw["coverage"], meaning))

    def _near(self, query: str, where: Where) -> list[tuple[str, float]]:
        """Return (chunk id, distance) of what is near in meaning, nearest first."""
        filtered = where.folder or where.tag or where.after or where.before
        depth = FILTERED_DEPTH if filtered else VECTOR_DEPTH
        near = [
            hit
            for names in _groups(where)
            for hit in self._nearest.nearest(query, names, depth) or []
        ]
        nothing = scale_of(self._state().embedder).nothing
        kept = [(name, distance) for name, distance in near if 1.0 - distance > nothing]
        return sorted(kept, key=lambda hit: (hit[1], hit[0]))

    def _by_vector(
        self, query: str, where: Where, near: Sequence[tuple[str, float]]
    ) -> tuple[dict[int, float], set[int]]:
        """Return (rowid → cosine, nearest first; those in another language than the query)."""
        if not near:
            return {}, set()
        lang = detect(query[:MAX_QUERY_LANGUAGE])
        with self._text.database.read() as connection:
            rows = rows_of(connection, [name for name, _ in near], where)
        kept = [(rows[name], distance) for name, distance in near if name in rows][:VECTOR_DEPTH]
        foreign = {rowid for (rowid, spoken), _ in kept if lang and spoken not in ("", lang)}
        return {rowid: 1.0 - distance for (rowid, _), distance in kept}, foreign

    def _changed(self, paths: set[str]) -> set[str]:
        """Return the files that are not on disk as they were indexed."""
        with self._text.database.read() as connection:
            return changed_on_disk(connection, self._outlet.reader, paths)


def _groups(where: Where) -> list[list[str]]:
    """Return the collections that are asked together, each group for as many of the nearest.

    Beside a running session, which would crowd out all else, past messages are asked alone.
    """
    names = _collections(where)
    if not where.running:
        return [names]
    said = [name for name in names if name.startswith(collection_of("message", ""))]
    return [group for group in ([one for one in names if one not in said], said) if group]


def _collections(where: Where) -> list[str]:
    """Return the vector collections that a filter leaves open."""
    kinds = where.kinds or KINDS
    names = [collection_of("note", "")] if "note" in kinds else []
    return names + [
        collection_of(kind, agent)
        for agent in where.agents or ()
        for kind in kinds
        if kind != "note"
    ]


def _within(
    found: Sequence[_Found], max_tokens: int, clean: Callable[[str], str]
) -> tuple[tuple[Hit, ...], int]:
    """Return hits with texts of at most `max_tokens` together, and how many were left out."""
    hits: list[Hit] = []
    left = max_tokens
    for item in found:
        text = clean(item.chunk.text)
        cost = tokens.count(text)
        if cost > left and hits and left < MIN_CLIP_TOKENS:
            break
        shown = text if cost <= left else tokens.clip(text, left, mark="")
        hits.append(_hit(item, shown, clean(item.chunk.title), truncated=cost > left))
        left -= min(cost, left)
        if not left:
            break
    return tuple(hits), len(found) - len(hits)


def _hit(item: _Found, text: str, title: str, *, truncated: bool) -> Hit:
    hit = hit_of(item.chunk, title, text, item.score)
    return replace(hit, parts={**item.fused.parts, **item.raw}, truncated=truncated)


def _weakness(found: Sequence[_Found]) -> str:
    if max(item.score for item in found) >= STRONG:
        return ""
    return "Only weak matches: they share little with the question and may not answer it."


def _progress(state: IndexState) -> str:
    if state.phase in ("starting", "indexing"):
        return f"Still indexing: {state.indexed} of {state.files} files are searchable."
    return " ".join(state.notes)
