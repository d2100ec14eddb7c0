"""Episodes over a vault: opened, followed in the background, and shrunk when they are old."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from vaultmind.config import Config
from vaultmind.episodes.files import EpisodeFiles
from vaultmind.episodes.note import parsed, shrunk
from vaultmind.episodes.recorder import OTHERS, Recorder
from vaultmind.episodes.store import FILE, Tables
from vaultmind.episodes.types import time_of
from vaultmind.errors import VaultMindError
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import FileText, VaultReader

if TYPE_CHECKING:
    from vaultmind.memory.gate import Gate

LOOK_SECONDS = 60.0
"""How often it is looked for what others did to the notes: a hand, a sync."""
CLIENT, WHY = "retention", "an episode is past its retention"

log = logging.getLogger(__name__)


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
        self._lock = threading.Lock()
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

    def purge(self) -> None:
        """Shrink what is past its retention, in the name of each agent.

        Of another device's what is a week older: two that write one note on one day make a sync
        conflict. What one note does not allow leaves the others alone. Raises IndexUnavailable.
        """
        self.settle()
        before, shrunk_any = self._clock() - timedelta(days=self._config.retention.days), False
        for name in self.tables.ended_before(before):
            try:
                one = self.files.read(name)
                ended, others = time_of(one.ended), one.device not in ("", self._device)
                if others and ended and ended > before - OTHERS:
                    continue
                path, who = self.files.path(name), Caller("agent", one.agent, CLIENT)
                if self._gate.save(path, _shrink, who, WHY):
                    self._gate.remove(self.files.offers_path(name), who, WHY)
                    shrunk_any = True
            except (VaultMindError, OSError) as error:
                log.warning("%s was not shrunk: %s", name, error)
        if shrunk_any:
            self.scrub()


def _shrink(file: FileText | None) -> str | None:
    """Return what a note is to say; None for one that is gone, gone on with, or not whole."""
    one = parsed(file.text, "", "") if file else None
    return shrunk(file.text) if file and one and one.state == "ended" and not one.flaw else None
