"""What Prometheus reads at /v1/metrics: how planning, episodes, searches and the index go.

Built at each request from what is known; the library is loaded by the first one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from vaultmind import __version__
from vaultmind.planner.figures import PlanFigures
from vaultmind.serve.ops.past_work import recent_gain
from vaultmind.serve.ops.sources import source_statuses
from vaultmind.tally import DONE

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from vaultmind.app import App
    from vaultmind.episodes.gains import Figures
    from vaultmind.types import Caller

ROUTE = "/v1/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SEARCHES = tuple((name, DONE) for name in ("memory_search",))
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


Rows = Iterable[tuple[tuple[str, ...], float]]
"""Numbers by the values of their labels."""


def exposition(app: App, caller: Caller) -> bytes:
    """Return every metric that a caller may see, in Prometheus' text format.

    Episodes are those of agents that the caller may read.
    """
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

    class Collector:
        def collect(self) -> Iterator[Metric]:
            yield _family("info", "Which version runs.", [((__version__,), 1)], ["version"])
            kept = recent_gain(app, caller)
            yield from _plans(app.planner.figures, kept)
            yield from _episodes(kept)
            yield from _operations(app)
            yield from _sources(app)

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(Collector())
    return bytes(generate_latest(registry))


def _plans(now: PlanFigures, kept: Figures) -> Iterator[Metric]:
    """Yield how planning goes since the start; before its first plan, as it went before."""
    yield _family("plans_total", "Plans since the start.", _one(now.plans))
    for name, words in PLANNING.items():
        yield _family(name, words, _one(getattr(now if now.plans else kept, name)))


def _episodes(kept: Figures) -> Iterator[Metric]:
    for name, words in SHARES.items():
        yield _family(name, words, _one(getattr(kept, name)))
    states = [((name,), number) for name, number in kept.outcomes.items()]
    words = "Episodes of the last 30 days by outcome; those that are under way."
    yield _family("episodes", words, [*states, (("running",), kept.running)], ["outcome"])
    words = "Tokens that plans of the last 30 days took."
    yield _family("offered_tokens", words, _one(kept.offered_tokens))
    words = "Tokens that their files would have taken as a whole."
    yield _family("whole_tokens", words, _one(kept.whole_tokens))


def _operations(app: App) -> Iterator[Metric]:
    counts = app.operated.counts()
    searches = sum(one.times for key, one in counts.items() if key in SEARCHES)
    yield _family("searches_total", "Searches since the start.", _one(searches))
    words = "Writes of facts since the start, by what came of them."
    wrote = [(key, one.times) for key, one in app.wrote.counts().items()]
    yield _family("writes_total", words, wrote, ["op", "outcome"])
    words, labels = "Operations since the start, by name and outcome.", ["operation", "outcome"]
    times = [(key, one.times) for key, one in counts.items()]
    yield _family("operations_total", words, times, labels)
    spent = [(key, one.seconds) for key, one in counts.items()]
    words = "Seconds that these took, all together."
    yield _family("operation_seconds_total", words, spent, labels)


def _sources(app: App) -> Iterator[Metric]:
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
        labels = [(one.name, one.kind) for one in found]
        yield _family(name, words, zip(labels, values, strict=True), ["source", "kind"])


def _one(value: float | None) -> Rows:
    """Return the row of a number without labels; of none, none."""
    return [] if value is None else [((), value)]


def _family(name: str, words: str, rows: Rows, labels: Sequence[str] = ()) -> Metric:
    """Return a metric; one that ends in `_total` only ever grows, from the daemon's start."""
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
    family: Metric = kind(f"vaultmind_{name}", words, labels=labels)
    for values, value in rows:
        family.add_metric(values, float(value))  # type: ignore[attr-defined]
    return family
