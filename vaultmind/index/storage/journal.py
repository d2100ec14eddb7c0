"""Which files an index stored anew, in order: what follows it looks at these alone."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vaultmind.index.storage.database import Database
from vaultmind.vault.files import FileStat

KEPT = 4000
"""Changes that are remembered; whoever was away for longer looks at everything."""
_AT_ONCE = 500
"""Paths that one question to the database names."""
_COLUMNS = "path, sha, lang, mtime_ns, ctime_ns, size, severity"


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as the index has it. `sha` is empty for one that could not be read."""

    path: str
    sha: str
    lang: str
    stat: FileStat


class Journal:
    """Counts what was stored. Safe for many threads; asking for the version costs nothing."""

    def __init__(self) -> None:
        self.version = 0
        self.changed = threading.Condition()
        """Notified at every change."""
        self._noted: deque[tuple[int, str]] = deque(maxlen=KEPT)
        self._from = 0

    def note(self, paths: Iterable[str]) -> None:
        """Remember that files were stored, or left the index."""
        with self.changed:
            self.version += 1
            for path in paths:
                if len(self._noted) == KEPT:
                    self._from = self._noted[0][0]
                self._noted.append((self.version, path))
            self.changed.notify_all()

    def lose(self) -> None:
        """Remember that everything must be looked at: the index was emptied."""
        with self.changed:
            self.version += 1
            self._noted.clear()
            self._from = self.version
            self.changed.notify_all()

    def since(self, version: int) -> tuple[str, ...] | None:
        """Return the files that were stored after a version; None when that is not known."""
        with self.changed:
            if version < self._from:
                return None
            return tuple(dict.fromkeys(path for at, path in self._noted if at > version))


def file_rows(database: Database, paths: Sequence[str] | None = None) -> list[FileRow]:
    """Return the files that the index has: all of them, or those of some paths."""
    with database.read() as connection:
        if paths is None:
            found = connection.execute(f"SELECT {_COLUMNS} FROM files").fetchall()
        else:
            found = []
            for at in range(0, len(paths), _AT_ONCE):
                some = paths[at : at + _AT_ONCE]
                marks = ", ".join("?" * len(some))
                asked = f"SELECT {_COLUMNS} FROM files WHERE path IN ({marks})"
                found += connection.execute(asked, some).fetchall()
    return [
        FileRow(path, "" if severity == "skipped" else sha, lang, FileStat(mtime, ctime, size))
        for path, sha, lang, mtime, ctime, size, severity in found
    ]
