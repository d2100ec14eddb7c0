"""Which names a file of code mentions, and how it is told that nobody wrote it by hand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vaultmind.planner.structure.code.grammar import Parsed
    from vaultmind.planner.structure.code.sorting import Sorted

MOST_USES = 150
_NAME = re.compile(r"[^\W\d]\w{2,60}")
_LONG_LINE = 2_000
_MINIFIED_SHARE = 0.5
"""A file is minified if so much of it stands on long lines."""


def uses_of(parsed: Parsed, found: Sorted, own: Collection[str]) -> tuple[str, ...]:
    """Return the names that stand in code (not in comments, strings, imports), most frequent first.

    Left out: what the file itself defines, keywords, names of one or two letters.
    """
    data, kept, start = parsed.data, [], 0
    imports = [nodes["import"][0] for nodes in found.imports]
    nodes = (*found.comments, *found.strings, *imports)
    for begin, end in sorted((node.start_byte, node.end_byte) for node in nodes):
        if begin >= start:
            kept.append(data[start:begin])
            start = end
    kept.append(data[start:])
    text = b" ".join(kept).decode("utf-8", "replace")
    counted = Counter(_NAME.findall(text))
    for name in _keywords().union(own):
        counted.pop(name, None)
    return tuple(name for name, _ in counted.most_common(MOST_USES))


@cache
def _keywords() -> frozenset[str]:
    """Return words that say nothing in any of the languages."""
    return frozenset(
        files(__package__).joinpath("languages", "keywords.txt").read_text("utf-8").split()
    )


def is_minified(text: str) -> bool:
    """Tell whether most of a text stands on lines that nobody wrote."""
    long = sum(len(line) for line in text.split("\n") if len(line) > _LONG_LINE)
    return long > _MINIFIED_SHARE * len(text)
