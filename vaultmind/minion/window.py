"""Splitting what does not fit a model's window. Pure: every character stands in a window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

Count = Callable[[str], int]
"""Returns the tokens of a text."""

JOINT_TOKENS = 2
"""What stands between two texts of a window costs at most."""
_BREAKS = ("\n\n", "\n", ". ", "! ", "? ", "… ", "。", "; ", ", ", " ")
"""Where a text that is too long is parted: the first of these that stands in its second half."""


def windows(texts: Sequence[str], room: int, count: Count) -> list[list[str]]:
    """Return texts in order, or their parts, shared out among windows of `room` tokens each."""
    found: list[list[str]] = []
    full = room
    for text in (part for one in texts for part in _parts(one, room, count)):
        cost = min(room, count(text) + JOINT_TOKENS)
        if full + cost > room:
            found.append([])
            full = 0
        found[-1].append(text)
        full += cost
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
