"""The planner as the app holds it: made when it is first asked, with figures of what it did."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmind.errors import VaultMindError
from vaultmind.planner.types import Plan, PlanRequest
from vaultmind.ports import Clock
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.episodes.store import Tables
    from vaultmind.minion.choice import Minion
    from vaultmind.planner.earlier import Earlier
    from vaultmind.planner.plan import Planner
    from vaultmind.planner.scorer import Stuff, Weights
    from vaultmind.planner.sources import Source, Sources

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


WARM_SECONDS = 5.0
"""After a start nothing is loaded for so long: clients are greeted meanwhile."""
SETTLE_SECONDS, SLICE_SECONDS = 300.0, 0.5
"""How long a source is made ready at most, and how soon a close is noticed."""

log = logging.getLogger(__name__)


class ReadyPlanner:
    """Plans contexts over the sources. Any thread."""

    def __init__(
        self,
        sources: Sources,
        minion: Minion,
        clock: Clock,
        weights: Callable[[Stuff], Weights] | None = None,
        tables: Callable[[], Tables] | None = None,
        person: str = "main",
    ) -> None:
        """`weights` is asked at each plan; None: those that come with the program.

        `tables` gives those of the episodes; None: no earlier work is recalled. `person` is the
        agent to which what the person does is put down.
        """
        self._sources = sources
        self._minion = minion
        self._clock = clock
        self._weights = weights
        self._tables = tables
        self._person = person
        self._log = PlanLog()
        self._lock = threading.Lock()
        self._planner: Planner | None = None
        self._closed = threading.Event()

    def start(self) -> None:
        """Have what planning needs loaded in a while, so that no first plan waits for it."""
        threading.Thread(target=self._warm, name="planner", daemon=True).start()

    def plan(self, request: PlanRequest, caller: Caller) -> Plan:
        """Return what to read for a task, as `Planner.plan` does."""
        plan = self.planner.plan(request, caller)
        self._log.add(plan)
        return plan

    def settle(self, source: Source, timeout_seconds: float) -> bool:
        """Bring what is kept of a source up to date; tell whether there was the time."""
        return self.planner.settle(source, timeout_seconds)

    @property
    def planner(self) -> Planner:
        """Return the planner itself."""
        with self._lock:
            if self._planner is None:
                from vaultmind.planner.plan import Means, Planner
                from vaultmind.planner.rerank import Reranker
                from vaultmind.planner.scorer import built_in

                weights = self._weights or built_in
                means = Means(
                    self._clock, Reranker(self._minion), weights=weights, earlier=self._earlier()
                )
                self._planner = Planner(self._sources, means)
            return self._planner

    @property
    def figures(self) -> PlanFigures:
        """Return how planning went since the start."""
        return self._log.figures()

    def close(self) -> None:
        """Let go."""
        self._closed.set()
        with self._lock:
            if self._planner is not None:
                self._planner.close()

    def _earlier(self) -> Earlier | None:
        """Return what recalls earlier work, by the vault's episodes."""
        if self._tables is None:
            return None
        from vaultmind.episodes.files import EpisodeFiles
        from vaultmind.planner.earlier import Earlier

        outlet = self._sources.vault.index.outlet
        files = EpisodeFiles(outlet.paths, outlet.reader)

        def stands(tables: Tables, name: str) -> bool:
            listed = files.listed_one(name)
            return listed is not None and tables.holds(listed)

        return Earlier(self._tables, outlet, outlet.paths, self._clock, stands, self._person)

    def _warm(self) -> None:
        if not self._closed.wait(WARM_SECONDS):
            from vaultmind.planner.task import understand

            planner = self.planner
            understand("", "")  # its cues are read once
            for source in self._sources.all():
                if source.kind == "linked":  # of 10,000 notes they take 60 MB: not before a plan
                    self._settle(planner, source)

    def _settle(self, planner: Planner, source: Source) -> None:
        """Have what is kept of a source made, so that no first plan goes without its names."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < deadline and not self._closed.wait(SLICE_SECONDS):
            try:
                if planner.settle(source, SLICE_SECONDS):
                    return
            except VaultMindError as error:  # a folder that is gone: plans say so themselves
                log.debug("%s is not made ready: %s", source.name, error)
                return
