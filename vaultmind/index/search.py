"""Search: what a query finds by words, meaning and time, ranked, measured, and checked on disk.

The order of hits comes from the ranker, which says nothing about whether any of them is good. The
score of a hit does: the share of the query's telling words that it holds, the rare ones counting
most, and its closeness in meaning on the embedder's scale; each fills a part of what the other
leaves open. 0.8 answers nearly all of the query, 0.5 a good half, 0.25 hardly more than chance.
The numbers were chosen on the example vault; docs/benchmarks.md has the trade-off.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from vaultmind.errors import BadArgument, VaultMindError
from vaultmind.index import rank
from vaultmind.index.columns import Columns, Floats, Where
from vaultmind.index.db import CHUNK_COLUMNS, changed_on_disk, chunk_from, chunks_beside, chunks_of
from vaultmind.index.embed import STRONG, scale_of
from vaultmind.index.matching import Matcher
from vaultmind.index.models import Model, Registry, Stamp, registry_of, stamp_of
from vaultmind.index.outlet import Outlet, Shown, listed
from vaultmind.index.results import Answered, Ranked, answer
from vaultmind.index.when import NamedTime, named_time
from vaultmind.index.words import IDLE_WORDS, detect, shortened, words
from vaultmind.ports import Clock, FileIndexer, Nearest
from vaultmind.redact import mask
from vaultmind.types import (
    PERSON,
    Caller,
    Chunk,
    IndexState,
    Kind,
    SearchRequest,
    SearchResponse,
)

DEPTH = 200
"""Candidates of each list."""
TIMELY_DEPTH = 100
"""Of what is of the time that a query names, the latest."""
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
"""... and beside strong ones it, or what stands around it, at least this much of the best."""
IN_TIME = 0.6
"""Score, at least, of what is of the time that is named where nothing else is asked for."""
TIME_SHARE = 0.4
"""How much of a question it answers to be of the time that it names."""
OUT_OF_TIME = 0.7
"""Share of what its other words answer that a hit of another time is worth."""
_PAGE = 12
WEAK = "Only weak matches: they share little with the question and may not answer it."
FILTERED = "Nothing matches these filters; without them there are hits."
ELSEWHERE = "Nothing from that time answers the question; these include other times."


class Candidates:
    """What a query finds, best first: a row a candidate."""

    def __init__(
        self, scene: rank.Scene, model: Model, telling: Sequence[bool], *, listing: bool
    ) -> None:
        """Take which words do not only say when; `listing`: there are none of them."""
        self.names, features = rank.features_of(scene)
        self.model = rank.weights_of(model, self.names)
        """The weights of the features."""
        ranks = features @ self.model
        rows = scene.columns.rows[scene.slots[: scene.count]]
        order = rank.order_of(ranks, scene.exact, rows["rowid"])
        self.rowids: list[int] = rows["rowid"][order].tolist()
        self.costs: list[int] = rows["cost"][order].tolist()
        """Tokens of each one's text."""
        self.ranks, self.features = ranks[order], features[order]
        """The ranker's scores, and what they are made of; those of two queries do not compare."""
        self._usual = features.mean(axis=0) * np.float32(len(features) > 1)
        self.bm25 = scene.found.match.scores[scene.slots[order]]
        self.closeness: Floats = np.full(len(order), np.nan, dtype=np.float32)
        """In meaning, on the embedder's scale: 0 unrelated, 1 says the same; NaN without."""
        if scene.closeness is not None:
            self.closeness = np.where(scene.known[order], scene.closeness[order], self.closeness)
        self.meaning = np.clip(np.nan_to_num(self.closeness), 0.0, 1.0)
        self.is_named = scene.is_named[order]
        """Whether the query holds the name of each one's file."""
        self.when = scene.when[order]
        """How near each is to the time that the query names."""
        self.embedder = scene.columns.embedder if scene.found.vector is not None else ""
        """The id of that by which meaning was looked for; empty for none."""
        held = np.maximum(scene.held[: scene.count], scene.titled)
        self.held, self.weights = held[order], scene.weights
        """Share of each telling word that each holds, rows by words; and what each word says."""
        self.covered = rank.covered_by(self.held, self.weights)
        """Share of the query that each answers by its words: those that only say when are answered
        by whatever is of that time."""
        self.outside = False
        """Whether the query names a time for certain, and nothing that was found is of it."""
        if named := scene.found.named:
            timeless = rank.covered_by(self.held, self.weights * np.asarray(telling))
            of_it = self.when * (TIME_SHARE + (1.0 - TIME_SHARE) * timeless)
            covered = np.maximum(self.covered, np.maximum(of_it, OUT_OF_TIME * timeless))
            self.covered = np.maximum(covered, IN_TIME) if listing else covered
            self.outside = named.explicit and not (self.when >= named.inside).any()
        self.scores = (1.0 - (1.0 - self.covered) * (1.0 - self.meaning)).astype(np.float32)
        """How much of the query each answers, by its words and its meaning."""

    def good(self) -> list[int]:
        """Return the rows that are good enough to be shown, best first."""
        rows, scores = np.arange(len(self.scores)), self.scores
        near = np.argsort(-np.nan_to_num(self.closeness), kind="stable")[:NEAREST]
        best = float(scores[np.union1d(rows[:LOOKED_AT], near)].max())
        if best < (CHANCE if self.embedder else CHANCE_BY_WORDS):
            return list(rows[self.is_named & (scores > 0)].tolist())
        floor = LEAST if best < STRONG else max(LEAST, SHARE_OF_BEST * best)
        around = self.features[:, self.names.index("subject_around_two")]
        is_good = (scores >= floor) | ((scores >= LEAST) & (around >= floor))
        return list(rows[is_good].tolist())

    def ranked(self, row: int, chunk: Chunk) -> Ranked:
        """Return a candidate with what its place is made of."""
        parts = {"rank": float(self.ranks[row]), "coverage": float(self.covered[row])}
        if self.bm25[row] > 0:
            parts["bm25"] = float(self.bm25[row])
        if not np.isnan(self.closeness[row]):
            parts["cosine"] = scale_of(self.embedder).cosine(float(self.closeness[row]))
        if self.when[row]:
            parts["when"] = float(self.when[row])
        reasons = partial(rank.why, self.names, self.model, self._usual, self.features, row)
        return Ranked(chunk, self.costs[row], float(self.scores[row]), parts, reasons)


class Finder:
    """Looks in the columns and ranks what it finds. Any thread."""

    def __init__(
        self, columns: Columns, nearest: Nearest, memory_folder: Path, clock: Clock
    ) -> None:
        self.columns, self._nearest = columns, nearest
        self._matcher = Matcher(columns)
        self._folder, self._clock = memory_folder, clock
        self._registry: tuple[Stamp | None, Registry] = (None, Registry())

    def warm(self) -> None:
        """Load what the first search would have to wait for."""
        self.columns.follow()
        self._named("what did we talk about yesterday, and what is to be done next week?")

    def registry(self) -> Registry:
        """Return the models at hand; the vault's own are read again when their files change."""
        stamp = stamp_of(self._folder)
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
            telling = [one.plain not in idle for one in match.wanted]
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
            scene = rank.Scene(columns, found, mask, seeds)
            model = self.registry().choose(columns.embedder if scene.closeness is not None else "")
            return Candidates(scene, model, telling, listing=listing)

    def vector(self, query: str) -> Floats | None:
        """Return a question's vector, once those of the chunks are at hand; None for none."""
        vector = self._nearest.query_vector(query)
        return vector if self.columns.embedder == self._nearest.embedder_id else None

    def saying(self, text: str, where: Where, limit: int) -> list[int]:
        """Return the rowids of what holds words of a text and passes a filter, likeliest first."""
        columns = self.columns
        columns.follow()
        with columns.lock:
            match = self._matcher.match(shortened(text), columns.mask(where), limit)
            return list(columns.rows["rowid"][match.found].tolist())

    def _named(self, query: str) -> NamedTime | None:
        return named_time(query, detect(query), self._clock())


def _inside(where: Where, named: NamedTime | None) -> Where | None:
    """Return the filter of what is of the time that is asked for; None where none is."""
    after, before = named.days if named else ("", "")
    if (named and not (after and before)) or not (named or where.after or where.before):
        return None
    before = min(where.before or before, before or where.before)
    return replace(where, after=max(where.after, after), before=before)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a query finds, and the chunks of it that may be shown to whoever asks."""

    found: Candidates
    rows: list[int]
    """Of the chunks among the candidates."""
    chunks: tuple[Chunk, ...]

    @property
    def features(self) -> Floats:
        """Return a row a chunk, a column a feature by the candidates' names."""
        return self.found.features[self.rows]

    @property
    def embedder(self) -> str:
        """Return the id of what measured closeness; empty for none."""
        return self.found.embedder if "meaning" in self.found.names else ""

    def order(self, weights: Floats) -> list[int]:
        """Return the chunks' places by a linear model, best first, as a search would have them."""
        exact = self.features[:, self.found.names.index("exact")]
        ties = np.arange(len(self.chunks))
        return list(rank.order_of(self.features @ weights, exact, ties).tolist())


class Search:
    """Answers searches over one index. Any thread."""

    def __init__(
        self,
        finder: Finder,
        outlet: Outlet,
        indexer: FileIndexer,
        state: Callable[[], IndexState],
    ) -> None:
        self._finder, self._outlet = finder, outlet
        self._database = finder.columns.database
        self._indexer, self._state = indexer, state

    def search(self, request: SearchRequest, caller: Caller) -> SearchResponse:
        """Return the best hits. Raises BadArgument for a filter that nothing can pass."""
        started = time.perf_counter()
        where = where_of(request, caller, self._outlet)
        query = mask(shortened(request.query)).text  # as the texts that it is looked for in
        request = replace(request, query=query)
        before = self._state()
        if not words(request.query):
            return SearchResponse((), "no_query", before)
        found, weakness = self._fresh(request, where, caller)
        bare = replace(request, kinds=(), folder="", tag="", after="", before="")
        if not found.hits and bare != request:
            without = where_of(bare, caller, self._outlet)
            weakness = FILTERED if self._fresh(bare, without, caller)[0].hits else ""
        state = self._state()  # a damaged index is noticed while it is read
        told = " ".join(state.notes)
        if indexing := {before.phase, state.phase} & {"starting", "indexing"}:
            told = f"Still indexing: {state.indexed} of {state.files} files are searchable."
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
            if request.file:
                return found, weakness
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

        rows = found.good() if not request.file else range(len(found.rowids))
        ranked = (found.ranked(*one) for one in self._reading(found, rows, shows))
        answered = answer(ranked, request, beside, shows)
        if found.outside:
            return answered, ELSEWHERE
        return answered, WEAK if all(hit.score < STRONG for hit in answered.hits) else ""

    def _reading(
        self, found: Candidates, rows: Sequence[int], shows: Shown
    ) -> Iterator[tuple[int, Chunk]]:
        """Yield rows of candidates that are still there and may be shown, read by pages."""
        for start in range(0, len(rows), _PAGE):
            page = {row: found.rowids[row] for row in rows[start : start + _PAGE]}
            with self._database.read() as connection:
                chunks = chunks_of(connection, [*page.values()])
            for row, rowid in page.items():
                if rowid in chunks and shows(chunks[rowid]):
                    yield row, chunks[rowid]

    # --- chunk by chunk, for what ranks files by it, or trains a ranker -----------------------

    def seen(self, query: str, caller: Caller, limit: int | None = None) -> Seen | None:
        """Return what a query finds, the first `limit` of it; None where that is nothing."""
        if not words(query := shortened(query)):
            return None
        found = self._finder.find(query, where_of(SearchRequest(query), caller, self._outlet))
        if found is None:
            return None
        rows = range(len(found.rowids))[:limit]
        shown = dict(self._reading(found, rows, self._outlet.shown_to(caller)))
        return Seen(found, [*shown], tuple(shown.values()))

    def sample(self, kind: Kind, count: int, least_letters: int) -> tuple[Chunk, ...]:
        """Return chunks of one kind, of all over the vault: of the same vault the same.

        As many files as there are come before a second chunk of any. For the person's eyes.
        """
        statement = f"""SELECT {CHUNK_COLUMNS} FROM chunks WHERE kind = ? AND letters >= ?
            ORDER BY row_number() OVER (PARTITION BY path ORDER BY id), id LIMIT ?"""
        with self._database.read() as connection:
            rows = connection.execute(statement, (kind, least_letters, 4 * count)).fetchall()
        shown = filter(self._outlet.shown_to(PERSON), map(chunk_from, rows))
        return tuple(islice(shown, count))

    def active(self, embedder: str) -> Model:
        """Return the model that ranks now, of an embedder by its id, or of none (empty)."""
        return self._finder.registry().choose(embedder)


def where_of(request: SearchRequest, caller: Caller, outlet: Outlet) -> Where:
    """Return the filters of a request, and whose memory it is about.

    The caller's own may be too new to be there; an agent that keeps its memory from the caller is,
    to the caller, not there. Raises BadArgument for such a one, or an end before its beginning.
    """
    if request.before and request.after > request.before:
        allowed = f"a day not later than 'before' ({request.before})"
        raise BadArgument("after", request.after, allowed)
    readable, own = outlet.readable_agents(caller), caller.agent
    named = request.agent or (own if caller.kind == "agent" else "*")
    agents = readable if named == "*" else (named,) if named in {*readable, own} else ()
    if readable and not agents:
        raise BadArgument("agent", named, listed("'*' for all, or one of", readable))
    return Where(
        agents=None if set(agents) >= set(outlet.paths.agent_names()) else agents,
        kinds=request.kinds,
        folder=request.folder,
        file=request.file,
        tag=request.tag.strip().lstrip("#").strip("/"),
        after=request.after,
        before=request.before,
        running=request.running,
        since=request.since,
    )
