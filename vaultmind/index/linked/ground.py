"""A linked folder as the ground of an index: read only, without what git ignores and secrets."""

from __future__ import annotations

import os
from pathlib import Path

from vaultmind.errors import PathRefused, VaultNotFound
from vaultmind.index.chunking.draft import Chunked, Draft
from vaultmind.index.chunking.files import Place, chunk_file, placed
from vaultmind.index.chunking.reading import Part, Read, read_part
from vaultmind.index.ground.ground import check_folder
from vaultmind.index.ground.watcher import Hints, Interest, Watcher
from vaultmind.index.linked import taking
from vaultmind.index.linked.cutting import (
    Cutter,
    cut_code,
    cut_data,
    cut_plainly,
    cut_text,
    named_text,
)
from vaultmind.index.linked.rules import FolderRules, governs
from vaultmind.redact import blank_passages
from vaultmind.vault.exclude import Rules
from vaultmind.vault.files import FileText
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.scan import Scan, scan

WHAT = "linked folder"
MAX_BYTES = 1_000_000
"""Of a file: larger ones are made by tools."""
FOLDER_FORMAT = "2"
"""Raise it when the same bytes of a folder would give other chunks, terms or ties."""


class FolderPaths(VaultPaths):
    """The names of a folder that is no vault: it has no memory folder, and nothing is written."""

    def __init__(self, root: Path) -> None:
        """Take a real path."""
        super().__init__(root, os.devnull)

    def check_root(self) -> None:
        """Raise VaultNotFound unless a directory, and no link to one, stands there."""
        if self.root.is_symlink():
            raise VaultNotFound(f"The {WHAT} {self.root} is a symbolic link now.")
        check_folder(self.root, WHAT)

    def absolute(self, relative: str) -> Path:
        """Return the real path of one in the linked folder; see VaultPaths.

        Every read and stat comes by here: nothing is read through a link in the folder's place.
        """
        self.check_root()
        return super().absolute(relative)

    def writable(self, relative: str) -> Path:
        """Refuse every path."""
        raise PathRefused(relative, "a linked folder is never written")

    def in_memory(self, relative: str) -> bool:
        """Tell that nothing lies in a memory folder."""
        return False

    def agent_names(self) -> tuple[str, ...]:
        """Return no agents."""
        return ()

    def agent_of(self, relative: str) -> str:
        """Return that it is nobody's memory."""
        return ""


class FolderGround:
    """One linked folder. `cutter` says where code is cut, and `format` changes when it does."""

    def __init__(
        self,
        root: Path,
        exclude: tuple[str, ...] = (),
        cutter: Cutter = cut_plainly,
        cutter_format: str = "",
    ) -> None:
        """Take a real path, the globs of what the person never wants indexed, and a cutter."""
        self.paths = FolderPaths(root)
        self._exclude = exclude
        self._cutter = cutter
        self._cutter_format = cutter_format

    @property
    def format(self) -> str:
        """Return the version of how a linked folder is cut into chunks."""
        return f"folder {FOLDER_FORMAT} {self._cutter_format}".rstrip()

    def check(self) -> None:
        """Raise VaultNotFound while the folder is not there, leads elsewhere or is empty.

        An empty one may be where a disk was mounted.
        """
        root = self.paths.root
        self.paths.check_root()
        if root.resolve() != root:
            raise VaultNotFound(f"The {WHAT} {root} leads through a symbolic link now.")
        try:
            with os.scandir(root) as entries:
                is_empty = next(entries, None) is None
        except OSError as error:
            raise VaultNotFound(f"The {WHAT} {root} cannot be listed: {error.strerror}.") from error
        if is_empty:
            raise VaultNotFound(f"The {WHAT} {root} is empty, or its disk is not there.")

    def rules(self) -> Rules:
        """Return what is left out, as `.gitignore` files and settings say now."""
        return FolderRules(self.paths.root, self._exclude)

    def scan(self, rules: Rules, max_bytes: int) -> Scan:
        """Return every file that is taken; raises VaultNotFound."""
        self.check()
        return scan(self.paths, rules, max_bytes, self.takes, WHAT)

    def place_of(self, path: str) -> Place | None:
        """Return what a file is, or None for one that is not taken."""
        return taking.place_of(path)

    def takes(self, path: str) -> bool:
        """Tell whether a path names a kind of file that is taken."""
        return taking.shape_of(path) is not None

    def cut(self, path: str, file: FileText, place: Place) -> Chunked:
        """Return the chunks of a file."""
        if place.form == "note":
            return chunk_file(path, file, place)
        return placed(path, self._draft(path, blank_passages(file.text), place), place)

    def read(self, path: str, part: Part, text: str) -> Read | None:
        """Return a file, a note's section, or the lines of what code defines under a name."""
        text = blank_passages(text)
        if part.form == "note":
            return read_part(part, text)
        if not part.anchor:
            return Read(text, path)
        found = named_text(path, text, part.anchor, self._cutter) if part.form == "code" else None
        return None if found is None else Read(found, path)

    def watcher(self, hints: Hints) -> Watcher:
        """Return what follows the folder."""
        return Watcher(self.paths.root, hints, Interest(self.takes, governs))

    def _draft(self, path: str, text: str, place: Place) -> Draft:
        if place.form == "code":
            return cut_code(path, text, self._cutter)
        return cut_text(path, text) if place.form == "text" else cut_data(path, text)
