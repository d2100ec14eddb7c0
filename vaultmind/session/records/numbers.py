"""Which numbers of a day were ever a session's: those of a file that is gone are never used again.

A tombstone, a fact's source and an audit line name a session by its number. Under a number that
is used again they would hide new words, or vouch for words that nobody said.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from vaultmind.session.records.store import order, session_ids
from vaultmind.vault.paths import VaultPaths

_ID = r"(\d{4}-\d\d-\d\d)_(\d{3,5})(?!\d)"
_ROLLING = re.compile(rf"{_ID}(?:-\d+)?\.md")
_OWN_TOMBSTONE = re.compile(rf'"session": ?"{_ID}'.encode())


def numbers_used(paths: VaultPaths, agent: str) -> Counter[str]:
    """Return the highest number of each day that a session of an agent has, or ever had.

    It is looked for in the names of sessions and summaries, and in all that names a session:
    tombstones, audit lines, facts' sources, of every agent that may have it from this one.
    """
    used: Counter[str] = Counter()
    for session in session_ids(paths, agent):
        _count(used, *order(session))
    for name in _names(paths.root / paths.summaries(agent) / "rolling"):
        if found := _ROLLING.fullmatch(name):
            _count(used, found[1], int(found[2]))
    folders = r"(?:memory/(?:sessions|summaries/rolling)/)?"
    named = re.compile(rf"(?<![a-z0-9_-]){re.escape(agent)}/{folders}{_ID}".encode())
    for other in {agent, *paths.agent_names()}:
        for raw in _texts(paths.root / paths.memory(other)):
            patterns = (named, _OWN_TOMBSTONE) if other == agent else (named,)
            for pattern in patterns:
                for day, number in set(pattern.findall(raw)):
                    _count(used, day.decode(), int(number))
    return used


def _count(used: Counter[str], day: str, number: int) -> None:
    used[day] = max(used[day], number)


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
