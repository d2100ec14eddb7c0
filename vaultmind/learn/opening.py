"""Learning as the app holds it: trainings, the models in use, and the way back."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from vaultmind.config import Config
from vaultmind.episodes.files import EpisodeFiles
from vaultmind.episodes.types import TASK
from vaultmind.episodes.types import time_of
from vaultmind.errors import BadArgument, VaultMindError
from vaultmind.index.ranker.active import MODEL_KINDS, VERSION, ModelKind
from vaultmind.learn.jobs import Job, Jobs, Steps
from vaultmind.learn.lessons import Heard
from vaultmind.learn.registry import ModelRegistry
from vaultmind.learn.shelf import ModelRow
from vaultmind.learn.trial import Trained
from vaultmind.planner.ranking.scorer import Stuff, Weights
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import VaultReader

if TYPE_CHECKING:
    from vaultmind.episodes.store import Tables
    from vaultmind.index.index import Index
    from vaultmind.learn.searches.searches import RankerLearnt
    from vaultmind.learn.searches.verdicts import Judged
    from vaultmind.learn.training import Seen, Trainer, TrainRequest
    from vaultmind.memory.gate.gate import Gate

WhatToTrain = Literal["planner", "ranker", "all"]
WHAT_TO_TRAIN: tuple[WhatToTrain, ...] = ("planner", "ranker", "all")
TOLD_EVERY = 50
"""Episodes."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LearningStatus:
    """What there is of models, and what the last training came to."""

    models: tuple[ModelRow, ...]
    """The shipped ones first."""
    faults: tuple[str, ...] = ()
    """What is wrong with files that were left out."""
    job: Job | None = None
    """The training that runs, or the last one since the start."""
    can_roll_back: Mapping[ModelKind, bool] = field(default_factory=dict)


MakeTrainer = Callable[[], "Trainer"]


class Feedback(Protocol):
    """What is known of searches: `SearchFeedback`."""

    def judged(self, agents: Sequence[str]) -> tuple[Judged, ...]:
        """Return all that can be learnt from, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class SearchMeans:
    """What the search ranker learns with."""

    index: Index
    judged: Callable[[], Sequence[Judged]]
    """Returns all that can be learnt from, oldest first."""

    def learner(self, clock: Clock) -> Callable[[datetime | None, int, Seen, Steps], RankerLearnt]:
        """Return what learns from it, since a time or all."""
        from vaultmind.index.search.scenes import Scenes
        from vaultmind.learn.searches.searches import train_ranker

        def learn(
            since: datetime | None, min_lessons: int, seen: Seen, steps: Steps
        ) -> RankerLearnt:
            first = "" if since is None else since.date().isoformat()
            told = [one for one in self.judged() if one.time >= first]
            scenes = Scenes(self.index.strongest)
            return train_ranker(scenes, told, clock(), min_lessons, steps, seen)

        return learn


class Learning:
    """Trains, and keeps what was learnt. Any thread."""

    def __init__(
        self,
        registry: ModelRegistry,
        trainers: Mapping[ModelKind, MakeTrainer],
        clock: Clock,
        min_lessons: int,
    ) -> None:
        """`trainers` are made when they are first needed: they load what counts."""
        self.registry = registry
        self.jobs = Jobs(clock)
        self._trainers = trainers
        self._min_lessons = min_lessons

    def train(
        self,
        kind: str = "all",
        since_days: int = 0,
        min_lessons: int | None = None,
        *,
        force_activate: bool = False,
        asked: Caller = PERSON,
    ) -> Job:
        """Begin a training in the background, which somebody `asked` for, and return it.

        Where one runs it is that one that is returned, as one that was not `begun`.

        Raises BadArgument.
        """
        if kind not in WHAT_TO_TRAIN:
            raise BadArgument("kind", kind, ", ".join(WHAT_TO_TRAIN))
        if since_days < 0:
            raise BadArgument("since_days", since_days, "0 (all) or more")
        if min_lessons is not None and min_lessons < 1:
            raise BadArgument("min_lessons", min_lessons, "1 or more")
        least = self._min_lessons if min_lessons is None else min_lessons
        kinds = [one for one in MODEL_KINDS if kind in (one, "all") and one in self._trainers]

        def work(steps: Steps) -> tuple[Trained, ...]:
            from vaultmind.learn.training import TrainRequest

            self.registry.asked.set(asked)  # of this thread, which does nothing else
            request = TrainRequest(since_days, least, force_activate)
            return tuple(done for one in kinds for done in self._train(one, request, steps))

        return self.jobs.begin(kind, work)

    def status(self) -> LearningStatus:
        """Return what there is."""
        registry = self.registry
        active = registry.active()
        undo = {kind: any(one.kind == kind for one in active.before) for kind in MODEL_KINDS}
        rows = registry.rows()
        registry.tell(rows)  # tables that were made anew know of none
        return LearningStatus(rows, registry.faults(), self.jobs.last, undo)

    @contextmanager
    def asked(self, caller: Caller) -> Iterator[None]:
        """Have the audit say that somebody asked for what is done in the person's name."""
        token = self.registry.asked.set(caller)
        try:
            yield
        finally:
            self.registry.asked.reset(token)

    def activate(self, model_id: str, caller: Caller = PERSON) -> tuple[ModelRow, ...]:
        """Put a model into use (`shipped-code` is one, too); return it.

        Raises NotFound, and PathRefused for an agent.
        """
        return self.registry.activate([model_id], caller)

    def rollback(self, kind: str, caller: Caller = PERSON) -> tuple[ModelRow, ...]:
        """Take back the last change of a kind of model; return those in use of it now.

        Raises BadArgument, NotFound, and PathRefused for an agent.
        """
        found = next((one for one in MODEL_KINDS if one == kind), None)
        if found is None:
            raise BadArgument("kind", kind, ", ".join(MODEL_KINDS))
        return self.registry.rollback(found, caller)

    def weights(self, of: Stuff) -> Weights:
        """Return the planner's weights for a source of code or of notes: cheap, never raises."""
        return self.registry.weights(of)

    def mirror(self, tables: Callable[[], Tables]) -> None:
        """Have the tables list the models there are, from now on and whenever they change."""

        def told(rows: Sequence[ModelRow]) -> None:
            try:
                tables().put_models(map(_row_of, rows))
            except VaultMindError as error:  # the files are what counts
                log.warning("the tables do not list the models: %s", error)

        self.registry.tell = told

    def close(self) -> None:
        """End a training that runs."""
        self.jobs.close()

    def _train(self, kind: ModelKind, request: TrainRequest, steps: Steps) -> Sequence[Trained]:
        """Train one kind; what keeps it from being trained keeps not the other one from it."""
        try:
            return self._trainers[kind]().train(request, steps)
        except VaultMindError as error:
            log.warning("the %s was not trained: %s", kind, error)
            return (Trained(kind, "", f"It could not be trained: {error}"),)


def open_learning(
    gate: Gate, reader: VaultReader, index: Index, feedback: Feedback, clock: Clock, config: Config
) -> Learning:
    """Return learning over a vault: from its episodes and from the feedback on its searches."""
    registry = ModelRegistry(gate, reader.paths, clock, home=config.agent)
    files = EpisodeFiles(reader.paths, reader)
    searches = SearchMeans(index, lambda: feedback.judged(reader.paths.agent_names()))

    def planner() -> Trainer:
        from vaultmind.learn.training import PlannerTrainer

        return PlannerTrainer(heard_in(files, index.outlet.hides), registry, clock)

    def ranker() -> Trainer:
        from vaultmind.learn.training import RankerTrainer

        return RankerTrainer(searches.learner(clock), registry, clock)

    trainers: dict[ModelKind, MakeTrainer] = {"planner": planner, "ranker": ranker}
    return Learning(registry, trainers, clock, config.learning.min_lessons)


def heard_in(
    files: EpisodeFiles, hides: Callable[[str, str, str], bool]
) -> Callable[[datetime | None, Steps], Iterable[Heard]]:
    """Return what reads the episodes that have offers; what cannot be read is left out.

    So is what is forgotten: `hides` tells it of an agent's record by a block of it.
    """

    def heard(since: datetime | None, steps: Steps) -> Iterable[Heard]:
        first = "" if since is None else since.date().isoformat()
        listed = [one for one in files.listed() if one.id >= first]
        for number, one in enumerate(listed):
            if number % TOLD_EVERY == 0:
                steps.tell("reading episodes", number, len(listed))
            if offers := files.offers(one.name):
                try:
                    episode = files.read(one.name)
                except VaultMindError as error:
                    log.debug("%s teaches nothing: %s", one.name, error)
                    continue
                record = one.path.removesuffix(".md")
                if not hides(one.agent, record, TASK):
                    kept = (it for it in episode.events if not hides(one.agent, record, it.block))
                    yield Heard(replace(episode, events=tuple(kept)), offers)

    return heard


def _row_of(one: ModelRow) -> tuple[str, str, str, str, int, bool]:
    """Return a model as the tables have it: what it is and how it did, not its weights."""
    told = {"of": one.of, "path": one.path, "scores": one.scores}
    made = time_of(one.created)  # none of what is shipped, or was written by hand
    created = int(made.timestamp()) if made is not None else 0
    kind = f"{one.kind}/{one.of}"  # of each there is one in use
    return one.id, kind, str(VERSION), json.dumps(told), created, one.active
