"""Associations: what comes to mind through what was found in memory, as it is shown. Pure.

`index.related` finds it, along links and tags and by one step of attention, and says how
strong each is; here stand the words and the room.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vaultmind.plural import counted
from vaultmind.session.context.longterm.excerpt import Sought, excerpt
from vaultmind.session.context.longterm.lasting import Words, link_to, name_of
from vaultmind.session.context.parts import NO_ROOM, Dropped, Part
from vaultmind.tokens import count
from vaultmind.types import Hit, Neighbour

MOST_CHARACTERS, SHORT_CHARACTERS = 100, 50
"""Of a piece: there is room for two or three; and of one that fits only when it is cut short."""
MIN_TOKENS = 12
"""A line takes at least so much."""
MOST_MISSES = 2
"""After so many that do not fit, no further is tried."""


@dataclass(frozen=True, slots=True)
class Frame:
    """How associations are shown."""

    words: Words
    about: Sought
    tokens: int
    full: str = NO_ROOM
    """Why what does not fit is left out."""


def association_part(
    near: Sequence[Neighbour], hits: Mapping[str, Hit], frame: Frame
) -> tuple[Part | None, tuple[Dropped, ...]]:
    """Return what fits, the strongest first, and how many are left out.

    `hits` are those that the neighbours are tied to, by id.
    """
    lines, spent = [frame.words.associations], count(frame.words.associations)
    shown: list[Neighbour] = []
    for tried, one in enumerate(near):
        if frame.tokens - spent < MIN_TOKENS or tried - len(shown) > MOST_MISSES:
            break
        for most in (MOST_CHARACTERS, SHORT_CHARACTERS):
            line = _line(one, hits, frame, most)
            if (total := count("\n".join([*lines, line]))) <= frame.tokens:
                lines, spent = [*lines, line], total
                shown.append(one)
                break
    rest = len(near) - len(shown)
    dropped = (Dropped(counted(rest, "association"), frame.full),) if rest else ()
    if not shown:
        return None, dropped
    text = "\n".join(lines)
    sources = tuple(f"{one.chunk.path}{one.chunk.anchor}" for one in shown)
    why = ", ".join(f"{one.strength:.2f}" for one in shown)
    return Part("associations", text, count(text), sources, why=why), dropped


def _line(near: Neighbour, hits: Mapping[str, Hit], frame: Frame, most: int) -> str:
    chunk, to = near.chunk, hits.get(near.to)
    way = frame.words.way(near, name_of(to.path, to.anchor) if to else "")
    piece = excerpt(chunk.text, frame.about, chunk.lang, most)
    return f"- {link_to(chunk.path, chunk.anchor)} ({way}): {piece}"
