"""What the database knows of vectors: the cache by text hash, and which chunks should have one."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmind.index.db import EMBEDDED, Database
from vaultmind.index.vectors.store import BATCH, OwnedStore, collection_of
from vaultmind.types import Kind

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

_ORPHANS = 20_000
"""Cached vectors that nothing needs are kept up to so many: a text often comes back."""

_BATCH = 400
_ORDER: tuple[Kind, ...] = ("fact", "summary", "episode", "message", "note")
"""Memory gets its vectors first."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk that waits for its vector."""

    id: str
    kind: str
    agent: str
    text_hash: bytes
    title: str
    text: str


def waiting(database: Database) -> list[Piece]:
    """Return some of the chunks that wait for a vector."""
    with database.read() as connection:
        for kind in _ORDER:
            rows = connection.execute(
                "SELECT id, kind, agent, text_hash, title, text FROM chunks"
                " WHERE embedded = 0 AND kind = ? LIMIT ?",
                (kind, BATCH),
            ).fetchall()
            if rows:
                return [Piece(*row) for row in rows]
    return []


def compare(database: Database, store: OwnedStore) -> None:
    """Make database and store agree on which chunks have vectors, after whatever happened."""
    expected: dict[str, set[str]] = defaultdict(set)
    with database.read() as connection:
        for name, kind, agent in connection.execute(
            "SELECT id, kind, agent FROM chunks WHERE embedded = ?", (EMBEDDED,)
        ):
            expected[collection_of(kind, agent)].add(name)
    for collection in {*expected, *store.collections()}:
        held = store.ids(collection)
        missing = [(name,) for name in expected[collection] - held]
        surplus = [(name, collection) for name in held - expected[collection]]
        if not missing and not surplus:
            continue
        log.info("%s: %d missing, %d too many", collection, len(missing), len(surplus))
        with database.write() as connection:
            connection.executemany("UPDATE chunks SET embedded = 0 WHERE id = ?", missing)
            connection.executemany(
                "INSERT OR IGNORE INTO vector_deletes (id, collection) VALUES (?, ?)", surplus
            )


def cached(database: Database, hashes: Sequence[bytes], embedder_id: str) -> dict[bytes, bytes]:
    """Return the vectors of an embedder that are known, by text hash."""
    with database.read() as connection:
        rows = connection.execute(
            "SELECT text_hash, vector FROM embeddings"
            f" WHERE embedder = ? AND text_hash IN ({marks(hashes)})",
            (embedder_id, *hashes),
        )
        return dict(rows.fetchall())


def vectors_of(database: Database, ids: Sequence[str], embedder_id: str) -> dict[str, Matrix]:
    """Return the vectors of those chunks that have one, by chunk id."""
    import numpy as np

    found: dict[str, Matrix] = {}
    with database.read() as connection:
        for at in range(0, len(ids), _BATCH):
            some = ids[at : at + _BATCH]
            rows = connection.execute(
                "SELECT c.id, e.vector FROM chunks c JOIN embeddings e"
                f" ON e.text_hash = c.text_hash AND e.embedder = ? WHERE c.id IN ({marks(some)})",
                (embedder_id, *some),
            )
            found.update((name, np.frombuffer(raw, dtype="<f4")) for name, raw in rows)
    return found


def prune(database: Database, embedders: Collection[str]) -> None:
    """Forget cached vectors that nothing needs, of others than some embedders too, once there are
    many of them.
    """
    with database.read() as connection:
        (held,) = connection.execute("SELECT count(*) FROM embeddings").fetchone()
        (chunks,) = connection.execute("SELECT count(*) FROM chunks").fetchone()
    if held - chunks > max(_ORPHANS, chunks):
        with database.write() as connection:
            connection.execute(
                f"DELETE FROM embeddings WHERE embedder NOT IN ({marks(embedders)})"
                " OR text_hash NOT IN (SELECT text_hash FROM chunks)",
                [*embedders],
            )


def keep_only(database: Database, embedders: Collection[str]) -> None:
    """Forget the cached vectors of all embedders but some."""
    with database.write() as connection:
        connection.execute(
            f"DELETE FROM embeddings WHERE embedder NOT IN ({marks(embedders)})", [*embedders]
        )


def marks(items: Collection[object]) -> str:
    """Return the question marks of an SQL list."""
    return ",".join("?" * len(items))
