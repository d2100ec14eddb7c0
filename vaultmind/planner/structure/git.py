"""What git says of a source: its last commits, and which files are not as the last one has them.

Git is asked as `git_call` does, and no lock is held meanwhile: one slow repository holds up nobody
but who asks about it. Without git, or outside of a work tree, it says so.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from vaultmind.errors import BadArgument
from vaultmind.planner.structure.git_call import Lookout, Repository
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
SECRET_FILE = "‹secret file›"
"""Stands in a message for the name of one."""
RETRY_SECONDS = 60.0
"""After which git is asked again where it did not answer."""
_MOST_SINCE = 64
_MOST_MOVES, _MOST_STANDING = 60, 500
_OWN = ("commit", "cherry-pick", "revert")
"""How the log of HEAD calls what was committed in this work tree."""
_LOG = (
    "log", "--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-color", "--no-notes",
    "--no-decorate", "--no-renames", "--name-status", "--no-merges", "--full-diff", "-z",
)  # fmt: skip

Kind = Literal["added", "modified", "removed"]
_KINDS: dict[str, Kind] = {"A": "added", "D": "removed"}


@dataclass(frozen=True, slots=True)
class LoggedCommit:
    """A commit with the files of the source that it changed."""

    id: str
    time: float
    subject: str
    """Empty where the commit is about files that are not shown; of one that is a secret by its
    name only that name is left out."""
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


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of the repository at one state of it, and of the rules."""

    key: tuple[object, ...]
    past: Past | None
    fault: str = ""
    again_at: float = float("inf")
    """When git, which did not answer, is asked again."""
    since: dict[str, tuple[tuple[str, Kind], ...]] = field(default_factory=dict)


class History:
    """Answers from what it has read until the repository changes, or what may be shown.

    Safe for many threads: what is read is put in place at once, and never changed.
    """

    def __init__(
        self,
        root: Path,
        visible: Callable[[str], bool],
        named: Callable[[str], bool],
        rules: Callable[[], object] = lambda: None,
        monotonic: Callable[[], float] = time.monotonic,
        secret: Callable[[str], bool] = lambda path: False,
    ) -> None:
        """Take what tells which files may be shown, and which may be spoken of at all.

        `secret` tells which are hidden for their name alone: of these nothing but the name is
        taken out of what is told. `rules` returns what all go by: another object once they may
        say something else.
        """
        self.root = root
        self._visible = visible
        self._named = named
        self._secret = secret
        self._rules = rules
        self._monotonic = monotonic
        self._ruled: tuple[object, int] = (None, 0)
        self._attempt = 0
        self._lookout = Lookout(root)
        self._read: _Read | None = None

    @property
    def fault(self) -> str:
        """Return why git has nothing to say."""
        return self._lookout.found().fault or (self._read.fault if self._read else "")

    @property
    def oid_length(self) -> int:
        """Return how many digits the ids of the repository have."""
        repository = self._lookout.known().repository
        return repository.oid_length if repository else 40

    def key(self) -> tuple[object, ...]:
        """Return what differs once there is another commit, branch or rule. Runs nothing."""
        rules, (known, count) = self._rules(), self._ruled
        if rules is not known:
            count += 1
            self._ruled = (rules, count)
        return (count, self._attempt, self._lookout.found().stamp)

    def past(self) -> Past | None:
        """Return the last commits and the last tree; None without git."""
        held = self._read
        if held is not None and (now := self._monotonic()) >= held.again_at:
            self._read = replace(held, again_at=now + RETRY_SECONDS)  # whoever comes now waits not
            self._attempt += 1
        key = self.key()
        if held is None or held.key != key:
            held = self._read = self._read_at(key)
        return held.past

    def revision(self, name: str) -> str:
        """Return the id of the commit that a revision names; empty when there is none.

        Raises BadArgument for what cannot be a revision: no option of git's can be smuggled in.
        """
        if not REVISION.fullmatch(name) or ".." in name:
            raise BadArgument("since", name, REVISION_WORDS)
        if self.past() is None:
            return ""
        wanted = f"{name}^{{commit}}"
        found = self._says("rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
        return found.strip()

    def changed_since(self, commit: str) -> tuple[tuple[str, Kind], ...]:
        """Return the files that differ between a commit and the last one."""
        past, held = self.past(), self._read
        if past is None or held is None or not re.fullmatch(r"[0-9a-f]{40,64}", commit):
            return ()
        found = held.since.get(commit) if held.past is past else None
        if found is None:
            said = self._says(
                "diff-tree", "-r", "-z", "--name-status", "--no-renames", "--no-ext-diff",
                "--no-textconv", "--relative", commit, past.head, "--",
            )  # fmt: skip
            named = _statuses(iter(said.split("\0")))
            found = tuple(one for one in named if self._visible(one[0]))
            if held.past is past and self.key() == held.key and len(held.since) < _MOST_SINCE:
                held.since[commit] = found
        return found

    def commits_since(self, commit: str) -> tuple[LoggedCommit, ...]:
        """Return the commits after one, newest first, as many as are looked at."""
        past, repository = self.past(), self._lookout.found().repository
        if past is None or repository is None or not re.fullmatch(r"[0-9a-f]{40,64}", commit):
            return ()
        return self._log(self._says(*_logged(f"{commit}..{past.head}", mark := _mark())), mark)

    def repository(self) -> Repository | None:
        """Return the source's repository, found by its files: no git is run."""
        return self._lookout.found().repository

    def commits_named(self, ids: Sequence[str]) -> tuple[LoggedCommit, ...]:
        """Return some commits, as far as they are there and change the source; merges left out."""
        wanted = [one for one in ids if re.fullmatch(r"[0-9a-f]{40,64}", one)]
        if not wanted or self.repository() is None:
            return ()
        mark = _mark()
        shape = f"--format={mark}%H{mark}%ct{mark}%s{mark}"
        said = self._says(*_LOG, shape, "--no-walk=unsorted", *wanted, "--", ".")
        found = {one.id: one for one in self._log(said, mark)}
        return tuple(found[one] for one in wanted if one in found)

    def commits_made(self, since: float) -> tuple[LoggedCommit, ...]:
        """Return the commits that were made in this work tree since then and still stand.

        Oldest first; what a pull, a merge or another branch brought is none.
        """
        said = self._says("log", "-g", f"--max-count={_MOST_MOVES}", "--format=%H %ct %gs", "HEAD")
        made = []
        for line in said.splitlines():
            id_, time, what = (*line.split(" ", 2), "")[:3]
            is_own = what.startswith(_OWN) and not what.startswith("commit (merge)")
            if is_own and time.isdigit() and int(time) >= int(since):
                made.append(id_)
        if not made:
            return ()
        stand = set(self._says("rev-list", f"--max-count={_MOST_STANDING}", "HEAD").split())
        return self.commits_named([one for one in reversed(made) if one in stand])

    def uncommitted(self) -> tuple[tuple[str, Kind], ...]:
        """Return the files of the source that differ from the last commit; new ones, too.

        The programs that settings name as filters are not run.
        """
        repository = self._lookout.found().repository
        if repository is None:
            return ()
        named = self._says(
            "config", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process)$"
        )
        filters = {one.rpartition(".")[0] for one in named.splitlines()}
        settings = (
            f"{one}.{key}"
            for one in sorted(filters)
            for key in ("clean=", "process=", "required=0")
        )
        off = [part for one in settings for part in ("-c", one)]
        said = self._says(
            *off, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all",
            "--ignore-submodules=all", "--", ".",
        )  # fmt: skip
        found = []
        for one in said.split("\0"):
            status, path = one[:2], one[3:]
            if path.startswith(repository.prefix) and (
                path := path.removeprefix(repository.prefix)
            ) and self._visible(path):  # fmt: skip
                kind: Kind = "removed" if "D" in status else "modified"
                found.append((path, "added" if status in ("??", "A ", "AM") else kind))
        return tuple(found)

    # --- reading -------------------------------------------------------------------------

    def _read_at(self, key: tuple[object, ...]) -> _Read:
        """Ask git. Takes no lock; what is not answered in time is asked again in a while."""
        repository = self._lookout.found().repository
        if repository is None:
            return _Read(key, None)
        agreed = repository.agrees()
        if agreed.text is None:
            return self._given_up(key, agreed.fault)
        said = repository.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        head = (said.text or "").strip()
        if not head:
            fault = said.fault or "the repository has no commit yet"
            return self._given_up(key, fault) if said.fault else _Read(key, None, fault)
        mark = _mark()
        logged = repository.ask(*_logged(head, mark))
        listed = repository.ask("ls-tree", "-r", "-z", head, "--", ".")
        fault = logged.fault or listed.fault
        if fault:
            return self._given_up(key, fault)
        past = Past(head, self._log(logged.text or "", mark), self._tree(listed.text or ""))
        return _Read(key, past)

    def _given_up(self, key: tuple[object, ...], fault: str) -> _Read:
        return _Read(key, None, fault, self._monotonic() + RETRY_SECONDS)

    def _says(self, *arguments: str) -> str:
        """Return what git prints; nothing where it fails."""
        repository: Repository | None = self._lookout.found().repository
        return "" if repository is None else repository.ask(*arguments).text or ""

    def _log(self, said: str, mark: str) -> tuple[LoggedCommit, ...]:
        repository = self._lookout.found().repository
        prefix = repository.prefix if repository else ""
        parts = said.split(mark)[1:]
        return tuple(self._commit(parts[at : at + 4], prefix) for at in range(0, len(parts) - 3, 4))

    def _commit(self, parts: list[str], prefix: str) -> LoggedCommit:
        """Return a commit; it is about what is not shown if it changed anything else as well.

        Not for a file of secrets among others, whose content no message is about; a secret that
        a message quotes is masked as in any text.
        """
        id_, time, subject, rest = parts
        named = tuple(_statuses(iter(rest.lstrip("\0\n").split("\0"))))
        inside = [
            (path.removeprefix(prefix), kind) for path, kind in named if path.startswith(prefix)
        ]
        told = len(inside) == len(named)
        secret = [path for path, _ in inside if self._secret(path)]
        told = told and all(
            _is_plain(path) or self._named(path) for path, _ in inside if path not in secret
        )
        shown = tuple(one for one in inside if self._visible(one[0]))
        words = clean(_without(subject, secret)) if told and shown else ""
        return LoggedCommit(id_, float(time), words, shown)

    def _tree(self, said: str) -> dict[str, str]:
        tree = {}
        for one in said.split("\0"):
            about, _, path = one.partition("\t")
            parts = about.split()
            if path and len(parts) == 3 and parts[1] == "blob" and self._visible(path):  # noqa: PLR2004
                tree[path] = parts[2]
        return tree


def day_of(seconds: float, like: datetime) -> str:
    """Return the day of a time, in the time zone of a clock's present."""
    try:
        return datetime.fromtimestamp(seconds, like.tzinfo).date().isoformat() if seconds else ""
    except (ValueError, OverflowError, OSError):  # a commit may claim any time
        return ""


def _mark() -> str:
    return secrets.token_hex(8)  # a message may hold anything but this


def _logged(revisions: str, mark: str) -> tuple[str, ...]:
    shape = f"--format={mark}%H{mark}%ct{mark}%s{mark}"
    return (*_LOG, shape, f"--max-count={LAST}", revisions, "--", ".")


def _statuses(words: Iterator[str]) -> Iterator[tuple[str, Kind]]:
    for status in words:
        path = next(words, "")
        if status.strip() and path:
            yield path, _KINDS.get(status.strip()[:1], "modified")


def _without(subject: str, paths: Sequence[str]) -> str:
    """Return a message without the names of some files, the longest first."""
    names = {name for path in paths for name in (path, path.rpartition("/")[2])}
    if not names:
        return subject
    either = "|".join(re.escape(one) for one in sorted(names, key=lambda one: (-len(one), one)))
    named = rf"(?<![\w@-])(?:{either})(?![\w-]|\.\w)"
    return re.sub(named, SECRET_FILE, subject, flags=re.IGNORECASE)


def _is_plain(path: str) -> bool:
    """Tell whether a path is of settings that projects have: never shown, and no secret."""
    return path.partition("/")[0] in PLAIN
