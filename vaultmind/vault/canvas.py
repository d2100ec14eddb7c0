"""A canvas: the texts on its cards and the labels of its groups."""

from __future__ import annotations

import json


def parse_canvas(text: str) -> tuple[list[str], tuple[str, ...]]:
    """Return the texts of a canvas in the order of its file; broken JSON is a fault, no error."""
    try:
        data = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        return [], (f"broken canvas: {error}",)
    nodes = data.get("nodes") or [] if isinstance(data, dict) else 0
    if not isinstance(nodes, list) or not all(isinstance(one, dict) for one in nodes):
        return [], ("broken canvas: not an object with nodes and edges",)
    return [str(card.get("text") or card.get("label") or "") for card in nodes], ()
