"""The planner: from a task to the context that is worth reading for it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaultmind import tokens
from vaultmind.episodes.gains import Work, figures_of
from vaultmind.episodes.types import Offer
from vaultmind.errors import BadArgument
from vaultmind.planner.candidates import Asked, measured
from vaultmind.planner.earlier import SLACK, Earlier, Recalled, told_within
from vaultmind.planner.episodes import is_ready, offer_of
from vaultmind.planner.pack import (
    CONSIDERED,
    Assembled,
    Ranked,
    decide,
    lay,
    look_again,
    running_last,
)
from vaultmind.planner.rerank import DEPTHS, Reranked, Reranker, Shown, blended, seconds_left
from vaultmind.planner.scorer import Stuff, Weights, built_in
from vaultmind.planner.task import understand
from vaultmind.planner.telling import is_little, notes_of
from vaultmind.planner.types import TASK_KINDS, Plan, PlanRequest
from vaultmind.ports import Clock
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.minion.choice import Minion
    from vaultmind.planner.sources import Source, Sources

MOST_TASK = 20_000
"""Characters of a task that are looked at."""
MOST_BUDGET = 200_000
EXPLAINED = 24
"""Candidates, the best, whose reasons are told: a model's voice moves none that is further back."""
UNSURE = 0.2
"""Confidence in a task without a kind of which hardly anything is found, at most."""
SETTLE_SECONDS = 0.06
"""How long a plan waits for a structure that is being brought up to date."""
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


class Planner:
    """Plans contexts over the sources of one vault. Any thread."""

    def __init__(
        self,
        sources: Sources,
        clock: Clock,
        minion: Minion | None = None,
        weights: Callable[[Stuff], Weights] = built_in,
        earlier: Earlier | None = None,
    ) -> None:
        """`weights` is asked at each plan; `earlier` recalls what was done for tasks like one."""
        self._sources, self._clock, self._weights = sources, clock, weights
        self._earlier, self._reranker = earlier, Reranker(minion)
        self._plans = 0
        self._last: deque[Offer] = deque(maxlen=KEPT)

    def settle(self, source: Source, timeout_seconds: float) -> bool:
        """Bring what is kept of a source up to date; tell whether there was the time."""
        source.structure.wants_names = True
        is_known = source.structure.settle(timeout_seconds) != "partial"
        return is_known or source.structure.settled

    def close(self) -> None:
        """Wait for no model any more."""
        self._reranker.close()

    @property
    def figures(self) -> PlanFigures:
        """Return how planning went since the start."""
        told = figures_of([Work("", self._clock(), offers=tuple(self._last))])
        return PlanFigures(
            self._plans,
            told.plan_context_p50_ms or 0.0,
            told.plan_context_p95_ms or 0.0,
            told.context_tokens_median or 0,
            told.rerank_invocation_rate or 0.0,
            told.fallback_rate_ml_unavailable or 0.0,
        )

    def plan(self, request: PlanRequest, caller: Caller) -> Plan:
        """Return what to read for a task.

        Raises BadArgument for a request that makes no sense, NotFound for a source there is not,
        VaultNotFound for one whose folder is not there (now), or is another one.
        """
        started = time.perf_counter()
        request = replace(request, task=request.task[:MOST_TASK].replace("\0", " "))
        _check(request)
        source = self._sources.find(request.project_root)
        source.index.outlet.folder.check()
        source.structure.wants_names = True
        status = source.structure.settle(SETTLE_SECONDS)
        was_ready = is_ready(source)
        understood = understand(request.task, source.name, request.query_type)
        earlier = self._earlier
        recalled = earlier.recall(understood, source, caller) if earlier else Recalled()
        works, told = told_within(recalled.works, request.token_budget)
        taken = tokens.count(f"{told}\n\n") + SLACK if told else 0
        within = replace(request, token_budget=request.token_budget - taken)
        asked = Asked(within, understood, source, caller, self._clock(), recalled.found)
        ranked = self._ranked(asked)
        if understood.predicted == "unknown" and is_little([one.candidate for one in ranked]):
            sure = min(understood.confidence, UNSURE)  # neither kind nor source tells
            asked = replace(asked, understood=replace(understood, confidence=sure))
        ranked, voice = self._reranked(asked, ranked, _since_ms(started))
        done = decide(asked, *lay(asked, ranked))
        if done.outdated:  # once more, where that was not as it stands on disk
            look_again(asked, done.outdated)
            scores = {one.path: one.score for one in ranked} if voice.scores else {}
            again = self._ranked(asked)
            ranked = _in_order([replace(it, score=scores.get(it.path, it.score)) for it in again])
            done = decide(asked, *lay(asked, ranked))
        if told:
            done = _after(told, done)
        report = replace(done.report, token_budget=request.token_budget)
        notes = notes_of(asked, status, [one.candidate for one in ranked])
        weights = self._weights(source.structure.names.stuff).name
        offer = offer_of(asked, ranked, done, weights=weights, cache=status)
        took_ms = _since_ms(started)
        offer = replace(offer, took_ms=took_ms, rerank=voice.outcome)
        self._plans += 1
        self._last.append(replace(offer, files={}, tokens=report.estimated_used))
        return Plan(
            cache_status=status,
            freshness=done.freshness,
            intent=asked.understood,
            budget_report=report,
            context=done.context,
            decision_trace=done.trace,
            dropped_candidates=done.dropped,
            notes=tuple(one for one in (*notes, voice.note) if one),
            took_ms=took_ms,
            rerank=voice.outcome,
            model=voice.model,
            earlier=works,
            offer=offer if was_ready else None,
        )

    def _ranked(self, asked: Asked) -> list[Ranked]:
        """Return all candidates, best first, the best with their reasons."""
        weights = self._weights(asked.source.structure.names.stuff)
        found = [Ranked(one, weights.score(told), told) for one, told in measured(asked)]
        ranked = _in_order(running_last(found) if asked.source.kind == "vault" else found)
        common = weights.common([one.features for one in ranked[:CONSIDERED]])
        best = [replace(one, reasons=weights.reasons(one.features, common))
                for one in ranked[:EXPLAINED]]  # fmt: skip
        return best + ranked[EXPLAINED:]

    def _reranked(
        self, asked: Asked, ranked: list[Ranked], spent_ms: float
    ) -> tuple[list[Ranked], Reranked]:
        """Return the candidates after a model had its voice, and what is to be said of that."""
        request, source, shown = asked.request, asked.source, []
        if request.ml_mode == "off":
            return ranked, Reranked()
        for one in ranked[: DEPTHS[request.ml_mode]]:
            record = source.structure.record(one.path)
            words = f"{record.title} {record.abstract}" if record else ""
            shown.append(Shown(one.path, source.index.outlet.clean(words)))
        left, language = seconds_left(request, spent_ms), asked.understood.language
        told = self._reranker.rerank(request, shown, left, language)
        scores = blended([one.score for one in ranked], told.scores, request.token_budget)
        moved = [replace(one, score=score) for one, score in zip(ranked, scores, strict=True)]
        return _in_order(moved), told


def _since_ms(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _after(told: str, done: Assembled) -> Assembled:
    """Return what was assembled with what is told of earlier work before it."""
    text = "\n\n".join(one for one in (told, done.context.text) if one)
    report = replace(done.report, estimated_used=tokens.count(text))
    return replace(done, context=replace(done.context, text=text), report=report)


def _in_order(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return candidates, best first; ties by causal confidence, then by path."""
    return sorted(ranked, key=lambda it: (-it.score, -it.candidate.causal, it.path))


def _check(request: PlanRequest) -> None:
    """Raise BadArgument for what no plan can be made of."""
    if not any(one.isprintable() and not one.isspace() for one in request.task):
        raise BadArgument("task", request.task, "what is to be done, in words")
    if not 1 <= request.token_budget <= MOST_BUDGET:
        raise BadArgument("token_budget", request.token_budget, f"1 to {MOST_BUDGET}")
    if request.latency_budget_ms < 1:
        raise BadArgument("latency_budget_ms", request.latency_budget_ms, "1 or more")
    for field, value, allowed in (
        ("query_type", request.query_type or "unknown", TASK_KINDS),
        ("ml_mode", request.ml_mode, ("off", "fast", "full")),
        ("detail", request.detail, ("compact", "normal", "verbose")),
    ):
        if value not in allowed:
            raise BadArgument(field, value, ", ".join(allowed))
