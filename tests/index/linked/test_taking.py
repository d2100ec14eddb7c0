"""Which files of a linked folder are taken, and what never is."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultmind.index.taken import FolderRules, shape_of


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("src/cart.py", "code"),
        ("web/App.TSX", "code"),
        ("Dockerfile", "code"),
        ("deploy/Makefile", "code"),
        ("README.md", "note"),
        ("LICENSE", "text"),
        ("bin/run", "text"),
        ("docs/index.rst", "text"),
        ("package.json", "data"),
        ("requirements.txt", "data"),
        ("CMakeLists.txt", "code"),
        ("logo.png", None),
        ("app.min.js", None),
        ("app.js.map", None),
        ("data.sqlite3", None),
    ],
)
def test_a_name_says_what_a_file_is(path: str, shape: str | None) -> None:
    assert shape_of(path) == shape


SECRETS = (
    ".env", ".env.local", "deploy/.env", "server.pem", "keys/tls.KEY", "id_rsa", "id_ed25519.pub",
    "secrets/db.yml", "config/credentials.json", "infra/terraform.tfstate", "infra/prod.tfvars",
    "config/secrets.yaml", ".ssh/config", ".git/config", ".aws/credentials", ".npmrc",
    "service-account-prod.json", "android/release.keystore",
)  # fmt: skip


@pytest.mark.parametrize("path", SECRETS)
def test_a_secret_is_never_taken_whatever_git_says(tmp_path: Path, path: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text(f"!{path}\n!*\n")
    assert FolderRules(tmp_path).excluded(path)


def test_obsidians_excluded_files_hold_where_the_folder_is_a_vault(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian/app.json").write_text('{"userIgnoreFilters": ["Private/", "/(a+)+b/"]}')
    rules = FolderRules(tmp_path)
    assert rules.excluded("Private/diary.md")
    assert not rules.excluded("Public/diary.md")
    assert len(rules.faults) == 1
