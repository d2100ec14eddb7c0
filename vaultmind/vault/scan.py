"""What is in the vault: every note and canvas with its stamp, and what is left out of an index.

Left out are Obsidian's own files, secrets, what the person excluded. The same rules serve the
scan, the watcher and every way out. Letters' case is ignored, since on macOS and Windows another
spelling opens the same file.
"""

from __future__ import annotations

import json
import os
import re
import stat as modes
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from pathspec import GitIgnoreSpec

from vaultmind.errors import VaultMindError, VaultNotFound
from vaultmind.types import Fault
from vaultmind.vault.files import FileStat, VaultReader, reason_of, size_reason, stat_of
from vaultmind.vault.paths import VaultPaths

# --- what is left out -------------------------------------------------------------------

SECRET_NAMES = ("*.pem", "*.key", "id_rsa*", "secrets", "node_modules")
"""Names of files and folders at any depth, beside those that begin with a dot."""
OBSIDIAN_SETTINGS = ".obsidian/app.json"
MAX_SETTINGS_BYTES = 1_000_000
_OUR_OWN = (
    *("README.md", "Suggestions.md", "config.toml", "plans", "agents/*/plans"),
    *("agents/*/memory/plans", "**/audit-*.jsonl", "**/tombstones-*.jsonl", "**/*.damaged-*"),
)
"""What of the memory folder is no memory."""
MANY_PATHS = 5_000
"""How many paths the rules remember as excluded or not."""
_SPECIAL = re.compile(r"[\\*?\[\]!#]")
_CONFLICT = re.compile(
    r"\.sync-conflict-\d{8}"  # Syncthing
    r"|\([^()]*conflict(?:ed copy|s copy| copy)?\b[^()]*\)"  # Obsidian Sync, Dropbox, Nextcloud
    r"|^(?:brain|brain_archive|active_context|identity|l[12]_\d+|\d{4}-\d\d-\d\d_\d+)"
    r"(?: \d+| ?\(\d+\)|-(?!\d+\.)[^.]+)\.md$",  # iCloud, Drive: a number; OneDrive: the device
    re.IGNORECASE,
)


class Rules:
    """Rules for one vault: ours, the configured globs, Obsidian's excluded files.

    Globs are as in a `.gitignore`: one without `/` names a file or folder at any depth, one with
    `/` starts at the vault; what lies in an excluded folder is excluded.
    """

    def __init__(self, paths: VaultPaths, globs: Iterable[str]) -> None:
        self._memory = f"{paths.memory_dir.lower()}/"
        memory = _SPECIAL.sub(r"\\\g<0>", paths.memory_dir)
        self._spec = ignoring(
            [".*", *SECRET_NAMES, *(f"/{memory}/{one}" for one in _OUR_OWN), *globs]
        )
        self._filters, self.faults = obsidian_filters(paths)
        """The settings that could not be used."""
        self.excluded: Callable[[str], bool] = lru_cache(MANY_PATHS)(self._excluded)
        """Tells whether a vault-relative file or folder is never indexed nor shown."""

    def _excluded(self, relative: str) -> bool:
        ours = self._spec.match_file(relative.lower()) or self.is_conflict_copy(relative)
        return ours or any(one.search(relative) for one in self._filters)

    def is_conflict_copy(self, relative: str) -> bool:
        """Tell whether a sync program left this file in the memory folder beside the true one."""
        inside = relative.lower().startswith(self._memory)
        return inside and _CONFLICT.search(relative.rpartition("/")[2]) is not None


def ignoring(globs: Iterable[str]) -> GitIgnoreSpec:
    """Return what tells by a path in small letters whether it matches one of some globs."""
    return GitIgnoreSpec.from_lines(one.strip().lower() for one in globs if one.strip("/ "))


def obsidian_filters(paths: VaultPaths) -> tuple[list[re.Pattern[str]], list[Fault]]:
    """Return Obsidian's excluded files: beginnings of paths, and `/expressions/`."""
    reader = VaultReader(paths, MAX_SETTINGS_BYTES)
    filters, faults = list[re.Pattern[str]](), list[Fault]()
    try:
        held = reader.read(OBSIDIAN_SETTINGS).text if reader.exists(OBSIDIAN_SETTINGS) else "{}"
        entries = json.loads(held).get("userIgnoreFilters") or []
        typed = [entry for entry in entries if isinstance(entry, str) and entry.strip()]
    except (VaultMindError, ValueError, AttributeError, TypeError, RecursionError) as error:
        typed, reason = [], f"its list of excluded files was not read: {error}"
        faults.append(Fault(OBSIDIAN_SETTINGS, reason, "partial"))
    for entry in typed:
        is_expression = entry.startswith("/") and entry.endswith("/") and entry.strip("/")
        try:
            pattern = entry[1:-1] if is_expression else f"^{re.escape(entry)}"
            filters.append(re.compile(pattern, re.IGNORECASE))
        except (re.error, RecursionError, OverflowError) as error:
            reason = f"excluded files: {entry[:80]!r} was not used: {error}"
            faults.append(Fault(OBSIDIAN_SETTINGS, reason, "partial"))
    return filters, faults


# --- what is there ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scan:
    """The indexable files by vault-relative path, and what could not be taken."""

    entries: dict[str, FileStat]
    faults: tuple[Fault, ...]


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
                why = "a sync program's copy of a conflict; compare and delete one"
                faults.append(Fault(relative, why))
            elif place_of(relative) and not rules.excluded(relative):
                faults += _take(entry, relative, max_bytes, entries)
    return Scan(entries, tuple(faults))


def _take(
    entry: os.DirEntry[str], relative: str, max_bytes: int, entries: dict[str, FileStat]
) -> list[Fault]:
    """Add a file's stamp; return why it could not be taken."""
    try:
        stamp = entry.stat(follow_symlinks=False)
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
