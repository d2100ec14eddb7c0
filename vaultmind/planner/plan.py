"""The planner: from a task to the context that is worth reading for it.

Where it is asked for, a local model gives the best candidates a number each, within a time.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from vaultmind import redact, tokens
from vaultmind.episodes.gains import NONE, Figures, Work, figures_of
from vaultmind.episodes.types import Offer
from vaultmind.errors import BadArgument, install_hint
from vaultmind.minion import prompts
from vaultmind.minion.choice import Minion
from vaultmind.minion.structured import ask_json
from vaultmind.planner.candidates import TIES, Asked, Candidate, measured, missing_of
from vaultmind.planner.earlier import SLACK, Earlier, told_within
from vaultmind.planner.episodes import is_ready, offer_of
from vaultmind.planner.pack import CONSIDERED, decide, lay
from vaultmind.planner.scorer import Stuff, Weights, built_in
from vaultmind.planner.task import understand
from vaultmind.planner.types import CacheStatus, Mode, Plan, PlanRequest
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.types import Caller, Prompt, Turn

if TYPE_CHECKING:
    from vaultmind.minion.choice import Minion
    from vaultmind.planner.sources import Sources

LATE_SECONDS = 20.0
"""An answer that comes too late may take so long in all: a model that is being loaded takes time,
and were it ended for that it would never be loaded."""
DEPTHS: dict[Mode, int] = {"off": 0, "fast": 8, "full": 24}
"""How many of the best candidates a model is shown."""
WORD_TOKENS, TASK_TOKENS = 40, 300
"""Of each candidate, and of the task."""
BEST = 9
"""What a model may give a candidate at most: one digit, so that the answer is short."""
TOKENS_A_SCORE, TOKENS_AROUND = 4, 24
"""Of the answer."""
VOICE = 0.5
"""What a model's scores count beside the first ranking."""
PACKING_MS, PACKING_SHARE = 50.0, 0.15
"""Of the time a plan has, kept for what comes after the model: so much, or so much of what came
before it, where a machine has much to do."""
LEAST_SECONDS = 0.02
"""With less time than that nobody is asked."""
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
MOST_MISSING = 2
NOTHING = "This source has no word of the task, so nothing is shown."
FEW = "This source has few words of the task; what is shown may be off topic."
READING = "Still reading this source: names, links and history may be incomplete."
log = logging.getLogger(__name__)
Answer = tuple[tuple[int, ...], str]
"""The scores and the model's id; without scores, in words why there are none."""


@dataclass(frozen=True, slots=True)
class Reranked:
    """What a model said of the candidates that it was shown."""

    scores: tuple[float, ...] = ()
    """From 0 to 1, one for each candidate that was shown; empty: the first ranking stands."""
    outcome: Literal["none", "used", "fallback"] = "none"
    """`none`: it was not to be asked. `used`. `fallback`: it was, and gave nothing to go by."""
    model: str = ""
    note: str = ""
    """Why the first ranking stands, in words."""


class Reranker:
    """Asks the model of the purpose `rerank`, one plan at a time. Any thread.

    A plan waits for as long as it may. A model that is late goes on for a while, so that one
    which was being loaded is there for the next plan.
    """

    def __init__(self, minion: Minion | None) -> None:
        self._minion, self._lock, self._work = minion, threading.Lock(), threading.Thread()

    def rerank(
        self, request: PlanRequest, shown: Sequence[str], seconds: float, language: str = ""
    ) -> Reranked:
        """Return what a model says of the best candidates, within so many seconds.

        `shown` says of each its path and what it is about, the best first; only the first
        `DEPTHS[request.ml_mode]` are looked at. `language` is the task's. Never raises, and never
        waits longer.
        """
        best = shown[: DEPTHS[request.ml_mode]]
        if len(best) < 2:  # noqa: PLR2004
            return Reranked()
        scores, said = self._ask(_question(request, best, language), seconds)
        if len(set(scores)) > 1:
            return Reranked(tuple(one / BEST for one in scores), "used", said)
        why = f"The model {said} could not tell the candidates apart." if scores else said
        return Reranked((), "fallback", said if scores else "", f"{why} The first ranking stands.")

    def _ask(self, prompt: Prompt, seconds: float) -> Answer:
        minion, answers = self._minion, list[Answer]()
        if minion is None or not minion.chain("rerank"):
            return (), "No model is configured for ranking (minion.rerank, minion.model)."
        if seconds < LEAST_SECONDS:
            return (), "No time was left for the model (latency_budget_ms)."

        def work() -> None:
            late = replace(prompt, seconds=max(seconds, LATE_SECONDS))
            try:
                done = minion.run("rerank", lambda model: ask_json(model, late)["scores"])
                failed = (), " ".join(done.failures) or "No model could be asked."
                answers.append((tuple(map(int, done.value)), done.by) if done.value else failed)
            except Exception:  # a thread of its own: whoever waits is told, the log says what
                log.exception("a model could not be asked")

        with self._lock:
            if self._work.is_alive():
                return (), "The model is still busy with an earlier plan."
            self._work = thread = threading.Thread(target=work, daemon=True)
            thread.start()
        thread.join(seconds)
        late_words = f"The model gave no answer within {seconds * 1000:,.0f} ms"
        return answers[0] if answers else ((), f"{late_words} (latency_budget_ms).")


def seconds_left(request: PlanRequest, spent_ms: float) -> float:
    """Return how long a model may be waited for, when so much of the time is gone."""
    kept_ms = max(PACKING_MS, PACKING_SHARE * spent_ms)
    return max(0.0, request.latency_budget_ms - spent_ms - kept_ms) / 1000


def blended(first: Sequence[float], model: Sequence[float]) -> list[float]:
    """Return the scores of the shown candidates after both stages.

    `first`: their scores of stage 1, highest first; `model`: as `Reranked.scores`. The result stays
    within the range of `first`, so that no candidate falls behind one that was not shown.
    """
    shown = first[: len(model)]
    low, width = min(shown), (max(shown) - min(shown)) or 1.0
    moved = zip(shown, model, strict=True)
    mixed = [low + (1 - VOICE) * (one - low) + VOICE * said * width for one, said in moved]
    return [*mixed, *first[len(model) :]]


def _question(request: PlanRequest, best: Sequence[str], language: str) -> Prompt:
    lines = (f"{n}. {_line(one, WORD_TOKENS)}" for n, one in enumerate(best, 1))
    told = {"task": _line(request.task, TASK_TOKENS), "candidates": "\n".join(lines)}
    told |= {"number": str(len(best)), "best": str(BEST)}
    text = prompts.filled("rerank", language or prompts.DEFAULT_LANGUAGE, **told)
    score = {"type": "integer", "minimum": 0, "maximum": BEST}
    scores = {"type": "array", "items": score, "minItems": len(best), "maxItems": len(best)}
    schema = {"additionalProperties": False, "type": "object", "properties": {"scores": scores},
              "required": ["scores"]}  # fmt: skip
    return Prompt((Turn("user", text),), schema, TOKENS_AROUND + TOKENS_A_SCORE * len(best))


def _line(text: str, most_tokens: int) -> str:
    """Return foreign text as one short line without secrets and private passages: it is data."""
    shown = " ".join(redact.mask(redact.blank_private(text[: most_tokens * 40])).text.split())
    shown = "".join(c for c in shown if c.isprintable()).replace("```", "'''")
    return tokens.clip(shown.replace("<<", "< <").replace(">>", "> >"), most_tokens)


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

    @property
    def figures(self) -> Figures:
        """Return how planning went since the start, by the last plans."""
        return replace(figures_of([Work(NONE, tuple(self._last))]), plans=self._plans)

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
        status, was_ready = source.settle(SETTLE_SECONDS), is_ready(source)
        understood = understand(request.task, source.name, request.query_type)
        earlier = self._earlier
        files, done = earlier.recall(understood, source, caller) if earlier else ((), ())
        works, told = told_within(done, request.token_budget)
        taken = tokens.count(f"{told}\n\n") + SLACK if told else 0
        room = replace(request, token_budget=request.token_budget - taken)
        asked = Asked(room, understood, source, caller, self._clock(), files)
        weights = self._weights(source.graph.stuff)
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
            record = source.record(one.path)
            words = f"{record.title} {record.abstract}" if record else ""
            shown.append(f"{one.path}: {redact.mask(words).text}")
        left = seconds_left(request, (time.perf_counter() - started) * 1000)
        told = self._reranker.rerank(request, shown, left, asked.understood.language)
        if told.scores:
            scores = blended([one.score for one in ranked], told.scores)
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
    state, source = asked.source.index.state(), asked.source
    if state.phase in ("starting", "indexing"):
        yield f"Still indexing: {state.indexed} of {state.files} files."
        return
    yield from state.notes
    if is_partial := status == "partial" and not source.settled:
        yield READING
    if count := source.graph.unread:
        yield (
            f"{counted(count, 'file')} of code as text only, without definitions and imports: "
            f"{install_hint('code')}, then `vaultmind daemon stop`."
        )
    if not is_partial:
        for path in missing_of(asked)[:MOST_MISSING]:
            yield f"This source has no {path}."
        if is_little(found):
            yield FEW if found else NOTHING


def is_little(found: Sequence[Candidate]) -> bool:
    """Tell whether hardly anything of a task stands in its candidates, or meaning alone found them.

    Any two texts are somewhat near each other in meaning: that is no sign by itself.
    """

    def best(names: Sequence[str]) -> float:
        return max((one.signals.get(name, 0.0) for one in found for name in names), default=0.0)

    near = best(["meaning"])
    return max(near, best(TIES[:-1])) < LITTLE or (near < SAME and not best(TIES))
