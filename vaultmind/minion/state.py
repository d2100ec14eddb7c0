"""What is kept of models in the state folder: what was learned of each, how long they worked today.

The file can be lost at any time: then a crash teaches it again, and the day begins anew.
"""

from __future__ import annotations

import json
import logging
import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vaultmind.ports import Clock

FILE = "minion.json"
_lock = threading.Lock()
log = logging.getLogger(__name__)


def learned(folder: Path, key: str) -> dict[str, Any]:
    """Return what is known of a model: `safe`, `failure`, `tokens_per_second`."""
    found: dict[str, Any] = _load(folder).get("models", {}).get(key, {})
    return found


def learn(folder: Path, key: str, **known: Any) -> None:  # noqa: ANN401
    """Keep what was learned of a model."""

    def change(held: dict[str, Any]) -> None:
        held.setdefault("models", {}).setdefault(key, {}).update(known)

    _update(folder, change)


class Spending:
    """Seconds of work by day; a new day begins at the person's midnight. Any thread.

    What another process adds to the same file counts too.
    """

    def __init__(self, folder: Path, daily_seconds: float, clock: Clock) -> None:
        self._folder = folder
        self._daily_seconds = daily_seconds
        self._clock = clock

    def today(self, what: str = "seconds") -> float:
        """Return the seconds that models have worked today, or the `calls` of a command."""
        return self._counted(_load(self._folder)).get(what, 0.0)

    def left(self) -> float:
        """Return the seconds that they may still work today; infinite where nothing binds them."""
        return max(0.0, self._daily_seconds - self.today()) if self._daily_seconds else math.inf

    def add(self, amount: float, what: str = "seconds") -> None:
        """Count some seconds of work, or a call."""

        def change(held: dict[str, Any]) -> None:
            counted = self._counted(held)
            held["days"] = {self._day(): counted | {what: counted.get(what, 0.0) + amount}}

        _update(self._folder, change)

    def _day(self) -> str:
        return self._clock().date().isoformat()

    def _counted(self, held: dict[str, Any]) -> dict[str, float]:
        found: dict[str, float] = held.get("days", {}).get(self._day(), {})
        return found


def _load(folder: Path) -> dict[str, Any]:
    try:
        held: dict[str, Any] = json.loads((folder / FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return held


def _update(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    new = folder / f".{FILE}.new"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _lock:
            held = _load(folder)
            change(held)
            new.write_text(json.dumps(held, indent=1), "utf-8")
            new.chmod(0o600)
            new.replace(folder / FILE)
    except OSError as error:
        log.warning("%s could not be written: %s", folder / FILE, error)
