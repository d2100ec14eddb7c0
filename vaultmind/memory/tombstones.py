"""tombstones-<device>.jsonl: which messages said what was forgotten. Ids only, never a text."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from vaultmind.types import MessageRef
from vaultmind.vault.files import FileStat, stat_of
from vaultmind.vault.paths import AGENT_NAME, VaultPaths

_NAME = re.compile(r"tombstones-[A-Za-z0-9-]+\.jsonl")

Stamp = tuple[tuple[str, FileStat], ...]


@dataclass(frozen=True, slots=True)
class _Hidden:
    stamp: Stamp
    ids: frozenset[tuple[str, str]]
    """(session, block or own id of a message)."""


class Tombstones:
    """Implements `ports.Forgotten` over the files of all devices. Any thread.

    They are read again when a file's stamp changes, so that what another device has forgotten
    is hidden as soon as its file arrives.
    """

    def __init__(self, paths: VaultPaths) -> None:
        self._paths = paths
        self._lock = threading.Lock()
        self._agents: dict[str, _Hidden] = {}

    def hides(self, agent: str, session: str, message: str) -> bool:
        """Tell whether a message (by block or own id) said something that was forgotten."""
        ids = self._ids(agent)
        return bool(ids) and bool(message) and (session, message.removeprefix("^")) in ids

    def hidden(self, agent: str) -> frozenset[tuple[str, str]]:
        """Return (session, block or own id) of every hidden message of an agent."""
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


def render_tombstones(refs: Iterable[MessageRef], time: str) -> str:
    """Return the lines that hide messages."""
    return "".join(
        json.dumps({"time": time, "session": ref.session, "message": ref.id, "block": ref.block})
        + "\n"
        for ref in refs
    )


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
        if isinstance(value, dict) and isinstance(session := value.get("session"), str):
            for key in ("message", "block"):
                if isinstance(found := value.get(key), str) and found:
                    yield session, found.removeprefix("^")
