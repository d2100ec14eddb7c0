"""Which numbers were ever a summary's: those of a file that is gone are never used again.

A session's mark, an audit line and a tombstone name a summary by its number. Under a number that
is used again they would vouch for, or hide, what they were never about. What is merely said of one,
in a fact, a message or a note, makes it no number that was used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from vaultmind.consolidate.types import Level
from vaultmind.vault.paths import VaultPaths

_DIGITS = r"\d{3,18}"
_ID = re.compile(rf"(L[12])_({_DIGITS})(?!\d)")
MOST = 10**9
"""A number from here on is no count of ours: a file of that name was typed, and is left aside."""


def folder_of(paths: VaultPaths, agent: str, level: Level) -> str:
    """Return the folder of an agent's summaries of a level."""
    return f"{paths.summaries(agent)}/{level}"


def path_of(paths: VaultPaths, agent: str, id: str) -> str:
    """Return where the summary of an id stands, as we name it."""
    return f"{paths.summaries(agent)}/{id[:2]}/{id}.md"


def level_of(id: str) -> Level | None:
    """Return which level an id is of; None for what is no summary's id."""
    found = _ID.fullmatch(id)
    if found is None:
        return None
    return "L1" if found[1] == "L1" else "L2"


def number_of(id: str) -> int:
    """Return the number in an id, 0 where it is none of ours."""
    found = _ID.match(id)
    return int(found[2]) if found else 0


def next_number(paths: VaultPaths, agent: str, level: Level, named: Iterable[str]) -> int:
    """Return the number after the highest that a summary of a level has, or ever had.

    `named` are links and ids in the front matter of sessions and summaries. Looked for besides: the
    names of files, the paths that the agent's audit says were saved, and those in its tombstones.
    """
    own = re.compile(rf"(?<![A-Za-z0-9]){level}_({_DIGITS})(?!\d)")
    used = {int(found) for text in named for found in own.findall(text)}
    for name in _names(paths.root / folder_of(paths, agent, level)):
        used.update(map(int, own.findall(name)))
    path = rf"[^\x22\n]*/summaries/{level}/{level}_({_DIGITS})"
    saved = re.compile(rf'"op": "save"[^\n]*"path": "{path}\.md"|"summary": "{path}"'.encode())
    for raw in _logs(paths.root / paths.memory(agent)):
        used.update(int(one or other) for one, other in saved.findall(raw))
    number = max((one for one in used if one < MOST), default=0) + 1
    while number in used:
        number += 1
    return number


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []


def _logs(folder: Path) -> Iterator[bytes]:
    """Yield the bytes of the audits and tombstones in a memory folder."""
    for name in _names(folder):
        path = folder / name
        is_log = name.startswith(("audit-", "tombstones-")) and name.endswith(".jsonl")
        if not is_log or path.is_symlink() or not path.is_file():
            continue
        try:
            yield path.read_bytes()
        except OSError:
            continue
