"""Which chunks are ranked, and which are looked at beside them.

Candidates are the best of both lists and what stands right beside them in the same file; the
chunks near those are looked at for what they say about the candidate in their middle.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from vaultmind.index.coverage import Wanted
from vaultmind.index.ranker.scene import BESIDE, Floats, Ints
from vaultmind.index.where import Where

SEEDS = 160
"""The best of both lists that the scene is built around ..."""
MOST = 300
"""... and how many candidates they make with their neighbours."""
_REACH = 1 + max(BESIDE)
_AROUND = f"""SELECT n.rowid, n.path, n.ordinal, n.ordinal - c.ordinal
    FROM json_each(?) s JOIN chunks c ON c.rowid = s.value
    JOIN chunks n ON n.path = c.path
    AND n.ordinal BETWEEN c.ordinal - {_REACH} AND c.ordinal + {_REACH}"""
_PASSING = "SELECT c.rowid FROM json_each(?) s JOIN chunks c ON c.rowid = s.value WHERE {}"


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
    closeness: Callable[[str], float] | None = None
    """How near a chunk's time is to the one that the query names, if it names one."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The rows of a scene: candidates first."""

    rowids: list[int]
    count: int
    places: list[tuple[str, int]]
    """Path and ordinal of each row."""
    index: dict[int, int]
    """The row of each rowid."""


def pool_of(connection: sqlite3.Connection, found: Found) -> Pool:
    """Return the candidates and what is around them; empty where nothing was found."""
    seeds = _seeds(found)
    places: dict[int, tuple[str, int]] = {}
    right_beside: dict[int, None] = {}
    for rowid, path, ordinal, apart in connection.execute(_AROUND, (json.dumps(seeds),)):
        places[rowid] = (path, ordinal)
        if apart in (-1, 1):
            right_beside[rowid] = None
    seeds = [rowid for rowid in seeds if rowid in places]
    others = [*right_beside.keys() - dict.fromkeys(seeds).keys()]
    others = sorted(_passing(connection, others, found.where))
    candidates = [*seeds, *others][:MOST]
    around = _around(candidates, places)
    rowids = [*candidates, *around]
    index = {rowid: row for row, rowid in enumerate(rowids)}
    return Pool(rowids, len(candidates), [places[rowid] for rowid in rowids], index)


def beside(pool: Pool) -> Ints:
    """Return the row of each candidate's neighbours, -1 where there is none."""
    at = {place: row for row, place in enumerate(pool.places)}
    rows = [
        [at.get((path, ordinal + apart), -1) for apart in BESIDE]
        for path, ordinal in pool.places[: pool.count]
    ]
    return np.array(rows, dtype=np.int64).reshape(pool.count, len(BESIDE))


def _seeds(found: Found) -> list[int]:
    """Return the best of both lists, by turns."""
    text, near = list(found.text), list(found.near)
    mixed: dict[int, None] = {}
    for at in range(max(len(text), len(near))):
        for ranked in (text, near):
            if at < len(ranked):
                mixed[ranked[at]] = None
    return list(mixed)[:SEEDS]


def _passing(connection: sqlite3.Connection, rowids: Sequence[int], where: Where) -> Sequence[int]:
    if not rowids or where == Where():
        return rowids
    condition, values = where.sql()
    rows = connection.execute(_PASSING.format(condition), (json.dumps(rowids), *values))
    return [row[0] for row in rows]


def _around(candidates: Sequence[int], places: Mapping[int, tuple[str, int]]) -> list[int]:
    """Return the chunks near candidates that are none themselves."""
    by_place = {place: rowid for rowid, place in places.items()}
    around: dict[int, None] = {}
    for rowid in candidates:
        path, ordinal = places[rowid]
        for apart in BESIDE:
            other = by_place.get((path, ordinal + apart))
            if other is not None:
                around[other] = None
    return [*around.keys() - dict.fromkeys(candidates).keys()]
