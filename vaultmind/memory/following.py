"""Follows Suggestions.md while the app runs: what the person ticks is done within a second.

The file is looked at a few times a second, by its stamp alone: that needs no file events, works
on network drives and costs nothing to speak of. It is read only when the stamp has changed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from vaultmind.errors import VaultMindError
from vaultmind.memory.polling import Polling
from vaultmind.vault.files import FileStat

POLL_SECONDS = 0.3
RETRY_SECONDS = 10.0
"""How soon what failed for a passing reason is tried again."""
EXPIRY_SECONDS = 3600.0
"""How often an unchanged file is looked through for what has waited too long."""

log = logging.getLogger(__name__)


class Following:
    """One thread over one file. `settle` acts on what it says; `stamp` tells that it changed."""

    def __init__(
        self,
        stamp: Callable[[], FileStat | None],
        settle: Callable[[], object],
        is_due: Callable[[], bool],
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self._stamp = stamp
        self._settle = settle
        self._is_due = is_due
        self._seen: FileStat | None = None
        self._again_at = 0.0
        self._polling = Polling("suggestions", self.look, poll_seconds)

    def start(self) -> None:
        """Begin to follow, in the background."""
        self._polling.start()

    def close(self) -> None:
        """Stop after what is being done."""
        self._polling.close()

    def look(self) -> None:
        """Act on the file now if it may hold something to do. Never raises an error of ours."""
        stamp = self._stamp_now()
        if stamp is None or (stamp == self._seen and time.monotonic() < self._again_at):
            return
        self._seen, wait_seconds = stamp, EXPIRY_SECONDS
        self._again_at = time.monotonic() + RETRY_SECONDS  # for an error that is not ours
        try:
            self._settle()
            if self._is_due():
                wait_seconds = RETRY_SECONDS
        except (VaultMindError, OSError) as error:
            log.warning("suggestions could not be settled: %s", error)
            wait_seconds = RETRY_SECONDS
        self._again_at = time.monotonic() + wait_seconds

    def _stamp_now(self) -> FileStat | None:
        try:
            return self._stamp()
        except VaultMindError:
            return None
