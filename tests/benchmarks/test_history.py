"""The past that a replay shows holds nothing of what came later."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))


class Repo:
    """A git repository whose commits are an hour apart."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.hours = 0
        root.mkdir()
        self.git("init", "-q", "-b", "trunk")

    def git(self, *words: str) -> str:
        when = f"{1_700_000_000 + 3600 * self.hours} +0000"
        names = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *names, *words],
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
            env={"PATH": "/usr/bin:/bin:/usr/local/bin", "GIT_CONFIG_GLOBAL": "/dev/null",
                 "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when},
        )  # fmt: skip
        return done.stdout.strip()

    def commit(self, message: str, files: dict[str, str | None]) -> str:
        """Write files (None: delete), commit, and return the commit."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        self.hours += 1
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty-message", "-m", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")
