"""What of a linked folder is never indexed nor shown: what git ignores, secrets, what tools made.

Unlike in a vault some dot names are taken: a project's workflows are part of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from vaultmind.index.linked.ignoring import IGNORE_FILE, Ignores
from vaultmind.types import Fault
from vaultmind.vault.exclude import SECRET_NAMES, glob_pattern, obsidian_filters
from vaultmind.vault.paths import VaultPaths

SECRETS = (
    *SECRET_NAMES, "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.gpg", "*.asc",
    "id_dsa*", "id_ecdsa*", "id_ed25519*", "credentials", "credentials.json", "credentials.y*ml",
    "client_secret*.json", "service-account*.json", "service_account*.json", "secrets.json",
    "secrets.toml", "secrets.y*ml", "secrets.ini", "*.tfstate", "*.tfstate.*", "*.tfvars",
    "*.htpasswd", "*.secret",
)  # fmt: skip
_FOLDERS = ("secrets", "node_modules")
MADE = ("__pycache__", "site-packages", "bower_components", "*.egg-info", "*.dist-info")
"""Folders that tools fill, whatever a `.gitignore` says."""
MADE_WITHOUT_GIT = ("build", "dist", "target", "vendor", "out", "coverage")
"""What is left out too where there is no git to say so."""
DOT_NAMES = (
    r"github|circleci|gitlab-ci\.ya?ml|travis\.ya?ml|pre-commit-config\.ya?ml|editorconfig|"
    r"eslintrc(?:\.[a-z]+)?|prettierrc(?:\.[a-z]+)?|babelrc(?:\.[a-z]+)?|coveragerc|flake8"
)
"""What follows the dot of those that are taken."""
_MARKERS = ("pyvenv.cfg", "CACHEDIR.TAG")
"""A folder with one of these is a virtual environment, or a cache that says so."""
_AGENTS, _IDENTITY = "agents", "identity.md"
"""A folder in which an agent has its identity is another vault's memory, whatever its name: who
may read it is said there, and for that vault alone."""


def is_secret_file(path: str) -> bool:
    """Tell whether a file holds secrets and nothing else by its name: `.env`, `server.key`."""
    name = path.rpartition("/")[2].casefold()
    return any(fnmatchcase(name, one) for one in SECRETS if one not in _FOLDERS)


def is_memory(folder: str | Path) -> bool:
    """Tell whether a folder is the memory folder of some vault: it has `agents/*/identity.md`."""
    try:
        with os.scandir(os.path.join(folder, _AGENTS)) as agents:  # noqa: PTH118
            return any(os.path.lexists(f"{agent.path}/{_IDENTITY}") for agent in agents)
    except OSError:
        return False


def lies_in_memory(folder: Path) -> bool:
    """Tell whether a folder is, or lies in, the memory folder of some vault."""
    return any(map(is_memory, (folder, *folder.parents)))


class FolderRules:
    """The rules of one linked folder at one time. Implements vault.exclude.Rules. Any thread."""

    def __init__(self, root: Path, exclude: Iterable[str] = ()) -> None:
        self._root = root
        self._ignores = Ignores(root)
        made = MADE if self._ignores.has_git else (*MADE, *MADE_WITHOUT_GIT)
        globs = [glob.strip() for glob in exclude if glob.strip("/ ")]
        loose = [glob for glob in globs if "/" not in glob.rstrip("/")]
        anchored = [glob for glob in globs if glob not in loose]
        names = "|".join(map(glob_pattern, (*SECRETS, *made, *loose)))
        hidden = rf"\.(?!(?:{DOT_NAMES})(?:/|$))"
        self._names = re.compile(f"/(?:{hidden}|{names})", re.IGNORECASE)
        whole = "|".join(map(glob_pattern, anchored)) or r"(?!)"
        self._paths = re.compile(f"/(?:{whole})", re.IGNORECASE)
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
        """Tell whether a folder is left out, for itself or for one that it lies in."""
        held = self._folders.get(folder)
        if held is None:
            held = self._leaves_out(folder.rpartition("/")[0]) or self._is_left_out(folder)
            self._folders[folder] = held
        return held

    def _is_left_out(self, folder: str) -> bool:
        if self._is_named(f"{folder}/") or self._ignores.ignored(f"{folder}/"):
            return True
        path = os.path.join(self._root, folder)  # noqa: PTH118  # asked of every folder
        if os.path.islink(path):  # noqa: PTH114  # nothing is read through it, nor asked
            return True
        if any(os.path.lexists(f"{path}/{name}") for name in _MARKERS):
            return True
        return is_memory(path)

    def _is_named(self, relative: str) -> bool:
        slashed = f"/{relative}"
        if self._names.search(slashed) or self._paths.match(slashed):
            return True
        return any(one.search(relative) for one in self._filters)


def governs(relative: str) -> bool:
    """Tell whether a file is one that says what is left out."""
    name = relative[relative.rfind("/") + 1 :]
    return name in (IGNORE_FILE, _IDENTITY, *_MARKERS)
