"""What a source's git history says of its files: what was changed for what, together, how often.

Only commits that lead to HEAD are read, messages and names of files alone; renames are followed.
Without git, or outside of a work tree, there is no history and everything else works; nor is
there one where `.git` leads to another folder's repository.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vaultmind.planner.candidates.wording import Wording, tokens_of
from vaultmind.planner.structure.git_call import Lookout, Repository, Stamp

MOST_COMMITS = 4000
"""The newest that are read."""
MOST_TOUCHED = 40
"""A commit that changed more files says little of any of them."""
HALF_LIFE = 60.0
"""Commits after which a change counts half."""
SATURATION = 0.6
FEW_COMMITS = 20
"""A past of so many says half of what a long one does."""
SECONDS = 30.0
_FORMAT = "--format=%x01%H%x02%B%x03"
RETRY_SECONDS = 60.0
"""After which a history that could not be read is tried again."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Past:
    """The commits of a source, oldest first, and tables over them. Not changed while it is read."""

    head: str = ""
    wording: Wording = field(default_factory=Wording)
    """Of the messages; the number of a commit is its name."""
    files: list[tuple[int, ...]] = field(default_factory=list)
    """Of each commit, the files it changed by number; none where it changed very many, or added
    more than half of those there were."""
    paths: list[str] = field(default_factory=list)
    """Of each number, what the file is called now."""
    numbers: dict[str, int] = field(default_factory=dict)
    commits: dict[int, list[int]] = field(default_factory=dict)
    """Of each file, the commits that changed it, oldest first."""

    rates: Mapping[str, float] = field(default_factory=dict)
    """How often files are changed of late, 0 to 1, the most often first."""

    def add(self, commits: Iterable[tuple[str, Sequence[tuple[str, str]]]]) -> None:
        """Add the next commits: message, and (name before, name after) of what each changed.

        What is new has no name before. Files that came all at once have nothing in common.
        """
        messages: dict[int, str | None] = {}
        for message, changes in commits:
            at = len(self.files)
            touched = tuple(dict.fromkeys(self._number(old, new) for old, new in changes))
            founding = 2 * sum(not old for old, _ in changes) > len(self.numbers)
            touched = () if founding or len(touched) > MOST_TOUCHED else touched
            self.files.append(touched)
            messages[at] = message
            for number in touched:
                self.commits.setdefault(number, []).append(at)
        self.wording = self.wording.with_texts(messages)

    def similar(self, task: str, most: int) -> dict[str, float]:
        """Return the files that commits with the task's words changed, 0 to 1."""
        found: dict[int, float] = {}
        for at, share in self.wording.like(task, most):
            touched = self.files[at]
            if touched:
                worth = share * share * self._fresh(at, 8 * HALF_LIFE) / len(touched) ** 0.5
                for number in touched:
                    found[number] = found.get(number, 0.0) + worth
        return self._named(_best(found, most))

    def told(self, task: str, most: int) -> dict[str, float]:
        """Return the files whose changes were told in the task's words, 0 to 1.

        Of each word counts how many changes of a file it told of, the first most of all.
        """
        words = dict.fromkeys(tokens_of(task))
        found: dict[int, float] = {}
        for word in words:
            each: dict[int, float] = {}
            for at in self.wording.texts_with(word):
                touched = self.files[at]
                if touched:
                    share = self._fresh(at, 8 * HALF_LIFE) / len(touched) ** 0.5
                    for number in touched:
                        each[number] = each.get(number, 0.0) + share
            worth = self.wording.worth(word)
            for number, count in each.items():
                found[number] = found.get(number, 0.0) + worth * count / (count + SATURATION)
        return self._named(_best(found, most))

    def together(self, seeds: Mapping[str, float], most: int) -> dict[str, float]:
        """Return the files that changed with some files, each by its weight; 0 to 1."""
        found: dict[int, float] = {}
        for path, weight in seeds.items():
            own = self.numbers.get(path, -1)
            past = self.commits.get(own, ())[-most:]
            for at in past:
                touched = self.files[at]
                worth = weight * self._fresh(at, 4 * HALF_LIFE) / (len(past) + 2.0)
                for number in touched:
                    if number != own:
                        found[number] = found.get(number, 0.0) + worth / len(touched) ** 0.5
        return self._named(_best(found, most))

    def count(self) -> None:
        """Make `rates` anew, once commits were added."""
        found: dict[int, float] = {}
        start = max(0, len(self.files) - int(6 * HALF_LIFE))
        for at in range(start, len(self.files)):
            touched = self.files[at]
            for number in touched:
                found[number] = found.get(number, 0.0) + self._fresh(at, HALF_LIFE)
        ranked = dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))
        self.rates = self._named(ranked)

    def copy(self) -> Past:
        """Return a past that can grow while this one is read."""
        return Past(
            self.head,
            self.wording,
            [*self.files],
            [*self.paths],
            dict(self.numbers),
            {number: [*each] for number, each in self.commits.items()},
        )

    def _fresh(self, at: int, half_life: float) -> float:
        return float(0.5 ** ((len(self.files) - 1 - at) / half_life))

    def _named(self, found: Mapping[int, float]) -> dict[str, float]:
        best = max(found.values(), default=0.0) or 1.0
        sure = len(self.files) / (len(self.files) + FEW_COMMITS)
        return {self.paths[number]: sure * value / best for number, value in found.items()}

    def _number(self, old: str, new: str) -> int:
        is_moved = old not in ("", new)
        number = self.numbers.pop(old, -1) if is_moved else self.numbers.get(new, -1)
        if number < 0:
            number = len(self.paths)
            self.paths.append(new)
        self.numbers[new] = number
        self.paths[number] = new
        return number


class PastReader:
    """The past of one source, read again when HEAD moves. Any thread; git is asked in `past`."""

    def __init__(self, root: Path, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._root = root
        self._monotonic = monotonic
        self._past = Past()
        self._lookout = Lookout(root)
        self._read: tuple[Stamp, float] | None = None
        """The repository's state that was read, and when it is to be read again all the same."""

    def moved(self) -> bool:
        """Tell whether the repository is not as it was when the past was read. Runs nothing."""
        read, found = self._read, self._lookout.found()
        return read is None or read[0] != found.stamp or self._monotonic() >= read[1]

    def past(self) -> Past:
        """Return the past up to HEAD, reading what is new; empty where there is no history.

        No lock is held: a slow repository holds up nobody else. At worst it is read twice.
        """
        if self.moved():
            found = self._lookout.found()
            fault = found.fault if found.repository is None else self._catch_up(found.repository)
            if found.repository is None:
                self._past = Past()
            if fault:
                log.info("the history of %s is not read: %s", self._root, fault)
            is_late = bool(fault) and found.repository is not None
            again_at = self._monotonic() + RETRY_SECONDS if is_late else float("inf")
            self._read = (found.stamp, again_at)
        return self._past

    def _catch_up(self, repository: Repository) -> str:
        """Read what is new; return why that could not be done."""
        agreed = repository.agrees()
        if agreed.text is None:
            self._past = Past()
            return agreed.fault
        said = repository.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        head, known = (said.text or "").strip(), self._past
        if not head:
            self._past = known if said.fault else Past()
            return said.fault
        if head == known.head:
            return ""
        grown = ("merge-base", "--is-ancestor", known.head, head)
        ahead = bool(known.head) and repository.ask(*grown).text is not None
        logged = _log(repository, f"{known.head}..{head}" if ahead else head)
        if logged is None:
            return "git log did not answer"
        past = known.copy() if ahead else Past()
        past.add(_commits(logged))
        past.count()
        past.head = head
        self._past = past
        return ""


def _log(repository: Repository, span: str) -> str | None:
    words = ("log", "--reverse", "--no-merges", f"--max-count={MOST_COMMITS}", "-z")
    shape = ("--name-status", "--relative", "--no-ext-diff", "--no-textconv", _FORMAT, span, "--")
    said = repository.ask(*words, "-M", *shape, seconds=SECONDS)
    if said.text is None and not said.fault:  # a partial clone lacks what renames are seen by
        said = repository.ask(*words, "--no-renames", *shape, seconds=SECONDS)
    return said.text


def _best(found: Mapping[int, float], most: int) -> dict[int, float]:
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0]))[:most])


def _commits(told: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    for record in told.split("\x01")[1:]:
        head, _, names = record.partition("\x03")
        yield head.partition("\x02")[2], changes_of(names)


def changes_of(names: str) -> list[tuple[str, str]]:
    """Return (name before, name after) of each file in a commit's `--name-status -z`.

    Of a new file the name before is empty.
    """
    parts = [part.lstrip("\n") for part in names.split("\0")]
    parts = [part for part in parts if part]
    changes: list[tuple[str, str]] = []
    at = 0
    while at + 1 < len(parts):
        moved = parts[at][0] in "RC" and at + 2 < len(parts)
        after = parts[at + 2] if moved else parts[at + 1]
        before = parts[at + 1] if parts[at][0] == "R" else "" if parts[at] == "A" else after
        changes.append((before, after))
        at += 3 if moved else 2
    return changes
