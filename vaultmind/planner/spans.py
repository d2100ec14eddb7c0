"""Cuts code where its definitions begin and end, for search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vaultmind.planner.code import language_of, lead_of, read_code
from vaultmind.planner.types import Definition

SPAN_CHARS = 1200
"""Characters of a span, unless a single line is longer."""


class Span(NamedTuple):
    """Lines that belong together, counted from 1, and the qualified name of what they define."""

    first_line: int
    last_line: int
    name: str


def code_spans(path: str, text: str) -> list[Span]:
    """Return spans that hold every line of code that is not blank, in order, none twice.

    A definition that fits stands whole, with what stands above it; one that does not is cut where
    what it defines begins, and the rest at blank lines. Never raises for what stands in it.
    """
    name = language_of(path, text[: text.find("\n") + 1])
    found = [one for one in read_code(path, text, name).definitions if one.kind != "constant"]
    lines = text.split("\n")
    kept: list[Span] = []
    for span in _cut(lines, (0, len(lines)), "", found):
        own = lines[span.first_line - 1 : span.last_line]
        if kept and not any(char.isalnum() for line in own for char in line):  # brackets alone
            kept[-1] = Span(kept[-1].first_line, span.last_line, kept[-1].name)
        else:
            kept.append(span)
    return kept


def _cut(
    lines: Sequence[str], rows: tuple[int, int], name: str, inside: Sequence[Definition]
) -> Iterator[Span]:
    at, end = rows
    for number, one in enumerate(inside):
        first, last = max(at, lead_of(lines, one.line) - 1), min(one.last_line, end)
        if one.line - 1 < at or first >= last:
            continue
        yield from _packed(lines, (at, first), name)
        if sum(len(line) + 1 for line in lines[first:last]) <= SPAN_CHARS:
            yield Span(first + 1, last, one.name)
        else:
            within = [each for each in inside[number + 1 :] if each.line <= last]
            yield from _cut(lines, (first, last), one.name, within)
        at = last
    yield from _packed(lines, (at, end), name)


def _packed(lines: Sequence[str], rows: tuple[int, int], name: str) -> Iterator[Span]:
    """Yield spans of some rows, cut at blank lines; a block that is too long at any line."""
    held: list[int] = []
    size = 0
    for row in range(*rows):
        if not lines[row].strip():
            continue
        block = 0
        if row == rows[0] or not lines[row - 1].strip():
            for line in lines[row : rows[1]]:
                if not line.strip() or block > SPAN_CHARS:
                    break
                block += len(line) + 1
        fits = size + max(block if block <= SPAN_CHARS else 0, len(lines[row]) + 1) <= SPAN_CHARS
        if held and not fits:
            yield Span(held[0] + 1, held[-1] + 1, name)
            held, size = [], 0
        held.append(row)
        size += len(lines[row]) + 1
    if held:
        yield Span(held[0] + 1, held[-1] + 1, name)
