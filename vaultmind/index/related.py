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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import prod, sqrt

import numpy as np

from vaultmind.index import db
from vaultmind.index.columns import Floats, Where
from vaultmind.index.embed import STRONG, scale_of
from vaultmind.index.notes import meant, name_of
from vaultmind.index.outlet import Outlet
from vaultmind.index.search import Finder
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
MOST_LINKING, MOST_TAGGED = 40, 20
"""Files that link to one, or have a tag: more say nothing about any of them."""


@dataclass(frozen=True, slots=True)
class Lead:
    """A tie from a hit to another file."""

    tie: TieName
    to: str
    """Id of the hit."""
    path: str
    others: int
    """How many more it leads to, or how many more lead here: the more, the less it says."""
    anchor: str = ""
    """Of the part of the file that is meant, where a link names one."""
    chunk: str = ""
    """The id of that part, where the link stands in it."""
    name: str = ""
    """The tag."""


Ways = dict[str, dict[TieName, tuple[float, Lead]]]
"""The strongest tie of each kind that leads to a file."""


class Relations:
    """Implements ports.Related over one index. Any thread."""

    def __init__(self, finder: Finder, outlet: Outlet) -> None:
        self._finder, self._outlet = finder, outlet
        self._database = finder.columns.database

    def related(
        self, query: str, found: Sequence[Hit], agent: str, caller: Caller, least: float
    ) -> list[Neighbour]:
        """Return chunks of the notes and of one agent's memory that are tied to some hits."""
        hits = [hit for hit in sorted(found, key=lambda hit: -hit.score) if hit.score >= STRONG]
        tied = self._tied(query, found, hits[:MOST_HITS], agent) if hits else []
        strong = [one for one in tied if one.strength >= least]
        shown = self._shown([one.chunk for one in strong], agent, caller)
        kept = (one for one in strong if one.chunk.id in shown)
        return [replace(one, chunk=shown[one.chunk.id]) for one in islice(kept, MOST)]

    def replies(self, found: Sequence[Hit], agent: str, caller: Caller) -> dict[str, Hit]:
        """Return, by the id of each hit that is a message, what somebody else said after it."""
        with self._database.read() as connection:
            after = [(hit, _reply(connection, hit)) for hit in found if hit.kind == "message"]
        shown = self._shown([chunk for _, chunk in after if chunk], agent, caller)
        told = [(hit, shown[chunk.id]) for hit, chunk in after if chunk and chunk.id in shown]
        return {hit.id: db.hit_of(one, one.text, hit.score) for hit, one in told}

    def _shown(self, chunks: Sequence[Chunk], agent: str, caller: Caller) -> dict[str, Chunk]:
        """Return what may be shown and is on disk as it was indexed, by id."""
        shows = self._outlet.shown_to(caller)
        seen = [one for one in chunks if one.agent in ("", agent) and shows(one)]
        paths = {one.path for one in seen}
        changed = db.changed_on_disk(self._database, self._outlet.reader, paths)
        return {one.id: one for one in seen if one.path not in changed}

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
        return list(db.chunks_of(connection, [lead.chunk], "id").values())
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


def leads_of(connection: sqlite3.Connection, hit: Hit) -> Iterator[Lead]:
    """Yield the ties of a hit: its links, the links to it and, of a note, its tags.

    A link to a message or fact means that very one.
    """
    is_note = hit.kind == "note"
    rows = connection.execute(
        "SELECT kind, name, target, anchor, chunk FROM ties WHERE path = ?", (hit.path,)
    ).fetchall()
    links = {row[1:4] for row in rows if row[0] == "link" and (is_note or row[4] == hit.id)}
    for name, target, anchor in sorted(links):
        path = _meant(connection, name, target, hit.path)
        if path and path != hit.path:
            yield Lead("link", hit.id, path, len(links) - 1, anchor)
    name = name_of(hit.path)
    linking: dict[str, str] = {}
    for path, target, anchor, chunk in _named(connection, "link", name, MOST_LINKING):
        is_it = path != hit.path and (is_note or anchor in ("", hit.anchor))
        if is_it and _meant(connection, name, target, path) == hit.path:
            linking.setdefault(path, chunk)
    for path, chunk in linking.items():
        yield Lead("backlink", hit.id, path, len(linking) - 1, chunk=chunk)
    for tag in (row[1] for row in rows if row[0] == "tag" and is_note):
        paths = {row[0] for row in _named(connection, "tag", tag, MOST_TAGGED + 1)} - {hit.path}
        for path in sorted(paths):
            yield Lead("tag", hit.id, path, len(paths) - 1, name=tag)


def _named(
    connection: sqlite3.Connection, kind: str, name: str, most: int
) -> list[tuple[str, str, str, str]]:
    """Return the ties of a kind to a name; none where there are more than so many."""
    rows = connection.execute(
        "SELECT path, target, anchor, chunk FROM ties WHERE name = ? AND kind = ?"
        " ORDER BY path, rowid LIMIT ?",
        (name, kind, most + 1),
    ).fetchall()
    return rows if len(rows) <= most else []


def _meant(connection: sqlite3.Connection, name: str, target: str, source: str) -> str:
    named = connection.execute("SELECT path FROM ties WHERE kind = 'name' AND name = ?", (name,))
    return meant((path for (path,) in named), target, source)
