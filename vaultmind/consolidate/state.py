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

MOST_KEPT = 500
"""Sessions whose tries, or stamps, are kept; the oldest go first."""


class State:
    """The file in the state folder. Any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            held = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            held = {}
        self._held: dict[str, Any] = held if isinstance(held, dict) else {}

    def _of(self, name: str) -> dict[str, Any]:
        found = self._held.get(name)
        return found if isinstance(found, dict) else {}

    @property
    def last_time(self) -> str:
        """Return when the last run was over: ISO 8601; empty where there was none."""
        return str(self._held.get("last_time") or "")

    @property
    def dropped(self) -> dict[str, int]:
        """Return how many facts were dropped on this device so far, by reason."""
        return {str(key): int(one) for key, one in self._of("dropped").items()}

    @property
    def paused(self) -> bool:
        """Tell whether nothing is begun with by itself."""
        return self._held.get("paused") is True

    def pause(self, *, paused: bool) -> None:
        """Keep whether it is paused."""
        self._write(paused=paused)

    def ran(self, time: str, dropped: Mapping[str, int]) -> None:
        """Keep when a run was over and what it dropped."""
        self._write(last_time=time, dropped=dict(Counter(self.dropped) + Counter(dropped)))

    def tried(self, agent: str, session: str) -> int:
        """Count one more try in vain at a session; return how many there were."""
        tries = int(self._of("tries").get(f"{agent}/{session}", 0)) + 1
        self._keep("tries", f"{agent}/{session}", tries)
        return tries

    def settled(self, agent: str, session: str, unclear: int = 0) -> None:
        """Forget the tries at a session; keep how many facts it left to a better reader."""
        key = f"{agent}/{session}"
        if self._of("tries").pop(key, None) is not None or self._of("unclear").pop(key, None):
            self._write()
        if unclear:
            self._keep("unclear", key, unclear)

    def unclear(self, agent: str) -> list[str]:
        """Return the sessions of an agent that left facts to a better reader."""
        keys = (one.split("/", 1) for one in self._of("unclear"))
        return [session for whose, session in keys if whose == agent]

    def leave(self, agent: str, session: str, stat: FileStat | None) -> None:
        """Keep that a session is done which cannot say so itself, as long as its file stays so."""
        self._keep("left", f"{agent}/{session}", _stamp(stat))

    def is_left(self, agent: str, session: str, stat: FileStat | None) -> bool:
        """Tell whether a session is done as its file stands, though it does not say so itself."""
        return str(self._of("left").get(f"{agent}/{session}", "-")) == _stamp(stat)

    def told(self, agent: str) -> str:
        """Return the digest of the active context that was written last for an agent."""
        return str(self._of("told").get(agent, ""))

    def tell(self, agent: str, digest: str) -> None:
        """Keep the digest of an active context that was written just now."""
        if self.told(agent) != digest:
            self._keep("told", agent, digest)

    def _keep(self, name: str, key: str, value: str | int) -> None:
        held = {one: old for one, old in self._of(name).items() if one != key}
        self._write(**{name: {**dict([*held.items()][-MOST_KEPT + 1 :]), key: value}})

    def _write(self, **values: Any) -> None:  # noqa: ANN401
        with self._lock:
            self._held |= values
            beside = self._path.with_name(f"{self._path.name}.new")
            try:
                beside.write_text(json.dumps(self._held), "utf-8")
                beside.replace(self._path)
            except OSError as error:
                log.warning("%s could not be written: %s", self._path, error)


def _stamp(stat: FileStat | None) -> str:
    return f"{stat.mtime_ns}-{stat.ctime_ns}-{stat.size}" if stat else ""
