"""Trainings in the background: one at a time, out of everybody's way, cancelled at the close."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal

from vaultmind.errors import VaultMindError
from vaultmind.learn.trial import Trained
from vaultmind.ports import Clock

JobState = Literal["running", "done", "failed", "cancelled"]
CLOSE_SECONDS = 10.0
LOWEST_PRIORITY = 19

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """A training, as it stands."""

    id: str
    kind: str
    """`planner`, `ranker` or `all`."""
    state: JobState
    started: str
    ended: str = ""
    doing: str = ""
    """In words."""
    done: int = 0
    total: int = 0
    """Steps of what it does now; 0 for not known."""
    results: tuple[Trained, ...] = ()
    error: str = ""
    begun: bool = True
    """False in the answer to whoever asked while another ran: what was asked was not begun."""


class Cancelled(Exception):
    """The work was asked to end."""


class Steps:
    """How a piece of work tells how far it is, and hears that it is to end."""

    def __init__(self, told: Callable[[str, int, int], None], ends: threading.Event) -> None:
        self._told = told
        self._ends = ends

    def tell(self, doing: str, done: int = 0, total: int = 0) -> None:
        """Say what is done now. Raises Cancelled when it is to end: call it often."""
        if self._ends.is_set():
            raise Cancelled
        self._told(doing, done, total)


Work = Callable[[Steps], tuple[Trained, ...]]


class Jobs:
    """Runs trainings. Any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None
        self._last: Job | None = None
        self._closed = False

    def begin(self, kind: str, work: Work) -> Job:
        """Begin a piece of work, and return it; the one that runs, not `begun`, where one does."""
        with self._lock:
            if self._last is not None and (self._last.state == "running" or self._closed):
                return replace(self._last, begun=False)
            number, now = next(self._numbers), self._now()
            if self._closed:
                return Job(f"job-{number}", kind, "cancelled", now, now)
            self._last = Job(f"job-{number}", kind, "running", now)
            self._ends = threading.Event()
            self._thread = threading.Thread(
                target=self._run, args=(work, self._ends), name="training", daemon=True
            )
            self._thread.start()
            return self._last

    @property
    def last(self) -> Job | None:
        """Return the training that runs, or the last one since the start."""
        with self._lock:
            return self._last

    def wait(self, timeout_seconds: float | None = None) -> Job | None:
        """Return the last training once it has ended, or as it stands after that long."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout_seconds)
        return self.last

    def cancel(self) -> None:
        """Ask the one that runs to end; it does so at its next step."""
        self._ends.set()

    def close(self) -> None:
        """End what runs, and begin nothing any more."""
        with self._lock:
            self._closed = True
        self.cancel()
        self.wait(CLOSE_SECONDS)

    def _run(self, work: Work, ends: threading.Event) -> None:
        _step_back()
        try:
            results = work(Steps(self._told, ends))
        except Cancelled:
            self._ended("cancelled")
        except VaultMindError as error:
            self._ended("failed", error=str(error))
        except Exception as error:  # whoever asked for it must see that it failed, and why
            log.exception("a training failed")
            self._ended("failed", error=f"{type(error).__name__}: {error}")
        else:
            self._ended("done", results)

    def _told(self, doing: str, done: int, total: int) -> None:
        with self._lock:
            if self._last is not None:
                self._last = replace(self._last, doing=doing, done=done, total=total)

    def _ended(self, state: JobState, results: tuple[Trained, ...] = (), error: str = "") -> None:
        with self._lock:
            if self._last is not None:
                self._last = replace(
                    self._last, state=state, ended=self._now(), doing="", results=results,
                    error=error,
                )  # fmt: skip

    def _now(self) -> str:
        return self._clock().isoformat(timespec="seconds")


def _step_back() -> None:
    """Give this thread the lowest priority, where a thread has one of its own."""
    if sys.platform == "linux":
        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST_PRIORITY)
        except OSError as error:
            log.debug("no lower priority: %s", error)
