"""What is known to have changed and not yet indexed, and when it has been quiet long enough."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from vaultmind.types import Freshness

LONGEST_WAIT_SECONDS = 1.0
"""A file that never rests is indexed all the same, this long after its first change."""


class Changes:
    """Paths to index, each when it has been quiet; whole folders; and "cannot tell: rescan".

    Times are of a monotonic clock, in seconds. Safe for many threads.
    """

    def __init__(self, quiet_seconds: float) -> None:
        self.condition = threading.Condition()
        """Notified at every change. Whoever waits for work waits on it."""
        self._quiet_seconds = quiet_seconds
        self._due: dict[str, tuple[float, float]] = {}
        self._folders: dict[str, float] = {}
        self._dirty = True

    def mark(self, paths: Iterable[str], now: float) -> None:
        """Note that files changed."""
        with self.condition:
            for path in paths:
                first, _ = self._due.get(path, (now, now))
                latest = first + max(LONGEST_WAIT_SECONDS, self._quiet_seconds)
                self._due[path] = (first, min(now + self._quiet_seconds, latest))
            self.condition.notify_all()

    def mark_folder(self, folder: str, now: float) -> None:
        """Note that a folder came, went or was renamed: all below it must be looked at."""
        with self.condition:
            self._folders[folder] = now + self._quiet_seconds
            self.condition.notify_all()

    def mark_all(self) -> None:
        """Note that changes were lost: the whole vault must be compared."""
        with self.condition:
            self._dirty = True
            self.condition.notify_all()

    def state(self, path: str) -> Freshness:
        """Return what is known of one file."""
        with self.condition:
            if self._dirty or any(path.startswith(f"{folder}/") for folder in self._folders):
                return "DIRTY"
            return "STALE" if path in self._due else "FRESH"

    def take_all(self) -> bool:
        """Return whether the whole vault must be compared, and take it as being done."""
        with self.condition:
            taken, self._dirty = self._dirty, False
            return taken

    def take_folders(self, now: float) -> tuple[str, ...]:
        """Return the folders that have been quiet, and forget them."""
        with self.condition:
            ripe = tuple(folder for folder, due in self._folders.items() if due <= now)
            for folder in ripe:
                del self._folders[folder]
            return ripe

    def take(self, now: float) -> tuple[str, ...]:
        """Return the files that have been quiet, oldest first, and forget them."""
        with self.condition:
            ripe = sorted((due, path) for path, (_, due) in self._due.items() if due <= now)
            for _, path in ripe:
                del self._due[path]
            return tuple(path for _, path in ripe)

    def next_due(self) -> float | None:
        """Return when there will be work; None while nothing is known to have changed."""
        with self.condition:
            if self._dirty:
                return float("-inf")
            times = [due for _, due in self._due.values()] + list(self._folders.values())
            return min(times, default=None)
