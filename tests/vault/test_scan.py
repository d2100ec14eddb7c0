"""What is found in a vault, what is excluded, what is reported."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.scan import Rules, Scan, scan

MEMORY = "VaultMind/agents/main/memory"
LIMIT = 1000


@pytest.fixture
def paths(tmp_path: Path) -> VaultPaths:
    return VaultPaths(tmp_path)


def put(paths: VaultPaths, *names: str, text: str = "x") -> None:
    for name in names:
        path = paths.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def scanned(paths: VaultPaths, *globs: str) -> Scan:
    return scan(paths, Rules(paths, globs), LIMIT, lambda path: path.endswith(".md"))


def obsidian_excludes(paths: VaultPaths, *filters: object) -> Rules:
    put(paths, ".obsidian/app.json", text=json.dumps({"userIgnoreFilters": filters}))
    return Rules(paths, ())


# --- exclude ------------------------------------------------------------------------------


def test_obsidians_excluded_files_are_beginnings_and_expressions(paths: VaultPaths) -> None:
    rules = obsidian_excludes(paths, "Attachments/", "/draft-\\d+/", 7)
    assert rules.excluded("attachments/x.md") and rules.excluded("a/Draft-12.md")
    assert not rules.excluded("a/Attachments/x.md") and not rules.excluded("draft.md")
    assert not rules.faults


# --- scan ---------------------------------------------------------------------------------


def test_what_cannot_be_taken_is_reported_by_name(paths: VaultPaths) -> None:
    put(paths, "big.md", text="x" * (LIMIT + 1))
    put(paths, f"{MEMORY}/brain.sync-conflict-20260220-100003-ABCDEFG.md", "ok.md")
    bad = os.fsencode(paths.root) + b"/caf\xe9.md"
    with open(bad, "w"):  # noqa: PTH123 - a name no Path of text can hold
        pass
    found = scanned(paths)
    assert list(found.entries) == ["ok.md"]
    reasons = {fault.path: fault.reason for fault in found.faults}
    assert "over the limit" in reasons["big.md"]
    assert "not UTF-8" in reasons["caf\\udce9.md"]
    assert any("conflict" in reason for reason in reasons.values())
    "".join(reasons).encode()


def closed_to_root(real: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return os.scandir as one who is not root has it: a folder's mode holds."""

    def scandir(folder: str) -> Any:
        if not Path(folder).stat().st_mode & 0o400:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)
        return real(folder)

    return scandir


def test_a_folder_that_cannot_be_listed_is_said(
    paths: VaultPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(paths, "closed/x.md", "ok.md")
    (paths.root / "closed").chmod(0)
    if os.geteuid() == 0:  # root can list any folder
        monkeypatch.setattr(os, "scandir", closed_to_root(os.scandir))
    found = scanned(paths)
    (paths.root / "closed").chmod(0o755)
    assert list(found.entries) == ["ok.md"]
    assert [fault.path for fault in found.faults] == ["closed/"]
