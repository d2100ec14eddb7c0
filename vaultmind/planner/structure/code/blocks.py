"""Cuts text that no grammar reads: blocks between blank lines, gathered up to a size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from vaultmind.planner.structure.code.facts import Span

SPAN_CHARS = 1200
"""What a span holds at the most, but for a single line that is longer."""


def block_spans(text: str) -> list[Span]:
    """Return spans that hold every line that is not blank, in order."""
    lines = text.split("\n")
    blank = [not line.strip() for line in lines]
    starts = [row for row in range(1, len(lines)) if blank[row - 1] and not blank[row]]
    return list(pack(lines, (0, len(lines)), starts, ""))


def pack(
    lines: Sequence[str], rows: tuple[int, int], starts: Iterable[int], name: str
) -> Iterator[Span]:
    """Yield spans of the rows from the first up to the second (from 0), cut at `starts`.

    Parts are gathered while they fit; one that is too long by itself is cut at any line.
    Blank lines at the ends of a span are left out.
    """
    begin, size = rows[0], 0
    for start, end in _parts(lines, rows, starts):
        part = sum(len(line) + 1 for line in lines[start:end])
        if size and size + part > SPAN_CHARS:
            yield from trimmed(lines, (begin, start), name)
            begin, size = start, 0
        size += part
    yield from trimmed(lines, (begin, rows[1]), name)


def trimmed(lines: Sequence[str], rows: tuple[int, int], name: str) -> Iterator[Span]:
    """Yield the span of some rows without blank ones around it; none if all are blank."""
    held = [row for row in range(*rows) if lines[row].strip()]
    if held:
        yield Span(held[0] + 1, held[-1] + 1, name)


def _parts(
    lines: Sequence[str], rows: tuple[int, int], starts: Iterable[int]
) -> Iterator[tuple[int, int]]:
    bounds = [rows[0], *sorted({row for row in starts if rows[0] < row < rows[1]}), rows[1]]
    for start, end in pairwise(bounds):
        if sum(len(line) + 1 for line in lines[start:end]) <= SPAN_CHARS:
            yield start, end
        else:
            yield from ((row, row + 1) for row in range(start, end))
