"""How often things were done since the start, how they came out and how long they took."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from vaultmind.errors import VaultMindError

DONE, REFUSED, FAILED = "done", "refused", "failed"
"""Outcomes of an operation: an error of ours is a refusal, any other a failure."""


@dataclass(frozen=True, slots=True)
class Tallied:
    """Things of one name that came out alike."""

    times: int = 0
    seconds: float = 0.0
    """All of them took."""


class Tally:
    """Counts things by name and outcome, in memory alone. Any thread; costs a microsecond."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, str], tuple[int, float]] = {}

    def add(self, name: str, outcome: str, seconds: float = 0.0) -> None:
        """Count a thing."""
        with self._lock:
            times, spent = self._counts.get((name, outcome), (0, 0.0))
            self._counts[name, outcome] = times + 1, spent + seconds

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Count what is done inside, however it ends."""
        started, outcome = perf_counter(), FAILED
        try:
            yield
            outcome = DONE
        except VaultMindError:
            outcome = REFUSED
            raise
        finally:
            self.add(name, outcome, perf_counter() - started)

    def counts(self) -> Mapping[tuple[str, str], Tallied]:
        """Return what was counted, by name and outcome."""
        with self._lock:
            return {key: Tallied(*value) for key, value in sorted(self._counts.items())}
