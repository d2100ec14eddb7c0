"""How long what agents did is kept in full: after that a note keeps its outcome and its links."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from vaultmind.episodes.files import EpisodeFiles
from vaultmind.episodes.note import parsed, shrunk
from vaultmind.episodes.types import time_of
from vaultmind.errors import BadArgument, NotFound, UnreadableNote, VaultMindError
from vaultmind.ports import Report, silent
from vaultmind.types import Caller, Progress
from vaultmind.vault.files import FileText

if TYPE_CHECKING:
    from vaultmind.episodes.store import Tables
    from vaultmind.memory.gate import Gate

OTHERS_DAYS = 7
"""So much later the episodes of another device are shrunk, which may do so itself: two that write
one note on one day make a sync conflict."""
LONGEST_DAYS = 36_500
CLIENT, WHY = "retention", "an episode is past its retention"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shrinks:
    """An episode whose note is past its retention."""

    name: str
    path: str
    task: str
    ended: str
    events: int
    """That go."""
    bytes: int
    """That go, with what plans offered in it."""


@dataclass(frozen=True, slots=True)
class Due:
    """What a purge would do now."""

    days: int
    before: str
    """What ended before that is due."""
    episodes: tuple[Shrinks, ...] = ()
    """The oldest first."""
    left: tuple[tuple[str, str], ...] = ()
    """Notes that cannot be shrunk, and why."""

    @property
    def events(self) -> int:
        """Return how many events go."""
        return sum(one.events for one in self.episodes)

    @property
    def bytes(self) -> int:
        """Return how many bytes go."""
        return sum(one.bytes for one in self.episodes)


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge did."""

    episodes: int = 0
    events: int = 0
    offers: int = 0
    """Files of what plans had offered."""
    bytes: int = 0
    left: tuple[tuple[str, str], ...] = ()
    """Notes that were left as they are, and why."""


def due(
    files: EpisodeFiles, tables: Tables, device: str, now: datetime, days: int,
    report: Report = silent,
) -> Due:  # fmt: skip
    """Return what ended more than some days ago. Raises BadArgument for days out of range."""
    if not 0 <= days <= LONGEST_DAYS:
        raise BadArgument("days", days, f"0 to {LONGEST_DAYS}")
    before = now - timedelta(days=days)
    later = (before - timedelta(days=OTHERS_DAYS)).timestamp()
    old = tables.load(tables.ended_before(before)).values()
    found, left = [], [*tables.faulty().items()]
    for number, one in enumerate(sorted(old, key=lambda it: (it.ended, it.name)), 1):
        report(Progress(number, len(old), "episodes looked at"))
        ended = time_of(one.ended)
        if one.device not in ("", device) and (ended is None or ended.timestamp() >= later):
            continue
        try:
            file = files.file(one.name)
            if (less := _less(file)) is not None:
                text, events = less
                freed = len(file.text.encode()) - len(text.encode()) + _offered(files, one.name)
                path = files.path(one.name)
                found.append(
                    Shrinks(one.name, path, one.task.text, one.ended, events, max(0, freed))
                )
        except NotFound:
            continue  # it was deleted meanwhile
        except VaultMindError as error:
            left.append((one.name, str(error)))
    return Due(days, before.isoformat(timespec="seconds"), tuple(found), tuple(left))


def purge(
    gate: Gate, files: EpisodeFiles, tables: Tables, what: Due, caller: Caller | None,
    report: Report = silent,
) -> Purged:  # fmt: skip
    """Shrink what is due. What one note does not allow is told and leaves the others alone."""
    left, done, offers = [*what.left], list[Shrinks](), 0
    for number, one in enumerate(what.episodes, 1):
        report(Progress(number, len(what.episodes), "episodes shrunk"))
        who = caller or Caller("agent", one.name.partition("/")[0], CLIENT)
        offered = files.offers_path(one.name) if _offered(files, one.name) else ""
        try:
            if gate.save(one.path, _shrink, who, WHY, without=offered) is not None:
                done.append(one)
                offers += bool(offered)
        except (VaultMindError, OSError) as error:
            log.warning("%s was not shrunk: %s", one.path, error)
            left.append((one.name, str(error)))
    for name in tables.names(state="shrunk"):  # who purged was killed between the two
        if _offered(files, name):
            who = caller or Caller("agent", name.partition("/")[0], CLIENT)
            offers += gate.remove(files.offers_path(name), who, WHY)
    events, freed = sum(one.events for one in done), sum(one.bytes for one in done)
    return Purged(len(done), events, offers, freed, tuple(left))


def _shrink(file: FileText | None) -> str | None:
    """Return what a note is to say; None for one that is gone, gone on with, or shrunk already."""
    less = _less(file) if file else None
    return less[0] if less else None


def _less(file: FileText) -> tuple[str, int] | None:
    """Return what a note shrinks to and how many events go; None where it is not to.

    Raises UnreadableNote for one that cannot be relied on.
    """
    one = parsed(file.text, "", "")
    if one.flaw:
        raise UnreadableNote(file.path, one.flaw)
    return shrunk(file.text) if one.state == "ended" else None


def _offered(files: EpisodeFiles, name: str) -> int:
    """Return how many bytes what plans offered in an episode takes."""
    listed = files.listed_one(name)
    return listed.offers.size if listed and listed.offers else 0
