"""Git is asked of a source's own repository alone; it starts nothing and holds up nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planner.planned import has_git
from tests.planner.shelf import Shelf
from vaultmind.planner.git import History

pytestmark = pytest.mark.skipif(not has_git(), reason="needs git")


@pytest.fixture
def repo(folder: Shelf) -> Shelf:
    """A folder with three commits."""
    for message, *names in (
        ("Cart with a total", "cart.py", "test_cart.py"),
        ("Orders", "orders.py", "docs/orders.md"),
        ("The total of a cart is rounded", "cart.py", "test_cart.py"),
    ):
        for name in names:
            folder.write(name, f"{message}\n")
        folder.commit(message)
    return folder


def test_what_gitignore_newly_hides_is_named_by_no_layer(folder: Shelf) -> None:
    folder.write("cart.py", "A = 1\n")
    folder.write("notes/salary.md", "# Salary\n")
    folder.commit("Begin")
    folder.write("notes/salary.md", "# Salary\n\nMore.\n")
    folder.commit("Raise the salary of Anna")
    folder.write("cart.py", "A = 2\n")
    folder.commit("Change the cart")
    source = folder.source()
    for since in ("", "HEAD~2", "2020-01-01"):
        assert "Anna" in folder.explore(source, "L6", since=since, detail="normal").text
    folder.write(".gitignore", "notes/\n")
    for since in ("", "HEAD~2", "2020-01-01"):
        said = folder.explore(source, "L0", "L1", "L6", since=since, detail="normal")
        assert "salary" not in said.text.casefold()
        assert "Change the cart" in said.text


def test_files_changed_for_such_words_are_found(repo: Shelf) -> None:
    past = History(repo.folder).read()
    found = past.similar("totals of carts", 10)
    assert list(found)[:2] == ["cart.py", "test_cart.py"]
    assert "orders.py" not in found
    assert all(0.0 <= value <= 1.0 for value in found.values())


def test_a_file_keeps_its_past_under_another_name_and_a_reset_is_noticed(repo: Shelf) -> None:
    history = History(repo.folder)
    history.read()
    repo.git("mv", "cart.py", "basket.py")
    repo.commit("A better name")
    assert history.moved()
    found = history.read().similar("totals of carts", 10)
    assert "basket.py" in found and "cart.py" not in found
    assert not history.moved()
    repo.git("reset", "-q", "--hard", "HEAD~2")
    assert len(history.read().files) == 2 and history.past.similar("rounded", 10) == {}


def test_the_history_of_another_folder_is_not_read_but_of_a_work_tree_is(
    repo: Shelf, tmp_path: Path
) -> None:
    link, file = tmp_path / "link", tmp_path / "file"
    link.mkdir()
    (link / ".git").symlink_to(repo.folder / ".git")
    file.mkdir()
    (file / ".git").write_text(f"gitdir: {repo.folder / '.git'}\n", "utf-8")
    assert History(link).read().files == History(file).read().files == []
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "aside")
    assert len(History(tmp_path / "tree").read().files) == 3
