"""The shelf: the models that there are, as files of the memory folder and of the program."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.errors import ConfigError
from vaultmind.index.ranker.active import ACTIVE, SHIPPED_ID, WORDS, Active, ModelKind, read_active
from vaultmind.learn.weights import STUFFS, Learned, read_learned
from vaultmind.planner.ranking.scorer import Stuff, Weights, built_in
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.index.ranker.registry import Registry

FOLDERS: Mapping[ModelKind, str] = {"planner": "models/planner", "ranker": "models/ranker"}
SHIPPED = "shipped-"
"""Before `code`, `notes`, an embedder's name: the id of a model that comes with the program."""
MOST_LISTED, MOST_LOOKED_AT = 50, 5_000
"""Files of each sort."""
MOST_LOSERS = 10
"""Models of each sort that are kept, the newest, beside those that are or were in use."""
TRIAL, PASSED = "trial", "passed"
"""What of a model's scores tells that it was put into use for having been better."""
HEARD_UNTIL = "heard until "
"""Before when the latest search was that a ranker learnt from or was tried on."""
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


class Shelf:
    """Reads models. Any thread."""

    def __init__(self, paths: VaultPaths) -> None:
        self._paths = paths
        self.folder = paths.root / paths.memory_dir

    def path(self, kind: ModelKind, model_id: str) -> str:
        """Return the vault-relative path of a model's file."""
        return f"{self._paths.memory_dir}/{FOLDERS[kind]}/{model_id}.json"

    def weights_of(self, of: Stuff, active: Active) -> tuple[Weights, list[str]]:
        """Return the weights that `active.json` names, or the shipped ones and why."""
        name = active.planner.get(of, SHIPPED_ID)
        if name == SHIPPED_ID:
            return built_in(of), []
        path = next((one for one in self.files("planner") if one.stem == name), None)
        if path is None:
            return built_in(of), [
                f"{ACTIVE} names {name!r}, which is not in {FOLDERS['planner']}/."
            ]
        try:
            learned = read_learned(path)
        except ConfigError as error:
            return built_in(of), [f"{error} The shipped weights rank."]
        if learned.of != of:
            return built_in(of), [f"{ACTIVE} names {name!r} for {of}: it is for {learned.of}."]
        return learned.as_weights(), []

    def planner_rows(self, in_use: Mapping[Stuff, str]) -> Iterator[ModelRow]:
        """Yield the shipped weights and the vault's own that can be read.

        `in_use`: the names of the weights that rank.
        """
        for of in STUFFS:
            shipped = built_in(of)
            is_active = in_use[of] == shipped.name
            yield ModelRow(f"{SHIPPED}{of}", "planner", of, is_active, "", shipped.learnt_on)
        for path in self.files("planner"):
            try:
                learned = read_learned(path)
            except ConfigError:
                continue  # told where it is in use; else it is as if it was not there
            yield self._row_of(learned, active=in_use[learned.of] == learned.id)

    def _row_of(self, learned: Learned, *, active: bool) -> ModelRow:
        return ModelRow(
            learned.id,
            "planner",
            learned.of,
            active,
            learned.created,
            learned.learnt_on,
            {TRIAL: learned.scores} if learned.scores else {},
            self.path("planner", learned.id),
            learned.seen,
        )

    def ranker_rows(self, rankers: Registry) -> Iterator[ModelRow]:
        """Yield the shipped rankers and the vault's own."""
        from vaultmind.index.ranker.registry import SHIPPED as SHIPPED_FOLDER
        from vaultmind.index.ranker.registry import shipped

        for of in sorted(path.stem for path in SHIPPED_FOLDER.glob("*.json")):
            model = shipped("" if of == WORDS else of)
            is_active = rankers.choose(model.embedder) is model
            row = ModelRow(f"{SHIPPED}{of}", "ranker", of, is_active, "", model.trained_on)
            yield replace(row, scores=model.scores)
        for stem, model in sorted(rankers.named.items()):
            yield ModelRow(
                stem,
                "ranker",
                model.embedder or WORDS,
                rankers.choose(model.embedder) is model,
                "",
                model.trained_on,
                model.scores,
                self.path("ranker", stem),
                _heard_until(model.trained_on),
            )

    def rankers(self) -> Registry:
        """Read the rankers of the search."""
        from vaultmind.index.ranker.registry import registry_of

        return registry_of(self.folder)

    def files(self, kind: ModelKind) -> list[Path]:
        """Return the files of a kind of model, by name: the newest of each sort, those in use."""
        found = self._all(kind)
        wanted = set(read_active(self.folder).of(kind).values())
        newest = {one for same in _by_sort(found) for one in same[-MOST_LISTED:]}
        return sorted(one for one in found if one in newest or one.stem in wanted)

    def losers(self, kind: ModelKind) -> list[str]:
        """Return the vault-relative paths of models that are past use, and in nobody's way back.

        They are those that were learnt here and are neither in use nor were before, but for the
        newest of each sort. Nothing where it cannot be told what is in use.
        """
        active = read_active(self.folder)
        if active.fault:
            return []
        was = (
            one for switch in active.before if switch.kind == kind for one in switch.was.values()
        )
        used = {*active.of(kind).values(), *was}
        sorts = _by_sort([one for one in self._all(kind) if one.stem not in used])
        past = (one for same in sorts for one in same[:-MOST_LOSERS])
        return [self.path(kind, one.stem) for one in past if _LEARNT.fullmatch(one.stem)]

    def _all(self, kind: ModelKind) -> list[Path]:
        folder = self.folder / FOLDERS[kind]
        if folder.is_symlink() or folder.parent.is_symlink():
            return []
        try:
            with os.scandir(folder) as entries:
                return [
                    folder / entry.name
                    for entry in islice(entries, MOST_LOOKED_AT)
                    if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)
                ]
        except OSError:
            return []


def _by_sort(files: Iterable[Path]) -> list[list[Path]]:
    """Return files by what they rank, as their names say, each oldest first."""
    sorts: dict[str, list[tuple[str, int, Path]]] = {}
    for path in files:
        learnt = _LEARNT.fullmatch(path.stem)
        sort, day = learnt.groups() if learnt else (path.stem.partition("-")[0], "")
        try:
            changed = path.lstat().st_mtime_ns
        except OSError:
            continue
        sorts.setdefault(sort, []).append((day, changed, path))
    return [[path for *_, path in sorted(each)] for each in sorts.values()]


def _heard_until(trained_on: Iterable[str]) -> str:
    found = (one.removeprefix(HEARD_UNTIL) for one in trained_on if one.startswith(HEARD_UNTIL))
    return next(found, "")
