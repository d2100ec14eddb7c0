"""Sorts the matches of a language's queries by what they tell of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vaultmind.planner.structure.code.grammar import Nodes, Parsed

if TYPE_CHECKING:
    from vaultmind.planner.structure.code.grammar import Node

KINDS = (
    "class", "function", "method", "interface", "type", "enum", "module", "constant",
    "default_function", "default_class", "holder",
)  # fmt: skip
"""Captures of a definition's node. `holder` names what stands in it and defines nothing."""

Place = tuple[int, int]
"""Where a node begins and ends, in bytes: two matches mean one node if both are equal."""


@dataclass(slots=True)
class Sorted:
    """The matches of a file."""

    definitions: list[tuple[str, Node, Nodes]] = field(default_factory=list)
    """Kind, node, and the other nodes of its match."""
    wraps: dict[Place, Node] = field(default_factory=dict)
    """By what they wrap: decorators, `export`."""
    exports: set[Place] = field(default_factory=set)
    """Those of `wraps` that give out what they wrap, by what they wrap."""
    has_exports: bool = False
    docs: dict[Place, Node] = field(default_factory=dict)
    """By the block whose first statement they are."""
    public: set[str] = field(default_factory=set)
    imports: list[Nodes] = field(default_factory=list)
    comments: list[Node] = field(default_factory=list)
    strings: list[Node] = field(default_factory=list)
    above: dict[int, int] = field(default_factory=dict)
    """Rows of what belongs to the definition below it: the last row to the first."""


def sort(parsed: Parsed) -> Sorted:
    """Return the matches of a file, sorted."""
    found = Sorted()
    for nodes in parsed.matches():
        _take(found, nodes, parsed)
    found.comments = _in_order(found.comments)
    found.strings = _in_order(found.strings)
    return found


def place(node: Node) -> Place:
    """Return where a node begins and ends."""
    return node.start_byte, node.end_byte


def _take(found: Sorted, nodes: Nodes, parsed: Parsed) -> None:
    if "comment" in nodes:
        found.comments.extend(nodes["comment"])
    elif "string" in nodes:
        found.strings.extend(nodes["string"])
    elif "import" in nodes:
        found.imports.append(nodes)
    elif "doc_of" in nodes:
        found.docs.setdefault(place(nodes["doc_of"][0]), nodes["doc"][0])
    elif "wrap" in nodes:
        _take_wrap(found, nodes)
    elif "above" in nodes:
        for node in nodes["above"]:
            found.above[node.end_point[0]] = node.start_point[0]
    else:
        found.definitions.extend(_definitions(nodes))
    found.has_exports = found.has_exports or "exporting" in nodes or "public" in nodes
    found.public.update(parsed.text(node) for node in nodes.get("public", ()))


def _take_wrap(found: Sorted, nodes: Nodes) -> None:
    inner = place(nodes["wrapped"][0])
    found.wraps[inner] = nodes["wrap"][0]
    if "exporting" in nodes:
        found.exports.add(inner)


def _definitions(nodes: Nodes) -> Iterator[tuple[str, Node, Nodes]]:
    for kind in KINDS:
        for node in nodes.get(kind, ()):
            yield kind, node, nodes


def _in_order(nodes: Iterable[Node]) -> list[Node]:
    """Return nodes by where they begin, each once, without those within another."""
    kept: list[Node] = []
    for node in sorted(nodes, key=lambda n: (n.start_byte, -n.end_byte)):
        if not kept or node.start_byte >= kept[-1].end_byte:
            kept.append(node)
    return kept
