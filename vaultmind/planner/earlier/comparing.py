"""Comparing: how alike one task is to each of many, all at once, as `similarity.alike` says it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vaultmind.planner.intent.similarity import CONTAINED, KIND, NAMED, TERMS, Comparable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.float64]

COMMON_SHARE, FEW = 0.1, 40
"""Of the tasks: a word that more of them have leads to none of them, unless they are few."""
_ROUNDED = 1e-4
"""What being alike may differ by that is the same when it is told."""


class Compared:
    """Tasks by what they are found by: a place each, and the places of each word. One thread."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[int, Comparable]] = {}
        self._names: list[str] = []
        """By place; a place that is free has the name that it had."""
        self._free: list[int] = []
        self._sizes = array("d")
        """How many telling words and names the task of a place has, and its kind's number."""
        self._kinds: dict[str, int] = {"unknown": -1}
        self._roots: dict[str, array[int]] = {}
        self._named: dict[str, array[int]] = {}
        self._fingerprints: dict[str, array[int]] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._held)

    def put(self, name: str, seen: Comparable) -> None:
        """Take a task, in place of what it was."""
        self.drop(name)
        if self._free:
            place = self._free.pop()
            self._names[place] = name
        else:
            place = len(self._names)
            self._names.append(name)
            self._sizes.extend((0.0, 0.0, 0.0))
        kind = self._kinds.setdefault(seen.predicted, len(self._kinds))
        sizes = (len(seen.roots), len(seen.names), kind)
        self._sizes[3 * place : 3 * place + 3] = array("d", sizes)
        self._held[name] = place, seen
        for table, word in self._words(seen):
            table.setdefault(word, array("i")).append(place)

    def drop(self, name: str) -> None:
        """Forget a task, if it is there."""
        place, seen = self._held.pop(name, (0, None))
        if seen is None:
            return
        self._free.append(place)
        for table, word in self._words(seen):
            table[word].remove(place)
            if not table[word]:
                del table[word]

    def find(self, wanted: Comparable, least: float) -> list[tuple[float, str]]:
        """Return how alike those are that share a telling word with a task, or its fingerprint.

        None that is less than `least` alike.
        """
        import numpy as np

        limit = max(FEW, COMMON_SHARE * len(self))
        roots = [found for word in wanted.roots if (found := self._roots.get(word))]
        named = [found for word in wanted.names if (found := self._named.get(word))]
        same = self._fingerprints.get(wanted.fingerprint, array("i"))
        near = [same, *(one for one in (*roots, *named) if len(one) <= limit)]
        places = np.flatnonzero(np.bincount(_joined(near)))
        if not len(places):
            return []
        sizes = np.frombuffer(self._sizes).reshape(-1, 3)[places]
        shared = [np.bincount(_joined(each), minlength=len(self._names)) for each in (roots, named)]
        about = _overlap(shared[0][places], sizes[:, 0], len(wanted.roots))
        if wanted.names:
            both = _overlap(shared[1][places], sizes[:, 1], len(wanted.names))
            has_names = sizes[:, 1] > 0
            about = np.where(has_names, (TERMS * about + NAMED * both) / (TERMS + NAMED), about)
        kind = self._kinds.get(wanted.predicted, -1)
        part = np.where((sizes[:, 2] == kind) & (kind >= 0), KIND, 0.0)
        value = np.minimum(1.0, (1.0 - KIND) * about + part * np.sqrt(about))
        if wanted.fingerprint and same:
            value[np.searchsorted(places, _joined([same]))] = 1.0
        names, like = self._names, np.flatnonzero(value >= least - _ROUNDED)
        told = zip(value[like].tolist(), places[like].tolist(), strict=True)
        scored = [(round(one, 4), names[place]) for one, place in told]
        return [one for one in scored if one[0] >= least]

    def _words(self, seen: Comparable) -> Iterable[tuple[dict[str, array[int]], str]]:
        """Yield what a task is found by, and where that is looked up."""
        yield from ((self._roots, word) for word in seen.roots)
        yield from ((self._named, name) for name in seen.names)
        yield self._fingerprints, seen.fingerprint


def _joined(places: Sequence[array[int]]) -> NDArray[np.intc]:
    import numpy as np

    return np.concatenate(
        [np.frombuffer(one, np.intc) for one in places if one] or [np.empty(0, np.intc)]
    )


def _overlap(both: NDArray[np.int64], sizes: Counts, size: int) -> Counts:
    """Return what `similarity` calls so, of words that are shared and the words of each."""
    import numpy as np

    either, fewer = sizes + size - both, np.minimum(sizes, size)
    jaccard, contained = both / np.maximum(either, 1.0), both / np.maximum(fewer, 1.0)
    return (1.0 - CONTAINED) * jaccard + CONTAINED * contained * np.minimum(1.0, both / 2)
