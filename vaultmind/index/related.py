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
from dataclasses import replace
from heapq import nlargest
from itertools import islice
from math import prod, sqrt
from typing import NamedTuple

import numpy as np

from vaultmind.index import db
from vaultmind.index.columns import Where
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
"""Strength of the only such tie that a perfect hit has."""
_TINY = 1e-9
FAR = 0.5
"""Share of a tie's strength that does not depend on how near its end is to what comes to mind."""
MEANING, UNASKED = 0.4, 0.5
"""Strength of what lies in the very middle of what comes to mind, without any tie; and the share
of it that does not depend on how near it is to the question itself."""
MIND_FROM, MIND_TO = 0.43, 1.57
"""On an embedder's scale (0 has nothing to do with it, 1 says the same), what is far from what
comes to mind, and what is in its middle: a mean of memories is nearer to each than a question is.
"""
MOST_TIED = 40
"""Files that link to one, or have a tag: more say nothing about any of them."""


class Lead(NamedTuple):
    """A tie from a hit to another file."""

    strength: float
    """Of the only such tie of a perfect hit that of TIES; of one among n, by the root of n less."""
    tie: TieName
    to: str
    """Id of the hit."""
    path: str
    name: str
    """The tag, where it is one."""
    part: str
    """The part of the file that is meant: its anchor or the id of its chunk; empty for any."""


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
            every = sorted(lead for hit in hits for lead in leads_of(connection, hit))
            ways: defaultdict[str, dict[str, Lead]] = defaultdict(dict)
            for lead in every:
                ways[lead.path][lead.tie] = lead  # of each kind the strongest comes last
            along = {path: 1.0 - prod(1.0 - one[0] for one in ways[path].values()) for path in ways}
            ends: dict[int, Chunk] = {}
            for path in nlargest(MOST_FILES, ways, key=along.__getitem__):
                ends |= _led(connection, max(ways[path].values()))
        known = {hit.path if hit.kind == "note" else hit.id for hit in hits}
        tied: dict[str, Neighbour] = {}
        for chunk, mind, asked in self._near(query, found, ends, agent):
            if not known.isdisjoint((chunk.id, chunk.path)):
                continue
            meant = hits[0].score * MEANING * mind * (UNASKED + (1.0 - UNASKED) * asked)
            one, total = Neighbour(chunk, "meaning", hits[0].id), meant
            if chunk.path in ways:
                way = max(ways[chunk.path].values())
                total += (1.0 - meant) * along[chunk.path] * (FAR + (1.0 - FAR) * mind)
                if way.strength >= meant:
                    one = Neighbour(chunk, way.tie, way.to, way.name)
            thing = chunk.id if chunk.kind == "fact" else chunk.path
            if thing not in tied or total > tied[thing].strength:
                tied[thing] = replace(one, strength=total)
        return sorted(tied.values(), key=lambda one: (-one.strength, one.chunk.path))

    def _near(
        self, query: str, found: Sequence[Hit], ends: Mapping[int, Chunk], agent: str
    ) -> list[tuple[Chunk, float, float]]:
        """Return what ties lead to and what comes to mind of all that a question found.

        Each with how near it is to what comes to mind, and to the question: from 0 to 1, and 0
        where there are no vectors.
        """
        columns, vector = self._finder.columns, self._finder.vector(query)
        columns.follow()
        chunks, near = dict(ends), dict[int, list[float]]()
        with columns.lock, self._database.read() as connection:
            slots = columns.slots_of(db.chunks_of(connection, [hit.id for hit in found], "id"))
            slots = slots[columns.has_vector[slots]]
            if vector is not None and slots.size:
                keys, rowids = columns.vectors(slots), columns.rows["rowid"]
                mind = np.exp(keys @ vector / TEMPERATURE) @ keys
                mind /= max(float(np.linalg.norm(mind)), _TINY)
                mine = columns.nearest(mind, columns.mask(Where((agent,))), IN_MIND)
                chunks |= db.chunks_of(connection, rowids[mine].tolist())
                at = columns.slots_of(chunks)
                at = at[columns.has_vector[at]]
                cosines = columns.vectors(at) @ np.stack([mind, vector], axis=1)
                places = scale_of(columns.embedder).places(cosines)
                places[:, 0] = (places[:, 0] - MIND_FROM) / (MIND_TO - MIND_FROM)
                near = dict(zip(rowids[at].tolist(), np.clip(places, 0, 1).tolist(), strict=True))
        return [(chunk, *near.get(rowid, (0.0, 0.0))) for rowid, chunk in chunks.items()]


def _led(connection: sqlite3.Connection, lead: Lead) -> dict[int, Chunk]:
    """Return the chunks of which one stands for what a lead leads to, by rowid."""
    chunks = db.chunks_of(connection, [lead.path], "path")
    named = [row for row, one in chunks.items() if lead.part and lead.part in (one.anchor, one.id)]
    kept = named[:1] or [*chunks][:MOST_CHUNKS]
    return {rowid: chunks[rowid] for rowid in kept}


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
    is_note, own = hit.kind == "note", name_of(hit.path)
    rows = connection.execute(
        "SELECT kind, name, target, anchor FROM ties WHERE path = ? AND (? OR chunk = ?)",
        (hit.path, is_note, hit.id),
    ).fetchall()
    links = {
        _meant(connection, name, target, hit.path): anchor
        for kind, name, target, anchor in rows
        if kind == "link"
    }
    linking = {
        path: chunk
        for path, target, anchor, chunk in _named(connection, "link", own)
        if (is_note or anchor in ("", hit.anchor))
        and _meant(connection, own, target, path) == hit.path
    }
    ties: list[tuple[TieName, str, dict[str, str]]]
    ties = [("link", "", links), ("backlink", "", linking)]
    for tag in (name for kind, name, *_ in rows if kind == "tag"):
        ties += [("tag", tag, {path: "" for path, *_ in _named(connection, "tag", tag)})]
    for tie, name, ends in ties:
        others = ends.keys() - {"", hit.path}
        for path in others:
            strength = hit.score * TIES[tie] / sqrt(len(others))
            yield Lead(strength, tie, hit.id, path, name, ends[path])


def _named(connection: sqlite3.Connection, kind: str, name: str) -> list[tuple[str, str, str, str]]:
    """Return the ties of a kind to a name; none where there are too many to say anything."""
    rows = connection.execute(
        "SELECT path, target, anchor, chunk FROM ties WHERE name = ? AND kind = ?"
        " ORDER BY path, rowid DESC LIMIT ?",
        (name, kind, MOST_TIED + 1),
    ).fetchall()
    return rows if len(rows) <= MOST_TIED else []


def _meant(connection: sqlite3.Connection, name: str, target: str, source: str) -> str:
    named = connection.execute("SELECT path FROM files WHERE name = ?", (name,))
    return meant((path for (path,) in named), target, source)
