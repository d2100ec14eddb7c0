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
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, cast

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from vaultmind.errors import VaultMindError
from vaultmind.tables import table
from vaultmind.types import Fault
from vaultmind.vault.files import VaultReader, read_bytes
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.scan import SECRET_NAMES, ignoring, obsidian_filters

Shape = Literal["note", "code", "text", "data"]
_TABLES: dict[str, dict[str, Any]] = {
    table: {name: tuple(words.split()) for name, words in lists.items()}
    for table, lists in table(__file__, "taken.toml").items()
}
_BY_ENDING, _BY_NAME = (
    {one: cast("Shape", shape) for shape, some in _TABLES[table].items() for one in some}
    for table in ("endings", "names")
)
_LEFT_OUT = _TABLES["left_out"]
MACHINE_MADE = _LEFT_OUT["machine_made"]
"""Endings of names of what no person wrote: such files are known, and not searched."""
_HIDDEN = re.compile(
    r"/\.(?!(?:github|circleci|gitlab-ci\.ya?ml|travis\.ya?ml|pre-commit-config\.ya?ml|editorconfig|"
    r"eslintrc(?:\.[a-z]+)?|prettierrc(?:\.[a-z]+)?|babelrc(?:\.[a-z]+)?|coveragerc|flake8)(?:/|$))",
    re.IGNORECASE,
)
"""A name with a dot before it, but for those that are taken."""
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
    return any(Path(folder).glob(f"agents/*/{_IDENTITY}"))


def lies_in_memory(folder: Path) -> bool:
    """Tell whether a folder is, or lies in, the memory folder of some vault."""
    return any(map(is_memory, (folder, *folder.parents)))


def governs(relative: str) -> bool:
    """Tell whether a file is one that says what is left out."""
    name = relative[relative.rfind("/") + 1 :]
    return name in (IGNORE_FILE, _IDENTITY, *_LEFT_OUT["markers"])


Patterns = tuple[str, GitIgnoreSpec]
"""The folder they are relative to, empty or with `/` at its end, and the patterns of its file."""


class FolderRules:
    """The rules of one linked folder at one time. Implements vault.scan.Rules. Any thread.

    Files of patterns are read when a folder is first asked of.
    """

    def __init__(self, root: Path, exclude: Iterable[str] = ()) -> None:
        self._root = root
        self._filters, faults = obsidian_filters(VaultPaths(root))
        self._faults = [*faults]
        around = (one for one in (root, *root.parents) if os.path.lexists(one / ".git"))
        self._top = next(around, None) or root
        """The repository that the folder lies in, or is."""
        self._prefix = "".join(f"{name}/" for name in root.relative_to(self._top).parts)
        self._patterns: dict[str, tuple[Patterns, ...]] = {}
        self._folders: dict[str, bool] = {"": lies_in_memory(root)}
        has_git = os.path.lexists(self._top / ".git")
        made = _LEFT_OUT["made"] + (() if has_git else _LEFT_OUT["made_without_git"])
        self._named = ignoring([*SECRET_NAMES, *_LEFT_OUT["secrets"], *made, *exclude])

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Return the settings and patterns that could not be used, as far as they were read."""
        return tuple(self._faults)

    def excluded(self, relative: str) -> bool:
        """Tell whether a file, or a folder ending in `/`, is never indexed nor shown."""
        if relative.endswith("/"):
            return self._leaves_out(relative.rstrip("/"))
        if self._leaves_out(relative.rpartition("/")[0]):
            return True
        return self._is_named(relative) or self.ignored(relative)

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
                or self.ignored(f"{folder}/")
                or path.is_symlink()
                or any(os.path.lexists(path / name) for name in _LEFT_OUT["markers"])
                or is_memory(path)
            )
        return self._folders[folder]

    def _is_named(self, relative: str) -> bool:
        if _HIDDEN.search(f"/{relative}") or self._named.match_file(relative.lower()):
            return True
        return any(one.search(relative) for one in self._filters)

    # --- what git ignores -----------------------------------------------------------------

    def ignored(self, item: str) -> bool:
        """Tell whether a file, or a folder ending in `/`, is ignored by itself.

        What lies in an ignored folder is ignored: the caller asks about the folders first.
        """
        full = self._prefix + item
        for base, patterns in self._of(full.rstrip("/").rpartition("/")[0]):
            verdict = patterns.check_file(_cased(full[len(base) :])).include
            if verdict is not None:
                return verdict
        return False

    def _of(self, folder: str) -> tuple[Patterns, ...]:
        """Return the patterns that speak of what lies in a folder, the nearest first."""
        if folder not in self._patterns:
            base = f"{folder}/" if folder else ""
            own = self._read(f"{base}{IGNORE_FILE}")
            above: tuple[Patterns, ...] = (("", self._read(".git/info/exclude")),)
            above = self._of(folder.rpartition("/")[0]) if folder else above
            self._patterns[folder] = ((base, own), *above) if len(own) else above
        return self._patterns[folder]

    def _read(self, file: str) -> GitIgnoreSpec:
        """Return the patterns of a file; none where there is no such regular file."""
        patterns: list[GitIgnoreSpecPattern] = []
        try:
            raw, _ = read_bytes(self._top / file, VaultReader(VaultPaths(self._top), MAX_BYTES), "")
        except VaultMindError:
            raw = b""
        for line in os.fsdecode(raw.removeprefix(b"\xef\xbb\xbf")).splitlines():
            try:
                if len(re.findall(r"\*+|\?+", line)) > MAX_WILDCARDS:
                    raise ValueError(f"more than {MAX_WILDCARDS} wildcards")
                if "[[:" in line:
                    raise ValueError("classes such as [[:alpha:]] are not understood")
                pattern = GitIgnoreSpecPattern(_cased(line))
                patterns += [pattern] if pattern.include is not None else []
            except ValueError as error:
                fault = f"{line[:60]!r} was not used: {error}"
                self._faults.append(Fault(file, fault, "partial"))
        return GitIgnoreSpec(patterns)


def _cased(text: str) -> str:
    return text.casefold() if _IGNORES_CASE else text
