"""The past of a git repository, commit by commit, with nothing of the later to be seen.

A commit's message is a task, and the files it changed are what one had to read. What a row of
`replay.py` sees is the tree before the commit, in a repository of its own outside the one that is
replayed: it is fetched commit by commit, so that neither `git log`, nor a ref, nor an object, nor
the time of a file tells anything of what came later. Files carry the time of the last commit that
changed them; the clock stands at the commit before.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

MAX_FILES = 20
"""A commit that changes more has no task that could be told by them."""

_LOG = "--format=%x01%H%x02%P%x02%ct%x02%an <%ae>%x02%B%x03"
_TRAILER = re.compile(
    r"^(?:[a-z-]+-by|cc|change-id|git-svn-id|bug-id|refs?|pull-request|pr-url):\s.*$",
    re.IGNORECASE,
)
_BOT = re.compile(r"\[bot\]|dependabot|renovate|pre-commit-ci|greenkeeper|weblate", re.IGNORECASE)
_BUMP = re.compile(
    r"^(?:chore(?:\(\w+\))?: )?(?:bump|release|prepare (?:for )?(?:the )?(?:next )?release|"
    r"(?:update|increment|set|start) (?:the )?version|version|back to dev\w*)?"
    r"\s*(?:version\s*|to\s*)*v?\d+(?:\.\d+)+\S*(?: release| released)?\.?$"
    r"|^bump\b.*\bfrom\b.*\bto\b|^(?:bump|update) (?:the )?version\b|^release\b.{0,20}$",
    re.IGNORECASE,
)
_MOVED, _ADDED = "RC", "A"
_BRANCH = "main"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that can be asked about: its message, and what it changed of what was there."""

    sha: str
    parent: str
    seconds: int
    """Of the commit, since 1970."""
    message: str
    """Without trailers."""
    changed: tuple[str, ...]
    """Existing files that it changed, moved or deleted, by their names before it."""
    added: int = 0
    """Files that it added, which nobody could have named before."""
    born: tuple[str, ...] = ()
    """What these are called."""

    @property
    def subject(self) -> str:
        """Return the first line of the message."""
        return self.message.partition("\n")[0]


@dataclass(frozen=True, slots=True)
class History:
    """The commits that can be asked about, oldest first, and how many others there are, by why."""

    commits: tuple[Commit, ...]
    skipped: dict[str, int]

    def chosen(self, last: int, every: int, half: str = "") -> tuple[Commit, ...]:
        """Return the commits of a half (`first`, `second`; empty: all), the last, every so many."""
        middle = len(self.commits) // 2
        halves = {"first": self.commits[:middle], "second": self.commits[middle:]}
        some = halves.get(half, self.commits)
        return some[-last:][::every] if last else some[::every]


@dataclass(frozen=True, slots=True)
class Step:
    """A task, and the tree as it was before it was done."""

    commit: Commit
    root: Path
    now: datetime
    """When the commit before was made."""
    touched: tuple[str, ...]
    """Files that differ from the tree of the step before; all of them at the first."""

    @property
    def truth(self) -> frozenset[str]:
        """Return the files that the commit changed."""
        return frozenset(self.commit.changed)


def run(repo: Path, *words: str) -> str:
    """Return what git says in a repository, with nobody's configuration."""
    done = subprocess.run(
        ["git", "-C", str(repo), "-c", "core.quotePath=false", *words],
        capture_output=True,
        check=False,
        env={**os.environ, **_QUIET},
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise SystemExit(f"git {' '.join(words[:3])} in {repo}: {said}")
    return done.stdout.decode("utf-8", "surrogateescape")


_QUIET = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
}


def copied(repo: Path, folder: Path) -> Path:
    """Return a copy of a repository that commits can be fetched from one by one."""
    whole = folder / "whole.git"
    run(repo, "clone", "-q", "--bare", "--no-hardlinks", str(repo.resolve()), str(whole))
    run(whole, "config", "uploadpack.allowAnySHA1InWant", "true")
    return whole


def read_history(repo: Path, *, max_files: int = MAX_FILES) -> History:
    """Return the history that leads to a repository's HEAD."""
    log = run(repo, "log", "--reverse", "--topo-order", "-z", "-M", "--name-status", _LOG, "HEAD")
    commits, skipped = [], Counter[str]()
    for record in log.split("\x01")[1:]:
        commit, reason = _read(record, max_files)
        if commit is None:
            skipped[reason] += 1
        else:
            commits.append(commit)
    return History(tuple(commits), dict(skipped.most_common()))


def replayed(
    whole: Path, commits: Sequence[Commit], folder: Path, *, git: bool = True
) -> Iterator[Step]:
    """Yield each commit with the tree before it, in one folder that changes from step to step.

    Without `git` the tree is only files: nothing in it knows a commit.
    """
    root, hidden = folder / "tree", folder / "hidden.git"
    root.mkdir()
    run(root, "init", "-q")
    for name, value in (("core.logAllRefUpdates", "false"), ("gc.auto", "0")):
        run(root, "config", name, value)
    before = ""
    for commit in commits:
        run(root, "fetch", "-q", "--no-tags", str(whole), commit.parent)
        run(root, "checkout", "-q", "--force", "-B", _BRANCH, commit.parent)
        (root / ".git" / "FETCH_HEAD").unlink(missing_ok=True)
        touched = _touched(root, before, commit.parent)
        now = int(run(root, "log", "-1", "--format=%ct", commit.parent))
        _date(root, before, touched, now)
        if not git:
            (root / ".git").rename(hidden)
        yield Step(commit, root, datetime.fromtimestamp(now, UTC), tuple(touched))
        if not git:
            hidden.rename(root / ".git")
        before = commit.parent


def _read(record: str, max_files: int) -> tuple[Commit | None, str]:
    """Return a commit of the log, or why it is left out."""
    head, _, names = record.partition("\x03")
    sha, parents, seconds, author, message = head.split("\x02", 4)
    changed, born = _names(names)
    commit = Commit(sha, parents, int(seconds), _told(message), changed, len(born), born)
    subject = commit.subject
    reasons = (
        (" " in parents, "merges"),
        (not parents, "first commits"),
        (_BOT.search(author) is not None, "by bots"),
        (not commit.message, "without a message"),
        (_BUMP.search(subject) is not None, "version bumps"),
        (not changed, "changed no file that was there"),
        (len(changed) > max_files, f"changed more than {max_files} files"),
    )
    reason = next((words for holds, words in reasons if holds), "")
    return (None, reason) if reason else (commit, "")


def _names(told: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files that were there before, and those that came."""
    parts = [part.lstrip("\n") for part in told.split("\0")]
    parts = [part for part in parts if part]
    changed: list[str] = []
    born: list[str] = []
    at = 0
    while at < len(parts):
        kind = parts[at][0]
        if kind == _ADDED:
            born.append(parts[at + 1])
        else:
            changed.append(parts[at + 1])
        at += 3 if kind in _MOVED else 2
    return tuple(dict.fromkeys(changed)), tuple(dict.fromkeys(born))


def _told(message: str) -> str:
    """Return a message without what machines add to it."""
    lines = [line.rstrip() for line in message.strip().splitlines()]
    return "\n".join(line for line in lines if not _TRAILER.match(line)).strip()


def _touched(root: Path, before: str, after: str) -> list[str]:
    words = ("diff", "--name-only", "--no-renames", "-z", before, after)
    listed = run(root, *words) if before else run(root, "ls-files", "-z")
    return [path for path in listed.split("\0") if path]


def _date(root: Path, before: str, touched: Sequence[str], now: int) -> None:
    """Give files the time of the last commit that changed them."""
    span = ["HEAD", f"^{before}"] if before else ["HEAD"]
    log = run(root, "log", "-z", "--format=%x01%ct", "--name-only", "--no-renames", *span)
    times: dict[str, int] = {}
    for record in log.split("\x01")[1:]:
        seconds, *names = (part.strip("\n") for part in record.split("\0"))
        for name in names:
            times.setdefault(name, int(seconds))
    for path in touched:
        file = root / path
        if file.is_file() and not file.is_symlink():
            seconds_then = min(times.get(path, now), now)
            os.utime(file, (seconds_then, seconds_then))
    run(root, "update-index", "-q", "--refresh")  # or the next checkout writes these files anew
