"""The one way git is asked about a source: of which repository, and that it runs nothing for it.

A repository is found by its files, without git: one that a source's `.git` only leads to, whose
refs or objects lie elsewhere or are borrowed, is another folder's and never asked. A file is read
if it is a regular one, a bounded part of it. Git then fetches nothing, starts no program that the
repository's settings name, takes no lock, and is given up after a while.
"""

from __future__ import annotations

import logging
import os
import shutil
import stat as modes
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vaultmind.vault.files import OPEN_FLAGS

SECONDS = 10.0
MOST_BYTES = 65_536
"""Of a file of a repository that is read here: `HEAD`, `config`, a `.git` file."""
_DEEP = frozenset({"refs", "objects", "reftable", "info", "logs"})
MOST_ENTRIES = 300_000
"""Files of a repository that are looked through for links that lead out of it."""
ELSEWHERE = "its .git leads to another folder's repository"
ABSENT = "no git repository"
_SETTINGS = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.quotePath=false",
    "core.pager=cat", "core.untrackedCache=false", "core.sshCommand=false", "core.gitProxy=",
    "core.askPass=", "core.alternateRefsCommand=", "credential.helper=", "diff.external=",
    "log.showSignature=false", "log.mailmap=false", "log.showRoot=true", "gpg.program=false",
    "maintenance.auto=false", "gc.auto=0", "fetch.recurseSubmodules=false", "protocol.allow=never",
)  # fmt: skip
"""What a repository's own settings must not switch on: they can name programs."""
_OURS = {
    "GIT_ALLOW_PROTOCOL": "",  # none: unlike `protocol.allow` it is above a repository's settings
    "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1", "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "false", "GIT_ASKPASS": "false", "SSH_ASKPASS": "false",
    "GIT_EDITOR": "false", "LC_ALL": "C",
}  # fmt: skip

log = logging.getLogger(__name__)

Stamp = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """What git printed; None where it says no, or could not be asked, as `fault` says."""

    text: str | None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository of the work tree that a source lies in, its own."""

    root: Path
    """The source."""
    top: Path
    folder: Path
    shared: Path
    """The same as `folder`, but for a work tree of `git worktree`."""
    oid_length: int

    @property
    def prefix(self) -> str:
        """Return what the source lies in within the repository, with a `/` at the end."""
        inside = self.root.relative_to(self.top).as_posix()
        return "" if inside == "." else f"{inside}/"

    def agrees(self) -> Said:
        """Return whether git finds the same repository: an empty text."""
        said = self.ask("rev-parse", "--git-dir", "--git-common-dir")
        if said.text is None:
            return Said(None, said.fault or ABSENT)
        found = [Path(os.path.realpath(self.root / one)) for one in said.text.splitlines()]
        return Said("") if found == [self.folder, self.shared] else Said(None, ELSEWHERE)

    def ask(self, *arguments: str, seconds: float = SECONDS) -> Said:
        """Return what git says. No lock may be held meanwhile: it can take all its time."""
        program = shutil.which("git")
        if program is None:
            return Said(None, "git is not installed")
        settings = [part for one in _SETTINGS for part in ("-c", one)]
        quiet = ("--no-optional-locks", "--no-pager", "--literal-pathspecs")
        try:
            done = subprocess.run(
                [program, *quiet, *settings, *arguments], cwd=self.root, env=environment(),
                stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Said(None, f"git had not answered after {seconds:g} seconds")
        except (OSError, subprocess.SubprocessError) as error:
            return Said(None, f"git could not be run: {type(error).__name__}")
        if done.returncode == 0:
            return Said(done.stdout.decode("utf-8", "replace"))
        said = done.stderr.decode("utf-8", "replace")
        log.debug("git %s: %s", arguments[0], said.partition("\n")[0])
        dubious = "git does not trust this folder: it belongs to another user"
        return Said(None, dubious if "dubious ownership" in said else "")


@dataclass(frozen=True, slots=True)
class Found:
    """What was found out about a source's repository, and by which files a change is seen."""

    repository: Repository | None
    fault: str
    """Why there is none."""
    watched: tuple[Path, ...]
    stamp: Stamp


class Lookout:
    """Looks whether a source's repository is as it was. Runs nothing. Any thread, no lock."""

    def __init__(self, root: Path) -> None:
        self._root = Path(os.path.realpath(root))
        self._found: Found | None = None

    def known(self) -> Found:
        """Return what was found out the last time: looks at no file but the first time."""
        return self._found or self.found()

    def found(self) -> Found:
        """Return what there is now, found out anew where something has changed."""
        found = self._found
        if found is None or found.stamp != tuple(map(_stamp, found.watched)):
            found = self._found = find(self._root)
        return found


def find(root: Path) -> Found:
    """Find the repository of a source by reading its files; `root` is a real path."""
    above = [one / ".git" for one in (root, *root.parents)]
    dot = next((one for one in above if os.path.lexists(one)), None)
    nearest = tuple(above) if dot is None else tuple(above[: above.index(dot) + 1])
    before = tuple(map(_stamp, nearest))
    if dot is None:
        return Found(None, ABSENT, nearest, before)
    top = dot.parent
    folder = _folder_of(dot)
    common = "" if folder is None else _words(folder / "commondir")
    shared = None if folder is None else Path(os.path.realpath(folder / common))
    if folder is None or shared is None or not _belongs(dot, folder, shared):
        fault = ELSEWHERE if dot.is_symlink() or folder is not None else ABSENT
        return Found(None, fault, nearest, before)
    fixed = (
        folder / "HEAD", folder / "logs/HEAD", shared / "packed-refs",
        shared / "reftable/tables.list", shared / "config",
    )  # fmt: skip
    stamp = tuple(map(_stamp, fixed))  # before they are read: a later change is seen
    head = _words(folder / "HEAD")
    if fault := _fault_of(folder, shared, head):
        return Found(None, fault, (*nearest, *fixed), (*before, *stamp))
    branch = head.removeprefix("ref: ")
    more = [shared / branch] if branch != head and ".." not in branch else []
    more += [dot] if dot.is_file() else []
    is_long = _setting(shared / "config", "objectformat") == "sha256"
    repository = Repository(root, top, folder, shared, 64 if is_long else 40)
    return Found(repository, "", (*fixed, *more), (*stamp, *map(_stamp, more)))


def environment() -> dict[str, str]:
    """Return our environment without what points git elsewhere: a hook of git's may have set it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | _OURS


def read_text(file: Path) -> str:
    """Return the beginning of a regular file; empty where there is none. Never waits."""
    try:
        descriptor = os.open(file, OPEN_FLAGS)
    except OSError:
        return ""
    try:
        is_regular = modes.S_ISREG(os.fstat(descriptor).st_mode)
        return os.fsdecode(os.read(descriptor, MOST_BYTES)) if is_regular else ""
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _words(file: Path) -> str:
    words = read_text(file).strip()
    return "" if "\0" in words else words


def _folder_of(dot: Path) -> Path | None:
    """Return the repository's folder that a `.git` is or names."""
    if dot.is_symlink():
        return None
    if dot.is_dir():
        return dot
    named = _words(dot)
    if not named.startswith("gitdir:"):
        return None
    return Path(os.path.realpath(dot.parent / named.removeprefix("gitdir:").strip()))


def _belongs(dot: Path, folder: Path, shared: Path) -> bool:
    """Tell whether a repository is of the work tree that a source lies in, and says so itself.

    A `.git` may be a file that leads anywhere: to the history of a folder that nobody linked. A
    work tree of `git worktree` and a submodule are named by the repository in return.
    """
    if folder == shared:
        if folder == dot:
            return True
        named = _setting(folder / "config", "worktree")
        return bool(named) and Path(os.path.realpath(folder / named)) == dot.parent
    back = _words(folder / "gitdir")
    back_to = Path(os.path.realpath(folder / back)) if back else None
    return folder.parent == shared / "worktrees" and back_to == dot


def _fault_of(folder: Path, shared: Path, head: str) -> str:
    """Return why a repository's folder is not read: it is none, or what it holds lies elsewhere."""
    try:
        for name in ("alternates", "http-alternates"):
            if os.path.lexists(shared / "objects/info" / name):
                return "its repository borrows from another one (objects/info/alternates)"
        for count, entry in enumerate(_entries(folder, shared)):
            if entry.is_symlink():
                return ELSEWHERE
            if count >= MOST_ENTRIES:
                return "its repository has too many files to look through"
    except OSError as error:
        return f"its repository cannot be read: {type(error).__name__}"
    return "" if head and (shared / "objects").is_dir() else ABSENT


def _entries(folder: Path, shared: Path) -> Iterator[os.DirEntry[str]]:
    """Yield what lies in a repository where git looks for commits; hooks are never run."""
    waiting = []
    for own in dict.fromkeys((folder, shared)):
        with os.scandir(own) as found:
            entries = [one for one in found if one.name != "hooks"]
        yield from entries
        waiting += [one.path for one in entries if one.name in _DEEP and one.is_dir()]
    while waiting:
        with os.scandir(waiting.pop()) as found:
            for entry in found:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _setting(config: Path, name: str) -> str:
    """Return a setting of a repository's own file; empty when it is not there."""
    pairs = (line.partition("=") for line in read_text(config).splitlines())
    return next((value.strip() for key, _, value in pairs if key.strip().lower() == name), "")


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
