"""The planner: from a task to the context that is worth reading for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from vaultmind import tokens
from vaultmind.errors import BadArgument
from vaultmind.planner.candidates import Asked
from vaultmind.planner.freshness import Page, indexed_shas, read_page, state_of
from vaultmind.planner.intent import understand
from vaultmind.planner.known import Known
from vaultmind.planner.measuring import measured
from vaultmind.planner.packer import bound, pack
from vaultmind.planner.pieces import Form, Worth, forms_of, rendered
from vaultmind.planner.pool import Candidate, Provider
from vaultmind.planner.rerank import Reranked, Reranker, Shown, blended, seconds_left
from vaultmind.planner.scorer import Weights, built_in, relevances
from vaultmind.planner.trace import (
    CHANGED,
    GONE,
    NO_ROOM,
    TOO_FAR,
    TOO_LITTLE,
    told_dropped,
    told_file,
    told_intent,
)
from vaultmind.planner.types import (
    TASK_KINDS,
    BudgetReport,
    CacheStatus,
    Layer,
    Piece,
    Plan,
    PlannedContext,
    PlanRequest,
    Understood,
)
from vaultmind.ports import Clock
from vaultmind.types import Caller, Reason

if TYPE_CHECKING:
    from vaultmind.planner.sources import Source, Sources

MOST_TASK = 20_000
"""Characters of a task that are looked at."""
MOST_BUDGET = 200_000
CONSIDERED = 24
"""Of the best candidates, whose files are read."""
MOST_CHOSEN = 14
SOFTNESS = 2.0
"""How far behind the best a score may be before its file is worth little."""
SETTLE_SECONDS = 0.03
"""How long a plan waits for a structure that is being brought up to date."""

KNOWN_SECONDS = 0.05
"""How long it waits for tables of names and of the past that are being made."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a planner works with besides its sources."""

    clock: Clock
    reranker: Reranker | None = None
    providers: Sequence[Provider] = ()
    weights: Weights | None = None
    """None: those that come with the program."""


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A candidate with its place."""

    candidate: Candidate
    score: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class _Laid:
    """A file whose forms can be packed."""

    page: Page
    forms: tuple[Form, ...]
    reasons: tuple[Reason, ...]


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
        return self.known_of(source).settle(max(0.0, deadline - time.monotonic()))

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

        Raises BadArgument for a request that makes no sense, NotFound for a source there is not.
        """
        started = time.perf_counter()
        _check(request)
        source = self._sources.find(request.project_root)
        request = replace(request, task=request.task[:MOST_TASK].replace("\0", " "))
        status: CacheStatus = (
            source.structure.settle(SETTLE_SECONDS) if source.structure else "partial"
        )
        understood = understand(request.task, source.name, request.query_type)
        known = self.known_of(source)
        if not known.settle(KNOWN_SECONDS):
            status = "partial"
        asked = Asked(
            request, understood, source, caller, self._means.clock(), known, self._means.providers
        )
        ranked = self._ranked(asked)
        ranked, told = self._reranked(asked, ranked, (time.perf_counter() - started) * 1000)
        plan = self._packed(asked, ranked)
        took_ms = (time.perf_counter() - started) * 1000
        notes = (*plan.notes, told.note) if told.note else plan.notes
        plan = replace(plan, cache_status=status, notes=notes, took_ms=took_ms)
        return replace(plan, rerank=told.outcome, model=told.model)

    def _ranked(self, asked: Asked) -> list[_Ranked]:
        """Return all candidates, best first; ties by causal confidence, then by path."""
        weights = self._means.weights or built_in()
        ranked = [
            _Ranked(one, weights.score(features), weights.reasons(features))
            for one, features in measured(asked)
        ]
        return sorted(ranked, key=lambda it: (-it.score, -it.candidate.causal, it.candidate.path))

    def _reranked(
        self, asked: Asked, ranked: list[_Ranked], spent_ms: float
    ) -> tuple[list[_Ranked], Reranked]:
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
        for one in ranked[:CONSIDERED]:
            record = structure.record(one.candidate.path) if structure else None
            words = f"{record.title} {record.abstract}" if record else ""
            shown.append(Shown(one.candidate.path, clean(words), record.tokens if record else 0))
        told = reranker.rerank(
            request, shown, seconds_left(request, spent_ms), asked.understood.language
        )
        scores = blended([one.score for one in ranked], told.scores, request.token_budget)
        moved = [replace(one, score=score) for one, score in zip(ranked, scores, strict=True)]
        moved.sort(key=lambda it: (-it.score, -it.candidate.causal, it.candidate.path))
        return moved, told

    def _packed(self, asked: Asked, ranked: Sequence[_Ranked]) -> Plan:
        """Return the plan of the best that fit, each checked against the disk at the end."""
        request = asked.request
        laid, dropped = _laid(asked, ranked[:CONSIDERED])
        offers = [[form.offer for form in one.forms] for one in laid]
        packed = pack(offers, request.token_budget)
        chosen = [
            (one, one.forms[number])
            for one, number in zip(laid, packed.chosen, strict=True)
            if number is not None
        ]
        left_out = [one for one, number in zip(laid, packed.chosen, strict=True) if number is None]
        full = request.token_budget - packed.tokens < min(
            (form.offer.tokens for one in left_out for form in one.forms), default=0
        )
        dropped += [(one.page.path, NO_ROOM if full else TOO_LITTLE) for one in left_out]
        pieces: list[Piece] = []
        files: list[str] = []
        for one, form in chosen:
            state = state_of(asked.source, one.page)
            if state != "FRESH" and request.strict:
                dropped.append((one.page.path, CHANGED))
                continue
            files.append(one.page.path)
            pieces += [replace(piece, freshness=state) for piece in form.pieces]
        while pieces and tokens.count(rendered(pieces)) > request.token_budget:
            pieces.pop()
        text = rendered(pieces)
        used = tokens.count(text)
        best = bound(offers, used) if used else 0.0
        dropped += [(one.candidate.path, TOO_FAR) for one in ranked[CONSIDERED:]]
        layers = tuple(sorted({piece.layer for piece in pieces}))
        reasons = {one.page.path: one.reasons for one in laid}
        return Plan(
            cache_status="hit",
            freshness=_worst(pieces),
            intent=asked.understood,
            budget_report=BudgetReport(
                request.token_budget,
                used,
                round(min(1.0, packed.value / best), 4) if best > 0 else 0.0,
            ),
            context=PlannedContext(layers, tuple(files), text, tuple(pieces)),
            decision_trace=_trace(asked.understood, files, pieces, reasons),
            dropped_candidates=told_dropped(dropped),
            notes=_notes(asked.source),
        )


def _laid(asked: Asked, ranked: Sequence[_Ranked]) -> tuple[list[_Laid], list[tuple[str, str]]]:
    """Return the files that can be packed, read anew, and those that cannot be read."""
    source, detail = asked.source, asked.request.detail
    shas = indexed_shas(source, [one.candidate.path for one in ranked])
    relevant = relevances([one.score for one in ranked], SOFTNESS)
    telling = frozenset(asked.understood.terms)
    laid: list[_Laid] = []
    dropped: list[tuple[str, str]] = []
    for one, relevance in zip(ranked, relevant, strict=True):
        path = one.candidate.path
        page = read_page(source, path, shas.get(path, ""))
        if page is None:
            dropped.append((path, GONE))
            continue
        families = {reason.family for reason in one.reasons}
        confidence = min(1.0, 0.6 + 0.1 * len(families))
        worth = Worth(
            relevance, confidence, one.candidate.causal, one.reasons, one.candidate.spots, telling
        )
        forms = forms_of(page, worth, detail, source.index.outlet.clean)
        laid.append(_Laid(page, forms, one.reasons))
    return laid, dropped


def _trace(
    understood: Understood,
    files: Sequence[str],
    pieces: Sequence[Piece],
    reasons: Mapping[str, tuple[Reason, ...]],
) -> tuple[str, ...]:
    layers: dict[str, list[Layer]] = {}
    for piece in pieces:
        seen = layers.setdefault(piece.path, [])
        if piece.layer not in seen:
            seen.append(piece.layer)
    told = [told_file(path, reasons[path], layers.get(path, [])) for path in files]
    return (told_intent(understood), *told)


def _worst(pieces: Sequence[Piece]) -> Literal["fresh", "stale", "dirty"]:
    states = {piece.freshness for piece in pieces}
    return "dirty" if "DIRTY" in states else "stale" if "STALE" in states else "fresh"


def _notes(source: Source) -> tuple[str, ...]:
    state = source.index.state()
    if state.phase in ("starting", "indexing"):
        return (f"Still indexing: {state.indexed} of {state.files} files are known.",)
    return state.notes


def _check(request: PlanRequest) -> None:
    """Raise BadArgument for what no plan can be made of."""
    if not request.task.strip():
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
