"""A wish to have the vectors' files made anew, which outlives the process that has it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from vaultmind.index.db import Database
from vaultmind.index.vectors.freed import blank_freed_memory, leave_freed_memory

_KEY = "vectors_to_renew"
_POLL_SECONDS = 0.05


class Renewal:
    """Stands in the database until it is done: a kill in between only delays it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._asked: list[threading.Event] = []
        self._left: bool | None = None
        self._blanking = False

    @property
    def due(self) -> bool:
        """Tell whether it is asked for, in this process or one that ended before it was done."""
        with self._lock:
            if self._left is None:
                self._left = bool(self._database.get(_KEY))
            return bool(self._left or self._asked)

    def ask(self) -> threading.Event:
        """Ask for it; the event is set when it is done."""
        self._database.set(_KEY, "1")
        asked = threading.Event()
        with self._lock:
            self._asked.append(asked)
        return asked

    def wait(
        self,
        asked: threading.Event,
        seconds: float,
        is_ended: Callable[[], bool],
        empty: Callable[[], None],
    ) -> bool:
        """Wait until it is done, and do it where nobody is left who would; tell whether it was."""
        deadline = time.monotonic() + seconds
        while not asked.wait(_POLL_SECONDS):
            if is_ended():
                empty()
                self.end()
            elif time.monotonic() > deadline:
                return False
        return True

    def done_with(self, empty: Callable[[], None]) -> bool:
        """Do it if it is due, with what empties the store; tell whether it was."""
        if not self.due:
            return False
        self.begin()
        empty()
        self.end()
        return True

    def begin(self) -> None:
        """Have freed memory written over, so that none of it comes into the new files."""
        self._blanking = True
        blank_freed_memory()

    def filled(self) -> None:
        """Say that all vectors are in the files: freed memory is left alone again."""
        if self._blanking:
            self._blanking = False
            leave_freed_memory()

    def end(self) -> None:
        """Say that the old files are gone."""
        self._database.set(_KEY, "")
        with self._lock:
            asked, self._asked, self._left = self._asked, [], False
        for one in asked:
            one.set()
