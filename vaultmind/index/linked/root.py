"""The directory that was linked, known again: another that takes its place is not read."""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from vaultmind.errors import VaultNotFound
from vaultmind.index.ground.ground import check_folder

WHAT = "linked folder"

Identity = tuple[int, int]
"""Device and inode of a directory."""


class Root:
    """One directory by its device and inode, as it was when it was linked or compared last."""

    def __init__(self, path: Path) -> None:
        """Take a real path; a folder that is not there is known once it was compared."""
        self._path = path
        self._name = os.fspath(path)
        self._known: Identity | None = None
        self._told: Identity | None = None
        self.replaced: Callable[[], None] = lambda: None
        """Called once for another directory that took its place: it is to be compared."""
        with suppress(VaultNotFound):
            self.take()

    def check(self) -> None:
        """Raise VaultNotFound unless that very directory stands there. One lstat."""
        found = self._found()
        if found != self._known:
            if found != self._told:
                self._told = found
                self.replaced()
            raise VaultNotFound(
                f"The {WHAT} {self._path} is another folder now: it is compared first."
            )

    def take(self) -> None:
        """Know what stands there now; raise VaultNotFound as `look` does."""
        self._known, self._told = self.look(), None

    def look(self) -> Identity:
        """Return what stands there.

        Raises VaultNotFound while nothing does, while it leads elsewhere, and while it is empty:
        a disk may have been mounted there.
        """
        root = self._path
        check_folder(root, WHAT)
        if root.resolve() != root:
            raise self._link()
        try:
            with os.scandir(root) as entries:
                is_empty = next(entries, None) is None
        except OSError as error:
            raise VaultNotFound(f"The {WHAT} {root} cannot be listed: {error.strerror}.") from error
        if is_empty:
            raise VaultNotFound(f"The {WHAT} {root} is empty, or its disk is not there.")
        return self._found()

    def _found(self) -> Identity:
        try:
            found = os.lstat(self._name)
        except OSError as error:
            raise VaultNotFound(f"The {WHAT} {self._path} is not there.") from error
        if modes.S_ISLNK(found.st_mode):
            raise self._link()
        return found.st_dev, found.st_ino

    def _link(self) -> VaultNotFound:
        return VaultNotFound(f"The {WHAT} {self._path} is a symbolic link now.")
