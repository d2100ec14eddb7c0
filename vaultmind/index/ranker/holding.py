"""Which rows of a scene hold which words of a query, and what full text scores them.

The postings of each word are read once from the full-text table: from them come coverage of a
chunk, of its surroundings and of its file. BM25 is taken of every chunk that matches, so that a
chunk without a word of the query still knows what it stands in.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from vaultmind.index.fulltext.coverage import RESEMBLING_SHARE, Wanted, columns_of, covered
from vaultmind.index.ranker.scene import Flags, Floats

MOST_WORDS = 24
"""Telling words of a query that are looked at."""
MOST_POSTINGS = 1_500
"""A word in more chunks than this says little and is not looked up, ..."""
ALWAYS = 2
"""... but for the two rarest."""
APART = 3
"""Words that may stand between two that belong together."""
_SCORES = "SELECT rowid, -bm25(fts, 1, 1, 3) FROM fts WHERE fts MATCH ?"
_HOLDING = """SELECT group_concat(rowid, ' ') FROM
    (SELECT rowid FROM fts WHERE fts MATCH ? LIMIT ?)"""
"""As one row: for each row the interpreter's lock is let go of, which others may want."""


@dataclass(frozen=True, slots=True)
class Postings:
    """The rowids that hold a word: in the text, in title or tags, and what resembles it."""

    text: list[int]
    title: list[int]
    alike: list[int]


@dataclass(frozen=True, slots=True)
class Looked:
    """Where the telling words of a query stand, in the whole index."""

    wanted: tuple[Wanted, ...]
    postings: tuple[Postings, ...]
    rare: Flags
    """Which words are rare enough to be looked up."""
    few: Flags
    """Which of those have all their chunks in `postings`."""
    pairs: tuple[list[int], ...]
    """For each two rare words that stand side by side in the query, the chunks in which they do."""


def look(connection: sqlite3.Connection, wanted: tuple[Wanted, ...]) -> Looked:
    """Return where the words of a query stand: the `MOST_WORDS` that say most, in its order."""
    wanted = _rarest(wanted)
    postings = tuple(postings_of(connection, one) for one in wanted)
    rare = looked_up(postings)
    few = rare & np.array([len(one.text) <= MOST_POSTINGS for one in postings], dtype=np.bool_)
    beside = pairwise(one if is_few else None for one, is_few in zip(wanted, few, strict=True))
    near = [
        f'stems : NEAR("{one.stems[0]}" "{other.stems[0]}", {APART})'
        for one, other in beside
        if one and other and one.stems and other.stems
    ]
    return Looked(wanted, postings, rare, few, tuple(_holding(connection, one) for one in near))


def postings_of(connection: sqlite3.Connection, one: Wanted) -> Postings:
    """Return where a word is; of one in too many chunks no more than that it is.

    To find the few titles among all places of a common word takes longer than all else.
    """
    plain = _plain(one)
    alike = " OR ".join(f'"{token}"' for token in one.resembling)
    text = _holding(connection, f"{{words stems}} : ({plain})" if plain else "")
    if len(text) > MOST_POSTINGS:
        return Postings(text, [], [])
    title = _holding(connection, f"title : ({plain})" if plain else "")
    return Postings(text, title, _holding(connection, alike))


def looked_up(found: Sequence[Postings]) -> Flags:
    """Return which words are rare enough to be looked up."""
    sizes = [len(one.text) for one in found]
    rarest = set(sorted(range(len(sizes)), key=lambda at: sizes[at])[:ALWAYS])
    chosen = [at in rarest or size <= MOST_POSTINGS for at, size in enumerate(sizes)]
    return np.array(chosen, dtype=np.bool_)


def held_in_text(found: Sequence[Postings], index: Mapping[int, int]) -> Floats:
    """Return the share of each word that each row's text holds."""
    shares = np.zeros((len(index), len(found)), dtype=np.float32)
    for column, one in enumerate(found):
        shares[_rows(one.alike, index), column] = RESEMBLING_SHARE
        shares[_rows(one.text, index), column] = 1.0
    return shares


def read_common(
    connection: sqlite3.Connection,
    looked: Looked,
    index: Mapping[int, int],
    held: Floats,
    titled: Floats,
) -> None:
    """Put right what texts and titles hold of words that are in too many chunks to be looked up.

    `held` of all rows, `titled` of the candidates: both are written to.
    """
    columns = np.flatnonzero(looked.rare & ~looked.few).tolist()
    if not columns:
        return
    rows = list(columns_of(connection, list(index)))
    for column in columns:
        plain = (replace(looked.wanted[column], resembling=()),)
        for rowid, typed, stemmed, title in rows:
            row = index[rowid]
            held[row, column] = covered(plain, typed, stemmed, "")
            if row < len(titled):
                titled[row, column] = covered(plain, title, title, "")


def held_in_title(found: Sequence[Postings], index: Mapping[int, int], count: int) -> Floats:
    """Return the same of the candidates' titles."""
    shares = np.zeros((len(index), len(found)), dtype=np.float32)
    for column, one in enumerate(found):
        shares[_rows(one.title, index), column] = 1.0
    return shares[:count]


def scores_of(
    connection: sqlite3.Connection, wanted: Sequence[Wanted], which: Flags
) -> Mapping[int, float]:
    """Return the BM25 for some of the words of every chunk that holds one, by rowid."""
    parts = [
        f"{{{'stems' if one.stems else 'words'} title}} : ({plain})"
        for one, is_wanted in zip(wanted, which, strict=True)
        if is_wanted and (plain := _plain(one))
    ]
    return dict(connection.execute(_SCORES, (" OR ".join(parts),))) if parts else {}


def by_row(scores: Mapping[int, float], index: Mapping[int, int]) -> Floats:
    """Return the scores of the rows of a scene, 0 for those that have none."""
    return np.array([scores.get(rowid, 0.0) for rowid in index], dtype=np.float32)


def pairs_in(looked: Looked, index: Mapping[int, int], count: int) -> Floats:
    """Return the share of the query's pairs of words that each candidate has side by side."""
    near = np.zeros(len(index), dtype=np.float32)
    for holding in looked.pairs:
        near[_rows(holding, index)] += 1.0 / len(looked.pairs)
    return near[:count]


def _rarest(wanted: tuple[Wanted, ...]) -> tuple[Wanted, ...]:
    if len(wanted) <= MOST_WORDS:
        return wanted
    rarest = sorted(range(len(wanted)), key=lambda at: -wanted[at].weight)[:MOST_WORDS]
    return tuple(wanted[at] for at in sorted(rarest))


def _holding(connection: sqlite3.Connection, expression: str) -> list[int]:
    if not expression:
        return []
    (joined,) = connection.execute(_HOLDING, (expression, MOST_POSTINGS + 1)).fetchone()
    return [*map(int, (joined or "").split())]


def _rows(rowids: Sequence[int], index: Mapping[int, int]) -> list[int]:
    return [index[rowid] for rowid in rowids if rowid in index]


def _plain(one: Wanted) -> str:
    if one.stems:
        return " OR ".join(f'"{stem}"' for stem in one.stems)
    return f'"{" ".join(one.words)}"' if one.words else ""
