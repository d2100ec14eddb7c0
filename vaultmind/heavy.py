"""One heavy import at a time, and heavy work behind light work.

Two threads that import packages which share a third (numpy under the embedders and py3langid) can
meet half-way, and Python breaks the deadlock by handing out a half-initialised module. So whoever
imports such a package in a thread holds this lock.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

BLAS_THREADS = 1
"""Threads of one multiplication. More would take the cores from people who are waiting. What numpy
reads when it is imported says the same: see `vaultmind/__init__.py`."""
_NICE = 10
_LOCK = threading.RLock()


@contextmanager
def importing() -> Iterator[None]:
    """Hold back other threads' heavy imports."""
    with _LOCK:
        yield


def step_back() -> None:
    """Let other threads go first, where the system has priorities for threads: on Linux."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
