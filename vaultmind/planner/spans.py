"""Cuts code where its definitions begin and end, for search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from vaultmind.planner.code import language_of, lead_of, read_code
from vaultmind.planner.types import FileRecord

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
    code = language_of(path, text[: text.find("\n") + 1])
    found = read_code(FileRecord(path, "", "code", code, "", 0, 0), text).definitions
    lines = text.split("\n")
    names = [""] * len(lines)
    """Of each line the innermost definition that is too long to stand whole, or the outermost."""
    begins = {0, len(lines)}
    whole = 0
    for one in sorted(found, key=lambda it: it.line):
        first, last = lead_of(lines, one.line) - 1, min(one.last_line, len(lines))
        if one.kind == "constant" or first < whole or first >= last:
            continue
        names[first:last] = [one.name] * (last - first)
        begins |= {first, last}
        if sum(len(line) + 1 for line in lines[first:last]) <= SPAN_CHARS:
            whole = last
    kept: list[Span] = []
    for first, last in pairwise(sorted(begins)):
        for span in _packed(lines, first, last, names[first] if first < len(names) else ""):
            own = lines[span.first_line - 1 : span.last_line]
            if kept and not any(char.isalnum() for line in own for char in line):  # brackets alone
                kept[-1] = Span(kept[-1].first_line, span.last_line, kept[-1].name)
            else:
                kept.append(span)
    return kept


def _packed(lines: Sequence[str], at: int, end: int, name: str) -> Iterator[Span]:
    """Yield spans of some rows, cut at blank lines; a block that is too long at any line."""
    held: list[int] = []
    size = 0
    for row in range(at, end):
        if not lines[row].strip():
            continue
        block = len(lines[row]) + 1
        if row == at or not lines[row - 1].strip():
            blank = next((it for it in range(row, end) if not lines[it].strip()), end)
            whole = sum(len(line) + 1 for line in lines[row:blank])
            block = whole if whole <= SPAN_CHARS else block
        if held and size + block > SPAN_CHARS:
            yield Span(held[0] + 1, held[-1] + 1, name)
            held, size = [], 0
        held.append(row)
        size += len(lines[row]) + 1
    if held:
        yield Span(held[0] + 1, held[-1] + 1, name)
