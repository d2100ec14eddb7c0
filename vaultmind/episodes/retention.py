"""How long what agents did is kept in full: after that a note keeps its outcome and its links."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from vaultmind.episodes.notes.files import EpisodeFiles
from vaultmind.episodes.notes.note import state_of
from vaultmind.episodes.notes.shrinking import without_routine
from vaultmind.episodes.times import time_of
from vaultmind.errors import BadArgument, NotFound, UnreadableNote, VaultMindError
from vaultmind.ports import Clock, Report, silent
from vaultmind.types import Caller, Progress
from vaultmind.vault.files import Change, FileText
from vaultmind.vault.properties import front_matter

if TYPE_CHECKING:
    from vaultmind.episodes.tables.rows import Row
    from vaultmind.episodes.tables.tables import Tables

OTHERS_DAYS = 7
"""So much later the episodes of another device are shrunk, which may do so itself: two that write
one note on one day make a sync conflict."""
LONGEST_DAYS = 36_500
CLIENT, WHY = "retention", "an episode is past its retention"

_ONE = threading.Lock()
"""One purge of a process at a time: two would go through the same notes."""

log = logging.getLogger(__name__)


class Gate(Protocol):
    """What retention needs of the gate."""

    def save(
        self, relative: str, change: Change, caller: Caller, reason: str, without: str = ""
    ) -> FileText | None:
        """Store a record by compare-and-swap, and remove the one that it is to be without."""
        ...

    def remove(self, relative: str, caller: Caller, reason: str) -> bool:
        """Remove a record; tell whether it was there."""
        ...


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long, and who."""

    days: int = 90
    device: str = ""
    """This device: others shrink their own episodes themselves."""


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


@dataclass(frozen=True, slots=True)
class _Old:
    """What ended before a time, as the tables say."""

    days: int
    before: str
    rows: tuple[Row, ...]
    offered: dict[str, int]
    """By episode: how big is what plans offered in it."""
    left: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Less:
    """A note's text without what goes of it, and how much that is."""

    text: str
    events: int
    freed: int


class Retention:
    """Shrinks what is old. Any thread; what is shrunk stays so, and twice is once."""

    def __init__(
        self,
        gate: Gate,
        files: EpisodeFiles,
        tables: Callable[[], Tables],
        clock: Clock,
        settings: RetentionSettings,
    ) -> None:
        self._gate = gate
        self._files = files
        self._tables = tables
        self._clock = clock
        self._settings = settings

    def due(
        self, now: datetime | None = None, days: int | None = None, report: Report = silent
    ) -> Due:
        """Return what is past its retention, or older than some days. Writes no note.

        What is not known to have ended is never due. Raises BadArgument for days that are none,
        IndexUnavailable.
        """
        old = self._looked(now, days)
        found, left = [], [*old.left]
        for number, row in enumerate(old.rows, 1):
            report(Progress(number, len(old.rows), "episodes looked at"))
            try:
                if (less := _less(file := self._files.file(row.name))) is not None:
                    freed = less.freed + old.offered.get(row.name, 0)
                    path, ended = file.path, row.ended
                    found.append(Shrinks(row.name, path, row.task, ended, less.events, freed))
            except NotFound:
                continue  # it was deleted meanwhile
            except VaultMindError as error:
                left.append((row.name, str(error)))
        return Due(old.days, old.before, tuple(found), tuple(left))

    def run(
        self, caller: Caller | None = None, days: int | None = None, report: Report = silent
    ) -> Purged:
        """Shrink what is due, in the name of the person who asks or of each agent by itself.

        What one note does not allow is told and leaves the others alone. Raises as `due` does.
        """
        with _ONE:
            return self._run(caller, days, report)

    def _run(self, caller: Caller | None, days: int | None, report: Report) -> Purged:
        old = self._looked(None, days)
        left, done, freed = [*old.left], list[_Less](), 0
        offers = self._drop_left(caller)
        for number, row in enumerate(old.rows, 1):
            report(Progress(number, len(old.rows), "episodes shrunk"))
            path, offered = self._files.path(row.name), self._files.offers_path(row.name)
            taken: list[_Less] = []
            try:
                change, who = _change(taken), _who(caller, row.name)
                if self._gate.save(path, change, who, WHY, without=offered) is not None:
                    done.append(taken[-1])
                    offers += row.name in old.offered
                    freed += old.offered.get(row.name, 0)
            except (VaultMindError, OSError) as error:
                log.warning("%s was not shrunk: %s", path, error)
                left.append((row.name, str(error)))
        if done or offers:
            tables = self._tables()
            tables.follow(self._files)
            if fault := tables.scrub():
                log.info("after a purge %s", fault)
        events, freed = sum(one.events for one in done), freed + sum(one.freed for one in done)
        return Purged(len(done), events, offers, freed, tuple(left))

    def _looked(self, now: datetime | None, days: int | None) -> _Old:
        """Return what may be due by what the tables know; no note is opened. Raises as `due`."""
        days = self._settings.days if days is None else days
        if not 0 <= days <= LONGEST_DAYS:
            raise BadArgument("days", days, f"0 to {LONGEST_DAYS}")
        before = (now or self._clock()) - timedelta(days=days)
        tables = self._tables()
        tables.follow(self._files)
        offered = {one.name: one.offers.size for one in self._files.listed() if one.offers}
        rows, left = tuple(self._ended(tables, before)), tuple(tables.faulty().items())
        return _Old(days, before.isoformat(timespec="seconds"), rows, offered, left)

    def _drop_left(self, caller: Caller | None) -> int:
        """Remove the offers of notes that are shrunk: who purged was killed between the two."""
        names = [one.name for one in self._files.listed() if one.offers]
        removed = 0
        for name, row in self._tables().find(names).items():
            if row.state != "shrunk":
                continue
            try:
                path = self._files.offers_path(name)
                removed += self._gate.remove(path, _who(caller, name), WHY)
            except (VaultMindError, OSError) as error:
                log.warning("what plans offered in %s was not removed: %s", name, error)
        return removed

    def _ended(self, tables: Tables, before: datetime) -> Iterator[Row]:
        """Yield the episodes that ended before, the oldest first; others' devices' only later."""
        later = (before - timedelta(days=OTHERS_DAYS)).timestamp()
        for row in tables.ended_before(before):
            is_own, ended = row.device in ("", self._settings.device), time_of(row.ended)
            if ended is not None and (is_own or ended.timestamp() < later):
                yield row


def _who(caller: Caller | None, name: str) -> Caller:
    return caller or Caller("agent", name.partition("/")[0], CLIENT)


def _less(file: FileText) -> _Less | None:
    """Return what a note shrinks to; None where it is not to: it is gone on with, or shrunk.

    Raises UnreadableNote for one that cannot be relied on.
    """
    found = front_matter(file.text)
    state, flaw = state_of(file.text, found)
    if flaw:
        raise UnreadableNote(file.path, flaw)
    if state != "ended":
        return None
    text, events = without_routine(file.text, found)
    return _Less(text, events, max(0, len(file.text.encode()) - len(text.encode())))


def _change(taken: list[_Less]) -> Change:
    """Return what shrinks a note as it stands when it is written; `taken` gets what went."""

    def change(file: FileText | None) -> str | None:
        less = _less(file) if file else None
        if less is None:
            return None  # gone, gone on with, or another device was first
        taken.append(less)
        return less.text

    return change
