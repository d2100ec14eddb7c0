"""What each layer sees of a record: an edit that leaves it as it was leaves the layer as it is.

No line numbers are in it: a paragraph more moves everything below it and changes no layer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vaultmind.planner.structure.records import FileRecord
from vaultmind.planner.types import Layer

Facet = object


def _map(one: FileRecord) -> Facet:
    return one.shape, one.language, one.entry, one.entry and one.title


def _index(one: FileRecord) -> Facet:
    headings = tuple((each.level, each.text) for each in one.headings)
    defined = tuple((each.name, each.kind, each.public) for each in one.definitions)
    return one.title, headings, defined, one.test


def _relations(one: FileRecord) -> Facet:
    links = tuple((each.kind, each.name, each.names) for each in one.links)
    return links, tuple(each.name for each in one.definitions), one.test and one.uses


def _surface(one: FileRecord) -> Facet:
    shown = tuple((each.signature, each.summary) for each in one.definitions if each.public)
    return one.abstract, one.properties, shown


def _manifest(one: FileRecord) -> Facet:
    return one.shape, one.language, one.tags, one.properties


def _work(one: FileRecord) -> Facet:
    tasks = tuple((each.text, each.done) for each in one.tasks)
    return tasks, one.test, _relations(one) if one.test else len(one.definitions)


def _content(one: FileRecord) -> Facet:
    return one.sha


FACETS: Mapping[Layer, Callable[[FileRecord], Facet]] = {
    "L0": _map, "L1": _index, "L2": _relations, "L3": _surface, "L4": _manifest, "L5": _work,
    "L6": _content,
}  # fmt: skip


def changed_layers(before: FileRecord | None, after: FileRecord | None) -> tuple[Layer, ...]:
    """Return the layers that see a difference; a file that came or went is seen by all."""
    if before is None or after is None:
        return tuple(FACETS) if before is not after else ()
    return tuple(layer for layer, facet in FACETS.items() if facet(before) != facet(after))
