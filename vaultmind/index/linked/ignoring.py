"""What git ignores of a folder: `.gitignore` files at every depth, and `.git/info/exclude`.

Read without git, which may be missing. Of a repository that the folder lies in, its `.gitignore`
files above the folder are read too: what they name may be secret. What git tracks although a
pattern names it counts as ignored, and the user's own global list is not read.
"""

from __future__ import annotations

import os
import re
import stat as modes
import sys
from pathlib import Path

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from vaultmind.types import Fault
from vaultmind.vault.files import OPEN_FLAGS

IGNORE_FILE = ".gitignore"
MAX_BYTES = 500_000
"""Of one file of patterns."""
MAX_WILDCARDS = 8
"""In one line: more would take too long on a long name."""
_IGNORES_CASE = sys.platform in ("darwin", "win32")


Patterns = tuple[str, GitIgnoreSpec]
"""The folder they are relative to, empty or with `/` at its end, and the patterns of its file."""


class Ignores:
    """What is ignored below a root; files of patterns are read when a folder is first asked of."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.faults: list[Fault] = []
        """Patterns that could not be used."""
        repository = enclosing_repository(root)
        self._prefix = _inside(root, repository)
        self._above: tuple[Patterns, ...] = ()
        self.has_git = repository is not None
        if repository is not None:
            above = [self._read(repository, exclude_file(repository), "")]
            folders = self._prefix.split("/")[:-1]
            for depth in range(len(folders)):
                base = "".join(f"{name}/" for name in folders[:depth])
                above.append(self._read(repository, repository / base / IGNORE_FILE, base))
            self._above = tuple(one for one in reversed(above) if len(one[1]))
        self._held: dict[str, tuple[Patterns, ...]] = {}

    def ignored(self, item: str) -> bool:
        """Tell whether a file, or a folder ending in `/`, is ignored by itself.

        What lies in an ignored folder is ignored: the caller asks about the folders first.
        """
        full = self._prefix + item
        for base, patterns in self._of(item.rstrip("/").rpartition("/")[0]):
            verdict = patterns.check_file(_cased(full[len(base) :])).include
            if verdict is not None:
                return verdict
        return False

    def _of(self, folder: str) -> tuple[Patterns, ...]:
        """Return the patterns that speak of what lies in a folder, the nearest first."""
        held = self._held.get(folder)
        if held is None:
            above = self._of(folder.rpartition("/")[0]) if folder else self._above
            base = f"{folder}/" if folder else ""
            file = self._root / folder / IGNORE_FILE
            own = self._read(self._root, file, self._prefix + base)
            held = self._held[folder] = (own, *above) if len(own[1]) else above
        return held

    def _read(self, root: Path, file: Path, base: str) -> Patterns:
        patterns: list[GitIgnoreSpecPattern] = []
        for line in _lines_of(file):
            try:
                if len(re.findall(r"\*+|\?+", line)) > MAX_WILDCARDS:
                    raise ValueError(f"more than {MAX_WILDCARDS} wildcards")
                if "[[:" in line:
                    raise ValueError("classes such as [[:alpha:]] are not understood")
                pattern = GitIgnoreSpecPattern(_cased(line))
            except ValueError as error:
                shown = os.path.relpath(file, root)
                self.faults.append(Fault(shown, f"{line[:60]!r} was not used: {error}", "partial"))
            else:
                if pattern.include is not None:
                    patterns.append(pattern)
        return base, GitIgnoreSpec(patterns)


def _cased(text: str) -> str:
    return text.casefold() if _IGNORES_CASE else text


def enclosing_repository(folder: Path) -> Path | None:
    """Return the folder of the git work tree that a folder lies in, or is; None outside of one."""
    for one in (folder, *folder.parents):
        if os.path.lexists(one / ".git"):
            return one
    return None


def exclude_file(repository: Path) -> Path:
    """Return the file of a work tree's own patterns, `info/exclude`, which is in no commit."""
    git = repository / ".git"
    if git.is_dir():
        return git / "info" / "exclude"
    named = "".join(_lines_of(git)[:1]).removeprefix("gitdir:").strip()
    own = repository / named
    common = "".join(_lines_of(own / "commondir")[:1]).strip()
    return own / common / "info" / "exclude"


def _inside(root: Path, repository: Path | None) -> str:
    if repository is None or repository == root:
        return ""
    return f"{root.relative_to(repository).as_posix()}/"


def _lines_of(file: Path) -> list[str]:
    """Return the lines of a file of patterns; none where there is no such regular file."""
    try:
        descriptor = os.open(file, OPEN_FLAGS)
    except OSError:
        return []
    try:
        if not modes.S_ISREG(os.fstat(descriptor).st_mode):
            return []
        raw = os.read(descriptor, MAX_BYTES)
    except OSError:
        return []
    finally:
        os.close(descriptor)
    return os.fsdecode(raw.removeprefix(b"\xef\xbb\xbf")).splitlines()
