"""The past of a source: what changed for what, together, how often; renames followed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.planner.planned import has_git
from vaultmind.planner.candidates.history import Past, PastReader, changes_of

WHO = ("-c", "user.name=Anna", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
needs_git = pytest.mark.skipif(not has_git(), reason="needs git")


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(root), *WHO, *words], check=True, capture_output=True)


def commit(root: Path, message: str, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{message}\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "Cart with a total", "cart.py", "test_cart.py")
    commit(tmp_path, "Orders", "orders.py", "docs/orders.md")
    commit(tmp_path, "The total of a cart is rounded", "cart.py", "test_cart.py")
    return tmp_path


@needs_git
def test_files_changed_for_such_words_come_first(repo: Path) -> None:
    past = PastReader(repo).past()
    for found in (past.similar("totals of carts", 10), past.told("totals of carts", 10)):
        assert list(found)[:2] == ["cart.py", "test_cart.py"]
        assert "orders.py" not in found
        assert all(0.0 <= value <= 1.0 for value in found.values())


@needs_git
def test_files_that_changed_together_lead_to_each_other(repo: Path) -> None:
    past = PastReader(repo).past()
    assert list(past.together({"cart.py": 1.0}, 10)) == ["test_cart.py"]


@needs_git
def test_what_is_changed_often_comes_first(repo: Path) -> None:
    assert list(PastReader(repo).past().rates)[:2] == ["cart.py", "test_cart.py"]


@needs_git
def test_a_file_keeps_its_past_under_another_name(repo: Path) -> None:
    reader = PastReader(repo)
    reader.past()
    git(repo, "mv", "cart.py", "basket.py")
    commit(repo, "A better name")
    assert reader.moved()
    past = reader.past()
    assert "basket.py" in past.similar("totals of carts", 10)
    assert "cart.py" not in past.similar("totals of carts", 10)
    assert not reader.moved()


@needs_git
def test_only_what_leads_to_head_is_read_and_a_reset_is_noticed(repo: Path) -> None:
    reader = PastReader(repo)
    assert len(reader.past().files) == 3
    git(repo, "reset", "-q", "--hard", "HEAD~1")
    past = reader.past()
    assert len(past.files) == 2
    assert past.similar("rounded", 10) == {}


@needs_git
def test_a_folder_of_a_repository_knows_its_own_files_by_their_names_in_it(repo: Path) -> None:
    commit(repo, "Orders have pages", "docs/orders.md")
    past = PastReader(repo / "docs").past()
    assert list(past.rates) == ["orders.md"]


@needs_git
def test_settings_of_a_repository_start_no_program(repo: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.sh"
    bad.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n", "utf-8")
    bad.chmod(0o755)
    for name in ("core.fsmonitor", "diff.external", "gpg.program", "core.pager"):
        git(repo, "config", name, str(bad))
    git(repo, "config", "log.showSignature", "true")
    PastReader(repo).past()
    assert not (tmp_path / "started").exists()


def test_a_folder_without_git_has_no_past(tmp_path: Path) -> None:
    reader = PastReader(tmp_path)
    assert reader.past().files == []
    assert not reader.moved()


def test_a_commit_of_very_many_files_says_nothing_of_any() -> None:
    past = Past()
    past.add([("Reformat everything", [(f"f{n}.py", f"f{n}.py") for n in range(100)])])
    past.count()
    assert past.similar("reformat everything", 10) == {}
    assert past.rates == {}


@needs_git
def test_what_a_source_began_with_has_nothing_in_common(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "Everything at once", "cart.py", "orders.py", "README.md")
    past = PastReader(tmp_path).past()
    assert len(past.files) == 1
    assert past.rates == {}
    assert past.together({"cart.py": 1.0}, 10) == {}
    assert past.similar("everything at once", 10) == {}


@needs_git
def test_the_history_of_another_folder_is_not_read(repo: Path, tmp_path: Path) -> None:
    for number, lead in enumerate(("link", "file")):
        other = tmp_path / f"other{number}"
        other.mkdir()
        if lead == "link":
            (other / ".git").symlink_to(repo / ".git")
        else:
            (other / ".git").write_text(f"gitdir: {repo / '.git'}\n", "utf-8")
        reader = PastReader(other)
        assert reader.past().files == []
        assert not reader.moved()


@needs_git
def test_a_work_tree_of_a_repository_has_its_past(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "aside")
    assert len(PastReader(tmp_path / "tree").past().files) == 3


def test_names_of_changes_are_read_with_renames() -> None:
    assert changes_of("\nM\0a.py\0A\0new\0R097\0old.py\0new.py\0D\0gone.py\0C100\0x\0y\0") == [
        ("a.py", "a.py"),
        ("", "new"),
        ("old.py", "new.py"),
        ("gone.py", "gone.py"),
        ("y", "y"),
    ]
