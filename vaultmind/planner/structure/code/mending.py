"""Takes out what is broken where it hides what stands below it: one bad line costs one definition.

A bracket that is never closed makes a parser read all that follows as its contents. Where a line
begins like a definition and the tree knows of none there, what stands before it is blanked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vaultmind.planner.structure.code.grammar import Parsed, parse

if TYPE_CHECKING:
    from vaultmind.planner.structure.code.grammar import Node

MOST_MENDED = 4
"""Broken places of a file that are blanked; each costs another parse."""
MOST_CHARS_MENDED = 200_000
_DEFINES = ("definition", "declaration")
"""How grammars end the names of such nodes."""


def mended(parsed: Parsed, text: str) -> Parsed:
    """Return the tree of a text without what breaks it, if that shows more definitions.

    Lines keep their numbers. A tree without errors is returned as it is.
    """
    starts = parsed.language.starts
    if not starts or not parsed.root.has_error or len(text) > MOST_CHARS_MENDED:
        return parsed
    begins = re.compile(starts)
    lines = text.split("\n")
    lost = _lost_rows(parsed, lines, begins)
    for _ in range(MOST_MENDED):
        if not lost:
            break
        first, last = _broken_rows(parsed, lost[0], len(lines), lines, begins)
        tried = [*lines[:first], *([""] * (last - first)), *lines[last:]]
        again = parse(parsed.language, "\n".join(tried))
        still = _lost_rows(again, tried, begins) if again else lost
        if again is None or len(still) >= len(lost):
            if again is not None:
                again.close()
            break
        parsed.close()
        parsed, lines, lost = again, tried, still
    return parsed


def _lost_rows(parsed: Parsed, lines: list[str], begins: re.Pattern[str]) -> list[int]:
    """Return the rows that begin like a definition and are none in the tree."""
    known: set[int] = set()
    for child in parsed.root.named_children:
        if not child.is_error:
            known.add(child.start_point[0])
            known.update(_own_rows(child))
    return [row for row, line in enumerate(lines) if row not in known and begins.match(line)]


def _own_rows(node: Node) -> set[int]:
    """Return the rows of what stands behind decorators."""
    return {one.start_point[0] for one in node.named_children if one.type.endswith(_DEFINES)}


def _broken_rows(
    parsed: Parsed, row: int, end: int, lines: list[str], begins: re.Pattern[str]
) -> tuple[int, int]:
    """Return the rows, the last not included, that hide a definition."""
    around = (c for c in parsed.root.children if c.start_point[0] <= row <= c.end_point[0])
    first = min((child.start_point[0] for child in around), default=row)
    if first < row:  # the last that begins like a definition before it is the broken one
        known = [at for at in range(first, row) if begins.match(lines[at])]
        return (known[-1] if known else first), row
    return row, next((at for at in range(row + 1, end) if begins.match(lines[at])), end)
