"""What consolidation keeps over a restart and may lose: a pause, tries, what it wrote last.

Nothing of it is needed: without the file it goes on, tries once more, and looks more closely
before it writes an active context anew.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vaultmind.vault.files import FileStat

log = logging.getLogger(__name__)

FILE = "consolidation.json"
MOST_TRIES = 500
"""Sessions whose tries, or stamps, are kept; the oldest go first."""


class State:
    """The file in the state folder. Any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        held = _read(path)
        self._paused = held.get("paused") is True
        tries, told = held.get("tries"), held.get("told")
        tries, told = (one if isinstance(one, dict) else {} for one in (tries, told))
        self._tries = {str(key): one for key, one in tries.items() if type(one) is int}
        self._told = {str(key): str(one) for key, one in told.items()}
        left = held.get("left")
        left = left if isinstance(left, dict) else {}
        self._left = {str(key): str(one) for key, one in left.items()}
        dropped = held.get("dropped")
        counts = dropped.items() if isinstance(dropped, dict) else ()
        self._dropped = Counter({str(key): one for key, one in counts if type(one) is int})
        self._last_time = str(held.get("last_time") or "")

    @property
    def last_time(self) -> str:
        """Return when the last run was over: ISO 8601; empty where there was none."""
        return self._last_time

    @property
    def dropped(self) -> dict[str, int]:
        """Return how many facts were dropped on this device so far, by reason."""
        return dict(self._dropped)

    def ran(self, time: str, dropped: Mapping[str, int]) -> None:
        """Keep when a run was over and what it dropped."""
        with self._lock:
            self._last_time = time
            self._dropped.update(dropped)
            self._write()

    @property
    def paused(self) -> bool:
        """Tell whether nothing is begun with by itself."""
        return self._paused

    def pause(self, paused: bool) -> None:
        """Keep whether it is paused."""
        with self._lock:
            self._paused = paused
            self._write()

    def tried(self, agent: str, session: str) -> int:
        """Count one more try in vain at a session; return how many there were."""
        key = f"{agent}/{session}"
        with self._lock:
            self._tries[key] = self._tries.pop(key, 0) + 1
            while len(self._tries) > MOST_TRIES:
                del self._tries[next(iter(self._tries))]
            self._write()
            return self._tries[key]

    def settled(self, agent: str, session: str) -> None:
        """Forget the tries at a session."""
        with self._lock:
            if self._tries.pop(f"{agent}/{session}", None) is not None:
                self._write()

    def leave(self, agent: str, session: str, stat: FileStat | None) -> None:
        """Keep that a session is done which cannot say so itself, as long as its file stays so."""
        key = f"{agent}/{session}"
        with self._lock:
            self._tries.pop(key, None)
            self._left.pop(key, None)
            self._left[key] = _stamp(stat)
            while len(self._left) > MOST_TRIES:
                del self._left[next(iter(self._left))]
            self._write()

    def is_left(self, agent: str, session: str, stat: FileStat | None) -> bool:
        """Tell whether a session is done as its file stands, though it does not say so itself."""
        known = self._left.get(f"{agent}/{session}")
        return known is not None and known == _stamp(stat)

    def told(self, agent: str) -> str:
        """Return the digest of the active context that was written last for an agent."""
        return self._told.get(agent, "")

    def tell(self, agent: str, digest: str) -> None:
        """Keep the digest of an active context that was written just now."""
        with self._lock:
            if self._told.get(agent) != digest:
                self._told[agent] = digest
                self._write()

    def _write(self) -> None:
        held = {
            "paused": self._paused,
            "tries": self._tries,
            "told": self._told,
            "left": self._left,
            "last_time": self._last_time,
            "dropped": dict(self._dropped),
        }
        beside = self._path.with_name(f"{self._path.name}.new")
        try:
            beside.write_text(json.dumps(held), "utf-8")
            beside.replace(self._path)
        except OSError as error:
            log.warning("%s could not be written: %s", self._path, error)


def _stamp(stat: FileStat | None) -> str:
    return f"{stat.mtime_ns}-{stat.ctime_ns}-{stat.size}" if stat else ""


def _read(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return held if isinstance(held, dict) else {}
