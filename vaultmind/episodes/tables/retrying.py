"""Work on a database that others write to: tried again after longer and longer, by chance."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from vaultmind.errors import IndexUnavailable

T = TypeVar("T")

BUSY_TIMEOUT_SECONDS = 0.1
"""How long SQLite itself waits for a lock. It is short: its own pauses are the same for all who
wait, so that they come back together."""
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


@dataclass(frozen=True, slots=True)
class Retrying:
    """How often and how long work is tried. Units are seconds."""

    first_pause: float = 0.002
    longest_pause: float = 0.25
    give_up_after: float = 30.0
    rng: random.Random = field(default_factory=random.Random)
    """Where the jitter comes from."""
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def retried(work: Callable[[], T], how: Retrying | None = None) -> T:
    """Run some work, again while the database is busy; return what it returns.

    The work is one transaction that leaves nothing behind where it fails. The pause before each
    new try is drawn from a span that doubles (full jitter), so that those who wait do not come
    back at once. Raises IndexUnavailable once it took too long.
    """
    how = how or Retrying()
    deadline, span, tries = how.monotonic() + how.give_up_after, how.first_pause, 1
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            if how.monotonic() >= deadline:
                raise IndexUnavailable(
                    f"The tables of episodes stayed busy for {how.give_up_after:g} s "
                    f"and {tries} tries ({error}).",
                    hint="Ask again in a moment; the notes are not touched by this.",
                ) from error
        how.sleep(how.rng.uniform(0.0, span))
        span, tries = min(span * 2, how.longest_pause), tries + 1


def is_busy(error: sqlite3.Error) -> bool:
    """Tell whether an error says that somebody else holds the database, and no more."""
    return (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF in _BUSY
