"""Calls of somebody else's code, one at a time, none of which is waited for for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any


class Lane:
    """One call at a time. One that does not come back in time is left behind, in its thread.

    Until it does come back no other begins: whoever hangs is not given more to hang on.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free = threading.Event()
        self._free.set()
        self._closed = False
        self._waits: threading.Event | None = None

    def run(self, work: Callable[[], Any], seconds: float) -> Any:  # noqa: ANN401
        """Return what some work returns, or raise what it raises; TimeoutError when it is late."""
        until = time.monotonic() + seconds
        if not self._lock.acquire(timeout=seconds):
            raise TimeoutError(f"others waited for all of {seconds:g} s")
        try:
            if self._closed or not self._free.wait(max(0.0, until - time.monotonic())):
                raise TimeoutError("no answer yet to what it was asked before")
            return self._run(work, until, seconds)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Let whoever waits go; nothing is begun any more."""
        self._closed = True
        if (waits := self._waits) is not None:
            waits.set()

    def _run(self, work: Callable[[], Any], until: float, seconds: float) -> Any:  # noqa: ANN401
        ended = self._waits = threading.Event()
        result: list[Any] = []
        failed: list[BaseException] = []

        def call() -> None:
            try:
                result.append(work())
            except BaseException as error:  # handed to whoever waits
                failed.append(error)
            finally:
                self._free.set()
                ended.set()

        self._free.clear()
        threading.Thread(target=call, name="embedding-call", daemon=True).start()
        ended.wait(max(0.0, until - time.monotonic()))
        if failed:
            raise failed[0]
        if not result:
            raise TimeoutError("closed" if self._closed else f"no answer within {seconds:g} s")
        return result[0]
