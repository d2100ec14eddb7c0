"""Affinity: how much earlier work on tasks like one used a file. Counted, not guessed.

An episode counts by how alike its task is and how long ago it was; edits count for more than
reads, work that succeeded for more than work of which nobody said so, and what failed counts
against the file. Below a minimum of samples nothing is said: two, or one that is sure.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from vaultmind.episodes.types import Deed, Result, Used

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vaultmind.episodes.tables.tables import Tables

    Numbers = NDArray[np.float64]

CREDIT: Mapping[Result, float] = {"success": 1.0, "partial": 0.5, "unknown": 0.3, "failed": 0.0}
"""What work counts by its outcome."""
COMMITTED = 0.7
"""What it counts where nobody told the outcome, but it was committed."""
READ, EDITED = 0.3, 1.0
"""What reading a file counts, of what changing it does."""
AGAINST = 0.5
"""What failed work on a file counts against it, of what success counts for it."""
SATURATION = 0.5
"""Of evidence, in episodes of the same task today: so much makes half of the full weight."""
SAME = 1.0
"""How alike tasks of one fingerprint are."""
MOST_USED = 100
"""Files of an answer."""
DAY_SECONDS = 86_400.0
_COLUMNS = 5
"""Of a file in memory: its last time, what the work counts, what the use does, how sure it is
that the work changed the file, and the time of its last link."""
_ROUNDED = 2e-4
"""What two weights may differ by that are the same when they are told."""


@dataclass(frozen=True, slots=True)
class AffinitySettings:
    """How affinity is counted."""

    half_life_days: float = 60.0
    """After which an episode counts half."""
    min_samples: int = 2
    """Episodes that must have used a file, before anything is said of it ..."""
    min_samples_sure: int = 1
    """... or so many, where one of them had the very same task, or changed the file and that was
    committed or told a success. (Of 150 commits of a history, the files of alike earlier ones
    ranked the right ones at 0.114 MRR with two samples of any kind, at 0.195 so.)"""


class Sample(NamedTuple):
    """What one episode did with a file that it read or changed."""

    path: str
    last_at: int
    """In seconds since 1970."""
    edited: bool = False
    committed: bool = False
    causal: float = 0.0
    """How sure it is that this work changed the file."""
    linked_at: int = 0
    """When the last was that its links tell of, and the commit that this one names."""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Deeds:
    """What one episode did with files, as many of them are kept in memory and counted at once."""

    id: int
    """Its number in the tables: of two the one that was written first has the smaller."""
    name: str
    """`agent/id`."""
    source: str
    outcome: Result
    paths: tuple[str, ...]
    rows: bytes
    """_COLUMNS numbers a path."""
    commits: tuple[str, ...]
    """A path's commit, where it has one; nothing at all where none has."""


def deeds_of(id_: int, name: str, source: str, outcome: Result, samples: Iterable[Sample]) -> Deeds:
    """Return what an episode did with files, made small."""
    some = [*samples]
    rows = array("d")
    for one in some:
        use, causal = (EDITED, one.causal) if one.edited else (READ, 0.0)
        rows.extend((one.last_at, credit_of(outcome, one.committed), use, causal, one.linked_at))
    commits = tuple(sys.intern(one.commit) for one in some)
    paths = tuple(sys.intern(one.path) for one in some)  # they are the same from one to the next
    return Deeds(id_, name, source, outcome, paths, rows.tobytes(), commits if any(commits) else ())


def used(
    tables: Tables,
    source: str,
    alike: Mapping[str, float],
    now: datetime,
    settings: AffinitySettings | None = None,
    most: int = MOST_USED,
) -> dict[str, Used]:
    """Return the files for which episodes of a source speak, by path, the heaviest first.

    `alike` says how alike the task of each episode is (`agent/id`, from 0 to 1): only those that
    whoever asks may know of. At most `most` files are returned. Files that were only found or
    planned are not among them, nor is what an episode did that runs.
    """
    return weighed(tables.deeds(source, tuple(alike)), alike, now, settings, most)


def weighed(
    deeds: Sequence[Deeds],
    alike: Mapping[str, float],
    now: datetime,
    settings: AffinitySettings | None = None,
    most: int = MOST_USED,
) -> dict[str, Used]:
    """Return the files for which what episodes did speaks, as `used` does."""
    if not any(one.paths for one in deeds):
        return {}
    settings = settings or AffinitySettings()
    numbers: dict[str, int] = {}
    at = [numbers.setdefault(path, len(numbers)) for one in deeds for path in one.paths]
    sums = _summed(deeds, at, [alike[one.name] for one in deeds], now.timestamp(), settings)
    paths = [*numbers]
    ranked = sorted(
        (-weight, doubt, -edits, paths[number], number)
        for number, weight, doubt, edits in sums.best(most)
        if weight > 0.0
    )[:most]
    by = _by(deeds, at, {number for *_, number in ranked})
    return {
        path: Used(path, -weight, round(1.0 - doubt, 4), tuple(by[number]))
        for weight, doubt, _, path, number in ranked
    }


def credit_of(outcome: Result, committed: bool) -> float:
    """Return what work counts by what came of it."""
    return COMMITTED if outcome == "unknown" and committed else CREDIT[outcome]


def counted_weight(reads: int, edits: int, success_edits: int) -> float:
    """Return the weight of counts alone, as of the last of them: the tables' column."""
    success = min(success_edits, edits)
    worth = success + (edits - success) * CREDIT["unknown"] + max(0, reads - edits) * READ
    return round(worth / (worth + SATURATION), 4) if worth else 0.0


@dataclass(frozen=True, slots=True)
class _Sums:
    """What the episodes add up to, a number a file."""

    weight: Numbers
    """From 0 to 1; 0 below the minimum of samples."""
    doubt: Numbers
    """How likely none of them changed it for such a task."""
    edits: Numbers

    def best(self, most: int) -> Iterable[tuple[int, float, float, float]]:
        """Return at least the `most` heaviest files: their number, weight, doubt and edits."""
        import numpy as np

        weight = self.weight
        chosen = np.flatnonzero(weight)
        if len(chosen) > most:  # as they are told, some may weigh the same as the last of them
            least = np.partition(weight, len(weight) - most)[-most] - _ROUNDED
            chosen = np.flatnonzero(weight > max(0.0, least))
        values = (weight[chosen].tolist(), self.doubt[chosen].tolist(), self.edits[chosen].tolist())
        return [
            (number, round(value, 4), doubt, edits)
            for number, value, doubt, edits in zip(chosen.tolist(), *values, strict=True)
        ]


def _summed(
    deeds: Sequence[Deeds],
    at: Sequence[int],
    alike: Sequence[float],
    present: float,
    settings: AffinitySettings,
) -> _Sums:
    """Add up episodes: each file's number is told by `at`, as they come."""
    import numpy as np

    last_at, credit, use, causal, _ = (
        np.frombuffer(b"".join(one.rows for one in deeds)).reshape(-1, _COLUMNS).T
    )
    sizes = [len(one.paths) for one in deeds]
    likeness = np.repeat(np.array(alike, float), sizes)
    failed = np.repeat([one.outcome == "failed" for one in deeds], sizes)
    halvings = np.maximum(present - last_at, 0.0) / DAY_SECONDS / settings.half_life_days
    # numpy's own powers differ in the last digit by where a number stands: ties would not be ones
    counts = likeness * [0.5**one for one in halvings.tolist()]
    edited = use == EDITED
    number, each = np.array(at), counts * use

    def total(values: Numbers) -> Numbers:
        return np.bincount(number, values).astype(np.float64, copy=False)

    worth, against = total(each * credit), total(each * AGAINST * failed)
    is_sure = total((likeness >= SAME) | (edited & (credit >= COMMITTED))) > 0
    least = np.where(is_sure, settings.min_samples_sure, settings.min_samples)
    weight = np.maximum(worth - against, 0.0) / (worth + against + SATURATION)
    weight[np.bincount(number) < least] = 0.0
    doubt = np.ones(len(weight))
    np.multiply.at(doubt, number, 1.0 - causal * counts * credit)
    return _Sums(weight, doubt, total(counts * edited))


def _by(deeds: Sequence[Deeds], at: Sequence[int], wanted: Set[int]) -> dict[int, list[Deed]]:
    """Return what each episode did with some files, by the number of the file."""
    found: dict[int, list[Deed]] = {number: [] for number in wanted}
    numbers = iter(at)
    for one in deeds:
        rows = memoryview(one.rows).cast("d")
        for place, number in zip(range(len(one.paths)), numbers, strict=False):
            if number in wanted:
                _, _, use, _, linked_at = rows[place * _COLUMNS : (place + 1) * _COLUMNS]
                commit = one.commits[place] if one.commits else ""
                found[number].append(Deed(one.name, use == EDITED, int(linked_at), commit))
    return found
