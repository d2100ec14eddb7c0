"""Which numbers were ever a summary's: those of a file that is gone are never used again.

A session's mark, an audit line and a tombstone name a summary by its number. Under a number that
is used again they would vouch for, or hide, what they were never about.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from vaultmind.consolidate.types import Level
from vaultmind.vault.paths import VaultPaths

_ID = re.compile(r"(L[12])_(\d{3,6})")


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

    `named` are links and ids that sessions and summaries hold. Looked for besides: the names of
    files, and what names a summary in the agent's audit, tombstones, brain and active context.
    """
    own = re.compile(rf"(?<![A-Za-z0-9]){level}_(\d{{3,6}})(?!\d)")
    used = {int(found) for text in named for found in own.findall(text)}
    for name in _names(paths.root / folder_of(paths, agent, level)):
        used.update(map(int, own.findall(name)))
    spelled = re.compile(rf"summaries/{level}/{level}_(\d{{3,6}})(?!\d)".encode())
    for raw in _texts(paths.root / paths.memory(agent)):
        used.update(map(int, spelled.findall(raw)))
    return max(used, default=0) + 1


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []


def _texts(folder: Path) -> Iterator[bytes]:
    """Yield the bytes of the notes and logs that stand in a memory folder itself."""
    for name in _names(folder):
        path = folder / name
        if not name.endswith((".md", ".jsonl")) or path.is_symlink() or not path.is_file():
            continue
        try:
            yield path.read_bytes()
        except OSError:
            continue
