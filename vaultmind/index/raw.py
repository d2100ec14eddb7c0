"""What a text finds, chunk by chunk: for what ranks files by it, and for what trains a ranker."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from vaultmind.index.columns import Floats
from vaultmind.index.db import chunks_with_ids
from vaultmind.index.models import FEATURES, Model
from vaultmind.index.outlet import Outlet, Shown
from vaultmind.index.rank import order_of
from vaultmind.index.search import Candidates, Finder, for_everyone, reading
from vaultmind.index.where import where_of
from vaultmind.index.words.terms import shortened, words
from vaultmind.types import PERSON, Caller, Chunk, Kind, SearchRequest

MOST_WORDS = 24
"""Words of a text that a plan looks for in each chunk, the rarest."""


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
    """How much of each telling word of the text it holds, 0 to 1; as `Strongest.weights`."""


@dataclass(frozen=True, slots=True)
class Strongest:
    """What a text finds, chunk by chunk."""

    strong: tuple[Strong, ...] = ()
    """Best first."""
    weights: tuple[float, ...] = ()
    """How much each telling word of the text says."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The candidates of a query that may be shown to whoever asks, as a ranker sees them."""

    query: str
    chunks: tuple[Chunk, ...]
    features: Floats
    """A row a candidate, a column a feature by `names`."""
    names: tuple[str, ...]
    """Of the features: those of meaning only where there are vectors."""
    embedder: str
    """The id of what measured closeness; empty for none."""

    def order(self, weights: Floats) -> list[int]:
        """Return the rows by a linear model, best first, as a search would have them."""
        exact = self.features[:, list(FEATURES).index("exact")]
        ties = np.arange(len(self.chunks))
        return order_of(self.features @ weights, exact, ties).tolist()  # type: ignore[no-any-return]


class Raw:
    """Asks one index for chunks without making an answer of them. Any thread."""

    def __init__(self, finder: Finder, outlet: Outlet) -> None:
        self._finder, self._outlet = finder, outlet
        self._database = finder.columns.database

    def strongest(
        self, query: str, caller: Caller, limit: int, shows: Shown | None = None
    ) -> Strongest:
        """Return the best chunks that may be shown to a caller, best first; no messages.

        What was merely said in passing is asked for by a search. `shows` is the outlet's for that
        caller, where it is asked about other files as well.
        """
        found = self._candidates(query, caller)
        if found is None:
            return Strongest()
        shows = shows or self._outlet.shown_to(caller)
        chunks = list(reading(self._database, found.rowids[:limit], shows))
        words = np.maximum(found.bm25, 0.0) / (float(found.bm25.max(initial=0.0)) or 1.0)
        meaning = np.clip(np.nan_to_num(found.closeness), 0.0, 1.0)
        rarest = np.argsort(-found.weights, kind="stable")[:MOST_WORDS]
        held = found.held[:, rarest].tolist()
        measured = list(zip(words.tolist(), meaning.tolist(), found.ranks.tolist(), strict=True))
        strong = [
            Strong(chunk, *measured[row], tuple(held[row]) if row < len(held) else ())
            for row, chunk in chunks
            if chunk.kind != "message"
        ]
        return Strongest(tuple(strong), tuple(found.weights[rarest].tolist()))

    def seen(self, query: str, caller: Caller) -> Seen | None:
        """Return what a query finds, with its features; None where that is nothing."""
        found = self._candidates(query, caller)
        if found is None:
            return None
        chunks = dict(reading(self._database, found.rowids, self._outlet.shown_to(caller)))
        names = tuple(name for name in FEATURES if name in found.told)
        stacked = np.stack([found.told[name] for name in names], axis=1)[list(chunks)]
        embedder = found.embedder if "meaning" in found.told else ""
        return Seen(shortened(query), tuple(chunks.values()), stacked, names, embedder)

    def sample(self, kind: Kind, count: int, least_letters: int) -> tuple[Chunk, ...]:
        """Return chunks of one kind, of all over the vault: of the same vault the same.

        As many files as there are come before a second chunk of any. For the person's eyes.
        """
        with self._database.read() as connection:
            statement = "SELECT id FROM chunks WHERE kind = ? AND letters >= ? ORDER BY rowid"
            ids = [row[0] for row in connection.execute(statement, (kind, least_letters))]
            found = chunks_with_ids(connection, ids[:: max(1, len(ids) // (4 * count))])
        shows = self._outlet.shown_to(PERSON)
        mixed = sorted(filter(shows, found.values()), key=lambda one: zlib.crc32(one.id.encode()))
        by_path = {one.path: one for one in reversed(mixed)}
        mixed.sort(key=lambda one: by_path[one.path] is not one)
        return tuple(mixed[:count])

    def active(self, embedder: str) -> Model:
        """Return the model that ranks now, of an embedder by its id, or of none (empty)."""
        return self._finder.registry().choose(embedder)

    def _candidates(self, query: str, caller: Caller) -> Candidates | None:
        query = shortened(query)
        if not words(query):
            return None
        readable = self._outlet.readable_agents(caller)
        where = where_of(SearchRequest(query), caller, readable)
        return self._finder.find(query, for_everyone(where, self._outlet))
