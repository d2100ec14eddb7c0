"""What is related to what a search found: along links and tags, and by one step of attention.

Rows and cached vectors alone are looked at; what is returned is checked against the disk as a
search checks its hits.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from vaultmind.errors import VaultMindError
from vaultmind.index.attention import Mind, attend
from vaultmind.index.cached import marks
from vaultmind.index.database import CHUNK_COLUMNS, Database, chunk_from
from vaultmind.index.found import changed_on_disk
from vaultmind.index.outlet import Outlet
from vaultmind.index.relevance import Scale, scale_of
from vaultmind.index.tied import Lead, leads_of, special_first
from vaultmind.index.vectors import collection_of
from vaultmind.ports import FileIndexer
from vaultmind.types import KINDS, Caller, Chunk, Hit, Neighbour

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

MOST_HITS = 5
"""Of what was found, the best: what else is found with them says little about the question."""
KEYS = 12
"""Memories of each kind that a question attends to."""
IN_MIND = 10
"""Memories of each kind that are taken for what came to mind."""
MOST_LEADS = 24
"""Files that ties lead to which are looked at."""
MOST_CHUNKS = 8
"""Chunks of such a file of which the nearest is taken."""
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
    mind: Mind
    keys: tuple[str, ...]
    """The chunks that were attended to, as `mind.weights` has them."""
    scale: Scale


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
        self, query: str, found: Sequence[Hit], agent: str, caller: Caller
    ) -> list[Neighbour]:
        """Return chunks of the notes and of one agent's memory that are tied to some hits."""
        hits = found[:MOST_HITS]
        if not hits:
            return []
        for _ in range(ROUNDS):
            near = [
                one for one in self._tied(query, hits, agent) if self._shows(one, agent, caller)
            ]
            with self._database.read() as connection:
                paths = {one.chunk.path for one in near}
                changed = changed_on_disk(connection, self._outlet.reader, paths)
            if not changed:
                break
            with suppress(VaultMindError):
                self._indexer.refresh(changed)
        return [self._cleaned(one) for one in near if one.chunk.path not in changed]

    def _shows(self, one: Neighbour, agent: str, caller: Caller) -> bool:
        chunk = one.chunk
        return chunk.agent in ("", agent) and self._outlet.shows_chunk(chunk, caller)

    def _cleaned(self, one: Neighbour) -> Neighbour:
        clean = self._outlet.clean
        chunk = replace(one.chunk, title=clean(one.chunk.title), text=clean(one.chunk.text))
        return replace(one, chunk=chunk)

    def _tied(self, query: str, hits: Sequence[Hit], agent: str) -> list[Neighbour]:
        """Return what is tied to hits, as the index has it; none of the hits themselves."""
        look = self._look(query, hits, agent)
        with self._database.read() as connection:
            leads = special_first([lead for hit in hits for lead in leads_of(connection, hit)])
            led = [(lead, _chunks(connection, lead)) for lead in _of_few_files(leads)]
        vectors = self._meaning.vectors([c.id for _, chunks in led for c in chunks]) if look else {}
        known = {hit.id for hit in hits}
        near: list[Neighbour] = []
        for lead, chunks in led:
            measured = [
                _measured(look, chunk, vectors.get(chunk.id), lead)
                for chunk in chunks
                if chunk.id not in known
            ]
            near += sorted(measured, key=lambda one: -(one.near_query + one.near_found))[:1]
        return near + (self._in_mind(look, hits, agent) if look else [])

    def _look(self, query: str, hits: Sequence[Hit], agent: str) -> _Look | None:
        """Attend to what is near a question and what was found; None where there are no vectors."""
        vector = self._meaning.query_vector(query)
        if vector is None:
            return None
        ids = dict.fromkeys(hit.id for hit in hits)
        for name in _collections(agent):
            near = self._meaning.nearest_to(vector, [name], KEYS) or []
            ids.update((one, None) for one, _ in near)
        keys = self._meaning.vectors(list(ids))
        if not keys:
            return None
        scale = scale_of(self._meaning.embedder_id)
        return _Look(vector, attend(vector, list(keys.values())), tuple(keys), scale)

    def _in_mind(self, look: _Look, hits: Sequence[Hit], agent: str) -> list[Neighbour]:
        """Return the chunks nearest to what came to mind, each tied to the hit it is nearest to."""
        names = _collections(agent)
        found = [
            self._meaning.nearest_to(look.mind.vector, [name], IN_MIND) or [] for name in names
        ]
        known = [hit.id for hit in hits]
        ids = [one for some in found for one, _ in some if one not in known]
        vectors = self._meaning.vectors([*ids, *known])
        held = [one for one in known if one in vectors]
        with self._database.read() as connection:
            chunks = _by_id(connection, ids)
        near = []
        for one in ids:
            if one in chunks and one in vectors and held:
                to = max(held, key=lambda name: float(vectors[name] @ vectors[one]))
                lead = Lead("meaning", to, chunks[one].path, 0)
                near.append(_measured(look, chunks[one], vectors[one], lead))
        return near


def _measured(look: _Look | None, chunk: Chunk, vector: Matrix | None, lead: Lead) -> Neighbour:
    near_query = near_found = 0.0
    if look is not None and vector is not None:
        near_query = look.scale.meaning(float(vector @ look.query))
        near_found = look.scale.meaning(float(vector @ look.mind.vector))
    return Neighbour(chunk, lead.tie, lead.to, lead.name, lead.others, near_query, near_found)


def _of_few_files(leads: Iterable[Lead]) -> list[Lead]:
    """Return the leads to the first files, as many as are looked at."""
    files: set[str] = set()
    kept = []
    for lead in leads:
        if len(files) < MOST_LEADS or lead.path in files:
            files.add(lead.path)
            kept.append(lead)
    return kept


def _chunks(connection: sqlite3.Connection, lead: Lead) -> list[Chunk]:
    """Return the chunks of which one stands for what a lead leads to."""
    if lead.chunk:
        return list(_by_id(connection, [lead.chunk]).values())
    statement = f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE path = ? {{}} ORDER BY ordinal LIMIT ?"
    if lead.anchor:
        rows = connection.execute(
            statement.format("AND anchor = ?"), (lead.path, lead.anchor, 1)
        ).fetchall()
        if rows:
            return [chunk_from(rows[0])]
    rows = connection.execute(statement.format(""), (lead.path, MOST_CHUNKS)).fetchall()
    return [chunk_from(row) for row in rows]


def _by_id(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Chunk]:
    rows = connection.execute(
        f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE id IN ({marks(ids)})", ids
    ).fetchall()
    return {chunk.id: chunk for chunk in map(chunk_from, rows)}


def _collections(agent: str) -> list[str]:
    """Return the collections that hold the notes and an agent's memory."""
    return [collection_of(kind, "" if kind == "note" else agent) for kind in KINDS]
