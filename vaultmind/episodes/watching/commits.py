"""What a repository's own log of its HEAD says was committed in a work tree. Pure.

Each line tells what moved HEAD: a commit made here, or a pull, a merge, a branch that was checked
out, which bring what others did. Only the first are an agent's work.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.episodes.types import Change

OWN = ("commit", "cherry-pick", "revert")
"""How the lines of commits begin that were made here."""
MERGE = "commit (merge)"
"""Brings what others did, as any merge."""
AMEND = "commit (amend)"
MOST_COMMITS = 30
"""Of one look."""
_LINE = re.compile(r"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t\n]*?(\d+) [+-]\d{4}(?:\t(.*))?")


@dataclass(frozen=True, slots=True)
class Position:
    """Where a repository stood when it was looked at."""

    head: str = ""
    """Empty where that is not known: then the time counts."""
    time: float = 0.0
    size: int = -1
    """Of the log, which grows; -1 where that is not known."""


@dataclass(frozen=True, slots=True)
class Move:
    """What moved HEAD once."""

    before: str
    after: str
    time: float
    what: str

    @property
    def is_own(self) -> bool:
        """Tell whether it is a commit that was made in this work tree."""
        return self.what.startswith(OWN) and not self.what.startswith(MERGE)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit with the files of the source that it changed."""

    id: str
    time: float
    subject: str
    """Empty where the commit is about files that are not shown."""
    changed: tuple[tuple[str, Change], ...]


@dataclass(frozen=True, slots=True)
class Looked:
    """What moved since a position."""

    position: Position
    """Where it stands now."""
    commits: tuple[Commit, ...] = ()
    """That were made here, oldest first."""
    brought: frozenset[str] = frozenset()
    """Files that differ because of what others did."""


def moves(text: str) -> tuple[Move, ...]:
    """Return what a log of HEAD says, oldest first; a line that is cut off is left out."""
    found = []
    for line in text.splitlines():
        if one := _LINE.fullmatch(line):
            found.append(Move(one[1], one[2], float(one[3]), one[4] or ""))
    return tuple(found)


def since(log: Sequence[Move], position: Position) -> tuple[Move, ...]:
    """Return the moves after a position, where its size says nothing any more.

    That is after its commit, else from its time on.
    """
    if position.head:
        for at in range(len(log) - 1, -1, -1):
            if log[at].after == position.head and log[at].time <= position.time + 1:
                return tuple(log[at + 1 :])
    return tuple(one for one in log if one.time >= int(position.time))


def own_ids(log: Sequence[Move]) -> tuple[str, ...]:
    """Return the commits that were made here and still stand, oldest first.

    What was amended, or taken back with a reset, is not among them.
    """
    found: list[str] = []
    for move in log:
        if move.what.startswith(AMEND) and move.before in found:
            found.remove(move.before)
        if move.what.startswith("reset") and move.before in found:
            kept = next((one.after for one in log if one.after == move.after), "")
            found = found[: found.index(kept) + 1] if kept in found else []
        if move.is_own and move.after not in found:
            found.append(move.after)
    return tuple(found[-MOST_COMMITS:])
