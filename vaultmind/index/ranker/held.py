"""Vectors in memory: those of the chunks that searches looked at last, a byte a number.

A search looks at some seven hundred vectors of 2 kB, which SQLite reads from two pages each. A
vector has length 1, so a byte a number keeps a cosine to within a thousandth.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vaultmind.index.ranker.scene import Flags, Floats
from vaultmind.index.storage.database import Database

MOST_BYTES = 32_000_000
"""Of all vectors that are held: 62,500 of 512 numbers. The oldest make room."""
_FIRST = 1_024
"""Vectors there is room for at first; it doubles."""
_LEVELS = 127
_BATCH = 400
_BYTES = 4
"""Of a number in the database."""
_VECTORS = "SELECT text_hash, vector FROM embeddings WHERE embedder = ? AND text_hash IN ({})"


class HeldVectors:
    """Gives vectors by the hash of their text. Any thread."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._embedder, self._width = "", 0
        self._times_emptied = 0
        self.forget()

    def forget(self) -> None:
        """Let go of all: what was erased must not be told by what it meant."""
        with self._lock:
            self._empty("", 0)

    def lacks(self, embedder: str) -> bool:
        """Tell whether nothing is held of an embedder's yet."""
        return embedder != self._embedder

    def fill(self, database: Database, hashes: Sequence[bytes], embedder: str, width: int) -> None:
        """Take the vectors of all texts, if there is room for them: no search need read any then.

        A few at a time, so that searches go on meanwhile.
        """
        if len(hashes) > self._most_bytes // max(1, width):
            return
        for at in range(0, len(hashes), _BATCH):
            with database.read() as connection:
                self.of(connection, hashes[at : at + _BATCH], embedder, width)

    def of(
        self, connection: sqlite3.Connection, hashes: Sequence[bytes], embedder: str, width: int
    ) -> tuple[Floats, Flags]:
        """Return a row a hash, of zeros where there is no vector, and which rows have one.

        Shapes (len(hashes), width) and (len(hashes),).
        """
        with self._lock:
            self._hold(embedder, width)
            rows, known = self._at(hashes)
            if known.all():  # as in most searches
                return rows, known
            times, lacking = self._times_emptied, self._lacking(hashes)
        read = _read(connection, lacking, embedder, width)  # while others go on
        with self._lock:
            emptied = times != self._times_emptied
            self._hold(embedder, width)
            self._take(read, frozenset(hashes))
            still = self._lacking(hashes)
            if len(still) > len(lacking) - len(read):  # others took their place
                self._take(_read(connection, still, embedder, width), frozenset(hashes))
            rows, known = self._at(hashes)
            if emptied:  # what was read is older than that
                self._empty("", 0)
        return rows, known

    def _at(self, hashes: Sequence[bytes]) -> tuple[Floats, Flags]:
        """Return the rows of what is held, and of what it is."""
        slots = np.array([self._slots.get(one, -1) for one in hashes], dtype=np.int64)
        known: Flags = slots >= 0
        rows = self._rows[slots].astype(np.float32)
        rows *= np.where(known, self._scales[slots], np.float32(0.0))[:, None]
        return rows, known

    def _lacking(self, hashes: Sequence[bytes]) -> list[bytes]:
        return [one for one in dict.fromkeys(hashes) if one not in self._slots]

    def _hold(self, embedder: str, width: int) -> None:
        """Hold vectors of this embedder, and no others'."""
        if (embedder, width) != (self._embedder, self._width):
            self._empty(embedder, width)

    def _empty(self, embedder: str, width: int) -> None:
        self._times_emptied += 1
        self._embedder, self._width = embedder, width
        self._slots: dict[bytes, int] = {}
        self._texts: list[bytes] = []
        """The hash of each row, in its order."""
        self._next = 0
        self._rows: NDArray[np.int8] = np.zeros((_FIRST, width), dtype=np.int8)
        self._scales: Floats = np.zeros(_FIRST, dtype=np.float32)

    def _take(self, read: Sequence[tuple[bytes, bytes]], wanted: frozenset[bytes]) -> None:
        """Keep some vectors; where there is no more room, in place of the oldest not wanted."""
        if not read:
            return
        joined = b"".join([vector for _, vector in read])
        vectors = np.frombuffer(joined, dtype=np.float32).reshape(-1, self._width)
        scales = np.maximum(np.abs(vectors).max(axis=1), np.float32(1e-9)) / np.float32(_LEVELS)
        slots = [self._slot(text, wanted) for text, _ in read]
        self._rows[slots] = np.rint(vectors / scales[:, None]).astype(np.int8)
        self._scales[slots] = scales

    def _slot(self, text: bytes, wanted: frozenset[bytes]) -> int:
        most = max(_FIRST, 2 * len(wanted), self._most_bytes // self._width)
        slot = self._next
        while slot < len(self._texts) and self._texts[slot] in wanted:
            slot = (slot + 1) % most
        self._next = (slot + 1) % most
        if slot < len(self._texts):
            self._slots.pop(self._texts[slot], None)
            self._texts[slot] = text
        else:
            self._texts.append(text)
            if slot >= len(self._rows):
                self._grow(min(most, 2 * len(self._rows)))
        self._slots[text] = slot
        return slot

    def _grow(self, rows: int) -> None:
        more = rows - len(self._rows)
        self._rows = np.concatenate([self._rows, np.zeros((more, self._width), dtype=np.int8)])
        self._scales = np.concatenate([self._scales, np.zeros(more, dtype=np.float32)])


def _read(
    connection: sqlite3.Connection, hashes: Sequence[bytes], embedder: str, width: int
) -> list[tuple[bytes, bytes]]:
    """Return (hash, vector) of the texts that have one of this width."""
    rows: list[tuple[bytes, bytes]] = []
    for at in range(0, len(hashes), _BATCH):
        some = hashes[at : at + _BATCH]
        statement = _VECTORS.format(", ".join("?" * len(some)))
        rows += connection.execute(statement, (embedder, *some)).fetchall()
    return [row for row in rows if len(row[1]) == _BYTES * width]  # else at the moment of a swap
