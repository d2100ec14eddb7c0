"""What Prometheus reads at /v1/metrics: how planning, episodes, searches and the index go.

Built at each request from what is known; the library is loaded by the first one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmind import __version__
from vaultmind.planner.ready import PlanFigures
from vaultmind.serve.episodes import gaining
from vaultmind.serve.ops.sources import source_statuses
from vaultmind.tally import DONE

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from vaultmind.app import App
    from vaultmind.episodes.gains import Figures
    from vaultmind.types import Caller

ROUTE = "/v1/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SEARCHES = ("memory_search", "search_many", "source_search")
PLANNING: dict[str, str] = {
    "plan_context_p50_ms": "Milliseconds that half of the plans took at most.",
    "plan_context_p95_ms": "Milliseconds that 95 in 100 plans took at most.",
    "context_tokens_median": "Tokens of the middle one of the plans' contexts.",
    "rerank_invocation_rate": "Plans for which a model was asked, as a share of all.",
    "fallback_rate_ml_unavailable": "Plans for which it gave nothing to go by, of those.",
}
"""Of the last thousand plans since the start; without any, of those of the last 30 days."""
SHARES: dict[str, str] = {
    "first_pass_success_rate": "Successful episodes of which one plan held all that was changed, "
    "as a share of those that had a plan before they changed anything. Of the last 30 days.",
    "affinity_hit_rate": "Plans of which a file offered for the sake of earlier work was used, as "
    "a share of those that offered one. Of the last 30 days.",
    "causal_trace_completeness": "Episodes with task, reads, edits or a decision, and an outcome, "
    "as a share of those that are over. Of the last 30 days.",
    "hit_share": "Files that were read or changed after a plan offered them, as a share of those "
    "offered. Of the last 30 days.",
    "saved_share": "Tokens that plans took less than their files as a whole. Of the last 30 days.",
}
"""Of episodes. One of which there is nothing to tell yet is left out."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A number, with the labels that tell it from others of its name."""

    value: float
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """Numbers of one name."""

    name: str
    help: str
    samples: tuple[Sample, ...]
    labels: tuple[str, ...] = ()
    counts: bool = False
    """Whether it only ever grows, from 0 at the daemon's start."""


def exposition(app: App, caller: Caller) -> bytes:
    """Return every metric that a caller may see, in Prometheus' text format."""
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Collector(tuple(families(app, caller))))
    return bytes(generate_latest(registry))


def families(app: App, caller: Caller) -> Iterator[Family]:
    """Yield what is measured; episodes are those of agents that the caller may read."""
    yield Family("info", "Which version runs.", (Sample(1, (__version__,)),), ("version",))
    kept = gaining.recent(app, caller)
    yield from _plans(app.planner.figures, kept)
    yield from _episodes(kept)
    yield from _operations(app)
    yield from _sources(app)


def _plans(now: PlanFigures, kept: Figures) -> Iterator[Family]:
    """Yield how planning goes since the start; before its first plan, as it went before."""
    yield _one("plans_total", "Plans since the start.", now.plans, counts=True)
    for name, words in PLANNING.items():
        yield _one(name, words, getattr(now if now.plans else kept, name))


def _episodes(kept: Figures) -> Iterator[Family]:
    for name, words in SHARES.items():
        yield _one(name, words, getattr(kept, name))
    states = (*kept.outcomes.items(), ("running", kept.running))
    samples = tuple(Sample(number, (name,)) for name, number in states)
    words = "Episodes of the last 30 days by outcome; those that are under way."
    yield Family("episodes", words, samples, ("outcome",))
    yield _one("offered_tokens", "Tokens that plans of the last 30 days took.", kept.offered_tokens)
    words = "Tokens that their files would have taken as a whole."
    yield _one("whole_tokens", words, kept.whole_tokens)


def _operations(app: App) -> Iterator[Family]:
    counts = app.operated.counts()
    searches = sum(one.times for (name, how), one in counts.items()
                   if name in SEARCHES and how == DONE)  # fmt: skip
    yield _one("searches_total", "Searches since the start.", searches, counts=True)
    words = "Writes of facts since the start, by what came of them."
    wrote = tuple(Sample(one.times, key) for key, one in app.wrote.counts().items())
    yield Family("writes_total", words, wrote, ("op", "outcome"), counts=True)
    times = tuple(Sample(one.times, key) for key, one in counts.items())
    words = "Operations since the start, by name and by whether they were refused or failed."
    yield Family("operations_total", words, times, ("operation", "outcome"), counts=True)
    spent = tuple(Sample(one.seconds, key) for key, one in counts.items())
    words = "Seconds that these took, all together."
    yield Family("operation_seconds_total", words, spent, ("operation", "outcome"), counts=True)


def _sources(app: App) -> Iterator[Family]:
    """Yield how the index of each source is: what every agent may be told of them."""
    found = source_statuses(app)
    for name, words, values in (
        ("index_files", "Files that its index is to hold.", [one.files for one in found]),
        ("index_chunks", "Chunks in it.", [one.chunks for one in found]),
        ("index_vectors", "Vectors in it.", [one.vectors for one in found]),
        ("index_faults", "Files not taken whole.", [one.fault_count for one in found]),
        ("index_ready", "Whether it is up to date.", [one.phase == "ready" for one in found]),
        ("source_there", "Whether its folder is there.", [one.there for one in found]),
    ):  # fmt: skip
        samples = zip(found, values, strict=True)
        labelled = tuple(Sample(float(value), (one.name, one.kind)) for one, value in samples)
        yield Family(name, words, labelled, ("source", "kind"))


def _one(name: str, words: str, value: float | None, *, counts: bool = False) -> Family:
    """Return the metric of a single number; of none, without a sample."""
    return Family(name, words, () if value is None else (Sample(value),), counts=counts)


class _Collector:
    """Hands families to the library, in its own types."""

    def __init__(self, families: Iterable[Family]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        for one in self._families:
            kind = CounterMetricFamily if one.counts else GaugeMetricFamily
            family = kind(f"vaultmind_{one.name}", one.help, labels=one.labels)
            for sample in one.samples:
                family.add_metric(sample.labels, sample.value)
            yield family
