"""Git is asked of a source's own repository alone; it starts nothing and holds up nobody."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.planner.planned import has_git
from tests.planner.shelf import Shelf
from vaultmind.planner.git import History

WHO = ("-c", "user.name=Anna", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
pytestmark = pytest.mark.skipif(not has_git(), reason="needs git")


def a_repository(shelf: Shelf) -> Shelf:
    shelf.write("cart.py", "def cart(): return 1\n")
    shelf.commit("Add a cart")
    shelf.write("cart.py", "def cart(): return 2\n")
    shelf.commit("Fix the total of the cart")
    return shelf


def test_what_is_borrowed_from_another_repository_is_not_read(
    folder: Shelf, tmp_path: Path
) -> None:
    private = a_repository(Shelf(tmp_path / "private"))
    git = ["git", "clone", "-q", "--shared", str(private.folder), str(folder.folder)]
    subprocess.run(git, check=True, capture_output=True)
    history = folder.structure().history
    assert not history.read().files
    assert "borrows" in history.fault
    private.close()


def test_what_gitignore_newly_hides_is_named_by_no_layer(folder: Shelf) -> None:
    folder.write("cart.py", "A = 1\n")
    folder.write("notes/salary.md", "# Salary\n")
    folder.commit("Begin")
    folder.write("notes/salary.md", "# Salary\n\nMore.\n")
    folder.commit("Raise the salary of Anna")
    folder.write("cart.py", "A = 2\n")
    folder.commit("Change the cart")
    structure = folder.structure()
    for since in ("", "HEAD~2", "2020-01-01"):
        assert "Anna" in folder.explore(structure, "L6", since=since, detail="normal").text
    folder.write(".gitignore", "notes/\n")
    for since in ("", "HEAD~2", "2020-01-01"):
        said = folder.explore(structure, "L0", "L1", "L6", since=since, detail="normal")
        assert "salary" not in said.text.casefold()
        assert "Change the cart" in said.text


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


def test_files_changed_for_such_words_come_first(repo: Path) -> None:
    past = History(repo).read()
    found = past.similar("totals of carts", 10)
    assert list(found)[:2] == ["cart.py", "test_cart.py"]
    assert "orders.py" not in found
    assert all(0.0 <= value <= 1.0 for value in found.values())


def test_files_that_changed_together_lead_to_each_other(repo: Path) -> None:
    past = History(repo).read()
    assert list(past.together({"cart.py": 1.0}, 10)) == ["test_cart.py"]


def test_a_file_keeps_its_past_under_another_name(repo: Path) -> None:
    history = History(repo)
    history.read()
    git(repo, "mv", "cart.py", "basket.py")
    commit(repo, "A better name")
    assert history.moved()
    past = history.read()
    assert "basket.py" in past.similar("totals of carts", 10)
    assert "cart.py" not in past.similar("totals of carts", 10)
    assert not history.moved()


def test_only_what_leads_to_head_is_read_and_a_reset_is_noticed(repo: Path) -> None:
    history = History(repo)
    assert len(history.read().files) == 3
    git(repo, "reset", "-q", "--hard", "HEAD~1")
    past = history.read()
    assert len(past.files) == 2
    assert past.similar("rounded", 10) == {}


def test_the_history_of_another_folder_is_not_read(repo: Path, tmp_path: Path) -> None:
    for number, lead in enumerate(("link", "file")):
        other = tmp_path / f"other{number}"
        other.mkdir()
        if lead == "link":
            (other / ".git").symlink_to(repo / ".git")
        else:
            (other / ".git").write_text(f"gitdir: {repo / '.git'}\n", "utf-8")
        history = History(other)
        assert history.read().files == []
        assert not history.moved()


def test_a_work_tree_of_a_repository_has_its_past(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "aside")
    assert len(History(tmp_path / "tree").read().files) == 3
