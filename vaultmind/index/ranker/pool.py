"""Which chunks are ranked, and which are looked at beside them.

Candidates are the best of both lists and what stands right beside them in the same file; the
chunks near those are looked at for what they say about the candidate in their middle.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest

import numpy as np

from vaultmind.index.fulltext.coverage import Wanted
from vaultmind.index.ranker.holding import Looked
from vaultmind.index.ranker.known import KnownChunks
from vaultmind.index.ranker.scene import BESIDE, Floats, Ints
from vaultmind.index.ranker.times import Named
from vaultmind.index.storage.found import passing
from vaultmind.index.storage.where import Where

SEEDS = 110
"""The best of all lists that the scene is built around ..."""
MOST = 220
"""... and how many candidates they make with their neighbours."""
COPIES = 5
"""Of what stands in many places word for word, that leave room for something else."""


@dataclass(frozen=True, slots=True)
class Found:
    """What both searches say to a query."""

    query: str
    wanted: tuple[Wanted, ...]
    """Its telling words: `TextAnswer.wanted`."""
    text: Mapping[int, float]
    """BM25 by rowid, best first."""
    near: Mapping[int, float]
    """Cosine by rowid, nearest first."""
    vector: Floats | None = None
    """The query's; None where nothing can be said about meaning."""
    embedder: str = ""
    where: Where = field(default_factory=Where)
    """What a candidate must pass: neighbours of what was found are candidates as well."""
    named: Named | None = None
    """The times that the query names."""
    timely: Sequence[int] = ()
    """Rowids of what is of that time."""
    exact: Mapping[int, float] = field(default_factory=dict)
    """Share of the query that an identifier is which the text has to the letter, by rowid."""
    scores: Mapping[int, float] = field(default_factory=dict)
    """BM25 of everything that its words are in: `TextAnswer.scores`."""
    looked: Looked | None = None
    """Where its words stand, if that was looked up already."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The rows of a scene: candidates first."""

    rowids: list[int]
    count: int
    index: dict[int, int]
    """The row of each rowid."""
    beside: Ints
    """The row of each candidate's neighbours in its file, by BESIDE; -1 where there is none."""


def pool_of(connection: sqlite3.Connection, found: Found, known: KnownChunks) -> Pool:
    """Return the candidates and what is around them; empty where nothing was found.

    The caller holds the lock of what is known.
    """
    seeds: dict[int, None] = {}
    copies: Counter[bytes] = Counter()
    for rowid in filter(known.has, _seeds(found)):
        said = known.hashes[rowid]
        copies[said] += 1
        if copies[said] <= COPIES:
            seeds[rowid] = None
        if len(seeds) == SEEDS:
            break
    held = np.fromiter(seeds, dtype=np.int64, count=len(seeds))
    right_beside = {*known.beside(held, -1).tolist(), *known.beside(held, 1).tolist()}
    others = sorted(passing(connection, list(right_beside - seeds.keys() - {0}), found.where))
    candidates = [*seeds, *others][:MOST]
    own = np.array(candidates, dtype=np.int64)
    near = np.stack([known.beside(own, apart) for apart in BESIDE], axis=1)
    rowids = list(dict.fromkeys([*candidates, *near[near > 0].tolist()]))
    index = {rowid: row for row, rowid in enumerate(rowids)}
    index[0] = -1
    beside = np.array([index[rowid] for rowid in near.ravel().tolist()], dtype=np.int64)
    del index[0]
    return Pool(rowids, len(candidates), index, beside.reshape(near.shape))


def _seeds(found: Found) -> list[int]:
    """Return the best of each list, by turns."""
    lists = (found.text, found.near, found.timely)
    mixed = dict.fromkeys(chain.from_iterable(zip_longest(*lists)))
    mixed.pop(None, None)
    return list(mixed)
