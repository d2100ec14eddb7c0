"""What a text finds in an index, chunk by chunk, with the raw measures: for what ranks files."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.index.fulltext.coverage import Wanted, columns_of, shares_of
from vaultmind.index.fulltext.text_index import TextIndex
from vaultmind.index.outlet import Outlet, Shown
from vaultmind.index.search.asked import where_of
from vaultmind.index.search.candidates import Candidates, Finder
from vaultmind.index.storage.damage import Damage
from vaultmind.index.storage.found import chunks_of
from vaultmind.index.words.terms import shortened, words
from vaultmind.types import Caller, Chunk, SearchRequest

LOOKED_INTO = 150
"""Chunks, the best, in which each word is looked for."""
MOST_WORDS = 24


@dataclass(frozen=True, slots=True)
class Strong:
    """A chunk and how it answers, each by one measure. Measures of two queries do not compare."""

    chunk: Chunk
    words: float
    """BM25 as a share of the best chunk's, 0 where no word is in it."""
    meaning: float
    """Closeness on the embedder's scale: 0 unrelated, 1 says the same; 0 without a vector."""
    rank: float
    """The search ranker's score."""
    held: tuple[float, ...]
    """How much of each telling word of the text it holds, 0 to 1; as `Answer.weights`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a text finds."""

    strong: tuple[Strong, ...] = ()
    """Best first."""
    weights: tuple[float, ...] = ()
    """How much each telling word of the text says."""


class Strongest:
    """Asks one index for chunks without making an answer of them. Any thread."""

    def __init__(self, text: TextIndex, finder: Finder, outlet: Outlet, damage: Damage) -> None:
        """Take as `finder` that of the searches: what it keeps in memory serves both."""
        self.text, self.finder, self.outlet, self.damage = text, finder, outlet, damage

    def find(self, query: str, caller: Caller, limit: int, shows: Shown | None = None) -> Answer:
        """Return the best chunks that may be shown to a caller, best first; no messages.

        What was merely said in passing is asked for by a search. `shows` is the outlet's for that
        caller, where it is asked about other files as well. Raises IndexUnavailable while the
        database cannot be read.
        """
        with self.damage.noticed():
            found = self.candidates(query, caller)
            if found is None:
                return Answer()
            return self._shown(found, found.rowids[:limit], shows or self.outlet.shown_to(caller))

    def candidates(self, query: str, caller: Caller) -> Candidates | None:
        """Return all that a text finds where a caller may look; None where it has no word.

        Whoever calls it has `damage` notice what the database refuses.
        """
        query = shortened(query)
        if not words(query):
            return None
        readable = self.outlet.readable_agents(caller)
        where = where_of(SearchRequest(query), caller, readable, self.outlet.paths)
        everyone = set(where.agents or ()) >= set(self.outlet.paths.agent_names())
        return self.finder.find(query, where, everyone=everyone)

    def _shown(self, found: Candidates, rowids: Sequence[int], shows: Shown) -> Answer:
        order = found.order
        if order is None:
            return Answer()
        with self.text.database.read() as connection:
            chunks = chunks_of(connection, rowids)
            wanted = _rarest(found.wanted)
            held = held_of(connection, wanted, rowids[:LOOKED_INTO])
        most = max(found.bm25.values(), default=0.0) or 1.0
        strong = tuple(
            Strong(
                chunks[rowid],
                max(0.0, found.bm25.get(rowid, 0.0) / most),
                min(1.0, max(0.0, order.closeness.get(rowid, 0.0))),
                order.scores[rowid],
                held.get(rowid, ()),
            )
            for rowid in rowids
            if rowid in chunks and chunks[rowid].kind != "message" and shows(chunks[rowid])
        )
        return Answer(strong, tuple(one.weight for one in wanted))


def _rarest(wanted: Sequence[Wanted]) -> list[Wanted]:
    return sorted(wanted, key=lambda one: -one.weight)[:MOST_WORDS]


def held_of(
    connection: sqlite3.Connection, wanted: Sequence[Wanted], rowids: Sequence[int]
) -> dict[int, tuple[float, ...]]:
    """Return how much of each telling word some chunks hold."""
    rows = columns_of(connection, rowids)
    return {rowid: shares_of(wanted, *texts) for rowid, *texts in rows}
