"""Associations: what comes to mind through what was found in memory. Pure.

A thing comes to mind along a link, by a tag that few have, or because it lies near what the
question calls to mind (see `index.attention`); several ways to it strengthen each other. A way
that leads to many things says little about each of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from vaultmind.session.context.parts import Dropped, Part
from vaultmind.session.recall.excerpt import Sought, excerpt
from vaultmind.session.recall.lasting import Words, link_to, name_of
from vaultmind.tokens import count
from vaultmind.types import Hit, Neighbour, TieName

TIES: Mapping[TieName, float] = {"link": 0.7, "backlink": 0.5, "tag": 0.4}
"""Strength of the only such tie that something has; of one among n, by the root of n less."""
MEANING = 0.6
"""Strength of what lies in the very middle of what comes to mind."""
MOST_CHARACTERS = 100
"""Of a piece: there is room for two or three."""


@dataclass(frozen=True, slots=True)
class Association:
    """Something that comes to mind, by its strongest way."""

    near: Neighbour
    strength: float
    """From 0 to 1."""


def associations(near: Sequence[Neighbour], scores: Mapping[str, float]) -> list[Association]:
    """Return what comes to mind, the strongest first; `scores` are of the hits it is tied to."""
    groups: defaultdict[str, list[Neighbour]] = defaultdict(list)
    for one in near:
        groups[one.chunk.path if one.chunk.kind == "note" else one.chunk.id].append(one)
    found = [_joined(group, scores) for group in groups.values()]
    return sorted(found, key=lambda one: (-one.strength, one.near.chunk.path, one.near.chunk.start))


def _joined(group: Sequence[Neighbour], scores: Mapping[str, float]) -> Association:
    """Return several ways to one thing as one: of each kind the strongest counts."""
    best: dict[TieName, float] = {}
    for one in group:
        best[one.tie] = max(best.get(one.tie, 0.0), way_strength(one, scores.get(one.to, 0.0)))
    rest = 1.0
    for strength in best.values():
        rest *= 1.0 - strength
    shown = max(group, key=lambda one: way_strength(one, scores.get(one.to, 0.0)))
    return Association(shown, 1.0 - rest)


def way_strength(near: Neighbour, score: float) -> float:
    """Return the strength of one way, from 0 to 1, where it starts at a hit of this score."""
    if near.tie == "meaning":
        return score * MEANING * near.near_found
    return score * TIES[near.tie] / sqrt(1 + near.others)


@dataclass(frozen=True, slots=True)
class Frame:
    """How associations are shown."""

    words: Words
    about: Sought
    tokens: int
    gate: float


def association_part(
    found: Sequence[Association], hits: Mapping[str, Hit], frame: Frame
) -> tuple[Part | None, tuple[Dropped, ...]]:
    """Return what is strong enough and fits, with what is left out and why."""
    strong = [one for one in found if one.strength >= frame.gate]
    lines = [frame.words.associations]
    sources: list[str] = []
    why: list[str] = []
    dropped: list[Dropped] = []
    for one in strong:
        chunk = one.near.chunk
        place = f"{chunk.path}{chunk.anchor}"
        line = _line(one.near, hits, frame)
        if count("\n".join([*lines, line])) > frame.tokens:
            dropped.append(Dropped(place, "no room"))
            continue
        lines.append(line)
        sources.append(place)
        why.append(f"{name_of(chunk.path, chunk.anchor)} {one.strength:.2f}")
    if not sources:
        return None, tuple(dropped) or (Dropped("associations", _why_none(found, frame.gate)),)
    text = "\n".join(lines)
    part = Part("associations", text, count(text), tuple(sources), why=", ".join(why))
    return part, tuple(dropped)


def _line(near: Neighbour, hits: Mapping[str, Hit], frame: Frame) -> str:
    chunk, to = near.chunk, hits.get(near.to)
    way = frame.words.way(near, name_of(to.path, to.anchor) if to else "")
    piece = excerpt(chunk.text, frame.about, chunk.lang, MOST_CHARACTERS)
    return f"- {link_to(chunk.path, chunk.anchor)} ({way}): {piece}"


def _why_none(found: Sequence[Association], gate: float) -> str:
    if not found:
        return "nothing comes to mind with what was found"
    return f"the strongest has {found[0].strength:.2f}, less than {gate:.2f}"
