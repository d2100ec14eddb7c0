"""The watcher: what happens when events are lost, or cannot be understood."""

from __future__ import annotations

import logging
from pathlib import Path

from tests.waiting import until
from vaultmind.index.folder import VaultFolder, Watcher
from vaultmind.vault.paths import VaultPaths


def test_an_overflow_or_a_fault_concerns_everything_and_the_watch_goes_on(tmp_path: Path) -> None:
    seen: set[str] = set()

    def mark(paths: list[str]) -> None:
        if "a.md" in paths:
            raise RuntimeError("a fault in the handler")
        seen.update(paths)

    watcher = Watcher(VaultFolder(VaultPaths(tmp_path)), mark)
    assert watcher.start() == "" and watcher.alive
    logger = logging.getLogger("watchdog.observers.inotify_c")
    logger.warning("something else")
    assert not seen
    logger.warning("Inotify queue overflowed; filesystem events were lost")
    assert seen == {""}
    seen.clear()
    (tmp_path / "a.md").write_text("x")
    until(lambda: seen == {""})
    (tmp_path / "b.md").write_text("x")
    until(lambda: "b.md" in seen)
    watcher.stop()
    assert not watcher.alive
