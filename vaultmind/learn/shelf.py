"""The shelf: the models that there are, as files of the memory folder and of the program."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.errors import ConfigError
from vaultmind.index.ranker.active import ACTIVE, SHIPPED_ID, WORDS, Active, ModelKind, read_active
from vaultmind.learn.weights import STUFFS, Learned, read_learned
from vaultmind.planner.scorer import Stuff, Weights, built_in
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.index.ranker.registry import Registry

FOLDERS: Mapping[ModelKind, str] = {"planner": "models/planner", "ranker": "models/ranker"}
SHIPPED = "shipped-"
"""Before `code`, `notes`, an embedder's name: the id of a model that comes with the program."""
MOST_LISTED, MOST_LOOKED_AT = 50, 500


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
            {"trial": learned.scores} if learned.scores else {},
            self.path("planner", learned.id),
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
            )

    def rankers(self) -> Registry:
        """Read the rankers of the search."""
        from vaultmind.index.ranker.registry import registry_of

        return registry_of(self.folder)

    def files(self, kind: ModelKind) -> list[Path]:
        """Return the files of a kind of model, by name: the last ones, and those in use."""
        folder = self.folder / FOLDERS[kind]
        if folder.is_symlink() or folder.parent.is_symlink():
            return []
        try:
            with os.scandir(folder) as entries:
                names = sorted(
                    entry.name
                    for entry in islice(entries, MOST_LOOKED_AT)
                    if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)
                )
        except OSError:
            return []
        wanted = {f"{one}.json" for one in read_active(self.folder).of(kind).values()}
        return [folder / name for name in names if name in wanted or name in names[-MOST_LISTED:]]
