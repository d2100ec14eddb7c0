"""Whose turn it is to consolidate: one at a time, and who asks goes before what works by itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class CutOff(Exception):  # no fault: it is begun again another time
    """The work is to stop between two steps."""


class Turns:
    """Hands out turns. Any thread."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._is_taken = False
        self._asking = 0

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Take the next turn."""
        with self._free:
            self._asking += 1
            try:
                self._free.wait_for(lambda: not self._is_taken)
                self._is_taken = True
            finally:
                self._asking -= 1
        try:
            yield
        finally:
            self._give()

    @contextmanager
    def by_itself(self) -> Iterator[None]:
        """Take a turn once nobody asks for one."""
        with self._free:
            self._free.wait_for(lambda: not self._is_taken and not self._asking)
            self._is_taken = True
        try:
            yield
        finally:
            self._give()

    def _give(self) -> None:
        with self._free:
            self._is_taken = False
            self._free.notify_all()
