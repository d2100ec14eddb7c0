"""From what full text and vectors found to a `Scene`, with a handful of SQL statements."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from vaultmind.index.coverage import Wanted
from vaultmind.index.language import detect
from vaultmind.index.ranker import asking
from vaultmind.index.ranker.asking import Question, question_of
from vaultmind.index.ranker.holding import (
    held_in_text,
    held_in_title,
    looked_up,
    pairs_in,
    postings_of,
    scores_of,
)
from vaultmind.index.ranker.pool import Found, Pool, beside, pool_of
from vaultmind.index.ranker.scene import (
    Around,
    Flags,
    Floats,
    Matched,
    Meaning,
    Said,
    Scene,
    Written,
)
from vaultmind.index.relevance import scale_of
from vaultmind.index.terms import stems, words
from vaultmind.index.ties import name_of
from vaultmind.types import KINDS

MOST_WORDS = 24
"""Telling words of a query that are looked at."""
FEEDBACK = 3
"""Candidates that say together what an answer may mean."""
READ_FOR_TIMES = 60
"""Candidates whose texts are read for the times that they tell of, half a millisecond each: those
found first."""
_LANGUAGE_LETTERS = 400
_BYTES = 4
"""Of a number in a vector."""
_ROWS = """SELECT c.speaker, CASE WHEN s.key < ? THEN c.text ELSE '' END, c.kind, c.lang, c.time,
    instr(c.text, '?') FROM json_each(?) s JOIN chunks c ON c.rowid = s.value ORDER BY s.key"""
_VECTORS = """SELECT s.key, e.vector FROM json_each(?) s JOIN chunks c ON c.rowid = s.value
    JOIN embeddings e ON e.text_hash = c.text_hash AND e.embedder = ?"""
_LINKS_IN = """SELECT t.name, count(DISTINCT t.path) FROM json_each(?) s
    JOIN ties t ON t.name = s.value AND t.kind = 'link' GROUP BY t.name"""
_LINKS_OUT = """SELECT t.path, count(*) FROM json_each(?) s
    JOIN ties t ON t.path = s.value AND t.kind = 'link' GROUP BY t.path"""


class _Row(NamedTuple):
    speaker: str
    text: str
    """Of a candidate; empty of what only stands beside one."""
    kind: str
    lang: str
    time: str
    asks: int
    """Where a question mark stands in its text; 0 for none."""


def gather(connection: sqlite3.Connection, found: Found) -> Scene | None:
    """Return what was found with all that its features need; None where nothing was found."""
    pool = pool_of(connection, found)
    if not pool.count:
        return None
    data = json.dumps(pool.rowids)
    read = [_Row(*row) for row in connection.execute(_ROWS, (pool.count, data)).fetchall()]
    lang = detect(found.query[:_LANGUAGE_LETTERS]) or ""
    question = question_of(found.query, _rarest(found.wanted), lang)
    speakers = _speakers(question, read)
    return Scene(
        question=question,
        count=pool.count,
        rowids=np.array(pool.rowids, dtype=np.int64),
        around=_around(connection, pool, read),
        matched=_matched(connection, found, question, pool, speakers),
        speaker=np.array([speakers.get(row.speaker, 0.0) for row in read], dtype=np.float32),
        asks=_flags([row.asks > 0 for row in read]),
        said=_said(question, read[: pool.count]),
        written=_written(found, lang, read[: pool.count]),
        meaning=_meaning(connection, found, pool, data),
    )


def _rarest(wanted: tuple[Wanted, ...]) -> tuple[Wanted, ...]:
    """Return the words that say most, in the order of the query."""
    if len(wanted) <= MOST_WORDS:
        return wanted
    rarest = sorted(range(len(wanted)), key=lambda at: -wanted[at].weight)[:MOST_WORDS]
    return tuple(wanted[at] for at in sorted(rarest))


def _around(connection: sqlite3.Connection, pool: Pool, rows: Sequence[_Row]) -> Around:
    paths = [path for path, _ in pool.places]
    number = {path: at for at, path in enumerate(dict.fromkeys(paths))}
    place = np.array([number[path] for path in paths], dtype=np.int64)
    own = paths[: pool.count]
    called = {
        path: name_of(path) for path, row in zip(own, rows, strict=False) if row.kind == "note"
    }
    into: dict[str, int] = {}
    out: dict[str, int] = {}
    if called:
        names = json.dumps(list(called.values()))
        into = dict(connection.execute(_LINKS_IN, (names,)).fetchall())
        out = dict(connection.execute(_LINKS_OUT, (json.dumps(list(called)),)).fetchall())
    links_in = [into.get(called.get(path, ""), 0) for path in own]
    links_out = [out.get(path, 0) for path in own]
    return Around(beside(pool), place, np.array(links_in), np.array(links_out))


def _matched(
    connection: sqlite3.Connection,
    found: Found,
    question: Question,
    pool: Pool,
    speakers: Mapping[str, float],
) -> Matched:
    wanted, index, count = question.wanted, pool.index, pool.count
    postings = [postings_of(connection, one) for one in wanted]
    looked = looked_up(postings)
    named = (word for name, share in speakers.items() if share > 0 for word in words(name))
    called = {own for word in named for own in _own(word)}
    names = np.array([_is_name(one, called) for one in wanted], dtype=np.bool_)
    bm25 = scores_of(connection, wanted, looked, index)
    topic = scores_of(connection, wanted, looked & ~names, index) if names.any() else bm25.copy()
    for rowid, score in found.text.items():
        if (at := index.get(rowid)) is not None:
            bm25[at] = max(bm25[at], score)
    weights = np.array([one.weight for one in wanted], dtype=np.float32) * looked
    return Matched(
        weights=weights,
        names=names,
        held=held_in_text(postings, index),
        titled=held_in_title(postings, index, count),
        bm25=bm25,
        topic=topic,
        exact=np.array([found.exact.get(one, 0.0) for one in pool.rowids[:count]], np.float32),
        near=pairs_in(connection, wanted, index, count),
    )


def _speakers(question: Question, rows: Sequence[_Row]) -> dict[str, float]:
    """Return for each speaker whether the query names them (1), or only somebody else (-1)."""
    asked = set(words(question.text))
    asked |= {stem for one in question.wanted for stem in one.stems}
    here = {row.speaker for row in rows if row.speaker}
    named = {one for one in here if any(not _own(word).isdisjoint(asked) for word in words(one))}
    return {one: (1.0 if one in named else -1.0 if named else 0.0) for one in here}


def _is_name(one: Wanted, called: set[str]) -> bool:
    return not called.isdisjoint(one.words) or not called.isdisjoint(one.stems)


def _own(word: str) -> set[str]:
    return {word, *stems(word, "en")}


def _said(question: Question, rows: Sequence[_Row]) -> Said:
    """Return what the candidates say; times and numbers only where the query asks for them."""
    texts = [row.text for row in rows]
    nothing = np.zeros(len(rows), dtype=np.float32)
    time = asking.says_time if question.asks == "time" else None
    number = asking.says_number if question.asks == "number" else None
    return Said(
        np.array([time(text) for text in texts], dtype=np.float32) if time else nothing,
        np.array([number(text) for text in texts], dtype=np.float32) if number else nothing,
        np.array([text.rstrip().endswith("?") for text in texts], dtype=np.float32),
        np.array([asking.says_i(text) for text in texts], dtype=np.float32),
    )


def _written(found: Found, lang: str, rows: Sequence[_Row]) -> Written:
    near = found.named.near if found.named else None
    when = [
        near(row.time, row.text if at < READ_FOR_TIMES else "", row.lang) if near else 0.0
        for at, row in enumerate(rows)
    ]
    return Written(
        letters=np.array([len(row.text) for row in rows], dtype=np.int64),
        kinds={kind: _flags([row.kind == kind for row in rows]) for kind in KINDS},
        foreign=_flags([bool(lang) and row.lang not in ("", lang) for row in rows]),
        age=_age([row.time for row in rows]),
        when=np.array(when, dtype=np.float32),
        dated=_flags([bool(row.time) for row in rows]),
    )


def _flags(values: Sequence[bool]) -> Flags:
    return np.array(values, dtype=np.bool_)


def _age(times: Sequence[str]) -> Floats:
    known = sorted({time for time in times if time})
    rank = {time: at / max(1, len(known) - 1) for at, time in enumerate(known)}
    return np.array([rank.get(time, 0.5) for time in times], dtype=np.float32)


def _meaning(connection: sqlite3.Connection, found: Found, pool: Pool, data: str) -> Meaning | None:
    if found.vector is None:
        return None
    width = len(found.vector)
    rows = connection.execute(_VECTORS, (data, found.embedder)).fetchall()
    if any(len(raw) != _BYTES * width for _, raw in rows):  # at the moment of a swap
        rows = [(at, raw) for at, raw in rows if len(raw) == _BYTES * width]
    if not rows:
        return None
    with_vector = [at for at, _ in rows]
    known = np.zeros(len(pool.rowids), dtype=np.bool_)
    known[with_vector] = True
    vectors = np.zeros((len(pool.rowids), width), dtype=np.float32)
    joined = b"".join([vector for _, vector in rows])
    vectors[with_vector] = np.frombuffer(joined, dtype=np.float32).reshape(-1, width)
    scale = scale_of(found.embedder)
    closeness = (vectors @ found.vector - scale.nothing) / (scale.same - scale.nothing)
    closeness[~known] = 0.0
    own = vectors[: pool.count]
    best = np.argsort(-closeness[: pool.count], kind="stable")[:FEEDBACK]
    feedback = np.clip(own @ own[best].mean(axis=0), 0.0, 1.0)
    return Meaning(closeness.astype(np.float32), known, feedback)
