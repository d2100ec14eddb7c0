"""BM25 of words, as FTS5's `bm25` counts it, from where they stand: what is asked often is held.

FTS5 takes 3 µs for each chunk that holds a word, most of them for finding out how long the chunk
is, and again in every search. Here the lengths are in memory, and so is what the words of the last
searches came to: common words, which cost most, come in nearly every question.

https://www.sqlite.org/fts5.html, "The bm25() function" and "The fts5vocab virtual table".
"""

from __future__ import annotations

import math
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vaultmind.index.fulltext.phrase import Phrase
from vaultmind.index.storage.database import Database
from vaultmind.index.storage.journal import NEVER

K1, B = 1.2, 0.75
"""FTS5's, which cannot be set there."""
LEAST_RARITY = 1e-6
"""Of a word that more than half of the chunks hold."""
MOST_HELD = 400_000
"""Places of words that are held, 16 bytes each; those not asked for longest make room."""
_BATCH = 400
_MORE = 0x80
"""The bit that says that a number goes on."""
_LENGTHS = "SELECT id, sz FROM fts_docsize"
_LENGTHS_OF = """SELECT d.id, d.sz FROM chunks c JOIN fts_docsize d ON d.id = c.rowid
    WHERE c.path IN ({})"""
_TOTALS = "SELECT block FROM fts_data WHERE id = 1"
_OCCURRENCES = """SELECT group_concat(iif(col = 'title', -doc, doc), ' ') FROM fts_occurrences
    WHERE term = ? AND col <> 'words'"""
"""As one row: for each row the interpreter's lock is let go of, which others may want."""
_MATCHES = "SELECT rowid, -bm25(fts, ?, ?, ?) FROM fts WHERE fts MATCH ?"

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Held:
    """The chunks that hold a phrase, by rowid, and what each scores for it."""

    rowids: Rows
    scores: Scores

    def as_lists(self) -> tuple[list[int], list[float]]:
        """Return both as Python's numbers."""
        return self.rowids.tolist(), self.scores.tolist()


_NOWHERE = Held(np.zeros(0, dtype=np.int64), np.zeros(0))


class Bm25:
    """Scores of phrases over one database. Any thread."""

    def __init__(
        self, database: Database, weights: tuple[float, float, float], most_held: int = MOST_HELD
    ) -> None:
        """`weights`: of the columns words, stems and title."""
        self._database = database
        self._weights = weights
        self._most_held = most_held
        self._lock = threading.RLock()
        self._mark = NEVER
        self._lengths: NDArray[np.int32] = np.zeros(1, dtype=np.int32)
        """Of each rowid, in tokens of all columns."""
        self._chunks, self._mean_length = 0, 1.0
        self._held: OrderedDict[Phrase, Held] = OrderedDict()
        self._places = 0

    def of(self, phrases: Sequence[Phrase]) -> dict[Phrase, Held]:
        """Return which chunks hold each phrase, and their scores, as the index is now."""
        mark = self._database.journal.version
        with self._database.read() as connection:
            if self._database.is_written_here:  # what is not committed is not to be held
                return {one: self._matches(connection, one) for one in phrases}
            with self._lock:
                self._follow(connection, mark)
                found = {one: self._held[one] for one in phrases if one in self._held}
                lengths, sizes = self._lengths, (self._chunks, self._mean_length)
            new = {
                one: self._read(connection, one, lengths, sizes)
                for one in dict.fromkeys(phrases)
                if one not in found
            }
        with self._lock:
            if self._mark == mark:
                self._keep(new)
                for one in found:
                    if one in self._held:
                        self._held.move_to_end(one)
        return found | new

    def forget(self) -> None:
        """Let go of what words came to: some of it may be of what was erased."""
        with self._lock:
            self._held.clear()
            self._places, self._mark = 0, NEVER

    def warm(self) -> None:
        """Read the lengths now, so that the first search need not."""
        self.of(())

    def _follow(self, connection: sqlite3.Connection, mark: int) -> None:
        """Read again what was written since the last time; what was held may have changed."""
        if mark == self._mark:
            return
        _, paths = self._database.journal.since(self._mark)
        self._held.clear()
        self._places = 0
        if paths is None:
            self._lengths = _lengths(connection.execute(_LENGTHS), np.zeros(1, dtype=np.int32))
        elif paths:
            self._lengths = _lengths(_of_files(connection, sorted(paths)), self._lengths.copy())
        self._chunks, self._mean_length = _sizes(connection)
        self._mark = mark

    def _keep(self, new: dict[Phrase, Held]) -> None:
        for one, held in new.items():
            if one not in self._held:
                self._held[one] = held
                self._places += len(held.rowids) + 1
        while self._places > self._most_held:
            _, gone = self._held.popitem(last=False)
            self._places -= len(gone.rowids) + 1

    def _read(
        self,
        connection: sqlite3.Connection,
        phrase: Phrase,
        lengths: NDArray[np.int32],
        sizes: tuple[int, float],
    ) -> Held:
        if not phrase.token:
            return self._matches(connection, phrase)
        (told,) = connection.execute(_OCCURRENCES, (phrase.token,)).fetchone()
        if not told:
            return _NOWHERE
        places = np.array(told.split(), dtype=np.int64)
        if not phrase.in_title:
            places = places[places > 0]
        rowids, which = np.unique(np.abs(places), return_inverse=True)
        _, stems, title = self._weights
        often = _sums(which, np.where(places < 0, title, stems), len(rowids))
        return Held(rowids, _scores(often, _at(lengths, rowids), sizes))

    def _matches(self, connection: sqlite3.Connection, phrase: Phrase) -> Held:
        """Return the same by FTS5's own count."""
        values = (*self._weights, phrase.expression)
        rows = sorted(connection.execute(_MATCHES, values).fetchall())
        rowids = np.array([row[0] for row in rows], dtype=np.int64)
        return Held(rowids, np.array([row[1] for row in rows], dtype=np.float64))


def added(parts: Iterable[Held]) -> Held:
    """Return the chunks of any part, by rowid, with the sums of their scores."""
    some = [one for one in parts if len(one.rowids)]
    if len(some) <= 1:
        return some[0] if some else _NOWHERE
    rowids, which = np.unique(np.concatenate([one.rowids for one in some]), return_inverse=True)
    scores = _sums(which, np.concatenate([one.scores for one in some]), len(rowids))
    return Held(rowids, scores)


def in_all(parts: Sequence[Held]) -> Held:
    """Return the chunks that every part has, with the sums of their scores."""
    whole = added(parts)
    among = np.ones(len(whole.rowids), dtype=np.bool_)
    for one in parts:
        among &= np.isin(whole.rowids, one.rowids)
    return Held(whole.rowids[among], whole.scores[among])


def best_of(held: Held, count: int) -> list[tuple[int, float]]:
    """Return the best chunks, best first; of equals the first in the index."""
    order = np.argsort(-held.scores, kind="stable")[:count]
    return [*zip(held.rowids[order].tolist(), held.scores[order].tolist(), strict=True)]


def _sums(which: Rows, values: Scores, count: int) -> Scores:
    found: Scores = np.bincount(which, values, count).astype(np.float64, copy=False)
    return found


def _scores(often: Scores, lengths: Scores, sizes: tuple[int, float]) -> Scores:
    chunks, mean_length = sizes
    count = len(often)
    others = max(chunks - count, 0)  # chunks were counted before: there may be more by now
    rarity = max(LEAST_RARITY, math.log((others + 0.5) / (count + 0.5)))
    scores: Scores = (
        rarity * often * (K1 + 1.0) / (often + K1 * (1.0 - B + B * lengths / mean_length))
    )
    return scores


def _at(lengths: NDArray[np.int32], rowids: Rows) -> Scores:
    known = np.minimum(rowids, len(lengths) - 1)
    found: Scores = np.where(known == rowids, lengths[known], 0).astype(np.float64)
    return found


def _of_files(connection: sqlite3.Connection, paths: Sequence[str]) -> Iterable[tuple[int, bytes]]:
    for at in range(0, len(paths), _BATCH):
        some = paths[at : at + _BATCH]
        yield from connection.execute(_LENGTHS_OF.format(", ".join("?" * len(some))), some)


def _lengths(rows: Iterable[tuple[int, bytes]], known: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the lengths by rowid, with those of some rows put right."""
    found = [(rowid, sum(_numbers(told))) for rowid, told in rows]
    if not found:
        return known
    told = np.array(found, dtype=np.int64)
    last = int(told[:, 0].max())
    if last >= len(known):
        more = np.zeros(last + 1 + last // 4 - len(known), dtype=np.int32)
        known = np.concatenate([known, more])
    known[told[:, 0]] = told[:, 1]
    return known


def _sizes(connection: sqlite3.Connection) -> tuple[int, float]:
    """Return how many chunks there are, and their mean length."""
    row = connection.execute(_TOTALS).fetchone()
    chunks, *totals = _numbers(row[0] if row else b"") or [0]
    return chunks, (sum(totals) / chunks if chunks and any(totals) else 1.0)


def _numbers(told: bytes) -> list[int]:
    """Return SQLite's variable-length integers: seven bits a byte, the highest says there is more.

    Of nine bytes the last has all its bits: no number here is near so large.
    """
    if max(told, default=0) < _MORE:  # as with nearly every chunk
        return [*told]
    numbers: list[int] = []
    number = 0
    for byte in told:
        number = number << 7 | byte & ~_MORE
        if byte < _MORE:
            numbers.append(number)
            number = 0
    return numbers
