"""How long models have worked today, kept in the state folder; what is left of the day's share."""

from __future__ import annotations

import json
import logging
import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vaultmind.ports import Clock

FILE = "minion-today.json"
LOCK_SECONDS = 1.0

log = logging.getLogger(__name__)


class Spending:
    """Seconds of work by day; a new day begins at the person's midnight. Any thread.

    What another process adds to the same file, as `vaultmind chat` does, counts too.
    """

    def __init__(self, folder: Path, daily_seconds: float, clock: Clock) -> None:
        self._path = folder / FILE
        self._daily_seconds = daily_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._day = ""
        self._unwritten = 0.0
        """Seconds of the day that could not be written: a restart forgets these."""

    def today(self) -> float:
        """Return the seconds that models have worked today."""
        with self._lock:
            return self._read(self._turn()) + self._unwritten

    def left(self) -> float:
        """Return the seconds that they may still work today; infinite where nothing binds them."""
        if not self._daily_seconds:
            return math.inf
        return max(0.0, self._daily_seconds - self.today())

    def add(self, seconds: float) -> None:
        """Count some seconds of work."""
        with self._lock:
            day = self._turn()
            self._unwritten += max(0.0, seconds)
            with suppress(OSError):
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._alone():
                if self._write(day, self._read(day) + self._unwritten):
                    self._unwritten = 0.0

    def _turn(self) -> str:
        """Return the day that it is; on a new one nothing is left of the last."""
        day = self._clock().date().isoformat()
        if day != self._day:
            self._day, self._unwritten = day, 0.0
        return day

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from adding meanwhile; none is waited for that does not let go."""
        from filelock import FileLock

        lock = FileLock(self._path.with_name(f".{FILE}.lock"), timeout=LOCK_SECONDS)
        try:
            lock.acquire()
        except (OSError, TimeoutError, NotImplementedError) as error:
            log.warning("%s could not be locked: %s", self._path, error)
        try:
            yield
        finally:
            lock.release()

    def _read(self, day: str) -> float:
        try:
            held = json.loads(self._path.read_text("utf-8"))
            seconds = float(held["seconds"]) if held["day"] == day else 0.0
        except (OSError, ValueError, KeyError, TypeError):
            return 0.0
        return seconds if math.isfinite(seconds) and seconds > 0 else 0.0

    def _write(self, day: str, seconds: float) -> bool:
        temp = self._path.with_name(f".{FILE}.{os.getpid()}")
        try:
            temp.write_text(json.dumps({"day": day, "seconds": round(seconds, 6)}), "utf-8")
            temp.chmod(0o600)
            temp.replace(self._path)
        except OSError as error:
            log.warning("%s could not be written: %s", self._path, error)
            with suppress(OSError):
                temp.unlink()
            return False
        return True
