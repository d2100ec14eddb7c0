"""Names: which files are called what a task speaks of, kept of a source between plans."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from vaultmind.planner.code import INSTALL
from vaultmind.planner.git import History, Past
from vaultmind.planner.types import FileRecord
from vaultmind.planner.words import WordTable, stems_of

if TYPE_CHECKING:
    from vaultmind.planner.sources import Source

MOST_NAMES = 120
"""Definitions and headings of a file whose names count."""
MOST_NEAR = 40
"""Files of a folder in which a file would lie: of a larger one the place says nothing."""
CODE_SHARE = 0.15
"""Share of code files from which a source is one of code."""
_ENDINGS = ("test", "tests", "spec", "index", "init", "main")


@dataclass(frozen=True, slots=True)
class Names:
    """Tables of a structure's names, as of one version. Never changes."""

    records: Mapping[str, FileRecord] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    """Of each number the path; a number stays its file's."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    by_path: WordTable = field(default_factory=WordTable)
    by_definition: WordTable = field(default_factory=WordTable)
    defining: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Of each lowered last part of a definition's name, the files that define it."""
    called: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Of each lowered file name and stem, the files."""
    folders: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Of each folder the files that lie in it, by path."""

    stuff: Literal["code", "notes"] = "notes"
    """What the source is made of, as far as ranking goes."""
    unread: int = 0
    """Files of code that are text only, since what would read them is not installed."""

    def with_records(self, records: Mapping[str, FileRecord]) -> Names:
        """Return the tables for other records: only what changed is looked at closely."""
        held = self.records
        changed = [path for path, one in records.items() if held.get(path) is not one]
        changed += [path for path in held if path not in records]
        if not changed:
            return self
        paths, numbers = [*self.paths], dict(self.numbers)
        for path in changed:
            if path not in numbers:
                numbers[path] = len(paths)
                paths.append(path)
        now = {numbers[path]: records.get(path) for path in changed}
        before = {numbers[path]: held.get(path) for path in changed}
        return Names(
            dict(records),
            tuple(paths),
            numbers,
            self.by_path.with_texts(_texts(now, _path_words)),
            self.by_definition.with_texts(_texts(now, _defined)),
            _moved(self.defining, before, now, _definitions),
            _moved(self.called, before, now, _callings),
            _settled(self.folders, changed, records),
            _stuff(records),
            sum(INSTALL in one.fault for one in records.values()),
        )

    def like_path(self, task: str, most: int) -> dict[str, float]:
        """Return the files whose paths and titles share most with a task, 0 to 1, the best 1."""
        return self._named(self.by_path.like(task, most, self.paths))

    def like_definitions(self, task: str, most: int) -> dict[str, float]:
        """Return the files whose definitions or headings share most with a task, likewise."""
        return self._named(self.by_definition.like(task, most, self.paths))

    def whole(self, path: str, words: frozenset[str]) -> float:
        """Return how much of a file's own name a task says, 0 to 1, rare words counting more."""
        own = [one for one in stems_of(_stem(path)) if one not in _ENDINGS]
        total = sum(self.by_path.worth(one) for one in own)
        if not total:
            return 0.0
        return sum(self.by_path.worth(one) for one in own if one in words) / total

    def named(self, paths: Sequence[str]) -> dict[str, float]:
        """Return the files that a task names by path: 1, or less where a name fits several."""
        found: dict[str, float] = {}
        for wanted in paths:
            name = wanted.strip("./").replace("\\", "/").lower()
            fitting = self.called.get(name.rpartition("/")[2], frozenset())
            ending = [
                self.paths[at]
                for at in fitting
                if f"/{self.paths[at].lower()}".endswith(f"/{name}")
            ]
            under = ending or [self.paths[at] for at in fitting if _absolute(name, self.paths[at])]
            for path in under:
                found[path] = max(found.get(path, 0.0), 1.0 / len(under))
        return found

    def at(self, path: str) -> Iterator[str]:
        """Yield the files that a path names: by itself, or as the folder in which they lie."""
        yield from self.named((path,))
        name = path.strip("/")
        for folder, inside in self.folders.items():
            if folder == name or folder.startswith(f"{name}/"):
                yield from inside

    def near(self, missing: Sequence[str]) -> dict[str, float]:
        """Return what lies where files that are not there would, 0 to 1: more in small folders."""
        found: dict[str, float] = {}
        for wanted in missing:
            inside = self._around(wanted.strip("/"))
            share = 1.0 / (1.0 + math.log1p(len(inside)) / 2)
            for path in inside if len(inside) <= MOST_NEAR else ():
                found[path] = max(found.get(path, 0.0), share)
        return found

    def _around(self, name: str) -> frozenset[str]:
        """Return the files of the innermost folder of a path that there is."""
        parts = name.split("/")[:-1]
        for end in range(len(parts), 0, -1):
            for start in range(max(1, end - 1)):  # a path may begin outside of the source
                if inside := self.folders.get("/".join(parts[start:end])):
                    return inside
        return frozenset()

    def defined(self, identifiers: Sequence[str]) -> dict[str, float]:
        """Return the files that define what a task names, 1 or less where several do."""
        found: dict[str, float] = {}
        for wanted in identifiers:
            name = _last(wanted)
            fitting = self.defining.get(name, frozenset())
            for at in fitting:
                path = self.paths[at]
                found[path] = max(found.get(path, 0.0), 1.0 / len(fitting) ** 0.5)
        return found

    def _named(self, found: Sequence[tuple[int, float]]) -> dict[str, float]:
        return {self.paths[at]: score for at, score in found}


def _moved(
    table: Mapping[str, frozenset[int]],
    before: Mapping[int, FileRecord | None],
    now: Mapping[int, FileRecord | None],
    names_of: Callable[[FileRecord], frozenset[str]],
) -> dict[str, frozenset[int]]:
    """Return a table of names after some records changed."""
    changed: dict[str, set[int]] = {}

    def own(name: str) -> set[int]:
        return changed.setdefault(name, set(table.get(name, ())))

    for at, one in before.items():
        for name in names_of(one) if one else ():
            own(name).discard(at)
    for at, one in now.items():
        for name in names_of(one) if one else ():
            own(name).add(at)
    return {**table, **{name: frozenset(each) for name, each in changed.items()}}


def _stuff(records: Mapping[str, FileRecord]) -> Literal["code", "notes"]:
    code = sum(one.shape == "code" for one in records.values())
    return "code" if code >= CODE_SHARE * max(1, len(records)) else "notes"


def _settled(
    folders: Mapping[str, frozenset[str]],
    changed: Sequence[str],
    records: Mapping[str, FileRecord],
) -> dict[str, frozenset[str]]:
    """Return the files of each folder after some came, changed or went."""
    moved: dict[str, set[str]] = {}
    for path in changed:
        folder = path.rpartition("/")[0]
        inside = moved.setdefault(folder, set(folders.get(folder, ())))
        (inside.add if path in records else inside.discard)(path)
    return {**folders, **{folder: frozenset(each) for folder, each in moved.items()}}


def _texts(
    records: Mapping[int, FileRecord | None], text_of: Callable[[FileRecord], str]
) -> dict[int, str | None]:
    return {at: text_of(one) if one else None for at, one in records.items()}


def _path_words(one: FileRecord) -> str:
    stem = _stem(one.path)
    title = one.title if one.shape in ("note", "text") else ""
    return f"{one.path.rpartition('.')[0] or one.path} {stem} {title}"


def _defined(one: FileRecord) -> str:
    some = one.definitions[:MOST_NAMES]
    names = [f"{definition.name} {definition.summary}" for definition in some]
    names += [heading.text for heading in one.headings[:MOST_NAMES]]
    return " ".join((*names, *one.tags, one.abstract))


def _definitions(one: FileRecord) -> frozenset[str]:
    return frozenset(_last(definition.name) for definition in one.definitions)


def _callings(one: FileRecord) -> frozenset[str]:
    name = one.path.rpartition("/")[2].lower()
    return frozenset((name, name.rpartition(".")[0] or name))


def _last(name: str) -> str:
    return name.rpartition(".")[2].rpartition(":")[2].rpartition("#")[2].strip("()").lower()


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _absolute(name: str, path: str) -> bool:
    """Tell whether a longer name, as a traceback has it, ends in a file of the source."""
    return name.endswith(f"/{path.lower()}")


CLOSE_SECONDS = 1.0

log = logging.getLogger(__name__)


class Known:
    """The tables of one source, brought up to date aside when something changed. Any thread."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.names = Names()
        self.past = Past()
        structure = source.structure
        self._history = structure.history if structure else History(source.root)
        self._version = -1
        self._lock = threading.Lock()
        self._work: threading.Thread | None = None

    def settle(self, timeout_seconds: float) -> bool:
        """Bring the tables up to date as far as there is time; tell whether they are."""
        deadline = time.monotonic() + timeout_seconds
        while self._due():
            with self._lock:
                if self._work is None or not self._work.is_alive():
                    self._work = threading.Thread(target=self._catch_up, name="names", daemon=True)
                    self._work.start()
                work = self._work
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            work.join(left)
            if work.is_alive():
                return False
            if time.monotonic() >= deadline:
                break
        return not self._due()

    def close(self) -> None:
        """Wait a moment for what is at work; it writes nothing."""
        if self._work is not None:
            self._work.join(CLOSE_SECONDS)

    def _due(self) -> bool:
        structure = self.source.structure
        moved = structure is not None and structure.version != self._version
        return moved or self._history.moved()

    def _catch_up(self) -> None:
        try:
            structure = self.source.structure
            if structure is not None and structure.version != self._version:
                version = structure.version
                self.names = self.names.with_records(structure.records())
                self._version = version
            self.past = self._history.past()  # last: git can take its time
        except Exception:  # a plan does without them
            log.exception("the names of %s cannot be told", self.source.name)
