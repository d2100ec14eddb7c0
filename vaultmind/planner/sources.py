"""The sources that can be planned over: the vault, and the folders that the person linked to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from vaultmind.index.index import Index
from vaultmind.vault.files import VaultReader

if TYPE_CHECKING:
    from vaultmind.planner.structure.structure import Structure

SourceKind = Literal["vault", "linked"]


@dataclass(frozen=True, slots=True)
class Source:
    """A folder with its index and its structure. Paths in it are relative, with `/`."""

    name: str
    root: Path
    kind: SourceKind
    index: Index
    reader: VaultReader
    """Reads its files, and refuses symlinks and what leads out; `index.outlet` says what of them
    may be shown."""
    structure: Structure | None = None
    """None where it cannot be had."""


OpenStructure = Callable[[str, Path, Index, VaultReader], "Structure | None"]
"""Opens the structure of a source: by name, the file of its database, its index, its reader."""
OpenIndex = Callable[[str, Path, Path], tuple[Index, VaultReader]]
"""Opens the index of a linked folder, not yet started: by name, root, and its state folder."""


class Sources:
    """Finds the sources by name or root; links and unlinks folders. Any thread."""

    def find(self, name_or_root: str) -> Source:
        """Return a source. Raises NotFound naming those there are; never links by itself."""
        raise NotImplementedError

    def all(self) -> tuple[Source, ...]:
        """Return every source that can be opened, the vault first."""
        raise NotImplementedError

    def start(self) -> None:
        """Begin to follow the linked folders, once the vault's index is ready; returns at once."""

    def close(self) -> None:
        """Let go of every source but the vault, which is the app's."""
