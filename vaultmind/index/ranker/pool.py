"""Which chunks are ranked, and which are looked at beside them.

Candidates are the best of both lists and what stands right beside them in the same file; the
chunks near those are looked at for what they say about the candidate in their middle.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from vaultmind.index.coverage import Wanted
from vaultmind.index.ranker.scene import BESIDE, Floats, Ints
from vaultmind.index.ranker.times import Named
from vaultmind.index.where import Where

SEEDS = 110
"""The best of all lists that the scene is built around ..."""
MOST = 220
"""... and how many candidates they make with their neighbours."""
COPIES = 5
"""Of what stands in many places word for word, that leave room for something else."""
_REACH = 1 + max(BESIDE)
_PLACES = """SELECT c.rowid, c.path, c.ordinal, c.text_hash FROM json_each(?) s
    JOIN chunks c ON c.rowid = s.value ORDER BY s.key"""
_BETWEEN = """SELECT c.rowid, c.path, c.ordinal FROM json_each(?) s
    JOIN chunks c ON c.path = json_extract(s.value, '$[0]')
    AND c.ordinal BETWEEN json_extract(s.value, '$[1]') AND json_extract(s.value, '$[2]')"""
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
    named: Named | None = None
    """The times that the query names."""
    timely: Sequence[int] = ()
    """Rowids of what is of that time."""
    exact: Mapping[int, float] = field(default_factory=dict)
    """Share of the query that an identifier is which the text has to the letter, by rowid."""


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
    held: dict[int, tuple[str, int]] = {}
    copies: Counter[str] = Counter()
    for rowid, path, ordinal, said in connection.execute(_PLACES, (json.dumps(seeds),)):
        copies[said] += 1
        if copies[said] <= COPIES:
            held[rowid] = (path, ordinal)
        if len(held) == SEEDS:
            break
    seeds = list(held)
    rows = connection.execute(_BETWEEN, (json.dumps(_stretches(held.values())),)).fetchall()
    places = {rowid: (path, ordinal) for rowid, path, ordinal in rows}
    by_place = {place: rowid for rowid, place in places.items()}
    right_beside = {
        by_place.get((path, ordinal + apart), 0)
        for path, ordinal in held.values()
        for apart in (-1, 1)
    }
    others = list(right_beside - held.keys() - {0})
    others = sorted(_passing(connection, others, found.where))
    candidates = [*seeds, *others][:MOST]
    around = _around(candidates, places, by_place)
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
    """Return the best of each list, by turns."""
    lists = (list(found.text), list(found.near), list(found.timely))
    mixed: dict[int, None] = {}
    for at in range(max(map(len, lists))):
        for ranked in lists:
            if at < len(ranked):
                mixed[ranked[at]] = None
    return list(mixed)


def _passing(connection: sqlite3.Connection, rowids: Sequence[int], where: Where) -> Sequence[int]:
    if not rowids or where == Where():
        return rowids
    condition, values = where.sql()
    rows = connection.execute(_PASSING.format(condition), (json.dumps(rowids), *values))
    return [row[0] for row in rows]


def _stretches(places: Iterable[tuple[str, int]]) -> list[list[str | int]]:
    """Return path, first and last ordinal of what lies around some places, nothing twice."""
    stretches: list[list[str | int]] = []
    last_path, last = "", 0
    for path, ordinal in sorted(places):
        if path == last_path and ordinal - _REACH <= last + 1:
            stretches[-1][2] = ordinal + _REACH
        else:
            stretches.append([path, ordinal - _REACH, ordinal + _REACH])
        last_path, last = path, ordinal + _REACH
    return stretches


def _around(
    candidates: Sequence[int],
    places: Mapping[int, tuple[str, int]],
    by_place: Mapping[tuple[str, int], int],
) -> list[int]:
    """Return the chunks near candidates that are none themselves."""
    around: dict[int, None] = {}
    for rowid in candidates:
        path, ordinal = places[rowid]
        for apart in BESIDE:
            other = by_place.get((path, ordinal + apart))
            if other is not None:
                around[other] = None
    return [*around.keys() - dict.fromkeys(candidates).keys()]
