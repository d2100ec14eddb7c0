"""Which model ranks: a vault's own where it has one that fits, else one that ships.

A vault's own stand in `models/ranker/*.json` of its memory folder. One fits if it was trained with
the embedder that is in use, or without any where there is none; of several the last by name
counts. What is found inside a vault is not trusted: a file is read within limits, and one that
is wrong is left out and told, never a reason for search to fail.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path

from vaultmind.errors import ConfigError
from vaultmind.index.ranker.active import ACTIVE, SHIPPED_ID, WORDS, Active, read_active
from vaultmind.index.ranker.model import Model, read_model

SHIPPED = Path(__file__).parent / "weights"
OWN = "models/ranker"
"""Where a vault's own models are, below its memory folder (`VaultMind/`)."""
USUAL = "use"
"""The shipped model of an embedder that nobody trained a model for: closeness comes to it on that
embedder's own scale."""
MOST_OWN = 50
MOST_LOOKED_AT = 500
"""Entries of that folder that are looked at."""
Stamp = tuple[tuple[str, int, int], ...]
"""Name, time of change and size of each file, by name; `models/active.json` by that name."""


@dataclass(frozen=True, slots=True)
class Registry:
    """The models at hand."""

    own: tuple[Model, ...] = ()
    faults: tuple[str, ...] = ()
    """What is wrong with files of the vault that were left out."""
    named: Mapping[str, Model] = field(default_factory=dict)
    """The vault's own by the stem of their file."""
    active: Active = field(default_factory=Active)

    def choose(self, embedder: str) -> Model:
        """Return the model for an embedder's id (`use-0.2.1`), or for none (empty)."""
        name = embedder.partition("-")[0]
        if self.active.fault:
            return shipped(name)
        wanted = self.active.ranker.get(name or WORDS)
        if wanted is not None:
            model = self.named.get(wanted)
            return model if model is not None and model.embedder == name else shipped(name)
        fitting = [model for model in self.own if model.embedder == name]
        return fitting[-1] if fitting else shipped(name)


def stamp_of(memory_folder: Path) -> Stamp:
    """Return what tells whether a vault's own models changed: their files' names and stamps.

    It is asked at each search, and most vaults have none.
    """
    folder = os.path.join(memory_folder, OWN)  # noqa: PTH118
    models = os.path.dirname(folder)  # noqa: PTH120
    if not os.path.lexists(models) or os.path.islink(models) or os.path.islink(folder):  # noqa: PTH114
        return ()
    try:
        stat = os.lstat(os.path.join(memory_folder, ACTIVE))  # noqa: PTH118
        active: Stamp = ((ACTIVE, stat.st_mtime_ns, stat.st_size),)
    except OSError:
        active = ()
    return (*active, *_stamp_of_models(folder))


def _stamp_of_models(folder: str) -> Stamp:
    try:
        with os.scandir(folder) as entries:
            found = [
                (entry.name, entry.stat(follow_symlinks=False))
                for entry in islice(entries, MOST_LOOKED_AT)
                if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return ()
    return tuple(sorted((name, stat.st_mtime_ns, stat.st_size) for name, stat in found))


def registry_of(memory_folder: Path, stamp: Stamp | None = None) -> Registry:
    """Read a vault's own models from its memory folder (`VaultMind`)."""
    stamp = stamp_of(memory_folder) if stamp is None else stamp
    active = read_active(memory_folder) if any(name == ACTIVE for name, *_ in stamp) else Active()
    names = [name for name, *_ in stamp if name != ACTIVE]
    models: dict[str, Model] = {}
    faults = [active.fault] if active.fault else []
    if len(names) > MOST_OWN:
        faults.append(f"Of {len(names)} rankers in {OWN}/ only the last {MOST_OWN} are read.")
    wanted = {f"{one}.json" for one in active.ranker.values()}
    for name in dict.fromkeys((*(one for one in names if one in wanted), *names[-MOST_OWN:])):
        try:
            models[name.removesuffix(".json")] = read_model(memory_folder / OWN / name)
        except ConfigError as error:
            faults.append(str(error))
    faults += [
        f"{ACTIVE} names the ranker {one!r}, which is not in {OWN}/ or cannot be read: the shipped "
        "one ranks."
        for one in dict.fromkeys(active.ranker.values())
        if one != SHIPPED_ID and one not in models
    ]
    own = tuple(models[name] for name in sorted(models))
    return Registry(own, tuple(faults), models, active)


@cache
def shipped(embedder: str) -> Model:
    """Return the model that ships for an embedder by name, or without one (empty)."""
    path = SHIPPED / f"{embedder}.json" if embedder.isalnum() else SHIPPED / f"{USUAL}.json"
    if not embedder:
        return read_model(SHIPPED / "words.json")
    return read_model(path if path.is_file() else SHIPPED / f"{USUAL}.json")
