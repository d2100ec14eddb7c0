"""The past of a source: what changed for what, together, how often; renames followed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.planner.planned import has_git
from vaultmind.planner.candidates.history import PastReader

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


def test_a_folder_without_git_has_no_past(tmp_path: Path) -> None:
    reader = PastReader(tmp_path)
    assert reader.past().files == []
    assert not reader.moved()


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
