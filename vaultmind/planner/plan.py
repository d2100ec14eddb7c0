"""The planner: from a task to the context that is worth reading for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind import tokens
from vaultmind.errors import BadArgument
from vaultmind.planner.candidates import Asked, Candidate
from vaultmind.planner.earlier import SLACK, Earlier, Recalled, told_within
from vaultmind.planner.episodes import is_ready, offer_of
from vaultmind.planner.features import measured
from vaultmind.planner.names import Known
from vaultmind.planner.pack import CONSIDERED, Assembled, Ranked, assemble, look_again, running_last
from vaultmind.planner.rerank import (
    DEPTHS,
    Reranked,
    Reranker,
    Shown,
    blended,
    seconds_left,
)
from vaultmind.planner.scorer import Stuff, Weights, built_in
from vaultmind.planner.task import understand
from vaultmind.planner.telling import is_little, notes_of
from vaultmind.planner.types import TASK_KINDS, CacheStatus, Plan, PlanRequest, Understood
from vaultmind.ports import Clock
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.planner.sources import Source, Sources

MOST_TASK = 20_000
"""Characters of a task that are looked at."""
MOST_BUDGET = 200_000
EXPLAINED = 24
"""Candidates, the best, whose reasons are told: a model's voice moves none that is further back."""
UNSURE = 0.2
"""Confidence in a task without a kind of which hardly anything is found, at most."""
SETTLE_SECONDS = 0.03
"""How long a plan waits for a structure that is being brought up to date."""
KNOWN_SECONDS = 0.05
"""How long it waits for tables of names and of the past that are being made."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a planner works with besides its sources."""

    clock: Clock
    reranker: Reranker | None = None
    weights: Callable[[Stuff], Weights] = built_in
    """Asked at each plan, for a source of code or of notes; those that come with the program."""
    earlier: Earlier | None = None
    """Recalls what was done for tasks like one."""


@dataclass(frozen=True, slots=True)
class _Ranking:
    """The candidates, best first, with what they were ranked by."""

    ranked: list[Ranked]
    features: Mapping[str, Mapping[str, float]]
    weights: str


@dataclass(frozen=True, slots=True)
class _Made:
    """What was assembled, and what came before it."""

    ranked: list[Ranked]
    features: Mapping[str, Mapping[str, float]]
    weights: str
    voice: Reranked
    done: Assembled
    understood: Understood


class Planner:
    """Plans contexts over the sources of one vault. Any thread."""

    def __init__(self, sources: Sources, means: Means) -> None:
        self._sources = sources
        self._means = means
        self._known: dict[tuple[str, Path], Known] = {}
        self._keeping = threading.Lock()

    def settle(self, source: Source, timeout_seconds: float) -> bool:
        """Bring what is kept of a source up to date; tell whether there was the time."""
        deadline = time.monotonic() + timeout_seconds
        if source.structure is not None:
            source.structure.settle(timeout_seconds)
        is_known = self.known_of(source).settle(max(0.0, deadline - time.monotonic()))
        return is_known

    def close(self) -> None:
        """Wait for what is at work; no model is waited for any more."""
        if self._means.reranker is not None:
            self._means.reranker.close()
        with self._keeping:
            held = [*self._known.values()]
        for one in held:
            one.close()

    def known_of(self, source: Source) -> Known:
        """Return what is kept of a source: of one that was linked anew, nothing of the old one."""
        key = (source.name, source.root)
        with self._keeping:
            known = self._known.get(key)
            if known is None or known.source.index is not source.index:
                known = self._known[key] = Known(source)
            return known

    def plan(self, request: PlanRequest, caller: Caller) -> Plan:
        """Return what to read for a task.

        Raises BadArgument for a request that makes no sense, NotFound for a source there is not,
        VaultNotFound for one whose folder is not there (now), or is another one.
        """
        started = time.perf_counter()
        request = replace(request, task=request.task[:MOST_TASK].replace("\0", " "))
        _check(request)
        source = self._sources.find(request.project_root)
        source.index.outlet.ground.check()
        status: CacheStatus = (
            source.structure.settle(SETTLE_SECONDS) if source.structure else "partial"
        )
        understood = understand(request.task, source.name, request.query_type)
        was_ready = is_ready(source)
        known = self.known_of(source)
        is_known = known.settle(KNOWN_SECONDS)
        if not is_known:
            status = "partial"
        earlier = self._means.earlier
        recalled = earlier.recall(understood, source, caller) if earlier else Recalled()
        works, told = told_within(recalled.works, request.token_budget)
        taken = tokens.count(f"{told}\n\n") + SLACK if told else 0
        asked = Asked(
            replace(request, token_budget=request.token_budget - taken),
            understood,
            source,
            caller,
            self._means.clock(),
            known,
            recalled.found,
        )
        made = self._made(asked, _since_ms(started))
        ranked, voice = made.ranked, made.voice
        done = _after(told, made.done, request.token_budget)
        notes = notes_of(asked, status, [one.candidate for one in ranked], is_known=is_known)
        offer = offer_of(asked, ranked, made.features, done, weights=made.weights, cache=status)
        notes = tuple(one for one in (*notes, voice.note) if one)
        took_ms = _since_ms(started)
        return Plan(
            cache_status=status,
            freshness=done.freshness,
            intent=made.understood,
            budget_report=done.report,
            context=done.context,
            decision_trace=done.trace,
            dropped_candidates=done.dropped,
            notes=notes,
            took_ms=took_ms,
            rerank=voice.outcome,
            model=voice.model,
            earlier=works,
            offer=replace(offer, took_ms=took_ms, rerank=voice.outcome) if was_ready else None,
        )

    def _made(self, asked: Asked, spent_ms: float) -> _Made:
        """Return what is read: once more where that was not as it stands on disk."""
        ranking = self._ranked(asked)
        asked = replace(
            asked,
            understood=_sure_of(asked.understood, [one.candidate for one in ranking.ranked]),
        )
        ranked, voice = self._reranked(asked, ranking.ranked, spent_ms)
        done = assemble(asked, ranked)
        if done.outdated:
            look_again(asked, done.outdated)
            scores = {one.candidate.path: one.score for one in ranked} if voice.scores else {}
            ranking = self._ranked(asked)
            again = [
                replace(one, score=scores.get(one.candidate.path, one.score))
                for one in ranking.ranked
            ]
            ranked = _in_order(again)
            done = assemble(asked, ranked)
        return _Made(ranked, ranking.features, ranking.weights, voice, done, asked.understood)

    def _ranked(self, asked: Asked) -> _Ranking:
        """Return all candidates, best first; ties by causal confidence, then by path."""
        weights = self._means.weights(asked.known.names.stuff)
        scored = [
            (Ranked(one, weights.score(features)), features) for one, features in measured(asked)
        ]
        told = {one.candidate.path: features for one, features in scored}
        found = [one for one, _ in scored]
        ranked = _in_order(running_last(found) if asked.source.kind == "vault" else found)
        common = weights.common([told[one.candidate.path] for one in ranked[:CONSIDERED]])
        best = [
            replace(one, reasons=weights.reasons(told[one.candidate.path], common))
            for one in ranked[:EXPLAINED]
        ]
        return _Ranking(best + ranked[EXPLAINED:], told, weights.name)

    def _reranked(
        self, asked: Asked, ranked: list[Ranked], spent_ms: float
    ) -> tuple[list[Ranked], Reranked]:
        """Return the candidates after a model had its voice, and what is to be said of that."""
        request, reranker = asked.request, self._means.reranker
        if request.ml_mode == "off":
            return ranked, Reranked()
        if reranker is None:
            note = "No model ranks here: the first ranking stands."
            return ranked, Reranked(outcome="fallback", note=note)
        structure = asked.source.structure
        clean = asked.source.index.outlet.clean
        shown = []
        for one in ranked[: DEPTHS[request.ml_mode]]:
            record = structure.record(one.candidate.path) if structure else None
            words = f"{record.title} {record.abstract}" if record else ""
            shown.append(Shown(one.candidate.path, clean(words)))
        told = reranker.rerank(
            request, shown, seconds_left(request, spent_ms), asked.understood.language
        )
        scores = blended([one.score for one in ranked], told.scores, request.token_budget)
        moved = [replace(one, score=score) for one, score in zip(ranked, scores, strict=True)]
        return _in_order(moved), told


def _after(told: str, done: Assembled, token_budget: int) -> Assembled:
    """Return what was assembled with what is told of earlier work before it."""
    text = "\n\n".join(one for one in (told, done.context.text) if one)
    used = tokens.count(text) if told else done.report.estimated_used
    report = replace(done.report, token_budget=token_budget, estimated_used=used)
    return replace(done, context=replace(done.context, text=text), report=report)


def _in_order(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return candidates, best first; ties by causal confidence, then by path."""
    return sorted(ranked, key=lambda it: (-it.score, -it.candidate.causal, it.candidate.path))


def _sure_of(understood: Understood, found: Sequence[Candidate]) -> Understood:
    """Return what a task was taken for: surely nothing, where neither kind nor source tells."""
    if understood.predicted != "unknown" or not is_little(found):
        return understood
    return replace(understood, confidence=min(understood.confidence, UNSURE))


def _since_ms(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _check(request: PlanRequest) -> None:
    """Raise BadArgument for what no plan can be made of."""
    if not any(one.isprintable() and not one.isspace() for one in request.task):
        raise BadArgument("task", request.task, "what is to be done, in words")
    if request.query_type and request.query_type not in TASK_KINDS:
        raise BadArgument("query_type", request.query_type, ", ".join(TASK_KINDS))
    if not 1 <= request.token_budget <= MOST_BUDGET:
        raise BadArgument("token_budget", request.token_budget, f"1 to {MOST_BUDGET}")
    if request.latency_budget_ms < 1:
        raise BadArgument("latency_budget_ms", request.latency_budget_ms, "1 or more")
    for field, value, allowed in (
        ("ml_mode", request.ml_mode, ("off", "fast", "full")),
        ("detail", request.detail, ("compact", "normal", "verbose")),
    ):
        if value not in allowed:
            raise BadArgument(field, value, ", ".join(allowed))
