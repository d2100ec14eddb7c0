"""Waiting for a condition with a deadline, in place of sleeping."""

from __future__ import annotations

import time
from collections.abc import Callable

_STEP_SECONDS = 0.01


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Return once the condition holds; raise AssertionError when it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{getattr(condition, '__name__', condition)}: not in {seconds} s")
        time.sleep(_STEP_SECONDS)
