"""What a file of code takes from others: imports, and the bases of its classes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from vaultmind.planner.structure.code.sorting import Sorted
from vaultmind.planner.structure.records import Definition, Link

if TYPE_CHECKING:
    from vaultmind.planner.structure.code.grammar import Nodes, Parsed

MOST_LINKS = 1000
MOST_NAMES = 200
MOST_CHARS = 300
"""Of what an import names: more is data in its place."""
_EDGES = "\"'`<> \t\r\n;"
_BRACES = re.compile(r"[^{},]*\{|\}|[^{},]+")


def links_of(parsed: Parsed, found: Sorted, definitions: Sequence[Definition]) -> tuple[Link, ...]:
    """Return imports in the order of the file, then the bases of what it defines."""
    taken: dict[tuple[int, str], dict[str, None]] = {}
    aliases: dict[str, str] = {}
    for nodes in found.imports:
        line = nodes["import"][0].start_point[0] + 1
        for module, own in _modules(parsed, nodes):
            names = taken.setdefault((line, module), {})
            names.update(dict.fromkeys((*own, *_names(parsed, nodes, module, aliases))))
    imports = [
        Link("import", module, line, tuple(names)[:MOST_NAMES])
        for (line, module), names in sorted(taken.items(), key=lambda item: item[0][0])
    ]
    return (*imports[:MOST_LINKS], *_inherited(definitions, aliases))


def _modules(parsed: Parsed, nodes: Nodes) -> Iterator[tuple[str, list[str]]]:
    """Yield the modules that an import names, with what the name itself takes from them."""
    text = parsed.text(nodes["module"][0]).strip(_EDGES)
    if parsed.language.resolve == "crate":
        for path in islice(_unfolded(text), MOST_NAMES):
            yield path, [path.rpartition("::")[2]] if "::" in path else []
    elif (text := "".join(text.split())) and len(text) <= MOST_CHARS:
        own = [text.rpartition(".")[2]] if parsed.language.resolve == "dotted" else []
        if "relative" in nodes and text[0] != ".":
            text = f"./{text}"
        yield text, own if "star" not in nodes else []


def _unfolded(text: str) -> Iterator[str]:
    """Yield the paths of `a::{b, c::{d as e, self}}`: `a::b`, `a::c::d`, `a::c`."""
    heads: list[str] = []
    for part in _BRACES.findall(text):
        if part == "}":
            heads = heads[:-1]
        elif part.endswith("{"):
            heads.append(part[:-1].strip())
        elif name := part.split(" as ")[0].strip():
            path = "".join((*heads, name)).removesuffix("::self")
            yield path


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
