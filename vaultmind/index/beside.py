"""What stands beside a chunk in its file, as the index has it."""

from __future__ import annotations

from vaultmind.index.database import CHUNK_COLUMNS, Database, chunk_from
from vaultmind.types import Chunk

REACH = 4
"""Chunks that are read on each side: a long message has several."""


class Beside:
    """Reads the chunks around others. Any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __call__(self, chunk: Chunk) -> list[Chunk]:
        """Return the chunks around one in its file, in order, itself among them.

        Nothing where the chunk is not in the index any more.
        """
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE path = ? AND ordinal BETWEEN"
                " (SELECT ordinal FROM chunks WHERE id = ?) - ? AND"
                " (SELECT ordinal FROM chunks WHERE id = ?) + ? ORDER BY ordinal",
                (chunk.path, chunk.id, REACH, chunk.id, REACH),
            ).fetchall()
        return [chunk_from(row) for row in rows]
