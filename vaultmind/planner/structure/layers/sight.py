"""What the layers are made from: records, edges, heat; each made once for one state of them."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from vaultmind.planner.structure.git import MOST_PATHS, Kind, Past, day_of
from vaultmind.planner.structure.records import FileRecord
from vaultmind.planner.types import Detail

if TYPE_CHECKING:
    from vaultmind.planner.structure.structure import Structure

T = TypeVar("T")

HALF_LIFE = 15
"""Commits after which what a commit says of heat counts half."""
RECENT = 60
"""Files that are looked at as changed lately, where no commit says more."""
MOST_HELD = 96
"""Made things that are kept of one source: each layer at each detail, and a few of `since`."""

TIED, HOT, ENTRY, TEST = 1.0, 1.5, 1.0, -1.0
"""What each is worth where files are put in order: for the doublings of those that lead to it, for
heat, for where one begins to read, for a test."""


@dataclass(frozen=True, slots=True)
class Caps:
    """How much of a layer is shown."""

    files: int
    parts: int
    """Of one file: headings, definitions, ties, tasks."""
    lists: int
    """Of what goes with no file: folders, tags, commits."""


CAPS: Mapping[Detail, Caps] = {
    "compact": Caps(25, 5, 20), "normal": Caps(80, 12, 50), "verbose": Caps(300, 40, 200),
}  # fmt: skip


class Sight:
    """One look at a source. What git says is asked once a look."""

    def __init__(self, structure: Structure, now: datetime) -> None:
        self.structure = structure
        self.now = now
        self._key: Hashable = None
        self._past: Past | None = None
        self._is_asked = False

    @property
    def records(self) -> Mapping[str, FileRecord]:
        """Return the records by path."""
        return self.structure.records()

    def held(self, key: Hashable, stamp: Hashable, make: Callable[[], T]) -> tuple[T, bool]:
        """Return what was made at a stamp, or make it; and whether it was at hand."""
        cache = self.structure.cache
        found = cache.get(key)
        if found is not None and found[0] == stamp:
            return found[1], True
        made = make()
        while len(cache) >= MOST_HELD:
            cache.pop(next(iter(tuple(cache))), None)
        cache[key] = (stamp, made)
        return made, False

    @property
    def key(self) -> Hashable:
        """Return what differs once there is another commit, branch, or rule of what is shown."""
        if self._key is None:
            self._key = self.structure.history.key()
        return self._key

    @property
    def past(self) -> Past | None:
        """Return what git says, where it knows the source's files.

        No lock: what waits for one slow repository must not hold up looks at others, as
        `cached_property` does (its lock is one for all looks).
        """
        if not self._is_asked:
            past = self.structure.history.past()
            self._past = past if past is not None and past.tree else None
            self._is_asked = True
        return self._past

    @property
    def is_current(self) -> bool:
        """Tell whether what git says, and what may be shown, is still as it was seen."""
        return self._key is None or self._key == self.structure.history.key()

    @property
    def changes_stamp(self) -> Hashable:
        """Return what differs once L6 does: another commit, or another file that was changed."""
        stamp = (self.structure.version, self.key, self.now.date())
        return self.held("changes", stamp, self._changes_stamp)[0]

    @property
    def uncommitted(self) -> Mapping[str, Kind]:
        """Return the files that are not as the last commit has them."""
        stamp = (self.structure.version, self.key)
        return self.held("uncommitted", stamp, self._uncommitted)[0]

    @property
    def recent(self) -> Mapping[str, str]:
        """Return the files that changed last by their times, newest first, with the day."""
        stamp = (self.structure.version, self.now.date())
        return self.held("recent", stamp, self._recent)[0]

    @property
    def heat(self) -> Mapping[str, float]:
        """Return how hot files are by the last commits, from 0 to 1, hottest first.

        Cold ones are not in it; without git none is. What is being edited has no part in it, so
        that an edit leaves the order of files as it is.
        """
        return self.held("heat", self.key, self._heat)[0]

    @property
    def hot(self) -> tuple[str, ...]:
        """Return the hot files, hottest first: by commits, else by their times."""
        records = self.records
        return tuple(path for path in self.heat or self.recent if path in records)

    @property
    def ties(self) -> Mapping[str, int]:
        """Return how many files lead to each; tests do not count."""
        return self.held("ties", self.structure.stamp("L2"), self._ties)[0]

    @property
    def order(self) -> tuple[str, ...]:
        """Return all files, those first that most of the source turns around."""
        return self.held("order", self.order_stamp, self._order)[0]

    @property
    def order_stamp(self) -> Hashable:
        """Return what differs once the order of files does."""
        stamp = self.structure.stamp("L0", "L2")
        return (self.held("tied", stamp, self._tied)[0], self.key)

    def _changes_stamp(self) -> Hashable:
        if self.past is not None:
            return (self.key, frozenset(self.uncommitted.items()))
        return ("time", frozenset(self.recent.items()))

    def _uncommitted(self) -> dict[str, Kind]:
        past = self.past
        if past is None:
            return {}
        tree = past.tree
        found: dict[str, Kind] = {}
        kept = {path: self.structure.kept(path) for path in self.records}
        for path, one in kept.items():
            if one is not None and one.blob and tree.get(path) != one.blob:
                found[path] = "modified" if path in tree else "added"
        root = self.structure.reader.paths.root
        for path in tree:
            if path not in kept and not (root / path).is_symlink() and not (root / path).exists():
                found[path] = "removed"
        return found

    def _recent(self) -> dict[str, str]:
        timed = []
        for path in self.records:
            kept = self.structure.kept(path)
            if kept is not None:
                at = kept.stat.mtime_ns / 1e9
                timed.append((-at if at >= kept.seen_at else -kept.seen_at, path))
        last = ((-at, path) for at, path in heapq.nsmallest(RECENT, timed))
        return {path: day_of(at, self.now) for at, path in last}

    def _heat(self) -> dict[str, float]:
        past, heat = self.past, Counter[str]()
        for age, commit in enumerate(past.commits if past else ()):
            if len(commit.changed) <= MOST_PATHS:
                for path, _ in commit.changed:
                    heat[path] += 0.5 ** (age / HALF_LIFE)
        most = max(heat.values(), default=1.0)
        ranked = sorted(heat.items(), key=lambda one: (-one[1], one[0]))
        return {path: value / most for path, value in ranked}

    def _tied(self) -> Hashable:
        """Return what the order is made of: equal as long as no file's place can change."""
        traits = tuple((one.path, one.entry, one.test) for one in self.records.values())
        return hash(traits), hash(tuple(self.ties.items()))

    def _ties(self) -> dict[str, int]:
        graph, records = self.structure.graph, self.records
        tied = {}
        for path in records:
            sources = {edge.source for edge in graph.into(path) if edge.kind != "tests"}
            count = sum(one in records and not records[one].test for one in sources - {path})
            if count:
                tied[path] = count
        return tied

    def _order(self) -> tuple[str, ...]:
        heat, ties = self.heat, self.ties

        def worth(one: FileRecord) -> float:
            value = TIED * math.log2(1 + ties.get(one.path, 0)) + HOT * heat.get(one.path, 0.0)
            return value + (ENTRY if one.entry else 0.0) + (TEST if one.test else 0.0)

        ranked = sorted(self.records.values(), key=lambda one: (-worth(one), one.path))
        return tuple(one.path for one in ranked)
