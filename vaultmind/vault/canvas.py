"""A canvas: the texts on its cards and the labels of its groups."""

from __future__ import annotations

import json


def parse_canvas(text: str) -> tuple[list[str], tuple[str, ...]]:
    """Return the texts of a canvas in the order of its file; broken JSON is a fault, no error."""
    try:
        data = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        return [], (f"broken canvas: {error}",)
    listed = data.get("nodes") or [] if isinstance(data, dict) else 0
    if not isinstance(listed, list):
        return [], ("broken canvas: not an object with nodes and edges",)
    cards = [one for one in listed if isinstance(one, dict)]
    texts = [str(card.get("text") or card.get("label") or "") for card in cards]
    bad = len(listed) - len(cards)
    return texts, (f"broken canvas: {bad} cards were not understood",) if bad else ()
