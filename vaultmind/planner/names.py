"""Names: which files are called what a task speaks of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal

from vaultmind.planner.code import INSTALL
from vaultmind.planner.types import FileRecord
from vaultmind.planner.words import WordTable, stems_of

MOST_NAMES = 120
"""Definitions and headings of a file whose names count."""
MOST_NEAR = 40
"""Files of a folder in which a file would lie: of a larger one the place says nothing."""
CODE_SHARE = 0.15
"""Share of code files from which a source is one of code."""
_ENDINGS = ("test", "tests", "spec", "index", "init", "main")


class Names:
    """Tables of the names in a source, which follow its records. Not for two threads at once."""

    def __init__(self) -> None:
        self.by_path = WordTable[str]()
        self.by_definition = WordTable[str]()
        self.folders: dict[str, set[str]] = {}
        """Of each folder the files that lie in it."""
        self._records: dict[str, FileRecord] = {}
        self._tables: dict[str, set[str]] = {}
        """Files by the last part of a definition's name (`=total`), and by their own (`cart`)."""
        self._code = self.unread = 0
        """Files of code; those of them that are text only, since what reads them is missing."""

    @property
    def stuff(self) -> Literal["code", "notes"]:
        """Return what the source is made of, as far as ranking goes."""
        return "code" if self._code >= CODE_SHARE * max(1, len(self._records)) else "notes"

    def put(self, path: str, record: FileRecord | None) -> None:
        """Take a record in place of the one before; None: the file is gone."""
        before = self._records.pop(path, None)
        if before is not None:
            self._count(before, -1)
            for key in _keys(before):
                self._tables[key].discard(path)
            self.folders[_folder(path)].discard(path)
        if record is not None:
            self._records[path] = record
            self._count(record, 1)
            for key in _keys(record):
                self._tables.setdefault(key, set()).add(path)
            self.folders.setdefault(_folder(path), set()).add(path)
        self.by_path.put(path, _path_words(record) if record else None)
        self.by_definition.put(path, " ".join(told_by(record)) if record else None)

    def _count(self, record: FileRecord, step: int) -> None:
        self._code += step * (record.shape == "code")
        self.unread += step * (INSTALL in record.fault)

    def whole(self, path: str, words: frozenset[str]) -> float:
        """Return how much of a file's own name a task says, 0 to 1, rare words counting more."""
        own = [one for one in stems_of(_stem(path)) if one not in _ENDINGS]
        total = sum(self.by_path.worth(one) for one in own)
        return sum(self.by_path.worth(one) for one in own if one in words) / (total or 1.0)

    def named(self, paths: Sequence[str]) -> dict[str, float]:
        """Return the files that a task names by path: 1, or less where a name fits several."""
        found: dict[str, float] = {}
        for wanted in paths:
            name = wanted.strip("./").replace("\\", "/").lower()
            fitting = self._tables.get(name.rpartition("/")[2], ())
            ending = [one for one in fitting if f"/{one.lower()}".endswith(f"/{name}")]
            # a longer name, as a traceback has it, ends in a file of the source
            under = ending or [one for one in fitting if name.endswith(f"/{one.lower()}")]
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
            parts = wanted.strip("/").split("/")[:-1]
            tried = (
                self.folders.get("/".join(parts[start:end]))
                for end in range(len(parts), 0, -1)
                for start in range(max(1, end - 1))  # a path may begin outside of the source
            )
            inside = next(filter(None, tried), set())
            share = 1.0 / (1.0 + math.log1p(len(inside)) / 2)
            for path in inside if len(inside) <= MOST_NEAR else ():
                found[path] = max(found.get(path, 0.0), share)
        return found

    def defined(self, identifiers: Sequence[str]) -> dict[str, float]:
        """Return the files that define what a task names, 1 or less where several do."""
        found: dict[str, float] = {}
        for wanted in identifiers:
            fitting = self._tables.get(f"={_last(wanted)}", ())
            for path in fitting:
                found[path] = max(found.get(path, 0.0), 1.0 / len(fitting) ** 0.5)
        return found


def told_by(one: FileRecord) -> list[str]:
    """Return the texts of a file's definitions, headings, tags and abstract."""
    names = [f"{each.name} {each.summary}" for each in one.definitions[:MOST_NAMES]]
    names += [heading.text for heading in one.headings[:MOST_NAMES]]
    return [*names, *one.tags, one.abstract]


def _path_words(one: FileRecord) -> str:
    title = one.title if one.shape in ("note", "text") else ""
    return f"{one.path.rpartition('.')[0] or one.path} {_stem(one.path)} {title}"


def _keys(one: FileRecord) -> set[str]:
    name = one.path.rpartition("/")[2].lower()
    return {name, _stem(name), *(f"={_last(each.name)}" for each in one.definitions)}


def _last(name: str) -> str:
    return name.rpartition(".")[2].rpartition(":")[2].rpartition("#")[2].strip("()").lower()


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name
