"""How episodes are opened over a vault, and what is done about them in the background."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING

from vaultmind.config import Config
from vaultmind.episodes import retention
from vaultmind.episodes.files import EpisodeFiles
from vaultmind.episodes.recorder import Recorder, RecorderSettings
from vaultmind.ports import Clock, Report, silent
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import VaultReader

if TYPE_CHECKING:
    from vaultmind.episodes.store import Tables
    from vaultmind.memory.gate import Gate

VAULT = "vault"
"""Stands for the vault as a source, whatever its folder is called."""
LOOK_SECONDS = 60.0
"""How often it is looked for what others did to the notes: a hand, a sync."""
ORPHAN_SECONDS = 600.0
"""So old is what plans offered in an episode without a note before it goes, too."""

log = logging.getLogger(__name__)


class Episodes:
    """What agents did: `recorder` writes it down, `files` reads it, `tables` count it."""

    def __init__(
        self, config: Config, gate: Gate, reader: VaultReader, clock: Clock, device: str
    ) -> None:
        paths = reader.paths
        own = (VAULT, paths.root.name.casefold())
        self._config = config
        self._clock = clock
        self._device = device
        self._gate = gate
        self.files = EpisodeFiles(paths, reader)
        settings = RecorderSettings(
            device, config.agent, config.episodes.idle_minutes, config.episodes.keep,
            lambda source: source.casefold() in own,
        )  # fmt: skip
        self.recorder = Recorder(gate, paths, self.files, self.followed, clock, settings)
        self._lock, self._purging = threading.Lock(), threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    @cached_property
    def tables(self) -> Tables:
        """Return the tables that are made of the notes, opened when they are first needed.

        Raises IndexUnavailable.
        """
        from vaultmind.episodes.store import FILE, Tables

        return Tables(self._config.state_dir / FILE)

    def followed(self) -> Tables:
        """Return the tables, which have followed the notes since they were begun."""
        if not self.tables.has_followed:
            self.settle()
        return self.tables

    def settle(self) -> None:
        """Bring the tables up to date with the notes, now. Raises IndexUnavailable."""
        with self._lock:
            self.tables.follow(self.files)

    def scrub(self) -> str:
        """Leave in the tables no byte of what the notes no longer say; return what failed.

        Raises IndexUnavailable.
        """
        self.settle()
        return self.tables.scrub()

    def due(self, days: int | None = None, report: Report = silent) -> retention.Due:
        """Return what is past its retention, or older than some days. Writes no note.

        Raises BadArgument for days that are out of range, IndexUnavailable.
        """
        days = self._config.retention.days if days is None else days
        self.settle()
        return retention.due(self.files, self.tables, self._device, self._clock(), days, report)

    def purge(
        self, caller: Caller | None = None, days: int | None = None, report: Report = silent
    ) -> retention.Purged:
        """Shrink what is due, in the name of whoever asks or of each agent by itself."""
        with self._purging:
            due = self.due(days)
            done = retention.purge(self._gate, self.files, self.tables, due, caller, report)
            if done.episodes or done.offers:
                self.scrub()
        return done

    def start(self, *, tends: bool = True) -> None:
        """Begin to follow the notes, in the background; returns at once.

        Unless it `tends` to them, too, no note is written: none is closed or shrunk.
        """
        self._thread = threading.Thread(
            target=self._run, args=(tends,), name="episodes", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop following, and let go of the tables."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        if "tables" in self.__dict__:
            self.tables.close()

    def _run(self, tends: bool) -> None:
        """Follow the notes; end what was abandoned, and once a day shrink what is old."""
        purged_on = ""
        while not self._stopped.is_set():
            self._do(self.settle, "the tables")
            if tends:
                now = self._clock()
                self._do(self.recorder.close_abandoned, "what is abandoned")
                self._do(partial(self._drop_orphans, now), "offers without a note")
                if (today := now.date().isoformat()) != purged_on:
                    self._do(self.purge, "what is past its retention")
                    purged_on = today
            self._stopped.wait(LOOK_SECONDS)

    def _drop_orphans(self, now: datetime) -> None:
        """Remove what plans offered in episodes whose notes were deleted by hand.

        Not what came a moment ago: a sync may bring it before the note.
        """
        for name in self.files.orphans((now - timedelta(seconds=ORPHAN_SECONDS)).timestamp()):
            self.recorder.drop_offers(name, PERSON)

    def _do(self, work: Callable[[], object], what: str) -> None:
        try:
            work()
        except Exception:  # the next look may succeed: nobody waits for this
            log.exception("%s of episodes could not be looked at", what)
