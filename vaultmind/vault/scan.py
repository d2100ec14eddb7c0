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


@dataclass(frozen=True, slots=True)
class Scan:
    """The indexable files by vault-relative path, and what could not be taken."""

    entries: dict[str, FileStat]
    faults: tuple[Fault, ...]


def conflict_fault(relative: str) -> Fault:
    """Return what to say of a file that a sync program left beside the true one."""
    return Fault(relative, "a sync program's copy of a conflict; compare and delete one")


def scan(
    paths: VaultPaths,
    rules: Rules,
    max_bytes: int,
    place_of: Callable[[str], object],
    below: str = "",
) -> Scan:
    """Return every file that has a place in an index, of all or of one folder (`A/`).

    Symlinks are not followed. Raises VaultNotFound when the whole cannot be listed: an unplugged
    disk is not an empty vault.
    """
    entries: dict[str, FileStat] = {}
    faults, waiting = [*rules.faults], [below]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(f"{paths.root}/{prefix}") as listed:
                found = [*listed]
        except OSError as error:
            reason = f"cannot be listed: {reason_of(error)}"
            if not prefix:
                raise VaultNotFound(f"{paths.root} {reason}.") from error
            if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
                faults.append(Fault(prefix, reason))
            continue
        for entry in found:
            relative = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if not rules.excluded(f"{relative}/"):
                    waiting.append(f"{relative}/")
            elif rules.is_conflict_copy(relative):
                faults.append(conflict_fault(relative))
            elif place_of(relative) and not rules.excluded(relative):
                faults += _take(entry, relative, max_bytes, entries)
    return Scan(entries, tuple(faults))


def _take(
    entry: os.DirEntry[str], relative: str, max_bytes: int, entries: dict[str, FileStat]
) -> list[Fault]:
    """Add a file's stamp; return why it could not be taken."""
    try:
        stamp = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return []
    except OSError as error:
        return [Fault(relative, reason_of(error))]
    if not modes.S_ISREG(stamp.st_mode):
        return []
    shown = relative.encode("utf-8", "backslashreplace").decode()
    if shown != relative:
        return [Fault(shown, "its name is not UTF-8")]
    if stamp.st_size > max_bytes > 0:
        return [Fault(relative, size_reason(stamp.st_size, max_bytes))]
    entries[relative] = stat_of(stamp)
    return []
