"""What a planner keeps of a source between plans: tables of its names and of its past."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from vaultmind.planner.candidates.named import Names
from vaultmind.planner.git import History, Past

if TYPE_CHECKING:
    from vaultmind.planner.sources.sources import Source

CLOSE_SECONDS = 1.0

log = logging.getLogger(__name__)


class Known:
    """The tables of one source, brought up to date aside when something changed. Any thread."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.names = Names()
        self.past = Past()
        structure = source.structure
        self._history = structure.history if structure else History(source.root)
        self._version = -1
        self._lock = threading.Lock()
        self._work: threading.Thread | None = None

    def settle(self, timeout_seconds: float) -> bool:
        """Bring the tables up to date as far as there is time; tell whether they are."""
        deadline = time.monotonic() + timeout_seconds
        while self._due():
            with self._lock:
                if self._work is None or not self._work.is_alive():
                    self._work = threading.Thread(target=self._catch_up, name="names", daemon=True)
                    self._work.start()
                work = self._work
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            work.join(left)
            if work.is_alive():
                return False
            if time.monotonic() >= deadline:
                break
        return not self._due()

    def close(self) -> None:
        """Wait a moment for what is at work; it writes nothing."""
        if self._work is not None:
            self._work.join(CLOSE_SECONDS)

    def _due(self) -> bool:
        structure = self.source.structure
        moved = structure is not None and structure.version != self._version
        return moved or self._history.moved()

    def _catch_up(self) -> None:
        try:
            structure = self.source.structure
            if structure is not None and structure.version != self._version:
                version = structure.version
                self.names = self.names.with_records(structure.records())
                self._version = version
            self.past = self._history.past()  # last: git can take its time
        except Exception:  # a plan does without them
            log.exception("the names of %s cannot be told", self.source.name)
