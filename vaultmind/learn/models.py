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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultmind.episodes.types import time_of
from vaultmind.errors import ConfigError, NotFound
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
    written,
)
from vaultmind.planner.ranking.scorer import MAX_WEIGHT, VERSION, Stuff, Weights, built_in
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import FileText
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.index.ranker.registry import Registry
    from vaultmind.memory.gate.gate import Gate

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
MAX_BYTES, MAX_TEXT, MAX_TEXTS, MOST_FILES = 100_000, 200, 20, 500
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


@dataclass(frozen=True, slots=True)
class Learned:
    """Weights that were learnt, and where they come from. Nothing of what was learnt from."""

    id: str
    of: Stuff
    weights: Mapping[str, float]
    created: str = ""
    prior: str = ""
    """Id of the model that it started from."""
    learnt_on: tuple[str, ...] = ()
    """In words, as counts and days: no task, no path."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Of the trial."""
    seen: str = ""
    """Of when the latest lesson was that it learnt from or was tried on."""


def id_of(of: str, now: datetime, weights: Mapping[str, float]) -> str:
    """Return a model's id: what it ranks, its day, and a mark of its content."""
    content = json.dumps(dict(weights), sort_keys=True)
    return f"{of}-{now:%Y-%m-%d}-{hashlib.sha256(content.encode()).hexdigest()[:6]}"


def stuff_of(weights: str) -> Stuff | None:
    """Return what weights of some name are for (`code-2026-…`, `notes`); None for no known."""
    return next((one for one in STUFFS if one == weights.partition("-")[0]), None)


def text_of(learned: Learned) -> str:
    """Return a model as the text of its file: the same model, the same bytes."""
    told = {
        "version": VERSION,
        "name": learned.id,
        "of": learned.of,
        "created": learned.created,
        "prior": learned.prior,
        "learnt_on": list(learned.learnt_on),
        "seen": learned.seen,
        "scores": {name: round(value, 4) for name, value in learned.scores.items()},
        "weights": {name: round(value, 4) for name, value in learned.weights.items()},
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def read_learned(path: Path) -> Learned:
    """Read a model; its id is the file's stem.

    Raises ConfigError, which names the file, the field and what is allowed.
    """
    name = f"The planner's model {path}"
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{name} is no file of at most {MAX_BYTES:,} bytes.")
        told = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{name} cannot be read: {_short(str(error))}.") from error
    if not isinstance(told, dict) or told.get("version") != VERSION:
        raise ConfigError(f"{name} needs 'version': {VERSION}.")
    of = next((one for one in STUFFS if one == told.get("of")), None)
    if of is None or stuff_of(path.stem) != of:
        allowed = f"{', '.join(STUFFS)}, as its file's name begins"
        raise ConfigError(f"{name} is of {_short(told.get('of'))}. Allowed: {allowed}.")
    weights, known = told.get("weights"), built_in(of).weights
    if not isinstance(weights, dict) or not weights:
        raise ConfigError(f"{name} needs weights that name features.")
    for feature, value in weights.items():
        if feature not in known or not _is_number(value):
            raise ConfigError(
                f"{name} has weights.{_short(feature)}: {_short(value)}. Allowed: a feature, from "
                f"-{MAX_WEIGHT:g} to {MAX_WEIGHT:g}.",
                hint=f"There are: {', '.join(sorted(known))}.",
            )
    scores, learnt_on = told.get("scores"), told.get("learnt_on")
    named = [*scores.items()][:MAX_TEXTS] if isinstance(scores, dict) else []
    return Learned(
        path.stem,
        of,
        {str(feature): float(value) for feature, value in weights.items()},
        _text(told.get("created")),
        _text(told.get("prior")),
        tuple(map(_text, learnt_on[:MAX_TEXTS])) if isinstance(learnt_on, list) else (),
        {_text(score): float(value) for score, value in named if _is_number(value)},
        _text(told.get("seen")) or _text(told.get("created")),
    )


class Models:
    """Keeps models, and tells which is in use. Any thread."""

    def __init__(self, gate: Gate, paths: VaultPaths, clock: Clock, home: str = "") -> None:
        """`home`: in whose audit it is told what the person does."""
        self._gate = gate
        self._home = home
        self._paths = paths
        self._folder = paths.root / paths.memory_dir
        self._clock = clock
        self.tell: Callable[[Sequence[ModelRow]], None] = lambda rows: None
        """Hears of all models whenever what is in use changes."""
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
        fault, rankers = self.active().fault, self._rankers().faults
        wrong = filter(None, (self._weights(of)[1] for of in STUFFS))
        return tuple(dict.fromkeys([*([fault] if fault else []), *wrong, *rankers]))

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
        now, found = self._clock(), []
        for row in self.rows():
            if (row.kind, row.of) == (kind, of) and row.sees:
                times = (time_of(row.seen), time_of(row.created))
                found += [one for one in times if one is not None and one <= now][:1]
        return max(found, default=None)

    # --- changes -------------------------------------------------------------------------

    def keep(self, kind: ModelKind, of: str, model_id: str, text: str) -> str:
        """Store a model that is not in use (yet); return its vault-relative path.

        Where no ranker is named for an embedder the last by name would rank: the one that does now
        is named first. Of models that never were in use the newest few stay.
        """
        if kind == "ranker" and of not in self.active().ranker:
            now = self.in_use("ranker").get(of, SHIPPED_ID)
            self._switch(lambda old: _with(old, "ranker", {of: now}), PERSON, "a model is named")
        path = self._path(kind, model_id)
        self._gate.save(path, lambda file: text, PERSON, "a model is kept")
        active = self.active()
        if not active.fault:
            was = (it for one in active.before if one.kind == kind for it in one.was.values())
            rows = [one for one in self.rows() if one.sees or one.active]
            spared = {model_id, *active.of(kind).values(), *was, *(one.id for one in rows)}
            same = [one for one in self._files(kind) if one.stem not in spared and _sort(one) == of]
            same.sort(key=lambda one: (one.stem[-17:-7], one.stat().st_mtime_ns))
            for old in same[: -(MOST_LOSERS - 1)]:
                self._gate.remove(self._path(kind, old.stem), PERSON, "a model gives way")
        return path

    def activate(
        self, ids: Iterable[str], caller: Caller = PERSON, why: str = "in use",
        asked: Caller | None = None,
    ) -> tuple[ModelRow, ...]:  # fmt: skip
        """Put models into use, all at once; return them. The audit is told `why`, and who `asked`.

        Raises NotFound for an id there is not, or whose file cannot be understood; PathRefused for
        an agent.
        """
        with self._lock:
            rows = [self._row(one) for one in ids]
            for kind in MODEL_KINDS:
                wanted = {one.of: one.named for one in rows if one.kind == kind}
                now = self.in_use(kind)
                if any(now.get(of) != one for of, one in wanted.items()):
                    was = {of: now.get(of, SHIPPED_ID) for of in wanted}
                    switch = Switch(kind, was, self._clock().isoformat(timespec="seconds"))
                    self._switch(partial(_switched, wanted, switch), caller, why)
                    named = ", ".join(one.id for one in rows if one.kind == kind)
                    self._tell_audit(asked or caller, f"{why}: {named}")
            return tuple(self._row(one.id) for one in rows)

    def activate_in_place_of(
        self, was: str, kind: ModelKind, model_id: str, asked: Caller = PERSON
    ) -> bool:
        """Put a model into use where still the same is in use as before; tell whether it was.

        `was`: as `in_use` had it. Raises NotFound.
        """
        with self._lock:
            of = self._row(model_id).of
            if self.in_use(kind).get(of, SHIPPED_ID) not in (was, model_id):
                return False
            self.activate([model_id], PERSON, "in use after a training", asked)
            return True

    def rollback(
        self, kind: ModelKind, caller: Caller = PERSON, asked: Caller | None = None
    ) -> tuple[ModelRow, ...]:
        """Take back the last change of a kind; return what is in use of it now.

        What was before and is there no longer gives way to the shipped one. Raises NotFound where
        shipped models are in use already; PathRefused for an agent.
        """
        with self._lock:
            here = frozenset(one.id for one in self.rows() if one.kind == kind)
            why = f"the {kind}'s models are as before"
            self._switch(lambda old: _taken_back(old, kind, here), caller, why)
            now = tuple(one for one in self.rows() if one.kind == kind and one.active)
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
            return written(change(Active() if old.fault else old))

        self._gate.save(path, edit, caller, reason)
        self.tell(self.rows())

    # --- reading -------------------------------------------------------------------------

    def _weights(self, of: Stuff) -> tuple[Weights, str]:
        """Return the weights that `active.json` names, or the shipped ones and why."""
        name, shipped = self.active().planner.get(of, SHIPPED_ID), built_in(of)
        if name == SHIPPED_ID:
            return shipped, ""
        try:
            learned = read_learned(self._folder / FOLDERS["planner"] / f"{Path(name).name}.json")
        except ConfigError as error:
            return shipped, f"{ACTIVE} names {name!r}. {error} The shipped weights rank."
        if learned.of != of:
            return shipped, f"{ACTIVE} names {name!r} for {of}: it is for {learned.of}."
        merged = {**shipped.weights, **learned.weights}
        return Weights(learned.id, merged, shipped.words, learned.learnt_on), ""

    def _planner_rows(self) -> Iterator[ModelRow]:
        in_use = {of: self.weights(of) for of in STUFFS}
        for of, ranks in in_use.items():
            shipped = built_in(of)
            active = ranks.name == shipped.name
            yield ModelRow(f"{SHIPPED}{of}", "planner", of, active, "", shipped.learnt_on)
        for path in self._files("planner"):
            try:
                one = read_learned(path)
            except ConfigError:
                continue  # told where it is in use; else it is as if it was not there
            yield ModelRow(
                one.id, "planner", one.of, in_use[one.of].name == one.id, one.created,
                one.learnt_on, {TRIAL: one.scores} if one.scores else {},
                self._path("planner", one.id), one.seen,
            )  # fmt: skip

    def _ranker_rows(self) -> Iterator[ModelRow]:
        from vaultmind.index.ranker.registry import SHIPPED as FOLDER
        from vaultmind.index.ranker.registry import shipped

        rankers = self._rankers()
        came = [(one.stem, shipped("" if one.stem == WORDS else one.stem), "")
                for one in sorted(FOLDER.glob("*.json"))]  # fmt: skip
        own = [(stem, it, self._path("ranker", stem)) for stem, it in sorted(rankers.named.items())]
        for stem, model, path in (*came, *own):
            heard = (it for it in model.trained_on if path and it.startswith(HEARD_UNTIL))
            yield ModelRow(
                stem if path else f"{SHIPPED}{stem}", "ranker",
                (model.embedder or WORDS) if path else stem,
                rankers.choose(model.embedder) is model, "", model.trained_on, model.scores, path,
                next(heard, "").removeprefix(HEARD_UNTIL),
            )  # fmt: skip

    def _rankers(self) -> Registry:
        from vaultmind.index.ranker.registry import registry_of

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


def _sort(path: Path) -> str:
    """Return what a model ranks that was learnt here; empty for any other file."""
    learnt = _LEARNT.fullmatch(path.stem)
    return learnt[1] if learnt else ""


def _with(
    old: Active, kind: ModelKind, wanted: Mapping[str, str], switch: Switch | None = None
) -> Active:
    """Return what is in use after a change, which can be taken back where it is given."""
    named = {**old.of(kind), **wanted}
    before = old.before if switch is None else (*old.before, switch)
    if kind == "planner":
        return replace(old, planner=named, before=before)
    return replace(old, ranker=named, before=before)


def _switched(wanted: Mapping[str, str], switch: Switch, old: Active) -> Active:
    """Return what is in use after a switch, which can be taken back."""
    was = {of: old.of(switch.kind).get(of, one) for of, one in switch.was.items()}
    return _with(old, switch.kind, wanted, replace(switch, was=was))


def _taken_back(old: Active, kind: ModelKind, here: frozenset[str]) -> Active:
    """Return what is in use without the last change of a kind, or with shipped models."""
    last = next((one for one in reversed(old.before) if one.kind == kind), None)
    if last is not None:
        was, before = last.was, [*old.before]
        before.reverse()
        before.remove(last)
        old = replace(old, before=tuple(reversed(before)))
    else:
        was = {of: SHIPPED_ID for of, one in old.of(kind).items() if one != SHIPPED_ID}
    if not was:
        raise NotFound(
            f"No change of the {kind}'s models is left to be taken back.",
            hint="`vaultmind model status` tells what is in use.",
        )
    return _with(old, kind, {of: one if one in here else SHIPPED_ID for of, one in was.items()})


def _is_number(value: object) -> bool:
    fine = isinstance(value, int | float) and not isinstance(value, bool)
    return fine and -MAX_WEIGHT <= value <= MAX_WEIGHT  # type: ignore[operator]  # NaN is in none


def _text(value: Any) -> str:  # noqa: ANN401
    """Return a short text on one line; empty for anything else."""
    text = value[:MAX_TEXT] if isinstance(value, str) else ""
    return "".join(one for one in text if one.isprintable())


def _short(value: object) -> str:
    return f"{value!r:.60}" if not isinstance(value, int) else "a number"
