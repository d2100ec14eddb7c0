"""What of a source leads where: imports, links, bases and tests, as edges between its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from vaultmind.planner.structure.graph_imports import handed_on, imported
from vaultmind.planner.structure.graph_links import linked
from vaultmind.planner.structure.graph_places import Asking, Places, family_of
from vaultmind.planner.structure.graph_tests import about, closeness
from vaultmind.planner.structure.records import FileRecord, Link

EdgeKind = Literal["import", "link", "embed", "inherits", "tests"]
MOST_EDGES = 1000
"""Of one file."""
_EXPLICIT = frozenset({"python", "javascript"})
"""Families in which a base that is not imported is not of this source."""
_MOST_STALE = 4
"""How many times more askings than at first are kept before the graph is made anew."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One file leads to another. Both are paths of records; `line` counts from 1, 0: no line."""

    kind: EdgeKind
    source: str
    target: str
    line: int


class Graph:
    """Edges between the files of a source. Never changes: `with_changed` gives another.

    Safe to read from many threads; changed by one at a time.
    """

    def __init__(self, places: Places, askers: dict[str, set[str]]) -> None:
        self._places = places
        self._askers = askers
        """Who asked for a key once. Only grows, so that graphs of a row may share it."""
        self._out: dict[str, tuple[Edge, ...]] = {}
        self._into: dict[str, tuple[Edge, ...]] = {}
        self._changes = 0

    @classmethod
    def of(cls, records: Mapping[str, FileRecord]) -> Graph:
        """Return the graph of all records of a source, by path."""
        graph = cls(Places(records), {})
        into: dict[str, list[Edge]] = {}
        for path in sorted(graph._places.records):
            edges = graph._resolve(path)
            if edges:
                graph._out[path] = edges
            for edge in edges:
                into.setdefault(edge.target, []).append(edge)
        graph._into = {path: tuple(edges) for path, edges in into.items()}
        return graph

    def with_changed(self, changed: Mapping[str, FileRecord | None]) -> Graph:
        """Return the graph after some records changed; None: the file is gone.

        Only what changed is resolved again, and what asked for something that changed with it.
        """
        places, keys = self._places.with_changed(changed)
        if "*" in keys or self._changes > _MOST_STALE * max(100, len(places.records)):
            return Graph.of(places.records)
        after = Graph(places, self._askers)
        after._out, after._into = dict(self._out), dict(self._into)
        touched = {path for path in changed if path in places.records}
        for key in keys:
            touched.update(p for p in self._askers.get(key, ()) if p in places.records)
        after._changes = self._changes + len(touched)
        renewed = {path: after._resolve(path) for path in sorted(touched)}
        renewed.update((path, ()) for path in changed if path not in places.records)
        after._replace(renewed)
        return after

    def out(self, path: str) -> tuple[Edge, ...]:
        """Return what a file leads to, in the order of its lines."""
        return self._out.get(path, ())

    def into(self, path: str) -> tuple[Edge, ...]:
        """Return what leads to a file, by path."""
        return self._into.get(path, ())

    def tests_of(self, path: str) -> tuple[str, ...]:
        """Return the tests that touch a file: those named like it first, then by closeness.

        Of equally close ones that which touches the fewest files comes first.
        """
        tests = [edge.source for edge in self.into(path) if edge.kind == "tests"]
        return tuple(sorted(tests, key=lambda test: self._test_order(test, path)))

    def tested_by(self, path: str) -> tuple[str, ...]:
        """Return the files that a test touches: those that it is named like first."""
        files = [edge.target for edge in self.out(path) if edge.kind == "tests"]
        return tuple(sorted(files, key=lambda one: self._file_order(path, one)))

    def _test_order(self, test: str, path: str) -> tuple[int, int, int, str]:
        like, near = closeness(test, path)
        return -like, -near, len(self.out(test)), test

    def _file_order(self, test: str, path: str) -> tuple[int, int, int, str]:
        like, near = closeness(test, path)
        return -like, -near, len(self.into(path)), path

    def _resolve(self, path: str) -> tuple[Edge, ...]:
        asking = Asking(self._places, self._places.records[path])
        edges = edges_of(asking)
        for key in asking.asked:
            self._askers.setdefault(key, set()).add(path)
        return edges

    def _replace(self, renewed: Mapping[str, tuple[Edge, ...]]) -> None:
        """Put edges in the place of those that some files had."""
        targets: dict[str, list[Edge]] = {}
        for path, edges in renewed.items():
            before = self._out.pop(path, ())
            if edges:
                self._out[path] = edges
            if before != edges:
                targets.update((e.target, []) for e in (*before, *edges) if e.target not in targets)
        for edges in renewed.values():
            for edge in edges:
                if edge.target in targets:
                    targets[edge.target].append(edge)
        for target, added in targets.items():
            kept = [edge for edge in self._into.pop(target, ()) if edge.source not in renewed]
            if kept or added:
                self._into[target] = tuple(sorted((*kept, *added), key=_by_source))


def edges_of(asking: Asking) -> tuple[Edge, ...]:
    """Return where a file leads, in the order of its lines, each kind and target once."""
    record = asking.record
    found: dict[tuple[EdgeKind, str], int] = {}
    imports: dict[str, int] = {}
    for link in record.links:
        if link.kind == "import":
            for target in imported(asking, link):
                imports.setdefault(target, link.line)
        elif link.kind != "inherits":
            _add(found, link.kind, (linked(asking, link.name),), link.line)
    for target, line in imports.items():
        found.setdefault(("import", target), line)
    for link in record.links:
        if link.kind == "inherits":
            _add(found, "inherits", _base(asking, link), link.line)
    if record.test:
        for target in about(asking, imports):
            found.setdefault(("tests", target), imports.get(target, 0))
    found = {key: line for key, line in found.items() if key[1] not in ("", record.path)}
    edges = [Edge(kind, record.path, target, line) for (kind, target), line in found.items()]
    return tuple(sorted(edges, key=_by_line)[:MOST_EDGES])


def _add(
    found: dict[tuple[EdgeKind, str], int], kind: EdgeKind, targets: Iterable[str], line: int
) -> None:
    for target in targets:
        found.setdefault((kind, target), line)


def _base(asking: Asking, link: Link) -> Iterable[str]:
    """Return the file that defines a base: through an import, or by its name alone."""
    first, _, last = link.name.rpartition(".")
    for one in asking.record.links:
        if one.kind != "import":
            continue
        if first and first in (one.name, one.name.rpartition("/")[2]):
            return _giving(asking, one, last)
        if link.name.partition(".")[0] in one.names:
            return _giving(asking, one, last if first in one.names else link.name.partition(".")[0])
    return _by_name(asking, last)


def _giving(asking: Asking, link: Link, name: str) -> list[str]:
    """Return the file of an import that a name comes from."""
    for target in imported(asking, Link("import", link.name, link.line, link.names)):
        if name in asking.face(target, name).defined:
            return [target]
        further = handed_on(asking, target, name)
        if further:
            return further[:1]
    return imported(asking, Link("import", link.name, link.line, (name,)))[:1]


def _by_name(asking: Asking, name: str) -> list[str]:
    """Return the file that alone defines a name, in languages that need no import for it."""
    record = asking.record
    if name in asking.places.face(record.path).defined or family_of(record) in _EXPLICIT:
        return _from_stars(asking, name)
    found = [p for p in asking.named(name) if family_of(asking.shape(p)) == family_of(record)]
    return found if len(found) == 1 else []


def _from_stars(asking: Asking, name: str) -> list[str]:
    """Return the file that a name comes from which is taken with all others: `import *`."""
    own = asking.places.face(asking.path)
    if name in own.defined or not own.stars:
        return []
    return handed_on(asking, asking.path, name)[:1]


def _by_line(edge: Edge) -> tuple[int, str, str]:
    return edge.line, edge.kind, edge.target


def _by_source(edge: Edge) -> tuple[str, int, str]:
    return edge.source, edge.line, edge.kind
