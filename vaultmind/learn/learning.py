"""Learning as the app holds it: trainings in the background, the models in use, the way back."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from vaultmind.config import Config
from vaultmind.episodes.files import EpisodeFiles
from vaultmind.episodes.types import TASK
from vaultmind.errors import BadArgument, VaultMindError
from vaultmind.index.models import MODEL_KINDS, ModelKind
from vaultmind.learn.models import Models
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import VaultReader

if TYPE_CHECKING:
    from vaultmind.index.index import Index
    from vaultmind.learn.feedback import SearchFeedback
    from vaultmind.learn.planning import Heard
    from vaultmind.learn.trial import Trained, Training
    from vaultmind.memory.gate import Gate

JobState = Literal["running", "done", "failed", "cancelled"]
WHAT_TO_TRAIN = (*MODEL_KINDS, "all")
CLOSE_SECONDS = 10.0
LOWEST_PRIORITY = 19

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """A training, as it stands."""

    id: str
    kind: str
    """`planner`, `ranker` or `all`."""
    state: JobState
    started: str
    ended: str = ""
    doing: str = ""
    """In words."""
    done: int = 0
    total: int = 0
    """Steps of what it does now; 0 for not known."""
    results: tuple[Trained, ...] = ()
    error: str = ""
    begun: bool = True
    """False in the answer to whoever asked while another ran: what was asked was not begun."""


class Cancelled(Exception):
    """The work was asked to end."""


class Learning:
    """Trains, one at a time and out of everybody's way, and keeps what was learnt. Any thread.

    From a vault's episodes, and from the feedback on its searches.
    """

    def __init__(
        self, gate: Gate, reader: VaultReader, index: Index, feedback: SearchFeedback, clock: Clock,
        config: Config,
    ) -> None:  # fmt: skip
        self.models = Models(gate, reader.paths, clock, config.agent)
        self._files = EpisodeFiles(reader.paths, reader)
        self._index, self._feedback, self._clock = index, feedback, clock
        self._min_lessons = config.learning.min_lessons
        self._lock, self._ends = threading.Lock(), threading.Event()
        self._numbers, self._thread = count(1), threading.Thread()
        self.last: Job | None = None
        """The training that runs, or the last one since the start."""

    def train(
        self, kind: str = "all", since_days: int = 0, min_lessons: int | None = None, *,
        force_activate: bool = False, asked: Caller = PERSON,
    ) -> Job:  # fmt: skip
        """Begin a training in the background, which somebody `asked` for, and return it.

        Where one runs it is that one that is returned, as one that was not `begun`. Raises
        BadArgument.
        """
        if kind not in WHAT_TO_TRAIN:
            raise BadArgument("kind", kind, ", ".join(WHAT_TO_TRAIN))
        least = self._min_lessons if min_lessons is None else min_lessons
        with self._lock:
            if self.last is not None and self.last.state == "running":
                return replace(self.last, begun=False)
            job = Job(f"job-{next(self._numbers)}", kind, "running", self._now())
            if self._ends.is_set():
                return replace(job, state="cancelled", ended=job.started)
            self.last, asks = job, (since_days, least, force_activate, asked)
            self._thread = threading.Thread(target=self._run, args=(kind, *asks), daemon=True)
            self._thread.start()
            return job

    def wait(self, timeout_seconds: float | None = None) -> Job | None:
        """Return the last training once it has ended, or as it stands after that long."""
        if self._thread.ident:
            self._thread.join(timeout_seconds)
        return self.last

    def close(self) -> None:
        """End a training that runs; none begins any more."""
        with self._lock:
            self._ends.set()
        self.wait(CLOSE_SECONDS)

    def _run(self, kind: str, *asks: Any) -> None:  # noqa: ANN401
        from vaultmind.learn.trial import Trained, Training

        if sys.platform == "linux":  # where a thread has a priority of its own
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST_PRIORITY)
        results, state, error = list[Trained](), "done", ""
        try:
            for one in (it for it in MODEL_KINDS if kind in (it, "all")):
                try:
                    results += self._trained(
                        one, Training(self.models, self._clock(), self._step, *asks)
                    )
                except VaultMindError as fault:  # it keeps the other kind from nothing
                    log.warning("the %s was not trained: %s", one, fault)
                    results.append(Trained(one, "", f"It could not be trained: {fault}"))
        except Cancelled:
            state, results = "cancelled", []
        except Exception as fault:  # whoever asked must see that it failed, and why
            log.exception("a training failed")
            state, results, error = "failed", [], f"{type(fault).__name__}: {fault}"
        self._tell(state=state, ended=self._now(), doing="", results=tuple(results), error=error)

    def _trained(self, kind: ModelKind, training: Training) -> tuple[Trained, ...]:
        from vaultmind.learn import planning, searching

        if kind == "planner":
            return planning.train(self._heard(training), training)
        judged = self._feedback.judged(self._files.paths.agent_names())
        told = [one for one in judged if one.time >= training.since()]
        return searching.train(self._index.raw, told, training)

    def _heard(self, training: Training) -> Iterator[Heard]:
        """Yield the episodes that have offers; what is forgotten or cannot be read is left out."""
        from vaultmind.learn.planning import Heard

        listed = [one for one in self._files.listed() if one.offers]
        listed = [one for one in listed if one.name.partition("/")[2] >= training.since()]
        for number, one in enumerate(listed):
            training.steps("reading episodes", number, len(listed))
            with suppress(VaultMindError):
                episode, record = self._files.read(one.name), self._files.record(one.name)
                hides = partial(self._index.outlet.hides, episode.agent, record)
                if not hides(TASK):
                    kept = tuple(it for it in episode.events if not hides(it.block))
                    yield Heard(replace(episode, events=kept), self._files.offers(one.name))

    def _step(self, doing: str, done: int = 0, total: int = 0) -> None:
        if self._ends.is_set():
            raise Cancelled
        self._tell(doing=doing, done=done, total=total)

    def _tell(self, **what: Any) -> None:  # noqa: ANN401
        with self._lock:
            if self.last is not None:
                self.last = replace(self.last, **what)

    def _now(self) -> str:
        return self._clock().isoformat(timespec="seconds")
