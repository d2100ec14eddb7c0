"""A second look at the best candidates: a local model gives each a number, within a time."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import count
from typing import Any, Literal

from vaultmind import redact, tokens
from vaultmind.errors import MinionFailed
from vaultmind.minion import prompts
from vaultmind.minion.choice import Minion
from vaultmind.minion.structured import ask_json
from vaultmind.planner.types import Mode, PlanRequest
from vaultmind.ports import Generator
from vaultmind.types import Prompt, Turn

LATE_SECONDS = 20.0
"""An answer that comes too late may take so long in all: a model that is being loaded takes time,
and were it ended for that it would never be loaded."""
STUCK_SECONDS = 2 * LATE_SECONDS
"""After so long nothing is expected any more: another may be asked."""
KEPT = 64
"""Answers that are remembered."""

log = logging.getLogger(__name__)


class Late(Enum):
    """Why there is no answer."""

    TIMEOUT = auto()
    BUSY = auto()
    CLOSED = auto()


class _Job:
    def __init__(self, until: float) -> None:
        self.until = until
        self.done = threading.Event()
        self.answer: Any = None


class Aside:
    """Runs one piece of work at a time in a thread of its own and remembers the answers."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` counts seconds."""
        self._clock = clock
        self._lock = threading.Lock()
        self._job: _Job | None = None
        self._answers: OrderedDict[str, Any] = OrderedDict()
        self._closed = False

    def ask(self, question: str, work: Callable[[float], Any], seconds: float) -> Any:  # noqa: ANN401
        """Return what `work` answers to a question, or why there is no answer within the time.

        `work` is given the seconds that it may take: more than are waited for. An answer that is
        text says why there is none, and is not remembered. What was answered before is answered
        at once; while another question is at work, its end is waited for.
        """
        key = hashlib.sha256(question.encode("utf-8", "replace")).hexdigest()
        until = self._clock() + seconds
        while True:
            left = until - self._clock()
            with self._lock:
                if self._closed:
                    return Late.CLOSED
                if key in self._answers:
                    self._answers.move_to_end(key)
                    return self._answers[key]
                other = self._job
                if other is None or self._clock() >= other.until:
                    job = self._job = _Job(self._clock() + STUCK_SECONDS + left)
                    break
            if not other.done.wait(max(0.0, left)):
                return Late.BUSY
        longest = max(left, LATE_SECONDS)
        threading.Thread(
            target=self._run, args=(job, key, lambda: work(longest)), name="aside", daemon=True
        ).start()
        return job.answer if job.done.wait(max(0.0, left)) else Late.TIMEOUT

    def close(self) -> None:
        """Answer nobody any more."""
        with self._lock:
            self._closed = True

    def _run(self, job: _Job, key: str, work: Callable[[], Any]) -> None:
        answer: Any = "The model failed."
        try:
            answer = work()
        except Exception:  # a thread of its own: whoever waits is told, the log says what it was
            log.exception("a model could not be asked")
        finally:
            with self._lock:
                job.answer = answer
                if not isinstance(answer, str):
                    self._answers[key] = answer
                    while len(self._answers) > KEPT:
                        self._answers.popitem(last=False)
                if self._job is job:
                    self._job = None
            job.done.set()


DEPTHS: dict[Mode, int] = {"off": 0, "fast": 8, "full": 24}
"""How many of the best candidates a model is shown."""
WORD_TOKENS: dict[Mode, int] = {"off": 0, "fast": 32, "full": 48}
"""Of each candidate."""
TASK_TOKENS = 300
BEST = 9
"""What a model may give a candidate at most: one digit, so that the answer is short."""
TOKENS_A_SCORE, TOKENS_AROUND = 4, 24
"""Of the answer."""
FEW_TOKENS, MANY_TOKENS = 1000, 6000
"""A budget of so few tokens leaves no room for what is second best; of so many, for most of it."""
LEAST_SHARE, MOST_SHARE = 0.35, 0.65
"""What a model's voice counts, beside the first ranking: with many tokens, with few."""
ROOMY = 0.8
"""In `fast`: where what it would be shown takes less of the budget, the order changes nothing."""
PACKING_MS, PACKING_SHARE = 50.0, 0.15
"""Of the time a plan has, kept for what comes after the model: so much, or so much of what came
before it, where a machine has much to do."""
LEAST_SECONDS = 0.02
"""With less time than that nobody is asked."""
_REQUIRED = {"additionalProperties": False, "type": "object"}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a model is shown of a candidate."""

    path: str
    words: str
    """Title, names, the first words: what tells what it is about."""
    tokens: int = 0
    """What it would take of the budget."""


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
    which was being loaded is there for the next plan, and what it says of these very candidates
    is known when the same is planned again.
    """

    def __init__(
        self, minion: Minion | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`clock` counts seconds."""
        self._minion = minion
        self._aside = Aside(clock)

    def rerank(
        self, request: PlanRequest, shown: Sequence[Shown], seconds: float, language: str = ""
    ) -> Reranked:
        """Return what a model says of the best candidates, within so many seconds.

        `shown` holds the best first; only the first `DEPTHS[request.ml_mode]` are looked at, and
        `scores` is as long. `language` is the task's. Never raises, and never waits longer.
        """
        best = tuple(shown[: DEPTHS[request.ml_mode]])
        if len(best) < 2 or not _matters(request, best):  # noqa: PLR2004
            return Reranked()
        asked = _question(request, best, language)
        told = self._told(asked, seconds, _scores)
        if isinstance(told, str):
            return Reranked(outcome="fallback", note=f"{told} The first ranking stands.")
        value, model = told
        if len(set(value)) == 1:
            note = f"The model {model} told the candidates not apart. The first ranking stands."
            return Reranked(outcome="fallback", model=model, note=note)
        return Reranked(tuple(one / BEST for one in value), "used", model)

    def close(self) -> None:
        """Wait for nobody any more; the models themselves are the minion's to close."""
        self._aside.close()

    def _told(
        self, asked: Prompt, seconds: float, read: Callable[[Generator, Prompt], Any]
    ) -> tuple[Any, str] | str:
        """Return what a model answered and its id, or in words why it did not."""
        minion = self._minion
        if minion is None or not minion.chain("rerank"):
            return "No model is configured to rank (minion.rerank, minion.model)."
        if seconds < LEAST_SECONDS:
            return "No time was left for the model (latency_budget_ms)."

        def work(left: float) -> tuple[Any, str] | str:
            prompt = Prompt(asked.turns, asked.schema, asked.max_tokens, left)
            done = minion.run("rerank", lambda generator: read(generator, prompt))
            if done.value is None:
                return " ".join(done.failures) or "No model could be asked."
            return done.value, done.by

        told = self._aside.ask(asked.turns[0].text, work, seconds)
        return _late_words(told, seconds) if isinstance(told, Late) else told


def seconds_left(request: PlanRequest, spent_ms: float) -> float:
    """Return how long a model may be waited for, when so much of the time is gone."""
    kept_ms = max(PACKING_MS, PACKING_SHARE * spent_ms)
    return max(0.0, request.latency_budget_ms - spent_ms - kept_ms) / 1000


def model_share(token_budget: int) -> float:
    """Return what a model's voice counts, from 0 to 1: the more, the smaller the budget."""
    span = (token_budget - FEW_TOKENS) / (MANY_TOKENS - FEW_TOKENS)
    return MOST_SHARE - (MOST_SHARE - LEAST_SHARE) * max(0.0, min(1.0, span))


def blended(first: Sequence[float], model: Sequence[float], token_budget: int) -> list[float]:
    """Return the scores of the shown candidates after both stages.

    `first`: their scores of stage 1, highest first; `model`: as `Reranked.scores`. The result
    stays within the range of `first`, so that no candidate falls behind one that was not shown.
    Without an opinion of the model it is `first`.
    """
    if not model or not first:
        return list(first)
    shown = first[: len(model)]
    low, high = min(shown), max(shown)
    width = (high - low) or 1.0
    share = model_share(token_budget)
    mixed = [
        (1 - share) * (one - low) / width + share * said
        for one, said in zip(shown, model, strict=True)
    ]
    return [low + (high - low) * one for one in mixed] + list(first[len(model) :])


def _matters(request: PlanRequest, best: Sequence[Shown]) -> bool:
    """Tell whether an order can change what is chosen: not where all of it fits with ease."""
    sizes = sum(one.tokens for one in best)
    return request.ml_mode == "full" or not sizes or sizes > ROOMY * request.token_budget


def _question(request: PlanRequest, best: Sequence[Shown], language: str) -> Prompt:
    words = prompts.load("rerank", language or prompts.DEFAULT_LANGUAGE)
    most = WORD_TOKENS[request.ml_mode]
    lines = (f"{n}. {_line(f'{one.path}: {one.words}', most)}" for n, one in zip(count(1), best))
    text = words.filled(
        task=_line(request.task, TASK_TOKENS),
        candidates="\n".join(lines),
        number=str(len(best)),
        best=str(BEST),
    )
    scores = {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": BEST},
        "minItems": len(best),
        "maxItems": len(best),
    }
    schema = {**_REQUIRED, "properties": {"scores": scores}, "required": ["scores"]}
    return Prompt((Turn("user", text),), schema, TOKENS_AROUND + TOKENS_A_SCORE * len(best))


def _scores(generator: Generator, prompt: Prompt) -> list[int]:
    _check_room(generator, prompt)
    value = ask_json(generator, prompt).value["scores"]
    return [int(one) for one in value]


def _check_room(generator: Generator, prompt: Prompt) -> None:
    """Raise MinionFailed where a question does not fit a model's window, if that is known."""
    wanted = tokens.count(prompt.turns[0].text) + prompt.max_tokens
    if 0 < generator.context_tokens < wanted:
        raise MinionFailed(
            "too_long",
            f"The model {generator.id} has a window of {generator.context_tokens:,} tokens; the "
            f"question takes about {wanted:,}.",
            hint="Use ml_mode fast, or raise minion.context_tokens.",
        )


def _line(text: str, most_tokens: int) -> str:
    """Return foreign text as one short line without secrets and private passages: it is data."""
    shown = " ".join(redact.mask(redact.blank_private(text[: most_tokens * 40])).text.split())
    shown = "".join(c for c in shown if c.isprintable()).replace("```", "'''")
    return tokens.clip(shown.replace("<<", "< <").replace(">>", "> >"), most_tokens)


def _late_words(late: Late, seconds: float) -> str:
    if late is Late.BUSY:
        return "The model is still at work for an earlier plan."
    if late is Late.CLOSED:
        return "The models are closed."
    return f"The model gave no answer within {seconds * 1000:,.0f} ms (latency_budget_ms)."
