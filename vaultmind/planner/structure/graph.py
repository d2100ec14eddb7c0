"""What of a source leads where: imports, links, bases and tests, as edges between its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from vaultmind.planner.structure.records import FileRecord

EdgeKind = Literal["import", "link", "embed", "inherits", "tests"]


@dataclass(frozen=True, slots=True)
class Edge:
    """One file leads to another. Both are paths of records; `line` counts from 1, 0: no line."""

    kind: EdgeKind
    source: str
    target: str
    line: int


class Graph:
    """Edges between the files of a source. Never changes: `with_changed` gives another."""

    def __init__(self, records: Mapping[str, FileRecord]) -> None:
        self._records = dict(records)

    @classmethod
    def of(cls, records: Mapping[str, FileRecord]) -> Graph:
        """Return the graph of all records of a source, by path."""
        return cls(records)

    def with_changed(self, changed: Mapping[str, FileRecord | None]) -> Graph:
        """Return the graph after some records changed; None: the file is gone."""
        records = {**self._records, **changed}
        return Graph({path: record for path, record in records.items() if record is not None})

    def out(self, path: str) -> tuple[Edge, ...]:
        """Return what a file leads to, in the order of its lines."""
        return ()

    def into(self, path: str) -> tuple[Edge, ...]:
        """Return what leads to a file, by path."""
        return ()

    def tests_of(self, path: str) -> tuple[str, ...]:
        """Return the tests that touch a file: those named like it first, then by closeness."""
        return ()

    def tested_by(self, path: str) -> tuple[str, ...]:
        """Return the files that a test touches, in the same order."""
        return ()
