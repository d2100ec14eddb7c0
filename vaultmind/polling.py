"""Threads that work as long as the app runs: some look at files again and again, some do what they
are told.

A stamp needs no file events, works on network drives and costs nothing to speak of.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from vaultmind.errors import NotAllowed, VaultMindError
from vaultmind.vault.files import FileStat

POLL_SECONDS = 0.3
RETRY_SECONDS = 10.0
"""How soon what failed for a passing reason is tried again."""
EXPIRY_SECONDS = 3600.0
"""How often unchanged suggestions are looked through for what has waited too long."""

log = logging.getLogger(__name__)


def look_once(looks: Iterable[tuple[Callable[[], object], str]]) -> None:
    """Look at several things, each by its name in the log; one that fails keeps none back."""
    for look, what in looks:
        try:
            look()
        except Exception:  # no note may keep the vault from opening: it is looked at again
            log.exception("%s could not be looked at", what)


class Polling:
    """Looks every few tenths of a second, in the background; a fault is told once."""

    def __init__(
        self, name: str, look: Callable[[], object], poll_seconds: float = POLL_SECONDS
    ) -> None:
        """Take what to look at; `name` is what the thread and the log call it."""
        self._name = name
        self._look = look
        self._poll_seconds = poll_seconds
        self._told = ""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """Stop after the present look."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    def look(self) -> None:
        """Look now. Never raises: the thread must live, and the next look may succeed."""
        fault = ""
        try:
            self._look()
        except Exception as error:
            fault = str(error)
            expected = isinstance(error, VaultMindError | OSError)
            if fault != self._told:
                log.warning("%s: %s", self._name, error, exc_info=not expected)
        self._told = fault

    def _run(self) -> None:
        while not self._stopping.wait(self._poll_seconds):
            self.look()


def when_changed(
    stamp: Callable[[], FileStat | None],
    settle: Callable[[], object],
    is_due: Callable[[], bool],
) -> Callable[[], None]:
    """Return a look that settles what a file says once its stamp changed, or after a while."""
    seen: FileStat | None = None
    again_at = 0.0

    def look() -> None:
        nonlocal seen, again_at
        now = stamp()
        if now is None or (now == seen and time.monotonic() < again_at):
            return
        seen, again_at = now, time.monotonic() + RETRY_SECONDS
        settle()
        if not is_due():
            again_at = time.monotonic() + EXPIRY_SECONDS

    return look


def quietly(job: Callable[[], object]) -> None:
    """Do one thing; a fault is logged, and must not keep the next thing from being done."""
    try:
        job()
    except NotAllowed as error:
        log.debug("nothing is kept: %s", error)
    except Exception as error:
        is_ours = isinstance(error, VaultMindError | OSError)
        log.warning("something could not be written down: %s", error, exc_info=not is_ours)


class Worker:
    """Does in the background what it is told, in order; whoever tells it goes on at once."""

    def __init__(self, name: str) -> None:
        self._worker = ThreadPoolExecutor(1, thread_name_prefix=name)

    def then(self, job: Callable[[], object]) -> Future[None]:
        """Do something once all that was told before is done; nothing once it is closed."""
        try:
            return self._worker.submit(quietly, job)
        except RuntimeError:
            done: Future[None] = Future()
            done.set_result(None)
            return done

    def wait(self, seconds: float) -> bool:
        """Return once all that was told is done; False where that takes longer."""
        done = self.then(lambda: None)
        with suppress(TimeoutError):
            done.result(seconds)
        return done.done()

    def close(self, *, finish: bool = True) -> None:
        """Stop; unless it is to `finish`, after what it does just now."""
        self._worker.shutdown(wait=True, cancel_futures=not finish)
