"""How long what agents did is kept in full: after that a note keeps its outcome and its links."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from vaultmind.episodes.notes.files import EpisodeFiles
from vaultmind.episodes.notes.note import parsed
from vaultmind.episodes.notes.shrinking import shrunk, without_routine
from vaultmind.errors import BadArgument, NotFound, UnreadableNote, VaultMindError
from vaultmind.ports import Clock, Report, silent
from vaultmind.types import Caller, Progress
from vaultmind.vault.files import Change, FileText

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

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> FileText | None:
        """Store a record by compare-and-swap."""
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
        days = self._settings.days if days is None else days
        if not 0 <= days <= LONGEST_DAYS:
            raise BadArgument("days", days, f"0 to {LONGEST_DAYS}")
        now = now or self._clock()
        before = now - timedelta(days=days)
        tables = self._tables()
        tables.follow(self._files)
        offers = {one.name: one.offers.size for one in self._files.listed() if one.offers}
        found, left = [], list(tables.faulty().items())
        old = tuple(self._old(tables, before))
        for number, row in enumerate(old, 1):
            report(Progress(number, len(old), "episodes looked at"))
            try:
                found.append(self._shrinks(row, offers.get(row.name, 0)))
            except NotFound:
                continue  # it was deleted meanwhile
            except VaultMindError as error:
                left.append((row.name, str(error)))
        return Due(days, before.isoformat(timespec="seconds"), tuple(found), tuple(left))

    def run(
        self, caller: Caller | None = None, days: int | None = None, report: Report = silent
    ) -> Purged:
        """Shrink what is due, in the name of the person who asks or of each agent by itself.

        What one note does not allow is told and leaves the others alone. Raises as `due` does.
        """
        with _ONE:
            return self._run(caller, days, report)

    def _run(self, caller: Caller | None, days: int | None, report: Report) -> Purged:
        due = self.due(days=days, report=report)
        left, done = list(due.left), []
        offers = self._drop_left(caller)
        for number, one in enumerate(due.episodes, 1):
            report(Progress(number, len(due.episodes), "episodes shrunk"))
            who = _who(caller, one.name)
            try:
                if self._gate.save(one.path, _change(one), who, WHY) is not None:
                    offers += self._gate.remove(self._files.offers_path(one.name), who, WHY)
                    done.append(one)
            except (VaultMindError, OSError) as error:
                log.warning("%s was not shrunk: %s", one.path, error)
                left.append((one.name, str(error)))
        if done or offers:
            tables = self._tables()
            tables.follow(self._files)
            if fault := tables.scrub():
                log.info("after a purge %s", fault)
        events, freed = sum(one.events for one in done), sum(one.bytes for one in done)
        return Purged(len(done), events, offers, freed, tuple(left))

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

    def _old(self, tables: Tables, before: datetime) -> Iterator[Row]:
        """Yield the episodes that ended before, the oldest first; others' devices' only later."""
        later = (before - timedelta(days=OTHERS_DAYS)).timestamp()
        for row in tables.ended_before(before):
            is_own = row.device in ("", self._settings.device)
            if is_own or datetime.fromisoformat(row.ended).timestamp() < later:
                yield row

    def _shrinks(self, row: Row, offered_bytes: int) -> Shrinks:
        """Return what would go of an episode. Raises NotFound and what cannot be read or kept."""
        episode, file = self._files.opened(row.name)
        if episode.flaw:
            raise UnreadableNote(self._files.path(row.name), episode.flaw)
        kept, events = without_routine(file.text)
        freed = len(file.text.encode()) - len(kept.encode())
        return Shrinks(
            row.name,
            self._files.path(row.name),
            row.task,
            row.ended,
            events,
            max(0, freed) + offered_bytes,
        )


def _who(caller: Caller | None, name: str) -> Caller:
    return caller or Caller("agent", name.partition("/")[0], CLIENT)


def _change(one: Shrinks) -> Change:
    """Return what shrinks a note as it stands when it is written."""
    agent, _, id_ = one.name.partition("/")

    def change(file: FileText | None) -> str | None:
        now = parsed(file.text, agent, id_) if file else None
        if file is None or now is None or now.state != "ended" or now.flaw:
            return None  # gone, gone on with, broken, or another device was first
        return shrunk(file.text)

    return change
