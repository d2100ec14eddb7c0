"""Git is asked of a source's own repository alone; it starts nothing and holds up nobody."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.planner.planned import has_git
from tests.planner.structure.shelf import Shelf
from tests.waiting import until
from vaultmind.index.linked.ground import FolderGround
from vaultmind.planner.candidates.history import PastReader
from vaultmind.planner.structure import git as asked
from vaultmind.planner.structure.git import History
from vaultmind.planner.structure.git_call import find
from vaultmind.planner.structure.layers import explore

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


def git_instead(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program called git before the real one, which is `$GIT` in its script."""
    folder.mkdir()
    program = folder / "git"
    program.write_text(f"#!/bin/sh\nGIT={shutil.which('git')}\n{script}\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


TRAPS = {
    "ssh": (
        "remote.origin.url=ssh://host/x", "core.sshCommand={evil}", "protocol.ssh.allow=always",
    ),
    "ext": ("remote.origin.url=ext::{evil}", "protocol.ext.allow=always"),
    "file": (
        "remote.origin.url={there}", "remote.origin.uploadpack={evil}",
        "protocol.file.allow=always",
    ),
}  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS)
def test_a_missing_tree_is_fetched_from_nowhere(
    folder: Shelf, tmp_path: Path, trap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, ran, evil = a_repository(folder).folder, tmp_path / "ran", tmp_path / "evil"
    tree = folder.git("rev-parse", "HEAD~1^{tree}")
    evil.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n", "utf-8")
    evil.chmod(0o755)
    there = tmp_path / "there"
    subprocess.run(["git", "init", "-q", str(there)], check=True)
    (root / ".git/objects" / tree[:2] / tree[2:]).unlink()
    settings = (
        "core.repositoryformatversion=1", "extensions.partialClone=origin",
        "remote.origin.promisor=true", "remote.origin.partialclonefilter=tree:0", *TRAPS[trap],
    )  # fmt: skip
    for one in settings:
        folder.git("config", *one.format(evil=evil, there=there).split("=", 1))
    plain = ["git", "-C", str(root), "log", "--name-status"]
    subprocess.run(plain, check=False, capture_output=True)
    assert ran.exists(), "the trap works"
    ran.unlink()
    # An older git knows no GIT_NO_LAZY_FETCH.
    git_instead(tmp_path / "bin", monkeypatch, 'unset GIT_NO_LAZY_FETCH\nexec $GIT "$@"')
    history = folder.structure().history
    history.past()
    history.changed_since(history.revision("HEAD~1"))
    history.commits_since(history.revision("HEAD~1"))
    PastReader(root).past()
    assert not ran.exists()


@pytest.mark.parametrize("name", ["refs", "objects", "refs/heads", "packed-refs", "HEAD"])
def test_what_links_to_another_repository_is_not_read(
    folder: Shelf, tmp_path: Path, name: str
) -> None:
    private = a_repository(Shelf(tmp_path / "private"))
    private.git("pack-refs", "--all")
    a_repository(folder)
    part = folder.folder / ".git" / name
    if part.is_dir():
        shutil.rmtree(part)
    part.unlink(missing_ok=True)
    part.symlink_to(private.folder / ".git" / name)
    assert all_say_nothing(folder.folder)
    assert "another folder" in folder.structure().history.fault
    private.close()


def test_what_is_borrowed_from_another_repository_is_not_read(
    folder: Shelf, tmp_path: Path
) -> None:
    private = a_repository(Shelf(tmp_path / "private"))
    git = ["git", "clone", "-q", "--shared", str(private.folder), str(folder.folder)]
    subprocess.run(git, check=True, capture_output=True)
    assert all_say_nothing(folder.folder)
    assert "borrows" in folder.structure().history.fault
    private.close()


def test_what_points_git_elsewhere_is_listened_to_by_no_reader(
    folder: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = a_repository(Shelf(tmp_path / "private"))
    monkeypatch.setenv("GIT_DIR", str(private.folder / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(private.folder))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.worktree")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(private.folder))
    assert all_say_nothing(folder.folder)
    private.close()


@pytest.mark.parametrize("name", [".git", "gitdir", "commondir", "HEAD", "config"])
def test_a_named_pipe_in_a_repository_makes_nobody_wait(
    folder: Shelf, tmp_path: Path, name: str
) -> None:
    root, own = folder.folder, tmp_path / "own/worktrees/x"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    if name != "config":
        (own / "commondir").write_text("../..\n")
    if name == ".git":
        os.mkfifo(root / ".git")
    else:
        (own / name).unlink(missing_ok=True)
        os.mkfifo(own / name)
        (root / ".git").write_text(f"gitdir: {own}\n")
    soon(lambda: all_say_nothing(root))


def test_a_bare_repository_beside_a_broken_one_is_not_taken_for_it(
    folder: Shelf, tmp_path: Path
) -> None:
    private = a_repository(Shelf(tmp_path / "private"))
    shutil.copytree(private.folder / ".git", folder.folder, dirs_exist_ok=True)
    (folder.folder / ".git/objects").mkdir(parents=True)
    (folder.folder / ".git/HEAD").write_text("odd\n")
    assert all_say_nothing(folder.folder)
    private.close()


def test_a_slow_git_holds_up_no_other_source_and_no_lock(
    folder: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_repository(folder)
    other = a_repository(Shelf(tmp_path / "other"))
    slow, quick = folder.structure(), other.structure()
    gate, came = tmp_path / "gate", tmp_path / "came"
    os.mkfifo(gate)
    script = f'case "$PWD" in {folder.folder.resolve()}) touch {came}; read line < {gate};; esac\n'
    git_instead(tmp_path / "bin", monkeypatch, f'{script}exec $GIT "$@"')
    waits = threading.Thread(target=lambda: explore(slow, "incident"), daemon=True)
    waits.start()
    until(came.exists)
    soon(lambda: explore(quick, "incident"))
    soon(slow.history.key)
    soon(slow.records)
    soon(PastReader(other.folder).past)
    assert waits.is_alive()
    monkeypatch.setenv("PATH", os.pathsep.join(os.environ["PATH"].split(os.pathsep)[1:]))
    gate.write_text("\n\n\n\n\n")  # whoever is called from here on is the real one
    waits.join(SOON_SECONDS)
    assert not waits.is_alive()
    other.close()


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


def test_a_repository_below_which_a_source_lies_is_found_with_its_own_names(
    tmp_path: Path,
) -> None:
    whole = a_repository(Shelf(tmp_path / "whole"))
    (whole.folder / "part/deep").mkdir(parents=True)
    found = find((whole.folder / "part/deep").resolve())
    assert found.repository is not None
    assert found.repository.prefix == "part/deep/"
    whole.close()


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


def test_of_the_last_try_nothing_hidden_is_shown(
    folder: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_repository(folder)
    structure = folder.structure()
    monkeypatch.setattr(structure, "verify", lambda paths: False)
    assert explore(structure, which=("L1",)).freshness == "stale"
    monkeypatch.setattr(structure, "shows", lambda path: path != "cart.py")
    said = explore(structure, which=("L1", "L6"))
    assert "cart.py" not in said.text
    assert any("left out" in note for note in said.notes)


def test_a_linked_folder_may_be_a_clone(folder: Shelf, tmp_path: Path) -> None:
    a_repository(folder)
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(folder.folder), str(clone)], check=True)
    shelf = Shelf(clone, FolderGround(clone.resolve()))
    past = shelf.structure().history.past()
    assert past is not None
    assert len(past.commits) == len(PastReader(clone).past().files) == 2
    shelf.close()
