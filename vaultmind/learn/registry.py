"""The learned models: files of the memory folder, which of them are in use, and the way back.

    models/planner/<id>.json    weights of the planner, for sources of code or of notes
    models/ranker/<id>.json     rankers of the search, each for an embedder or for words alone
    models/active.json          what is in use, and what was before

A model's file is written before anything names it, and `active.json` is replaced as a whole: a
crash at any moment leaves the old or the new in use. Files that cannot be understood are left out
and told; the shipped models stand in for them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from vaultmind.episodes.types import time_of
from vaultmind.errors import NotFound
from vaultmind.index.ranker.active import (
    ACTIVE,
    MODEL_KINDS,
    SHIPPED_ID,
    WORDS,
    Active,
    ModelKind,
    Switch,
    parsed,
    read_active,
)
from vaultmind.index.ranker.active import written as written_active
from vaultmind.learn.shelf import FOLDERS, SHIPPED, ModelRow, Shelf
from vaultmind.learn.weights import STUFFS
from vaultmind.planner.ranking.scorer import Stuff, Weights
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import Change, FileText
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.index.ranker.model import Model

LOOK_SECONDS = 10.0
"""How long a file that somebody else changed (a sync, the person) may go unnoticed by plans."""


class Keeping(Protocol):
    """What keeping models needs of the gate."""

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> FileText | None:
        """Change a file of the memory folder by compare-and-swap."""
        ...

    def remove(self, relative: str, caller: Caller, reason: str) -> bool:
        """Remove a file of it; tell whether it was there."""
        ...

    def told(self, caller: Caller, agent: str, op: str, path: str, reason: str) -> None:
        """Tell an agent's audit of a change."""
        ...


@dataclass(frozen=True, slots=True)
class _Held:
    """What was read last."""

    stamp: tuple[tuple[str, int, int], ...]
    active: Active
    weights: Mapping[Stuff, Weights]
    faults: tuple[str, ...]


class ModelRegistry:
    """Keeps models, and tells which is in use. Any thread."""

    def __init__(
        self,
        gate: Keeping,
        paths: VaultPaths,
        clock: Clock,
        *,
        home: str = "",
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """`home`: in whose audit it is told what the person does; `seconds` counts up."""
        self._gate = gate
        self._home = home
        self.asked: ContextVar[Caller | None] = ContextVar("asked", default=None)
        """Who asks for what is done in the person's name, where that is another."""
        self._paths = paths
        self._folder = paths.root / paths.memory_dir
        self._shelf = Shelf(paths)
        self._clock = clock
        self.tell: Callable[[Sequence[ModelRow]], None] = lambda rows: None
        """Hears of all models whenever what is in use changes."""
        self._seconds = seconds
        self._lock = threading.RLock()
        self._held: _Held | None = None
        self._looked = -LOOK_SECONDS

    # --- what is in use ------------------------------------------------------------------

    def weights(self, of: Stuff) -> Weights:
        """Return the planner's weights for a source of code or of notes: cheap, never raises."""
        held = self._held
        if held is None or self._seconds() - self._looked > LOOK_SECONDS:
            held = self.look()
        return held.weights[of]

    def ranker(self, embedder: str) -> Model:
        """Return the search ranker in use for an embedder's id, or without one (empty)."""
        return self._shelf.rankers().choose(embedder)

    def active(self) -> Active:
        """Return what `active.json` says now."""
        return self.look().active

    def faults(self) -> tuple[str, ...]:
        """Return what is wrong with files that were left out, in words."""
        return tuple(dict.fromkeys((*self.look().faults, *self._shelf.rankers().faults)))

    def rows(self) -> tuple[ModelRow, ...]:
        """Return every model that can be used, the shipped ones first, then by kind and id."""
        in_use = {of: weights.name for of, weights in self.look().weights.items()}
        shelf = self._shelf
        rows = [*shelf.planner_rows(in_use), *shelf.ranker_rows(shelf.rankers())]
        return tuple(sorted(rows, key=lambda one: (bool(one.path), one.kind, one.id)))

    def in_use(self, kind: ModelKind) -> dict[str, str]:
        """Return the ids in use, as `active.json` has them, by what each ranks."""
        rows = (one for one in self.rows() if one.kind == kind and one.active)
        return {one.of: _kept_id(one) for one in rows}

    def seen(self, kind: ModelKind, of: str) -> datetime | None:
        """Return of when the latest lesson was that a model in use learnt from or was tried on.

        Also of one that was put into use for having been better, and taken back since.
        """
        rows = (one for one in self.rows() if (one.kind, one.of) == (kind, of) and one.sees)
        now = self._clock()
        return max(filter(None, (_seen(one, now) for one in rows)), default=None)

    def look(self) -> _Held:
        """Read again what changed on disk."""
        with self._lock:
            self._looked = self._seconds()
            stamp = self._stamp()
            if self._held is None or self._held.stamp != stamp:
                self._held = self._read(stamp)
            return self._held

    # --- changes -------------------------------------------------------------------------

    def keep(self, kind: ModelKind, of: str, model_id: str, text: str) -> str:
        """Store a model that is not in use (yet); return its vault-relative path.

        Where no ranker is named for an embedder the last by name would rank: the one that does now
        is named first.
        """
        if kind == "ranker" and of not in self.active().ranker:
            now = self._ranking_now(of)
            self._switch(lambda old: _with(old, "ranker", {of: now}), PERSON, "a model is named")
        path = self._shelf.path(kind, model_id)
        self._gate.save(path, lambda file: text, PERSON, "a model is kept")
        spared = {path, *(one.path for one in self.rows() if one.sees)}
        for old in self._shelf.losers(kind):
            if old not in spared:
                self._gate.remove(old, PERSON, "a model that was never in use gives way")
        return path

    def activate_in_place_of(self, was: str, kind: ModelKind, model_id: str) -> bool:
        """Put a model into use where still the same is in use as before; tell whether it was.

        `was`: as `in_use` had it. Raises NotFound.
        """
        with self._lock:
            of = self._row(model_id).of
            if self.in_use(kind).get(of, SHIPPED_ID) not in (was, model_id):
                return False
            self.activate([model_id], why="in use after a training")
            return True

    def activate(
        self, ids: Iterable[str], caller: Caller = PERSON, why: str = "in use"
    ) -> tuple[ModelRow, ...]:
        """Put models into use, all at once; return them. `why` is what the audit says of it.

        Raises NotFound for an id there is not, or whose file cannot be understood; PathRefused for
        an agent.
        """
        with self._lock:
            rows = [self._row(one) for one in ids]
            at = self._now()
            for kind in MODEL_KINDS:
                wanted = {one.of: _kept_id(one) for one in rows if one.kind == kind}
                self._change_to(kind, wanted, (caller, why), at)
            return tuple(self._row(one.id) for one in rows)

    def rollback(self, kind: ModelKind, caller: Caller = PERSON) -> tuple[ModelRow, ...]:
        """Take back the last change of a kind; return what is in use of it now.

        What was before and is there no longer gives way to the shipped one. Raises NotFound where
        shipped models are in use already; PathRefused for an agent.
        """
        with self._lock:
            here = frozenset(one.id for one in self.rows() if one.kind == kind)

            def back(old: Active) -> Active:
                return _taken_back(old, kind, here)

            self._switch(back, caller, f"the {kind}'s models are as before")
            now = tuple(one for one in self.rows() if one.kind == kind and one.active)
            self._tell_audit(caller, f"taken back: {', '.join(one.id for one in now)}")
            return now

    def _change_to(
        self, kind: ModelKind, wanted: Mapping[str, str], by: tuple[Caller, str], at: str
    ) -> None:
        now = {of: self._in_use(kind, of) for of in wanted}
        if not wanted or now == dict(wanted):
            return

        def change(old: Active) -> Active:
            was = {of: old.of(kind).get(of, now[of]) for of in wanted}
            return _with(old, kind, wanted, Switch(kind, was, at))

        named = [f"{SHIPPED}{of}" if one == SHIPPED_ID else one for of, one in wanted.items()]
        self._switch(change, by[0], f"{by[1]}: {', '.join(named)}")
        self._tell_audit(by[0], f"{by[1]}: {', '.join(named)}")

    def _tell_audit(self, caller: Caller, said: str) -> None:
        """Tell the audit of who asked, or the person's: models are nobody's alone."""
        asked, agents = self.asked.get() or caller, self._paths.agent_names()
        wanted = (asked.agent, self._home, *agents)
        if home := next((one for one in wanted if one in agents), None):
            self._gate.told(asked, home, "model", f"{self._paths.memory_dir}/{ACTIVE}", said)

    def _switch(self, change: Callable[[Active], Active], caller: Caller, reason: str) -> None:
        """Replace `active.json` as a whole; one that cannot be understood is kept beside it."""
        path = f"{self._paths.memory_dir}/{ACTIVE}"
        damaged: list[str] = []

        def edit(file: FileText | None) -> str:
            old = parsed(file.text) if file is not None else Active()
            if file is not None and old.fault:
                damaged[:] = [file.text]
                old = Active()
            return written_active(change(old))

        with self._lock:
            if read_active(self._folder).fault:
                self._keep_damaged(path, caller)
            self._gate.save(path, edit, caller, reason)
            self._held = None
            self.look()
        self.tell(self.rows())

    def _keep_damaged(self, path: str, caller: Caller) -> None:
        """Keep a copy of an `active.json` that cannot be understood, before it is replaced."""
        raw = (self._paths.root / path).read_bytes()
        stem = path.removesuffix(".json")
        copy = f"{stem}.damaged-{self._clock():%Y-%m-%dT%H-%M-%S}.json"
        text = raw.decode("utf-8", "replace")
        self._gate.save(copy, lambda file: text, caller, "a damaged file is kept")

    # --- reading -------------------------------------------------------------------------

    def _read(self, stamp: tuple[tuple[str, int, int], ...]) -> _Held:
        active = read_active(self._folder)
        faults = [active.fault] if active.fault else []
        weights: dict[Stuff, Weights] = {}
        for of in STUFFS:
            weights[of], wrong = self._shelf.weights_of(of, active)
            faults += wrong
        return _Held(stamp, active, weights, tuple(faults))

    def _row(self, model_id: str) -> ModelRow:
        found = next((one for one in self.rows() if one.id == model_id), None)
        if found is not None:
            return found
        told = "; ".join(fault for fault in self.faults() if model_id in fault)
        raise NotFound(
            f"There is no model {model_id!r} that can be used{': ' + told if told else '.'}",
            hint="`vaultmind model status` lists those there are.",
        )

    def _in_use(self, kind: ModelKind, of: str) -> str:
        """Return the id, as `active.json` has it, of what ranks now."""
        if kind == "ranker":
            return self.active().ranker.get(of) or self._ranking_now(of)
        return self.active().planner.get(of, SHIPPED_ID)

    def _ranking_now(self, of: str) -> str:
        rankers = self._shelf.rankers()
        chosen = rankers.choose("" if of == WORDS else of)
        return next((stem for stem, one in rankers.named.items() if one is chosen), SHIPPED_ID)

    def _stamp(self) -> tuple[tuple[str, int, int], ...]:
        """Return what tells whether what plans rank with changed."""
        active = self._held.active if self._held is not None else read_active(self._folder)
        paths = [self._folder / ACTIVE]
        paths += [
            self._folder / FOLDERS["planner"] / f"{Path(one).name}.json"
            for one in active.planner.values()
        ]
        found = []
        for path in paths:
            try:
                stat = path.lstat()
            except (OSError, ValueError):
                continue
            found.append((path.name, stat.st_mtime_ns, stat.st_size))
        return tuple(found)

    def _now(self) -> str:
        return self._clock().isoformat(timespec="seconds")


def _kept_id(row: ModelRow) -> str:
    return row.id if row.path else SHIPPED_ID


def _seen(row: ModelRow, now: datetime) -> datetime | None:
    """Return of when the latest lesson was that a model knows.

    A time to come is none, which a wrong clock or a hand wrote: then it is when the model was made.
    """
    times = (time_of(row.seen), time_of(row.created))
    return next((one for one in times if one is not None and one <= now), None)


def _with(
    old: Active, kind: ModelKind, wanted: Mapping[str, str], switch: Switch | None = None
) -> Active:
    """Return what is in use after a change, which can be taken back where it is given."""
    named = {**old.of(kind), **wanted}
    before = old.before if switch is None else (*old.before, switch)
    if kind == "planner":
        return Active(named, old.ranker, before)
    return Active(old.planner, named, before)


def _taken_back(old: Active, kind: ModelKind, here: frozenset[str]) -> Active:
    """Return what is in use without the last change of a kind, or with shipped models."""
    places = [at for at, one in enumerate(old.before) if one.kind == kind]
    if places:
        was = old.before[places[-1]].was
        before = (*old.before[: places[-1]], *old.before[places[-1] + 1 :])
    else:
        was = {of: SHIPPED_ID for of, one in old.of(kind).items() if one != SHIPPED_ID}
        before = old.before
    if not was:
        raise NotFound(
            f"No change of the {kind}'s models is left to be taken back.",
            hint="`vaultmind model status` tells what is in use.",
        )
    wanted = {of: one if one in here else SHIPPED_ID for of, one in was.items()}
    return _with(Active(old.planner, old.ranker, before), kind, wanted)
