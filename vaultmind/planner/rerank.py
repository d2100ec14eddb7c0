"""A second look at the best candidates: a local model gives each a number, within a time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from vaultmind import redact, tokens
from vaultmind.minion import prompts
from vaultmind.minion.choice import Minion
from vaultmind.minion.structured import ask_json
from vaultmind.planner.types import Mode, PlanRequest
from vaultmind.types import Prompt, Turn

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
FEW_TOKENS, MANY_TOKENS = 1000, 6000
"""A budget of so few tokens leaves no room for what is second best; of so many, for most of it."""
LEAST_SHARE, MOST_SHARE = 0.35, 0.65
"""What a model's voice counts, beside the first ranking: with many tokens, with few."""
PACKING_MS, PACKING_SHARE = 50.0, 0.15
"""Of the time a plan has, kept for what comes after the model: so much, or so much of what came
before it, where a machine has much to do."""
LEAST_SECONDS = 0.02
"""With less time than that nobody is asked."""
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
        why = f"The model {said} told the candidates not apart." if scores else said
        return Reranked((), "fallback", said if scores else "", f"{why} The first ranking stands.")

    def close(self) -> None:
        """Ask nobody any more; the models themselves are the minion's to close."""
        self._minion = None

    def _ask(self, prompt: Prompt, seconds: float) -> Answer:
        minion, answers = self._minion, list[Answer]()
        if minion is None or not minion.chain("rerank"):
            return (), "No model is configured to rank (minion.rerank, minion.model)."
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
                return (), "The model is still at work for an earlier plan."
            self._work = thread = threading.Thread(target=work, daemon=True)
            thread.start()
        thread.join(seconds)
        late_words = f"The model gave no answer within {seconds * 1000:,.0f} ms"
        return answers[0] if answers else ((), f"{late_words} (latency_budget_ms).")


def seconds_left(request: PlanRequest, spent_ms: float) -> float:
    """Return how long a model may be waited for, when so much of the time is gone."""
    kept_ms = max(PACKING_MS, PACKING_SHARE * spent_ms)
    return max(0.0, request.latency_budget_ms - spent_ms - kept_ms) / 1000


def blended(first: Sequence[float], model: Sequence[float], token_budget: int) -> list[float]:
    """Return the scores of the shown candidates after both stages.

    `first`: their scores of stage 1, highest first; `model`: as `Reranked.scores`, which counts
    the more, the smaller the budget. The result stays within the range of `first`, so that no
    candidate falls behind one that was not shown.
    """
    span = (token_budget - FEW_TOKENS) / (MANY_TOKENS - FEW_TOKENS)
    share = MOST_SHARE - (MOST_SHARE - LEAST_SHARE) * max(0.0, min(1.0, span))
    shown = first[: len(model)]
    low = min(shown, default=0.0)
    width = (max(shown, default=0.0) - low) or 1.0
    mixed = [
        low + (1 - share) * (one - low) + share * said * width
        for one, said in zip(shown, model, strict=True)
    ]
    return mixed + list(first[len(model) :])


def _question(request: PlanRequest, best: Sequence[str], language: str) -> Prompt:
    lines = (f"{n}. {_line(one, WORD_TOKENS)}" for n, one in enumerate(best, 1))
    text = prompts.filled(
        "rerank",
        language or prompts.DEFAULT_LANGUAGE,
        task=_line(request.task, TASK_TOKENS),
        candidates="\n".join(lines),
        number=str(len(best)),
        best=str(BEST),
    )
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
