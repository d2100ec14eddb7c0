"""What git says of a source: its last commits, and which files are not as the last one has them.

Git is asked by plumbing that runs no filter, hook, pager, signature check or transport of the
repository's own settings, and takes no lock. Without git, or outside of a work tree, it says so.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from vaultmind.errors import BadArgument
from vaultmind.planner.structure.notes import clean

LAST = 100
"""Commits that are looked at: work further back says little of what is hot now."""
MOST_PATHS = 50
"""A commit of more files (a new license line in each) heats none of them."""
REVISION = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_./@{}~^+-]{0,199}")
REVISION_WORDS = "a revision such as HEAD~3, main, v1.2 or a commit's id"
PLAIN = frozenset({
    ".github", ".gitignore", ".gitattributes", ".gitlab-ci.yml", ".editorconfig", ".vscode",
    ".pre-commit-config.yaml", ".circleci", ".obsidian", ".devcontainer", ".dockerignore",
})  # fmt: skip
_SECONDS = 10.0
_SETTINGS = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.quotePath=false",
    "log.showSignature=false", "log.mailmap=false", "protocol.allow=never", "core.pager=cat",
    "diff.external=", "core.untrackedCache=false",
)  # fmt: skip
_OURS = {
    "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1",
    "GIT_PAGER": "cat", "LC_ALL": "C", "GIT_NO_REPLACE_OBJECTS": "1",
}  # fmt: skip
_LOG = (
    "log", "--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-color", "--no-notes",
    "--no-decorate", "--no-renames", "--name-status", "--no-merges", "--full-diff", "-z",
)  # fmt: skip

log = logging.getLogger(__name__)

Kind = Literal["added", "modified", "removed"]
_KINDS: dict[str, Kind] = {"A": "added", "D": "removed"}


@dataclass(frozen=True, slots=True)
class LoggedCommit:
    """A commit with the files of the source that it changed."""

    id: str
    time: float
    subject: str
    """Empty where the commit is about files that are not shown."""
    changed: tuple[tuple[str, Kind], ...]
    """Of those that may be shown."""


@dataclass(frozen=True, slots=True)
class Past:
    """What git says at one state of the repository. All paths are the source's."""

    head: str
    commits: tuple[LoggedCommit, ...]
    """Newest first, merges left out."""
    tree: Mapping[str, str] = field(default_factory=dict)
    """What the last commit has: path to blob."""


class History:
    """Answers from what it has read until the repository changes. Safe for many threads."""

    def __init__(
        self, root: Path, visible: Callable[[str], bool], named: Callable[[str], bool]
    ) -> None:
        """Take what tells which files may be shown, and which may be spoken of at all."""
        self.root = root
        self.fault = ""
        """Why git was not asked."""
        self.oid_length = 40
        self._visible = visible
        self._named = named
        self._lock = threading.RLock()
        self._watched: tuple[Path, ...] | None = None
        self._held: tuple[object, Past | None] = (None, None)
        self._prefix = ""
        """What the source lies in within the repository, with a `/` at the end."""
        self._since: dict[tuple[str, str], tuple[tuple[str, Kind], ...]] = {}

    def key(self) -> tuple[object, ...]:
        """Return what differs once there is another commit, or another branch. Runs nothing."""
        with self._lock:
            if self._watched is None or (not self._watched and (self.root / ".git").exists()):
                self._watched = self._find()
            return tuple(map(_stamp, self._watched))

    def past(self) -> Past | None:
        """Return the last commits and the last tree; None without git."""
        key = self.key()
        with self._lock:
            if self._held[0] == key:
                return self._held[1]
            past = self._read() if self._watched else None
            self._held = (key, past)
            self._since.clear()
            return past

    def revision(self, name: str) -> str:
        """Return the id of the commit that a revision names; empty when there is none.

        Raises BadArgument for what cannot be a revision: no option of git's can be smuggled in.
        """
        if not REVISION.fullmatch(name) or ".." in name:
            raise BadArgument("since", name, REVISION_WORDS)
        if self.past() is None:
            return ""
        wanted = f"{name}^{{commit}}"
        found = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
        return found.strip() if found else ""

    def changed_since(self, commit: str) -> tuple[tuple[str, Kind], ...]:
        """Return the files that differ between a commit and the last one."""
        past = self.past()
        if past is None or not re.fullmatch(r"[0-9a-f]{40,64}", commit):
            return ()
        with self._lock:
            key = (past.head, commit)
            if key not in self._since:
                said = self._git(
                    "diff-tree", "-r", "-z", "--name-status", "--no-renames", "--no-ext-diff",
                    "--no-textconv", "--relative", commit, past.head, "--",
                )  # fmt: skip
                named = tuple(_statuses(iter((said or "").split("\0"))))
                self._since[key] = tuple(one for one in named if self._visible(one[0]))
            return self._since[key]

    def commits_since(self, commit: str) -> tuple[LoggedCommit, ...]:
        """Return the commits after one, newest first, as many as are looked at."""
        past = self.past()
        if past is None or not re.fullmatch(r"[0-9a-f]{40,64}", commit):
            return ()
        return self._log(f"{commit}..{past.head}")

    # --- reading -------------------------------------------------------------------------

    def _find(self) -> tuple[Path, ...]:
        """Return the files by which a change of the repository is seen; none without one."""
        if shutil.which("git") is None:
            self.fault = "git is not installed"
            return ()
        said = self._git(
            "rev-parse", "--git-dir", "--git-common-dir", "--show-prefix", "--show-object-format"
        )
        if not said:
            self.fault = self.fault or "no git repository"
            return ()
        self.fault = ""
        own, common, prefix, *rest = said.split("\n")
        folder, shared = (Path(os.path.realpath(self.root / one)) for one in (own, common))
        if not belongs(self.root, folder, shared):
            self.fault = "its .git leads to another folder's repository"
            return ()
        self._prefix = prefix
        self.oid_length = 64 if rest[:1] == ["sha256"] else 40
        return (
            folder / "HEAD", folder / "logs/HEAD", shared / "packed-refs",
            shared / "reftable/tables.list", *_branch_files(folder, shared),
        )  # fmt: skip

    def _read(self) -> Past | None:
        head = (self._git("rev-parse", "--verify", "--quiet", "HEAD^{commit}") or "").strip()
        if not head:
            self.fault = self.fault or "the repository has no commit yet"
            return None
        folder = self._watched[0].parent if self._watched else self.root
        if self._watched:  # another branch has another file
            shared = self._watched[2].parent
            self._watched = (*self._watched[:4], *_branch_files(folder, shared))
        self.fault = ""
        return Past(head, self._log(head), self._tree(head))

    def _log(self, revisions: str) -> tuple[LoggedCommit, ...]:
        mark = secrets.token_hex(8)  # a message may hold anything but this
        shape = f"--format={mark}%H{mark}%ct{mark}%s{mark}"
        said = self._git(*_LOG, shape, f"--max-count={LAST}", revisions, "--", ".") or ""
        parts = said.split(mark)[1:]
        return tuple(self._commit(parts[at : at + 4]) for at in range(0, len(parts) - 3, 4))

    def _commit(self, parts: list[str]) -> LoggedCommit:
        """Return a commit; it is about what is not shown if it changed anything else as well."""
        id_, time, subject, rest = parts
        named = tuple(_statuses(iter(rest.lstrip("\0\n").split("\0"))))
        inside = [
            (path.removeprefix(self._prefix), kind)
            for path, kind in named
            if path.startswith(self._prefix)
        ]
        told = len(inside) == len(named)
        told = told and all(_is_plain(path) or self._named(path) for path, _ in inside)
        shown = tuple(one for one in inside if self._visible(one[0]))
        return LoggedCommit(id_, float(time), clean(subject) if told and shown else "", shown)

    def _tree(self, head: str) -> dict[str, str]:
        said = self._git("ls-tree", "-r", "-z", head, "--", ".") or ""
        tree = {}
        for one in said.split("\0"):
            about, _, path = one.partition("\t")
            parts = about.split()
            if path and len(parts) == 3 and parts[1] == "blob" and self._visible(path):  # noqa: PLR2004
                tree[path] = parts[2]
        return tree

    def _git(self, *arguments: str) -> str | None:
        """Return what git prints; None when it fails, with the reason in `fault`."""
        program = shutil.which("git")
        if program is None:
            return None
        settings = [part for one in _SETTINGS for part in ("-c", one)]
        command = [program, "--no-optional-locks", "--literal-pathspecs", *settings, *arguments]
        try:
            done = subprocess.run(
                command, cwd=self.root, env=environment(), stdin=subprocess.DEVNULL,
                capture_output=True, timeout=_SECONDS, check=False,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            self.fault = f"git could not be run: {error}"
            return None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            log.debug("git %s: %s", arguments[0], said)
            if "dubious ownership" in said:
                self.fault = "git does not trust this folder: it belongs to another user"
            return None
        return done.stdout.decode("utf-8", "replace")


def day_of(seconds: float, like: datetime) -> str:
    """Return the day of a time, in the time zone of a clock's present."""
    try:
        return datetime.fromtimestamp(seconds, like.tzinfo).date().isoformat() if seconds else ""
    except (ValueError, OverflowError, OSError):  # a commit may claim any time
        return ""


def belongs(root: Path, folder: Path, shared: Path) -> bool:
    """Tell whether a repository is of the work tree that a source lies in, and says so itself.

    A `.git` may be a file or a link that leads anywhere: to the history of a folder that nobody
    linked. A work tree of `git worktree` and a submodule are named by the repository in return.
    """
    top = next((one for one in (root, *root.parents) if os.path.lexists(one / ".git")), None)
    if top is None:
        return False
    if folder == shared:
        named = _setting(folder / "config", "worktree")
        back = Path(os.path.realpath(folder / named)) if named else None
        return not (top / ".git").is_symlink() and (folder == top / ".git" or back == top)
    try:
        named = (folder / "gitdir").read_text("utf-8").strip()
    except (OSError, ValueError):
        return False
    return folder.parent == shared / "worktrees" and Path(os.path.realpath(named)) == top / ".git"


def _setting(config: Path, name: str) -> str:
    """Return a setting of a repository's own file; empty when it is not there."""
    try:
        lines = config.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    pairs = (line.partition("=") for line in lines)
    return next((value.strip() for key, _, value in pairs if key.strip().lower() == name), "")


def _statuses(words: Iterator[str]) -> Iterator[tuple[str, Kind]]:
    for status in words:
        path = next(words, "")
        if status.strip() and path:
            yield path, _KINDS.get(status.strip()[:1], "modified")


def _is_plain(path: str) -> bool:
    """Tell whether a path is of settings that projects have: never shown, and no secret."""
    return path.partition("/")[0] in PLAIN


def _branch_files(folder: Path, shared: Path) -> tuple[Path, ...]:
    """Return the file of the branch that is checked out; none when no branch is."""
    try:
        said = (folder / "HEAD").read_text("utf-8", "replace").strip()
    except OSError:
        return ()
    name = said.removeprefix("ref: ")
    return (shared / name,) if name != said and ".." not in name else ()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # on the way of every question
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def environment() -> dict[str, str]:
    """Return our environment without what points git elsewhere: a hook of git's may have set it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | _OURS
