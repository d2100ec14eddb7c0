"""What Prometheus reads at /v1/metrics: how planning, episodes, operations and the index go."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from vaultmind import __version__
from vaultmind.serve.ops.episodes import recent_gain

if TYPE_CHECKING:
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
    *("first_pass_success_rate", "affinity_hit_rate", "causal_trace_completeness"),
    *("hit_share", "saved_share"),
)
"""Of episodes of the last 30 days."""


def exposition(app: App, caller: Caller) -> str:
    """Return every metric that a caller may see, in Prometheus' text format.

    Episodes are those of agents that the caller may read. One of which there is nothing to tell
    yet is left out; what ends in `_total` only grows, from the daemon's start.
    """
    kept, now = recent_gain(app, caller), app.planner.figures
    found: dict[str, float | None] = {_name("info", version=__version__): 1}
    found["plans_total"] = now.plans
    found |= {name: getattr(now if now.plans else kept, name) for name in PLANNING}
    found |= {name: getattr(kept, name) for name in EPISODES}
    for outcome, number in (*kept.outcomes.items(), ("running", kept.running)):
        found[_name("episodes", outcome=outcome)] = number
    for (operation, outcome), done in app.operated.counts().items():
        labels = {"operation": operation, "outcome": outcome}
        found[_name("operations_total", **labels)] = done.times
        found[_name("operation_seconds_total", **labels)] = done.seconds
    for source in app.sources.states():
        if source.index:
            for name in ("files", "chunks", "vectors"):
                found[_name(f"index_{name}", source=source.name)] = getattr(source.index, name)
            found[_name("index_ready", source=source.name)] = source.index.phase == "ready"
    lines = (f"vaultmind_{name} {float(one)}\n" for name, one in found.items() if one is not None)
    return "".join(sorted(lines))  # the samples of one metric stand together


def _name(name: str, **labels: str) -> str:
    """Return a metric's name with its labels, quoted as the format wants it."""
    each = (f"{label}={json.dumps(one, ensure_ascii=False)}" for label, one in labels.items())
    return f"{name}{{{','.join(each)}}}"
