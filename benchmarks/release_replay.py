"""Histories of other projects, made of their releases: what a changelog says is the task.

    pip download --no-deps --no-binary :all: -d SDISTS click==8.1.2 click==8.1.3 ...
    python benchmarks/release_replay.py SDISTS FOLDER [--entries]

Source archives are all that a package registry has of a project's past, and they are a guard
against learning our own repository by heart. Of each package in SDISTS a git repository is made in
FOLDER, two commits a release: what it changed, with the new lines of its changelog as the message;
then, as "Release 8.1.3", the changelog itself and what changed in nothing but version numbers, so
that no tree holds the words that it is asked with. `--entries` asks each entry of a changelog
alone: right is all that the release changed, so that figures are lower and only compare.
`replay.py` takes such a repository like any other (`--max-files 30`: releases are larger).
"""

from __future__ import annotations

import argparse
import re
import shutil
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from history import Commit, History, run

_CHANGELOG = re.compile(
    r"(?:^|/)(?:changes?|changelog|history|news|version_?history|release_?notes)\.(?:md|rst|txt)$",
    re.IGNORECASE,
)
_MADE = re.compile(r"(?:^|/)(?:PKG-INFO|[^/]+\.egg-info(?:/.*)?|_version\.py)$")
_NUMBERS = re.compile(r"\d+\.\d+|version|copyright", re.IGNORECASE)
_HEAD = re.compile(
    r"^(?:#+\s.*|[-=~^*]{3,}|(?:version|released?|unreleased|date)\b.{0,40}|v?\d+(?:\.\d+)+.{0,24}"
    r"|\*\*.{3,30}\*\*|\.\. .*|<!--.*-->|---)$",
    re.IGNORECASE,
)
_ROLE = re.compile(r":(?:issue|pr|pull|user|ghsa|cve):`[^`]*`", re.IGNORECASE)
_MARKED = re.compile(r":[a-z:+]+:`~?([^`<]*)(?:<[^`]*)?`")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)|`([^`<]*)\s*<[^`]*>`_+")
_REFERENCE = re.compile(r"\(?(?:PR by [^)]*|by @\S+|#\d+|`#\d+\s*`_+)(?:,\s*#\d+)*\)?")
_BULLET = re.compile(r"^\s*[-*+]\s+")
_NAMES = ("-c", "user.name=Releases", "-c", "user.email=r@example.org")
MOST_ENTRIES = 12
"""A release of more is no task; it is made one commit that a replay leaves out."""


def archives(folder: Path) -> dict[str, list[tuple[str, Path]]]:
    """Return the versions of every package in a folder of source archives, oldest first."""
    found: defaultdict[str, list[tuple[str, Path]]] = defaultdict(list)
    for path in folder.glob("*.tar.gz"):
        name, _, version = path.name.removesuffix(".tar.gz").rpartition("-")
        found[name.lower()].append((version, path))
    return {
        name: sorted(some, key=lambda one: _numbers(one[0])) for name, some in sorted(found.items())
    }


def write_releases(versions: Sequence[tuple[str, Path]], repo: Path) -> int:
    """Make a repository of releases in a folder that is not there yet; return how many."""
    repo.mkdir(parents=True)
    run(repo, "init", "-q", "-b", "main")
    for number, (version, archive) in enumerate(versions):
        _unpack(archive, repo)
        _add_all(repo)
        entries = _entries(repo) if number else []
        if 0 < len(entries) <= MOST_ENTRIES:
            late = [path for path in _changed(repo) if _is_late(repo, path)]
            if late:
                run(repo, "reset", "-q", "--", *late)
            _commit(repo, "\n".join(f"- {entry}" for entry in entries))
            _add_all(repo)
        _commit(repo, f"Release {version}")
    return len(versions)


def _add_all(repo: Path) -> None:
    """Stage the files as they are. Git would take one of the same size, with the same time and
    written in the same second, for the one it knows; so it is told to know none.
    """
    (repo / ".git" / "index").unlink(missing_ok=True)
    run(repo, "add", "-A", "--force")


def entries_alone(history: History) -> tuple[Commit, ...]:
    """Return a commit for each entry of each release: the same tree and files, fewer words."""
    return tuple(
        replace(commit, message=line.removeprefix("- "))
        for commit in history.commits
        for line in commit.message.splitlines()
    )


def told_entries(added: Sequence[str]) -> list[str]:
    """Return the entries that new lines of a changelog hold, without its markup."""
    entries: list[str] = []
    open_entry = False
    for line in added:
        words = line.strip()
        if not words or _HEAD.match(words):
            open_entry = False
        elif _BULLET.match(line):
            entries.append(_BULLET.sub("", line).strip())
            open_entry = True
        elif open_entry:
            entries[-1] += f" {words}"
    plain = (_plain(entry) for entry in entries)
    return [entry for entry in plain if len(entry.split()) > 2]


def _plain(text: str) -> str:
    for pattern, kept in ((_ROLE, ""), (_MARKED, r"\1"), (_REFERENCE, "")):
        text = pattern.sub(kept, text)
    text = _LINK.sub(lambda match: match[1] or match[2] or "", text)
    return " ".join(text.replace("``", "`").split()).strip(" .,;()") if text.strip() else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(one) for one in re.findall(r"\d+", version))


def _unpack(archive: Path, repo: Path) -> None:
    """Put what an archive holds in place of what the repository does."""
    for old in repo.iterdir():
        if old.name != ".git":
            shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
    with tempfile.TemporaryDirectory() as passing, tarfile.open(archive) as packed:
        packed.extractall(passing, filter="data")
        (inside,) = Path(passing).iterdir()
        for new in inside.iterdir():
            if not _MADE.search(new.name):
                shutil.move(new, repo / new.name)


def _changed(repo: Path) -> list[str]:
    """Return what is staged, both names of what was moved."""
    listed = run(repo, "diff", "--cached", "--name-only", "--no-renames", "-z")
    return [path for path in listed.split("\0") if path]


def _is_late(repo: Path, path: str) -> bool:
    """Tell whether a change is of the release alone: its changelog, its version, its metadata."""
    if _CHANGELOG.search(path) or _MADE.search(path):
        return True
    lines = list(_lines(repo, path, "+-"))
    return bool(lines) and len(lines) <= 6 and all(_NUMBERS.search(line) for line in lines)


def _entries(repo: Path) -> list[str]:
    """Return the entries that are new in the changelog."""
    logs = [path for path in _changed(repo) if _CHANGELOG.search(path)]
    return told_entries([line for path in logs for line in _lines(repo, path, "+")])


def _lines(repo: Path, path: str, signs: str) -> Iterator[str]:
    for line in run(repo, "diff", "--cached", "-U0", "--", path).splitlines():
        if line[:1] in signs and line[:3] not in ("+++", "---"):
            yield line[1:]


def _commit(repo: Path, message: str) -> None:
    words = (*_NAMES, "-c", "commit.gpgsign=false", "commit", "-q", "--allow-empty", "-m", message)
    run(repo, *words)


def main() -> None:
    """Make the repositories and replay each."""
    from replay import add_options, replayed_repo, report

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sdists", type=Path)
    parser.add_argument("folder", type=Path, help="where the repositories are kept")
    parser.add_argument("--entries", action="store_true", help="ask each entry alone")
    add_options(parser, max_files=30)
    arguments = parser.parse_args()
    for name, versions in archives(arguments.sdists).items():
        repo = arguments.folder / name
        if not repo.exists():
            write_releases(versions, repo)
        done = replayed_repo(repo, arguments, entries_alone if arguments.entries else None)
        report(done, repo, arguments)


if __name__ == "__main__":
    main()
