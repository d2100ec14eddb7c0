"""What is read from one file of code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from vaultmind.planner.structure.records import Definition, Link, Task


class Span(NamedTuple):
    """Lines that belong together. Both count from 1, by line feeds alone; `name` may be empty."""

    first_line: int
    last_line: int
    name: str
    """Qualified as in `Definition.name`; empty for what stands outside of definitions."""


@dataclass(frozen=True, slots=True)
class CodeFacts:
    """What a file of code holds. Each tuple is in the order of the file but for `uses`."""

    definitions: tuple[Definition, ...] = ()
    links: tuple[Link, ...] = ()
    """`import` and `inherits`; names of bases without the aliases they were imported under."""
    uses: tuple[str, ...] = ()
    """Names that are called or mentioned, most frequent first."""
    abstract: str = ""
    test: bool = False
    entry: bool = False
    tasks: tuple[Task, ...] = ()
    """TODO, FIXME and the like of its comments."""
    faults: tuple[str, ...] = ()
    """Why less is known than could be, in words."""
