"""A linked folder: which files are taken, what git ignores (told without git), how they are cut."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from vaultmind.index.linked import (
    Cutter,
    FolderRules,
    LinkedFolder,
    NamedLines,
    cut_plainly,
    shape_of,
)
from vaultmind.index.notes import Place
from vaultmind.planner.records import code_spans
from vaultmind.vault.files import FileStat, FileText

CODE = '''"""A shop."""

import json


class Cart:
    """What is bought."""

    def add(self, item):
        return item


def total(cart):
    return sum(cart)
'''


def halves(path: str, text: str) -> Sequence[NamedLines]:
    return [(1, 4, ""), (5, 11, "Cart"), (12, 14, "total")]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("cutter", [cut_plainly, code_spans])
def test_every_line_that_says_something_is_in_one_chunk(
    tmp_path: Path, cutter: Cutter, end: str
) -> None:
    text = (CODE * 20).replace("\n", end)
    file = FileText("src/shop.py", text, "", FileStat(1, 1, len(text)), False, "\n")
    place = Place("note", "", "code")
    chunks = LinkedFolder(tmp_path, (), cutter).cut("src/shop.py", file, place).chunks
    lines = [line for chunk in chunks for line in chunk.text.split("\n") if line.strip()]
    assert lines == [line for line in text.split(end) if line.strip()]


def test_a_name_brings_up_its_lines_or_those_of_what_holds_it(tmp_path: Path) -> None:
    folder = LinkedFolder(tmp_path, (), halves)
    assert (folder.defined("a.py", CODE, "total") or "").startswith("def total")
    assert (folder.defined("a.py", CODE, "Cart.add") or "").startswith("class Cart")
    assert folder.defined("a.py", CODE, "Missing") is None


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
    assert all(map(rules.excluded, SECRETS)) and not rules.faults


def test_obsidians_excluded_files_hold_where_the_folder_is_a_vault(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian/app.json").write_text('{"userIgnoreFilters": ["Private/", "/(a/"]}')
    rules = FolderRules(tmp_path)
    assert rules.excluded("Private/diary.md")
    assert not rules.excluded("Public/diary.md")
    assert len(rules.faults) == 1


NAMES = ("a", "b", "ab", "foo", "foo.py", "x.log", "doc", "keep", "b.txt", ".hid", "A", " sp")
PARTS = (
    "a", "b", "ab", "foo", "*.py", "*.log", "doc", "keep", "*", "**", "?", "[ab]", "[!a]*", "foo*",
    "b.*", ".hid", "*a*", "a?", "\\ sp", "[a-b]*",
)  # fmt: skip


def ignored(ignores: FolderRules, path: str) -> bool:
    parts = path.split("/")
    above = ("/".join(parts[:depth]) + "/" for depth in range(1, len(parts)))
    return any(map(ignores.ignored, above)) or ignores.ignored(path)


def tree(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is what it is compared with")
@pytest.mark.parametrize("seed", range(6))
def test_the_same_is_ignored_that_git_ignores(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)

    def line() -> str:
        body = "/".join(chance.choice(PARTS) for _ in range(chance.choice([1, 1, 1, 2, 2, 3])))
        begin = chance.choice(["", "", "", "!", "#", "/", "!/"])
        return begin + body + chance.choice(["", "", "", "/", "  ", "\\ "])

    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for _ in range(80):
        file = tmp_path.joinpath(*chance.choices(NAMES, k=chance.choice([1, 2, 3, 4])))
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("x")
        except OSError:  # what is a folder already, or lies below a file
            continue
    folders = [tmp_path, *(one for one in tmp_path.rglob("*") if one.is_dir())]
    ours = sorted(one for one in folders if ".git" not in one.parts)
    for folder in chance.sample(ours, min(5, len(ours))):
        (folder / ".gitignore").write_text("".join(f"{line()}\n" for _ in range(4)))
    (tmp_path / ".git/info").mkdir(exist_ok=True)
    (tmp_path / ".git/info/exclude").write_text(f"{line()}\n")
    files = [
        one.relative_to(tmp_path).as_posix()
        for one in tmp_path.rglob("*")
        if one.is_file() and ".git" not in one.parts and one.name != ".gitignore"
    ]
    asked = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin", "-z"],
        cwd=tmp_path, input="\0".join(files).encode(), capture_output=True, check=False,
    )  # fmt: skip
    by_git = {name for name in asked.stdout.decode().split("\0") if name}
    ignores = FolderRules(tmp_path)
    assert {path for path in files if ignored(ignores, path)} == by_git


def test_the_repository_around_a_linked_folder_says_what_is_ignored_in_it(tmp_path: Path) -> None:
    inside = tmp_path / "packages/shop"
    tree(tmp_path, ".git/HEAD", "packages/shop/local.yml", "packages/shop/x.tmp")
    (tmp_path / ".gitignore").write_text("/packages/shop/local.yml\n")
    (tmp_path / "packages/.gitignore").write_text("*.tmp\n")
    ignores = FolderRules(inside)
    assert ignored(ignores, "local.yml")
    assert ignored(ignores, "x.tmp")
    assert not ignored(ignores, "shop.py")


def test_odd_files_of_patterns_hurt_nobody(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    odd = b"\xef\xbb\xbf*.log\r\n\xff\xfe*.x\nb[\n!\n"
    (tmp_path / ".gitignore").write_bytes(odd)
    (tmp_path / "deep").mkdir()
    os.mkfifo(tmp_path / "deep/.gitignore")
    (tmp_path / "link").mkdir()
    (tmp_path / "link/.gitignore").symlink_to(tmp_path / ".gitignore")
    ignores = FolderRules(tmp_path)
    assert ignored(ignores, "a.log")
    assert not ignored(ignores, "deep/a.py")
    assert not ignored(ignores, "link/a.py")
    assert [fault.path for fault in ignores.faults] == [".gitignore"]
