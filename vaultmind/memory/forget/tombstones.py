"""tombstones-<device>.jsonl: what said a forgotten thing. Ids only, never a text.

A line names a message by its session, its own id and its block, or a part of a summary by the
summary's path (without `.md`) and its block.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from vaultmind.memory.forget.kinds import Ref, SummaryRef
from vaultmind.vault.files import FileStat, stat_of
from vaultmind.vault.paths import AGENT_NAME, VaultPaths

_NAME = re.compile(r"tombstones-[A-Za-z0-9-]+\.jsonl")

Stamp = tuple[tuple[str, FileStat], ...]


@dataclass(frozen=True, slots=True)
class _Hidden:
    stamp: Stamp
    ids: frozenset[tuple[str, str]]
    """(session or summary, block or own id)."""


class Tombstones:
    """Implements `ports.Forgotten` over the files of all devices. Any thread.

    They are read again when a file's stamp changes, so that what another device has forgotten
    is hidden as soon as its file arrives.
    """

    def __init__(self, paths: VaultPaths) -> None:
        self._paths = paths
        self._lock = threading.Lock()
        self._agents: dict[str, _Hidden] = {}

    def hides(self, agent: str, record: str, part: str) -> bool:
        """Tell whether a message of a session, or a part of a summary, said what was forgotten.

        `part` is its block or a message's own id.
        """
        ids = self._ids(agent)
        return bool(ids) and bool(part) and (record, part.removeprefix("^")) in ids

    def hidden(self, agent: str) -> frozenset[tuple[str, str]]:
        """Return (session or summary, block or own id) of all that is hidden of an agent."""
        return self._ids(agent)

    def _ids(self, agent: str) -> frozenset[tuple[str, str]]:
        if not AGENT_NAME.fullmatch(agent):
            return frozenset()
        folder = self._paths.root / self._paths.memory(agent)
        files = _files(folder)
        stamp = tuple((path.name, stat) for path, stat in files)
        with self._lock:
            known = self._agents.get(agent)
            if known is None or known.stamp != stamp:
                ids = frozenset(pair for path, _ in files for pair in _read(path))
                known = self._agents[agent] = _Hidden(stamp, ids)
            return known.ids


def render_tombstones(refs: Iterable[Ref], time: str) -> str:
    """Return the lines that hide messages and parts of summaries."""
    return "".join(json.dumps({"time": time, **_named(ref)}) + "\n" for ref in refs)


def _named(ref: Ref) -> dict[str, str]:
    if isinstance(ref, SummaryRef):
        return {"summary": ref.summary, "block": ref.block}
    return {"session": ref.session, "message": ref.id, "block": ref.block}


def _files(folder: Path) -> list[tuple[Path, FileStat]]:
    try:
        with os.scandir(folder) as entries:
            found = [
                (folder / entry.name, stat_of(entry.stat(follow_symlinks=False)))
                for entry in entries
                if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found, key=lambda pair: pair[0])


def _read(path: Path) -> Iterable[tuple[str, str]]:
    for raw in path.read_text("utf-8", errors="replace").split("\n"):
        try:
            value = json.loads(raw)
        except ValueError:
            continue
        if not isinstance(value, dict):
            continue
        record = value.get("session") or value.get("summary")
        for key in ("message", "block"):
            if isinstance(record, str) and isinstance(found := value.get(key), str) and found:
                yield record, found.removeprefix("^")
