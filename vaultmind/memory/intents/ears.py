"""A recogniser that keeps up with the person: their phrase files, and the agents there are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from pathlib import Path

from vaultmind.memory.intents.names import Names
from vaultmind.memory.intents.recogniser import Recogniser, recogniser
from vaultmind.memory.intents.types import Intent

Stamp = tuple[tuple[str, int, int], ...]
"""What tells one state of the phrase files from the next: names, times, sizes."""


class Ears:
    """Understands sentences by the phrases as they are now. Any thread.

    `folder` holds the person's own phrase files, and may come and go; `names` returns what
    agents are called. A changed file counts from the next sentence on.
    """

    def __init__(self, folder: Path, names: Callable[[], Collection[str]]) -> None:
        self._folder = folder
        self._agents = names
        self._lock = threading.Lock()
        self._stamp: Stamp | None = None
        self._recogniser = Recogniser([])
        self._called: tuple[str, ...] = ()
        self._names = Names(())

    def understand(self, sentence: str, *, naming: bool = True) -> Intent:
        """Return what a sentence asks for; without `naming` no word of it names an agent."""
        known = self._current()
        return known.recognise(sentence, self._named() if naming else Names(()))

    def faults(self) -> tuple[str, ...]:
        """Return what is wrong in the phrase files; the rest of them works."""
        return self._current().faults

    def warm(self) -> None:
        """Read everything now, so that no sentence waits for it."""
        self._current().warm()

    def _current(self) -> Recogniser:
        with self._lock:
            stamp = self._look()
            if stamp != self._stamp:
                self._recogniser = recogniser(self._folder if stamp else None)
                self._stamp = stamp
            return self._recogniser

    def _named(self) -> Names:
        called = tuple(self._agents())
        with self._lock:
            if called != self._called:
                self._called, self._names = called, Names(called)
            return self._names

    def _look(self) -> Stamp:
        """Return the phrase files as they stand; none where there is no folder."""
        found = []
        try:
            for path in sorted(self._folder.glob("*.toml")):
                stat = path.stat()
                found.append((path.name, stat.st_mtime_ns, stat.st_size))
        except OSError:  # taken away this moment: the next sentence looks again
            return ()
        return tuple(found)
