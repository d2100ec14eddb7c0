"""Affinity: how much earlier work on tasks like one used a file. Counted, not guessed.

An episode counts by how alike its task is and how long ago it was; edits count for more than
reads, work that succeeded for more than work of which nobody said so, and what failed counts
against the file. Below a minimum of samples nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import prod
from typing import TYPE_CHECKING

from vaultmind.episodes.types import CausalLink, Result, Used

if TYPE_CHECKING:
    from vaultmind.episodes.rows import TouchedFile
    from vaultmind.episodes.tables import Tables

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
MOST_LINKS = 5
DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class AffinitySettings:
    """How affinity is counted."""

    half_life_days: float = 60.0
    """After which an episode counts half."""
    min_samples: int = 2
    """Episodes that must have used a file, before anything is said of it ..."""
    min_samples_same: int = 1
    """... and of the very same task."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one episode did with a file."""

    alike: float
    """How alike its task is, from 0 to 1."""
    age_days: float
    outcome: Result
    read: bool = False
    edited: bool = False
    committed: bool = False
    causal: float = 0.0
    """How sure it is that this work changed the file."""


def used(
    tables: Tables,
    source: str,
    alike: Mapping[str, float],
    now: datetime,
    settings: AffinitySettings | None = None,
) -> dict[str, Used]:
    """Return what episodes of a source did with its files, by path, the heaviest first.

    `alike` says how alike the task of each episode is (`agent/id`, from 0 to 1): only those that
    whoever asks may know of. What was only found or planned is not among the files.
    """
    settings = settings or AffinitySettings()
    found: dict[str, list[tuple[Sample, int]]] = {}
    for name, files, outcome in tables.worked_on(source, tuple(alike)):
        for file in files:
            if file.reads or file.edits:
                sample = sample_of(file, outcome, alike[name], now.timestamp())
                found.setdefault(file.path, []).append((sample, file.last_at))
    counted = (_used(path, each, now, settings) for path, each in found.items())
    ranked = sorted(counted, key=lambda one: (-one.weight, -one.causal, -one.edits, one.path))
    links = _latest(tables.causal(source, tuple(alike)))
    return {one.path: _with_links(one, links.get(one.path, ())) for one in ranked}


def sample_of(file: TouchedFile, outcome: Result, alike: float, now: float) -> Sample:
    """Return what one episode says of a file; `now` is in seconds since 1970."""
    age_days = max(0.0, now - file.last_at) / DAY_SECONDS
    read, edited = file.reads > 0, file.edits > 0
    return Sample(alike, age_days, outcome, read, edited, file.committed, file.causal)


def weight_of(samples: Sequence[Sample], settings: AffinitySettings) -> float:
    """Return the weight of a file, from 0 to 1; 0 below the minimum of samples."""
    is_same = any(one.alike >= SAME for one in samples)
    if len(samples) < (settings.min_samples_same if is_same else settings.min_samples):
        return 0.0
    worth = against = 0.0
    for one in samples:
        counts = counts_for(one, settings) * (1.0 if one.edited else READ)
        worth += counts * credit_of(one)
        against += counts * AGAINST * (one.outcome == "failed")
    return round(max(0.0, worth - against) / (worth + against + SATURATION), 4)


def causal_of(samples: Iterable[Sample], settings: AffinitySettings) -> float:
    """Return how sure it is that work on such a task changes the file, from 0 to 1."""
    doubts = (
        1.0 - one.causal * counts_for(one, settings) * credit_of(one)
        for one in samples
        if one.edited
    )
    return round(1.0 - prod(doubts), 4)


def counts_for(sample: Sample, settings: AffinitySettings) -> float:
    """Return how much an episode counts, by how alike its task is and how long ago it was."""
    alike = min(1.0, max(0.0, sample.alike))
    return float(alike * 0.5 ** (sample.age_days / settings.half_life_days))


def credit_of(sample: Sample) -> float:
    """Return what an episode's work counts by what came of it."""
    if sample.outcome == "unknown" and sample.committed:
        return COMMITTED
    return CREDIT[sample.outcome]


def counted_weight(reads: int, edits: int, success_edits: int) -> float:
    """Return the weight of counts alone, as of the last of them: the tables' column."""
    success = min(success_edits, edits)
    worth = success + (edits - success) * CREDIT["unknown"] + max(0, reads - edits) * READ
    return round(worth / (worth + SATURATION), 4) if worth else 0.0


def _used(
    path: str, found: Sequence[tuple[Sample, int]], now: datetime, settings: AffinitySettings
) -> Used:
    samples = [sample for sample, _ in found]
    last = max(at for _, at in found)
    counts = [(one, counts_for(one, settings)) for one in samples]
    return Used(
        path=path,
        reads=round(sum(count for one, count in counts if one.read), 4),
        edits=round(sum(count for one, count in counts if one.edited), 4),
        success_edits=round(
            sum(count for one, count in counts if one.edited and one.outcome == "success"), 4
        ),
        samples=len(samples),
        weight=weight_of(samples, settings),
        causal=causal_of(samples, settings),
        last=datetime.fromtimestamp(last, now.tzinfo).isoformat(timespec="seconds"),
    )


def _with_links(one: Used, links: Sequence[CausalLink]) -> Used:
    return replace(one, links=tuple(links)) if links else one


def _latest(links: Iterable[CausalLink]) -> dict[str, list[CausalLink]]:
    """Return the latest links of each path; `links` come latest first."""
    found: dict[str, list[CausalLink]] = {}
    for link in links:
        each = found.setdefault(link.path, [])
        if len(each) < MOST_LINKS:
            each.append(link)
    return found
