"""What is in the vault: every note and canvas with its stamp, found without opening one."""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Callable
from dataclasses import dataclass

from vaultmind.errors import VaultNotFound
from vaultmind.types import Fault
from vaultmind.vault.exclude import Rules
from vaultmind.vault.files import FileStat, reason_of, size_reason, stat_of
from vaultmind.vault.paths import VaultPaths

SUFFIXES = (".md", ".canvas")


@dataclass(frozen=True, slots=True)
class Scan:
    """The indexable files by vault-relative path, and what could not be taken."""

    entries: dict[str, FileStat]
    faults: tuple[Fault, ...]
    unlisted: tuple[str, ...] = ()
    """Folders that could not be listed, ending in `/`: what lay there may still be there."""


def is_indexable(relative: str) -> bool:
    """Tell whether a path names a kind of file that is indexed."""
    return relative.lower().endswith(SUFFIXES)


def conflict_fault(relative: str) -> Fault:
    """Return what to say of a file that a sync program left beside the true one."""
    return Fault(relative, "a sync program's copy of a conflict; compare and delete one")


def scan(
    paths: VaultPaths,
    rules: Rules,
    max_bytes: int,
    takes: Callable[[str], bool] = is_indexable,
    what: str = "vault",
) -> Scan:
    """Return every note and canvas below the vault. Symlinks are not followed.

    Of another folder (`what`) those files that `takes` says of their names.

    Raises VaultNotFound when the vault itself cannot be listed: an unplugged disk is not an
    empty vault.
    """
    found = _Found(rules, max_bytes, takes, {}, list(rules.faults), [])
    root = str(paths.root)
    try:
        waiting = _listed(root, "", found)
    except OSError as error:
        raise VaultNotFound(f"The {what} {root} cannot be listed: {reason_of(error)}.") from error
    while waiting:
        folder = waiting.pop()
        try:
            waiting += _listed(f"{root}/{folder}", f"{folder}/", found)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            found.faults.append(Fault(f"{folder}/", f"cannot be listed: {reason_of(error)}"))
            found.unlisted.append(f"{folder}/")
    return Scan(found.entries, tuple(found.faults), tuple(found.unlisted))


@dataclass(frozen=True, slots=True)
class _Found:
    rules: Rules
    max_bytes: int
    takes: Callable[[str], bool]
    entries: dict[str, FileStat]
    faults: list[Fault]
    unlisted: list[str]


def _listed(folder: str, prefix: str, found: _Found) -> list[str]:
    """Take a folder's files; return the folders in it."""
    folders = []
    excluded, takes = found.rules.excluded, found.takes
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            relative = prefix + name
            if entry.is_dir(follow_symlinks=False):
                if not excluded(f"{relative}/"):
                    folders.append(relative)
            elif takes(name):
                if not excluded(relative):
                    _take(entry, relative, found)
                elif found.rules.is_conflict_copy(relative):
                    found.faults.append(conflict_fault(relative))
    return folders


def _take(entry: os.DirEntry[str], relative: str, found: _Found) -> None:
    try:
        stamp = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return
    except OSError as error:
        found.faults.append(Fault(relative, reason_of(error)))
        return
    if not modes.S_ISREG(stamp.st_mode):
        return
    if not relative.isascii() and not _is_unicode(relative):
        shown = relative.encode("utf-8", "backslashreplace").decode()
        found.faults.append(Fault(shown, "its name is not UTF-8"))
    elif stamp.st_size > found.max_bytes > 0:
        found.faults.append(Fault(relative, size_reason(stamp.st_size, found.max_bytes)))
    else:
        found.entries[relative] = stat_of(stamp)


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
