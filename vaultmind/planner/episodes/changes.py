"""A source as it is watched while an agent works in it: its files' stamps, its repository's log.

Which commits were made here is read from the log of HEAD, a file; what is in them git is asked, as
`structure.git_call` does. Other changes are told from the times and sizes of files: `git status`
would run the filters that a repository's own settings name.
"""

from __future__ import annotations

import os
import stat as modes
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from vaultmind.episodes.types import TaskMark
from vaultmind.episodes.watching.commits import Commit, Looked, Position, moves, own_ids, since
from vaultmind.episodes.watching.watched import Means, Records, Stamps
from vaultmind.episodes.watching.watching import Watching
from vaultmind.errors import VaultMindError
from vaultmind.planner.sources.sources import Source, Sources
from vaultmind.planner.structure.git import History
from vaultmind.ports import Clock
from vaultmind.types import PERSON
from vaultmind.vault.files import OPEN_FLAGS
from vaultmind.vault.scan import scan

MOST_BYTES = 256 * 1024
"""Of a log of HEAD that are read, from its end: a thousand commits."""
MOST_FILE_BYTES = 1_000_000
MOST_MOVES = 20
"""Pulls and other branches of one turn whose files are left out; after more no file is told."""


class WatchedSource:
    """One source, watched."""

    def __init__(self, source: Source, wall: Callable[[], float] = time.time) -> None:
        self._source = source
        self._wall = wall

    @property
    def name(self) -> str:
        """Return the source's name."""
        return self._source.name

    def relative(self, path: Path) -> str:
        """Return a file's path in the source; empty for one that is not of it or not shown.

        A link is followed: what counts is the file that was read or changed. An agent's memory is
        no part of the work.
        """
        try:
            inside = path.resolve().relative_to(self._source.root).as_posix()
        except (OSError, RuntimeError, ValueError):
            return ""
        return inside if self._is_shown(inside) else ""

    def stamps(self, *, now: bool) -> Stamps:
        """Return how the files are: as they are `now`, or as the index last saw them.

        Raises VaultNotFound while the source is not there.
        """
        index, outlet = self._source.index, self._source.index.outlet
        if not now and index.wait_ready(0.0):
            return {
                row.path: (row.stat.mtime_ns, row.stat.size)
                for row in index.rows()
                if self._is_shown(row.path)
            }
        paths = self._source.reader.paths
        outlet.ground.check()
        found = scan(paths, outlet.rules, MOST_FILE_BYTES, outlet.ground.takes)
        return {
            path: (stat.mtime_ns, stat.size)
            for path, stat in found.entries.items()
            if self._is_shown(path)
        }

    def position(self, when: float) -> Position:
        """Return where the source's repository stood: before what moved later. Runs nothing."""
        text, size = _read(self._log())
        lines = text.splitlines(keepends=True)
        log = moves(text)
        while log and log[-1].time > when:
            size -= len(lines.pop().encode())
            log = moves("".join(lines))
        return Position(log[-1].after if log else "", when, size)

    def look(self, since_then: Position) -> Looked:
        """Return what moved in the source's repository since a position."""
        position, history = self.position(self._wall() + 1), self._history()
        if history is None or position.size == since_then.size:
            return Looked(position)
        if 0 <= since_then.size < position.size:
            new = moves(_read(self._log(), since_then.size)[0])
        else:
            new = since(moves(_read(self._log())[0]), since_then)
        found = history.commits_named(own_ids(new))
        commits = tuple(Commit(one.id, one.time, one.subject, one.changed) for one in found)
        brought = [one for one in new if not one.is_own][:MOST_MOVES]
        differ = {path for one in brought for path in history.differing(one.before, one.after)}
        return Looked(position, tuple(one for one in commits if one.changed), frozenset(differ))

    def _is_shown(self, path: str) -> bool:
        structure, outlet = self._source.structure, self._source.index.outlet
        if structure is not None:
            return structure.shows(path)
        return not outlet.paths.in_memory(path) and outlet.shows(path, PERSON)

    def _history(self) -> History | None:
        structure = self._source.structure
        return None if structure is None else structure.history

    def _log(self) -> Path | None:
        """Return the log of HEAD; None without a repository."""
        history = self._history()
        repository = None if history is None else history.repository()
        return None if repository is None else repository.folder / "logs/HEAD"


def open_watching(records: Records, sources: Sources, clock: Clock) -> Watching:
    """Return what follows conversations over the sources, not yet at work."""

    def holding(path: Path) -> WatchedSource | None:
        try:
            source = sources.holding(path)
        except VaultMindError:  # its index cannot be opened: nothing is known of its files
            return None
        return None if source is None else WatchedSource(source)

    return Watching(records, Means(holding, _mark, _is_another, _says_nothing, clock))


def _mark(prompt: str, source: str) -> TaskMark:
    from vaultmind.planner.episodes.tasks import task_mark  # its patterns cost a start 20 ms

    return task_mark(prompt, source)


def _is_another(before: Sequence[str], prompt: str, touched: Collection[str]) -> bool:
    from vaultmind.planner.episodes.tasks import is_another

    return is_another(before, prompt, touched)


def _says_nothing(prompt: str) -> bool:
    from vaultmind.planner.episodes.tasks import says_nothing

    return says_nothing(prompt)


def _read(file: Path | None, start: int = 0) -> tuple[str, int]:
    """Return the lines of a regular file from a place on, or the last; and its size.

    -1 where there is none. Never waits.
    """
    try:
        descriptor = os.open(file or "", OPEN_FLAGS)
    except OSError:
        return "", -1
    try:
        found = os.fstat(descriptor)
        if not modes.S_ISREG(found.st_mode):
            return "", -1
        at = max(start, found.st_size - MOST_BYTES)
        os.lseek(descriptor, at, os.SEEK_SET)
        text = os.read(descriptor, MOST_BYTES).decode("utf-8", "replace")
        return (text.partition("\n")[2] if at > start else text), found.st_size
    except OSError:
        return "", -1
    finally:
        os.close(descriptor)
