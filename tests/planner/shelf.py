"""A folder with a real index of its texts (no vectors), brought up to date by hand."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.fakes import OpenToAll
from vaultmind.index.db import Database, Journal, file_records
from vaultmind.index.folder import VaultFolder
from vaultmind.index.outlet import Outlet
from vaultmind.index.sync import Sync
from vaultmind.memory.forget.hiding import Tombstones
from vaultmind.planner.layers import Explored, explore
from vaultmind.planner.records import record_of
from vaultmind.planner.source import Source
from vaultmind.planner.sources import described
from vaultmind.planner.types import FileRecord
from vaultmind.types import IndexState
from vaultmind.vault.files import FileStat, FileText

NOW = datetime(2026, 11, 22, 15, 0, tzinfo=UTC)
IDENTITY = ("-c", "user.name=Anna", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


def record(path: str, text: str, language: str = "") -> FileRecord:
    """Return the record of a file."""
    stat = FileStat(0, 0, len(text.encode()))
    return record_of(FileText(path, text, "sha", stat, False, "\n"), language)


class Shelf:
    """Stands for an index. `settle` brings all up to date."""

    def __init__(
        self, folder: Path, ground: VaultFolder | None = None, state: Path | None = None
    ) -> None:
        from vaultmind.vault.paths import VaultPaths

        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.state_dir = state or folder.parent / f"{folder.name}-state"
        self.ground = ground or VaultFolder(VaultPaths(folder))
        self.database = Database(self.state_dir / "index.db")
        self.sync = Sync(self.database, self.ground, describe=described)
        self.outlet = Outlet(self.ground, Tombstones(self.ground.paths), OpenToAll())

    @property
    def journal(self) -> Journal:
        return self.database.journal

    def records(self, paths: Sequence[str] | None = None) -> dict[str, tuple[bytes, FileStat]]:
        return file_records(self.database, paths)

    def refresh(self, paths: Iterable[str]) -> None:
        self.sync.refresh(paths)

    def state(self) -> IndexState:
        return IndexState("ready")

    def wait_ready(self, timeout: float) -> bool:
        return True

    def source(self, name: str = "shelf") -> Source:
        """Return the folder as a source, up to date."""
        self.sync.reconcile()
        made = Source(name, "vault", self, lambda: NOW)
        made.settle(30)
        return made

    def explore(self, source: Source, *which: str, **options: object) -> Explored:
        """Bring the index up to date and explore."""
        self.settle()
        return explore(source, which=which, **options)  # type: ignore[arg-type]

    def settle(self) -> None:
        self.sync.reconcile()

    def write(self, path: str, text: str, mtime: float = 0) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        if mtime:
            os.utime(file, (mtime, mtime))

    def git(self, *arguments: str) -> str:
        """Run git in the folder."""
        command = ["git", *IDENTITY, *arguments]
        done = subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, message: str) -> str:
        """Commit all there is and return its id."""
        if not (self.folder / ".git").exists():
            self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def close(self) -> None:
        self.database.close()
