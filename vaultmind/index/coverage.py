"""How much of a query a chunk holds: its telling words, each by how rare it is here."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

RESEMBLING_SHARE = 0.7
"""Of a word's weight that a chunk gets which holds only what resembles it."""
_BATCH = 400


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


def coverage_of(
    connection: sqlite3.Connection, wanted: Sequence[Wanted], rowids: Sequence[int]
) -> dict[int, float]:
    """Return the share of a query's weight that each of some chunks holds, from 0 to 1."""
    found: dict[int, float] = {}
    for at in range(0, len(rowids), _BATCH):
        some = rowids[at : at + _BATCH]
        marks = ", ".join("?" * len(some))
        rows = connection.execute(
            f"SELECT rowid, words, stems, title FROM fts WHERE rowid IN ({marks})", some
        )
        found.update((rowid, covered(wanted, *texts)) for rowid, *texts in rows)
    return found


def covered(wanted: Sequence[Wanted], words: str, stems: str, title: str) -> float:
    """Return the same for a chunk's columns, which hold tokens with a space between them."""
    total = sum(one.weight for one in wanted)
    if not total:
        return 0.0
    typed, stemmed = f" {words} \n {title} ", f" {stems} \n {title} "
    held = sum(one.weight * _share(one, typed, stemmed) for one in wanted)
    return min(1.0, held / total)


def _share(one: Wanted, typed: str, stemmed: str) -> float:
    if any(f" {stem} " in stemmed for stem in one.stems):
        return 1.0
    if one.words and f" {' '.join(one.words)} " in typed:
        return 1.0
    alike = (f" {token} " for token in one.resembling)
    return RESEMBLING_SHARE if any(token in typed or token in stemmed for token in alike) else 0.0
