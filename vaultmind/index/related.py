"""What is related to what a search found: along links and tags, and by one step of attention.

A question looks at what it found in memory, by words and by meaning; each of these weighs by the
softmax of its closeness, and their weighted mean is what comes to mind. It lies where the memories
are, not where the question is, so what lies near it may share nothing with the question itself.

A thing comes to mind along a link, by a tag that few have, or because it lies near that mean;
several ways to it strengthen each other. A way that leads to many things says little about each of
them, and a tie to what lies far from all that comes to mind counts half.
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
from vaultmind.index.columns import Floats, Where
from vaultmind.index.embed import STRONG, scale_of
from vaultmind.index.outlet import Outlet
from vaultmind.index.search import Finder
from vaultmind.index.ties import Lead, leads_of
from vaultmind.ports import FileIndexer
from vaultmind.types import Caller, Chunk, Hit, Neighbour, TieName

MOST_HITS = 5
"""Of what was found, the best: they lead on, if they are strong. All are attended to."""
IN_MIND = 40
"""Memories that are taken for what came to mind."""
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
Ways = dict[str, dict[TieName, tuple[float, Lead]]]
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
        hits = [hit for hit in sorted(found, key=lambda hit: -hit.score) if hit.score >= STRONG]
        if not hits:
            return []
        shows = self._outlet.shown_to(caller)
        for _ in range(ROUNDS):
            tied = self._tied(query, found, hits[:MOST_HITS], agent)
            mine = (one for one in tied if one.strength >= least and one.chunk.agent in ("", agent))
            near = list(islice((one for one in mine if shows(one.chunk)), MOST))
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

    def _tied(
        self, query: str, found: Sequence[Hit], hits: Sequence[Hit], agent: str
    ) -> list[Neighbour]:
        """Return what is tied to the best hits as the index has it, the strongest first."""
        with self._database.read() as connection:
            ways = _ways(connection, hits)
            leads = [lead for some in ways.values() for _, lead in some.values()]
            ends = [chunk for lead in leads for chunk in _led(connection, lead)]
        near = self._near(query, found, ends, agent)
        known = {hit.path if hit.kind == "note" else hit.id for hit in hits}
        tied: dict[str, Neighbour] = {}
        for chunk, mind, asked in near:
            if not known.isdisjoint((chunk.id, chunk.path)):
                continue
            meant = hits[0].score * MEANING * mind * (UNASKED + (1.0 - UNASKED) * asked)
            one = Neighbour(chunk, "meaning", hits[0].id, strength=meant)
            if chunk.path in ways:
                way, lead = max(ways[chunk.path].values(), key=lambda one: one[0])
                along = _together(ways[chunk.path]) * (FAR + (1.0 - FAR) * mind)
                total = 1.0 - (1.0 - meant) * (1.0 - along)
                one = replace(one, strength=total)
                if way >= meant:
                    one = Neighbour(chunk, lead.tie, lead.to, lead.name, total)
            thing = chunk.id if chunk.kind == "fact" else chunk.path
            if thing not in tied or one.strength > tied[thing].strength:
                tied[thing] = one
        return sorted(tied.values(), key=lambda one: (-one.strength, one.chunk.path))

    def _near(
        self, query: str, found: Sequence[Hit], ends: Sequence[Chunk], agent: str
    ) -> list[tuple[Chunk, float, float]]:
        """Return what ties lead to and what comes to mind of all that a question found.

        Each with how near it is to what comes to mind, and to the question: from 0 to 1, and 0
        where there are no vectors.
        """
        columns, vector = self._finder.columns, self._finder.vector(query)
        columns.follow()
        chunks = {chunk.id: chunk for chunk in ends}
        near = dict.fromkeys(chunks, (0.0, 0.0))
        with columns.lock, self._database.read() as connection:
            slots = columns.slots_of(db.chunks_of(connection, [hit.id for hit in found], "id"))
            slots = slots[columns.has_vector[slots]]
            if vector is not None and slots.size:
                mind, rowids = attend(vector, columns.vectors(slots)), columns.rows["rowid"]
                mine = columns.nearest(mind, columns.mask(Where((agent,))), IN_MIND)
                every = db.chunks_of(connection, list(chunks), "id")
                every |= db.chunks_of(connection, rowids[mine].tolist())
                at = columns.slots_of(every)
                at = at[columns.has_vector[at]]
                cosines = columns.vectors(at) @ np.stack([mind, vector], axis=1)
                scale = scale_of(columns.embedder)
                for rowid, (to_mind, to_query) in zip(rowids[at], cosines.tolist(), strict=True):
                    middle = (scale.place(to_mind) - MIND_FROM) / (MIND_TO - MIND_FROM)
                    chunk = every[rowid]
                    chunks[chunk.id] = chunk
                    near[chunk.id] = min(1.0, max(0.0, middle)), scale.meaning(to_query)
        return [(chunk, *near[name]) for name, chunk in chunks.items()]


def attend(query: Floats, keys: Floats) -> Floats:
    """Return what comes to mind, of length 1; so are the keys, of which there is at least one."""
    cosines = keys @ query
    weights = np.exp((cosines - cosines.max()) / TEMPERATURE)
    mean = (weights / weights.sum()) @ keys
    length = float(np.linalg.norm(mean))
    mind: Floats = np.asarray(mean / length if length > 0 else query, np.float32)
    return mind


def _ways(connection: sqlite3.Connection, hits: Sequence[Hit]) -> Ways:
    """Return the strongest ties to the files that hits lead to most strongly."""
    found: defaultdict[str, dict[TieName, tuple[float, Lead]]] = defaultdict(dict)
    for hit in hits:
        for lead in leads_of(connection, hit):
            way, held = hit.score * TIES[lead.tie] / sqrt(1 + lead.others), found[lead.path]
            if lead.tie not in held or way > held[lead.tie][0]:
                held[lead.tie] = (way, lead)
    return dict(sorted(found.items(), key=lambda one: -_together(one[1]))[:MOST_FILES])


def _together(ways: Mapping[TieName, tuple[float, Lead]]) -> float:
    """Return the strength of several ways to one thing."""
    return 1.0 - prod(1.0 - way for way, _ in ways.values())


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
