"""Episodes over a vault: opened, followed in the background, and shrunk when they are old."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from vaultmind.config import Config
from vaultmind.episodes.files import EpisodeFiles
from vaultmind.episodes.note import parsed, shrunk
from vaultmind.episodes.recorder import OTHERS, Recorder
from vaultmind.episodes.store import FILE, Tables
from vaultmind.episodes.types import time_of
from vaultmind.errors import BadArgument, NotFound, UnreadableNote, VaultMindError
from vaultmind.ports import Clock, Report, silent
from vaultmind.types import PERSON, Caller, Progress
from vaultmind.vault.files import FileText, VaultReader

if TYPE_CHECKING:
    from vaultmind.memory.gate import Gate

LOOK_SECONDS = 60.0
"""How often it is looked for what others did to the notes: a hand, a sync."""
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
class Purge:
    """What a purge did, or would do."""

    days: int
    """What ended longer ago is due."""
    episodes: tuple[Shrinks, ...]
    """The oldest first."""
    left: tuple[tuple[str, str], ...]
    """Notes that cannot be shrunk, or were left as they are, and why."""


class Episodes:
    """What agents did: `recorder` writes it down, `files` reads it, `tables` count it."""

    def __init__(
        self, config: Config, gate: Gate, reader: VaultReader, clock: Clock, device: str
    ) -> None:
        self._config = config
        self._clock = clock
        self._device = device
        self._gate = gate
        self.files = EpisodeFiles(reader.paths, reader)
        self.recorder = Recorder(gate, self.files, self.followed, clock, config, device)
        self._lock, self._purging = threading.Lock(), threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    @cached_property
    def tables(self) -> Tables:
        """Return the table that is made of the notes, opened when it is first needed.

        Raises IndexUnavailable.
        """
        return Tables(self._config.state_dir / FILE)

    def followed(self) -> Tables:
        """Return the table, which has followed the notes since it was begun."""
        if not self.tables.has_followed:
            self.settle()
        return self.tables

    def settle(self) -> None:
        """Bring the table up to date with the notes, now. Raises IndexUnavailable.

        What plans offered in an episode goes once its note was deleted by hand.
        """
        with self._lock:
            for name in self.tables.follow(self.files):
                self.recorder.drop_offers(name, PERSON)

    def scrub(self) -> str:
        """Leave in the table no byte of what the notes no longer say; return what failed.

        Raises IndexUnavailable.
        """
        self.settle()
        return self.tables.scrub()

    def start(self, *, tends: bool = True) -> None:
        """Begin to follow the notes, in the background; returns at once.

        Unless it `tends` to them, too, none is closed or shrunk.
        """
        self._thread = threading.Thread(
            target=self._run, args=(tends,), name="episodes", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop following, and let go of the table."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        if "tables" in self.__dict__:
            self.tables.close()

    def _run(self, tends: bool) -> None:
        """Follow the notes; end what was abandoned, and once a day shrink what is old."""
        purged_on = ""
        while not self._stopped.is_set():
            try:
                self.settle()
                if tends:
                    self.recorder.close_abandoned()
                    if (today := self._clock().date().isoformat()) != purged_on:
                        purged_on = today
                        self.purge()
            except Exception:  # the next look may succeed: nobody waits for this
                log.exception("episodes could not be looked at")
            self._stopped.wait(LOOK_SECONDS)

    # --- retention -------------------------------------------------------------------------

    def purge(
        self, caller: Caller | None = None, days: int | None = None, report: Report = silent, *,
        dry: bool = False,
    ) -> Purge:  # fmt: skip
        """Shrink what is past its retention, or older than some days; `dry`: write no note.

        In the name of whoever asks or of each agent by itself. What one note does not allow is told
        and leaves the others alone. Of another device's what is a week older: two that write one
        note on one day make a sync conflict. Raises BadArgument for days that are out of range,
        IndexUnavailable.
        """
        days = self._config.retention.days if days is None else days
        if not 0 <= days <= LONGEST_DAYS:
            raise BadArgument("days", days, f"0 to {LONGEST_DAYS}")
        with self._purging:
            self.settle()
            before = self._clock() - timedelta(days=days)
            names, done = self.tables.ended_before(before), list[Shrinks]()
            left = [*self.tables.faulty().items()]
            for number, name in enumerate(names, 1):
                report(Progress(number, len(names), "episodes looked at"))
                try:
                    one, offers = self._shrinks(name, before)
                    who = caller or Caller("agent", name.partition("/")[0], CLIENT)
                    is_done = one and not dry and self._gate.save(one.path, _shrink, who, WHY)
                    if is_done and offers:
                        self._gate.remove(offers, who, WHY)
                    done += [one] if one else []
                except NotFound:
                    continue  # it was deleted meanwhile
                except (VaultMindError, OSError) as error:
                    log.warning("%s was not shrunk: %s", name, error)
                    left.append((name, str(error)))
            if done and not dry:
                self.scrub()
        return Purge(days, tuple(done), tuple(left))

    def _shrinks(self, name: str, before: datetime) -> tuple[Shrinks | None, str]:
        """Return what goes of an episode, None where nothing is to; and the path of its offers."""
        file, listed = self.files.file(name), self.files.listed_one(name)
        less, one = _less(file), parsed(file.text, "", "")
        ended, others = time_of(one.ended), one.device not in ("", self._device)
        if less is None or (others and ended and ended > before - OTHERS):
            return None, ""
        offered = listed.offers.size if listed and listed.offers else 0
        freed = max(0, len(file.text.encode()) - len(less[0].encode()) + offered)
        path, offers = self.files.path(name), self.files.offers_path(name) if offered else ""
        return Shrinks(name, path, one.task.text, one.ended, less[1], freed), offers


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
