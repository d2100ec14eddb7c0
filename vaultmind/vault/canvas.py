"""A canvas: the texts on its cards and the labels of its groups."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CanvasNode:
    """A card with its text, or a group with its label."""

    text: str


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
    listed = data.get("nodes") or []
    cards = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    bad = len(listed) - len(cards) if isinstance(listed, list) else 1
    nodes = tuple(CanvasNode(_text(card, "text") or _text(card, "label")) for card in cards)
    return Canvas(nodes, (f"broken canvas: {bad} cards were not understood",) if bad else ())


def _text(card: dict[str, object], key: str) -> str:
    value = card.get(key)
    return value if isinstance(value, str) else ""
