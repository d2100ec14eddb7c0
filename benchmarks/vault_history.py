"""A vault with a history: the example vault in a git repository whose commits edit its notes.

    python benchmarks/vault_history.py FOLDER
    python benchmarks/replay.py --repo FOLDER

What a person would write over an edit, in three languages and rarely in a note's own words, with
the notes that it belongs to: `data/vault_commits.jsonl`, written by hand.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from example import read
from history import run

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "vault-example"
COMMITS = Path(__file__).parent / "data" / "vault_commits.jsonl"
_NAMES = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org", "-c", "commit.gpgsign=false")


def write_history(folder: Path) -> int:
    """Make the repository in a folder that is not there yet; return how many edits it holds."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("VaultMind", "secrets"))
    run(folder, "init", "-q", "-b", "main")
    _commit(folder, "The vault")
    edits = read(COMMITS)
    for edit in edits:
        for path, line in edit["lines"].items():
            with (folder / path).open("a", encoding="utf-8") as note:
                note.write(f"\n{line}\n")
        _commit(folder, edit["message"])
    return len(edits)


def _commit(folder: Path, message: str) -> None:
    run(folder, "add", "-A")
    run(folder, *_NAMES, "commit", "-q", "-m", message)


def main() -> None:
    """Make it and say so."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    print(f"{folder}: {write_history(folder)} edits")


if __name__ == "__main__":
    main()
