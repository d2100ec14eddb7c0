"""Which files of a linked folder are taken: by their names, and not what git ignores, nor secrets.

Patterns are those of `.gitignore` files at every depth and of `.git/info/exclude`, without git,
which may be missing. Of a repository that the folder lies in, its `.gitignore` files above the
folder are read too: what they name may be secret. What git tracks although a pattern names it
counts as ignored, and the user's own global list is not read. Unlike in a vault some dot names are
taken: a project's workflows are part of it.
"""

from __future__ import annotations

import os
import re
import stat as modes
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from vaultmind.tables import table
from vaultmind.types import Fault
from vaultmind.vault.exclude import SECRET_NAMES, ignoring, obsidian_filters
from vaultmind.vault.files import OPEN_FLAGS
from vaultmind.vault.paths import VaultPaths

Shape = Literal["note", "code", "text", "data"]
_TABLES: dict[str, dict[str, Any]] = {
    table: {name: tuple(words.split()) for name, words in lists.items()}
    for table, lists in table(__file__, "taken.toml").items()
}


def _shapes(table: str) -> dict[str, Any]:
    return {one: shape for shape, some in _TABLES[table].items() for one in some}


_BY_ENDING, _BY_NAME = _shapes("endings"), _shapes("names")
_LEFT_OUT = _TABLES["left_out"]
MACHINE_MADE = _LEFT_OUT["machine_made"]
"""Endings of names of what no person wrote: such files are known, and not searched."""
DOT_NAMES = (
    r"github|circleci|gitlab-ci\.ya?ml|travis\.ya?ml|pre-commit-config\.ya?ml|editorconfig|"
    r"eslintrc(?:\.[a-z]+)?|prettierrc(?:\.[a-z]+)?|babelrc(?:\.[a-z]+)?|coveragerc|flake8"
)
"""What follows the dot of those that are taken."""
_HIDDEN = re.compile(rf"/\.(?!(?:{DOT_NAMES})(?:/|$))", re.IGNORECASE)
_IDENTITY = "identity.md"
IGNORE_FILE = ".gitignore"
MAX_BYTES, MAX_WILDCARDS = 500_000, 8
"""Of one file of patterns; and of one line: more would take too long on a long name."""
_IGNORES_CASE = sys.platform in ("darwin", "win32")


def shape_of(path: str) -> Shape | None:
    """Return what a file is by its name, or None for one that is not taken.

    A name without a dot may be a script or a LICENSE: it is taken, and read as text.
    """
    name = path[path.rfind("/") + 1 :].lower()
    _, dot, ending = name.rpartition(".")
    if name in _BY_NAME or name.endswith(_LEFT_OUT["never"]):
        return _BY_NAME.get(name)
    return _BY_ENDING.get(ending) if dot else "text" if name else None


def is_memory(folder: str | Path) -> bool:
    """Tell whether a folder is the memory folder of some vault: it has `agents/*/identity.md`.

    Whatever its name: who may read it is said there, and for that vault alone.
    """
    try:
        with os.scandir(Path(folder) / "agents") as agents:
            return any(os.path.lexists(f"{agent.path}/{_IDENTITY}") for agent in agents)
    except OSError:
        return False


def lies_in_memory(folder: Path) -> bool:
    """Tell whether a folder is, or lies in, the memory folder of some vault."""
    return any(map(is_memory, (folder, *folder.parents)))


def governs(relative: str) -> bool:
    """Tell whether a file is one that says what is left out."""
    name = relative[relative.rfind("/") + 1 :]
    return name in (IGNORE_FILE, _IDENTITY, *_LEFT_OUT["markers"])


class FolderRules:
    """The rules of one linked folder at one time. Implements vault.exclude.Rules. Any thread."""

    def __init__(self, root: Path, exclude: Iterable[str] = ()) -> None:
        self._root = root
        self._ignores = Ignores(root)
        made = _LEFT_OUT["made"] + (() if self._ignores.has_git else _LEFT_OUT["made_without_git"])
        self._named = ignoring([*SECRET_NAMES, *_LEFT_OUT["secrets"], *made, *exclude])
        self._filters, self._filter_faults = obsidian_filters(VaultPaths(root))
        self._folders: dict[str, bool] = {"": lies_in_memory(root)}

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Return the settings and patterns that could not be used, as far as they were read."""
        return (*self._filter_faults, *self._ignores.faults)

    def excluded(self, relative: str) -> bool:
        """Tell whether a file, or a folder ending in `/`, is never indexed nor shown."""
        if relative.endswith("/"):
            return self._leaves_out(relative.rstrip("/"))
        if self._leaves_out(relative.rpartition("/")[0]):
            return True
        return self._is_named(relative) or self._ignores.ignored(relative)

    def is_conflict_copy(self, relative: str) -> bool:
        """Tell that no sync program's copies are looked for."""
        return False

    def _leaves_out(self, folder: str) -> bool:
        """Tell whether a folder is left out, for itself or for one that it lies in.

        Nothing is read through a symbolic link.
        """
        if folder not in self._folders:
            path = self._root / folder
            self._folders[folder] = (
                self._leaves_out(folder.rpartition("/")[0])
                or self._is_named(f"{folder}/")
                or self._ignores.ignored(f"{folder}/")
                or path.is_symlink()
                or any(os.path.lexists(path / name) for name in _LEFT_OUT["markers"])
                or is_memory(path)
            )
        return self._folders[folder]

    def _is_named(self, relative: str) -> bool:
        if _HIDDEN.search(f"/{relative}") or self._named.match_file(relative.lower()):
            return True
        return any(one.search(relative) for one in self._filters)


Patterns = tuple[str, GitIgnoreSpec]
"""The folder they are relative to, empty or with `/` at its end, and the patterns of its file."""


class Ignores:
    """What is ignored below a root; files of patterns are read when a folder is first asked of."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.faults: list[Fault] = []
        """Patterns that could not be used."""
        around = (one for one in (root, *root.parents) if os.path.lexists(one / ".git"))
        repository = next(around, None)
        self.has_git = repository is not None
        self._prefix = ""
        self._held: dict[str, tuple[Patterns, ...]] = {}
        self._above: tuple[Patterns, ...] = ()
        if repository is not None:
            above = [self._read(repository, ".git/info/exclude", "")]
            for name in root.relative_to(repository).parts:
                above.append(self._read(repository, f"{self._prefix}{IGNORE_FILE}", self._prefix))
                self._prefix += f"{name}/"
            self._above = tuple(reversed(above))

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
        if folder not in self._held:
            above = self._of(folder.rpartition("/")[0]) if folder else self._above
            inside = f"{folder}/" if folder else ""
            own = self._read(self._root, f"{inside}{IGNORE_FILE}", f"{self._prefix}{inside}")
            self._held[folder] = (own, *above) if len(own[1]) else above
        return self._held[folder]

    def _read(self, root: Path, file: str, base: str) -> Patterns:
        patterns: list[GitIgnoreSpecPattern] = []
        for line in _lines_of(root / file):
            try:
                if len(re.findall(r"\*+|\?+", line)) > MAX_WILDCARDS:
                    raise ValueError(f"more than {MAX_WILDCARDS} wildcards")
                if "[[:" in line:
                    raise ValueError("classes such as [[:alpha:]] are not understood")
                pattern = GitIgnoreSpecPattern(_cased(line))
                patterns += [pattern] if pattern.include is not None else []
            except ValueError as error:
                self.faults.append(Fault(file, f"{line[:60]!r} was not used: {error}", "partial"))
        return base, GitIgnoreSpec(patterns)


def _cased(text: str) -> str:
    return text.casefold() if _IGNORES_CASE else text


def _lines_of(file: Path) -> list[str]:
    """Return the lines of a file of patterns; none where there is no such regular file."""
    try:
        with os.fdopen(os.open(file, OPEN_FLAGS), "rb") as opened:
            is_file = modes.S_ISREG(os.fstat(opened.fileno()).st_mode)
            raw = opened.read(MAX_BYTES) if is_file else b""
    except OSError:
        return []
    return os.fsdecode(raw.removeprefix(b"\xef\xbb\xbf")).splitlines()
