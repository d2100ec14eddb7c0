"""What is summed up and what waits for it, read from front matter alone: there is no counter.

A session waits when it has been consolidated, carries no `summarised_in`, and no L1 names it; an
L1 likewise for L2. So a summary that a person made, renamed or deleted counts for what it says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vaultmind.consolidate.levels.file import LevelFile, read_level, stem_of
from vaultmind.consolidate.levels.numbering import folder_of, level_of, number_of
from vaultmind.consolidate.types import Level
from vaultmind.errors import VaultMindError
from vaultmind.session.records.shelf import Head
from vaultmind.vault.files import VaultReader

_CONFLICT = re.compile(r"(?i)conflict")


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of a level that stands in the vault."""

    stem: str
    """Its file's name without `.md`, which is its id unless it was renamed."""
    path: str
    text: str
    file: LevelFile
    is_copy: bool = False
    """Whether it is a sync's copy of another that stands, too."""

    @property
    def id(self) -> str:
        """Return what it is called: by its property, or by its name."""
        return self.file.id or self.stem


def summaries(reader: VaultReader, agent: str, level: Level, notes: list[str]) -> list[Summary]:
    """Return an agent's summaries of a level, the lowest number first.

    What cannot be read is left out, and said in `notes`.
    """
    folder = folder_of(reader.paths, agent, level)
    found: list[Summary] = []
    for name in _names(reader, folder):
        path = f"{folder}/{name}"
        try:
            text = reader.read(path).text
        except VaultMindError as error:
            notes.append(f"{path} was left out: {error.message}")
            continue
        file = read_level(text, level)
        if file.fault:
            notes.append(f"{path}: {file.fault}; it is not summed up any further")
        found.append(Summary(name[:-3], path, text, file))
    return sorted((_told_apart(one, found) for one in found), key=_order)


def sessions_waiting(
    heads: Iterable[Head], made: Iterable[Summary], device: str, *, imported_too: bool, done: bool
) -> list[Head]:
    """Return the sessions that wait for an L1, oldest first.

    `done`: only those that have been consolidated. Another device's are left to it.
    """
    summed = {source for one in made for source in one.file.sources}
    return [
        head
        for head in heads
        if head.meta.state == "ended"
        and not head.meta.summarised_in
        and head.id not in summed
        and head.meta.device in ("", device)
        and (imported_too or not head.meta.source)
        and (not done or (bool(head.meta.consolidated) and not head.meta.pending))
    ]


def unmarked(heads: Iterable[Head], made: Iterable[Summary], device: str) -> dict[str, Summary]:
    """Return the ended sessions that an L1 names and that do not say so, each with that L1."""
    of = {source: one for one in made if not one.is_copy for source in one.file.sources}
    return {
        head.id: of[head.id]
        for head in heads
        if head.id in of
        and head.meta.state == "ended"
        and not head.meta.summarised_in
        and head.meta.device in ("", device)
    }


def summaries_waiting(made: Iterable[Summary], above: Sequence[Summary]) -> list[Summary]:
    """Return the L1 that wait for an L2, the lowest number first."""
    summed = {source for one in above for source in one.file.sources}
    return [
        one
        for one in made
        if not one.is_copy
        and not one.file.fault
        and not one.file.summarised_in
        and summed.isdisjoint((one.stem, one.id))
    ]


def of_device(made: Iterable[Summary], device: str) -> list[Summary]:
    """Return the summaries that this device wrote, or nobody knows which."""
    return [one for one in made if one.file.device in ("", device)]


def named(heads: Iterable[Head], made: Iterable[Summary]) -> list[str]:
    """Return all that names a summary: marks, sources, ids."""
    return [
        *(head.meta.summarised_in for head in heads),
        *(text for one in made for text in (one.file.id, one.file.summarised_in)),
        *(source for one in made for source in one.file.sources),
    ]


def is_in(mark: str, id: str) -> bool:
    """Tell whether a `summarised_in` names a summary."""
    return stem_of(mark) == id


def _told_apart(one: Summary, every: Sequence[Summary]) -> Summary:
    """Return a summary, marked where it is a copy: of the same sources as one that stands."""
    alike = [
        other
        for other in every
        if other.stem != one.stem
        and other.file.sources == one.file.sources
        and one.file.id in (other.stem, other.file.id)
    ]
    rank = (bool(_CONFLICT.search(one.stem)), one.stem != one.file.id, one.stem)
    first = all(rank < (bool(_CONFLICT.search(o.stem)), o.stem != o.file.id, o.stem) for o in alike)
    return one if first or not one.file.id else replace(one, is_copy=True)


def _names(reader: VaultReader, folder: str) -> list[str]:
    try:
        with os.scandir(reader.paths.root / folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if entry.name.endswith(".md")
                and not entry.name.startswith(".")
                and entry.is_file(follow_symlinks=False)
            )
    except OSError:
        return []


def _order(one: Summary) -> tuple[int, int, str]:
    known = level_of(one.id) is not None
    return (0 if known else 1, number_of(one.id), one.stem)
