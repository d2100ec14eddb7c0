"""Affinity: how much earlier work on tasks like one used a file. Counted, not guessed. Pure.

An episode counts by how alike its task is and how long ago it was; edits count for more than
reads, work that succeeded for more than work of which nobody said so, and what failed counts
against the file. Below a minimum of samples nothing is said: two, or one that is sure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from vaultmind.episodes.causal import links_of, surest
from vaultmind.episodes.types import Deed, Episode, Result, Used, seconds_of

CREDIT: Mapping[Result, float] = {"success": 1.0, "partial": 0.5, "unknown": 0.3, "failed": 0.0}
"""What work counts by its outcome."""
COMMITTED = 0.7
"""What it counts where nobody told the outcome, but it was committed."""
READ, AGAINST = 0.3, 0.5
"""What reading a file counts of what changing it does; what failed work counts against it."""
SATURATION = 0.5
"""Amount of evidence, in episodes of the same task today, that makes half of the full weight."""
SAME = 1.0
"""How alike tasks of one fingerprint are."""
MOST_USED = 100
"""Maximum number of files of an answer."""
HALF_LIFE_SECONDS = 60 * 86_400.0
LEAST, LEAST_SURE = 2, 1
"""Minimum number of episodes that used a file, before anything is said of it; and where one had
the very same task, or changed the file and that was committed or told a success. (Of 150 commits
of a history, the files of alike earlier ones ranked the right ones at 0.114 MRR with two samples
of any kind, at 0.195 so.)"""


@dataclass(slots=True)
class _Sum:
    """What episodes add up to for one file."""

    worth: float = 0.0
    against: float = 0.0
    doubt: float = 1.0
    """How likely none of them changed it for such a task."""
    edits: float = 0.0
    is_sure: bool = False
    deeds: list[Deed] = field(default_factory=list)

    @property
    def weight(self) -> float:
        if len(self.deeds) < (LEAST_SURE if self.is_sure else LEAST):
            return 0.0
        total = self.worth + self.against + SATURATION
        return round(max(0.0, self.worth - self.against) / total, 4)


def used(
    episodes: Iterable[Episode], alike: Mapping[str, float], now: datetime, most: int = MOST_USED
) -> dict[str, Used]:
    """Return the files for which episodes speak, by path, the heaviest first.

    `alike` says how alike the task of each episode is (`agent/id`, from 0 to 1). Files that were
    only found or planned are not among them.
    """
    sums: dict[str, _Sum] = {}
    for episode in episodes:
        _add(sums, episode, alike[episode.name], now.timestamp())
    ranked = sorted(
        (-weight, one.doubt, -one.edits, path)
        for path, one in sums.items()
        if (weight := one.weight) > 0.0
    )
    return {
        path: Used(path, -weight, round(1.0 - doubt, 4), tuple(sums[path].deeds))
        for weight, doubt, _, path in ranked[:most]
    }


def _add(sums: dict[str, _Sum], episode: Episode, alike: float, now: float) -> None:
    """Add what one episode did with files."""
    every = links_of(episode)
    links, sure = {one.path: one for one in reversed(every)}, surest(every)
    for one in every:
        links[one.path] = max(links[one.path], one, key=lambda it: seconds_of(it.time))
    committed = {one.path for one in every if one.commit}
    last: dict[str, int] = {}
    edited = set()
    for event in episode.events:
        if event.path and (event.changes or event.kind in ("read", "hit")):
            last[event.path] = max(last.get(event.path, 0), seconds_of(event.time))
            edited |= {event.path} if event.changes else set()
    reads = {event.path for event in episode.events if event.kind == "read"}
    for path, at in last.items():
        if path not in edited and path not in reads:
            continue
        is_edit, link = path in edited, links.get(path)
        unsaid = episode.outcome == "unknown" and path in committed
        credit = COMMITTED if unsaid else CREDIT[episode.outcome]
        counts = alike * 0.5 ** (max(now - at, 0.0) / HALF_LIFE_SECONDS)
        total = sums.setdefault(path, _Sum())
        share = counts if is_edit else counts * READ
        total.worth += share * credit
        total.against += share * AGAINST * (episode.outcome == "failed")
        total.is_sure = total.is_sure or alike >= SAME or (is_edit and credit >= COMMITTED)
        total.edits += counts * is_edit
        total.doubt *= 1.0 - (sure.get(path, 0.0) if is_edit else 0.0) * counts * credit
        linked_at, commit = (seconds_of(link.time), link.commit) if link else (0, "")
        total.deeds.append(Deed(episode.name, is_edit, linked_at, commit))
