"""A vault with one conversation in it, as the tests of the conversation in memory use it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.session.samples import Files
from vaultmind.config import Config
from vaultmind.errors import WriteFailed
from vaultmind.memory.forget.hiding import render_tombstones
from vaultmind.session.conversation import Conversations, View
from vaultmind.session.files import Shelf
from vaultmind.types import Message, MessageRef
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

SESSION = "2026-03-01_001"
META = SessionMeta(SESSION, "main", started="2026-03-01T00:00:00+01:00")


class RecordGate(Files):
    """The gate's record side over real files: the disk may be full."""

    full = False

    def save(self, relative: str, *rest: Any) -> object:
        if self.full:
            raise WriteFailed(f"{relative} could not be written: no space left on device.")
        return super().save(relative, *rest)


class Room:
    """One session's file, the gate over it, and the conversations in memory."""

    def __init__(self, paths: VaultPaths) -> None:
        self.paths, self.gate = paths, RecordGate(paths)
        config = Config(paths.root, paths.root / ".state")
        shelf = Shelf(VaultReader(paths, 8_000_000))
        self.talks = Conversations(shelf, self.gate, config)  # type: ignore[arg-type]
        self.file = paths.root / paths.session("main", SESSION)

    def rolling(self, segment: int = 1) -> Path:
        return self.paths.root / self.paths.rolling("main", SESSION, segment)

    def write(self, messages: Iterable[Message]) -> None:
        """Write the session anew."""
        text = render_header(META) + "".join(render_message(one) for one in messages)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(text.encode())

    def add(self, *messages: Message) -> None:
        """Append messages."""
        text = "".join(render_message(one) for one in messages)
        self.gate.append(self.paths.session("main", SESSION), text)

    def edit(self, old: str, new: str) -> None:
        """Edit the session as a person would."""
        text = self.file.read_bytes().decode()
        assert old in text
        self.file.write_bytes(text.replace(old, new, 1).encode())

    def hide(self, block: str) -> None:
        """Hide a message as a forgetting does."""
        stones = render_tombstones([MessageRef("main", SESSION, block, "")], META.started)
        (self.paths.root / self.paths.tombstones("main", "x")).write_text(stones, "utf-8")

    def view(self) -> View:
        view = self.talks.view("main", SESSION)
        assert view is not None
        return view

    def fold(self) -> View:
        """Fold all that is due."""
        return self.talks.fold(self.view(), None)
