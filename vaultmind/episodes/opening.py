"""How episodes are opened over a vault, and what is done about them in the background."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

from vaultmind.config import Config
from vaultmind.episodes.notes.files import EpisodeFiles
from vaultmind.episodes.recorder import Recorder, RecorderSettings, Records
from vaultmind.errors import NotFound, VaultMindError
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import Change, FileText, VaultReader

if TYPE_CHECKING:
    from vaultmind.episodes.retention import Retention
    from vaultmind.episodes.tables.tables import Tables

VAULT = "vault"
"""Stands for the vault as a source, whatever its folder is called."""
LOOK_SECONDS = 60.0
"""How often it is looked for what others did to the notes: a hand, a sync."""
ORPHAN_SECONDS = 600.0
"""So old is what plans offered in an episode without a note before it goes, too."""
WAIT_SECONDS = 0.05
"""How long a plan waits for tables that are being followed."""
GATHER_SECONDS = 0.2
"""So long news is gathered before the tables take it."""

log = logging.getLogger(__name__)


class Gate(Records, Protocol):
    """What episodes need of the gate."""

    def save(
        self, relative: str, change: Change, caller: Caller, reason: str, without: str = ""
    ) -> FileText | None:
        """Store a record by compare-and-swap, and remove the one that it is to be without."""
        ...


class Episodes:
    """What agents did: `recorder` writes it down, `files` reads it, `tables` count it."""

    def __init__(
        self, config: Config, gate: Gate, reader: VaultReader, clock: Clock, device: str
    ) -> None:
        paths = reader.paths
        self._config = config
        self._clock = clock
        self._gate = gate
        self._device = device
        own = (VAULT, paths.root.name.casefold())
        settings = RecorderSettings(
            device,
            agent=config.agent,
            idle_minutes=config.episodes.idle_minutes,
            keep=config.episodes.keep,
            in_vault=lambda source: source.casefold() in own,
            told=self._told,
            state_dir=config.state_dir,
        )
        self.recorder = Recorder(gate, reader, paths, clock, settings)
        self.files: EpisodeFiles = self.recorder.files
        self._news: set[str] = set()
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._purging: threading.Thread | None = None
        self._tends = True

    @cached_property
    def tables(self) -> Tables:
        """Return the tables that are made of the notes, opened when they are first needed.

        Raises IndexUnavailable.
        """
        from vaultmind.episodes.tables.tables import FILE, Tables

        return Tables(self._config.state_dir / FILE, self._clock)

    @cached_property
    def retention(self) -> Retention:
        """Return what shrinks episodes that are past their time."""
        from vaultmind.episodes.retention import Retention, RetentionSettings

        settings = RetentionSettings(self._config.retention.days, self._device)
        return Retention(self._gate, self.files, lambda: self.tables, self._clock, settings)

    def start(self, *, tends: bool = True) -> None:
        """Begin to follow the notes, in the background; returns at once.

        Unless it `tends` to them, too, no note is written: none is mended, closed or shrunk.
        """
        self._tends = tends
        self._thread = threading.Thread(target=self._run, name="episodes", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop following, and let go of the tables."""
        self._stopped.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        if self._purging is not None:
            self._purging.join()
        if "tables" in self.__dict__:
            self.tables.close()

    def settle(self) -> None:
        """Bring the tables up to date with the notes, now. Raises IndexUnavailable."""
        with self._lock:
            self._news.clear()
            self.tables.follow(self.files)

    def scrub(self) -> str:
        """Leave in the tables no byte of what the notes no longer say; return what failed.

        Raises IndexUnavailable.
        """
        with self._lock:
            self._news.clear()
            self.tables.follow(self.files)
            return self.tables.scrub()

    def drop_orphans(self, now: datetime) -> None:
        """Remove what plans offered in episodes whose notes were deleted by hand.

        Not what came a moment ago: a sync may bring it before the note.
        """
        before = (now - timedelta(seconds=ORPHAN_SECONDS)).timestamp()
        for name in self.files.orphans(before):
            self._do(partial(self.recorder.drop_offers, name, PERSON), "offers without a note")

    def current(self) -> Tables:
        """Return the tables with what was just written in them: a plan follows an end closely.

        While all notes are being read, which may take long, it does not wait for that.
        """
        if self._news and self._lock.acquire(timeout=WAIT_SECONDS):
            self._lock.release()
            self._do(self._take_news, "the news")
        return self.tables

    def _told(self, name: str) -> None:
        self._news.add(name)
        self._wake.set()

    def _take_news(self) -> None:
        """Take in the tables what was just written."""
        with self._lock:
            while self._news:
                name = self._news.pop()
                try:
                    episode, file = self.files.opened(name)
                except NotFound:
                    self.tables.drop(name)
                    if self._tends:
                        self._do(partial(self.recorder.drop_offers, name, PERSON), "offers")
                except VaultMindError as error:  # a link, say: the next look leaves it out, too
                    log.warning("the episode %s is not taken up: %s", name, error)
                else:
                    self.tables.put(episode, file.stat, self.files.offers(name))

    def _run(self) -> None:
        """Look at the notes: when something was written, else now and then; what is old daily."""
        if self._tends:
            self._do(self.recorder.resume, "what runs")
        looked, tended_on = float("-inf"), ""
        while not self._stopped.is_set():
            if time.monotonic() - looked >= LOOK_SECONDS:
                self._do(self.settle, "the tables")
                looked = time.monotonic()
            self._do(self._take_news, "the news")
            if self._tends:
                tended_on = self._tended(tended_on)
            self._wake.wait(LOOK_SECONDS)
            self._wake.clear()
            self._stopped.wait(GATHER_SECONDS)

    def _tended(self, last_on: str) -> str:
        """Close what was abandoned, and once a day shrink what is old; return the day of that."""
        now = self._clock()
        self._do(self.recorder.close_abandoned, "what is abandoned")
        self._do(lambda: self.drop_orphans(now), "offers without a note")
        if (today := now.date().isoformat()) != last_on:
            self._do(self.recorder.close_left, "what other devices abandoned")
            self._purge()
        return today

    def _purge(self) -> None:
        """Shrink what is old, beside the news: of years of episodes it may take minutes."""
        if self._purging is not None and self._purging.is_alive():
            return
        work = (self.retention.run, "what is past its retention")
        self._purging = threading.Thread(target=self._do, args=work, name="purge", daemon=True)
        self._purging.start()

    def _do(self, work: Callable[[], object], what: str) -> None:
        try:
            work()
        except Exception:  # the next look may succeed: nobody waits for this
            log.exception("%s of episodes could not be looked at", what)


def open_episodes(
    config: Config, gate: Gate, reader: VaultReader, clock: Clock, device: str
) -> Episodes:
    """Return what keeps episodes, not yet started."""
    return Episodes(config, gate, reader, clock, device)
