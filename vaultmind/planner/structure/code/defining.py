"""What a file of code defines: names as they nest, signatures, docs, bases, publicity."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmind.planner.structure.code.languages import Language
from vaultmind.planner.structure.code.remarks import Remark, clip, first_line, unquoted, words_of
from vaultmind.planner.structure.code.sorting import Place, Sorted, place
from vaultmind.planner.structure.records import Definition

if TYPE_CHECKING:
    from vaultmind.planner.structure.code.grammar import Node, Nodes, Parsed

SIGNATURE_CHARS = 240
MOST_DEFINITIONS = 3000
"""Of one file: what defines more was written by a program."""
CLASSES = frozenset({"class", "interface", "enum", "type", "holder"})
"""Kinds whose functions are methods."""
_RANKS = {"constant": 0, "type": 3, "class": 6}
"""Kinds that a name has only where nothing tells more of it."""
_NAMESPACES = CLASSES | {"module"}
"""Kinds whose members may be used by others."""
_DECORATORS = re.compile(
    r"^(?:@(?!interface\b)[\w.]+(?:\((?:[^()]|\([^()]*\))*\))?\s*|\[[^\[\]]*\]\s*(?=[A-Za-z\[]))+"
)
_LEFT_OVER = re.compile(r"\s{0,20}(?:=>|[:={;]|\bwhere|\bthen|\bdo)\s*$")
_OF_MODULE = re.compile(r"^(?:module\.)?exports\.|^this\.|^window\.|^globalThis\.")
_BASE_WORDS = re.compile(
    r"\b(?:extends|implements|public|private|protected|virtual|with|superclass)\b"
)
_KEYWORD_BASE = re.compile(r"^\s*\w+\s*=[^=]|^\s*\*")
_TYPES = re.compile(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>")
_BASE = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*")


@dataclass(slots=True)
class Placed:
    """A definition and where it stands. Rows count from 0."""

    definition: Definition
    lead_row: int
    """Where the comment above it begins, or itself."""
    number: int
    parent: int
    """The number of the definition that holds it; -1: none."""


@dataclass(slots=True)
class _Open:
    """A definition that may hold those to come."""

    place: Place
    name: str
    kind: str
    public: bool
    number: int

    def holds(self, node: Node) -> bool:
        """Tell whether a node that begins later, or with it, stands within."""
        return node.start_byte < self.place[1] and place(node) != self.place


def definitions_of(
    parsed: Parsed, found: Sorted, comments: Sequence[Remark]
) -> tuple[list[Placed], bool]:
    """Return a file's definitions in its order, and whether there are more than are taken."""
    making = _Making(parsed, found, comments)
    chosen = _chosen(found)
    for kind, node, nodes in chosen[:MOST_DEFINITIONS]:
        making.make(kind, node, nodes)
    return making.placed, len(chosen) > MOST_DEFINITIONS


def _chosen(found: Sorted) -> list[tuple[str, Node, Nodes]]:
    """Return one match for each name at its place: what says most, in the order of the file."""
    best: dict[tuple[int, str], tuple[int, tuple[str, Node, Nodes]]] = {}
    imports = sorted(nodes["import"][0].start_byte for nodes in found.imports)
    for kind, node, nodes in found.definitions:
        at = bisect_left(imports, node.start_byte)
        if kind == "constant" and at < len(imports) and imports[at] < node.end_byte:
            continue  # const a = require("a")
        name = nodes.get("name")
        key = (name[0].start_byte, "") if name else (node.start_byte, kind)
        weight = _RANKS.get(kind, 7) + ("body" in nodes) * 2 + ("bases" in nodes)
        if key in best and "bases" in nodes:
            had = best[key][1][2].get("bases", [])
            nodes["bases"] = [*had, *(node for node in nodes["bases"] if node not in had)]
        held = best[key][0] if key in best else -1
        if weight > held or (weight == held and "bases" in nodes):
            best[key] = weight, (kind, node, nodes)
    return sorted(
        (match for _, match in best.values()),
        key=lambda match: (match[1].start_byte, -match[1].end_byte),
    )


class _Making:
    """Makes definitions from matches, one by one, knowing what stands around each."""

    def __init__(self, parsed: Parsed, found: Sorted, comments: Sequence[Remark]) -> None:
        self.placed: list[Placed] = []
        self._parsed = parsed
        self._found = found
        self._above = {one.last_row: one for one in comments if not one.behind_code}
        self._comments = found.comments
        self._starts = [node.start_byte for node in found.comments]
        self._around: list[_Open] = []

    def make(self, kind: str, node: Node, nodes: Nodes) -> None:
        """Add what a match defines, and open it for what stands within."""
        while self._around and not self._around[-1].holds(node):
            self._around.pop()
        parent = self._around[-1] if self._around else None
        name = self._name(nodes, parent)
        number = around = parent.number if parent else -1
        public = parent is None or (parent.public and parent.kind in _NAMESPACES)
        if kind != "holder":
            definition, lead = self._definition(kind, node, nodes, name)
            number = len(self.placed)
            self.placed.append(Placed(definition, lead, number, around))
            kind, public = definition.kind, definition.public
        self._around.append(_Open(place(node), name, kind, public, number))

    def _name(self, nodes: Nodes, parent: _Open | None) -> str:
        found = nodes.get("name")
        name = " ".join(self._parsed.text(found[0]).split()) if found else "default"
        name = _OF_MODULE.sub("", _plain(name)).replace(".prototype.", ".").replace("::", ".")
        name = "default" if name in ("module.exports", "exports") else name
        if owner := nodes.get("owner"):
            held = _BASE.search(self._parsed.text(owner[0]))
            name = f"{held.group().replace('::', '.')}.{name}" if held else name
        return f"{parent.name}.{name}" if parent and parent.name else name

    def _definition(self, kind: str, node: Node, nodes: Nodes, name: str) -> tuple[Definition, int]:
        outer, exported = self._outer(node)
        head = self._head(node, nodes)
        bases = self._bases(nodes)
        first = outer.start_point[0]
        own_line = self._begins_its_line(outer)
        while own_line and first - 1 in self._found.above:
            first = self._found.above[first - 1]
        above = self._above.get(first - 1) if own_line else None
        last = outer.end_point[0] - (outer.end_point[1] == 0 and outer.end_point[0] > first)
        kind = self._kind(kind, nodes, bases)
        definition = Definition(
            name=name,
            kind=kind,
            line=first + 1,
            last_line=last + 1,
            signature=head,
            summary=self._summary(nodes, above),
            public=self._public(name, head, exported),
            bases=bases,
        )
        return definition, above.first_row if above else first

    def _begins_its_line(self, node: Node) -> bool:
        data = self._parsed.data
        return not data[data.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte].strip()

    def _outer(self, node: Node) -> tuple[Node, bool]:
        """Return the definition with its decorators or `export`, and whether it has the latter."""
        exported = False
        while (wrap := self._found.wraps.get(place(node))) is not None:
            exported = exported or place(node) in self._found.exports
            if place(wrap) == place(node):
                break
            node = wrap
        return node, exported

    def _head(self, node: Node, nodes: Nodes) -> str:
        """Return the signature: all before the body, without decorators, on one line."""
        body = nodes.get("body")
        end = body[0].start_byte if body else node.end_byte
        text = self._without_comments(node.start_byte, end)
        if not body and "name" in nodes:
            text = text.strip().split("\n", 1)[0]
        text = " ".join(text.split())
        text = _DECORATORS.sub("", text)
        text = text.replace("( ", "(").replace(", )", ")").replace(",)", ")").replace(" )", ")")
        text = _LEFT_OVER.sub("", text) if body else text.rstrip(" ;,{").removesuffix("; end")
        return clip(text, SIGNATURE_CHARS)

    def _without_comments(self, start: int, end: int) -> str:
        data, kept = self._parsed.data, []
        for number in range(bisect_left(self._starts, start), len(self._starts)):
            comment = self._comments[number]
            if comment.start_byte >= end:
                break
            kept.append(data[start : comment.start_byte])
            start = comment.end_byte
        kept.append(data[start:end])
        return b" ".join(kept).decode("utf-8", "replace")

    def _bases(self, nodes: Nodes) -> tuple[str, ...]:
        named = ", ".join(self._parsed.text(node) for node in nodes.get("bases", ()))
        return tuple(dict.fromkeys(_split_bases(named)))

    def _kind(self, kind: str, nodes: Nodes, bases: Iterable[str]) -> str:
        kind = kind.removeprefix("default_")
        if kind == "class":
            kinds = self._parsed.language.base_kinds
            return next((kinds[b] for b in map(_last, bases) if b in kinds), kind)
        inner = "owner" in nodes or (bool(self._around) and self._around[-1].kind in CLASSES)
        return "method" if kind == "function" and inner else kind

    def _summary(self, nodes: Nodes, above: Remark | None) -> str:
        body = nodes.get("body")
        doc = self._found.docs.get(place(body[0])) if body else None
        if doc is not None:
            return first_line(unquoted(self._parsed.text(doc)))
        if above is None or self._parsed.language.docs != "comment":
            return ""
        return first_line(words_of(above.text))

    def _public(self, name: str, head: str, exported: bool) -> bool:
        parent = self._around[-1] if self._around else None
        if parent and not (parent.public and parent.kind in _NAMESPACES):
            return False
        if parent and parent.kind == "interface" and self._parsed.language.public_words:
            return True  # as public as the trait that asks for it
        given_out = self._given_out(name, exported, parent is None)
        return is_public(self._parsed.language, name, head, given_out)

    def _given_out(self, name: str, exported: bool, top: bool) -> bool:
        """Tell whether a definition is exported, as far as its file exports anything."""
        found = self._found
        if not top or not found.has_exports:
            return True
        return exported or name == "default" or name.partition(".")[0] in found.public


def is_public(one: Language, name: str, head: str, given_out: bool) -> bool:
    """Tell whether a definition is for others, by its name and the words before it."""
    own = name.rpartition(".")[2]
    before = head.partition(own)[0].split() if own in head else head.split()
    if any(word in one.private_words for word in before) or own.startswith("#"):
        return False
    if one.public_words and not any(word.startswith(one.public_words) for word in before):
        return False
    if one.public == "capital":
        return own[:1].isupper()
    hidden = own.startswith("_") and not (own.startswith("__") and own.endswith("__"))
    return given_out and not hidden


def _split_bases(text: str) -> list[str]:
    """Return the names of a list of bases, without type arguments, calls and keywords."""
    flat, depth = [], 0
    text = text.lstrip("<: ")
    text = text[1:-1] if text[:1] == "(" and text[-1:] == ")" else text
    for char in _BASE_WORDS.sub(",", text).replace("+", ","):
        if char in "<([{":
            depth += 1
        elif char in ">)]}":
            depth = max(0, depth - 1)
        elif depth == 0:
            flat.append(char)
    parts = [part for part in "".join(flat).split(",") if not _KEYWORD_BASE.match(part)]
    return [found.group() for part in parts if (found := _BASE.search(part))]


def _plain(name: str) -> str:
    """Return a name without type arguments: `Cart` of `Cart<int>`."""
    return name if "operator" in name else _TYPES.sub("", name)


def _last(name: str) -> str:
    return re.split(r"\.|::", name)[-1]
