"""What a file of code takes from others: imports, and the bases of its classes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vaultmind.planner.structure.code.sorting import Sorted
from vaultmind.planner.structure.records import Definition, Link

if TYPE_CHECKING:
    from vaultmind.planner.structure.code.grammar import Nodes, Parsed

MOST_LINKS = 1000
MOST_NAMES = 200
_EDGES = "\"'`<> \t\r\n;"
_QUERY = re.compile(r"[?#].*$")


def links_of(parsed: Parsed, found: Sorted, definitions: Sequence[Definition]) -> tuple[Link, ...]:
    """Return imports in the order of the file, then the bases of what it defines."""
    taken: dict[tuple[int, str], dict[str, None]] = {}
    aliases: dict[str, str] = {}
    for nodes in found.imports:
        module = _module(parsed, nodes)
        if module:
            names = taken.setdefault((nodes["import"][0].start_point[0] + 1, module), {})
            names.update(dict.fromkeys(_names(parsed, nodes, module, aliases)))
    imports = [
        Link("import", module, line, tuple(names)[:MOST_NAMES])
        for (line, module), names in sorted(taken.items(), key=lambda item: item[0][0])
    ]
    return (*imports[:MOST_LINKS], *_inherited(definitions, aliases))


def _module(parsed: Parsed, nodes: Nodes) -> str:
    parts = [parsed.text(node).strip(_EDGES) for node in nodes.get("module", ())]
    return "".join("/".join(parts).split())


def _names(parsed: Parsed, nodes: Nodes, module: str, aliases: dict[str, str]) -> list[str]:
    """Return what one match takes, by its own name; note what it is called here."""
    names = [parsed.text(node).strip(_EDGES) for node in nodes.get("taken", ())]
    alias = parsed.text(nodes["alias"][0]) if "alias" in nodes else ""
    local = parsed.text(nodes["default"][0]) if "default" in nodes else ""
    if local:
        names.append(local)
    elif "star" in nodes:
        names.append("*")
    if names == ["default"] and alias:
        names = [alias]
    elif alias:
        aliases[alias] = names[0] if names and names[0] != "*" else module
    return names


def _inherited(definitions: Sequence[Definition], aliases: dict[str, str]) -> list[Link]:
    found = []
    for one in definitions:
        for base in one.bases:
            first, dot, rest = base.partition(".")
            name = f"{aliases.get(first, first)}{dot}{rest}"
            found.append(Link("inherits", name, one.line, (one.name,)))
    return found[:MOST_LINKS]
