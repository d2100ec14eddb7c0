"""The past that a replay shows holds nothing of what came later."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from history import Commit, copied, read_history, replayed, run


class Repo:
    """A git repository whose commits are an hour apart."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.hours = 0
        root.mkdir()
        self.git("init", "-q", "-b", "trunk")

    def git(self, *words: str) -> str:
        when = f"{1_700_000_000 + 3600 * self.hours} +0000"
        names = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *names, *words],
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
            env={"PATH": "/usr/bin:/bin:/usr/local/bin", "GIT_CONFIG_GLOBAL": "/dev/null",
                 "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when},
        )  # fmt: skip
        return done.stdout.strip()

    def commit(self, message: str, files: dict[str, str | None]) -> str:
        """Write files (None: delete), commit, and return the commit."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        self.hours += 1
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty-message", "-m", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


def _shop(repo: Repo) -> list[str]:
    return [
        repo.commit("Begin", {"cart.py": "a\n" * 9, "readme.md": "a shop\n", "old.py": "o\n" * 9}),
        repo.commit("The cart counts", {"cart.py": "b\n" * 9, "new.py": "n\n"}),
        repo.commit("Old is called aged", {"old.py": None, "aged.py": "o\n" * 9}),
        repo.commit("No more words", {"readme.md": None}),
    ]


def _subjects(commits: Sequence[Commit]) -> list[str]:
    return [one.subject for one in commits]


def test_right_is_what_was_there_before_by_its_old_name(repo: Repo) -> None:
    _shop(repo)
    history = read_history(repo.root)
    assert [one.changed for one in history.commits] == [("cart.py",), ("old.py",), ("readme.md",)]
    assert [one.added for one in history.commits] == [1, 0, 0]
    assert [one.born for one in history.commits] == [("new.py",), (), ()]


def test_what_cannot_be_asked_about_is_left_out_and_counted(repo: Repo) -> None:
    repo.commit("Begin", {f"f{n}.txt": "1" for n in range(30)})
    repo.commit("Bump version to 1.2.0", {"f1.txt": "2"})
    repo.commit("v1.3", {"f1.txt": "3"})
    repo.commit("Everything anew", {f"f{n}.txt": "4" for n in range(21)})
    repo.commit("Only a new file", {"g.txt": "1"})
    repo.commit("Signed-off-by: A <a@b.c>", {"f2.txt": "5"})
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    repo.commit("Release the brake when the lid is open", {"f3.txt": "6"})
    repo.git("checkout", "-q", "trunk")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge side", "side")
    history = read_history(repo.root)
    assert _subjects(history.commits) == ["Release the brake when the lid is open"]
    assert history.skipped == {
        "version bumps": 2, "first commits": 1, "changed more than 20 files": 1,
        "changed no file that was there": 1, "without a message": 1, "merges": 1,
    }  # fmt: skip


def test_trailers_are_no_part_of_a_task(repo: Repo) -> None:
    repo.commit("Begin", {"a.py": "1"})
    repo.commit("Fix it\n\nIt broke.\n\nCo-authored-by: B <b@c.d>\nChange-Id: I1", {"a.py": "2"})
    (only,) = read_history(repo.root).commits
    assert only.message == "Fix it\n\nIt broke."


def test_a_step_shows_the_tree_before_its_commit_and_no_later_object(
    repo: Repo, tmp_path: Path
) -> None:
    shas = _shop(repo)
    folder = tmp_path / "past"
    folder.mkdir()
    whole = copied(repo.root, folder)
    commits = read_history(whole).commits
    seen = []
    for step in replayed(whole, commits, folder):
        at = shas.index(step.commit.sha)
        assert all((step.root / path).is_file() for path in step.truth)
        assert run(step.root, "rev-parse", "HEAD").strip() == shas[at - 1]
        assert len(run(step.root, "log", "--all", "--oneline").splitlines()) == at
        listed = run(step.root, "cat-file", "--batch-all-objects", "--batch-check")
        assert not any(sha in listed for sha in shas[at:])
        told = [path for path in (step.root / ".git").rglob("*") if path.is_file()]
        assert not any(sha.encode() in path.read_bytes() for path in told for sha in shas[at:])
        seen.append(sorted(step.touched))
    assert seen == [
        ["cart.py", "old.py", "readme.md"],
        ["cart.py", "new.py"],
        ["aged.py", "old.py"],
    ]


def test_files_have_the_time_of_the_last_commit_that_changed_them(
    repo: Repo, tmp_path: Path
) -> None:
    _shop(repo)
    folder = tmp_path / "past"
    folder.mkdir()
    whole = copied(repo.root, folder)
    hours = []
    for step in replayed(whole, read_history(whole).commits[1:], folder):
        times = {
            path.name: round((path.stat().st_mtime - 1_700_000_000) / 3600)
            for path in step.root.glob("*.*")
            if path.is_file()
        }
        hours.append((times, round((step.now.timestamp() - 1_700_000_000) / 3600)))
    assert hours == [
        ({"cart.py": 2, "new.py": 2, "readme.md": 1, "old.py": 1}, 2),
        ({"cart.py": 2, "new.py": 2, "readme.md": 1, "aged.py": 3}, 3),
    ]


def test_the_repository_that_is_replayed_is_left_as_it_is(repo: Repo, tmp_path: Path) -> None:
    _shop(repo)

    def state() -> dict[str, int]:
        return {str(p): p.stat().st_mtime_ns for p in repo.root.rglob("*")}

    before = state()
    folder = tmp_path / "past"
    folder.mkdir()
    whole = copied(repo.root, folder)
    assert list(replayed(whole, read_history(whole).commits, folder))
    assert state() == before


def test_halves_are_by_time_and_meet_in_the_middle(repo: Repo) -> None:
    repo.commit("Begin", {"a.py": "0"})
    for number in range(1, 8):
        repo.commit(f"Step {number}", {"a.py": str(number)})
    history = read_history(repo.root)
    first, second = history.chosen(0, 1, "first"), history.chosen(0, 1, "second")
    assert [*first, *second] == list(history.commits)
    assert _subjects(history.chosen(4, 2)) == ["Step 4", "Step 6"]
