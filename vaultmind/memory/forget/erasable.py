"""The kinds of record that an erasure reaches: each registers its files and how it is taken out.

A kind that comes later adds one line where the gate is made:
`erasables=(*ERASABLES, Erasable("episodes", files_of_episodes, without_sentences))`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vaultmind.memory.forget.sentences import without_sentences
from vaultmind.memory.forget.taken import Target, Without
from vaultmind.memory.forget.taking import (
    without_audit_texts,
    without_facts,
    without_messages,
    without_suggestions,
    without_values,
)
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.vault.paths import SESSION_ID, VaultPaths
from vaultmind.vault.replacing import TEMP_PREFIX

Files = Callable[[VaultPaths, str], Iterator[str]]
"""Yields the files of a kind, vault-relative: of an agent, or for `""` those of nobody alone."""


@dataclass(frozen=True, slots=True)
class Erasable:
    """A kind of record. `without` is pure, and may be called again on newer text."""

    name: str
    """What it is called in a preview, in the plural: `messages`."""
    files: Files
    without: Callable[[Target, Wanted], Without]
    last: bool = False
    """Whether it goes after all others: what they are found by stays until they are gone."""


def _sessions(paths: VaultPaths, agent: str) -> Iterator[str]:
    for path in _below(paths, paths.sessions(agent) if agent else ""):
        if SESSION_ID.fullmatch(_name(path).removesuffix(".md")):
            yield path


def _summaries(paths: VaultPaths, agent: str) -> Iterator[str]:
    if agent:
        yield from _existing(paths, paths.active_context(agent))
        folder = f"{paths.memory(agent)}/summaries"
        yield from (path for path in _below(paths, folder) if path.endswith(".md"))


def _runs(paths: VaultPaths, agent: str) -> Iterator[str]:
    if not agent:
        for path in _below(paths, f"{paths.memory_dir}/conversations"):
            if path.endswith(".jsonl"):
                yield path


def _suggestions(paths: VaultPaths, agent: str) -> Iterator[str]:
    if not agent:
        stem = _name(paths.suggestions).removesuffix(".md")
        for path in _below(paths, paths.memory_dir, deep=False):
            if _name(path).startswith(stem) and path.endswith(".md"):
                yield path  # conflict copies of a sync, too


def _damaged(paths: VaultPaths, agent: str) -> Iterator[str]:
    folder = paths.memory(agent) if agent else ""
    yield from (path for path in _below(paths, folder) if ".damaged-" in _name(path))


def _copies(paths: VaultPaths, agent: str) -> Iterator[str]:
    for path in _below(paths, paths.memory(agent) if agent else ""):
        name = _name(path)
        if name.endswith((".md", ".txt", ".jsonl")) and not name.startswith(_KEPT):
            yield path


def _audits(paths: VaultPaths, agent: str) -> Iterator[str]:
    for path in _below(paths, paths.memory(agent) if agent else "", deep=False):
        if _name(path).startswith("audit-") and path.endswith(".jsonl"):
            yield path


def _brains(paths: VaultPaths, agent: str) -> Iterator[str]:
    if agent:
        yield from _existing(paths, paths.archive(agent))
        yield from _existing(paths, paths.brain(agent))


def without_copy(target: Target, wanted: Wanted) -> Without:
    """Return any other file of an agent's memory without what says it."""
    way = without_values if target.path.endswith(".jsonl") else without_sentences
    return way(target, wanted)


SUMMARIES = "summaries"
_KEPT = ("audit-", "tombstones-", TEMP_PREFIX)

ERASABLES: tuple[Erasable, ...] = (
    Erasable("messages", _sessions, without_messages),
    Erasable(SUMMARIES, _summaries, without_sentences),
    Erasable("scheduler runs", _runs, without_values),
    Erasable("suggestions", _suggestions, without_suggestions),
    Erasable("damaged copies", _damaged, without_sentences),
    Erasable("audit texts", _audits, without_audit_texts, last=True),
    Erasable("facts", _brains, without_facts, last=True),
)
OTHERS = Erasable("copies", _copies, without_copy)
"""What no other kind claims: conflict copies of a sync, files that a person put there."""


def claimed(
    erasables: tuple[Erasable, ...], paths: VaultPaths, agents: tuple[str, ...], *, shared: bool
) -> list[tuple[Erasable, str, str]]:
    """Return (kind, agent, path) of every file, each once, in the order to erase in."""
    found: dict[str, tuple[Erasable, str, str]] = {}
    for kind in (*erasables, OTHERS):
        for agent in (*agents, *([""] if shared else [])):
            for path in kind.files(paths, agent):
                found.setdefault(path, (kind, agent, path))
    return sorted(found.values(), key=lambda one: one[0].last)


def leftovers(paths: VaultPaths, folder: str) -> Iterator[str]:
    """Yield what writes that were cut short left behind: a whole old or new text, each."""
    yield from (path for path in _below(paths, folder) if _name(path).startswith(TEMP_PREFIX))


def _below(paths: VaultPaths, folder: str, *, deep: bool = True) -> Iterator[str]:
    if not folder:
        return
    for where, folders, names in os.walk(paths.root / folder):
        folders[:] = sorted(folders) if deep else []
        for name in sorted(names):
            path = Path(where, name)
            if path.is_file() and not path.is_symlink():
                yield paths.relative(path)


def _existing(paths: VaultPaths, path: str) -> Iterator[str]:
    if (paths.root / path).is_file():
        yield path


def _name(path: str) -> str:
    return path.rpartition("/")[2]
