"""What is kept of models in the state folder: what was learned of each, how long they worked today.

The file can be lost at any time: then a crash teaches it again, and the day begins anew.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vaultmind.tables import keep_private

FILE = "minion.json"
_lock = threading.Lock()
log = logging.getLogger(__name__)


def learned(folder: Path, key: str) -> dict[str, Any]:
    """Return what is known of a model: `safe`, `failure`, `tokens_per_second`."""
    return dict(_load(folder).get("models", {}).get(key, {}))


def learn(folder: Path, key: str, **known: Any) -> None:  # noqa: ANN401
    """Keep what was learned of a model."""

    def change(held: dict[str, Any]) -> None:
        held.setdefault("models", {}).setdefault(key, {}).update(known)

    _update(folder, change)


def spent(folder: Path, day: str, what: str = "seconds") -> float:
    """Return the seconds that models have worked on an ISO day, or the `calls` of a command."""
    return float(_load(folder).get("days", {}).get(day, {}).get(what, 0.0))


def spend(folder: Path, day: str, amount: float, what: str = "seconds") -> None:
    """Count some seconds of work, or a call; of days before nothing is kept."""

    def change(held: dict[str, Any]) -> None:
        counted = held.get("days", {}).get(day, {})
        held["days"] = {day: counted | {what: counted.get(what, 0.0) + amount}}

    _update(folder, change)


def _load(folder: Path) -> dict[str, Any]:
    try:
        held: dict[str, Any] = json.loads((folder / FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return held


def _update(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    try:
        with _lock:
            held = _load(folder)
            change(held)
            keep_private(folder / FILE, held)
    except OSError as error:
        log.warning("%s could not be written: %s", folder / FILE, error)
