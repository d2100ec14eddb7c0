"""Learning as the app holds it: trainings in the background, the models in use, the way back."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple

from vaultmind.config import Config
from vaultmind.episodes.files import EpisodeFiles
from vaultmind.episodes.types import TASK
from vaultmind.errors import VaultMindError
from vaultmind.index.models import MODEL_KINDS, ModelKind
from vaultmind.learn.models import STUFFS, Models
from vaultmind.learn.trial import LEAST_TRIED, Case, Proposal, Trained, too_few
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import VaultReader

if TYPE_CHECKING:
    from vaultmind.index.index import Index
    from vaultmind.learn.feedback import Judged, SearchFeedback
    from vaultmind.learn.planning import Heard
    from vaultmind.memory.gate import Gate

JobState = Literal["running", "done", "failed", "cancelled"]
CLOSE_SECONDS = 10.0
LOWEST_PRIORITY = 19

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Job:
    """A training, as it stands: it changes while it runs."""

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


class Asks(NamedTuple):
    """What a training is asked for."""

    since: str
    """The day from which on lessons are taken; empty for all."""
    least: int
    """Fewer lessons make no model."""
    force: bool
    """Whether a model is put into use whatever its trial says."""
    asked: Caller


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
        self, kind: ModelKind | Literal["all"] = "all", since_days: int = 0,
        min_lessons: int | None = None, *, force_activate: bool = False, asked: Caller = PERSON,
    ) -> Job:  # fmt: skip
        """Begin a training in the background, which somebody `asked` for, and return it.

        Where one runs it is that one that is returned, as one that was not `begun`.
        """
        least = self._min_lessons if min_lessons is None else min_lessons
        with self._lock:
            if self.last is not None and self.last.state == "running":
                return replace(self.last, begun=False)
            job = Job(f"job-{next(self._numbers)}", kind, "running", self._now())
            if self._ends.is_set():
                return replace(job, state="cancelled", ended=job.started)
            first = (self._clock() - timedelta(days=since_days)).date().isoformat()
            asks = Asks(first if since_days else "", least, force_activate, asked)
            self.last = job
            self._thread = threading.Thread(target=self._run, args=(job, asks), daemon=True)
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

    def _run(self, job: Job, asks: Asks) -> None:
        if sys.platform == "linux":  # where a thread has a priority of its own
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST_PRIORITY)
        results = list[Trained]()
        state: JobState = "failed"
        try:
            for one in (it for it in MODEL_KINDS if job.kind in (it, "all")):
                try:
                    results += (self.planner if one == "planner" else self.ranker)(asks)
                except VaultMindError as fault:  # it keeps the other kind from nothing
                    log.warning("the %s was not trained: %s", one, fault)
                    results.append(Trained(one, "", f"It could not be trained: {fault}"))
            job.results, state = tuple(results), "done"
        except Cancelled:
            state = "cancelled"
        except Exception as fault:  # whoever asked must see that it failed, and why
            log.exception("a training failed")
            job.error = f"{type(fault).__name__}: {fault}"
        job.ended, job.doing, job.state = self._now(), "", state

    def planner(self, asks: Asks) -> list[Trained]:
        """Learn from episodes since a day, for each sort of source of which there are any."""
        from vaultmind.learn.planning import new_planner, plan_lessons

        now, done = self._clock(), list[Trained]()
        cases = plan_lessons(self._heard(asks.since), now)
        for of in STUFFS:
            mine = [one for one in cases if one.of == of]
            if mine or (of == STUFFS[0] and not cases):
                self._step(f"learning for sources of {of}")
                propose = partial(new_planner, mine, self.models.weights(of))
                done.append(self._concluded("planner", of, mine, propose, asks))
        return done

    def ranker(self, asks: Asks, judged: Sequence[Judged] | None = None) -> list[Trained]:
        """Learn from verdicts on searches since a day, or from those given."""
        from vaultmind.learn.searching import ask_again, new_ranker

        scenes = self._index.raw
        if judged is None:
            judged = self._feedback.judged(self._files.paths.agent_names())
        told = [one for one in judged if one.time >= asks.since]
        of, cases = ask_again(scenes, told, self._step)

        def propose(seen: datetime | None, now: datetime) -> Proposal:
            return new_ranker(scenes, cases, seen, now, self._step)

        return [self._concluded("ranker", of, cases, propose, asks)]

    def _concluded(
        self, kind: ModelKind, of: str, cases: Sequence[Case],
        propose: Callable[[datetime | None, datetime], Proposal], asks: Asks,
    ) -> Trained:  # fmt: skip
        """Have a model made of cases, if there are enough; keep it, and use it if it is better.

        It is tried on nothing from before what a model in use has seen.
        """
        rows = sum(len(one.places) for one in cases)
        told = Trained(kind, of, "", lessons=len(cases), rows=rows)
        least, force = max(1, asks.least), asks.force
        if len(cases) < least:
            return replace(told, why=f"{counted(len(cases), 'lesson')}: it takes {least}.")
        seen = None if force else self.models.seen(kind, of)
        unseen = len({one.work for one in cases if seen is None or one.time > seen})
        if seen is not None and unseen < LEAST_TRIED:
            return replace(told, why=too_few(unseen))
        id, text, verdict = propose(seen, self._clock())
        self.models.keep(kind, id, text)
        why = verdict.why if verdict.better or not force else f"Used all the same. {verdict.why}"
        if used := verdict.better or force:
            self.models.activate(id, why="in use after a training", asked=asks.asked)
        return replace(told, id=id, why=why, verdict=verdict, activated=used)

    def _heard(self, since: str) -> Iterator[Heard]:
        """Yield the episodes that have offers; what is forgotten or cannot be read is left out."""
        from vaultmind.learn.planning import Heard

        names = [one for one in self._files.names() if one.partition("/")[2] >= since]
        for number, name in enumerate(names):
            self._step("reading episodes", number, len(names))
            with suppress(VaultMindError):
                episode, record = self._files.read(name), self._files.record(name)
                hides = partial(self._index.outlet.hides, episode.agent, record)
                if not hides(TASK) and (offers := self._files.offers(name)):
                    kept = tuple(it for it in episode.events if not hides(it.block))
                    yield Heard(replace(episode, events=kept), offers)

    def _step(self, doing: str, done: int = 0, total: int = 0) -> None:
        if self._ends.is_set():
            raise Cancelled
        if self.last is not None:
            self.last.doing, self.last.done, self.last.total = doing, done, total

    def _now(self) -> str:
        return self._clock().isoformat(timespec="seconds")
