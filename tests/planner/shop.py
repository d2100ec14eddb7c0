"""A small web shop with a history, which the worked example of docs/planning.md is about."""

from __future__ import annotations

import subprocess
from pathlib import Path

COMMITS = (Path(__file__).parents[1] / "data/shop.txt").read_text("utf-8").split("==== ")[1:]
"""Each a message, then its files: `---- path` and what stands in it."""


def make_shop(root: Path) -> None:
    """Write the shop below a folder, commit by commit, as far as there is a git."""
    root.mkdir(parents=True)
    has_git = _git(root, "init", "-q")
    for number, commit in enumerate(COMMITS, 1):
        message, *files = commit.split("---- ")
        for name, _, text in (file.partition("\n") for file in files):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        if has_git:
            date = f"2026-03-{number:02}T10:00:00+00:00"
            _git(root, "add", "-A")
            _git(root, "commit", "-q", "-m", message.strip(), date=date)


def _git(root: Path, *words: str, date: str = "2026-03-01T10:00:00+00:00") -> bool:
    who = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org")
    quiet = ("-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null")
    env = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "PATH": "/usr/bin:/bin"}
    try:
        subprocess.run(
            ["git", *who, *quiet, *words], cwd=root, env=env, check=True, capture_output=True
        )
    except FileNotFoundError:
        return False
    return True
