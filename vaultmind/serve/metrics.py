"""What Prometheus reads at /v1/metrics: how planning, episodes, searches and the index go.

Built at each request from what is known; the library is loaded by the first one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from vaultmind import __version__
from vaultmind.serve.ops.episodes import recent_gain
from vaultmind.tally import DONE

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from vaultmind.app import App
    from vaultmind.types import Caller

ROUTE = "/v1/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PLANNING = (
    *("plan_context_p50_ms", "plan_context_p95_ms", "context_tokens_median"),
    *("rerank_invocation_rate", "fallback_rate_ml_unavailable"),
)
"""Of the last thousand plans since the start; without any, of those of the last 30 days."""
EPISODES = (
    *("first_pass_success_rate", "affinity_hit_rate", "causal_trace_completeness", "hit_share"),
    *("saved_share", "offered_tokens", "whole_tokens"),
)
"""Of episodes of the last 30 days. One of which there is nothing to tell yet is left out."""
Sample = tuple[str, str, dict[str, str], float | None]
"""A metric's name, what it tells, the labels, and the value if there is one."""


def exposition(app: App, caller: Caller) -> bytes:
    """Return every metric that a caller may see, in Prometheus' text format.

    Episodes are those of agents that the caller may read. What ends in `_total` only ever grows,
    from the daemon's start.
    """
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    class Collector:
        def collect(self) -> Iterable[Metric]:
            families: dict[str, Metric] = {}
            for name, help_, labels, value in _samples(app, caller):
                kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
                family = families.get(name) or kind(f"vaultmind_{name}", help_, labels=list(labels))
                families[name] = family
                if value is not None:
                    family.add_metric(list(labels.values()), float(value))  # type: ignore[attr-defined]
            return families.values()

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(Collector())
    return bytes(generate_latest(registry))


def _samples(app: App, caller: Caller) -> Iterator[Sample]:
    kept, now = recent_gain(app, caller), app.planner.figures
    yield "info", "Which version runs.", {"version": __version__}, 1
    yield "plans_total", "Plans since the start.", {}, now.plans
    for name in PLANNING:
        yield name, "Of plans since the start.", {}, getattr(now if now.plans else kept, name)
    for name in EPISODES:
        yield name, "Of episodes of the last 30 days.", {}, getattr(kept, name)
    for outcome, number in (*kept.outcomes.items(), ("running", kept.running)):
        yield "episodes", "Of the last 30 days, by outcome.", {"outcome": outcome}, number
    counts = app.operated.counts()
    found = counts.get(("memory_search", DONE))
    yield "searches_total", "Searches since the start.", {}, found.times if found else 0
    for (op, outcome), wrote in app.wrote.counts().items():
        labels = {"op": op, "outcome": outcome}
        yield "writes_total", "Writes of facts since the start.", labels, wrote.times
    for (op, outcome), done in counts.items():
        labels = {"operation": op, "outcome": outcome}
        yield "operations_total", "Operations since the start.", labels, done.times
        yield "operation_seconds_total", "Seconds that they took.", labels, done.seconds
    for one in app.sources.states():
        labels, index = {"source": one.name, "kind": one.kind}, one.index
        yield "source_there", "Whether its folder is there.", labels, one.there
        if index is not None:
            yield "index_files", "Files that it is to hold.", labels, index.files
            yield "index_chunks", "Chunks in it.", labels, index.chunks
            yield "index_vectors", "Vectors in it.", labels, index.vectors
            yield "index_faults", "Files not taken whole.", labels, len(index.faults)
            yield "index_ready", "Whether it is up to date.", labels, index.phase == "ready"
