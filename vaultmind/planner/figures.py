"""What planning costs and what it comes to, over the last plans; kept in memory alone."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.planner.types import Plan

KEPT = 1000
"""Plans that the figures are of: the last ones."""


@dataclass(frozen=True, slots=True)
class PlanFigures:
    """How planning goes since the daemon started. Of no plan all figures are 0."""

    plans: int = 0
    plan_context_p50_ms: float = 0.0
    plan_context_p95_ms: float = 0.0
    context_tokens_median: int = 0
    rerank_invocation_rate: float = 0.0
    """Of all plans, those for which a model was asked."""
    fallback_rate_ml_unavailable: float = 0.0
    """Of these, those for which it gave nothing to go by."""


class PlanLog:
    """Keeps figures of the last plans. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._plans = 0
        self._last: deque[tuple[float, int, str]] = deque(maxlen=KEPT)

    def add(self, plan: Plan) -> None:
        """Count a plan."""
        with self._lock:
            self._plans += 1
            self._last.append((plan.took_ms, plan.budget_report.estimated_used, plan.rerank))

    def figures(self) -> PlanFigures:
        """Return the figures of the last plans."""
        with self._lock:
            plans, last = self._plans, tuple(self._last)
        if not last:
            return PlanFigures()
        took = sorted(one[0] for one in last)
        sizes = sorted(one[1] for one in last)
        asked = [one[2] for one in last if one[2] != "none"]
        fallbacks = asked.count("fallback")
        return PlanFigures(
            plans=plans,
            plan_context_p50_ms=round(_percentile(took, 0.50), 1),
            plan_context_p95_ms=round(_percentile(took, 0.95), 1),
            context_tokens_median=int(_percentile(sizes, 0.50)),
            rerank_invocation_rate=round(len(asked) / len(last), 3),
            fallback_rate_ml_unavailable=round(fallbacks / len(asked), 3) if asked else 0.0,
        )


def _percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value below or at which so large a share of some sorted values lies."""
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)]
