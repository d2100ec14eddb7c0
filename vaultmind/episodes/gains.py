"""What plans saved, and how episodes went: figures of episodes, by source and by week. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from vaultmind.episodes.causal import changed_files
from vaultmind.episodes.store import AFFINITY, Tables
from vaultmind.episodes.types import RESULTS, Episode, Offer, Result, State, seconds_of, time_of


@dataclass(frozen=True, slots=True)
class Work:
    """An episode, as far as figures are made of it."""

    source: str
    started: datetime
    state: State = "ended"
    outcome: Result = "unknown"
    is_complete: bool = True
    """Whether the chain task → reads → edits or a decision → outcome is whole."""
    used: Mapping[str, int] = field(default_factory=dict)
    """What was read or changed, and when last, in seconds since 1970."""
    changed: frozenset[str] = frozenset()
    """What was there before and was changed or removed."""
    changed_at: int = 0
    """When the first of it was, in seconds since 1970; 0 where that is not known."""
    offers: tuple[Offer, ...] = ()
    """Of `files`, those for which earlier work spoke suffice."""

    @property
    def planned(self) -> tuple[Offer, ...]:
        """Return the offers of plans that were made before the work changed anything."""
        if not self.changed_at:
            return self.offers
        return tuple(one for one in self.offers if seconds_of(one.time) <= self.changed_at)

    @property
    def is_judged(self) -> bool:
        """Tell whether it shows what was used of its offers: it is over, and work was seen."""
        return self.state == "ended" and bool(self.used)


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
    files: int = 0
    """That plans put into their contexts."""
    hit_share: float | None = None
    """Of the files of plans, those that were read or changed afterwards."""
    cache_hit_share: float | None = None
    """Of plans, those that found all of their source known as it is."""
    plan_context_p50_ms: float | None = None
    plan_context_p95_ms: float | None = None
    context_tokens_median: int | None = None
    rerank_invocation_rate: float | None = None
    fallbacks: int = 0
    """Plans for which a model was asked in vain."""
    fallback_rate_ml_unavailable: float | None = None
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
    """Oldest first, also those in which nothing happened."""


def works(tables: Tables, agents: Collection[str], since: datetime) -> list[Work]:
    """Return the episodes of some agents that began since a time, as figures need them."""
    return [
        _work(one, started, offers)
        for one, offers in tables.since(since, agents)
        if (started := time_of(one.started))
    ]


def _work(one: Episode, started: datetime, offers: tuple[Offer, ...]) -> Work:
    changes = changed_files(one.events)
    changed = {path for path, it in changes.items() if it.change != "added"}
    used: dict[str, int] = {}
    touched = {event.path for event in one.events if event.kind == "read"} | changes.keys()
    for event in one.events:
        if event.path in touched and (event.changes or event.kind in ("read", "hit")):
            used[event.path] = max(used.get(event.path, 0), seconds_of(event.time))
    first = (seconds_of(it.time) for it in one.events if it.changes and it.path in changed)
    return Work(
        one.source or "?",
        started,
        one.state,
        one.outcome,
        bool(
            one.task.text
            and one.outcome != "unknown"
            and any(it.kind == "read" and it.path for it in one.events)
            and (changes or any(it.kind == "decision" for it in one.events))
        ),
        used,
        frozenset(changed),
        min(first, default=0),
        offers,
    )


def gain_of(works: Iterable[Work], since: datetime, until: datetime) -> Gain:
    """Return the figures of the episodes that began in a time; a week is one where `until` is."""
    taken = [one for one in works if since <= one.started <= until]
    by_source = defaultdict[str, list[Work]](list)
    by_week = defaultdict[date, list[Work]](list)
    for one in taken:
        by_source[one.source].append(one)
        by_week[_monday(one.started.astimezone(until.tzinfo))].append(one)
    first = min(by_week, default=date.max)
    count = (_monday(until) - first).days // 7 + 1  # below 0 where nothing happened
    weeks = [first + timedelta(weeks=at) for at in range(count)]
    sources = [Part(source, "", figures_of(group)) for source, group in by_source.items()]
    sources.sort(key=lambda it: (-it.figures.plans, -it.figures.episodes, it.source))
    return Gain(
        since=since.isoformat(timespec="seconds"),
        until=until.isoformat(timespec="seconds"),
        total=figures_of(taken),
        sources=tuple(sources),
        weeks=tuple(Part("", f"{day}", figures_of(by_week[day])) for day in weeks),
    )


def figures_of(works: Sequence[Work]) -> Figures:
    """Return the figures of some episodes."""
    over = [one for one in works if one.state != "running"]
    ended = [one for one in works if one.state == "ended"]
    came = Counter(one.outcome for one in over)
    offers = [offer for one in works for offer in one.offers]
    took = sorted(one.took_ms for one in offers if one.took_ms > 0)
    sizes = sorted(one.tokens for one in offers)
    offered, whole = sum(sizes), sum(one.whole_tokens for one in offers)
    asked = [one.rerank for one in offers if one.rerank != "none"]
    fallbacks, caches = asked.count("fallback"), [one.cache for one in offers if one.cache]
    judged = [(one, offer) for one in works if one.is_judged for offer in one.offers]
    hits = [hit for one, offer in judged for hit in _hits(one, offer.chosen, offer)]
    led = [any(_hits(one, paths, offer)) for one, offer in judged if (paths := _led(offer))]
    tried = [one for one in ended if one.outcome == "success" and one.changed and one.planned]
    in_one = [any(it.changed <= set(one.chosen) for one in it.planned) for it in tried]
    return Figures(
        episodes=len(works),
        running=len(works) - len(over),
        outcomes={name: came[name] for name in RESULTS if came[name]},
        plans=len(offers),
        offered_tokens=offered,
        whole_tokens=whole,
        saved_share=share(max(0, whole - offered), whole),
        files=sum(len(one.chosen) for one in offers),
        hit_share=share(sum(hits), len(hits)),
        cache_hit_share=share(caches.count("hit"), len(caches)),
        plan_context_p50_ms=_percentile(took, 0.50),
        plan_context_p95_ms=_percentile(took, 0.95),
        context_tokens_median=int(_percentile(sizes, 0.50) or 0) if sizes else None,
        rerank_invocation_rate=share(len(asked), len(offers)),
        fallbacks=fallbacks,
        fallback_rate_ml_unavailable=share(fallbacks, len(asked)),
        affinity_hit_rate=share(sum(led), len(led)),
        first_pass_success_rate=share(sum(in_one), len(tried)),
        causal_trace_completeness=share(sum(one.is_complete for one in ended), len(ended)),
    )


def _monday(moment: datetime) -> date:
    return moment.date() - timedelta(days=moment.weekday())


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
