"""How long models have worked today, kept in the state folder; what is left of the day's share."""

from __future__ import annotations

import json
import logging
import math
import os
import threading
from contextlib import suppress
from pathlib import Path

from vaultmind.ports import Clock

FILE = "minion-today.json"

log = logging.getLogger(__name__)


class Spending:
    """Seconds of work by day; a new day begins at the person's midnight. Any thread."""

    def __init__(self, folder: Path, daily_seconds: float, clock: Clock) -> None:
        self._path = folder / FILE
        self._daily_seconds = daily_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._day = ""
        self._seconds = 0.0

    def today(self) -> float:
        """Return the seconds that models have worked today."""
        with self._lock:
            self._turn()
            return self._seconds

    def left(self) -> float:
        """Return the seconds that they may still work today; infinite where nothing binds them."""
        if not self._daily_seconds:
            return math.inf
        return max(0.0, self._daily_seconds - self.today())

    def add(self, seconds: float) -> None:
        """Count some seconds of work."""
        with self._lock:
            self._turn()
            self._seconds += max(0.0, seconds)
            self._write()

    def _turn(self) -> None:
        """Begin with what the file knows of today, or with nothing on a new day."""
        day = self._clock().date().isoformat()
        if day == self._day:
            return
        self._seconds = self._read(day)
        self._day = day

    def _read(self, day: str) -> float:
        try:
            held = json.loads(self._path.read_text("utf-8"))
            seconds = float(held["seconds"]) if held["day"] == day else 0.0
        except (OSError, ValueError, KeyError, TypeError):
            return 0.0
        return seconds if math.isfinite(seconds) and seconds > 0 else 0.0

    def _write(self) -> None:
        temp = self._path.with_name(f".{FILE}.{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            held = {"day": self._day, "seconds": round(self._seconds, 3)}
            temp.write_text(json.dumps(held), "utf-8")
            temp.chmod(0o600)
            temp.replace(self._path)
        except OSError as error:  # it is counted in memory: a restart begins the day anew
            log.warning("%s could not be written: %s", self._path, error)
            with suppress(OSError):
                temp.unlink()
