"""How much of a query a chunk holds: its telling words, each by how rare it is here."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

RESEMBLING_SHARE = 0.7
"""Of a word's weight that a chunk gets which holds only what resembles it."""
_READ = """SELECT t.id, t.c0, t.c1, t.c2 FROM json_each(?) s
    JOIN fts_content t ON t.id = s.value"""
"""Full text's own table: reading it by way of `fts` takes twice as long."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A telling word of a query, and what of a chunk counts as it."""

    weight: float
    words: tuple[str, ...]
    """Tokens as typed, side by side; often one."""
    stems: tuple[str, ...] = ()
    """Of which any will do."""
    resembling: tuple[str, ...] = ()
    """Stand-ins of a word that nobody wrote, of which any will do."""


def columns_of(
    connection: sqlite3.Connection, rowids: Sequence[int]
) -> Iterable[tuple[int, str, str, str]]:
    """Return the rowid, words, stems and title of some chunks, as full text has them."""
    found: Iterable[tuple[int, str, str, str]] = connection.execute(_READ, (json.dumps(rowids),))
    return found


def coverage_of(
    connection: sqlite3.Connection, wanted: Sequence[Wanted], rowids: Sequence[int]
) -> dict[int, float]:
    """Return the share of a query's weight that each of some chunks holds, from 0 to 1."""
    rows = columns_of(connection, rowids)
    return {rowid: covered(wanted, *texts) for rowid, *texts in rows}


def covered(wanted: Sequence[Wanted], words: str, stems: str, title: str) -> float:
    """Return the same for a chunk's columns, which hold tokens with a space between them."""
    total = sum(one.weight for one in wanted)
    if not total:
        return 0.0
    shares = shares_of(wanted, words, stems, title)
    held = sum(one.weight * share for one, share in zip(wanted, shares, strict=True))
    return min(1.0, held / total)


def shares_of(wanted: Sequence[Wanted], words: str, stems: str, title: str) -> tuple[float, ...]:
    """Return how much of each word a chunk's columns hold, from 0 to 1."""
    typed, stemmed = f" {words} \n {title} ", f" {stems} \n {title} "
    return tuple(_share(one, typed, stemmed) for one in wanted)


def _share(one: Wanted, typed: str, stemmed: str) -> float:
    for stem in one.stems:
        if f" {stem} " in stemmed:
            return 1.0
    if one.words and f" {' '.join(one.words)} " in typed:
        return 1.0
    for token in one.resembling:
        if f" {token} " in typed or f" {token} " in stemmed:
            return RESEMBLING_SHARE
    return 0.0
