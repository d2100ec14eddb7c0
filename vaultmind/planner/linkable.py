"""Which folders may be linked, and why others may not."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from vaultmind.errors import BadArgument, NotFound

_SYSTEM = ("/proc", "/sys", "/dev", "/run", "/boot", "/etc")
_KEYS = (".ssh", ".gnupg", ".aws", ".kube", ".password-store", ".azure", ".config", ".local")
"""Folders of the home folder that hold keys and settings."""


def linkable(path: str, *, home: Path, ours: Iterable[tuple[str, Path]]) -> Path:
    """Return the real path of a folder that may be linked.

    `ours` are folders of this vault, each with what it is: the vault, its state. Raises NotFound
    for no folder, BadArgument for one that is too much or must not be read this way.
    """
    named = Path(path).expanduser()
    if not named.is_absolute():
        raise BadArgument("path", path, "an absolute path: the daemon has its own folder")
    try:
        root = named.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        hint = "Is it spelt right? To see what is linked: vaultmind links."
        raise NotFound(f"There is no folder {path!r}.", hint=hint) from error
    if not root.is_dir():
        raise _refused(path, "it is no folder")
    if not os.fspath(root).isprintable():  # nor can what is not UTF-8 be told to a client
        raise _refused(repr(path), "its name holds characters that cannot be shown")
    if not os.access(root, os.R_OK | os.X_OK):
        raise _refused(path, "it may not be read")
    _check_size(path, root, home.resolve())
    for what, folder in ours:
        if reason := _overlap(root, folder, what):
            raise _refused(path, reason)
    _check_memory(path, root)
    return root


def _refused(path: str, why: str) -> BadArgument:
    said = f"{path} cannot be linked: {why}."
    return BadArgument("path", path, "one project's folder", said=said)


def _overlap(root: Path, folder: Path, what: str) -> str:
    """Return why a folder cannot be linked beside one of ours; empty where it can."""
    if _same(root, folder):
        return f"it is {what}"
    if any(_same(one, folder) for one in root.parents):
        return f"it lies in {what}"
    if any(_same(root, one) for one in folder.resolve().parents):
        return f"{what} lies in it"
    return ""


def _check_size(path: str, root: Path, home: Path) -> None:
    if root == root.parent or _same(root, home) or any(_same(root, one) for one in home.parents):
        raise _refused(path, "it holds everything; link one project's folder")
    if any(_same(one, Path(system)) for system in _SYSTEM for one in (root, *root.parents)):
        raise _refused(path, "it is the system's")
    keys = [home / name for name in _KEYS]
    if any(_same(one, key) for key in keys for one in (root, *root.parents)):
        raise _refused(path, "it is for keys and settings")


def _check_memory(path: str, root: Path) -> None:
    from vaultmind.index.taken import is_memory, lies_in_memory  # not at the daemon's start

    if lies_in_memory(root):
        where = "is" if is_memory(root) else "lies in"
        raise _refused(path, f"it {where} a vault's memory, which its agents' own rules guard")


def _same(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to one folder, whatever their spelling."""
    if one == other:
        return True
    try:
        return one.samefile(other)
    except OSError:
        return False
