"""What is never indexed nor shown: Obsidian's own files, secrets, what the person excluded.

The same rules serve the scan, the watcher and every way out. Letters' case is ignored, since
on macOS and Windows another spelling opens the same file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from vaultmind.errors import UnreadableNote, VaultMindError
from vaultmind.types import Fault
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

SECRET_NAMES = (".env", ".env.*", "*.pem", "*.key", "id_rsa*", "secrets", "node_modules")
"""Names of files and folders at any depth. Dot names are excluded as such."""
OBSIDIAN_SETTINGS = ".obsidian/app.json"
MAX_SETTINGS_BYTES = 1_000_000
MAX_PATTERN = 500
MAX_WILDCARDS = 4
"""In one glob: more would take too long on a long name."""
_WILDCARD = re.compile(r"(\*\*/?|\*|\?)")
_RUNAWAY = re.compile(r"[+*}]\)*[+*{]|\([^()]{0,99}[+*}|][^()]{0,99}\)[+*{]")
"""A repeated repetition: such an expression can take for ever on a short path."""

_CONFLICT = re.compile(
    r"\.sync-conflict-\d{8}"  # Syncthing
    r"|\([^()]*conflict(?:ed copy|s copy| copy)?\b[^()]*\)"  # Obsidian Sync, Dropbox, Nextcloud
    r"|^(?:brain|brain_archive|active_context|identity|l[12]_\d+|\d{4}-\d\d-\d\d_\d+)"
    r"(?: \d+| ?\(\d+\)|-(?!\d+\.)[^.]+)\.md$",  # iCloud, Drive: a number; OneDrive: the device
    re.IGNORECASE,
)


class Rules(Protocol):
    """What is left out of an index. Paths are relative to its folder; a folder may end in `/`."""

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Return the settings that could not be used."""
        ...

    def excluded(self, relative: str) -> bool:
        """Tell whether a file or folder is never indexed nor shown."""
        ...

    def is_conflict_copy(self, relative: str) -> bool:
        """Tell whether a sync program left this file beside the true one."""
        ...


@dataclass(frozen=True, slots=True)
class ExcludeRules:
    """Rules for one vault. `faults` names settings that could not be used."""

    memory_dir: str
    _names: re.Pattern[str]
    """Of `/` and the path: names that are excluded at any depth."""
    _paths: re.Pattern[str]
    """Of `/` and the path: what is excluded from the vault's root on."""
    _filters: tuple[re.Pattern[str], ...] = ()
    faults: tuple[Fault, ...] = ()

    def excluded(self, relative: str) -> bool:
        """Tell whether a vault-relative file or folder is never indexed nor shown."""
        slashed = f"/{relative}"
        if self._names.search(slashed) or self._paths.match(slashed):
            return True
        if self._filters and any(one.search(relative) for one in self._filters):
            return True
        return self.is_conflict_copy(relative)

    def is_conflict_copy(self, relative: str) -> bool:
        """Tell whether a sync program left this file in the memory folder beside the true one."""
        if not relative.lower().startswith(f"{self.memory_dir.lower()}/"):
            return False
        return _CONFLICT.search(relative.rpartition("/")[2]) is not None


def rules_for(paths: VaultPaths, globs: Iterable[str]) -> ExcludeRules:
    """Return the rules of a vault: ours, the configured globs, Obsidian's excluded files.

    A glob without `/` names a file or folder at any depth, one with `/` starts at the vault;
    `*` stays within a name, `**` does not. What lies in an excluded folder is excluded.
    """
    typed = [glob.strip() for glob in globs if glob.strip("/ ")]
    wanted = [glob for glob in typed if len(_WILDCARD.findall(glob)) <= MAX_WILDCARDS]
    anchored = [glob for glob in wanted if "/" in glob.rstrip("/")]
    loose = [glob for glob in wanted if glob not in anchored]
    names = "|".join([r"\.", *map(glob_pattern, (*SECRET_NAMES, *loose))])
    whole = "|".join([*_never_indexed(paths.memory_dir), *map(glob_pattern, anchored)])
    filters, faults = obsidian_filters(paths)
    refused = f"not used: more than {MAX_WILDCARDS} wildcards in one glob"
    faults += tuple(Fault(glob, refused, "partial") for glob in typed if glob not in wanted)
    return ExcludeRules(
        paths.memory_dir,
        re.compile(f"/(?:{names})", re.IGNORECASE),
        re.compile(f"/(?:{whole})", re.IGNORECASE),
        filters,
        faults,
    )


def _never_indexed(memory_dir: str) -> list[str]:
    inside = f"{re.escape(memory_dir)}/"
    return [
        rf"{inside}(?:readme\.md|suggestions\.md|config\.toml)$",
        rf"{inside}(?:agents/[^/]+/(?:memory/)?)?plans(?:/|$)",
        rf"{inside}(?:.*/)?(?:audit|tombstones)-[^/]*\.jsonl$",
        rf"{inside}(?:.*/)?[^/]*\.damaged-[^/]*$",
    ]


def glob_pattern(glob: str) -> str:
    """Return a regular expression for a glob; it matches what lies below as well."""
    parts = _WILDCARD.split(glob.strip("/"))
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(known.get(part) or re.escape(part) for part in parts)
    return f"{body}(?:/|$)"


def obsidian_filters(
    paths: VaultPaths,
) -> tuple[tuple[re.Pattern[str], ...], tuple[Fault, ...]]:
    """Return Obsidian's excluded files: beginnings of paths, and `/expressions/`."""
    reader = VaultReader(paths, MAX_SETTINGS_BYTES)
    try:
        if not reader.exists(OBSIDIAN_SETTINGS):
            return (), ()
        settings = json.loads(reader.read(OBSIDIAN_SETTINGS).text)
        entries = settings.get("userIgnoreFilters") or []
        typed = [entry for entry in entries if isinstance(entry, str) and entry.strip()]
    except (VaultMindError, ValueError, AttributeError, TypeError, RecursionError) as error:
        reason = error.reason if isinstance(error, UnreadableNote) else str(error)
        fault = f"its list of excluded files was not read: {reason}"
        return (), (Fault(OBSIDIAN_SETTINGS, fault, "partial"),)
    filters, faults = [], []
    for entry in typed:
        try:
            filters.append(_user_filter(entry))
        except (re.error, ValueError, RecursionError, OverflowError) as error:
            reason = f"excluded files: {entry[:80]!r} was not used: {error}"
            faults.append(Fault(OBSIDIAN_SETTINGS, reason, "partial"))
    return tuple(filters), tuple(faults)


def _user_filter(entry: str) -> re.Pattern[str]:
    is_expression = len(entry) > 2 and entry.startswith("/") and entry.endswith("/")  # noqa: PLR2004
    if not is_expression:
        return re.compile(f"^{re.escape(entry)}", re.IGNORECASE)
    if len(entry) > MAX_PATTERN:
        raise ValueError(f"longer than {MAX_PATTERN} characters")
    if _RUNAWAY.search(entry):
        raise ValueError("a repeated repetition, which may never end")
    return re.compile(entry[1:-1], re.IGNORECASE)
