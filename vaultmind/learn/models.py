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
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
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
from vaultmind.planner.scorer import Stuff, Weights, built_in
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
TRIAL, PASSED = "trial", "passed"
"""What of a model's scores tells that it was put into use for having been better."""
HEARD_UNTIL = "heard until "
"""Before when the latest search was that a ranker learnt from or was tried on."""
MOST_FILES = 500


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

    def in_use(self, kind: ModelKind, of: str) -> str:
        """Return the id in use for what is ranked, as `active.json` has it."""
        rows = (one for one in self.rows() if one.active and (one.kind, one.of) == (kind, of))
        return next((one.named for one in rows), SHIPPED_ID)

    def seen(self, kind: ModelKind, of: str) -> datetime | None:
        """Return of when the latest lesson was that a model in use learnt from or was tried on.

        Also of one that was put into use for having been better, and taken back since. A time to
        come is none, which a wrong clock or a hand wrote: then it is when the model was made.
        """
        now, found = self._clock(), list[datetime]()
        for row in self.rows():
            used = row.active or row.scores.get(TRIAL, {}).get(PASSED)
            if (row.kind, row.of) == (kind, of) and row.seen and used:
                times = (time_of(row.seen), time_of(row.created))
                found += [one for one in times if one is not None and one <= now][:1]
        return max(found, default=None)

    # --- changes -------------------------------------------------------------------------

    def keep(self, kind: ModelKind, of: str, model_id: str, text: str) -> None:
        """Store a model that is not in use (yet).

        Where no ranker is named for an embedder the last by name would rank: the one that does now
        is named first.
        """
        if kind == "ranker" and of not in self.active().ranker:
            now = self.in_use(kind, of)
            self._switch(lambda old: _with(old, kind, {of: now}), PERSON, "a model is named")
        path = f"{self._paths.memory_dir}/{FOLDERS[kind]}/{model_id}.json"
        self._gate.save(path, lambda file: text, PERSON, "a model is kept")

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
            row = next((one for one in self.rows() if one.id == model_id), None)
            if row is None:
                told = "; ".join(fault for fault in self.faults() if model_id in fault)
                raise NotFound(
                    f"There is no model {model_id!r} that can be used. {told}".strip(),
                    hint="`vaultmind model status` lists those there are.",
                )
            kind, of, new = row.kind, row.of, row.named
            now = self.in_use(kind, of)
            if instead_of and now not in (instead_of, new):
                return None
            if now != new:
                switch = Switch(kind, {of: now}, self._clock().isoformat(timespec="seconds"))
                self._switch(
                    lambda old: replace(_with(old, kind, {of: new}), before=(*old.before, switch)),
                    caller,
                    why,
                )
                self._tell_audit(asked or caller, f"{why}: {model_id}")
            return replace(row, active=True)

    def rollback(
        self, kind: str, caller: Caller = PERSON, asked: Caller | None = None
    ) -> tuple[ModelRow, ...]:
        """Take back the last change of a kind; return what is in use of it now.

        What was before and is there no longer gives way to the shipped one. Raises NotFound where
        no change is left to be taken back; BadArgument; PathRefused for an agent.
        """
        known = next((one for one in MODEL_KINDS if one == kind), None)
        if known is None:
            raise BadArgument("kind", kind, ", ".join(MODEL_KINDS))
        with self._lock:
            here = {one.id for one in self.rows() if one.kind == known}

            def change(old: Active) -> Active:
                last = next((one for one in reversed(old.before) if one.kind == known), None)
                if last is None:
                    raise NotFound(
                        f"No change of the {kind}'s models is left to be taken back.",
                        hint="`vaultmind model status` tells what is in use.",
                    )
                now = {of: one if one in here else SHIPPED_ID for of, one in last.was.items()}
                before = tuple(one for one in old.before if one is not last)
                return replace(_with(old, known, now), before=before)

            self._switch(change, caller, f"the {kind}'s models are as before")
            rows = tuple(one for one in self.rows() if one.kind == known and one.active)
            names = ", ".join(one.id for one in rows)
            self._tell_audit(asked or caller, f"taken back: {names}")
            return rows

    def _tell_audit(self, asked: Caller, said: str) -> None:
        """Tell the audit of who asked, or the person's: models are nobody's alone."""
        agents = self._paths.agent_names()
        if home := next((it for it in (asked.agent, self._home, *agents) if it in agents), None):
            self._gate.told(asked, home, "model", f"{self._paths.memory_dir}/{ACTIVE}", said)

    def _switch(self, change: Callable[[Active], Active], caller: Caller, reason: str) -> None:
        """Replace `active.json` as a whole; one that cannot be understood names nothing."""

        def edit(file: FileText | None) -> str:
            old = parsed(file.text) if file is not None else Active()
            return active_text(change(Active() if old.fault else old))

        self._gate.save(f"{self._paths.memory_dir}/{ACTIVE}", edit, caller, reason)

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
        folder = self._folder / FOLDERS["planner"]
        inside = not (folder.is_symlink() or folder.parent.is_symlink())
        for path in sorted(folder.glob("*.json"))[:MOST_FILES] if inside else ():
            from vaultmind.learn.learned import read_learned

            try:
                one = read_learned(path)
            except ConfigError:
                continue  # told where it is in use; else it is as if it was not there
            yield ModelRow(
                one.name, "planner", one.of, in_use[one.of] == one.name, one.created,
                one.learnt_on, {TRIAL: one.scores} if one.scores else {},
                f"{self._paths.memory_dir}/{FOLDERS['planner']}/{one.name}.json", one.seen,
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
            heard = (one for one in model.trained_on if one.startswith(HEARD_UNTIL))
            yield ModelRow(
                stem, "ranker", model.embedder or WORDS, rankers.choose(model.embedder) is model,
                "", model.trained_on, model.scores,
                f"{self._paths.memory_dir}/{FOLDERS['ranker']}/{stem}.json",
                next(heard, "").removeprefix(HEARD_UNTIL),
            )  # fmt: skip

    def _rankers(self) -> Registry:
        from vaultmind.index.models import registry_of

        return registry_of(self._folder)


def _with(old: Active, kind: ModelKind, now: Mapping[str, str]) -> Active:
    """Return what is in use after a change."""
    if kind == "planner":
        return replace(old, planner={**old.planner, **now})
    return replace(old, ranker={**old.ranker, **now})
