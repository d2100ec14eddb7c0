"""What an index stands on: the folder that it is the index of, and what of it is taken and how.

A vault is one ground; a folder that the person linked (`index.linked`) is another. All else, from
the database to the search, is the same for both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from vaultmind.errors import VaultNotFound
from vaultmind.index.ground.watcher import Hints, Watcher
from vaultmind.index.notes import Chunked, Place, chunk_file, place_of
from vaultmind.index.reading import Part, Read, read_part
from vaultmind.redact import blank_passages
from vaultmind.vault.exclude import Rules, rules_for
from vaultmind.vault.files import FileText
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.scan import Scan, is_indexable, scan

VAULT_FORMAT = "6"
"""Raise it when the same bytes of a vault would give other chunks, terms or ties."""


class Ground(Protocol):
    """A folder to be indexed. Paths are relative to it, with `/`."""

    @property
    def paths(self) -> VaultPaths:
        """Return what reads and names its files: it refuses symlinks and whatever leads out."""
        ...

    @property
    def format(self) -> str:
        """Return what changes when the same bytes would give other chunks: all is indexed anew."""
        ...

    def check(self) -> None:
        """Raise VaultNotFound while the folder is not there: nothing may leave the index then."""
        ...

    def rules(self) -> Rules:
        """Return what is left out, as files and settings say now."""
        ...

    def scan(self, rules: Rules, max_bytes: int) -> Scan:
        """Return every file that is taken; raises VaultNotFound."""
        ...

    def place_of(self, path: str) -> Place | None:
        """Return what a file is, or None for what is never indexed."""
        ...

    def takes(self, path: str) -> bool:
        """Tell whether a path names a kind of file that is indexed."""
        ...

    def cut(self, path: str, file: FileText, place: Place) -> Chunked:
        """Return the chunks of a file."""
        ...

    def read(self, path: str, part: Part, text: str) -> Read | None:
        """Return the text of a file's part as it is shown; None where its anchor names nothing."""
        ...

    def watcher(self, hints: Hints) -> Watcher:
        """Return what follows the folder, not yet started."""
        ...


class VaultGround:
    """A vault: its notes, its canvases, and what the agents keep in the memory folder."""

    def __init__(self, paths: VaultPaths, exclude: tuple[str, ...] = ()) -> None:
        """Take as `exclude` the globs of what the person never wants indexed."""
        self.paths = paths
        self._exclude = exclude

    @property
    def format(self) -> str:
        """Return the version of how a vault is cut into chunks."""
        return VAULT_FORMAT

    def check(self) -> None:
        """Raise VaultNotFound while the vault is not there."""
        check_folder(self.paths.root, "vault")

    def rules(self) -> Rules:
        """Return our rules, the configured globs and Obsidian's excluded files."""
        return rules_for(self.paths, self._exclude)

    def scan(self, rules: Rules, max_bytes: int) -> Scan:
        """Return every note and canvas; raises VaultNotFound."""
        return scan(self.paths, rules, max_bytes)

    def place_of(self, path: str) -> Place | None:
        """Return what a vault-relative path is, or None for what is never indexed."""
        return place_of(path, self.paths)

    def takes(self, path: str) -> bool:
        """Tell whether a path names a note or a canvas."""
        return is_indexable(path)

    def cut(self, path: str, file: FileText, place: Place) -> Chunked:
        """Return the chunks of a file."""
        return chunk_file(path, file, place)

    def read(self, path: str, part: Part, text: str) -> Read | None:
        """Return a part as it is shown, without private passages and keys."""
        return read_part(part, text if part.form == "canvas" else blank_passages(text))

    def watcher(self, hints: Hints) -> Watcher:
        """Return what follows the vault."""
        return Watcher(self.paths.root, hints)


def check_folder(root: Path, name: str) -> None:
    """Raise VaultNotFound while a folder is not there, as when its disk is unplugged."""
    if not root.is_dir():
        raise VaultNotFound(f"The {name} {root} is not there.")


def walked(root: Path, folder: str, ground: Ground, rules: Rules) -> Iterator[str]:
    """Yield the files below a folder of a ground that are taken, by what their names say."""
    if rules.excluded(f"{folder}/"):
        return
    for where, folders, names in os.walk(root / folder):
        inside = Path(where).relative_to(root).as_posix()
        folders[:] = [name for name in folders if not rules.excluded(f"{inside}/{name}/")]
        yield from (f"{inside}/{name}" for name in names if ground.takes(name))
