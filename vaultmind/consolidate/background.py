"""Consolidation by itself: one thread that works when it is quiet, and lets others go first."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from vaultmind.consolidate.types import Consolidated
from vaultmind.heavy import step_back

LOOK_SECONDS = 60.0
"""How often it is looked whether a session has been silent for too long."""
CLOSE_SECONDS = 2.0
"""How long a close waits for a step to end."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far consolidation is."""

    queue: tuple[tuple[str, str], ...]
    """(agent, session) of those that wait."""
    running: str
    """What is worked at, in words; empty while nothing is."""
    paused: bool
    last: Consolidated | None
    """What the last run came to, since the start."""
    last_time: str
    """When it was over: ISO 8601; empty where there was none."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """How many facts were dropped on this device so far, by reason."""
    seconds_today: float = 0.0
    """How long models have worked today."""
    asked_for: int = 0
    """Ended sessions, imported ones most of them, that wait until the person asks."""


class Background:
    """The one thread that works by itself. It begins when it is first woken."""

    def __init__(
        self, work: Callable[[], object], look: Callable[[], object], delay_seconds: float
    ) -> None:
        """`work` is done after a wake and a while of quiet, `look` every now and then."""
        self._work = work
        self._look = look
        self._delay_seconds = delay_seconds
        self._wake = threading.Condition()
        self._due: float | None = None
        """From when on there is work to do; None while there is none."""
        self._closed = False
        self._is_working = False
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Say that there is work; it is begun with when nobody has said so for a while."""
        with self._wake:
            if self._closed:
                return
            self._due = time.monotonic() + self._delay_seconds
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="asleep", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def settle(self, timeout_seconds: float) -> bool:
        """Wait until there is nothing to do; return whether that came."""

        def idle() -> bool:
            return self._closed or (self._due is None and not self._is_working)

        with self._wake:
            return self._wake.wait_for(idle, timeout_seconds)

    def close(self) -> None:
        """Begin with nothing more, and wait a moment for what is being done to stop."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        step_back()
        while True:
            with self._wake:
                has_work = self._await()
                if self._closed:
                    return
                if has_work:
                    self._due = None
                self._is_working = True
            try:
                (self._work if has_work else self._look)()
            except Exception:  # it is tried again after the next end
                log.exception("what was to be consolidated could not be")
            with self._wake:
                self._is_working = False
                self._wake.notify_all()

    def _await(self) -> bool:
        """Wait for work that is due, or for the time to look; tell whether it is work."""
        look_at = time.monotonic() + LOOK_SECONDS
        while not self._closed:
            now = time.monotonic()
            if self._due is not None and now >= self._due:
                return True
            if now >= look_at:
                return False
            until = look_at if self._due is None else min(self._due, look_at)
            self._wake.wait(until - now)
        return False
