"""Cuts code where its definitions begin and end."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vaultmind.planner.structure.code.blocks import SPAN_CHARS, block_spans, pack
from vaultmind.planner.structure.code.defining import Placed, definitions_of
from vaultmind.planner.structure.code.facts import Span
from vaultmind.planner.structure.code.grammar import Parsed
from vaultmind.planner.structure.code.languages import language as language_named
from vaultmind.planner.structure.code.reader import parsed_or_not, rather
from vaultmind.planner.structure.code.remarks import Remark, remarks
from vaultmind.planner.structure.code.sorting import sort


def code_spans(path: str, text: str, language: str) -> list[Span]:
    """Return spans that hold every line of code that is not blank, in order, none twice.

    A definition that fits stands whole, with the comment above it; of one that does not, what it
    defines stands by itself and the rest is cut where statements begin. Lines end with a line
    feed, as `text.split("\\n")` has them, and count from 1. Never raises for what stands in it.
    """
    one = rather(language_named(language), text)
    parsed, _ = parsed_or_not(one, text)
    if parsed is None:
        return block_spans(text)
    found = sort(parsed)
    comments = remarks(parsed, found)
    placed, _ = definitions_of(parsed, found, comments)
    lines = text.split("\n")
    cutting = _Cutting(lines, _statement_rows(parsed, comments), _children(placed))
    return _joined(lines, cutting.spans())


@dataclass(slots=True)
class _Region:
    """Rows that are still to be cut: `start` up to `end`, of a definition or of the file."""

    start: int
    end: int
    name: str
    children: Iterator[Placed]


class _Cutting:
    """Walks over the definitions as they nest, without calling itself: they may nest deep."""

    def __init__(
        self, lines: Sequence[str], cuts: Sequence[int], children: dict[int, list[Placed]]
    ) -> None:
        self._lines = lines
        self._cuts = cuts
        self._children = children

    def spans(self) -> Iterator[Span]:
        """Yield the spans of the file."""
        regions = [_Region(0, len(self._lines), "", iter(self._children.get(-1, ())))]
        while regions:
            region = regions[-1]
            child = next(region.children, None)
            if child is None:
                yield from self._packed(region.start, region.end, region.name)
                regions.pop()
                continue
            start = max(child.lead_row, region.start)
            end = min(child.definition.last_line, region.end)
            if start < end:
                yield from self._packed(region.start, start, region.name)
                region.start = end
                inner = self._region(child, start, end)
                if inner is None:
                    yield Span(start + 1, end, child.definition.name)
                else:
                    regions.append(inner)

    def _region(self, child: Placed, start: int, end: int) -> _Region | None:
        """Return what is to be cut of a definition; None: it fits."""
        if sum(len(line) + 1 for line in self._lines[start:end]) <= SPAN_CHARS:
            return None
        inner = self._children.get(child.number, ())
        return _Region(start, end, child.definition.name, iter(inner))

    def _packed(self, start: int, end: int, name: str) -> Iterator[Span]:
        if start < end:
            first = bisect_left(self._cuts, start)
            last = bisect_left(self._cuts, end)
            yield from pack(self._lines, (start, end), self._cuts[first:last], name)


def _children(placed: Sequence[Placed]) -> dict[int, list[Placed]]:
    """Return what each definition holds, by its number; constants stand with what is around."""
    held: dict[int, list[Placed]] = {}
    for one in placed:
        if one.definition.kind != "constant":
            held.setdefault(one.parent, []).append(one)
    return held


def _joined(lines: Sequence[str], spans: Iterator[Span]) -> list[Span]:
    """Return spans without those of brackets alone, and with overloads as one."""
    kept: list[Span] = []
    for span in spans:
        before = kept[-1] if kept else None
        if before and _belongs(lines, before, span):
            kept[-1] = Span(before.first_line, span.last_line, before.name)
        else:
            kept.append(span)
    return kept


def _belongs(lines: Sequence[str], before: Span, span: Span) -> bool:
    own = lines[span.first_line - 1 : span.last_line]
    if not any(char.isalnum() for line in own for char in line):
        return True
    if not span.name or before.name != span.name:
        return False
    both = lines[before.first_line - 1 : span.last_line]
    return sum(len(line) + 1 for line in both) <= SPAN_CHARS


def _statement_rows(parsed: Parsed, comments: Sequence[Remark]) -> list[int]:
    """Return where statements begin, those within others only where the others are long."""
    rows: set[int] = set()
    waiting = [parsed.root]
    while waiting:
        for child in waiting.pop().named_children:
            rows.add(child.start_point[0])
            if child.end_byte - child.start_byte > SPAN_CHARS:
                waiting.append(child)
    for remark in comments:  # one stays with what stands below it
        if not remark.behind_code and remark.last_row + 1 in rows:
            rows.discard(remark.last_row + 1)
            rows.add(remark.first_row)
    return sorted(rows)
