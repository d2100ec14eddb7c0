"""Git is asked of a source's own repository alone; it starts nothing and holds up nobody."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.planner.planned import has_git
from tests.planner.structure.shelf import Shelf
from vaultmind.planner.candidates.history import PastReader
from vaultmind.planner.structure import git as asked
from vaultmind.planner.structure.git import History

pytestmark = pytest.mark.skipif(not has_git(), reason="needs git")
SOON_SECONDS = 5.0


def soon(work: Callable[[], object]) -> None:
    """Do a piece of work that must not wait for anything."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(SOON_SECONDS)
    assert not thread.is_alive(), "it waits"


def a_repository(shelf: Shelf) -> Shelf:
    shelf.write("cart.py", "def cart(): return 1\n")
    shelf.commit("Add a cart")
    shelf.write("cart.py", "def cart(): return 2\n")
    shelf.commit("Fix the total of the cart")
    return shelf


def all_say_nothing(root: Path) -> bool:
    """Tell whether neither of the two readers of histories has one to tell."""
    history = History(root, lambda path: True, lambda path: True)
    return history.past() is None and not PastReader(root).past().files


def test_what_is_borrowed_from_another_repository_is_not_read(
    folder: Shelf, tmp_path: Path
) -> None:
    private = a_repository(Shelf(tmp_path / "private"))
    git = ["git", "clone", "-q", "--shared", str(private.folder), str(folder.folder)]
    subprocess.run(git, check=True, capture_output=True)
    assert all_say_nothing(folder.folder)
    assert "borrows" in folder.structure().history.fault
    private.close()


def test_git_that_does_not_answer_is_asked_again_in_a_while(
    folder: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_repository(folder)
    now = [0.0]
    history = History(folder.folder, lambda p: True, lambda p: True, monotonic=lambda: now[0])
    reader = PastReader(folder.folder, lambda: now[0])
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", os.devnull)
    assert history.past() is None
    assert not reader.past().files
    monkeypatch.setenv("PATH", path)
    assert history.past() is None
    assert not reader.moved()
    now[0] = asked.RETRY_SECONDS
    assert history.past() is not None
    assert len(reader.past().files) == 2


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
