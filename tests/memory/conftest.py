"""A gate on a real folder, with a clock that stands still and an index that takes notes."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import pytest

from vaultmind.memory.audit import AuditLine, newest_first
from vaultmind.memory.gate import Gate, GateSettings
from vaultmind.memory.rights import Authority
from vaultmind.session.files import messages_said, summaries
from vaultmind.types import PERSON, Caller, MemoryWrite, MessageRef, Outcome
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

NOW = datetime(2026, 2, 20, 10, 0, 3, tzinfo=timezone(timedelta(hours=1)))
MAIN = Caller("agent", "main", "claude-desktop")


@dataclass
class Indexer:
    """Implements `ports.FileIndexer` and `ports.MessageFinder` over a list."""

    refreshed: list[str] = field(default_factory=list)
    marked: list[str] = field(default_factory=list)
    messages: list[tuple[MessageRef, str]] = field(default_factory=list)

    def refresh(self, paths: Iterable[str], patience: float = -1) -> None:
        self.refreshed.extend(paths)

    def mark(self, paths: Iterable[str]) -> None:
        self.marked.extend(paths)

    def messages_about(self, agent: str, text: str, limit: int) -> list[tuple[MessageRef, str]]:
        return [(ref, said) for ref, said in self.messages if ref.agent == agent][:limit]


class House:
    """A vault with one gate, and short ways to ask and to look."""

    def __init__(self, root: Path, level: int = 2, rng: random.Random | None = None) -> None:
        self.paths = VaultPaths(root)
        self.indexer = Indexer()
        settings = GateSettings("test", rng or random.Random(7))
        reader = VaultReader(self.paths, 0)
        kinds = partial(messages_said, self.indexer), partial(summaries, self.paths)
        grants = root.parent / f"grants-{root.name}.json"
        self.authority = Authority(reader, grants, level)
        self.gate = Gate(self.paths, settings, kinds, self.indexer, self.authority, lambda: NOW)

    def remember(self, text: str, agent: str = "main", **more: object) -> Outcome:
        return self._write("remember", text, agent, more)

    def forget(self, text: str, agent: str = "main", **more: object) -> Outcome:
        return self._write("forget", text, agent, more)

    def replace(self, old: str, text: str, agent: str = "main", **more: object) -> Outcome:
        return self._write("replace", text, agent, {"old": old, **more})

    def file(self, relative: str) -> Path:
        return self.paths.root / relative

    def put(self, relative: str, text: str | bytes) -> Path:
        path = self.file(relative)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def brain(self, agent: str = "main") -> str:
        return self.file(self.paths.brain(agent)).read_bytes().decode()

    def _write(self, op: str, text: str, agent: str, more: dict[str, object]) -> Outcome:
        write = MemoryWrite(op, agent, more.pop("caller", PERSON), text, **more)  # type: ignore[arg-type]
        return self.gate.write(write)


def read_audit(paths: VaultPaths, agent: str) -> tuple[AuditLine, ...]:
    """Return an agent's audit over all devices, oldest first."""
    return tuple(newest_first(paths, (agent,)))[::-1]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)
