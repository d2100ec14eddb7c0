"""A canvas: the texts, files and links on its cards, and what joins them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from vaultmind.vault.markdown import Link, parse_note


@dataclass(frozen=True, slots=True)
class CanvasNode:
    """A card, or a group with its label. `file` is vault-relative, with `subpath` behind `#`."""

    id: str
    type: str
    text: str
    file: str = ""
    subpath: str = ""
    url: str = ""
    links: tuple[Link, ...] = ()
    """Links in a text card; offsets are into its text."""
    joined: tuple[str, ...] = ()
    """Ids of the cards that an arrow from this one leads to."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """The cards of a canvas in the order of the file."""

    nodes: tuple[CanvasNode, ...]
    faults: tuple[str, ...] = ()


def parse_canvas(text: str) -> Canvas:
    """Return the cards of a canvas; JSON that is broken is a fault, never an error."""
    if not text.strip():
        return Canvas(())
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Canvas((), (f"broken canvas: {error}",))
    if not isinstance(data, dict):
        return Canvas((), ("broken canvas: not an object with nodes and edges",))
    joined = _arrows(data.get("edges"))
    raw = data.get("nodes")
    listed = raw if isinstance(raw, list) else []
    nodes = tuple(_node(one, joined) for one in listed if isinstance(one, dict))
    bad = len(listed) - len(nodes) + (0 if isinstance(raw, list) or raw is None else 1)
    return Canvas(nodes, (f"broken canvas: {bad} cards were not understood",) if bad else ())


def _arrows(edges: object) -> dict[str, list[str]]:
    joined: dict[str, list[str]] = {}
    for edge in edges if isinstance(edges, list) else []:
        if isinstance(edge, dict):
            joined.setdefault(_text(edge, "fromNode"), []).append(_text(edge, "toNode"))
    return joined


def _node(raw: dict[str, object], joined: dict[str, list[str]]) -> CanvasNode:
    text = _text(raw, "text") or _text(raw, "label")
    name = _text(raw, "id")
    return CanvasNode(
        id=name,
        type=_text(raw, "type"),
        text=text,
        file=_text(raw, "file"),
        subpath=_text(raw, "subpath"),
        url=_text(raw, "url"),
        links=parse_note(text).links if "[" in text else (),
        joined=tuple(joined.get(name, ())),
    )


def _text(raw: dict[str, object], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""
