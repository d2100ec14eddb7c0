"""Splitting what does not fit a model's window.

Pure functions. Nothing is ever cut silently: every character of every text stands in a window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

Count = Callable[[str], int]
"""Returns the tokens of a text."""
Window = list[tuple[int, str]]
"""Texts, or parts of them, that fit a model's window together; each with its source's number."""

JOINT_TOKENS = 2
"""What stands between two texts of a window costs at most."""
_BREAKS = ("\n\n", "\n", ". ", "! ", "? ", "… ", "。", "; ", ", ", " ")
"""Where a text that is too long is parted: the first of these that stands in its second half."""


def windows(texts: Sequence[str], room: int, count: Count, *, overlap: int = 0) -> list[Window]:
    """Return the texts in order, shared out among windows of at most `room` tokens each.

    Up to `overlap` pieces that end a window stand at the beginning of the next one again, as
    context, where they leave at least half of it free. Raises ValueError for a room below 1.
    """
    if room < 1:
        raise ValueError(f"room is {room}; allowed: 1 or more")
    found: list[Window] = []
    costs: list[int] = []
    pieces = ((n, part) for n, one in enumerate(texts) for part in _parts(one, room, count))
    for source, text in pieces:
        cost = min(room, count(text) + JOINT_TOKENS)
        if not found or sum(costs) + cost > room:
            again = overlap if found else 0
            while again and sum(costs[-again:]) > min(room // 2, room - cost):
                again -= 1
            found.append(found[-1][-again:] if again else [])
            costs = costs[-again:] if again else []
        found[-1].append((source, text))
        costs.append(cost)
    return found


def _parts(text: str, room: int, count: Count) -> Iterator[str]:
    """Yield a text in parts of at most `room` tokens; a part of one character may cost more."""
    while text:
        length = min(len(text), 8 * room)  # a text of megabytes is not counted again and again
        while length > 1 and count(text[:length]) + JOINT_TOKENS > room:
            length = length * 3 // 4
        half = text[length // 2 : length] if length < len(text) else ""
        if mark := next((one for one in _BREAKS if one in half), ""):
            length = text.rfind(mark, 0, length) + len(mark)
        yield text[:length]
        text = text[length:]
