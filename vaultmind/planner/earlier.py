"""What earlier work says of a task: which files episodes like it read and changed, and why.

The episodes come from the tables over their notes; only those whose notes the caller may read
count, and what was forgotten of them is not told.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from vaultmind.episodes.types import Used
from vaultmind.planner.alike import AlikeTasks, EarlierTask
from vaultmind.planner.pool import Candidate
from vaultmind.planner.types import EarlierWork, Understood
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.episodes.tables import Tables, TaskRow
    from vaultmind.planner.sources import Source

MOST_ALIKE = 40
"""Episodes that count for one task, the likest."""
LEAST_ALIKE, TOLD_ALIKE = 0.15, 0.3
"""How alike a task is for its files to count, and for its work to be told of."""
MOST_TOLD, LOOKED_AT = 3, 12
"""Episodes that are told of, and of how many it is looked whether there is anything to tell."""
MOST_FILES = 60
AT_ONCE = 2
"""Tasks that one plan understands by itself; the others are understood aside."""
BATCH, PAUSE_SECONDS = 10, 0.005
CLOSE_SECONDS = 1.0

log = logging.getLogger(__name__)


class Showing(Protocol):
    """What decides who may see what of the notes: an outlet of the vault."""

    def shows(self, path: str, caller: Caller) -> bool:
        """Tell whether a caller may see a vault-relative path."""
        ...

    def hides(self, agent: str, record: str, *names: str) -> bool:
        """Tell whether a line of a record is forgotten."""
        ...

    def clean(self, text: str) -> str:
        """Return a text without the secrets in it."""
        ...


@dataclass(frozen=True, slots=True)
class Recalled:
    """What earlier work says of one task. Implements `pool.Provider`: of that task alone."""

    found: tuple[Candidate, ...] = ()
    works: tuple[EarlierWork, ...] = ()

    def candidates(
        self, understood: Understood, source: Source, caller: Caller
    ) -> Iterable[Candidate]:
        """Return the files that earlier work on such tasks read or changed."""
        return self.found


class Earlier:
    """Recalls earlier work on tasks like one. Any thread."""

    def __init__(
        self,
        tables: Callable[[], Tables],
        showing: Showing,
        path_of: Callable[[str], str],
        clock: Clock,
    ) -> None:
        """`path_of` names the vault-relative note of an episode (`agent/id`)."""
        self._tables = tables
        self._showing = showing
        self._path_of = path_of
        self._clock = clock
        self._lock = threading.Lock()
        self._sources: dict[str, _Kept] = {}
        self._closed = threading.Event()

    def recall(self, understood: Understood, source: Source, caller: Caller) -> Recalled:
        """Return what earlier work says of a task; nothing where the tables cannot be read."""
        raise NotImplementedError

    def settle(self, source: str, timeout_seconds: float) -> bool:
        """Have the tasks of a source understood; tell whether there was the time."""
        raise NotImplementedError

    def close(self) -> None:
        """Understand no more."""
        self._closed.set()
