"""The planner: from a task to the context that is worth reading for it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaultmind import tokens
from vaultmind.episodes.gains import NONE, Work, figures_of
from vaultmind.episodes.types import Offer
from vaultmind.errors import BadArgument, install_hint
from vaultmind.planner.candidates import Asked, Candidate, measured, missing_of
from vaultmind.planner.earlier import SLACK, Earlier, told_within
from vaultmind.planner.episodes import is_ready, offer_of
from vaultmind.planner.pack import CONSIDERED, decide, lay
from vaultmind.planner.rerank import DEPTHS, Reranked, Reranker, blended, seconds_left
from vaultmind.planner.scorer import Stuff, Weights, built_in
from vaultmind.planner.task import understand
from vaultmind.planner.types import CacheStatus, Plan, PlanRequest
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.minion.choice import Minion
    from vaultmind.planner.sources import Source, Sources

MOST_TASK = 20_000
"""Characters of a task that are looked at."""
SETTLE_SECONDS = 0.06
"""How long a plan waits for a structure that is being brought up to date."""
KEPT = 1000
"""Plans that the figures are of: the last ones."""
LITTLE = 0.3
"""What the best file holds of the task's words, or is near it in meaning, for a plan to be one."""
SAME = 0.75
"""How near in meaning a file is for that alone to do."""
SURE = ("coverage", "path", "definitions", "named", "defined", "affinity", "similar")
"""Signals of the task's words."""
MOST_MISSING = 2
NOTHING = "No word of the task stands in this source: nothing is shown."
FEW = "Hardly a word of the task stands in this source: what is shown may not be about it."
READING = (
    "How the files hang together is still being read: names, links and history may be missing."
)


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
        return source.structure.settle(timeout_seconds) != "partial" or source.structure.settled

    def close(self) -> None:
        """Wait for no model any more."""
        self._reranker.close()

    @property
    def figures(self) -> PlanFigures:
        """Return how planning went since the start."""
        told = figures_of([Work(NONE, tuple(self._last))])
        names = PlanFigures.__slots__[1:]
        known = {name: value for name in names if (value := getattr(told, name))}
        return PlanFigures(self._plans, **known)

    def plan(self, request: PlanRequest, caller: Caller) -> Plan:
        """Return what to read for a task.

        Raises BadArgument for a request that makes no sense, NotFound for a source there is not,
        VaultNotFound for one whose folder is not there (now), or is another one.
        """
        started = time.perf_counter()
        request = replace(request, task=request.task[:MOST_TASK].replace("\0", " "))
        if not any(one.isprintable() and not one.isspace() for one in request.task):
            raise BadArgument("task", request.task, "what is to be done, in words")
        source = self._sources.find(request.project_root)
        source.index.outlet.folder.check()
        source.structure.wants_names = True
        status, was_ready = source.structure.settle(SETTLE_SECONDS), is_ready(source)
        understood = understand(request.task, source.name, request.query_type)
        earlier = self._earlier
        files, done = earlier.recall(understood, source, caller) if earlier else ((), ())
        works, told = told_within(done, request.token_budget)
        taken = tokens.count(f"{told}\n\n") + SLACK if told else 0
        room = replace(request, token_budget=request.token_budget - taken)
        asked = Asked(room, understood, source, caller, self._clock(), files)
        weights = self._weights(source.structure.graph.stuff)
        ranked = ranked_by(weights, asked)
        reranked = self._reranked(asked, ranked, started)
        ranked.sort(key=_order)
        laid, dropped = lay(asked, ranked)
        plan = decide(asked, laid, dropped, status)
        text = "\n\n".join(filter(None, (told, plan.context.text)))
        used = tokens.count(text) if told else plan.budget_report.estimated_used
        took_ms = (time.perf_counter() - started) * 1000
        offer = replace(
            offer_of(asked, ranked, plan, weights=weights.name),
            tokens=used, took_ms=took_ms, rerank=reranked.outcome,
        )  # fmt: skip
        self._plans += 1
        self._last.append(replace(offer, files={}))
        notes = (*notes_of(asked, status, ranked), reranked.note)
        whole = {"token_budget": request.token_budget, "estimated_used": used}
        return replace(
            plan,
            budget_report=replace(plan.budget_report, **whole),
            context=replace(plan.context, text=text),
            notes=tuple(filter(None, notes)),
            took_ms=took_ms,
            rerank=reranked.outcome,
            model=reranked.model,
            earlier=works,
            offer=offer if was_ready else None,
        )

    def _reranked(self, asked: Asked, ranked: list[Candidate], started: float) -> Reranked:
        """Give the best candidates a model's scores; return what is to be said of that."""
        request, source, shown = asked.request, asked.source, list[str]()
        for one in ranked[: DEPTHS[request.ml_mode]]:
            record = source.structure.record(one.path)
            words = f"{record.title} {record.abstract}" if record else ""
            shown.append(f"{one.path}: {source.index.outlet.clean(words)}")
        left = seconds_left(request, (time.perf_counter() - started) * 1000)
        told = self._reranker.rerank(request, shown, left, asked.understood.language)
        if told.scores:
            scores = blended([one.score for one in ranked], told.scores, request.token_budget)
            for one, score in zip(ranked, scores, strict=True):
                one.score = score
        return told


def ranked_by(weights: Weights, asked: Asked) -> list[Candidate]:
    """Return all candidates, best first, the best with their reasons."""
    found = measured(asked)
    for one in found:
        one.score = weights.score(one.signals)
    found.sort(key=_order)
    among = [one.signals for one in found[:CONSIDERED]]
    for one in found[: DEPTHS["full"]]:  # a model's voice moves none that is further back
        one.reasons = weights.reasons(one.signals, among)
    return found


def _order(one: Candidate) -> tuple[float, float, str]:
    """Put the best first; ties by causal confidence, then by path."""
    return -one.score, -one.signals.get("causal", 0.0), one.path


# --- what a plan lacks --------------------------------------------------------------------


def notes_of(asked: Asked, status: CacheStatus, found: Sequence[Candidate]) -> Iterator[str]:
    """Yield what a plan lacks."""
    state, structure = asked.source.index.state(), asked.source.structure
    if state.phase in ("starting", "indexing"):
        yield f"Still indexing: {state.indexed} of {state.files} files are known."
        return
    yield from state.notes
    if is_partial := status == "partial" and not structure.settled:
        yield READING
    if count := structure.graph.unread:
        yield (
            f"{counted(count, 'file')} of code as text only, without definitions and imports: "
            f"{install_hint('code')}, then `vaultmind daemon stop`."
        )
    if not is_partial:
        for path in missing_of(asked)[:MOST_MISSING]:
            yield f"No {path} is known in this source."
        if is_little(found):
            yield FEW if found else NOTHING


def is_little(found: Sequence[Candidate]) -> bool:
    """Tell whether hardly anything of a task stands in its candidates, or meaning alone found them.

    Any two texts are somewhat near each other in meaning: that is no sign by itself.
    """

    def best(names: Sequence[str]) -> float:
        return max((one.signals.get(name, 0.0) for one in found for name in names), default=0.0)

    near = best(["meaning"])
    return max(near, best(SURE[:-1])) < LITTLE or (near < SAME and not best(SURE))
