"""The watcher: what real saves, renames and moves are told as, and what happens when it breaks."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.waiting import until
from vaultmind.index.ground.watcher import Watcher, _Handler


class Seen:
    """Keeps the hints."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.folders: set[str] = set()
        self.lost = 0
        self.broken = False

    def files(self, paths: list[str]) -> None:
        if self.broken:
            raise RuntimeError("a fault in the handler")
        self.paths.update(paths)

    def folder(self, path: str) -> None:
        self.folders.add(path)

    def everything(self) -> None:
        self.lost += 1


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
    watcher = Watcher(vault, hints)
    assert watcher.start() == ""
    assert watcher.alive
    yield hints
    watcher.close()
    assert not watcher.alive


def test_saves_of_every_kind_name_the_note(vault: Path, seen: Seen, tmp_path: Path) -> None:
    (vault / "plain.md").write_text("in place")
    (vault / "temp.tmp").write_text("atomic")
    (vault / "temp.tmp").replace(vault / "atomic.md")
    (vault / ".hidden").write_text("atomic, from a dot name")
    (vault / ".hidden").replace(vault / "dotted.md")
    (tmp_path / "outside").write_text("atomic, from outside")
    (tmp_path / "outside").replace(vault / "from outside.md")
    (vault / "board.canvas").write_text("{}")
    wanted = {"plain.md", "atomic.md", "dotted.md", "from outside.md", "board.canvas"}
    until(lambda: wanted <= seen.paths)
    assert all(path.endswith((".md", ".canvas")) for path in seen.paths)


def test_a_rename_names_both_ends_and_a_deletion_its_own(vault: Path, seen: Seen) -> None:
    (vault / "Sub/old.md").rename(vault / "Sub/new.md")
    until(lambda: {"Sub/old.md", "Sub/new.md"} <= seen.paths)
    seen.paths.clear()
    (vault / "Sub/new.md").unlink()
    until(lambda: "Sub/new.md" in seen.paths)


def test_folders_that_come_go_and_move_are_named(vault: Path, seen: Seen, tmp_path: Path) -> None:
    (vault / "Sub").rename(vault / "Moved")
    until(lambda: {"Sub", "Moved"} <= seen.folders)
    (vault / "Moved").rename(tmp_path / "out")
    until(lambda: "Moved" in seen.folders)
    seen.folders.clear()
    (tmp_path / "out").rename(vault / "In")
    until(lambda: "In" in seen.folders)
    (vault / "In/later.md").write_text("the watch has followed")
    until(lambda: "In/later.md" in seen.paths)
    shutil.rmtree(vault / "In")
    until(lambda: "In/old.md" in seen.paths or "In" in seen.folders)


def test_obsidians_excluded_files_changing_concerns_everything(vault: Path, seen: Seen) -> None:
    (vault / ".obsidian/app.json").write_text("{}")
    until(lambda: seen.lost)


def test_an_overflow_concerns_everything(seen: Seen) -> None:
    logger = logging.getLogger("watchdog.observers.inotify_c")
    logger.warning("something else")
    assert seen.lost == 0
    logger.warning("Inotify queue overflowed; filesystem events were lost")
    assert seen.lost == 1


def test_the_real_logger_of_an_overflow_has_the_name_we_listen_to() -> None:
    inotify_c = pytest.importorskip("watchdog.observers.inotify_c", exc_type=ImportError)
    source = Path(inotify_c.__file__).read_text("utf-8")
    assert inotify_c.logger.name == "watchdog.observers.inotify_c"
    assert 'logger.warning("Inotify queue overflowed' in source


def test_a_fault_while_taking_an_event_does_not_end_the_watch(vault: Path, seen: Seen) -> None:
    seen.broken = True
    (vault / "a.md").write_text("x")
    until(lambda: seen.lost)
    seen.broken = False
    (vault / "b.md").write_text("x")
    until(lambda: "b.md" in seen.paths)


def test_the_vault_itself_going_away_concerns_everything(vault: Path) -> None:
    hints = Seen()
    handler = _Handler(str(vault), hints)
    event = SimpleNamespace(src_path=str(vault), dest_path="", is_directory=True)
    handler.dispatch(event)
    assert hints.lost == 1


def test_names_in_bytes_and_names_outside_are_understood(vault: Path) -> None:
    hints = Seen()
    handler = _Handler(str(vault), hints)
    for source in (bytes(vault / "a.md"), f"{vault}-other/b.md", "", "/elsewhere/c.md"):
        handler.dispatch(SimpleNamespace(src_path=source, dest_path="", is_directory=False))
    assert hints.paths == {"a.md"}
    assert hints.lost == 0


def test_a_vault_that_cannot_be_watched_is_said_in_words(tmp_path: Path) -> None:
    watcher = Watcher(tmp_path / "missing", Seen())
    assert "no such file" in watcher.start().lower()
    assert not watcher.alive
    watcher.close()


def test_importing_the_watcher_does_not_import_watchdog() -> None:
    code = "import sys, vaultmind.index.ground.watcher; print('watchdog' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
