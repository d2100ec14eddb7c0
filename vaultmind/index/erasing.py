"""Finding what is to be forgotten, and taking what was erased out of the index, to the last byte.

Deleting a row leaves its bytes in free pages, in the log beside the database and in Chroma's
folder. So the rows go with `secure_delete` on, terms and cached vectors that no chunk needs any
more are dropped, the database is written anew, its log is cut to nothing, and the vectors move to a
fresh folder, filled from the cache. Every step can be done twice.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from collections.abc import Iterable, Sequence

import numpy as np

from vaultmind.errors import VaultMindError
from vaultmind.index.chroma import blank_freed_memory
from vaultmind.index.columns import Columns
from vaultmind.index.db import changed_on_disk, chunks_of
from vaultmind.index.embed import EmbedderAway, scale_of
from vaultmind.index.search import Finder
from vaultmind.index.sync import Sync
from vaultmind.index.vectors import Vectors
from vaultmind.index.where import Where
from vaultmind.types import Chunk, MessageRef, Scrubbed

MOST_TRACES = 32
TRACE_BYTES = 256
"""Of a vector: 64 numbers, which no other has."""
_BEGUN = "erasure_begun"
_ROWS = 4000
_ORPHANED = "text_hash NOT IN (SELECT text_hash FROM chunks)"
_START = f"substr(vector, 1, {TRACE_BYTES})"

log = logging.getLogger(__name__)


class Erasing:
    """Implements ports.IndexErasing and ports.MessageFinder. One erasure at a time."""

    def __init__(self, finder: Finder, sync: Sync, embedding: Vectors) -> None:
        self._finder = finder
        self._columns: Columns = finder.columns
        self._database = finder.columns.database
        self._sync = sync
        self._embedding = embedding
        self._lock = threading.Lock()
        self._marking = threading.Lock()
        self._under_way = False
        """Whether the erasure that is marked is this process's own, and its scrub is to come."""

    def begin(self) -> None:
        """Note that files are about to change: a scrub that a crash prevents is done later."""
        with self._marking:
            self._under_way = True
            self._database.set(_BEGUN, "1")

    def resume(self) -> None:
        """Do, in a thread of its own, the scrub that a process which was killed did not do."""
        with self._marking:
            cut_short = not self._under_way and bool(self._database.get(_BEGUN))
        if cut_short and not self._lock.locked():
            log.info("an erasure was cut short: the index is cleaned")
            threading.Thread(target=self._scrub, args=((),), name="erasing", daemon=True).start()

    def scrub(self, paths: Iterable[str]) -> Scrubbed:
        """Index the paths as they stand, and leave no trace of what they no longer say.

        Ends what was begun: a scrub that failed is tried again like one that did not come.
        """
        return self._scrub(paths, ends=True)

    def _scrub(self, paths: Iterable[str], *, ends: bool = False) -> Scrubbed:
        with self._lock:
            if ends:
                self._under_way = False
            try:
                blank_freed_memory(True)
                some = sorted(set(paths))
                with self._database.read() as connection:
                    rows = connection.execute(
                        "SELECT DISTINCT hex(text_hash) FROM chunks"
                        " WHERE path IN (SELECT value FROM json_each(?))",
                        (json.dumps(some),),
                    ).fetchall()
                self._sync.refresh(some)
                traces = self._forget([row[0] for row in rows])
                self._embedding.renew()
            except (sqlite3.Error, VaultMindError) as error:
                return Scrubbed((), (f"the index could not be cleaned ({error})",))
            faults = tuple(filter(None, (self._database.compact(),)))
            with self._marking:
                if not faults and not self._under_way:
                    self._database.set(_BEGUN, "")
        return Scrubbed(traces, faults)

    def messages_about(self, agent: str, text: str, limit: int) -> list[tuple[MessageRef, str]]:
        """Return candidate messages of an agent with their whole texts, likeliest first.

        Sessions that the index does not have as they stand are indexed first: what is to be
        forgotten must be found whatever the index knows.
        """
        if unread := self._unread(agent):
            self._sync.refresh(unread)
            self._embedding.wake()
        found = self._finder.saying(text, Where((agent,), ("message",)), limit)
        with self._database.read() as connection:
            chunks = chunks_of(connection, found)
            told: dict[tuple[str, str, str], MessageRef] = {}
            for chunk in (chunks[rowid] for rowid in found if rowid in chunks):
                block = chunk.anchor.removeprefix("#^")
                if block or chunk.message:
                    ref = MessageRef(agent, chunk.session, block, chunk.message)
                    told.setdefault((chunk.path, block, chunk.message), ref)
            pieces = (
                "SELECT text FROM chunks WHERE path = ? AND block = ? AND message = ?"
                " ORDER BY ordinal"
            )
            return [
                (ref, "\n".join(row[0] for row in connection.execute(pieces, key)))
                for key, ref in told.items()
            ]

    def _unread(self, agent: str) -> set[str]:
        """Return an agent's sessions that are not on disk as the index has them."""
        paths = self._sync.reader.paths
        folder = paths.sessions(agent)
        there = {f"{folder}/{one.name}" for one in (paths.root / folder).glob("*.md")}
        with self._database.read() as connection:
            known = connection.execute(
                "SELECT path FROM files WHERE agent = ? AND kind = 'message'", (agent,)
            )
            every = there.union(path for (path,) in known)
            return changed_on_disk(connection, self._sync.reader, every)

    def saying(self, text: str, limit: int) -> list[Chunk]:
        """Return the chunks that hold words of a text, likeliest first."""
        return self._chunks(self._finder.saying(text, Where(), limit))

    def nearest_to(self, texts: Sequence[str], limit: int) -> list[tuple[Chunk, float]] | None:
        """Return the chunks that mean nearly the same as a text, nearest first.

        Every vector is compared: from the cosine on that the embedder's scale calls the same.
        """
        embedder = self._embedding.embedder
        if embedder is None:
            return None
        if not texts:
            return []
        least = scale_of(embedder.id).same
        try:
            wanted = embedder.embed(list(texts))
        except EmbedderAway:
            return None
        scores: dict[int, float] = {}
        with self._database.read() as connection:
            cursor = connection.execute(
                "SELECT c.rowid, e.vector FROM chunks c JOIN embeddings e"
                " ON e.text_hash = c.text_hash AND e.embedder = ?",
                (embedder.id,),
            )
            while rows := cursor.fetchmany(_ROWS):
                vectors = np.frombuffer(b"".join(raw for _, raw in rows), dtype="<f4")
                near = (vectors.reshape(len(rows), -1) @ wanted.T).max(axis=1)
                for place in np.flatnonzero(near >= least):
                    scores[rows[place][0]] = float(near[place])
        best = sorted(scores, key=lambda rowid: (-scores[rowid], rowid))[:limit]
        with self._database.read() as connection:
            chunks = chunks_of(connection, best)
        return [(chunks[rowid], scores[rowid]) for rowid in best if rowid in chunks]

    def _chunks(self, rowids: Sequence[int]) -> list[Chunk]:
        with self._database.read() as connection:
            chunks = chunks_of(connection, rowids)
        return [chunks[rowid] for rowid in rowids if rowid in chunks]

    def _forget(self, held: Sequence[str]) -> tuple[bytes, ...]:
        """Drop terms and cached vectors that no chunk needs; return traces of the vectors, of those
        held by the erased files first.

        Of two texts that an embedder takes for the same one may go and one stay: that is no trace.
        """
        columns = self._columns
        with self._database.write() as connection:
            columns.follow()
            with columns.lock:
                unused = [term for term in columns.term_ids if not columns.held_by(term)]
                self._database.drop_terms([columns.term_ids[term] for term in unused])
            rows = connection.execute(
                f"SELECT DISTINCT {_START} FROM embeddings WHERE {_ORPHANED} AND {_START} NOT IN"
                f" (SELECT {_START} FROM embeddings WHERE NOT ({_ORPHANED}))"
                " ORDER BY hex(text_hash) IN (SELECT value FROM json_each(?)) DESC LIMIT ?",
                (json.dumps(held), MOST_TRACES),
            )
            traces = tuple(bytes(row[0]) for row in rows)
            connection.execute(f"DELETE FROM embeddings WHERE {_ORPHANED}")
        return traces
