"""Taking what was erased out of the index: rows, terms, cached vectors, and the bytes of them.

Deleting a row leaves its bytes in free pages, in the log beside the database and in Chroma's
folder. So the rows go with `secure_delete` on, the full text is merged into one piece, cached
vectors that no chunk needs any more are dropped, the database is written anew, its log is cut to
nothing, and the vectors move to a fresh folder, filled from the cache. Every step can be done
twice.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vaultmind.errors import VaultMindError
from vaultmind.index.embedders.embed import EmbedderAway
from vaultmind.index.embedders.scale import scale_of
from vaultmind.index.fulltext.text_index import TextIndex
from vaultmind.index.storage.database import Database
from vaultmind.index.storage.found import chunks_of
from vaultmind.index.storage.where import Where
from vaultmind.index.sync.sync import Sync
from vaultmind.index.vectors.cached import marks
from vaultmind.index.vectors.embedding import Embedding
from vaultmind.types import Chunk, Scrubbed

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

VECTOR_SECONDS = 120.0
"""How long to wait until the vectors' old folder is gone."""
MOST_TRACES = 32
TRACE_BYTES = 256
"""Of a vector: 64 numbers, which no other has."""
_SECURE_FTS = (3, 42, 0)
"""SQLite from which full text can forget a row at once; before, merging does it."""
_BEGUN = "erasure_begun"
_ROWS = 4000
_HASHES = 400
_ORPHANED = "text_hash NOT IN (SELECT text_hash FROM chunks)"

log = logging.getLogger(__name__)


class Erasing:
    """Implements ports.IndexErasing. One erasure at a time."""

    def __init__(
        self, database: Database, text: TextIndex, sync: Sync, embedding: Embedding
    ) -> None:
        self._database = database
        self._text = text
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
                held = self._delete(sorted(set(paths)))
                slow = self._embedding.renew(VECTOR_SECONDS)
                traces = self._forget_vectors(held)
            except (sqlite3.Error, VaultMindError) as error:
                return Scrubbed((), (f"the index could not be cleaned ({error})",))
            self._text.reset()
            faults = tuple(filter(None, (slow, self._database.compact())))
            with self._marking:
                if not faults and not self._under_way:
                    self._database.set(_BEGUN, "")
        return Scrubbed(traces, faults)

    def saying(self, text: str, limit: int) -> list[Chunk]:
        """Return the chunks that hold words of a text, likeliest first."""
        found = self._text.search(text, Where(), limit)
        with self._database.read() as connection:
            chunks = chunks_of(connection, [hit.rowid for hit in found])
        return [chunks[hit.rowid] for hit in found if hit.rowid in chunks]

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
            scores = self._scores(embedder.embed(list(texts)), embedder.id, least)
        except EmbedderAway:
            return None
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]
        with self._database.read() as connection:
            chunks = chunks_of(connection, [rowid for rowid, _ in best])
        return [(chunks[rowid], cosine) for rowid, cosine in best if rowid in chunks]

    def _scores(self, wanted: Matrix, embedder: str, least: float) -> dict[int, float]:
        """Return the best cosine of each chunk that is near enough, by rowid."""
        import numpy as np

        scores: dict[int, float] = {}
        with self._database.read() as connection:
            cursor = connection.execute(
                "SELECT c.rowid, e.vector FROM chunks c JOIN embeddings e"
                " ON e.text_hash = c.text_hash AND e.embedder = ?",
                (embedder,),
            )
            while rows := cursor.fetchmany(_ROWS):
                vectors = np.frombuffer(b"".join(raw for _, raw in rows), dtype="<f4")
                near = (vectors.reshape(len(rows), -1) @ wanted.T).max(axis=1)
                for place in np.flatnonzero(near >= least):
                    scores[rows[place][0]] = float(near[place])
        return scores

    def _delete(self, paths: list[str]) -> list[bytes]:
        """Delete rows and terms in one transaction; return the keys of all vectors before."""
        with self._database.write() as connection:
            held = _hashes(connection, paths)
            _secure_full_text(connection, on=True)
            self._sync.refresh(paths)
            self._text.tidy()
            _secure_full_text(connection, on=False)
        return held

    def _forget_vectors(self, held: Sequence[bytes]) -> tuple[bytes, ...]:
        """Drop cached vectors that no chunk needs; return traces of them, those held first.

        Comes after the renewal: until then the embedding may have cached one more.
        """
        with self._database.write() as connection:
            traces = _orphans(connection, held)
            connection.execute(f"DELETE FROM embeddings WHERE {_ORPHANED}")
        return traces


def _hashes(connection: sqlite3.Connection, paths: Sequence[str]) -> list[bytes]:
    found: list[bytes] = []
    for path in paths:
        rows = connection.execute("SELECT DISTINCT text_hash FROM chunks WHERE path = ?", (path,))
        found += (row[0] for row in rows)
    return found


def _orphans(connection: sqlite3.Connection, held: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return beginnings of cached vectors that no chunk needs, first those just held."""
    found: dict[bytes, None] = {}
    for at in range(0, len(held), _HASHES):
        some = held[at : at + _HASHES]
        rows = connection.execute(
            f"SELECT vector FROM embeddings WHERE text_hash IN ({marks(some)}) AND {_ORPHANED}",
            some,
        )
        found.update((row[0][:TRACE_BYTES], None) for row in rows)
    rows = connection.execute(
        f"SELECT vector FROM embeddings WHERE {_ORPHANED} LIMIT ?", (MOST_TRACES,)
    )
    found.update((row[0][:TRACE_BYTES], None) for row in rows)
    traces = tuple(found)[:MOST_TRACES]
    needed = _needed(connection, traces)
    return tuple(one for one in traces if one not in needed)


def _needed(connection: sqlite3.Connection, traces: Sequence[bytes]) -> set[bytes]:
    """Return those that a vector begins with, too, which some chunk needs.

    Of two texts that an embedder takes for the same one may go and one stay.
    """
    rows = connection.execute(
        f"SELECT DISTINCT substr(vector, 1, {TRACE_BYTES}) FROM embeddings"
        f" WHERE substr(vector, 1, {TRACE_BYTES}) IN ({marks(traces)}) AND NOT ({_ORPHANED})",
        traces,
    )
    return {bytes(row[0]) for row in rows}


def _secure_full_text(connection: sqlite3.Connection, *, on: bool) -> None:
    if sqlite3.sqlite_version_info >= _SECURE_FTS:
        connection.execute("INSERT INTO fts (fts, rank) VALUES ('secure-delete', ?)", (int(on),))
