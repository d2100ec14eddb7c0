"""What is related to what a search found: along links and tags, and by one step of attention.

Rows and cached vectors alone are looked at; what is returned is checked against the disk as a
search checks its hits.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from vaultmind.errors import VaultMindError
from vaultmind.index.db import CHUNK_COLUMNS, Database, changed_on_disk, chunk_from, hit_of
from vaultmind.index.embedders.scale import STRONG, Scale, scale_of
from vaultmind.index.outlet import Outlet
from vaultmind.index.relations.attention import attend
from vaultmind.index.relations.strength import by_meaning, near_mind, strength, tie_strength
from vaultmind.index.relations.tied import Lead, leads_of
from vaultmind.index.vectors.cached import marks
from vaultmind.index.vectors.store import collection_of
from vaultmind.ports import FileIndexer
from vaultmind.types import KINDS, Caller, Chunk, Hit, Neighbour, TieName

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

MOST_HITS = 5
"""Of what was found, the best: they lead on, if they are strong. All are attended to."""
IN_MIND = 10
"""Memories of each kind that are taken for what came to mind."""
MOST_FILES = 12
"""Files that ties lead to which are looked at."""
MOST_CHUNKS = 6
"""Chunks of such a file of which the nearest is taken."""
MOST = 10
"""Neighbours that are checked and returned."""
REPLY_WITHIN = 12
"""Chunks after a message among which somebody else speaks."""
ROUNDS = 2
"""Tries again where a file turns out to have changed."""


class Meaning(Protocol):
    """What is asked of the vectors."""

    @property
    def embedder_id(self) -> str:
        """Return the id of the embedder in use; empty when there is none."""
        ...

    def query_vector(self, query: str) -> Matrix | None:
        """Return a question's vector; None while there is none."""
        ...

    def nearest_to(
        self, vector: Matrix, collections: Sequence[str], limit: int
    ) -> list[tuple[str, float]] | None:
        """Return (chunk id, cosine distance), nearest first; None while that cannot be told."""
        ...

    def vectors(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors of those chunks that have one."""
        ...


@dataclass(frozen=True, slots=True)
class _Look:
    """One question's way to look at chunks: how near each is to it, and to what it recalls."""

    query: Matrix
    mind: Matrix
    scale: Scale

    def near(self, vector: Matrix | None) -> tuple[float, float]:
        """Return how near a chunk is to what comes to mind, and to the question: from 0 to 1."""
        if vector is None:
            return 0.0, 0.0
        place = self.scale.place(float(vector @ self.mind))
        return near_mind(place), self.scale.meaning(float(vector @ self.query))


@dataclass(slots=True)
class _Thing:
    """A file, or a fact of one, that something leads to, and all that does."""

    leads: list[Lead]
    chunks: dict[str, Chunk]


class Relations:
    """Implements ports.Related over one index. Any thread."""

    def __init__(
        self, database: Database, meaning: Meaning, outlet: Outlet, indexer: FileIndexer
    ) -> None:
        self._database = database
        self._meaning = meaning
        self._outlet = outlet
        self._indexer = indexer

    def related(
        self, query: str, found: Sequence[Hit], agent: str, caller: Caller, least: float
    ) -> list[Neighbour]:
        """Return chunks of the notes and of one agent's memory that are tied to some hits."""
        if not any(hit.score >= STRONG for hit in found):
            return []
        found = sorted(found, key=lambda hit: -hit.score)
        for _ in range(ROUNDS):
            tied = self._tied(query, found, agent, least)
            near = list(islice((one for one in tied if self._shows(one, agent, caller)), MOST))
            with self._database.read() as connection:
                paths = {one.chunk.path for one in near}
                changed = changed_on_disk(connection, self._outlet.reader, paths)
            if not changed:
                break
            with suppress(VaultMindError):
                self._indexer.refresh(changed)
        return [self._cleaned(one) for one in near if one.chunk.path not in changed]

    def replies(self, found: Sequence[Hit], agent: str, caller: Caller) -> dict[str, Hit]:
        """Return, by the id of each hit that is a message, what somebody else said after it."""
        with self._database.read() as connection:
            after = {hit.id: _reply(connection, hit) for hit in found if hit.kind == "message"}
            paths = {chunk.path for chunk in after.values() if chunk}
            changed = changed_on_disk(connection, self._outlet.reader, paths)
        replies: dict[str, Hit] = {}
        for hit in found:
            chunk = after.get(hit.id)
            if chunk is None or chunk.path in changed or chunk.agent not in ("", agent):
                continue
            if self._outlet.shows_chunk(chunk, caller):
                clean = self._outlet.clean
                replies[hit.id] = hit_of(chunk, clean(chunk.title), clean(chunk.text), hit.score)
        return replies

    def _shows(self, one: Neighbour, agent: str, caller: Caller) -> bool:
        chunk = one.chunk
        return chunk.agent in ("", agent) and self._outlet.shows_chunk(chunk, caller)

    def _cleaned(self, one: Neighbour) -> Neighbour:
        title, _, text = self._outlet.clean(f"{one.chunk.title}\n{one.chunk.text}").partition("\n")
        return replace(one, chunk=replace(one.chunk, title=title, text=text))

    def _tied(self, query: str, found: Sequence[Hit], agent: str, least: float) -> list[Neighbour]:
        """Return what is tied to hits as the index has it, the strongest first."""
        look = self._look(query, found)
        hits = [hit for hit in found if hit.score >= STRONG][:MOST_HITS]
        with self._database.read() as connection:
            leads = [lead for hit in hits for lead in leads_of(connection, hit)]
            led = _led(connection, _strong(leads, hits, least))
        minded = self._in_mind(look, agent) if look else []
        known = {hit.path if hit.kind == "note" else hit.id for hit in hits}
        things: dict[str, _Thing] = {}
        for lead, chunks in (*led, *((None, [chunk]) for chunk in minded)):
            for chunk in chunks:
                if known.isdisjoint((chunk.id, chunk.path)):
                    key = chunk.id if chunk.kind == "fact" else chunk.path
                    thing = things.setdefault(key, _Thing([], {}))
                    thing.chunks[chunk.id] = chunk
                    thing.leads += [lead] if lead and lead not in thing.leads else []
        ids = [name for thing in things.values() for name in thing.chunks]
        vectors = self._vectors([*ids, *(hit.id for hit in hits)], look.query) if look else {}
        near = [_neighbour(thing, hits, look, vectors) for thing in things.values()]
        near = [one for one in near if one.strength >= least]
        return sorted(near, key=lambda one: (-one.strength, one.chunk.path, one.chunk.start))

    def _look(self, query: str, found: Sequence[Hit]) -> _Look | None:
        """Attend to what a question found; None where there are no vectors."""
        vector = self._meaning.query_vector(query)
        if vector is None:
            return None
        keys = list(self._vectors([hit.id for hit in found], vector).values())
        scale = scale_of(self._meaning.embedder_id)
        return _Look(vector, attend(vector, keys), scale) if keys else None

    def _vectors(self, ids: Sequence[str], asked: Matrix) -> dict[str, Matrix]:
        """Return vectors that can be compared with a question's: the embedder may just change."""
        found = self._meaning.vectors(ids)
        return {name: row for name, row in found.items() if len(row) == len(asked)}

    def _in_mind(self, look: _Look, agent: str) -> list[Chunk]:
        """Return the chunks nearest to what came to mind."""
        found = [
            name
            for collection in _collections(agent)
            for name, _ in self._meaning.nearest_to(look.mind, [collection], IN_MIND) or []
        ]
        with self._database.read() as connection:
            return list(_by_id(connection, found).values())


def _reply(connection: sqlite3.Connection, hit: Hit) -> Chunk | None:
    """Return the first chunk of what somebody else said after a message."""
    rows = connection.execute(
        f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE path = ? AND ordinal >"
        " (SELECT ordinal FROM chunks WHERE id = ?) ORDER BY ordinal LIMIT ?",
        (hit.path, hit.id, REPLY_WITHIN),
    ).fetchall()
    own = _by_id(connection, [hit.id]).get(hit.id)
    for chunk in map(chunk_from, rows):
        if own and (chunk.role, chunk.speaker) != (own.role, own.speaker):
            return chunk if chunk.role in ("user", "assistant") else None
    return None


def _neighbour(
    thing: _Thing, hits: Sequence[Hit], look: _Look | None, vectors: Mapping[str, Matrix]
) -> Neighbour:
    """Return a thing as its nearest chunk, with its strongest tie."""
    near = {name: look.near(vectors.get(name)) if look else (0.0, 0.0) for name in thing.chunks}
    chunk = thing.chunks[max(near, key=lambda name: sum(near[name]))]
    minded, asked = (max(values) for values in zip(*near.values(), strict=True))
    ties = _best_ways(thing.leads, hits)
    along = {tie: way for tie, (way, _) in ties.items()}
    total = strength(along, minded, asked, hits[0].score)
    tie = max(along, key=lambda one: along[one], default=None)
    if tie and along[tie] >= by_meaning(minded, asked, hits[0].score):
        lead = ties[tie][1]
        return Neighbour(chunk, tie, lead.to, lead.name, total)
    return Neighbour(chunk, "meaning", _nearest_hit(chunk, hits, vectors), strength=total)


def _nearest_hit(chunk: Chunk, hits: Sequence[Hit], vectors: Mapping[str, Matrix]) -> str:
    """Return the id of the hit that means most nearly the same as a chunk."""
    own = vectors.get(chunk.id)
    held = [hit.id for hit in hits if hit.id in vectors]
    if own is None or not held:
        return hits[0].id
    return max(held, key=lambda name: float(vectors[name] @ own))


def _best_ways(leads: Iterable[Lead], hits: Sequence[Hit]) -> dict[TieName, tuple[float, Lead]]:
    """Return the strongest way of each kind to one thing."""
    scores = {hit.id: hit.score for hit in hits}
    best: dict[TieName, tuple[float, Lead]] = {}
    for lead in leads:
        way = tie_strength(lead.tie, lead.others, scores[lead.to])
        if lead.tie not in best or way > best[lead.tie][0]:
            best[lead.tie] = (way, lead)
    return best


def _strong(leads: Iterable[Lead], hits: Sequence[Hit], least: float) -> list[Lead]:
    """Return the leads to those files that may turn out strong enough, the strongest few."""
    files: defaultdict[str, list[Lead]] = defaultdict(list)
    for lead in leads:
        files[lead.path].append(lead)
    most: dict[str, float] = {}
    for path, ways in files.items():
        best = _best_ways(ways, hits)
        most[path] = strength({tie: way for tie, (way, _) in best.items()}, 1.0, 0.0, 0.0)
    chosen = sorted((path for path in files if most[path] >= least), key=lambda path: -most[path])
    return [lead for path in chosen[:MOST_FILES] for lead in files[path]]


def _led(
    connection: sqlite3.Connection, leads: Sequence[Lead]
) -> list[tuple[Lead, Sequence[Chunk]]]:
    """Return the chunks of which one stands for what each lead leads to."""
    paths = list(dict.fromkeys(lead.path for lead in leads if not lead.chunk))
    firsts: defaultdict[str, list[Chunk]] = defaultdict(list)
    rows = connection.execute(
        f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE ordinal < ? AND path IN ({marks(paths)})"
        " ORDER BY path, ordinal",
        (MOST_CHUNKS, *paths),
    )
    for row in rows:
        chunk = chunk_from(row)
        firsts[chunk.path].append(chunk)
    named = _by_id(connection, [lead.chunk for lead in leads if lead.chunk])
    found: list[tuple[Lead, Sequence[Chunk]]] = []
    for lead in leads:
        if lead.chunk:
            found.append((lead, [named[lead.chunk]] if lead.chunk in named else []))
        else:
            part = _part(connection, lead) if lead.anchor else None
            found.append((lead, [part] if part else firsts[lead.path]))
    return found


def _part(connection: sqlite3.Connection, lead: Lead) -> Chunk | None:
    """Return the chunk that a link to a heading or a block means."""
    row = connection.execute(
        f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE path = ? AND anchor = ?"
        " ORDER BY ordinal LIMIT 1",
        (lead.path, lead.anchor),
    ).fetchone()
    return chunk_from(row) if row else None


def _by_id(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Chunk]:
    rows = connection.execute(
        f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE id IN ({marks(ids)})", ids
    ).fetchall()
    return {chunk.id: chunk for chunk in map(chunk_from, rows)}


def _collections(agent: str) -> list[str]:
    """Return the collections that hold the notes and an agent's memory."""
    return [collection_of(kind, "" if kind == "note" else agent) for kind in KINDS]
