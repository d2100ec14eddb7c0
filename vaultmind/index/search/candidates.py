"""What a query finds by words, by meaning and by time, in the order of the ranker."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaultmind.index.fulltext.coverage import Wanted
from vaultmind.index.fulltext.text_index import TextIndex
from vaultmind.index.storage.found import rows_of
from vaultmind.index.storage.where import Where
from vaultmind.index.vectors.store import collection_of
from vaultmind.index.words.language import detect
from vaultmind.ports import Clock, Nearest
from vaultmind.types import KINDS, Reason

if TYPE_CHECKING:  # these bring numpy, which loads when a search comes
    from vaultmind.index.ranker.ranking import Order, Ranking
    from vaultmind.index.ranker.times import Named

DEPTH = 200
"""Candidates of each list."""
FILTERED_DEPTH = 500
"""Vectors asked for when a filter that Chroma does not know will take some away."""
TIMELY_DEPTH = 100
"""Of what is of the time that a query names, the latest."""
MAX_QUERY_LANGUAGE = 400
"""Characters of a query that its language is told by."""
_TIMELY = """SELECT c.rowid FROM chunks c INDEXED BY chunks_by_time
    WHERE c.time <> '' AND c.time >= ? AND c.time < ? AND {condition}
    ORDER BY c.time DESC, c.rowid LIMIT ?"""
"""In the order of the index `chunks_by_time`, and no further into it than the days go."""
_BEHIND_ALL = "~"
"""Sorts behind whatever else a day or a time has."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What was found, best first, and what is known of it."""

    rowids: tuple[int, ...]
    timely: tuple[int, ...]
    """Those that are not of another time than the one that is named for certain, if one is."""
    wanted: tuple[Wanted, ...]
    """The telling words of the query."""
    timeless: tuple[Wanted, ...]
    """Those of them that do not only say when."""
    bm25: Mapping[int, float]
    order: Order | None
    """None where nothing was found."""
    embedder: str = ""
    """The id of that by which meaning was looked for; empty for none."""
    listing: bool = False
    """Whether nothing but a time is asked for: these are what there is of it."""

    def nearest(self, rowids: Sequence[int], count: int) -> tuple[int, ...]:
        """Return those of some candidates that are nearest in meaning."""
        close = self.order.closeness if self.order else {}
        known = [rowid for rowid in rowids if rowid in close]
        return tuple(sorted(known, key=lambda rowid: -close[rowid])[:count])

    def reasons(self, rowids: Collection[int]) -> dict[int, tuple[Reason, ...]]:
        """Return why some candidates stand where they stand, the strongest reasons first."""
        return self.order.reasons(rowids) if self.order else {}


class Finder:
    """Looks in both indexes at once and ranks what they find. Any thread."""

    def __init__(
        self,
        text: TextIndex,
        nearest: Nearest,
        embedder: Callable[[], str],
        rank: Callable[[], Ranking],
        clock: Clock,
    ) -> None:
        """Take as `embedder` what returns the id of the one in use, empty for none."""
        self._text = text
        self._nearest = nearest
        self._embedder = embedder
        self._rank = rank
        self._clock = clock
        self._beside = ThreadPoolExecutor(4, "meaning")

    def close(self) -> None:
        """Let go of the threads that look for meaning."""
        self._beside.shutdown(wait=False, cancel_futures=True)

    def warm(self) -> None:
        """Load what tells languages and times."""
        self._named("what did we talk about yesterday, and what is to be done next week?")

    def find(self, query: str, where: Where, *, everyone: bool) -> Candidates:
        """Return what a query finds. `everyone`: the filter leaves no agent out."""
        from vaultmind.index.ranker.holding import look
        from vaultmind.index.ranker.pool import Found

        passing = replace(where, agents=None) if everyone else where
        near = self._beside.submit(self._near, query, where, passing)
        where = passing
        text = self._text.answer(query, where, DEPTH)
        with self._text.database.read() as connection:
            looked = look(connection, text.wanted)
        named = self._named(query)
        timeless = _timeless(text.wanted, named)
        inside = _inside(where, named)
        timely = self._latest(inside) if inside else ()
        listing = bool(timely) and not timeless
        bm25 = {} if listing else {hit.rowid: hit.score for hit in text.hits}
        close = {} if listing else near.result()
        vector, embedder = self._nearest.query_vector(query), self._embedder()
        if vector is not None:
            self._fill(embedder, len(vector))
        found = Found(
            query,
            text.wanted,
            bm25,
            close,
            vector,
            embedder,
            inside if listing and inside else where,
            named,
            timely,
            {hit.rowid: hit.exact for hit in text.hits if hit.exact},
            text.scores,
            looked,
        )
        order = self._rank().order(self._text.database, found)
        if order is None:
            return Candidates((), (), text.wanted, timeless, bm25, None, embedder)
        of_the_time = order.rowids if listing else _of_the_time(order, named)
        return Candidates(
            order.rowids, of_the_time, text.wanted, timeless, bm25, order, embedder, listing
        )

    def _fill(self, embedder: str, width: int) -> None:
        """Have all vectors taken into memory in the background, the first time they are used."""
        memory = self._rank().memory
        if memory.vectors.lacks(embedder):
            self._beside.submit(memory.fill, self._text.database, embedder, width)

    def _named(self, query: str) -> Named | None:
        from vaultmind.index.ranker.times import named

        return named(query, detect(query[:MAX_QUERY_LANGUAGE]) or "", self._clock())

    def _near(self, query: str, where: Where, passing: Where) -> dict[int, float]:
        """Return rowid → cosine of what is near in meaning and passes a filter, nearest first.

        `where` says which collections are asked.
        """
        filtered = where.folder or where.tag or where.after or where.before
        depth = FILTERED_DEPTH if filtered else DEPTH
        near = [
            hit
            for names in _groups(where)
            for hit in self._nearest.nearest(query, names, depth) or []
        ]
        if not near:
            return {}
        near.sort(key=lambda hit: (hit[1], hit[0]))
        rows = self._rowids([name for name, _ in near], passing)
        kept = [(rows[name], distance) for name, distance in near if name in rows][:DEPTH]
        return {rowid: 1.0 - distance for rowid, distance in kept}

    def _rowids(self, names: Sequence[str], passing: Where) -> Mapping[str, int]:
        """Return the rowid of each chunk that passes a filter, by its id."""
        if passing.is_of_collections:
            return self._rank().rowids(self._text.database, names)
        with self._text.database.read() as connection:
            rows = rows_of(connection, names, passing)
        return {name: rowid for name, (rowid, _) in rows.items()}

    def _latest(self, where: Where) -> Sequence[int]:
        """Return the latest with a time of its own that passes a filter."""
        condition, values = where.sql()
        statement = _TIMELY.format(condition=condition)
        with self._text.database.read() as connection:
            days = (where.after, where.before + _BEHIND_ALL)
            rows = connection.execute(statement, (*days, *values, TIMELY_DEPTH)).fetchall()
        return [row[0] for row in rows]


def _inside(where: Where, named: Named | None) -> Where | None:
    """Return the filter of what is of the time that is asked for; None where none is."""
    after, before = named.days if named else ("", "")
    if named and not (after and before):
        return None
    if not (named or where.after or where.before):
        return None
    before = min(where.before or before, before or where.before)
    return replace(where, after=max(where.after, after), before=before)


def _of_the_time(order: Order, named: Named | None) -> tuple[int, ...]:
    """Return the candidates without those of other times than a query names for certain.

    What has no time of its own and tells of none stays. Empty where nothing is of the time.
    """
    if named is None or not named.explicit:
        return order.rowids
    inside = {rowid for rowid in order.rowids if order.when[rowid] >= named.inside}
    if not inside:
        return ()
    return tuple(one for one in order.rowids if one in inside or one in order.undated)


def _timeless(wanted: Sequence[Wanted], named: Named | None) -> tuple[Wanted, ...]:
    """Return the words that say what is asked for: neither when, nor only that one asks."""
    from vaultmind.index.ranker.times import ASKING

    idle = ASKING | (named.words if named else frozenset())
    return tuple(one for one in wanted if not (one.words and idle.issuperset(one.words)))


def _groups(where: Where) -> Iterator[list[str]]:
    """Yield the collections that are asked together, each group for as many of the nearest.

    Beside a running session, which would crowd out all else, past messages are asked alone.
    """
    names = _collections(where)
    said = [name for name in names if name.startswith(collection_of("message", ""))]
    groups = [[one for one in names if one not in said], said] if where.running else [names]
    yield from (group for group in groups if group)


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
