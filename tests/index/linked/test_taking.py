"""Which files of a linked folder are taken, and what never is."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultmind.index.linked.rules import FolderRules, governs
from vaultmind.index.linked.taking import is_minified, place_of, shape_of


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
    assert (place_of(path) is None) is (shape is None)


def test_few_long_lines_are_minified() -> None:
    assert is_minified("var a=1;" * 1000)
    assert not is_minified("def f(): pass\n" * 1000)
    assert not is_minified("var a=1;" * 10)


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


@pytest.mark.parametrize(
    "path", [".github/workflows/ci.yml", ".gitlab-ci.yml", "src/secrets.py", "keys/keyboard.py"]
)
def test_what_only_looks_like_one_is_taken(tmp_path: Path, path: str) -> None:
    assert not FolderRules(tmp_path).excluded(path)


def test_what_tools_fill_is_left_out(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for folder, marker in (("myenv", "pyvenv.cfg"), ("out", "CACHEDIR.TAG")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / marker).touch()
    rules = FolderRules(tmp_path)
    for path in ("node_modules/a/index.js", "src/__pycache__/a.py", "myenv/lib/a.py", "out/a.rs"):
        assert rules.excluded(path), path
        assert rules.excluded(f"{path.partition('/')[0]}/") or path.startswith("src/")
    assert not rules.excluded("build/tools.py")  # git would say so


def test_without_git_what_is_built_is_left_out(tmp_path: Path) -> None:
    rules = FolderRules(tmp_path)
    assert all(rules.excluded(f"{name}/a.py") for name in ("build", "dist", "target", "vendor"))


def test_the_persons_own_globs_hold_in_linked_folders_too(tmp_path: Path) -> None:
    rules = FolderRules(tmp_path, ("drafts", "docs/internal/**"))
    assert rules.excluded("src/drafts/a.py")
    assert rules.excluded("docs/internal/plan.md")
    assert not rules.excluded("docs/plan.md")


def test_another_vaults_memory_is_left_out(tmp_path: Path) -> None:
    for name in ("VaultMind", "deep/Brains of all"):
        (tmp_path / name / "agents/main").mkdir(parents=True)
        (tmp_path / name / "agents/main/identity.md").touch()
    (tmp_path / "vaultmind/agents/base").mkdir(parents=True)  # a package of that name has none
    rules = FolderRules(tmp_path)
    assert rules.excluded("VaultMind/agents/main/memory/brain.md")
    assert rules.excluded("VaultMind/README.md")
    assert rules.excluded("deep/Brains of all/agents/main/memory/brain.md")
    assert not rules.excluded("vaultmind/agents/registry.py")
    assert not rules.excluded("deep/notes.md")


@pytest.mark.parametrize("root", ["", "agents", "agents/main", "agents/main/memory"])
def test_of_a_folder_that_became_a_memory_nothing_is_taken(tmp_path: Path, root: str) -> None:
    (tmp_path / "agents/main/memory").mkdir(parents=True)
    assert not FolderRules(tmp_path / root).excluded("brain.md")
    (tmp_path / "agents/main/identity.md").touch()
    assert FolderRules(tmp_path / root).excluded("brain.md")
    assert FolderRules(tmp_path / root).excluded("deep/")
    assert governs("agents/main/identity.md")


def test_obsidians_excluded_files_hold_where_the_folder_is_a_vault(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian/app.json").write_text('{"userIgnoreFilters": ["Private/", "/(a+)+b/"]}')
    rules = FolderRules(tmp_path)
    assert rules.excluded("Private/diary.md")
    assert not rules.excluded("Public/diary.md")
    assert len(rules.faults) == 1


def test_what_says_what_is_left_out() -> None:
    assert governs("deep/.gitignore")
    assert governs("env/pyvenv.cfg")
    assert not governs("gitignore.md")
