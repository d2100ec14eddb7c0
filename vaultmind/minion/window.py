"""Splitting what does not fit a model's window.

Pure functions. Nothing is ever cut silently: every character of every text stands in exactly one
piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Count = Callable[[str], int]
"""Returns the tokens of a text."""

JOINT_TOKENS = 2
"""What stands between two texts of a window costs at most."""
_BREAKS = ("\n\n", "\n", ". ", "! ", "? ", "… ", "。", "; ", ", ", " ")
"""Where a text that is too long is parted: the first of these that stands in its second half."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text of a window: whole, or a part of one."""

    text: str
    source: int
    """Which of the texts that were given."""
    part: int = 1
    parts: int = 1
    """2 or more: the text was too long for a window of its own."""
    again: bool = False
    """It stood in the window before: here it is context alone."""


@dataclass(frozen=True, slots=True)
class Window:
    """Pieces that fit a model's window together."""

    pieces: tuple[Piece, ...]
    tokens: int


def windows(
    texts: Sequence[str], room: int, count: Count, *, overlap: int = 0
) -> tuple[Window, ...]:
    """Return the texts in order, shared out among windows of at most `room` tokens each.

    Up to `overlap` pieces that end a window stand at the beginning of the next one again, where
    they leave at least half of it free. Raises ValueError for a room below 1.
    """
    if room < 1:
        raise ValueError(f"room is {room}; allowed: 1 or more")
    found: list[Window] = []
    held: list[tuple[Piece, int]] = []
    fresh = False
    for piece, cost in _pieces(texts, room, count):
        if fresh and sum(tokens for _, tokens in held) + cost > room:
            found.append(_window(held))
            held, fresh = _carried(held, overlap, room // 2), False
        while held and not fresh and sum(tokens for _, tokens in held) + cost > room:
            held.pop(0)  # context gives way to what is new
        held.append((piece, cost))
        fresh = True
    if fresh:
        found.append(_window(held))
    return tuple(found)


def _window(held: Sequence[tuple[Piece, int]]) -> Window:
    return Window(tuple(piece for piece, _ in held), sum(tokens for _, tokens in held))


def _carried(held: Sequence[tuple[Piece, int]], overlap: int, room: int) -> list[tuple[Piece, int]]:
    """Return the last pieces of a window that the next one shows again, as context."""
    carried: list[tuple[Piece, int]] = []
    for piece, tokens in reversed(held[-overlap:] if overlap else ()):
        room -= tokens
        if room < 0:
            break
        again = Piece(piece.text, piece.source, piece.part, piece.parts, again=True)
        carried.insert(0, (again, tokens))
    return carried


def _pieces(texts: Sequence[str], room: int, count: Count) -> Iterator[tuple[Piece, int]]:
    for source, text in enumerate(texts):
        cost = count(text) + JOINT_TOKENS
        if cost <= room:
            yield Piece(text, source), cost
            continue
        parts = _parted(text, room, count)
        for number, part in enumerate(parts, start=1):
            yield Piece(part, source, number, len(parts)), min(room, count(part) + JOINT_TOKENS)


def _parted(text: str, room: int, count: Count) -> list[str]:
    """Return a text in parts of at most `room` tokens; a part of one character may cost more."""
    parts = []
    while text:
        length = _longest(text, room, count)
        if length < len(text):
            length = _natural(text, length)
        parts.append(text[:length])
        text = text[length:]
    return parts


def _longest(text: str, room: int, count: Count) -> int:
    """Return a length whose prefix fits, near the greatest one; at least 1.

    A token is about four characters, or one of scripts without letters: counting begins there,
    so that a text of megabytes is not counted whole again and again.
    """
    low, high = 1, min(len(text), 2 * room)
    while high < len(text) and count(text[:high]) + JOINT_TOKENS <= room:
        low, high = high, min(len(text), 2 * high)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle]) + JOINT_TOKENS <= room:
            low = middle
        else:
            high = middle - 1
    return low


def _natural(text: str, length: int) -> int:
    """Return where to part instead: after a paragraph, a sentence or a word of the second half."""
    for mark in _BREAKS:
        at = text.rfind(mark, length // 2, length)
        if at >= 0:
            return at + len(mark)
    return length
