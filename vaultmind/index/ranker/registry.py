"""Which model ranks: a vault's own where it has one that fits, else one that ships.

A vault's own stand in `models/ranker/*.json` of its memory folder. One fits if it was trained with
the embedder that is in use, or without any where there is none; of several the last by name
counts. What is found inside a vault is not trusted: a file is read within limits, and one that
is wrong is left out and told, never a reason for search to fail.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from vaultmind.errors import ConfigError
from vaultmind.index.ranker.model import Model, read_model

SHIPPED = Path(__file__).parent / "weights"
OWN = "models/ranker"
"""Where a vault's own models are, below its memory folder (`VaultMind/`)."""
USUAL = "use"
"""The shipped model of an embedder that nobody trained a model for: closeness comes to it on that
embedder's own scale."""
MOST_OWN = 50


@dataclass(frozen=True, slots=True)
class Registry:
    """The models at hand."""

    own: tuple[Model, ...] = ()
    faults: tuple[str, ...] = ()
    """What is wrong with files of the vault that were left out."""

    def choose(self, embedder: str) -> Model:
        """Return the model for an embedder's id (`use-0.2.1`), or for none (empty)."""
        name = embedder.partition("-")[0]
        fitting = [model for model in self.own if model.embedder == name]
        return fitting[-1] if fitting else shipped(name)


def registry_of(memory_folder: Path) -> Registry:
    """Read a vault's own models from its memory folder (`VaultMind`)."""
    folder = memory_folder / OWN
    models: list[Model] = []
    faults: list[str] = []
    for path in sorted(_files(folder))[:MOST_OWN]:
        try:
            models.append(read_model(path))
        except ConfigError as error:
            faults.append(str(error))
    return Registry(tuple(models), tuple(faults))


@cache
def shipped(embedder: str) -> Model:
    """Return the model that ships for an embedder by name, or without one (empty)."""
    path = SHIPPED / f"{embedder}.json" if embedder.isalnum() else SHIPPED / f"{USUAL}.json"
    if not embedder:
        return read_model(SHIPPED / "words.json")
    return read_model(path if path.is_file() else SHIPPED / f"{USUAL}.json")


def _files(folder: Path) -> Iterable[Path]:
    """Return the JSON files of a folder that are files of their own, not links elsewhere."""
    if not folder.is_dir() or folder.is_symlink():
        return []
    return [path for path in folder.glob("*.json") if path.is_file() and not path.is_symlink()]
