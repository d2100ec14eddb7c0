"""Which files of a linked folder are taken, and what never is."""

from __future__ import annotations

from pathlib import Path

from vaultmind.index.linked import FolderRules, shape_of

SHAPES = {
    "code": "src/cart.py web/App.TSX Dockerfile deploy/Makefile CMakeLists.txt",
    "note": "README.md",
    "text": "LICENSE bin/run docs/index.rst",
    "data": "package.json requirements.txt",
    None: "logo.png app.min.js app.js.map data.sqlite3",
}


def test_a_name_says_what_a_file_is() -> None:
    for shape, paths in SHAPES.items():
        assert {shape_of(path) for path in paths.split()} == {shape}


SECRETS = (
    ".env", ".env.local", "deploy/.env", "server.pem", "keys/tls.KEY", "id_rsa", "id_ed25519.pub",
    "secrets/db.yml", "config/credentials.json", "infra/terraform.tfstate", "infra/prod.tfvars",
    "config/secrets.yaml", ".ssh/config", ".git/config", ".aws/credentials", ".npmrc",
    "service-account-prod.json", "android/release.keystore",
)  # fmt: skip


def test_a_secret_is_never_taken_whatever_git_says(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("".join(f"!{path}\n" for path in SECRETS) + "!*\n")
    rules = FolderRules(tmp_path)
    assert all(map(rules.excluded, SECRETS)) and rules.faults == ()


def test_obsidians_excluded_files_hold_where_the_folder_is_a_vault(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian/app.json").write_text('{"userIgnoreFilters": ["Private/", "/(a+)+b/"]}')
    rules = FolderRules(tmp_path)
    assert rules.excluded("Private/diary.md")
    assert not rules.excluded("Public/diary.md")
    assert len(rules.faults) == 1
