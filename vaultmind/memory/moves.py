"""A change of facts as moves: bullets that leave or come, in a brain or in its archive.

Applied once or twice they come to the same text, and turned round they undo the change: so a crash
is mended by applying them again, and an undo is the same moves the other way.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from textwrap import dedent

from vaultmind.errors import DamagedMemory
from vaultmind.memory.brain import (
    PlacedFact,
    add_bullet,
    block_ids,
    parse_brain,
    remove_fact,
    render_fact,
    replace_fact,
)
from vaultmind.redact import blank_private, mask
from vaultmind.tokens import count
from vaultmind.types import SECTIONS, Fact, Section
from vaultmind.vault.bullets import COMMENT, MARKER
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.properties import body_start

JOINT = "; "
"""Stands between facts that one change took away."""
SECTION_WEIGHT: dict[Section | None, float] = {
    "user": 3.5,
    "decisions": 2.5,
    "preferences": 2.0,
    None: 1.0,
    "current": 0.5,
}
"""What a fact is worth by where it stands; the rest adds 0 to about 3."""
LASTING_DAYS, CURRENT_DAYS = 180.0, 30.0
"""After so many days a fact's freshness is a third of what it was."""
ASKED_WEIGHT = 1.5
"""What it adds that the person asked in words to have a fact kept: nothing that was only found
in a conversation pushes it out of its place."""
SLACK = 0.15
"""Room that moving facts leaves, as a share of what lies between the limit and the target."""

_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n\s*\n+")


@dataclass(frozen=True, slots=True)
class Move:
    """A bullet, with what is nested under it, that left or came with a change."""

    line: str
    """As it stands in the file; in the audit, secrets masked."""
    section: str = ""
    came: bool = False
    """Whether it came; else it left."""
    archive: bool = False
    """In the archive; else in the brain."""
    whole: bool = True
    """Whether nothing had to be masked: only then can an undo put it back."""

    @property
    def fact(self) -> Fact:
        """Return the fact that the bullet says."""
        facts = parse_brain(self.line).all()
        section = next((one for one in SECTIONS if one == self.section), None)
        return replace(facts[0], section=section) if facts else Fact("", section)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many tokens a brain may have, and down to how many it shrinks at most."""

    max_tokens: int = 500
    target_tokens: int = 300


def leaving(text: str, placed: PlacedFact, *, alone: bool = False, archive: bool = False) -> Move:
    """Return the move of a bullet out of a text: with what is nested under it, or alone."""
    end = placed.end if alone else placed.tree_end
    line = dedent(text[placed.start : end].replace("\r", "")).strip()
    return Move(line, placed.fact.section or "", archive=archive)


def coming(fact: Fact, paths: VaultPaths, *, archive: bool = False) -> Move:
    """Return the move of a fact into a brain or its archive."""
    return Move(f"- {render_fact(fact, paths)}", fact.section or "", came=True, archive=archive)


def turned(moves: Sequence[Move]) -> tuple[Move, ...]:
    """Return the moves that undo some."""
    return tuple(replace(move, came=not move.came) for move in moves)


def masked(moves: Sequence[Move]) -> tuple[Move, ...]:
    """Return moves as the audit may hold them."""
    safe = [mask(move.line).text for move in moves]
    pairs = zip(moves, safe, strict=True)
    return tuple(
        replace(move, line=line, whole=move.whole and line == move.line) for move, line in pairs
    )


def find_fact(text: str, fact: Fact) -> PlacedFact | None:
    """Return where a fact stands as it did: by its id and its words, masked."""
    said = mask(one_line(fact.text)).text
    for placed in parse_brain(text).facts:
        one = placed.fact
        is_it = (one.block, one.until) == (fact.block, fact.until)
        if is_it and mask(one_line(one.text)).text == said:
            return placed
    return None


def apply(text: str, moves: Sequence[Move], *, archive: bool, language: str = "en") -> str:
    """Return a brain or archive after the moves that concern it.

    The first bullet that came stands where the first one that left stood, with its mark and what
    is nested under it, where both are of one section. Raises DamagedMemory for a text that
    can take nothing.
    """
    own = [move for move in moves if move.archive is archive]
    left, came = ([one for one in own if one.came is has_come] for has_come in (False, True))
    if left and came and not find_fact(text, came[0].fact):
        old, new = left[0], came[0]
        placed = find_fact(text, old.fact)
        if placed and "\n" not in old.line + new.line and old.section == new.section:
            text = replace_fact(text, placed, MARKER.sub("", new.line, count=1))
            left, came = left[1:], came[1:]
    for move in left:
        if placed := find_fact(text, move.fact):
            text = remove_fact(text, placed)
    for move in came:
        if not find_fact(text, move.fact):
            text = add_bullet(text, move.line, move.fact.section or "user", language)
    return text


# --- the brain's size ---------------------------------------------------------------------


def brain_tokens(text: str) -> int:
    """Return the tokens a model reads of a brain: no front matter, comments, block ids."""
    body = text[body_start(text) :].replace("\r\n", "\n")
    return count(_BLANK_LINES.sub("\n\n", _BLOCK_ID.sub("", COMMENT.sub("", body))).strip())


def shrink(
    brain: str, archive: str, sizes: Sizes, paths: VaultPaths, today: date, keep: str
) -> tuple[Move, ...]:
    """Return the moves of the least important facts of an oversized brain to the archive.

    Stops a `SLACK` below the limit, so that the next fact does not move one again, and never
    goes below the target: one fact that is new makes few others move. Only lines that stand
    exactly as we wrote them move, and not the one with the id `keep`; what only a person could
    shorten stays over the limit. Raises DamagedMemory for an archive that cannot take them.
    """
    limit, size = sizes.max_tokens, brain_tokens(brain)
    if size <= limit:
        return ()
    if reason := parse_brain(archive).damaged:
        raise DamagedMemory(f"Its facts cannot move to the archive: {reason}.")
    floor = min(sizes.target_tokens, limit)
    goal = limit - round((limit - floor) * SLACK)
    shown = blank_private(brain)  # a line that a person put between private tags stays there
    ours = [
        one
        for one in parse_brain(brain).facts
        if one.fact.block != keep and is_ours(one, brain, paths)
        if shown[one.start : one.end] == brain[one.start : one.end]
    ]
    gone: list[PlacedFact] = []
    for one in sorted(ours, key=lambda it: (_importance(it.fact, today), it.fact.written)):
        if size <= goal:
            break
        moves = [leaving(brain, it) for it in (*gone, one)]
        smaller = brain_tokens(apply(brain, moves, archive=False))
        if size > limit or smaller >= floor:
            gone.append(one)
            size = smaller
    gone.sort(key=lambda it: it.start)
    taken = block_ids(archive)
    return (
        *(leaving(brain, one) for one in gone),
        *(archived(one.fact, taken, paths) for one in gone),
    )


def archived(fact: Fact, taken: set[str], paths: VaultPaths) -> Move:
    """Return the move of a fact into an archive, under an id that is free there."""
    tries = (fact.block, *(f"{fact.block}{number}" for number in range(2, len(taken) + 3)))
    fact = replace(fact, block=next(one for one in tries if one not in taken))
    taken.add(fact.block)
    return coming(fact, paths, archive=True)


def is_ours(placed: PlacedFact, text: str, paths: VaultPaths) -> bool:
    """Tell whether a bullet stands as we wrote it, with nothing of a person's in it."""
    fact = placed.fact
    if not ((fact.written or fact.until) and fact.block) or placed.tree_end != placed.end:
        return False
    return text[placed.start : placed.end].rstrip("\r") == f"- {render_fact(fact, paths)}"


def _importance(fact: Fact, today: date) -> float:
    """Return what a fact is worth keeping: its section, who wanted it, how fresh it is.

    One that was found in a conversation is as fresh as the message that says it, whenever that
    was read: an import of old ones must not push out what is new.
    """
    try:
        days = max(0, (today - date.fromisoformat(fact.written)).days)
    except ValueError:
        days = 0
    fresh = math.exp(-days / (CURRENT_DAYS if fact.section == "current" else LASTING_DAYS))
    asked = 0.0 if fact.how in ("extracted", "reported") else ASKED_WEIGHT
    return SECTION_WEIGHT[fact.section] + fresh + asked
