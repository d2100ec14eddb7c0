"""Where things are in a source: files by what others call them, folders, names, settings.

Who resolves a name asks here, and what it asked for is noted: only who asked for what changed
has to ask again.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from vaultmind.planner.structure.code.languages import Language, language, languages
from vaultmind.planner.structure.graph_settings import Settings, is_settings
from vaultmind.planner.structure.records import FileRecord, Link

MOST_OF_A_NAME = 200
"""Files that are called the same, of which one is looked for. More are a convention's."""


@dataclass(frozen=True, slots=True)
class Face:
    """What a file gives to others: its own, and what it takes from others and hands on."""

    defined: frozenset[str]
    taken: Mapping[str, Link]
    stars: tuple[Link, ...]

    def differs(self, other: Face | None) -> Iterator[str]:
        """Yield the names that two faces answer otherwise for; `*` for what hands on all."""
        if other is None:
            yield from self.defined
            yield from self.taken
        else:
            yield from self.defined ^ other.defined
            for name in self.taken.keys() | other.taken.keys():
                mine, theirs = self.taken.get(name), other.taken.get(name)
                if (mine and mine.name) != (theirs and theirs.name):
                    yield name
        if self.stars or (other and other.stars):
            yield "*"


class Places:
    """An index of a source's files. Never changes: `with_changed` gives another."""

    def __init__(self, records: Mapping[str, FileRecord]) -> None:
        self.records = dict(records)
        self.settings = Settings.of(self.records)
        self._files: dict[str, tuple[str, ...]] = {}
        self._folders: dict[str, frozenset[str]] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._faces: dict[str, Face] = {}
        files: dict[str, list[str]] = {}
        names: dict[str, list[str]] = {}
        folders: dict[str, set[str]] = {}
        for path, record in self.records.items():
            face = self._faces[path] = face_of(record)
            for key in file_keys(path):
                files.setdefault(key, []).append(path)
            for name in face.defined:
                names.setdefault(name, []).append(path)
            if record.shape == "code":
                folders.setdefault(folder_of(path), set()).add(path)
        self._files = {key: tuple(sorted(paths)) for key, paths in files.items()}
        self._names = {name: tuple(sorted(paths)) for name, paths in names.items()}
        self._folders = {folder: frozenset(paths) for folder, paths in folders.items()}
        self._folder_names = _by_last_name(self._folders)

    def with_changed(self, changed: Mapping[str, FileRecord | None]) -> tuple[Places, set[str]]:
        """Return the index after a change, and the keys that are answered otherwise now."""
        if any(is_settings(path) for path in changed):
            records = {**self.records, **changed}
            return Places({p: r for p, r in records.items() if r is not None}), {"*"}
        after = object.__new__(Places)
        after.settings = self.settings
        after.records = dict(self.records)
        after._files, after._folders = dict(self._files), dict(self._folders)
        after._names, after._faces = dict(self._names), dict(self._faces)
        keys: set[str] = set()
        for path, record in changed.items():
            keys.update(after._change(path, record))
        same = after._folders.keys() == self._folders.keys()
        after._folder_names = self._folder_names if same else _by_last_name(after._folders)
        return after, keys

    def files(self, key: str) -> tuple[str, ...]:
        """Return the files that a key may mean, by path."""
        return self._files.get(key, ())

    def folder(self, path: str) -> frozenset[str]:
        """Return the files of code that lie in a folder."""
        return self._folders.get(path, frozenset())

    def folders(self, name: str) -> tuple[str, ...]:
        """Return the folders with code of a name, by path."""
        return self._folder_names.get(name, ())

    def named(self, name: str) -> tuple[str, ...]:
        """Return the files that define a name, by path."""
        return self._names.get(name, ())

    def face(self, path: str) -> Face:
        """Return what a file gives to others."""
        return self._faces[path]

    def _change(self, path: str, record: FileRecord | None) -> Iterator[str]:
        old = self.records.pop(path, None)
        before = self._faces.pop(path, None)
        after = None
        if record is not None:
            self.records[path] = record
            after = self._faces[path] = face_of(record)
        was_code = old is not None and old.shape == "code"
        is_code = record is not None and record.shape == "code"
        if (old is None) != (record is None) or was_code != is_code:
            yield from self._move(path, record is not None, is_code)
        if before is not None or after is not None:
            yield from self._rename(path, before, after)
        if old and record and (old.test, old.language) != (record.test, record.language):
            yield from (f"f:{key}" for key in file_keys(path))

    def _move(self, path: str, here: bool, is_code: bool) -> Iterator[str]:
        for key in file_keys(path):
            self._files[key] = _with(self._files.get(key, ()), path, here)
            yield f"f:{key}"
        folder = folder_of(path)
        held = self._folders.get(folder, frozenset())
        held = held | {path} if is_code else held - {path}
        if held:
            self._folders[folder] = held
        else:
            self._folders.pop(folder, None)
        yield f"d:{folder.rpartition('/')[2]}"

    def _rename(self, path: str, before: Face | None, after: Face | None) -> Iterator[str]:
        mine = before.defined if before else frozenset()
        theirs = after.defined if after else frozenset()
        for name in mine ^ theirs:
            self._names[name] = _with(self._names.get(name, ()), path, name in theirs)
            yield f"n:{name}"
        one, other = (after, before) if after else (before, None)
        if one is not None:
            yield from (f"x:{path}:{name}" for name in one.differs(other))


class Asking:
    """Asks for one file, and notes what it asked for."""

    def __init__(self, places: Places, record: FileRecord) -> None:
        self.places = places
        self.record = record
        self.path = record.path
        self.asked: set[str] = set()

    def files(self, name: str) -> tuple[str, ...]:
        """Return the files that are called so: by their name, or as an index by their folder's."""
        key = key_of(name)
        self.asked.add(f"f:{key}")
        return self.places.files(key)

    def exists(self, path: str) -> bool:
        """Tell whether a file is there, exactly as named."""
        self.asked.add(f"f:{key_of(path)}")
        return path in self.places.records

    def first(self, paths: Iterable[str]) -> str:
        """Return the first of some paths that is there; empty: none is."""
        return next((path for path in paths if self.exists(path)), "")

    def first_called(self, name: str, paths: Iterable[str]) -> str:
        """Return the first of some paths that is there, all of which are looked up by one name.

        An index file is looked up by its folder's name: else all would ask again for each.
        """
        self.asked.add(f"f:{key_of(name)}")
        held = self.places.records
        return next((path for path in paths if path in held), "")

    def folder(self, path: str) -> frozenset[str]:
        """Return the files of code in a folder."""
        self.asked.add(f"d:{path.rpartition('/')[2]}")
        return self.places.folder(path)

    def folders(self, ending: str) -> list[str]:
        """Return the folders with code whose path ends so, the shortest first."""
        name = ending.rpartition("/")[2]
        self.asked.add(f"d:{name}")
        found = [path for path in self.places.folders(name) if f"/{path}".endswith(f"/{ending}")]
        return sorted(found, key=len)

    def named(self, name: str) -> tuple[str, ...]:
        """Return the files that define a name."""
        self.asked.add(f"n:{name}")
        return self.places.named(name)

    def face(self, path: str, name: str) -> Face:
        """Return what a file gives to others, to be asked for one name."""
        self.asked.update((f"x:{path}:{name}", f"x:{path}:*"))
        return self.places.face(path)

    def shape(self, path: str) -> FileRecord:
        """Return a record of which only what never changes with its text may be used."""
        return self.places.records[path]


def face_of(record: FileRecord) -> Face:
    """Return what a file gives to others."""
    taken: dict[str, Link] = {}
    stars: list[Link] = []
    for link in record.links:
        if link.kind == "import":
            if "*" in link.names:
                stars.append(link)
            taken.update((name, link) for name in link.names if name != "*")
    return Face(frozenset(_defined(record)), taken, tuple(stars))


def _defined(record: FileRecord) -> Iterator[str]:
    """Yield the names by which others know what a file defines: not the members of classes."""
    modules: set[str] = set()
    for one in record.definitions:
        outer, dot, name = one.name.rpartition(".")
        if one.kind == "module":
            modules.add(one.name)
            yield one.name
        if not dot or outer in modules:
            yield name


@lru_cache(maxsize=65_536)
def key_of(path: str) -> str:
    """Return what a file is looked up by: its name up to the first dot, folded."""
    name = path.rpartition("/")[2].lstrip(".")
    return unicodedata.normalize("NFC", name.partition(".")[0]).casefold()


def file_keys(path: str) -> tuple[str, ...]:
    """Return all that a file is looked up by; an index file by its folder's name too."""
    key = key_of(path)
    folder = folder_of(path)
    if folder and key in _index_names():
        return key, key_of(folder)
    return (key,)


def folder_of(path: str) -> str:
    """Return the folder that a path lies in; empty: the source's root."""
    return path.rpartition("/")[0]


def family_of(record: FileRecord) -> str:
    """Return what a file's language imports from: JavaScript and TypeScript are one."""
    one: Language = language(record.language)
    return one.family or one.name


def shared_folders(one: str, other: str) -> int:
    """Return how many folders two paths lie in together, from the root on."""
    count = 0
    for mine, theirs in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if mine != theirs:
            break
        count += 1
    return count


@lru_cache(maxsize=1)
def _index_names() -> frozenset[str]:
    return frozenset(name for one in languages().values() for name in one.index_files)


def _by_last_name(folders: Iterable[str]) -> dict[str, tuple[str, ...]]:
    names: dict[str, list[str]] = {}
    for folder in sorted(folders):
        names.setdefault(folder.rpartition("/")[2], []).append(folder)
    return {name: tuple(paths) for name, paths in names.items()}


def _with(paths: tuple[str, ...], path: str, here: bool) -> tuple[str, ...]:
    held = set(paths) | {path} if here else set(paths) - {path}
    return tuple(sorted(held))
