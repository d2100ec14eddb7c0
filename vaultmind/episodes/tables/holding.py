"""What episodes that are over did with files, held in memory: a plan counts a dozen at once.

What is held is what the tables say: whatever changed since is let go of before anything is told.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Sequence

from vaultmind.episodes.affinity import Deeds, Sample, deeds_of
from vaultmind.episodes.tables.database import Database
from vaultmind.episodes.tables.reading import counters
from vaultmind.episodes.tables.rows import Counters

MOST_ROWS = 150_000
"""Files of episodes that are held, of those that were asked for last: some 60 bytes each."""
_OVER = (
    "SELECT id, episode, source, outcome FROM episodes WHERE state != 'running' "
    "AND episode IN (SELECT value FROM json_each(?))"
)
_THEIRS = "WHERE episode_id IN (SELECT value FROM json_each(?))"
_FILES = (
    "SELECT episode_id, file_path, last_at, edits > 0, committed, causal FROM episode_files "
    f"{_THEIRS} AND (reads OR edits)"
)
_LINKS = (
    "SELECT episode_id, change_path, timestamp, commit_sha FROM causal_links "
    f"{_THEIRS} ORDER BY timestamp, id DESC"
)


class Holding:
    """Keeps what was read of some tables. Any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._held: dict[str, Deeds] = {}
        """By episode, those that were asked for last at the end."""
        self._rows = 0
        self._as_of: tuple[int, Counters] | None = None
        """Which file it is of, and as of when."""

    def find(self, names: Sequence[str], as_of: tuple[int, Counters]) -> list[Deeds]:
        """Return what some episodes did that are over, those that were written first first.

        `as_of` is what the tables say they are of, asked just now.
        """
        with self._lock:
            if self._as_of != as_of:
                self._catch_up()
            found = [one for name in names if (one := self._again(name)) is not None]
        if len(found) < len(names):
            held = {one.name for one in found}
            found += self._read([name for name in names if name not in held])
        return sorted(found, key=lambda one: one.id)

    def _again(self, name: str) -> Deeds | None:
        """Return what an episode did, and hold it longer."""
        one = self._held.pop(name, None)
        if one is not None:
            self._held[name] = one
        return one

    def _catch_up(self) -> None:
        """Let go of what is held no longer as the tables say it."""
        epoch, before = self._database.epoch, self._as_of
        since = before[1].uses if before is not None else 0
        now, changed = self._database.read(lambda it: (counters(it), _changed(it, since)))
        if before is None or (epoch, now.dropped) != (before[0], before[1].dropped):
            self._held.clear()
            self._rows = 0
        for name in changed:
            self._let_go(name)
        self._as_of = (epoch, now)

    def _read(self, names: Sequence[str]) -> list[Deeds]:
        """Read what episodes did, and hold it unless the tables changed meanwhile."""
        epoch = self._database.epoch
        now, read = self._database.read(lambda it: (counters(it), deeds(it, names)))
        with self._lock:
            if self._as_of == (epoch, now):
                for one in read:
                    self._let_go(one.name)
                    self._held[one.name] = one
                    self._rows += len(one.paths)
                while self._rows > MOST_ROWS:
                    self._let_go(next(iter(self._held)))
        return read

    def _let_go(self, name: str) -> None:
        one = self._held.pop(name, None)
        if one is not None:
            self._rows -= len(one.paths)


def deeds(connection: sqlite3.Connection, names: Iterable[str]) -> list[Deeds]:
    """Return what some episodes did that are over."""
    over = connection.execute(_OVER, (json.dumps([*names]),)).fetchall()
    ids = (json.dumps([one[0] for one in over]),)
    last = {(id_, path): (at, sha) for id_, path, at, sha in connection.execute(_LINKS, ids)}
    files: dict[int, list[Sample]] = {}
    for id_, path, last_at, edited, committed, sure in connection.execute(_FILES, ids):
        linked_at, commit = last.get((id_, path), (0, ""))
        sample = Sample(path, last_at, edited == 1, committed == 1, sure, linked_at, commit)
        files.setdefault(id_, []).append(sample)
    return [
        deeds_of(id_, name, source, outcome, files.get(id_, ()))
        for id_, name, source, outcome in over
    ]


def _changed(connection: sqlite3.Connection, since: int) -> list[str]:
    rows = connection.execute("SELECT episode FROM episodes WHERE changed > ?", (since,))
    return [name for (name,) in rows]
