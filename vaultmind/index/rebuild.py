"""A wish to have the index made anew, and how it ended."""

from __future__ import annotations

import threading

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
