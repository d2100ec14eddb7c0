"""Affinity: how much earlier work on tasks like one used a file. Counted, not guessed.

An episode counts by how alike its task is and how long ago it was; edits count for more than
reads, work that succeeded for more than work of which nobody said so, and what failed counts
against the file. Below a minimum of samples nothing is said: two, or one that is sure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from vaultmind.episodes.types import CausalLink, Result, Used

if TYPE_CHECKING:
    from vaultmind.episodes.tables.tables import Tables

CREDIT: Mapping[Result, float] = {"success": 1.0, "partial": 0.5, "unknown": 0.3, "failed": 0.0}
"""What work counts by its outcome."""
COMMITTED = 0.7
"""What it counts where nobody told the outcome, but it was committed."""
READ = 0.3
"""What reading a file counts, of what changing it does."""
AGAINST = 0.5
"""What failed work on a file counts against it, of what success counts for it."""
SATURATION = 0.5
"""Of evidence, in episodes of the same task today: so much makes half of the full weight."""
SAME = 1.0
"""How alike tasks of one fingerprint are."""
MOST_USED, MOST_LINKED, MOST_LINKS = 100, 60, 5
"""Files of an answer, those that come with their links, and the links of one."""
DAY_SECONDS = 86_400.0


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
    """What one episode did with a file. A tuple: a plan makes a thousand of them."""

    alike: float
    """How alike its task is, from 0 to 1."""
    age_days: float
    outcome: Result
    read: bool = False
    edited: bool = False
    committed: bool = False
    causal: float = 0.0
    """How sure it is that this work changed the file."""


@dataclass(slots=True)
class Tally:
    """What the episodes that used one file add up to."""

    samples: int = 0
    is_sure: bool = False
    """One of them had the very same task, or changed the file and that stood."""
    reads: float = 0.0
    edits: float = 0.0
    success_edits: float = 0.0
    worth: float = 0.0
    against: float = 0.0
    doubt: float = 1.0
    """How likely none of them changed it for such a task."""
    last_at: int = 0
    by: list[tuple[str, bool]] = field(default_factory=list)
    """The episodes, and whether each changed it."""

    def add(self, one: Sample, settings: AffinitySettings) -> None:
        """Count one more episode."""
        alike, age_days, outcome, read, edited, committed, causal = one
        counts = alike * 0.5 ** (age_days / settings.half_life_days)
        credit = credit_of(outcome, committed)
        self.samples += 1
        if alike >= SAME or (edited and credit >= COMMITTED):
            self.is_sure = True
        if read:
            self.reads += counts
        if edited:
            self.edits += counts
            self.success_edits += counts * (outcome == "success")
            self.doubt *= 1.0 - causal * counts * credit
        else:
            counts *= READ
        self.worth += counts * credit
        if outcome == "failed":
            self.against += counts * AGAINST

    def weight(self, settings: AffinitySettings) -> float:
        """Return the weight, from 0 to 1; 0 below the minimum of samples."""
        least = settings.min_samples_sure if self.is_sure else settings.min_samples
        if self.samples < least:
            return 0.0
        left = max(0.0, self.worth - self.against)
        return round(left / (self.worth + self.against + SATURATION), 4)


def used(
    tables: Tables,
    source: str,
    alike: Mapping[str, float],
    now: datetime,
    settings: AffinitySettings | None = None,
    most: int = MOST_USED,
) -> dict[str, Used]:
    """Return what episodes of a source did with its files, by path, the heaviest first.

    `alike` says how alike the task of each episode is (`agent/id`, from 0 to 1): only those that
    whoever asks may know of. `most` files are returned; the first MOST_LINKED have their links.
    Files that were only found or planned are not among them.
    """
    settings = settings or AffinitySettings()
    tallies: dict[str, Tally] = {}
    present = now.timestamp()
    found = tables.uses(source, tuple(alike))
    of = {id_: (name, alike[name], outcome) for id_, (name, outcome) in found.whose.items()}
    for id_, path, last_at, read, edited, committed, sure in found.rows:
        tally = tallies.get(path)
        if tally is None:
            tally = tallies[path] = Tally()
        name, likeness, outcome = of[id_]
        age_days = (present - last_at) / DAY_SECONDS if last_at < present else 0.0
        tally.add(Sample(likeness, age_days, outcome, read, edited, committed, sure), settings)
        tally.last_at = max(tally.last_at, last_at)
        tally.by.append((name, bool(edited)))
    ranked = sorted(
        ((tally.weight(settings), path, tally) for path, tally in tallies.items()),
        key=lambda one: (-one[0], one[2].doubt, -one[2].edits, one[1]),
    )
    del ranked[most:]
    linked = [path for _, path, tally in ranked[:MOST_LINKED] if tally.edits]
    links = _latest(tables.causal(source, tuple(alike), linked))
    return {
        path: _used(path, weight, tally, now, links.get(path, ())) for weight, path, tally in ranked
    }


def weight_of(samples: Iterable[Sample], settings: AffinitySettings) -> float:
    """Return the weight of a file that some episodes used, from 0 to 1."""
    tally = Tally()
    for one in samples:
        tally.add(one, settings)
    return tally.weight(settings)


def credit_of(outcome: Result, committed: bool) -> float:
    """Return what work counts by what came of it."""
    return COMMITTED if outcome == "unknown" and committed else CREDIT[outcome]


def counted_weight(reads: int, edits: int, success_edits: int) -> float:
    """Return the weight of counts alone, as of the last of them: the tables' column."""
    success = min(success_edits, edits)
    worth = success + (edits - success) * CREDIT["unknown"] + max(0, reads - edits) * READ
    return round(worth / (worth + SATURATION), 4) if worth else 0.0


def _used(
    path: str, weight: float, tally: Tally, now: datetime, links: Sequence[CausalLink]
) -> Used:
    return Used(
        path=path,
        reads=round(tally.reads, 4),
        edits=round(tally.edits, 4),
        success_edits=round(tally.success_edits, 4),
        samples=tally.samples,
        weight=weight,
        causal=round(1.0 - tally.doubt, 4),
        links=tuple(links),
        last=datetime.fromtimestamp(tally.last_at, now.tzinfo).isoformat(timespec="seconds"),
        by=tuple(tally.by),
    )


def _latest(links: Iterable[CausalLink]) -> dict[str, list[CausalLink]]:
    """Return the latest links of each path; `links` come latest first."""
    found: dict[str, list[CausalLink]] = {}
    for link in links:
        each = found.setdefault(link.path, [])
        if len(each) < MOST_LINKS:
            each.append(link)
    return found
