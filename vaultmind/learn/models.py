"""The learned models: files of the memory folder, which of them are in use, and the way back.

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
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.episodes.types import time_of
from vaultmind.errors import BadArgument, ConfigError, NotFound
from vaultmind.index.models import (
    ACTIVE,
    MODEL_KINDS,
    SHIPPED_ID,
    WORDS,
    Active,
    ModelKind,
    Switch,
    active_text,
    parsed,
    read_active,
)
from vaultmind.planner.ranking.scorer import Stuff, Weights, built_in
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import FileText
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.index.models import Registry
    from vaultmind.memory.gate import Gate

STUFFS: tuple[Stuff, ...] = ("code", "notes")
FOLDERS: Mapping[ModelKind, str] = {"planner": "models/planner", "ranker": "models/ranker"}
SHIPPED = "shipped-"
"""Before `code`, `notes`, an embedder's name: the id of a model that comes with the program."""
MOST_LOSERS = 10
"""Models of each sort that are kept, the newest, beside those that are or were in use."""
TRIAL, PASSED = "trial", "passed"
"""What of a model's scores tells that it was put into use for having been better."""
HEARD_UNTIL = "heard until "
"""Before when the latest search was that a ranker learnt from or was tried on."""
MOST_FILES = 500
_LEARNT = re.compile(r"(.+)-(\d{4}-\d{2}-\d{2})-[0-9a-f]{6}")


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model that there is."""

    id: str
    kind: ModelKind
    of: str
    """`code`, `notes`; an embedder's name, or `words` without one."""
    active: bool
    created: str = ""
    learnt_on: tuple[str, ...] = ()
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Measures by what was ranked; of the planner `trial`."""
    path: str = ""
    """Vault-relative; empty for one that comes with the program."""
    seen: str = ""
    """Of when the latest lesson was that it learnt from or was tried on."""

    @property
    def sees(self) -> bool:
        """Tell whether what it saw is no trial for another: it is in use, or once was."""
        passed = self.scores.get(TRIAL, {}).get(PASSED, 0.0)
        return bool(self.path and self.seen and (self.active or passed))

    @property
    def named(self) -> str:
        """Return the id by which `active.json` names it."""
        return self.id if self.path else SHIPPED_ID


def id_of(of: str, now: datetime, weights: Mapping[str, float]) -> str:
    """Return a model's id: what it ranks, its day, and a mark of its content."""
    content = json.dumps(dict(weights), sort_keys=True)
    return f"{of}-{now:%Y-%m-%d}-{hashlib.sha256(content.encode()).hexdigest()[:6]}"


def stuff_of(weights: str) -> Stuff | None:
    """Return what weights of some name are for (`code-2026-…`, `notes`); None for no known."""
    return next((one for one in STUFFS if one == weights.partition("-")[0]), None)


class Models:
    """Keeps models, and tells which is in use. Any thread."""

    def __init__(self, gate: Gate, paths: VaultPaths, clock: Clock, home: str = "") -> None:
        """`home`: in whose audit it is told what the person does."""
        self._gate = gate
        self._home = home
        self._paths = paths
        self._folder = paths.root / paths.memory_dir
        self._clock = clock
        self._lock = threading.RLock()

    # --- what is in use ------------------------------------------------------------------

    def weights(self, of: Stuff) -> Weights:
        """Return the planner's weights for a source of code or of notes: cheap, never raises."""
        return self._weights(of)[0]

    def active(self) -> Active:
        """Return what `active.json` says now."""
        return read_active(self._folder)

    def faults(self) -> tuple[str, ...]:
        """Return what is wrong with files that were left out, in words."""
        told = [self.active().fault, *(self._weights(of)[1] for of in STUFFS)]
        return tuple(dict.fromkeys(filter(None, (*told, *self._rankers().faults))))

    def rows(self) -> tuple[ModelRow, ...]:
        """Return the models there are, the shipped ones first."""
        rows = [*self._planner_rows(), *self._ranker_rows()]
        return tuple(sorted(rows, key=lambda one: (bool(one.path), one.kind, one.id)))

    def in_use(self, kind: ModelKind) -> dict[str, str]:
        """Return the ids in use, as `active.json` has them, by what each ranks."""
        return {one.of: one.named for one in self.rows() if one.kind == kind and one.active}

    def seen(self, kind: ModelKind, of: str) -> datetime | None:
        """Return of when the latest lesson was that a model in use learnt from or was tried on.

        Also of one that was put into use for having been better, and taken back since. A time to
        come is none, which a wrong clock or a hand wrote: then it is when the model was made.
        """
        now, found = self._clock(), list[datetime]()
        for row in self.rows():
            if (row.kind, row.of) == (kind, of) and row.sees:
                times = (time_of(row.seen), time_of(row.created))
                found += [one for one in times if one is not None and one <= now][:1]
        return max(found, default=None)

    # --- changes -------------------------------------------------------------------------

    def keep(self, kind: ModelKind, of: str, model_id: str, text: str) -> None:
        """Store a model that is not in use (yet).

        Where no ranker is named for an embedder the last by name would rank: the one that does now
        is named first. Of models that never were in use the newest few stay.
        """
        if kind == "ranker" and of not in self.active().ranker:
            now = self.in_use("ranker").get(of, SHIPPED_ID)
            self._switch(lambda old: _with(old, "ranker", {of: now}), PERSON, "a model is named")
        self._gate.save(self._path(kind, model_id), lambda file: text, PERSON, "a model is kept")
        active = self.active()
        if active.fault:
            return
        was = (it for one in active.before if one.kind == kind for it in one.was.values())
        rows = (one.id for one in self.rows() if one.sees or one.active)
        spared = {model_id, *active.of(kind).values(), *was, *rows}
        losers = []
        for path in self._files(kind):
            learnt = _LEARNT.fullmatch(path.stem)
            if learnt and learnt[1] == of and path.stem not in spared:
                losers.append((learnt[2], path.stat().st_mtime_ns, path.stem))
        for *_, old in sorted(losers)[: -(MOST_LOSERS - 1)]:
            self._gate.remove(self._path(kind, old), PERSON, "a model gives way")

    def activate(
        self, model_id: str, caller: Caller = PERSON, *, why: str = "in use",
        asked: Caller | None = None, instead_of: str = "",
    ) -> ModelRow | None:  # fmt: skip
        """Put a model into use; return it. The audit is told `why`, and who `asked`.

        With `instead_of` only where that is in use still, as `in_use` had it: else None. Raises
        NotFound for an id there is not, or whose file cannot be understood; PathRefused for an
        agent.
        """
        with self._lock:
            row = self._row(model_id)
            now = self.in_use(row.kind).get(row.of, SHIPPED_ID)
            if instead_of and now not in (instead_of, row.named):
                return None
            if now != row.named:
                time = self._clock().isoformat(timespec="seconds")
                switch = Switch(row.kind, {row.of: now}, time)
                self._switch(
                    lambda old: _with(old, row.kind, {row.of: row.named}, (*old.before, switch)),
                    caller, why,
                )  # fmt: skip
                self._tell_audit(asked or caller, f"{why}: {row.id}")
            return self._row(model_id)

    def rollback(
        self, kind: str, caller: Caller = PERSON, asked: Caller | None = None
    ) -> tuple[ModelRow, ...]:
        """Take back the last change of a kind; return what is in use of it now.

        What was before and is there no longer gives way to the shipped one. Raises NotFound where
        shipped models are in use already; BadArgument; PathRefused for an agent.
        """
        known = next((one for one in MODEL_KINDS if one == kind), None)
        if known is None:
            raise BadArgument("kind", kind, ", ".join(MODEL_KINDS))
        with self._lock:
            here = frozenset(one.id for one in self.rows() if one.kind == known)
            why = f"the {kind}'s models are as before"
            self._switch(lambda old: _taken_back(old, known, here), caller, why)
            now = tuple(one for one in self.rows() if one.kind == known and one.active)
            self._tell_audit(asked or caller, f"taken back: {', '.join(one.id for one in now)}")
            return now

    def _tell_audit(self, asked: Caller, said: str) -> None:
        """Tell the audit of who asked, or the person's: models are nobody's alone."""
        agents = self._paths.agent_names()
        if home := next((it for it in (asked.agent, self._home, *agents) if it in agents), None):
            self._gate.told(asked, home, "model", f"{self._paths.memory_dir}/{ACTIVE}", said)

    def _switch(self, change: Callable[[Active], Active], caller: Caller, reason: str) -> None:
        """Replace `active.json` as a whole; one that cannot be understood is kept beside it."""
        path = f"{self._paths.memory_dir}/{ACTIVE}"
        if self.active().fault:
            copy = path.removesuffix(".json") + f".damaged-{self._clock():%Y-%m-%dT%H-%M-%S}.json"
            text = (self._paths.root / path).read_bytes().decode("utf-8", "replace")
            self._gate.save(copy, lambda file: text, caller, "a damaged file is kept")

        def edit(file: FileText | None) -> str:
            old = parsed(file.text) if file is not None else Active()
            return active_text(change(Active() if old.fault else old))

        self._gate.save(path, edit, caller, reason)

    # --- reading -------------------------------------------------------------------------

    def _weights(self, of: Stuff) -> tuple[Weights, str]:
        """Return the weights that `active.json` names, or the shipped ones and why."""
        name, shipped = self.active().planner.get(of, SHIPPED_ID), built_in(of)
        if name == SHIPPED_ID:
            return shipped, ""
        from vaultmind.learn.learned import read_learned  # seldom needed: pydantic takes its time

        try:
            learned = read_learned(self._folder / FOLDERS["planner"] / f"{Path(name).name}.json")
        except ConfigError as error:
            return shipped, f"{ACTIVE} names {name!r}. {error} The shipped weights rank."
        if learned.of != of:
            return shipped, f"{ACTIVE} names {name!r} for {of}: it is for {learned.of}."
        merged = {**shipped.weights, **learned.weights}
        return Weights(learned.name, merged, shipped.words, learned.learnt_on), ""

    def _planner_rows(self) -> Iterator[ModelRow]:
        in_use = {of: self.weights(of).name for of in STUFFS}
        for of in STUFFS:
            shipped = built_in(of)
            active = in_use[of] == shipped.name
            yield ModelRow(f"{SHIPPED}{of}", "planner", of, active, "", shipped.learnt_on)
        for path in self._files("planner"):
            from vaultmind.learn.learned import read_learned

            try:
                one = read_learned(path)
            except ConfigError:
                continue  # told where it is in use; else it is as if it was not there
            yield ModelRow(
                one.name, "planner", one.of, in_use[one.of] == one.name, one.created,
                one.learnt_on, {TRIAL: one.scores} if one.scores else {},
                self._path("planner", one.name), one.seen,
            )  # fmt: skip

    def _ranker_rows(self) -> Iterator[ModelRow]:
        from vaultmind.index.models import SHIPPED as FOLDER
        from vaultmind.index.models import shipped

        rankers = self._rankers()
        for stem in sorted(one.stem for one in FOLDER.glob("*.json")):
            model = shipped("" if stem == WORDS else stem)
            active = rankers.choose(model.embedder) is model
            about = ("", model.trained_on, model.scores)
            yield ModelRow(f"{SHIPPED}{stem}", "ranker", stem, active, *about)
        for stem, model in sorted(rankers.named.items()):
            active = rankers.choose(model.embedder) is model
            heard = (one for one in model.trained_on if one.startswith(HEARD_UNTIL))
            yield ModelRow(
                stem, "ranker", model.embedder or WORDS, active, "", model.trained_on,
                model.scores, self._path("ranker", stem),
                next(heard, "").removeprefix(HEARD_UNTIL),
            )  # fmt: skip

    def _rankers(self) -> Registry:
        from vaultmind.index.models import registry_of

        return registry_of(self._folder)

    def _row(self, model_id: str) -> ModelRow:
        found = next((one for one in self.rows() if one.id == model_id), None)
        if found is not None:
            return found
        told = "; ".join(fault for fault in self.faults() if model_id in fault)
        raise NotFound(
            f"There is no model {model_id!r} that can be used{': ' + told if told else '.'}",
            hint="`vaultmind model status` lists those there are.",
        )

    def _files(self, kind: ModelKind) -> list[Path]:
        folder = self._folder / FOLDERS[kind]
        if folder.is_symlink() or folder.parent.is_symlink() or not folder.is_dir():
            return []
        found = islice(folder.glob("*.json"), MOST_FILES)
        return sorted(one for one in found if not one.is_symlink())

    def _path(self, kind: ModelKind, model_id: str) -> str:
        return f"{self._paths.memory_dir}/{FOLDERS[kind]}/{model_id}.json"


def _with(
    old: Active, kind: ModelKind, wanted: Mapping[str, str],
    before: tuple[Switch, ...] | None = None,
) -> Active:  # fmt: skip
    """Return what is in use after a change, with what can be taken back then."""
    named, before = {**old.of(kind), **wanted}, old.before if before is None else before
    if kind == "planner":
        return replace(old, planner=named, before=before)
    return replace(old, ranker=named, before=before)


def _taken_back(old: Active, kind: ModelKind, here: frozenset[str]) -> Active:
    """Return what is in use without the last change of a kind, or with shipped models."""
    last = max((at for at, one in enumerate(old.before) if one.kind == kind), default=None)
    if last is not None:
        was: Mapping[str, str] = old.before[last].was
        before = (*old.before[:last], *old.before[last + 1 :])
    else:
        was = {of: SHIPPED_ID for of, one in old.of(kind).items() if one != SHIPPED_ID}
        before = old.before
    if not was:
        raise NotFound(
            f"No change of the {kind}'s models is left to be taken back.",
            hint="`vaultmind model status` tells what is in use.",
        )
    now = {of: one if one in here else SHIPPED_ID for of, one in was.items()}
    return _with(old, kind, now, before)
