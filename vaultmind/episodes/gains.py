"""What plans saved, and how episodes went: figures of episodes, by source and by week. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from vaultmind.episodes.causal import ChangedFile, changed_files, used_at
from vaultmind.episodes.store import AFFINITY, Tables
from vaultmind.episodes.types import RESULTS, Episode, Offer, Result, TaskMark
from vaultmind.times import seconds_of, time_of

NONE = Episode("", "", "", TaskMark(""), "")
"""Of plans that belong to no episode."""


@dataclass(frozen=True)
class Work:
    """An episode, as far as figures are made of it."""

    episode: Episode
    offers: tuple[Offer, ...] = ()
    """Of `files`, those for which earlier work spoke suffice."""

    @cached_property
    def touched(self) -> dict[str, ChangedFile]:
        """Return what was changed, made or removed."""
        return changed_files(self.episode.events)

    @cached_property
    def used(self) -> dict[str, float]:
        """Return what was read or changed, and when last, in seconds since 1970."""
        return used_at(self.episode.events)

    @cached_property
    def changed(self) -> set[str]:
        """Return what was there before and was changed or removed."""
        return {path for path, it in self.touched.items() if it.change != "added"}

    @property
    def planned(self) -> list[Offer]:
        """Return the offers of plans that were made before the work changed anything."""
        changes = (it for it in self.episode.events if it.changes and it.path in self.changed)
        first = min((seconds_of(it.time) for it in changes), default=0) or math.inf
        return [one for one in self.offers if seconds_of(one.time) <= first]

    @property
    def is_complete(self) -> bool:
        """Tell whether the chain task → reads → edits or a decision → outcome is whole."""
        kinds = {it.kind for it in self.episode.events if it.path or it.kind == "decision"}
        led = "read" in kinds and ("decision" in kinds or self.touched)
        return bool(led and self.episode.task.text and self.episode.outcome != "unknown")


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of some episodes and their plans. A share is None where there is nothing to share."""

    episodes: int = 0
    running: int = 0
    outcomes: Mapping[Result, int] = field(default_factory=dict)
    """Of those that are over."""
    plans: int = 0
    offered_tokens: int = 0
    whole_tokens: int = 0
    """What the files of which plans showed a part would have taken, read whole."""
    saved_share: float | None = None
    hit_share: float | None = None
    """Of the files of plans, those that were read or changed afterwards."""
    plan_context_p50_ms: float | None = None
    plan_context_p95_ms: float | None = None
    context_tokens_median: int | None = None
    rerank_invocation_rate: float | None = None
    fallback_rate_ml_unavailable: float | None = None
    """Of plans for which a model was asked, those for which it had nothing to say."""
    affinity_hit_rate: float | None = None
    """Of plans that offered a file for the sake of earlier work, those where one was used."""
    first_pass_success_rate: float | None = None
    """Of successful episodes that began with a plan, before anything was changed, those where one
    such plan held all that was."""
    causal_trace_completeness: float | None = None
    """Of episodes that are over, those with task, reads, edits or a decision, and outcome."""


@dataclass(frozen=True, slots=True)
class Part:
    """The figures of one source, or of one week."""

    source: str
    """Empty: of a week."""
    week: str
    """The Monday it begins with; empty: of a source."""
    figures: Figures


@dataclass(frozen=True, slots=True)
class Gain:
    """The figures of all episodes of a time."""

    since: str
    until: str
    total: Figures
    sources: tuple[Part, ...]
    """The most plans first."""
    weeks: tuple[Part, ...]
    """Oldest first."""


def works(tables: Tables, agents: Collection[str], since: datetime) -> list[Work]:
    """Return the episodes of some agents that began since a time, as figures need them."""
    return [Work(one, offers) for one, offers in tables.since(since, agents)]


def gain_of(works: Iterable[Work], since: datetime, until: datetime) -> Gain:
    """Return the figures of the episodes that began in a time; a week is one where `until` is."""
    by_source = defaultdict[str, list[Work]](list)
    by_week = defaultdict[str, list[Work]](list)
    for one in works:
        started = time_of(one.episode.started)
        if started and since <= started <= until:
            by_source[one.episode.source or "?"].append(one)
            day = started.astimezone(until.tzinfo).date()
            by_week[f"{day - timedelta(days=day.weekday())}"].append(one)
    sources = [Part(source, "", figures_of(group)) for source, group in by_source.items()]
    return Gain(
        since=since.isoformat(timespec="seconds"),
        until=until.isoformat(timespec="seconds"),
        total=figures_of([one for group in by_source.values() for one in group]),
        sources=tuple(sorted(sources, key=lambda it: (-it.figures.plans, it.source))),
        weeks=tuple(Part("", week, figures_of(by_week[week])) for week in sorted(by_week)),
    )


def figures_of(works: Sequence[Work]) -> Figures:
    """Return the figures of some episodes."""
    over = [one for one in works if one.episode.state != "running"]
    ended = [one for one in works if one.episode.state == "ended"]
    came = Counter(one.episode.outcome for one in over)
    offers = [offer for one in works for offer in one.offers]
    took = sorted(one.took_ms for one in offers if one.took_ms > 0)
    sizes = sorted(one.tokens for one in offers)
    offered, whole = sum(sizes), sum(one.whole_tokens for one in offers)
    asked = [one.rerank for one in offers if one.rerank != "none"]
    judged = [(one, offer) for one in ended if one.used for offer in one.offers]
    hits = [hit for one, offer in judged for hit in _hits(one, offer.chosen, offer)]
    led = [any(_hits(one, paths, offer)) for one, offer in judged if (paths := _led(offer))]
    tried = [one for one in ended if one.changed and one.planned]
    tried = [one for one in tried if one.episode.outcome == "success"]
    in_one = [any(it.changed <= set(one.chosen) for one in it.planned) for it in tried]
    return Figures(
        episodes=len(works),
        running=len(works) - len(over),
        outcomes={name: came[name] for name in RESULTS if came[name]},
        plans=len(offers),
        offered_tokens=offered,
        whole_tokens=whole,
        saved_share=share(max(0, whole - offered), whole),
        hit_share=share(sum(hits), len(hits)),
        plan_context_p50_ms=_percentile(took, 0.50),
        plan_context_p95_ms=_percentile(took, 0.95),
        context_tokens_median=int(_percentile(sizes, 0.50) or 0) if sizes else None,
        rerank_invocation_rate=share(len(asked), len(offers)),
        fallback_rate_ml_unavailable=share(asked.count("fallback"), len(asked)),
        affinity_hit_rate=share(sum(led), len(led)),
        first_pass_success_rate=share(sum(in_one), len(tried)),
        causal_trace_completeness=share(sum(one.is_complete for one in ended), len(ended)),
    )


def share(part: float, whole: float) -> float | None:
    """Return a part as a share of the whole; None of nothing."""
    return round(part / whole, 4) if whole else None


def _hits(work: Work, paths: Iterable[str], offer: Offer) -> list[bool]:
    """Tell of each path whether it was read or changed after it was offered."""
    at = seconds_of(offer.time)
    return [work.used.get(path, -1) >= at for path in paths]


def _led(offer: Offer) -> frozenset[str]:
    """Return what stood in a context, and to which earlier work led."""
    spoken_for = (path for path, features in offer.files.items() if features.get(AFFINITY, 0.0) > 0)
    return frozenset(offer.chosen).intersection(spoken_for)


def _percentile(ordered: Sequence[float], part: float) -> float | None:
    """Return the value below or at which so large a part of some sorted values lies."""
    return round(ordered[max(0, math.ceil(len(ordered) * part) - 1)], 1) if ordered else None
