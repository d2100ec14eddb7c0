"""What git ignores, told without git."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from vaultmind.index.linked import FolderRules

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
    odd = b"\xef\xbb\xbf*.log\r\n\xff\xfe*.x\nb[\n*a*b*c*d*e*f*g*h*\n[[:alpha:]].key\n!\n"
    (tmp_path / ".gitignore").write_bytes(odd)
    (tmp_path / "deep").mkdir()
    os.mkfifo(tmp_path / "deep/.gitignore")
    (tmp_path / "link").mkdir()
    (tmp_path / "link/.gitignore").symlink_to(tmp_path / ".gitignore")
    ignores = FolderRules(tmp_path)
    assert ignored(ignores, "a.log")
    assert not ignored(ignores, "deep/a.py")
    assert not ignored(ignores, "link/a.py")
    assert [fault.path for fault in ignores.faults] == [".gitignore"] * 3
    assert "more than 8 wildcards" in ignores.faults[0].reason
