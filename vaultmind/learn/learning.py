"""Learning: trainings in the background, the models there are and in use, and the way back.

    models/planner/<id>.json    weights of the planner, for sources of code or of notes
    models/ranker/<id>.json     rankers of the search, each for an embedder or for words alone
    models/active.json          what is in use, and what was before

A model's file is written before anything names it, and `active.json` is replaced as a whole: a
crash at any moment leaves the old or the new in use. What is found inside a vault is not trusted:
only features that the program knows get a weight. Files that cannot be understood are left out and
told; the shipped models stand in for them.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field

from vaultmind.config import Config
from vaultmind.episodes.files import EpisodeFiles
from vaultmind.episodes.types import TASK
from vaultmind.errors import ConfigError, NotFound, VaultMindError
from vaultmind.heavy import step_back
from vaultmind.index import models as rankers
from vaultmind.index.models import (
    ACTIVE,
    MODEL_KINDS,
    SHIPPED_ID,
    WORDS,
    Active,
    Model,
    ModelKind,
    Switch,
)
from vaultmind.learn.trial import LEAST_TRIED, PASSED, Case, Learner, Verdict, too_few, tried
from vaultmind.planner.scorer import Stuff, Weights, built_in
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.times import time_of
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.index.index import Index
    from vaultmind.learn.feedback import SearchFeedback
    from vaultmind.learn.lessons import Heard
    from vaultmind.memory.gate import Gate

STUFFS: tuple[Stuff, ...] = ("code", "notes")
FOLDERS: Mapping[ModelKind, str] = {"planner": "models/planner", "ranker": "models/ranker"}
SHIPPED = "shipped-"
"""Before `code`, `notes`, an embedder's name: the id of a model that comes with the program."""
TRIAL = "trial"
"""What came of a model's trial, among its scores."""
ON_SEARCHES = "on searches, up to"
"""By which a ranker is known that was learnt here."""
HEARD_UNTIL = "heard until "
"""Before when the latest search was that a ranker learnt from or was tried on."""
MOST_FILES = 500
MAX_TEXT, MAX_TEXTS = 200, 20
_Text = Annotated[str, Field(max_length=MAX_TEXT, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]


class Learned(BaseModel, frozen=True, strict=True):
    """The planner's weights that were learnt, and where they come from, as their file has them.

    Nothing of what was learnt from.
    """

    version: Literal[1] = 1
    name: _Text
    """The file's stem."""
    of: Stuff
    created: _Text = ""
    learnt_on: Annotated[tuple[_Text, ...], Field(max_length=MAX_TEXTS)] = ()
    """In words, as counts and days: no task, no path."""
    seen: _Text = ""
    """Of when the latest lesson was that it learnt from or was tried on."""
    scores: Annotated[dict[_Text, rankers.Weight], Field(max_length=MAX_TEXTS)] = {}
    """Of the trial."""
    weights: Annotated[dict[str, rankers.Weight], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model that there is."""

    id: str
    kind: ModelKind
    of: str
    """`code`, `notes`; an embedder's name, or `words` without one."""
    active: bool = False
    created: str = ""
    learnt_on: tuple[str, ...] = ()
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Measures by what was ranked; of the planner `trial`."""
    path: str = ""
    """Vault-relative; empty for one that comes with the program."""
    seen: str = ""
    """Of when the latest lesson was that it learnt from or was tried on."""

    @property
    def named(self) -> str:
        """Return the id by which `active.json` names it."""
        return self.id if self.path else SHIPPED_ID


def new_model(
    learner: Learner, weights: Mapping[str, float], cases: Sequence[Case], told: Verdict,
    now: datetime,
) -> tuple[str, str]:  # fmt: skip
    """Return the id of a new model and its file: weights, their trial, what `cases` taught them.

    It says nothing of what it learnt from but counts and days.
    """
    kind, of, (what, work) = learner.kind, learner.of, learner.nouns
    mark = hashlib.sha256(json.dumps(dict(weights), sort_keys=True).encode()).hexdigest()[:6]
    name, seen = f"{of}-{now:%Y-%m-%d}-{mark}", learner.cases[-1].time.isoformat()
    works = len({one.work for one in cases})
    about = f"{counted(len(cases), what)} for {counted(works, work)}"
    if kind == "planner":
        days = f"{cases[0].time:%Y-%m-%d} to {cases[-1].time:%Y-%m-%d}"
        return name, Learned(
            name=name, of=stuff_of(of) or "notes", created=now.isoformat(timespec="seconds"),
            learnt_on=(about, days), seen=seen, scores=told.scores(), weights=dict(weights),
        ).model_dump_json(indent=1) + "\n"  # fmt: skip
    learnt_on = (about, f"{ON_SEARCHES} {now:%Y-%m-%d}", f"{HEARD_UNTIL}{seen}")
    embedder = "" if of == WORDS else of
    spread = {it: rankers.shipped(embedder).spread.get(it, 1.0) for it in weights}
    scores = {TRIAL: told.scores()}
    scores |= {it.name: {"MRR": it.after, "MRR before": it.before} for it in told.guards}
    return name, rankers.model_text(Model(name, embedder, weights, spread, learnt_on, scores))


def stuff_of(weights: str) -> Stuff | None:
    """Return what weights of some name are for (`code-2026-…`, `notes`); None for no known."""
    return next((one for one in STUFFS if one == weights.partition("-")[0]), None)


def read_learned(path: Path) -> Learned:
    """Read a model of the planner; its id is the file's stem.

    Raises ConfigError, which names the file, the field and what is allowed.
    """
    name = f"The planner's model {path}"
    told = rankers.read_checked(path, Learned, name)
    known = built_in(told.of).weights  # an older program may have known others
    weights = {name: weight for name, weight in told.weights.items() if name in known}
    if stuff_of(path.stem) != told.of or not weights:
        raise ConfigError(f"{name} is not named for {told.of}, or weighs no feature of it.")
    update = {"name": path.stem, "seen": told.seen or told.created, "weights": weights}
    return told.model_copy(update=update)


Change = Callable[[Active], tuple[Mapping[str, str], Sequence[Switch]]]
"""Returns, of what is in use, what is in use instead, and the changes that can be taken back."""


class Models:
    """Keeps models, and tells which is in use. Any thread."""

    def __init__(self, gate: Gate, paths: VaultPaths, clock: Clock, home: str = "") -> None:
        """`home`: in whose audit it is told what the person does."""
        self._gate, self._home, self._paths, self._clock = gate, home, paths, clock
        self._folder = paths.root / paths.memory_dir
        self._lock = threading.RLock()

    # --- what is in use ------------------------------------------------------------------

    def weights(self, of: Stuff) -> Weights:
        """Return the planner's weights for a source of code or of notes: cheap, never raises."""
        return self._weights(of)[0]

    def faults(self) -> tuple[str, ...]:
        """Return what is wrong with files that were left out, in words."""
        told = [*(self._weights(of)[1] for of in STUFFS), *rankers.registry_of(self._folder).faults]
        return tuple(dict.fromkeys(filter(None, told)))

    def rows(self) -> tuple[ModelRow, ...]:
        """Return the models there are, the shipped ones first."""
        rows = [*self._read()]
        active, there = (
            rankers.read_active(self._folder),
            {(it.kind, it.of, it.named) for it in rows},
        )

        def is_used(one: ModelRow) -> bool:
            named = active.of(one.kind).get(one.of, SHIPPED_ID)
            return one.named == (named if (one.kind, one.of, named) in there else SHIPPED_ID)

        rows.sort(key=lambda one: (bool(one.path), one.kind, one.id))
        return tuple(replace(one, active=is_used(one)) for one in rows)

    def seen(self, kind: ModelKind, of: str) -> datetime | None:
        """Return of when the latest lesson was that a model in use learnt from or was tried on.

        Also of one that was put into use for having been better, and taken back since.
        """
        rows = [one for one in self.rows() if (one.kind, one.of) == (kind, of)]
        used = (one for one in rows if one.active or one.scores.get(TRIAL, {}).get(PASSED))
        return max(filter(None, (time_of(one.seen) for one in used)), default=None)

    # --- changes -------------------------------------------------------------------------

    def keep(self, kind: ModelKind, model_id: str, text: str) -> None:
        """Store a model that is not in use (yet)."""
        self._gate.save(self._path(kind, model_id), lambda file: text, PERSON, "a model is kept")

    def activate(
        self, model_id: str, caller: Caller = PERSON, *, why: str = "in use",
        asked: Caller | None = None,
    ) -> ModelRow:  # fmt: skip
        """Put a model into use; return it. The audit is told `why`, and who `asked`.

        Raises NotFound for an id there is not, or whose file cannot be understood; PathRefused for
        an agent.
        """
        with self._lock:
            rows = self.rows()
            row = next((one for one in rows if one.id == model_id), None)
            if row is None:
                told = "; ".join(fault for fault in self.faults() if model_id in fault)
                raise NotFound(
                    f"There is no model {model_id!r} that can be used. {told}".strip(),
                    hint="`vaultmind model status` lists those there are.",
                )
            kind, of = row.kind, row.of
            used = (it.named for it in rows if it.active and (it.kind, it.of) == (kind, of))
            if not row.active:
                was = {of: next(used, SHIPPED_ID)}
                switch = Switch(kind, was, self._clock().isoformat(timespec="seconds"))
                new = {of: row.named}
                self._switch(kind, lambda old: (new, (*old.before, switch)), caller, why)
                self._tell_audit(asked or caller, f"{why}: {model_id}")
            return replace(row, active=True)

    def rollback(
        self, kind: ModelKind, caller: Caller = PERSON, asked: Caller | None = None
    ) -> tuple[ModelRow, ...]:
        """Take back the last change of a kind; return what is in use of it now.

        In place of one that is there no longer the shipped one ranks. Raises NotFound where
        no change is left to be taken back; PathRefused for an agent.
        """
        with self._lock:

            def back(old: Active) -> tuple[Mapping[str, str], Sequence[Switch]]:
                last = next((one for one in reversed(old.before) if one.kind == kind), None)
                if last is None:
                    raise NotFound(
                        f"There is no change of the {kind}'s models to take back.",
                        hint="`vaultmind model status` tells what is in use.",
                    )
                return last.was, [one for one in old.before if one is not last]

            self._switch(kind, back, caller, f"the {kind}'s models are as before")
            rows = tuple(one for one in self.rows() if one.kind == kind and one.active)
            self._tell_audit(asked or caller, f"taken back: {', '.join(one.id for one in rows)}")
            return rows

    def _tell_audit(self, asked: Caller, said: str) -> None:
        """Tell the audit of who asked, or the person's: models are nobody's alone."""
        agents = self._paths.agent_names()
        if home := next((it for it in (asked.agent, self._home, *agents) if it in agents), None):
            self._gate.told(asked, home, "model", f"{self._paths.memory_dir}/{ACTIVE}", said)

    def _switch(self, kind: ModelKind, change: Change, caller: Caller, reason: str) -> None:
        """Replace `active.json` as a whole; one that cannot be understood names nothing."""

        def edit(file: FileText | None) -> str:
            old = rankers.read_active(self._folder)
            old = Active() if old.fault else old
            now, before = change(old)
            planner, ranker = ({**old.of(it), **(now if it == kind else {})} for it in FOLDERS)
            return rankers.active_text(Active(planner, ranker, tuple(before)))

        self._gate.save(f"{self._paths.memory_dir}/{ACTIVE}", edit, caller, reason)

    # --- reading -------------------------------------------------------------------------

    def _weights(self, of: Stuff) -> tuple[Weights, str]:
        """Return the weights that `active.json` names, or the shipped ones and why."""
        active, shipped = rankers.read_active(self._folder), built_in(of)
        name = active.planner.get(of, SHIPPED_ID)
        if name == SHIPPED_ID:
            return shipped, active.fault
        try:
            learned = read_learned(self._folder / FOLDERS["planner"] / f"{Path(name).name}.json")
        except ConfigError as error:
            return shipped, f"{ACTIVE} names {name!r}. {error} The shipped weights rank."
        if learned.of != of:
            return shipped, f"{ACTIVE} names {name!r} for {of}: it is for {learned.of}."
        merged = {**shipped.weights, **learned.weights}
        return Weights(learned.name, merged, shipped.words, learned.learnt_on), ""

    def _read(self) -> Iterator[ModelRow]:
        for of in STUFFS:
            yield ModelRow(f"{SHIPPED}{of}", "planner", of, learnt_on=built_in(of).learnt_on)
        for stem in (one.stem for one in rankers.SHIPPED.glob("*.json")):
            model = rankers.shipped("" if stem == WORDS else stem)
            yield ModelRow(
                f"{SHIPPED}{stem}", "ranker", stem, learnt_on=model.trained_on, scores=model.scores
            )
        for path in sorted((self._folder / FOLDERS["planner"]).glob("*.json"))[:MOST_FILES]:
            with suppress(ConfigError):  # told where it is in use; else it is as if not there
                one = read_learned(path)
                yield ModelRow(
                    one.name, "planner", one.of, created=one.created, learnt_on=one.learnt_on,
                    scores={TRIAL: one.scores} if one.scores else {},
                    path=self._path("planner", one.name), seen=one.seen,
                )  # fmt: skip
        for name, model in rankers.registry_of(self._folder).named.items():
            seen = next((it for it in model.trained_on if it.startswith(HEARD_UNTIL)), "")
            yield ModelRow(
                name, "ranker", model.embedder or WORDS, learnt_on=model.trained_on,
                scores=model.scores, path=self._path("ranker", name),
                seen=seen.removeprefix(HEARD_UNTIL),
            )  # fmt: skip

    def _path(self, kind: ModelKind, model_id: str) -> str:
        return f"{self._paths.memory_dir}/{FOLDERS[kind]}/{model_id}.json"


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
        state: JobState = "done"
        try:
            for one in (it for it in MODEL_KINDS if job.kind in (it, "all")):
                try:
                    for learner in self._learners(one, since):
                        job.results += (learn(learner),)
                except VaultMindError as fault:  # it keeps the other kind from nothing
                    log.warning("the %s was not trained: %s", one, fault)
                    job.results += (Trained(one, "", f"Training failed: {fault}"),)
        except Cancelled:
            state = "cancelled"
        except Exception as fault:  # whoever asked must see that it failed, and why
            log.exception("a training failed")
            job.error, state = f"{type(fault).__name__}: {fault}", "failed"
        job.ended, job.doing, job.state = self._now(), "", state

    def _learners(self, kind: ModelKind, since: str) -> list[Learner]:
        """Return what can learn from what was heard since a day; of plans, each sort of source."""
        if kind == "ranker":
            from vaultmind.learn.lessons import search_learner

            judged = self._feedback.judged(self._files.paths.agent_names())
            told = [one for one in judged if one.time >= since]
            return [search_learner(self._index.raw, told, self._step)]
        from vaultmind.learn.lessons import plan_learner, plan_lessons

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
        why = verdict.why if verdict.better or not force else f"Used anyway. {verdict.why}"
        if used := verdict.better or force:
            self.models.activate(id, why="in use after a training", asked=asked)
        return replace(told, id=id, why=why, verdict=verdict, activated=used)

    def _heard(self, since: str) -> Iterator[Heard]:
        """Yield the episodes that have offers; what is forgotten or cannot be read is left out."""
        from vaultmind.learn.lessons import Heard

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
