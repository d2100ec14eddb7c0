"""What is related to what a search found: along links and tags, and by one step of attention.

A question looks at what it found in memory, by words and by meaning; each of these weighs by the
softmax of its closeness, and their weighted mean is what comes to mind. It lies where the memories
are, not where the question is, so what lies near it may share nothing with the question itself.

A thing comes to mind along a link, by a tag that few have, or because it lies near that mean;
several ways to it strengthen each other. A way that leads to many things says little about each
of them, and a tie to what lies far from all that comes to mind counts half. The numbers come from
`benchmarks/association.py`.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from math import prod, sqrt

import numpy as np

from vaultmind.errors import VaultMindError
from vaultmind.index import db
from vaultmind.index.columns import Floats
from vaultmind.index.embed import STRONG, scale_of
from vaultmind.index.outlet import Outlet
from vaultmind.index.search import Finder
from vaultmind.index.ties import Lead, leads_of
from vaultmind.index.where import Where
from vaultmind.ports import FileIndexer
from vaultmind.types import KINDS, Caller, Chunk, Hit, Neighbour, TieName

MOST_HITS = 5
"""Of what was found, the best: they lead on, if they are strong. All are attended to."""
IN_MIND = 10
"""Memories of each kind that are taken for what came to mind."""
MOST_FILES, MOST_CHUNKS = 12, 6
"""Files that ties lead to which are looked at, and chunks of each of which the nearest is taken."""
MOST = 10
"""Neighbours that are checked and returned."""
REPLY_WITHIN = 12
"""Chunks after a message among which somebody else speaks."""
ROUNDS = 2
"""Tries again where a file turns out to have changed."""
TEMPERATURE = 0.1
"""Of the softmax over cosines: a memory that is nearer by so much weighs e times as much."""
TIES: Mapping[TieName, float] = {"link": 0.9, "backlink": 0.9, "tag": 0.5}
"""Strength of the only such tie that something has, from a perfect hit; of one among n, by the
root of n less."""
FAR = 0.5
"""Share of a tie's strength that does not depend on how near its end is to what comes to mind."""
MEANING, UNASKED = 0.4, 0.5
"""Strength of what lies in the very middle of what comes to mind, without any tie; and the share
of it that does not depend on how near it is to the question itself."""
MIND_FROM, MIND_TO = 0.43, 1.57
"""On an embedder's scale (0 has nothing to do with it, 1 says the same), what is far from what
comes to mind, and what is in its middle: a mean of memories is nearer to each than a question is.
"""
Near = tuple[float, float]
"""How near a chunk is to what comes to mind, and to the question: from 0 to 1."""
Ways = dict[TieName, tuple[float, Lead]]
"""The strongest tie of each kind that leads to a file."""


class Relations:
    """Implements ports.Related over one index. Any thread."""

    def __init__(self, finder: Finder, outlet: Outlet, indexer: FileIndexer) -> None:
        self._finder = finder
        self._database = finder.columns.database
        self._outlet = outlet
        self._indexer = indexer

    def related(
        self, query: str, found: Sequence[Hit], agent: str, caller: Caller, least: float
    ) -> list[Neighbour]:
        """Return chunks of the notes and of one agent's memory that are tied to some hits."""
        found = sorted(found, key=lambda hit: -hit.score)
        if not found or found[0].score < STRONG:
            return []
        shows = self._outlet.shown_to(caller)
        for _ in range(ROUNDS):
            tied = self._tied(query, found, agent, least)
            mine = (one for one in tied if one.chunk.agent in ("", agent) and shows(one.chunk))
            near = list(islice(mine, MOST))
            changed = self._changed({one.chunk.path for one in near})
            if not changed:
                break
            with suppress(VaultMindError):
                self._indexer.refresh(changed)
        kept = [one for one in near if one.chunk.path not in changed]
        return [replace(one, chunk=self._cleaned(one.chunk)) for one in kept]

    def replies(self, found: Sequence[Hit], agent: str, caller: Caller) -> dict[str, Hit]:
        """Return, by the id of each hit that is a message, what somebody else said after it."""
        with self._database.read() as connection:
            after = {hit.id: _reply(connection, hit) for hit in found if hit.kind == "message"}
        changed = self._changed({chunk.path for chunk in after.values() if chunk})
        shows = self._outlet.shown_to(caller)
        replies: dict[str, Hit] = {}
        for hit in found:
            chunk = after.get(hit.id)
            if chunk and chunk.path not in changed and chunk.agent in ("", agent) and shows(chunk):
                clean = self._cleaned(chunk)
                replies[hit.id] = db.hit_of(chunk, clean.title, clean.text, hit.score)
        return replies

    def _changed(self, paths: set[str]) -> set[str]:
        return db.changed_on_disk(self._database, self._outlet.reader, paths)

    def _cleaned(self, chunk: Chunk) -> Chunk:
        title, _, text = self._outlet.clean(f"{chunk.title}\n{chunk.text}").partition("\n")
        return replace(chunk, title=title, text=text)

    def _tied(self, query: str, found: Sequence[Hit], agent: str, least: float) -> list[Neighbour]:
        """Return what is tied to hits as the index has it, the strongest first."""
        hits = [hit for hit in found if hit.score >= STRONG][:MOST_HITS]
        with self._database.read() as connection:
            ways = _ways(connection, hits)
            most = {path: strength(some, 1.0, 0.0, 0.0) for path, some in ways.items()}
            paths = sorted((one for one in most if most[one] >= least), key=lambda one: -most[one])
            ways = {path: ways[path] for path in paths[:MOST_FILES]}
            leads = [lead for some in ways.values() for _, lead in some.values()]
            ends = [chunk for lead in leads for chunk in _led(connection, lead)]
        minded, near = self._look(query, found, ends, agent)
        known = {hit.path if hit.kind == "note" else hit.id for hit in hits}
        things: defaultdict[str, dict[str, Chunk]] = defaultdict(dict)
        for chunk in (*ends, *minded):
            if known.isdisjoint((chunk.id, chunk.path)):
                things[chunk.id if chunk.kind == "fact" else chunk.path][chunk.id] = chunk
        tied, score = [], hits[0].score
        for held in things.values():
            values = {name: near.get(name, (0.0, 0.0)) for name in held}
            chunk = held[max(values, key=lambda name: sum(values[name]))]
            mind, asked = (max(column) for column in zip(*values.values(), strict=True))
            along = ways.get(chunk.path, {})
            total = strength(along, mind, asked, score)
            tie = max(along, key=lambda one: along[one][0], default=None)
            if tie and along[tie][0] >= by_meaning(mind, asked, score):
                lead = along[tie][1]
                tied.append(Neighbour(chunk, tie, lead.to, lead.name, total))
            else:
                tied.append(Neighbour(chunk, "meaning", hits[0].id, strength=total))
        strong = (one for one in tied if one.strength >= least)
        return sorted(strong, key=lambda one: (-one.strength, one.chunk.path, one.chunk.start))

    def _look(
        self, query: str, found: Sequence[Hit], chunks: Sequence[Chunk], agent: str
    ) -> tuple[list[Chunk], dict[str, Near]]:
        """Attend to what a question found.

        Returns what comes to mind, and how near that and other chunks are; nothing where there are
        no vectors.
        """
        columns, vector = self._finder.columns, self._finder.vector(query)
        columns.follow()
        with columns.lock, self._database.read() as connection:
            slots = columns.slots_of(db.chunks_of(connection, [hit.id for hit in found], "id"))
            slots = slots[columns.has_vector[slots]]
            if vector is None or not slots.size:
                return [], {}
            mind = attend(vector, columns.vectors(slots))
            in_mind = [
                columns.nearest(mind, columns.mask(Where((agent,), (kind,))), IN_MIND)
                for kind in KINDS
            ]
            rowids = columns.rows["rowid"]
            minded = db.chunks_of(connection, rowids[np.concatenate(in_mind)].tolist())
            others = db.chunks_of(connection, [chunk.id for chunk in chunks], "id") | minded
            ends = columns.slots_of(others)
            ends = ends[columns.has_vector[ends]]
            cosines = columns.vectors(ends) @ np.stack([mind, vector], axis=1)
        scale = scale_of(columns.embedder)
        near: dict[str, Near] = {}
        for rowid, (to_mind, to_query) in zip(rowids[ends], cosines.tolist(), strict=True):
            middle = (scale.place(to_mind) - MIND_FROM) / (MIND_TO - MIND_FROM)
            near[others[rowid].id] = min(1.0, max(0.0, middle)), scale.meaning(to_query)
        return list(minded.values()), near


def attend(query: Floats, keys: Floats) -> Floats:
    """Return what comes to mind, of length 1; so are the keys, of which there is at least one."""
    cosines = keys @ query
    weights = np.exp((cosines - cosines.max()) / TEMPERATURE)
    mean = (weights / weights.sum()) @ keys
    length = float(np.linalg.norm(mean))
    mind: Floats = np.asarray(mean / length if length > 0 else query, np.float32)
    return mind


def strength(ties: Ways, near: float, asked: float, best: float) -> float:
    """Return how strongly something is tied to what was found, from 0 to 1.

    `near` is how near it is to what comes to mind, `asked` to the question, `best` the score of the
    best hit.
    """
    along = (1.0 - prod(1.0 - way for way, _ in ties.values())) * (FAR + (1.0 - FAR) * near)
    return 1.0 - (1.0 - along) * (1.0 - by_meaning(near, asked, best))


def by_meaning(near: float, asked: float, best: float) -> float:
    """Return the strength that something has without any tie."""
    return best * MEANING * near * (UNASKED + (1.0 - UNASKED) * asked)


def _ways(connection: sqlite3.Connection, hits: Sequence[Hit]) -> Mapping[str, Ways]:
    """Return the strongest ties to each file that hits lead to."""
    found: defaultdict[str, Ways] = defaultdict(dict)
    for hit in hits:
        for lead in leads_of(connection, hit):
            way, held = hit.score * TIES[lead.tie] / sqrt(1 + lead.others), found[lead.path]
            if lead.tie not in held or way > held[lead.tie][0]:
                held[lead.tie] = (way, lead)
    return found


def _led(connection: sqlite3.Connection, lead: Lead) -> list[Chunk]:
    """Return the chunks of which one stands for what a lead leads to."""
    if lead.chunk:
        return list(db.chunks_with_ids(connection, [lead.chunk]).values())
    statement = f"SELECT {db.CHUNK_COLUMNS} FROM chunks WHERE path = ? ORDER BY ordinal"
    chunks = [db.chunk_from(row) for row in connection.execute(statement, (lead.path,))]
    named = [chunk for chunk in chunks if lead.anchor and chunk.anchor == lead.anchor]
    return named[:1] or chunks[:MOST_CHUNKS]


def _reply(connection: sqlite3.Connection, hit: Hit) -> Chunk | None:
    """Return the first chunk of what somebody else said after a message."""
    own, *after = db.chunks_beside(connection, hit.id, 0, REPLY_WITHIN) or (None,)
    for chunk in after:
        if own and (chunk.role, chunk.speaker) != (own.role, own.speaker):
            return chunk if chunk.role in ("user", "assistant") else None
    return None
