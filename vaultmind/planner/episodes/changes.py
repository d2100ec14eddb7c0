"""What happens in a source besides what hooks tell: asked of git by whoever follows a talk."""

from __future__ import annotations

from pathlib import Path

from vaultmind.episodes.recorder import Recorder
from vaultmind.episodes.types import Change
from vaultmind.episodes.watch import Commit, Tasks, Watching
from vaultmind.errors import VaultMindError
from vaultmind.planner.git import History
from vaultmind.planner.sources.sources import Source, Sources
from vaultmind.ports import Clock
from vaultmind.types import PERSON


class WatchedSource:
    """One source, watched."""

    def __init__(self, source: Source) -> None:
        self._source = source

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

    def uncommitted(self) -> dict[str, tuple[Change, int]]:
        """Return what differs from the last commit, and when each file changed."""
        found: dict[str, tuple[Change, int]] = {}
        history = self._history()
        for path, change in (history.uncommitted() if history else {}).items():
            if self._is_shown(path):
                found[path] = change, _changed_at(self._source.root / path)
        return found

    def commits(self, since: float) -> tuple[Commit, ...]:
        """Return the commits that were made here since then and still stand, oldest first."""
        history = self._history()
        made = history.commits_made(since) if history else ()
        return tuple(Commit(it.id, it.time, it.subject, it.changed) for it in made if it.changed)

    def _is_shown(self, path: str) -> bool:
        structure, outlet = self._source.structure, self._source.index.outlet
        if structure is not None:
            return structure.shows(path)
        return not outlet.paths.in_memory(path) and outlet.shows(path, PERSON)

    def _history(self) -> History | None:
        structure = self._source.structure
        return None if structure is None else structure.history


def open_watching(records: Recorder, sources: Sources, clock: Clock) -> Watching:
    """Return what follows conversations over the sources, not yet at work."""

    def holding(path: Path) -> WatchedSource | None:
        try:
            source = sources.holding(path)
        except VaultMindError:  # its index cannot be opened: nothing is known of its files
            return None
        return None if source is None else WatchedSource(source)

    return Watching(records, holding, _tasks, clock)


def _changed_at(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0


def _tasks() -> Tasks:
    from vaultmind.planner.episodes import tasks  # its patterns cost a start 20 ms

    return tasks
