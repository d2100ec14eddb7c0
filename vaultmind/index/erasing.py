"""Finding what is to be forgotten, and taking what was erased out of the index, to the last byte.

Deleting a row leaves its bytes in free pages, in the log beside the database and in Chroma's
folder. So the rows go with `secure_delete` on, cached vectors that no chunk needs any more are
dropped, the database is written anew, its log is cut to nothing, and the vectors move to a fresh
folder, filled from the cache. Every step can be done twice.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence

from vaultmind.errors import VaultMindError
from vaultmind.index.columns import Where
from vaultmind.index.db import chunks_of
from vaultmind.index.embed import scale_of
from vaultmind.index.search import Finder
from vaultmind.index.sync import Sync
from vaultmind.index.vectors import DROP_ORPHANS, Vectors
from vaultmind.types import Chunk, MessageRef, Scrubbed

_BEGUN = "erasure_begun"
_ANYWHERE = Where()
_PIECES = "SELECT text FROM chunks WHERE path = ? AND block = ? AND message = ? ORDER BY ordinal"

log = logging.getLogger(__name__)


class Erasing:
    """Implements ports.IndexErasing and ports.MessageFinder. One erasure at a time."""

    def __init__(self, finder: Finder, sync: Sync, embedding: Vectors) -> None:
        self._finder, self._database = finder, finder.columns.database
        self._sync, self._embedding = sync, embedding
        self._lock = threading.Lock()
        self._is_under_way = False
        """Whether the erasure that is marked is this process's own, and its scrub is to come."""

    def begin(self) -> None:
        """Note that files are about to change: a scrub that a crash prevents is done later."""
        self._is_under_way = True
        self._database.set(_BEGUN, "1")

    def resume(self) -> None:
        """Do the scrub that failed, or that a process which was killed did not do."""
        if not self._is_under_way and self._database.get(_BEGUN):
            log.info("an erasure was cut short: the index is cleaned")
            self.scrub(())

    def scrub(self, paths: Iterable[str]) -> Scrubbed:
        """Index the paths as they stand, and leave no trace of what they no longer say."""
        with self._lock:
            self._is_under_way = False
            try:
                self._sync.refresh(sorted(set(paths)))
                with self._database.write() as connection:
                    connection.execute(DROP_ORPHANS)
                self._embedding.renew()
                self._database.compact()
                self._database.set(_BEGUN, "")
            except VaultMindError as error:
                return Scrubbed((f"the index could not be cleaned ({error})",))
        return Scrubbed()

    def messages_about(self, agent: str, text: str, limit: int) -> list[tuple[MessageRef, str]]:
        """Return candidate messages of an agent with their whole texts, likeliest first.

        Sessions that the index does not have as they stand are indexed first: what is to be
        forgotten must be found whatever the index knows.
        """
        self._sync.refresh([f"{self._sync.paths.sessions(agent)}/"])
        told: dict[tuple[str, str, str], MessageRef] = {}
        for chunk in self.saying(text, limit, Where((agent,), ("message",))):
            block = chunk.anchor.removeprefix("#^")
            if block or chunk.message:
                ref = MessageRef(agent, chunk.session, block, chunk.message)
                told.setdefault((chunk.path, block, chunk.message), ref)
        with self._database.read() as connection:
            return [
                (ref, "\n".join(row[0] for row in connection.execute(_PIECES, key)))
                for key, ref in told.items()
            ]

    def saying(self, text: str, limit: int, where: Where = _ANYWHERE) -> list[Chunk]:
        """Return the chunks that hold words of a text, likeliest first."""
        return [chunk for _, chunk in self._chunks(self._finder.saying(text, where, limit))]

    def nearest_to(self, texts: Sequence[str], limit: int) -> list[tuple[Chunk, float]] | None:
        """Return the chunks that mean nearly the same as a text, nearest first.

        Those from the cosine on that the embedder's scale calls the same.
        """
        columns, scores = self._finder.columns, dict[int, float]()
        for text in texts:
            if (vector := self._finder.vector(text)) is None:
                return None
            columns.follow()
            with columns.lock:
                slots = columns.nearest(vector, columns.mask(_ANYWHERE), limit)
                near = columns.vectors(slots) @ vector
                for rowid, one in zip(columns.rows["rowid"][slots].tolist(), near, strict=True):
                    scores[rowid] = max(float(one), scores.get(rowid, 0.0))
        same = scale_of(columns.embedder).same
        best = sorted((one for one in scores if scores[one] >= same), key=lambda one: -scores[one])
        return [(chunk, scores[one]) for one, chunk in self._chunks(best[:limit])]

    def _chunks(self, rowids: Sequence[int]) -> list[tuple[int, Chunk]]:
        with self._database.read() as connection:
            chunks = chunks_of(connection, rowids)
        return [(rowid, chunks[rowid]) for rowid in rowids if rowid in chunks]
