"""What git says of a source: what its commits changed and why, and what is not committed yet.

Only the repository of the source itself is asked: one that its `.git` merely leads to, or whose
objects lie elsewhere, is another folder's. Git then fetches nothing, starts no program that the
repository's settings name, takes no lock, and is given up after a while.
"""

from __future__ import annotations

import logging
import os
import subprocess
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vaultmind.episodes.types import Change
from vaultmind.episodes.watch import Commit
from vaultmind.planner.graph import WordTable
from vaultmind.planner.records import clean

SECONDS = 30.0
PATIENT_SECONDS = 0.2
"""Who waits for less does without: what follows a source in the background reads it."""
MOST_COMMITS = 4000
"""Commits that are read, the newest."""
LAST = 100
"""Commits that are shown: work further back says little of what is hot now."""
MOST_TOUCHED = 40
"""A commit that changed more files says little of any of them."""
HALF_LIFE = 480.0
"""Commits after which a change counts half."""
FEW_COMMITS = 20
"""Of so few commits half is believed of what they say."""
ABSENT, ELSEWHERE = "no git repository", "its .git leads to another folder's repository"
BORROWS = "its repository borrows from another one (objects/info/alternates)"
_PLAIN = frozenset({".gitignore", ".gitattributes", ".dockerignore", ".vscode", ".obsidian"})
"""Settings that projects have: never shown, and no secret."""
_SETTINGS = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.quotePath=false",
    "core.untrackedCache=false", "core.alternateRefsCommand=", "diff.external=",
    "log.showSignature=false", "log.mailmap=false", "log.showRoot=true", "gpg.program=false",
    "maintenance.auto=false", "gc.auto=0", "protocol.allow=never",
)  # fmt: skip
"""What a repository's own settings must not switch on: they can name programs."""
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_PAGER": "cat", "LC_ALL": "C",
}  # fmt: skip
"""Without a protocol that is allowed nothing is fetched, and nobody asked for a password."""
_LOG = (
    "log", f"--max-count={MOST_COMMITS}", "--no-merges", "--full-diff", "--full-history", "-z",
    "--name-status", "--no-ext-diff", "--no-textconv", "--no-notes",
    "--format=%x01%H %ct%x02%B%x03", "-M",
)  # fmt: skip
_OWN = ("commit", "cherry-pick", "revert")
"""How the log of HEAD calls what was committed in this work tree."""
log = logging.getLogger(__name__)


class GitFailed(Exception):
    """Git said no, or could not be asked."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A commit as the log has it: (name before, name after, letter) of each file it changed."""

    id: str
    time: float
    message: str
    changes: tuple[tuple[str, str, str], ...]
    is_whole: bool
    """Whether all that it changed lies in the source."""


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository of the work tree that a source lies in."""

    root: Path
    """The source."""
    prefix: str
    """The source's path in the repository, with a `/` at the end."""
    folder: Path

    def stamp(self) -> tuple[object, ...]:
        """Return what differs once there is another commit or branch. Runs nothing."""
        return tuple(_stamp(self.folder / name) for name in ("HEAD", "logs/HEAD", "ORIG_HEAD"))

    def ask(self, *words: str) -> str:
        """Return what git says. Raises GitFailed. No lock may be held: it can take its time."""
        settings = [part for one in _SETTINGS for part in ("-c", one)]
        quiet = ("--no-optional-locks", "--no-pager", "--literal-pathspecs")
        kept = {name: told for name, told in os.environ.items() if not name.startswith("GIT_")}
        try:
            done = subprocess.run(
                ["git", *quiet, *settings, *words], cwd=self.root, env=kept | _ENVIRONMENT,
                stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise GitFailed(f"git did not answer: {type(error).__name__}") from error
        if done.returncode:
            raise GitFailed(done.stderr.decode("utf-8", "replace").partition("\n")[0])
        return done.stdout.decode("utf-8", "replace")


def find_repository(root: Path) -> Repository:
    """Return the repository of a source, found by its files. Raises GitFailed where it has none."""
    root = _real(root)
    dots = (one / ".git" for one in (root, *root.parents))
    dot = next((one for one in dots if os.path.lexists(one)), None)
    if dot is None:
        raise GitFailed(ABSENT)
    folder = _real(dot)
    if not dot.is_dir():  # a work tree of `git worktree` names it in return; a submodule's is above
        folder = _real(dot.parent / _words(dot).removeprefix("gitdir:").strip())
        back = _words(folder / "gitdir")
        modules = (up / ".git/modules" for up in dot.parents[1:])
        is_named = bool(back) and _real(Path(back)) == dot
        if not is_named and not any(map(folder.is_relative_to, modules)):
            raise GitFailed(ELSEWHERE)
    shared = _real(folder / _words(folder / "commondir"))
    if dot.is_symlink() or (shared / "objects").is_symlink():
        raise GitFailed(ELSEWHERE)
    if os.path.lexists(shared / "objects/info/alternates"):
        raise GitFailed(BORROWS)
    if not (shared / "objects").is_dir():
        raise GitFailed(ABSENT)
    inside = root.relative_to(dot.parent).as_posix()
    return Repository(root, "" if inside == "." else f"{inside}/", folder)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _words(file: Path) -> str:
    return file.read_text("utf-8", "replace").strip() if file.is_file() else ""


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


# --- the past -----------------------------------------------------------------------------


class Past:
    """The commits of a source, newest first, and tables over them. Never changed once it is made.

    Files are named as they are called now. The commit that a source began with says nothing.
    """

    def __init__(self, commits: Sequence[Logged] = ()) -> None:
        self.commits = commits
        self.files: list[tuple[str, ...]] = []
        """Of each commit what it changed; nothing where it changed or added very many."""
        self._messages = WordTable[int]()
        added = [sum(kind == "A" for *_, kind in one.changes) for one in commits]
        known, called = sum(added), dict[str, str]()
        for at, one in enumerate(commits):
            known -= added[at]
            touched = dict.fromkeys(called.get(new, new) for _, new, _ in one.changes)
            called |= {old: called.get(new, new) for old, new, kind in one.changes if kind == "R"}
            is_small = 2 * added[at] <= known and len(touched) <= MOST_TOUCHED
            self.files.append(tuple(touched) if is_small else ())
            self._messages.put(at, one.message)

    def similar(self, task: str, most: int) -> dict[str, float]:
        """Return the files that commits with the task's words changed, 0 to 1."""
        found: defaultdict[str, float] = defaultdict(float)
        for at, like in self._messages.like(task, most).items():
            for path in self.files[at]:
                found[path] += like * like * 0.5 ** (at / HALF_LIFE) / len(self.files[at]) ** 0.5
        ranked = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:most]
        sure = len(self.files) / (len(self.files) + FEW_COMMITS)
        return {path: sure * value / ranked[0][1] for path, value in ranked}


class History:
    """Answers for one source from what it has read until HEAD moves. Any thread."""

    def __init__(
        self,
        root: Path,
        shows: Callable[[str], bool] = lambda path: True,
        speaks_of: Callable[[str], bool] = lambda path: True,
    ) -> None:
        """Take what tells which files may be shown, and which may be spoken of at all."""
        self.fault = ""
        """Why git has nothing to say."""
        self.past = Past()
        self._root, self._shows, self._speaks_of = root, shows, speaks_of
        self._read: object = None
        """The repository's stamp at the last reading."""
        self._lock = threading.Lock()

    def repository(self) -> Repository | None:
        """Return the source's repository, found by its files: no git is run."""
        try:
            return find_repository(self._root)
        except (GitFailed, OSError) as error:
            self.fault = str(error)
            return None

    def moved(self) -> bool:
        """Tell whether the repository is not as it was when the past was read. Runs nothing."""
        return self._read != self.stamp()

    def stamp(self) -> tuple[object, ...]:
        """Return what differs once there is another commit, branch or repository."""
        repository = self.repository()
        return (repository, repository.stamp()) if repository else (None,)

    def settle(self, timeout_seconds: float) -> bool:
        """Read the past anew where it moved and there is the time; tell whether it is known."""
        if timeout_seconds >= PATIENT_SECONDS:
            self.read()
        return not self.moved()

    def read(self) -> Past:
        """Return the past up to HEAD, read now where it moved; empty without git."""
        with self._lock:
            if self.moved():
                stamp, repository = self.stamp(), self.repository()
                try:
                    self.past = Past(_logged(repository) if repository else ())
                    self.fault = "" if repository else self.fault
                except GitFailed as error:  # asked again once HEAD has moved
                    self.fault = str(error)
                self._read = stamp
        return self.past

    # --- what may be shown ---------------------------------------------------------------

    def commits(self, since: str = "") -> tuple[Commit, ...]:
        """Return the last commits, newest first: all, or those after one that is named by id."""
        after = {*self._says("rev-list", f"{since}..HEAD").split()} if since else None
        found = self.read().commits[:LAST]
        return tuple(self._shown(one) for one in found if after is None or one.id in after)

    def commits_made(self, since: float) -> tuple[Commit, ...]:
        """Return the commits that were made in this work tree since then and still stand.

        Oldest first; what a pull, a merge or another branch brought is none.
        """
        made = set()
        for line in self._says("log", "-g", "--max-count=60", "--format=%H %ct %gs").splitlines():
            id_, at, what = (*line.split(" ", 2), "", "")[:3]
            is_own = what.startswith(_OWN) and not what.startswith("commit (merge)")
            made |= {id_} if is_own and at.isdigit() and int(at) >= int(since) else set()
        return tuple(self._shown(one) for one in reversed(self.read().commits) if one.id in made)

    def revision(self, name: str) -> str:
        """Return the id of the commit that a revision names; empty when there is none.

        No option of git's can be smuggled in.
        """
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return self._says(*words).strip()

    def uncommitted(self) -> dict[str, tuple[Change, int]]:
        """Return the files that differ from the last commit, new ones, too, and when each changed.

        The programs that settings name as filters are not run.
        """
        repository = self.repository()
        if repository is None:
            return {}
        named = self._says("config", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process)")
        filters = {one.rpartition(".")[0] for one in named.splitlines()}
        off = [part for one in sorted(filters) for key in ("clean=", "process=", "required=0")
               for part in ("-c", f"{one}.{key}")]  # fmt: skip
        said = self._says(
            *off, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all",
            "--ignore-submodules=all", "--", ".",
        )  # fmt: skip
        found = dict[str, tuple[Change, int]]()
        for one in said.split("\0"):
            status, path = one[:2], one[3:].removeprefix(repository.prefix)
            if path and self._shows(path):
                is_new, stamp = status in ("??", "A ", "AM"), _stamp(self._root / path)
                how: Change = "added" if is_new else "removed" if "D" in status else "modified"
                found[path] = how, stamp[0] if stamp else 0
        return found

    def _shown(self, one: Logged) -> Commit:
        """Return a commit as it may be shown: of files that may not be spoken of no word."""
        kinds: dict[str, Change] = {"A": "added", "C": "added", "D": "removed"}
        changed = tuple(
            (new, kinds.get(how, "modified")) for _, new, how in one.changes if self._shows(new)
        )
        told = one.is_whole and bool(changed) and all(
            new.partition("/")[0] in _PLAIN or (self._speaks_of(new) and self._speaks_of(old))
            for old, new, _ in one.changes
        )  # fmt: skip
        subject = clean(one.message.strip().partition("\n")[0]) if told else ""
        return Commit(one.id, one.time, subject, changed)

    def _says(self, *words: str) -> str:
        repository = self.repository()
        try:
            return repository.ask(*words) if repository else ""
        except GitFailed as error:
            log.debug("git %s: %s", words[0], error)
            return ""


def _logged(repository: Repository) -> list[Logged]:
    """Return the commits up to HEAD, newest first. Raises GitFailed."""
    prefix, found = repository.prefix, []
    told = repository.ask(*_LOG, "HEAD", "--", *(["."] if prefix else []))
    for record in told.split("\x01")[1:]:
        about, _, rest = record.partition("\x02")
        message, _, names = rest.partition("\x03")
        id_, _, at = about.partition(" ")
        every = [*_changes(names)]
        inside = tuple((old.removeprefix(prefix), new.removeprefix(prefix), how)
                       for old, new, how in every if new.startswith(prefix))  # fmt: skip
        found.append(Logged(id_, float(at), message, inside, len(inside) == len(every)))
    return found


def _changes(names: str) -> Iterator[tuple[str, str, str]]:
    """Yield (name before, name after, letter) of each file in a `--name-status -z`."""
    parts = iter([one for part in names.split("\0") if (one := part.lstrip("\n"))])
    for status in parts:
        old = next(parts, "")
        yield old, next(parts, "") if status[0] in "RC" else old, status[0]
