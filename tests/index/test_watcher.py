"""The watcher: what real saves, renames and moves are told as, and what happens when it breaks."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import until
from vaultmind.index.folder import VaultFolder, Watcher
from vaultmind.vault.paths import VaultPaths


class Seen:
    """Keeps the hints."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.lost = 0
        self.broken = False

    def mark(self, paths: list[str]) -> None:
        if self.broken:
            raise RuntimeError("a fault in the handler")
        self.paths.update(paths)

    def everything(self) -> None:
        self.lost += 1


def watching(root: Path, seen: Seen) -> Watcher:
    return Watcher(VaultFolder(VaultPaths(root)), seen.mark, seen.everything)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    (root / "Sub").mkdir(parents=True)
    (root / "Sub" / "old.md").write_text("old")
    (root / ".obsidian").mkdir()
    return root


@pytest.fixture
def seen(vault: Path) -> Iterator[Seen]:
    hints = Seen()
    watcher = watching(vault, hints)
    assert watcher.start() == ""
    assert watcher.alive
    yield hints
    watcher.stop()
    assert not watcher.alive


def test_an_overflow_concerns_everything(seen: Seen) -> None:
    logger = logging.getLogger("watchdog.observers.inotify_c")
    logger.warning("something else")
    assert seen.lost == 0
    logger.warning("Inotify queue overflowed; filesystem events were lost")
    assert seen.lost == 1


def test_a_fault_while_taking_an_event_does_not_end_the_watch(vault: Path, seen: Seen) -> None:
    seen.broken = True
    (vault / "a.md").write_text("x")
    until(lambda: seen.lost)
    seen.broken = False
    (vault / "b.md").write_text("x")
    until(lambda: "b.md" in seen.paths)
