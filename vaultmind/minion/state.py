"""What is kept of models in the state folder: what was learned of each, how long they worked today.

The file can be lost at any time: then a crash teaches it again, and the day begins anew.
"""

from __future__ import annotations

import json
import logging
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vaultmind.ports import Clock

FILE = "minion.json"
LOCK_SECONDS = 1.0

log = logging.getLogger(__name__)


def learned(folder: Path, key: str) -> dict[str, Any]:
    """Return what is known of a model: `safe`, `failure`, `tokens_per_second`."""
    found = _models(_load(folder)).get(key)
    return found if isinstance(found, dict) else {}


def learn(folder: Path, key: str, **known: Any) -> None:  # noqa: ANN401
    """Keep what was learned of a model."""
    more = {key: learned(folder, key) | known}
    _update(folder, lambda held: {"models": _models(held) | more})


def _models(held: dict[str, Any]) -> dict[str, Any]:
    models = held.get("models")
    return models if isinstance(models, dict) else {}


class Spending:
    """Seconds of work by day; a new day begins at the person's midnight. Any thread.

    What another process adds to the same file counts too.
    """

    def __init__(self, folder: Path, daily_seconds: float, clock: Clock) -> None:
        self._folder = folder
        self._daily_seconds = daily_seconds
        self._clock = clock
        self._own: Counter[tuple[str, str]] = Counter()
        """What was counted here, by day: it binds where nothing can be written, too."""

    def today(self, what: str = "seconds") -> float:
        """Return the seconds that models have worked today, or the `calls` of a command."""
        day = self._clock().date().isoformat()
        return max(_counted(_load(self._folder), day, what), self._own[day, what])

    def left(self) -> float:
        """Return the seconds that they may still work today; infinite where nothing binds them."""
        return max(0.0, self._daily_seconds - self.today()) if self._daily_seconds else math.inf

    def add(self, amount: float, what: str = "seconds") -> None:
        """Count some seconds of work, or a call."""
        day = self._clock().date().isoformat()
        self._own[day, what] += amount  # type: ignore[assignment]  # a Counter takes any number

        def change(held: dict[str, Any]) -> dict[str, Any]:
            kept = {one: _counted(held, day, one) for one in ("seconds", "calls")}
            return {"day": day, **kept, what: kept[what] + amount}

        _update(self._folder, change)


def _counted(held: dict[str, Any], day: str, what: str) -> float:
    found = held.get(what)
    return float(found) if held.get("day") == day and isinstance(found, int | float) else 0.0


def _load(folder: Path) -> dict[str, Any]:
    try:
        held = json.loads((folder / FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def _update(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change what is kept, alone among threads and processes."""
    from filelock import FileLock

    new = folder / f".{FILE}.new"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(folder / f".{FILE}.lock", timeout=LOCK_SECONDS):
            held = _load(folder)
            new.write_text(json.dumps(held | change(held), indent=1), "utf-8")
            new.chmod(0o600)
            new.replace(folder / FILE)
    except (OSError, NotImplementedError) as error:
        log.warning("%s could not be written: %s", folder / FILE, error)
