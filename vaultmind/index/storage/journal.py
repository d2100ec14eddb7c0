"""Which files' rows were written, in order: whoever follows them looks at these alone."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

NEVER = -1
"""The version of whoever has seen nothing yet."""
_MOST = 4_096
"""Writes that are remembered; whoever is further behind looks at everything."""


class Journal:
    """A short log of written files. Any thread."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        """Notified at every change."""
        self._paths: deque[str] = deque(maxlen=_MOST)
        self._end = 0
        """Writes so far, forgotten ones too."""
        self._start = 0
        """Whoever has seen fewer looks at everything."""

    @property
    def version(self) -> int:
        """Return how much was written so far. To be asked before the rows are read."""
        with self.changed:
            return self._end

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Hold back who asks, while rows are committed and noted: nobody sees one without the
        other.
        """
        with self.changed:
            yield

    def add(self, paths: Iterable[str]) -> None:
        """Note files whose rows were written, or taken out, and are committed."""
        with self.changed:
            before = self._end
            for path in paths:
                self._paths.append(path)
                self._end += 1
            if self._end != before:
                self.changed.notify_all()

    def everything(self) -> None:
        """Note that any row may be another now."""
        with self.changed:
            self._paths.clear()
            self._end += 1
            self._start = self._end
            self.changed.notify_all()

    def since(self, version: int) -> tuple[int, frozenset[str] | None]:
        """Return the version now, and the files that were written since another one.

        None: everything may have been. To be asked before the rows are read, or a write between
        would be missed.
        """
        with self.changed:
            if version < self._start or self._end - version > len(self._paths):
                return self._end, None
            held = len(self._paths)
            new = [self._paths[at] for at in range(held - (self._end - version), held)]
            return self._end, frozenset(new)
