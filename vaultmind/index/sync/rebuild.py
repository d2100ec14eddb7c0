"""A wish to have the index made anew, and how it ended."""

from __future__ import annotations

import threading
from collections.abc import Callable

from vaultmind.errors import IndexUnavailable
from vaultmind.ports import Report


class Rebuild:
    """What whoever asks for a new index waits for."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.done = threading.Event()
        self.error: BaseException | None = None

    def end(self, error: BaseException | None = None) -> None:
        """Let go of whoever waits."""
        self.error = error
        self.done.set()

    def wait(self, goes_on: Callable[[], bool]) -> None:
        """Return once it is made; raise what failed, or that the index no longer goes on."""
        while not self.done.wait(0.2):
            if not goes_on():
                raise IndexUnavailable("The index was closed before it was made anew.")
        if self.error is not None:
            raise self.error
