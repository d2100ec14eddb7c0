"""What is found in a vault, what is excluded, what is reported."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vaultmind.errors import VaultNotFound
from vaultmind.vault.exclude import ExcludeRules, rules_for
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.scan import Scan, scan

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
    return scan(paths, rules_for(paths, globs), LIMIT)


def obsidian_excludes(paths: VaultPaths, *filters: object) -> ExcludeRules:
    put(paths, ".obsidian/app.json", text=json.dumps({"userIgnoreFilters": filters}))
    return rules_for(paths, ())


# --- exclude ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "relative",
    [
        ".obsidian/app.json",
        ".trash/old.md",
        "a/.hidden/x.md",
        "a/.hidden.md",
        ".env",
        ".env.local",
        "keys/server.PEM",
        "keys/server.key",
        "id_rsa.md",
        "Secrets/x.md",
        "deep/secrets/x.md",
        "web/node_modules/pkg/README.md",
        "VaultMind/README.md",
        "VaultMind/readme.md",
        "VaultMind/Suggestions.md",
        "VaultMind/config.toml",
        "VaultMind/plans/p1.md",
        f"{MEMORY}/audit-laptop.jsonl",
        f"{MEMORY}/tombstones-laptop.jsonl",
        f"{MEMORY}/brain.damaged-2026-02-20T10-00-03.md",
        f"{MEMORY}/brain.sync-conflict-20260220-100003-ABCDEFG.md",
        f"{MEMORY}/brain (Anna's conflicted copy 2026-02-20).md",
        f"{MEMORY}/brain (Conflicted copy Laptop 202602201000).md",
        f"{MEMORY}/brain 2.md",
        f"{MEMORY}/brain (1).md",
        f"{MEMORY}/brain-DESKTOP-AB12.md",
        f"{MEMORY}/sessions/2026-02-20_001 2.md",
        f"{MEMORY}/summaries/L1/L1_001-LAPTOP.md",
    ],
)
def test_what_is_never_indexed(paths: VaultPaths, relative: str) -> None:
    assert rules_for(paths, ()).excluded(relative)


@pytest.mark.parametrize(
    "relative",
    [
        "README.md",
        "Suggestions.md",
        "plans/summer.md",
        "Secretsauce.md",
        "environment.md",
        "keys.md",
        "brain 2.md",
        "Notes (conflicted copy).md",
        "🍞 Recipes/Żurek.md",
        f"{MEMORY}/brain.md",
        f"{MEMORY}/brain_archive.md",
        f"{MEMORY}/sessions/2026-02-20_001.md",
        f"{MEMORY}/summaries/L1/L1_001.md",
    ],
)
def test_what_is_indexed(paths: VaultPaths, relative: str) -> None:
    assert not rules_for(paths, ()).excluded(relative)


@pytest.mark.parametrize(
    ("glob", "excluded", "kept"),
    [
        ("Archive", ["Archive/x.md", "a/archive/x.md", "Archive"], ["Archives/x.md"]),
        ("Archive/", ["Archive/x.md"], ["Archives.md"]),
        ("/Archive", ["Archive/x.md"], ["a/Archive/x.md"]),
        ("*.tmp.md", ["a/x.tmp.md"], ["a/x.md"]),
        ("drafts/*.md", ["drafts/x.md"], ["drafts/a/x.md", "a/drafts/x.md"]),
        ("drafts/**", ["drafts/x.md", "drafts/a/x.md"], ["drafts.md"]),
        ("**/private/**", ["private/x.md", "a/b/private/c/x.md"], ["a/private.md"]),
        ("20??.md", ["a/2026.md"], ["a/20266.md"]),
        ("[x].md", ["[x].md"], ["x.md"]),
    ],
)
def test_configured_globs(
    paths: VaultPaths, glob: str, excluded: list[str], kept: list[str]
) -> None:
    rules = rules_for(paths, (glob, "", "  "))
    assert [one for one in excluded if not rules.excluded(one)] == []
    assert [one for one in kept if rules.excluded(one)] == []


def test_obsidians_excluded_files_are_beginnings_and_expressions(paths: VaultPaths) -> None:
    rules = obsidian_excludes(paths, "Attachments/", "/draft-\\d+/", 7)
    assert rules.excluded("attachments/x.md") and rules.excluded("a/Draft-12.md")
    assert not rules.excluded("a/Attachments/x.md") and not rules.excluded("draft.md")
    assert rules.faults == ()


def test_a_vaults_settings_cannot_stop_us(paths: VaultPaths) -> None:
    rules = obsidian_excludes(paths, "/(a+)+$/", "/[/", "/" + "a?" * 400 + "/", "ok/")
    assert rules.excluded("ok/x.md") and not rules.excluded("a" * 60 + "b.md")
    assert len(rules.faults) == 3
    assert all(fault.path == ".obsidian/app.json" for fault in rules.faults)
    many = rules_for(paths, ["*a*a*a*a*a*a*a*b"])
    assert not many.excluded("a" * 200 + ".md")
    assert "wildcards" in many.faults[-1].reason


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"userIgnoreFilters": 5}', "\ufeff{}"])
def test_broken_settings_of_obsidian_are_reported_or_empty(paths: VaultPaths, text: str) -> None:
    put(paths, ".obsidian/app.json", text=text)
    rules = rules_for(paths, ())
    assert not rules.excluded("x.md") and len(rules.faults) <= 1


# --- scan ---------------------------------------------------------------------------------


def test_notes_and_canvases_are_found_with_the_stamp_a_read_gives(paths: VaultPaths) -> None:
    names = ["a.md", "b/c.canvas", "🍞/Żurek.md", "e\u0301.md", "UPPER.MD"]
    put(paths, *names, "pic.png", "x.txt", ".obsidian/x.md", ".trash/y.md", "secrets/z.md")
    found = scanned(paths)
    assert sorted(found.entries) == sorted(names) and found.faults == ()
    reader = VaultReader(paths, LIMIT)
    assert all(reader.read(name).stat == found.entries[name] for name in names)


def test_links_are_not_followed_and_are_no_fault(paths: VaultPaths, tmp_path: Path) -> None:
    put(paths, "a/x.md")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "a/link.md").symlink_to(tmp_path / "a/x.md")
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    assert (list(scanned(paths).entries), scanned(paths).faults) == (["a/x.md"], ())


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


def test_an_unplugged_vault_is_not_an_empty_one(tmp_path: Path) -> None:
    gone = VaultPaths(tmp_path / "gone")
    with pytest.raises(VaultNotFound):
        scan(gone, rules_for(gone, ()), LIMIT)


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
    assert list(found.entries) == ["ok.md"] and found.unlisted == ("closed/",)
