"""Which files' rows were written: so that whoever keeps some in memory reads only those again."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

NEVER = -1
"""The mark of whoever has read nothing yet."""
_MOST = 4_096
"""Writes that are remembered; whoever is further behind reads everything."""


class Touched:
    """A short log of written files. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._paths: deque[str] = deque(maxlen=_MOST)
        self._end = 0
        """Writes so far, forgotten ones too."""
        self._start = 0
        """Whoever has seen fewer reads everything."""

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Hold back who asks, while rows are committed and noted: nobody sees one without the
        other.
        """
        with self._lock:
            yield

    def add(self, paths: Iterable[str]) -> None:
        """Note files whose rows were written and are committed."""
        with self._lock:
            for path in paths:
                self._paths.append(path)
                self._end += 1

    def everything(self) -> None:
        """Note that any row may be another now."""
        with self._lock:
            self._paths.clear()
            self._end += 1
            self._start = self._end

    def since(self, mark: int) -> tuple[int, frozenset[str] | None]:
        """Return a mark of now, and the files that were written since another one.

        None: everything may have been. To be asked before the rows are read, or a write between
        would be missed.
        """
        with self._lock:
            if mark < self._start or self._end - mark > len(self._paths):
                return self._end, None
            held = len(self._paths)
            new = [self._paths[at] for at in range(held - (self._end - mark), held)]
            return self._end, frozenset(new)
