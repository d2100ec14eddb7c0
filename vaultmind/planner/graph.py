"""The graph of a source: which file links to, imports, inherits from or tests which.

An import is found by its name: the file whose path ends with as much of it as can be, the nearest
first. What the name alone cannot say (settings of bundlers and compilers) is not asked.
"""

from __future__ import annotations

import posixpath
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from vaultmind.planner.code import language, language_of, languages
from vaultmind.planner.records import is_package
from vaultmind.planner.types import FileRecord, Link

MOST_EDGES = 1000
"""Edges of one file."""
MOST_OF_A_NAME = 200
"""Files of one name that are looked at: more are a convention's."""
MOST_LIKE = 3
"""Files that a test is named like, or that an index file takes one name from."""
_PLAIN_FOLDERS = frozenset({"src", "lib"})
"""Folders that an import does not name."""
_TEST_MARKS = re.compile(
    r"^(?:test|tests|spec)(?:[_-]|(?=[A-Z]))|(?:[_-](?:test|tests|spec|unittest)|Tests?|Spec|IT)$"
)
_NO_NAMES = frozenset({"init", "index", "main", "mod", "lib", "conftest", "utils", "helpers", ""})
_WITHOUT_IMPORTS = frozenset({"go", "jvm", "csharp", "ruby"})
"""Families that need no import for what lies in the same package, or that import whole packages:
what a file uses is found by its name, where one file alone defines it."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One file leads to another; `line` counts from 1, 0: no line says so."""

    kind: Literal["import", "link", "embed", "inherits", "tests"]
    source: str
    target: str
    line: int


class Graph:
    """Edges between the files of a source. Read by any thread, updated by one at a time."""

    def __init__(self, records: Mapping[str, FileRecord] | None = None) -> None:
        self._records: dict[str, FileRecord] = dict(records or {})
        self._build()

    def update(self, changed: Mapping[str, FileRecord | None]) -> None:
        """Take records that changed; None: the file is gone.

        Found anew are the edges of the files that changed, of those that lead to them, and of
        those that looked for a name that came or went.
        """
        moved = {path for path, one in changed.items() if (path in self._records) == (one is None)}
        if len(changed) * 4 > len(self._records) or any(
            is_package(path) or _is_index(path) for path in moved
        ):
            self._records = {**self._records, **{p: r for p, r in changed.items() if r}}
            for path in [path for path, one in changed.items() if one is None]:
                self._records.pop(path, None)
            self._build()
            return
        touched = {*changed, *(edge.source for path in changed for edge in self.into(path))}
        for path, record in changed.items():
            before = self._entered(path, here=False)
            self._records.pop(path, None)
            if record is not None:
                self._records[path] = record
            after = self._entered(path, here=True)
            for key in before ^ after:
                touched.update(self._askers.get(key, ()))
        for path in touched:
            self._connect(path)

    def out(self, path: str) -> tuple[Edge, ...]:
        """Return what a file leads to, in the order of its lines."""
        return self._out.get(path, ())

    def into(self, path: str) -> tuple[Edge, ...]:
        """Return what leads to a file, by path."""
        edges = self._into.get(path, {}).values()
        return tuple(sorted(edges, key=lambda one: (one.source, one.line, one.kind)))

    def tests_of(self, path: str) -> tuple[str, ...]:
        """Return the tests that touch a file: those named like it first, then by folders."""
        tests = {edge.source for edge in self.into(path) if edge.kind == "tests"}
        return tuple(sorted(tests, key=lambda one: (*_distance(one, path), one)))

    def tested_by(self, path: str) -> tuple[str, ...]:
        """Return the files that a test touches: those that it is named like first."""
        files = {edge.target for edge in self.out(path) if edge.kind == "tests"}
        return tuple(sorted(files, key=lambda one: (*_distance(path, one), one)))

    # --- building ------------------------------------------------------------------------

    def _build(self) -> None:
        self._out: dict[str, tuple[Edge, ...]] = {}
        self._into: dict[str, dict[tuple[str, str], Edge]] = {}
        self._tables: dict[str, list[str]] = {}
        """Files by what they are looked up by: `name`, `=definition`."""
        self._packages: dict[str, str] = {}
        self._askers: dict[str, set[str]] = {}
        """Which files looked for what."""
        self._asking = ""
        for path in self._records:
            self._entered(path, here=True)
        for path in self._records:
            self._connect(path)

    def _entered(self, path: str, *, here: bool) -> set[str]:
        """Put a file into the table by which others find it, or take it out; return its keys."""
        record = self._records.get(path)
        if record is None:
            return set()
        keys = {_key(path)}
        if _is_index(path):
            keys |= {_key(_folder(path)), _key(_bare(_folder(path)))}
        if record.shape == "code":
            keys |= {f"={name}" for name in _defined(record)}
        for key in keys:
            held = self._tables.setdefault(key, [])
            (held.append if here else held.remove)(path)
        if is_package(path) and (name := dict(record.properties).get("name")):
            self._packages[name] = _folder(path)
        return keys

    def _connect(self, path: str) -> None:
        for edge in self._out.pop(path, ()):
            self._into.get(edge.target, {}).pop((path, edge.kind), None)
        self._asking = path
        if path in self._records and (edges := self._edges(self._records[path])):
            self._out[path] = edges
            for edge in edges:
                self._into.setdefault(edge.target, {})[path, edge.kind] = edge

    def _look(self, key: str) -> list[str]:
        """Return the files of a key, and note who asked."""
        self._askers.setdefault(key, set()).add(self._asking)
        return sorted(self._tables.get(key, ())[:MOST_OF_A_NAME])

    def _definers(self, record: FileRecord, name: str) -> list[str]:
        return [path for path in self._look(f"={name}") if self._is_kin(record, path)]

    def _edges(self, record: FileRecord) -> tuple[Edge, ...]:
        found: dict[tuple[str, str], int] = {}
        imports: dict[str, int] = {}
        for link in record.links:
            if link.kind == "import":
                for target in self._imported(record, link):
                    imports.setdefault(target, link.line)
            elif link.kind != "inherits":
                found.setdefault((link.kind, self._linked(record.path, link.name)), link.line)
        for name in record.uses if _family(record) in _WITHOUT_IMPORTS else ():
            if len(only := self._definers(record, name)) == 1:
                imports.setdefault(only[0], 0)
        found |= {("import", target): line for target, line in imports.items()}
        for link in record.links:
            if link.kind == "inherits":
                found.setdefault(("inherits", self._base(record, link, imports)), link.line)
        for target in self._tested(record, imports) if record.test else ():
            found.setdefault(("tests", target), imports.get(target, 0))
        edges = [
            Edge(kind, record.path, target, line)  # type: ignore[arg-type]
            for (kind, target), line in found.items()
            if target not in ("", record.path)
        ]
        edges.sort(key=lambda one: (one.line, one.kind, one.target))
        return tuple(edges[:MOST_EDGES])

    # --- imports -------------------------------------------------------------------------

    def _imported(self, record: FileRecord, link: Link) -> Iterator[str]:
        """Yield the files that an import means, and those its names come from by an index file."""
        is_python = _family(record) == "python"
        found = self._python(record, link) if is_python else [self._by_name(record, link.name)]
        for path in filter(None, found):
            yield path
            for name in link.names if _is_index(path) else ():
                if name not in _defined(self._records[path]):
                    below = f"{_folder(path)}/".removeprefix("/")
                    given = [one for one in self._definers(record, name) if one.startswith(below)]
                    yield from given if len(given) <= MOST_LIKE else ()

    def _python(self, record: FileRecord, link: Link) -> list[str]:
        """Return files of Python: `from a import b` means the module `a.b` where there is one."""
        name = link.name.lstrip(".")
        dots, parts = len(link.name) - len(name), [one for one in name.split(".") if one]
        base = _folder(record.path) if dots else None
        for _ in range(dots - 1):
            base = _folder(base or "")

        def module(*more: str) -> str:
            wanted = "/".join([*([base] if base else []), *parts, *more])
            ending = [
                path for path in self._look(_key(wanted))
                if path.endswith((".py", ".pyi")) and f"/{_module(path)}".endswith(f"/{wanted}")
            ]  # fmt: skip
            if base is not None:
                return next((path for path in ending if _module(path) == wanted), "")
            root = {path: _module(path)[: -len(wanted)].rstrip("/") for path in ending}
            fits = [path for path in ending if self._is_root(root[path], record, parts)]
            return min(fits, key=lambda path: _far(record.path, path), default="")

        own = module() if parts or dots else ""
        within = {
            taken: module(taken)
            for taken in link.names
            if taken != "*" and (not own or _is_index(own))
        }
        found = [path for path in within.values() if path]
        if own and (not link.names or len(found) < len(link.names)):
            found.append(own)
        return found

    def _is_root(self, root: str, record: FileRecord, parts: Sequence[str]) -> bool:
        """Tell whether packages may be found from a folder: it is no package itself.

        `import types` means the standard library's unless such a file lies beside the importer.
        """
        if root and any(f"{root}/__init__.{one}" in self._records for one in ("py", "pyi")):
            return False
        is_standard = parts[0] in sys.stdlib_module_names
        return not root or not is_standard or _folder(record.path) == root

    def _by_name(self, record: FileRecord, name: str) -> str:
        """Return the file that an import means by the longest beginning of its name."""
        family = _family(record)
        name = re.sub(r"(?<!^)[?#].*$|^[\w-]+!", "", name).replace("::", "/").strip()
        beside = posixpath.normpath(posixpath.join(_folder(record.path), name))
        if name.startswith("."):
            return self._nearest(record, beside, exact=True)
        if beside in self._records:
            return beside
        package = next((one for one in self._packages if f"{name}/".startswith(f"{one}/")), "")
        if package:
            folder = self._packages[package]
            return self._nearest(record, f"{folder}{name[len(package) :]}", exact=True)
        first, *rest = name.replace(".", "/").split("/") if family == "jvm" else name.split("/")
        if family == "rust" and first in ("crate", "self", "super"):
            base = {"self": _module(record.path), "super": _folder(_module(record.path))}
            first, *rest = [*filter(None, base.get(first, "").split("/")), *rest] or [""]
        is_aliased = first[:1] in ("@", "~", "#", "")
        parts = [one for one in (first.lstrip("@~#"), *rest) if one and one != "*"]
        whole = family not in ("jvm", "rust")
        if family == "javascript" and not is_aliased and len(parts) < 2:  # noqa: PLR2004
            return ""  # a package of npm's
        for count in range(len(parts), len(parts) - 1 if whole else 0, -1):
            if found := self._nearest(record, "/".join(parts[:count])):
                return found
        return ""

    def _nearest(self, record: FileRecord, wanted: str, *, exact: bool = False) -> str:
        """Return the nearest file of a record's family whose path ends so, or is so."""
        stem, ending = posixpath.splitext(wanted)
        ends = {_bare(wanted), _bare(stem) if ending in _code_endings() else _bare(wanted)}
        found = []
        for path in self._look(_key(wanted)):
            forms = [_bare(one) for one in (path, posixpath.splitext(path)[0], _module(path))]
            fits = any(form == end or (not exact and form.endswith(f"/{end}"))
                       for form in forms for end in ends)  # fmt: skip
            if fits and (self._records[path].shape != "code" or self._is_kin(record, path)):
                found.append(path)
        return min(found, key=lambda one: _far(record.path, one), default="")

    def _is_kin(self, record: FileRecord, path: str) -> bool:
        return _family(self._records[path]) == _family(record)

    # --- links, bases, tests -------------------------------------------------------------

    def _linked(self, here: str, name: str) -> str:
        """Return the file that a wikilink or relative path means, as Obsidian finds it."""
        target = name.partition("|")[0].partition("#")[0].strip()
        if not target or target.startswith("//") or ":" in target.partition("/")[0]:
            return ""
        folder, called = _folder(here), self._look(_key(target))
        beside = posixpath.normpath(posixpath.join(folder, target.lstrip("/")))
        both = [posixpath.normpath(target.lstrip("/")), beside] if "/" in target else [beside]
        for path in both[::-1] if target.startswith(".") else both:
            for exact in (path, f"{path}.md"):
                if exact in self._records:
                    return exact
        wanted = _folded(re.sub(r"^(?:\.\.?/)+", "", target.strip("/")))
        found = [path for path in called if f"/{_folded(path)}".endswith(f"/{wanted}")]
        key = lambda one: (_folder(one) != folder, one.count("/"), len(one), one)  # noqa: E731
        return min(found, key=key, default="") if wanted else ""

    def _base(self, record: FileRecord, link: Link, imports: Iterable[str]) -> str:
        """Return the file that defines a base: one of those that are imported."""
        found = self._definers(record, link.name.rpartition(".")[2])
        return next((path for path in imports if path in found), "")

    def _tested(self, record: FileRecord, imports: Iterable[str]) -> Iterator[str]:
        """Yield the files that a test touches: named like it, or imported."""
        core, found = _core(record.path), list[str]()
        if core not in _NO_NAMES and _is_named_test(record.path):
            for name in (core, core.replace("_", "")):
                found += self._look(name)
            like = {path for path in found if self._is_kin(record, path) and self._is_code(path)}
            found = sorted(like, key=lambda one: (*_distance(record.path, one), one))[:MOST_LIKE]
        found += imports
        yield from (path for path in dict.fromkeys(found) if self._is_code(path))

    def _is_code(self, path: str) -> bool:
        return self._records[path].shape == "code" and not self._records[path].test


# --- paths --------------------------------------------------------------------------------


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


@lru_cache(maxsize=65_536)
def _key(path: str) -> str:
    """Return what a file is looked up by: its name up to the first dot, folded."""
    name = path.rpartition("/")[2].lstrip(".").partition(".")[0]
    return unicodedata.normalize("NFC", name).casefold().replace("-", "_")


@lru_cache(maxsize=65_536)
def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold().removesuffix(".md")


@lru_cache(maxsize=65_536)
def _module(path: str) -> str:
    """Return the path by which a file of code is imported: without ending, and without `index`."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder if _is_index(path) else f"{folder}/{stem}".lstrip("/")


@lru_cache(maxsize=65_536)
def _bare(path: str) -> str:
    """Return a path without the folders that no import names."""
    return "/".join(one for one in path.split("/") if one not in _PLAIN_FOLDERS).replace("-", "_")


@lru_cache(maxsize=65_536)
def _is_index(path: str) -> bool:
    """Tell whether a file stands for the folder it lies in, as `index.ts` does."""
    return path.rpartition("/")[2].partition(".")[0] in language(language_of(path)).index_files


@lru_cache(maxsize=1)
def _code_endings() -> frozenset[str]:
    return frozenset(f".{end}" for one in languages().values() for end in one.extensions)


def _family(record: FileRecord) -> str:
    one = language(record.language)
    return "javascript" if one.name in ("vue", "svelte") else one.family or one.name


def _defined(record: FileRecord) -> set[str]:
    """Return the names that others may take from a file: those of its top, and of its modules."""
    modules = {one.name for one in record.definitions if one.kind == "module"}
    parted = (one.name.rpartition(".") for one in record.definitions)
    return modules | {name for around, _, name in parted if not around or around in modules}


def _far(one: str, other: str) -> tuple[int, int, str]:
    """Return how far another path lies from one: by the folders they do not share, by length."""
    both = [each.split("/")[:-1] for each in (one, other)]
    pairs = enumerate(zip(*both, strict=False))
    shared = next((at for at, (a, b) in pairs if a != b), min(map(len, both)))
    return -shared, len(other), other


def _core(path: str) -> str:
    """Return what a test's name is about: `cart` of `test_cart.py` and of `CartTest.java`."""
    name = path.rpartition("/")[2].partition(".")[0]
    return _key(_TEST_MARKS.sub("", _TEST_MARKS.sub("", name)))


def _is_named_test(path: str) -> bool:
    first, *more = path.rpartition("/")[2].split(".")
    return bool(_TEST_MARKS.search(first)) or not {"test", "spec"}.isdisjoint(more[:-1])


def _distance(test: str, path: str) -> tuple[int, int]:
    """Return how far a test and a file are: by their names, by the folders they share."""
    own = _key(path) if _key(path) not in ("__init__", "index", "mod") else _key(_folder(path))
    core, words = _core(test).split("_"), own.strip("_").split("_")
    like = 2 if core == words else int(own not in _NO_NAMES and core[: len(words)] == words)
    mine, theirs = ({one.casefold() for one in each.split("/")[:-1]} for each in (test, path))
    return -like, -len(mine & theirs)
