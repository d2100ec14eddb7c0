"""A thread that looks at something again and again, as long as the app runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

log = logging.getLogger(__name__)


def look_once(looks: Iterable[tuple[Callable[[], object], str]]) -> None:
    """Look at several things, each by its name in the log; one that fails keeps none back."""
    for look, what in looks:
        try:
            look()
        except Exception:  # no note may keep the vault from opening: it is looked at again
            log.exception("%s could not be looked at", what)


class Polling:
    """Looks every few tenths of a second, in the background."""

    def __init__(self, name: str, look: Callable[[], None], poll_seconds: float) -> None:
        """Take what to look at; `name` is what the thread and the log call it."""
        self._name = name
        self._look = look
        self._poll_seconds = poll_seconds
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

    def _run(self) -> None:
        while not self._stopping.wait(self._poll_seconds):
            try:
                self._look()
            except Exception:  # the thread must live: the next look may succeed
                log.exception("%s could not be looked at", self._name)
