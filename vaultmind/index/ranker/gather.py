"""From what full text and vectors found to a `Scene`, with a handful of SQL statements."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from vaultmind.index.embedders.scale import scale_of
from vaultmind.index.fulltext.coverage import Wanted
from vaultmind.index.ranker.asking import Question, question_of
from vaultmind.index.ranker.held import HeldVectors
from vaultmind.index.ranker.holding import (
    Looked,
    by_row,
    held_in_text,
    held_in_title,
    look,
    pairs_in,
    read_common,
    scores_of,
)
from vaultmind.index.ranker.known import KnownChunks
from vaultmind.index.ranker.pool import Found, Pool, pool_of
from vaultmind.index.ranker.scene import (
    Around,
    Flags,
    Floats,
    Ints,
    Matched,
    Meaning,
    Said,
    Scene,
    Written,
)
from vaultmind.index.storage.database import Database
from vaultmind.index.storage.journal import Journal
from vaultmind.index.words.language import detect
from vaultmind.index.words.terms import stems, words
from vaultmind.types import KINDS, Kind

FEEDBACK = 3
"""Candidates that say together what an answer may mean."""
READ_FOR_TIMES = 60
"""Candidates whose texts are read for the times that they tell of, half a millisecond each: those
found first."""
_LANGUAGE_LETTERS = 400
_TEXTS = "SELECT c.rowid, c.text FROM json_each(?) s JOIN chunks c ON c.rowid = s.value"


@dataclass(frozen=True)
class Memory:
    """What is kept from one search to the next."""

    chunks: KnownChunks = field(default_factory=KnownChunks)
    vectors: HeldVectors = field(default_factory=HeldVectors)

    def follow(self, database: Database) -> None:
        """Read again what was written since the last time."""
        mark = database.journal.version
        if self.chunks.is_at(mark):
            return
        with database.read() as connection, self.chunks.lock:
            self.keep_up(connection, database.journal, mark)

    def keep_up(self, connection: sqlite3.Connection, journal: Journal, before: int) -> None:
        """Do so by a connection: see `KnownChunks.follow`."""
        if self.chunks.follow(connection, journal, before):
            self.vectors.forget()  # something may have been erased

    def fill(self, database: Database, embedder: str, width: int) -> None:
        """Take the vectors of all chunks into memory, where there is room for them."""
        with self.chunks.lock:
            hashes = [one for one in dict.fromkeys(self.chunks.hashes) if one]
        self.vectors.fill(database, hashes, embedder, width)


def gather(database: Database, found: Found, memory: Memory | None = None) -> Scene | None:
    """Return what was found with all that its features need; None where nothing was found."""
    memory = memory or Memory()
    known = memory.chunks
    mark = database.journal.version
    with database.read() as connection:
        with known.lock:
            memory.keep_up(connection, database.journal, mark)
            pool = pool_of(connection, found, known)
            rowids = np.array(pool.rowids, dtype=np.int64)
            speakers = [known.speakers[at] for at in known.speaker_numbers(rowids).tolist()]
            hashes = [known.hashes[rowid] for rowid in pool.rowids]
            around = Around(pool.beside, known.files(rowids), *known.links(rowids[: pool.count]))
            asks = known.asks(rowids)
            lang = detect(found.query[:_LANGUAGE_LETTERS]) or ""
            told = _Told.of(known, pool, lang)
        if not pool.count:
            return None
        looked = found.looked or look(connection, found.wanted)
        question = question_of(found.query, looked.wanted, lang)
        own = pool.rowids[: pool.count]
        texts = _texts(connection, own[:READ_FOR_TIMES]) if found.named else {}
        names = _names(connection, own, known) if question.asks in ("time", "number") else []
        called = _speakers(question, speakers)
        return Scene(
            question=question,
            count=pool.count,
            rowids=rowids,
            around=around,
            matched=_matched(connection, found, looked, pool, called),
            speaker=np.array([called.get(one, 0.0) for one in speakers], dtype=np.float32),
            asks=asks,
            said=_said(question, told, names),
            written=_written(found, told, [texts.get(rowid, "") for rowid in own]),
            meaning=_meaning(connection, found, hashes, pool.count, memory.vectors),
        )


@dataclass(frozen=True, slots=True)
class _Told:
    """What is known of the candidates whatever is asked."""

    letters: Ints
    kinds: dict[Kind, Flags]
    foreign: Flags
    times: list[str]
    langs: list[str]
    ends_asking: Flags
    of_self: Flags

    @classmethod
    def of(cls, known: KnownChunks, pool: Pool, lang: str) -> _Told:
        """Return it for the candidates of a pool. The caller holds the lock of what is known."""
        own = pool.rowids[: pool.count]
        rowids = np.array(own, dtype=np.int64)
        nowhere = np.zeros(len(own), dtype=np.bool_)
        return cls(
            known.letters(rowids),
            {kind: known.kind_is(rowids, kind) for kind in KINDS},
            known.foreign(rowids, lang) if lang else nowhere,
            [known.times[rowid] for rowid in own],
            known.langs_of(rowids),
            known.ends_asking(rowids),
            known.of_self(rowids),
        )


def _texts(connection: sqlite3.Connection, rowids: Sequence[int]) -> dict[int, str]:
    """Return the texts of some chunks."""
    return dict(connection.execute(_TEXTS, (json.dumps(rowids),)).fetchall())


def _names(
    connection: sqlite3.Connection, rowids: Sequence[int], known: KnownChunks
) -> list[tuple[float, float]]:
    """Return whether chunks name a time, and a number: read once, and then known."""
    with known.lock:
        unsaid = known.unsaid(rowids)
    texts = _texts(connection, unsaid) if unsaid else {}
    with known.lock:
        return known.says(rowids, texts)


def _matched(
    connection: sqlite3.Connection,
    found: Found,
    looked: Looked,
    pool: Pool,
    speakers: Mapping[str, float],
) -> Matched:
    wanted, index, count = looked.wanted, pool.index, pool.count
    named = (word for name, share in speakers.items() if share > 0 for word in words(name))
    called = {own for word in named for own in _own(word)}
    names = np.array([_is_name(one, called) for one in wanted], dtype=np.bool_)
    bm25 = by_row(found.scores, index)
    topic = bm25.copy()
    if names.any():
        topic = by_row(scores_of(connection, wanted, looked.few & ~names), index)
    for rowid, score in found.text.items():
        if (at := index.get(rowid)) is not None:
            bm25[at] = max(bm25[at], score)
    held = held_in_text(looked.postings, index)
    titled = held_in_title(looked.postings, index, count)
    read_common(connection, looked, index, held, titled)
    return Matched(
        weights=np.array([one.weight for one in wanted], dtype=np.float32) * looked.rare,
        names=names,
        held=held,
        titled=titled,
        bm25=bm25,
        topic=topic,
        exact=np.array([found.exact.get(one, 0.0) for one in pool.rowids[:count]], np.float32),
        near=pairs_in(looked, index, count),
    )


def _speakers(question: Question, speakers: Sequence[str]) -> dict[str, float]:
    """Return for each speaker whether the query names them (1), or only somebody else (-1)."""
    asked = set(words(question.text))
    asked |= {stem for one in question.wanted for stem in one.stems}
    here = set(speakers) - {""}
    named = {one for one in here if any(not _own(word).isdisjoint(asked) for word in words(one))}
    return {one: (1.0 if one in named else -1.0 if named else 0.0) for one in here}


def _is_name(one: Wanted, called: set[str]) -> bool:
    return not called.isdisjoint(one.words) or not called.isdisjoint(one.stems)


def _own(word: str) -> set[str]:
    return {word, *stems(word, "en")}


def _said(question: Question, told: _Told, names: Sequence[tuple[float, float]]) -> Said:
    """Return what the candidates say; times and numbers only where the query asks for them."""
    nothing = np.zeros(len(told.times), dtype=np.float32)
    time = question.asks == "time"
    number = question.asks == "number"
    return Said(
        np.array([one[0] for one in names], dtype=np.float32) if time else nothing,
        np.array([one[1] for one in names], dtype=np.float32) if number else nothing,
        told.ends_asking.astype(np.float32),
        told.of_self.astype(np.float32),
    )


def _written(found: Found, told: _Told, texts: Sequence[str]) -> Written:
    when = np.zeros(len(told.times), dtype=np.float32)
    if found.named:
        for at, (time, text, lang) in enumerate(zip(told.times, texts, told.langs, strict=True)):
            when[at] = found.named.near(time, text, lang)
    return Written(
        letters=told.letters,
        kinds=told.kinds,
        foreign=told.foreign,
        age=_age(told.times),
        when=when,
        dated=np.array([bool(time) for time in told.times], dtype=np.bool_),
    )


def _age(times: Sequence[str]) -> Floats:
    known = sorted({time for time in times if time})
    rank = {time: at / max(1, len(known) - 1) for at, time in enumerate(known)}
    return np.array([rank.get(time, 0.5) for time in times], dtype=np.float32)


def _meaning(
    connection: sqlite3.Connection,
    found: Found,
    hashes: Sequence[bytes],
    count: int,
    held: HeldVectors,
) -> Meaning | None:
    if found.vector is None:
        return None
    width = len(found.vector)
    vectors, known = held.of(connection, hashes, found.embedder, width)
    if not known.any():
        return None
    scale = scale_of(found.embedder)
    closeness = (vectors @ found.vector - scale.nothing) / (scale.same - scale.nothing)
    closeness[~known] = 0.0
    own = vectors[:count]
    best = np.argsort(-closeness[:count], kind="stable")[:FEEDBACK]
    feedback = np.clip(own @ own[best].mean(axis=0), 0.0, 1.0)
    return Meaning(closeness.astype(np.float32), known, feedback)
