"""Learning as the app holds it: trainings in the background, the models in use, the way back."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Literal

from vaultmind.config import Config
from vaultmind.episodes.files import EpisodeFiles
from vaultmind.episodes.types import TASK
from vaultmind.errors import VaultMindError
from vaultmind.heavy import step_back
from vaultmind.index.models import MODEL_KINDS, ModelKind
from vaultmind.learn.models import STUFFS, Models, new_model
from vaultmind.learn.trial import LEAST_TRIED, Learner, Verdict, too_few, tried
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import VaultReader

if TYPE_CHECKING:
    from vaultmind.index.index import Index
    from vaultmind.learn.feedback import SearchFeedback
    from vaultmind.learn.planning import Heard
    from vaultmind.memory.gate import Gate

JobState = Literal["running", "done", "failed", "cancelled"]
CLOSE_SECONDS = 10.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of a training, of one kind of model and for one thing that it ranks."""

    kind: ModelKind
    of: str
    """`code`, `notes`; an embedder's name."""
    why: str
    """In words: why it is in use now, or is not."""
    id: str = ""
    """Of the new model; empty where none was made."""
    lessons: int = 0
    rows: int = 0
    """Candidates of these lessons."""
    activated: bool = False
    verdict: Verdict | None = None


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
            first = first if since_days else ""
            learn = partial(self.learn, least=least, force=force_activate, asked=asked)
            self.last = job
            self._thread = threading.Thread(target=self._run, args=(job, first, learn), daemon=True)
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

    def _run(self, job: Job, since: str, learn: Callable[[Learner], Trained]) -> None:
        step_back()
        results = list[Trained]()
        state: JobState = "failed"
        try:
            for one in (it for it in MODEL_KINDS if job.kind in (it, "all")):
                try:
                    results += map(learn, self._learners(one, since))
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

    def _learners(self, kind: ModelKind, since: str) -> list[Learner]:
        """Return what can learn from what was heard since a day; of plans, each sort of source."""
        if kind == "ranker":
            from vaultmind.learn.searching import search_learner

            judged = self._feedback.judged(self._files.paths.agent_names())
            told = [one for one in judged if one.time >= since]
            return [search_learner(self._index.raw, told, self._step)]
        from vaultmind.learn.planning import plan_learner, plan_lessons

        cases = plan_lessons(self._heard(since), self._clock())
        each = {of: [one for one in cases if one.of == of] for of in STUFFS}
        some = [of for of in STUFFS if each[of]] or STUFFS[:1]
        return [plan_learner(of, each[of], self.models.weights(of)) for of in some]

    def learn(
        self, learner: Learner, least: int, *, force: bool = False, asked: Caller = PERSON
    ) -> Trained:
        """Make a model if there are at least so many lessons; keep it, and use it if it is better.

        It is tried on nothing from before what a model in use has seen. With `force` it is used
        whatever its trial says.
        """
        kind, of, cases = learner.kind, learner.of, learner.cases
        rows = sum(len(one.places) for one in cases)
        told = Trained(kind, of, "", lessons=len(cases), rows=rows)
        least = max(1, least)
        if len(cases) < least:
            return replace(told, why=f"{counted(len(cases), 'lesson')}: it takes {least}.")
        seen = None if force else self.models.seen(kind, of)
        unseen = len({one.work for one in cases if seen is None or one.time > seen})
        if seen is not None and unseen < LEAST_TRIED:
            return replace(told, why=too_few(unseen))
        self._step(f"learning the {kind} for {of}")
        weights, learnt_on, verdict = tried(learner, seen)
        id, text = new_model(learner, weights, learnt_on, verdict, self._clock())
        self.models.keep(kind, id, text)
        why = verdict.why if verdict.better or not force else f"Used all the same. {verdict.why}"
        if used := verdict.better or force:
            self.models.activate(id, why="in use after a training", asked=asked)
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
