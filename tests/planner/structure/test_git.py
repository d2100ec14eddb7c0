"""What git says: the last commits, what is not committed, and nothing that it may run or show."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.planner.structure.shelf import NOW, Shelf
from vaultmind.errors import BadArgument
from vaultmind.index.linked.ground import FolderGround
from vaultmind.planner.structure.git import day_of
from vaultmind.planner.structure.layers.sight import Sight
from vaultmind.planner.structure.structure import Structure


def uncommitted(structure: Structure) -> dict[str, str]:
    return dict(Sight(structure, NOW).uncommitted)


def test_commits_come_newest_first_with_the_files_they_changed(folder: Shelf) -> None:
    folder.write("a.py", "A = 1\n")
    folder.write("b.py", "B = 1\n")
    first = folder.commit("Begin")
    folder.write("a.py", "A = 2\n")
    (folder.folder / "b.py").unlink()
    folder.commit("Drop B, since nobody used it")
    past = folder.structure().history.past()
    assert past is not None
    assert [one.subject for one in past.commits] == ["Drop B, since nobody used it", "Begin"]
    assert past.commits[0].changed == (("a.py", "modified"), ("b.py", "removed"))
    assert past.commits[1].id == first
    assert set(past.tree) == {"a.py"}


def test_what_is_not_committed_is_told_without_running_a_filter(folder: Shelf) -> None:
    folder.write("a.py", "A = 1\n")
    folder.write("gone.py", "G = 1\n")
    folder.write(".gitattributes", "*.py filter=evil\n")
    folder.commit("Begin")
    ran = folder.folder.parent / "ran"
    for name in ("clean", "smudge", "process"):
        folder.git("config", f"filter.evil.{name}", f"touch {ran}; cat")
    folder.git("config", "core.fsmonitor", f"touch {ran}; false")
    folder.git("config", "core.pager", f"touch {ran}; cat")
    folder.git("config", "log.showSignature", "true")
    folder.git("config", "gpg.program", f"touch {ran}; false")
    folder.git("config", "diff.external", f"touch {ran}; false")
    folder.write("a.py", "A = 2\n")
    folder.write("new.py", "N = 1\n")
    (folder.folder / "gone.py").unlink()
    before = (folder.folder / ".git/index").stat().st_mtime_ns
    structure = folder.structure()
    assert uncommitted(structure) == {"a.py": "modified", "new.py": "added", "gone.py": "removed"}
    assert structure.history.changed_since(structure.history.revision("HEAD")) == ()
    assert not ran.exists()
    assert (folder.folder / ".git/index").stat().st_mtime_ns == before


def test_a_commit_is_seen_without_asking_git_again_and_again(folder: Shelf) -> None:
    folder.write("a.py", "A = 1\n")
    folder.commit("Begin")
    structure = folder.structure()
    key, past = structure.history.key(), structure.history.past()
    assert structure.history.past() is past
    folder.write("a.py", "A = 2\n")
    folder.commit("Change A")
    assert structure.history.key() != key
    changed = structure.history.past()
    assert changed is not None
    assert changed.commits[0].subject == "Change A"


def test_another_branch_is_seen(folder: Shelf) -> None:
    folder.write("a.py", "A = 1\n")
    folder.commit("Begin")
    structure = folder.structure()
    assert structure.history.past() is not None
    folder.git("checkout", "-q", "-b", "cart")
    folder.write("a.py", "A = 2\n")
    folder.commit("On a branch")
    past = structure.history.past()
    assert past is not None
    assert past.commits[0].subject == "On a branch"
    folder.write("a.py", "A = 3\n")
    folder.commit("Again")
    past = structure.history.past()
    assert past is not None
    assert past.commits[0].subject == "Again"


def test_a_source_below_the_top_of_a_repository_has_its_own_paths(tmp_path: Path) -> None:
    whole = Shelf(tmp_path / "repository")
    part = Shelf(tmp_path / "repository/notes", state=tmp_path / "state")
    part.write("A.md", "# One\n")
    whole.write("outside.md", "# Other\n")
    whole.commit("Begin")
    whole.write("outside.md", "# More\n")
    whole.commit("Outside alone")
    past = part.structure().history.past()
    assert past is not None
    assert [one.changed for one in past.commits] == [(("A.md", "added"),)]
    assert past.commits[0].subject == "", "it is about a file outside as well"
    assert set(past.tree) == {"A.md"}
    whole.close()
    part.close()


def test_a_work_tree_of_another_place_is_a_repository_too(folder: Shelf, tmp_path: Path) -> None:
    folder.write("a.py", "A = 1\n")
    folder.commit("Begin")
    folder.git("worktree", "add", "-q", str(tmp_path / "beside"))
    beside = Shelf(tmp_path / "beside", state=tmp_path / "beside-state")
    beside.write("B.md", "# B\n")
    beside.git("add", "-A")
    beside.git("commit", "-q", "-m", "Beside")
    past = beside.structure().history.past()
    assert past is not None
    assert past.commits[0].subject == "Beside"
    beside.close()


SMUGGLED = (
    "--output=/tmp/x", "-n1", "HEAD..main", "a b", "HEAD:secrets/key", "", "x\0y", "$(id)", "`id`",
    "a" * 300,
)  # fmt: skip


def test_no_option_can_be_smuggled_in_as_a_revision(folder: Shelf) -> None:
    folder.write("a.py", "A = 1\n")
    folder.commit("Begin")
    history = folder.structure().history
    for name in SMUGGLED:
        with pytest.raises(BadArgument, match="revision"):
            history.revision(name)


def test_a_revision_that_is_not_there_is_none(folder: Shelf) -> None:
    folder.write("a.py", "A = 1\n")
    folder.commit("Begin")
    assert folder.structure().history.revision("no-such-branch") == ""


def test_what_points_git_elsewhere_is_not_listened_to(
    folder: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("a.py", "A = 1\n")
    folder.commit("Begin")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nowhere/index"))
    assert folder.structure().history.past() is not None


def test_without_git_it_says_so(folder: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write("a.py", "A = 1\n")
    folder.commit("Begin")
    monkeypatch.setenv("PATH", os.devnull)
    history = folder.structure().history
    assert history.past() is None
    assert history.fault == "git is not installed"


def test_a_folder_that_is_no_repository_says_so_until_it_is_one(folder: Shelf) -> None:
    folder.write("a.py", "A = 1\n")
    history = folder.structure().history
    assert history.past() is None
    assert "no git repository" in history.fault
    folder.git("init", "-q", "-b", "main")
    assert history.past() is None
    assert "no commit" in history.fault
    folder.commit("Begin")
    assert history.past() is not None


def test_excluded_files_and_commits_about_them_are_not_told(folder: Shelf) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    folder.write("a.py", "A = 1\n")
    folder.commit(f"Begin with {token}")
    folder.write("a.py", "A = 2\n")
    folder.write(".env", "TOKEN=1\n")
    folder.git("add", "-f", ".env")
    folder.commit(f"Ask the bank, with {token} in .env")
    folder.write("secrets/plan.md", "x\n")
    folder.git("add", "-f", "secrets/plan.md")
    folder.write("a.py", "A = 3\n")
    folder.commit("Plans to leave the company")
    past = folder.structure().history.past()
    assert past is not None
    said = repr(past)
    assert token not in said
    assert "Ask the bank, with ‹api key› in ‹secret file›" in said
    assert "leave the company" not in said
    assert ".env" not in said
    assert "plan.md" not in said


def test_commits_of_memory_are_not_told_in_a_vault_that_git_keeps(vault: Shelf) -> None:
    vault.write("A.md", "# One\n")
    vault.write("VaultMind/agents/dexter/memory/brain.md", "## user\n- Likes gin\n")
    vault.commit("backup: A.md, dexter likes gin")
    vault.write("VaultMind/agents/dexter/memory/brain.md", "## user\n- Likes gin, dry\n")
    vault.write("A.md", "# Two\n")
    vault.commit("backup: gin again")
    past = vault.structure().history.past()
    assert past is not None
    assert "gin" not in repr(past)
    assert "brain" not in repr(past)
    assert past.commits[0].changed == (("A.md", "modified"),)


@pytest.mark.parametrize("how", ["file", "link", "commondir"])
def test_a_git_file_that_leads_to_another_repository_is_not_followed(
    folder: Shelf, tmp_path: Path, how: str
) -> None:
    private = Shelf(tmp_path / "private")
    private.write("a.py", "A = 1\n")
    private.commit("A private thing")
    folder.write("a.py", "A = 1\n")
    dot = folder.folder / ".git"
    if how == "file":
        dot.write_text(f"gitdir: {private.folder}/.git\n")
    elif how == "link":
        dot.symlink_to(private.folder / ".git")
    else:
        dot.mkdir()
        (dot / "HEAD").write_text("ref: refs/heads/main\n")
        (dot / "commondir").write_text(f"{private.folder}/.git\n")
    history = folder.structure().history
    assert history.past() is None
    assert "another folder" in history.fault or "no git repository" in history.fault
    private.close()


def test_a_submodule_has_its_own_history(folder: Shelf, tmp_path: Path) -> None:
    part = Shelf(tmp_path / "part")
    part.write("b.py", "B = 1\n")
    part.commit("Begin the part")
    folder.write("a.py", "A = 1\n")
    folder.commit("Begin")
    allowed = ("-c", "protocol.file.allow=always")
    folder.git(*allowed, "submodule", "--quiet", "add", str(part.folder), "part")
    inner = Shelf(folder.folder / "part", FolderGround(folder.folder / "part"), tmp_path / "inner")
    past = inner.structure().history.past()
    assert past is not None
    assert past.commits[0].subject == "Begin the part"
    for shelf in (inner, part):
        shelf.close()


def test_no_message_and_no_time_of_a_commit_breaks_it(folder: Shelf) -> None:
    folder.write("a.py", "A = 1\n")
    folder.commit("odd \x01 \x02 \x03 message")
    structure = folder.structure()
    past = structure.history.past()
    assert past is not None
    assert past.commits[0].changed == (("a.py", "added"),)
    assert day_of(1e30, NOW) == ""


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Refresh the token once (#12)", "Refresh the token once (#12)"),
        ("Add deploy/.env and .ENV, see process.env", "Add {0} and {0}, see process.env"),
        ("Keys: `deploy/.env`, ./deploy/.env.", "Keys: `{0}`, ./{0}."),
        ("password=hunter2-and-more in .env", "password=‹password› in {0}"),
    ],
)
def test_of_a_file_of_secrets_only_the_name_is_left_out_of_a_message(
    folder: Shelf, said: str, told: str
) -> None:
    folder.write("b.py", "B = 1\n")
    folder.commit("Begin")
    folder.write("a.py", "A = 1\n")
    folder.write("deploy/.env", "TOKEN=1\n")
    folder.git("add", "-f", "deploy/.env")
    folder.commit(said)
    past = folder.structure().history.past()
    assert past is not None
    assert past.commits[0].subject == told.format("‹secret file›")
    assert past.commits[0].changed == (("a.py", "added"),)


def test_a_secret_in_a_folder_that_is_hidden_hides_the_message(folder: Shelf) -> None:
    folder.write("b.py", "B = 1\n")
    folder.commit("Begin")
    folder.write("a.py", "A = 1\n")
    folder.write("secrets/server.key", "x\n")
    folder.git("add", "-f", "secrets/server.key")
    folder.commit("The server moves to the moon")
    past = folder.structure().history.past()
    assert past is not None
    assert past.commits[0].subject == ""
