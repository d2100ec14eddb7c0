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
MOST_OF_A_FOLDER = 12
"""Files of a package that an import of all of it means, where no name tells which."""
MOST_LIKE, MOST_USED = 3, 12
"""Files that a test is named like, and files whose names it uses."""
DEEP = 6
"""Files that may hand on a name to each other before it is given up."""
_PLAIN_FOLDERS = frozenset({"src", "lib"})
"""Folders that an import does not name."""
_TEST_MARKS = re.compile(
    r"^(?:test|tests|spec)(?:[_-]|(?=[A-Z]))|(?:[_-](?:test|tests|spec|unittest)|Tests?|Spec|IT)$"
)
_TEST_MIDDLES = frozenset({"test", "spec", "cy", "e2e"})
_NO_NAMES = frozenset({"init", "index", "main", "mod", "lib", "conftest", "utils", "helpers", ""})
_WITHOUT_IMPORTS = frozenset({"go", "jvm", "csharp", "ruby"})
"""Families that need no import for what lies in the same package."""
_DOTTED = frozenset({"python", "jvm", "csharp"})


@dataclass(frozen=True, slots=True)
class Edge:
    """One file leads to another; `line` counts from 1, 0: no line says so."""

    kind: Literal["import", "link", "embed", "inherits", "tests"]
    source: str
    target: str
    line: int


@dataclass(frozen=True, slots=True)
class _Names:
    """What a file gives to others: its own, and what it takes from others and hands on."""

    defined: frozenset[str]
    taken: Mapping[str, Link]
    stars: tuple[Link, ...]


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
        moved = [path for path, one in changed.items() if (path in self._records) == (one is None)]
        self._records.update({path: one for path, one in changed.items() if one is not None})
        if len(changed) * 4 > len(self._records) or any(map(self._moves_others, moved)):
            for path, one in changed.items():
                if one is None:
                    self._records.pop(path, None)
            self._build()
            return
        touched = {*changed, *(edge.source for path in changed for edge in self.into(path))}
        for path, record in changed.items():
            if path in self._records:
                self._enter(path, here=False)
            if record is not None:
                self._enter(path)
            else:
                self._records.pop(path, None)
        for path in moved:
            touched.update(*(self._askers.get(key, ()) for key in _keys(path)))
        for path in touched:
            self._connect(path)

    def _moves_others(self, path: str) -> bool:
        """Tell whether files find each other otherwise once a file came or went."""
        record = self._records.get(path)
        by_folder = record is not None and _family(record) in _WITHOUT_IMPORTS
        return by_folder or is_package(path) or _is_index(path)

    def out(self, path: str) -> tuple[Edge, ...]:
        """Return what a file leads to, in the order of its lines."""
        return self._out.get(path, ())

    def into(self, path: str) -> tuple[Edge, ...]:
        """Return what leads to a file, by path."""
        return tuple(sorted(self._into.get(path, {}).values(), key=_by_source))

    def tests_of(self, path: str) -> tuple[str, ...]:
        """Return the tests that touch a file: those named like it first, then by closeness."""
        tests = [edge.source for edge in self.into(path) if edge.kind == "tests"]
        key = lambda one: (_closeness(one, path), -len(self.out(one)))  # noqa: E731
        return tuple(sorted(sorted(tests), key=key, reverse=True))

    def tested_by(self, path: str) -> tuple[str, ...]:
        """Return the files that a test touches: those that it is named like first."""
        files = [edge.target for edge in self.out(path) if edge.kind == "tests"]
        return tuple(sorted(sorted(files), key=lambda one: _closeness(path, one), reverse=True))

    # --- building ------------------------------------------------------------------------

    def _build(self) -> None:
        self._out: dict[str, tuple[Edge, ...]] = {}
        self._into: dict[str, dict[tuple[str, str], Edge]] = {}
        self._names: dict[str, _Names] = {}
        self._called: dict[str, list[str]] = {}
        self._folders: dict[str, list[str]] = {}
        self._definers: dict[str, list[str]] = {}
        self._packages: dict[str, str] = {}
        self._askers: dict[str, set[str]] = {}
        """Which files looked for a name."""
        self._asking = ""
        for path in sorted(self._records):
            self._enter(path)
        for path in self._records:
            self._connect(path)

    def _enter(self, path: str, *, here: bool = True) -> None:
        """Put a file into the tables by which others find it, or take it out."""
        record = self._records[path]
        tables = [(self._called, key) for key in _keys(path)]
        if record.shape == "code":
            tables.append((self._folders, _folder(path)))
            tables += [(self._definers, name) for name in self._names_of(path).defined]
        for table, key in tables:
            held = table.setdefault(key, [])
            if here:
                held.append(path)
            elif path in held:
                held.remove(path)
        if not here:
            self._names.pop(path, None)
        if is_package(path) and (name := dict(record.properties).get("name")):
            self._packages[name] = _folder(path)

    def _connect(self, path: str) -> None:
        for edge in self._out.pop(path, ()):
            self._into.get(edge.target, {}).pop((path, edge.kind), None)
        self._asking = path
        edges = self._edges(self._records[path]) if path in self._records else ()
        if edges:
            self._out[path] = edges
        for edge in edges:
            self._into.setdefault(edge.target, {})[path, edge.kind] = edge

    def _look(self, name: str) -> Sequence[str]:
        """Return the files that are called so, and note who asked."""
        self._askers.setdefault(_key(name), set()).add(self._asking)
        return self._called.get(_key(name), ())[:MOST_OF_A_NAME]

    def _edges(self, record: FileRecord) -> tuple[Edge, ...]:
        found: dict[tuple[str, str], int] = {}
        imports: dict[str, int] = {}
        for link in record.links:
            if link.kind == "import":
                for target in self._imported(record, link):
                    imports.setdefault(target, link.line)
            elif link.kind != "inherits":
                found.setdefault((link.kind, self._linked(record.path, link.name)), link.line)
        found |= {("import", target): line for target, line in imports.items()}
        for link in record.links:
            if link.kind == "inherits":
                found.setdefault(("inherits", self._base(record, link)), link.line)
        for target in self._tested(record, imports) if record.test else ():
            found.setdefault(("tests", target), imports.get(target, 0))
        edges = [
            Edge(kind, record.path, target, line)  # type: ignore[arg-type]
            for (kind, target), line in found.items()
            if target not in ("", record.path)
        ]
        edges.sort(key=lambda one: (one.line, one.kind, one.target))
        return tuple(edges[:MOST_EDGES])

    def _names_of(self, path: str) -> _Names:
        held = self._names.get(path)
        if held is None:
            record, taken, stars = self._records[path], dict[str, Link](), []
            for link in record.links:
                if link.kind == "import":
                    stars += [link] if "*" in link.names else []
                    taken.update((name, link) for name in link.names if name != "*")
            modules = {one.name for one in record.definitions if one.kind == "module"}
            outer = (one.name.rpartition(".") for one in record.definitions)
            own = {name for around, _, name in outer if not around or around in modules}
            held = self._names[path] = _Names(frozenset(own | modules), taken, tuple(stars))
        return held

    # --- imports -------------------------------------------------------------------------

    def _imported(self, record: FileRecord, link: Link) -> list[str]:
        """Return the files that an import means, and those that the names it takes come from."""
        found: dict[str, None] = {}
        for path, names in self._meant(record, link):
            found[path] = None
            for name in names:
                found.update(dict.fromkeys(self._givers(path, name)))
        found.pop(record.path, None)
        return list(found)

    def _givers(self, path: str, name: str) -> list[str]:
        """Return the files that define a name which a file only hands on; empty: its own."""
        waiting, seen = [path], {path}
        for _ in range(DEEP):
            step: list[str] = []
            for here in waiting:
                names = self._names_of(here)
                if name not in names.defined:
                    for link in [names.taken[name]] if name in names.taken else names.stars:
                        wanted = Link("import", link.name, link.line, (name,))
                        step += [one for one, _ in self._meant(self._records[here], wanted)]
            waiting = [one for one in dict.fromkeys(step) if one not in seen]
            seen.update(waiting)
            if found := [one for one in waiting if name in self._names_of(one).defined]:
                return found
        return []

    def _meant(self, record: FileRecord, link: Link) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield the files that an import names, and the names that are taken from each."""
        family = _family(record)
        if family == "python":
            yield from self._python(record, link)
        elif family in ("go", "csharp") or ("*" in link.names and family == "jvm"):
            for path in self._packaged(record, link.name, family):
                yield path, ()
        elif found := self._by_name(record, link.name, family):
            names = [one for one in link.names if one not in ("*", "default")]
            yield found, names if family == "javascript" else ()

    def _python(self, record: FileRecord, link: Link) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield files of Python: `from a import b` means the module `a.b` where there is one."""
        name = link.name.lstrip(".")
        dots, parts = len(link.name) - len(name), [one for one in name.split(".") if one]
        base = _folder(record.path) if dots else None
        for _ in range(dots - 1):
            base = _folder(base or "")

        def module(more: Sequence[str]) -> str:
            wanted = "/".join([*([base] if base else []), *parts, *more])
            if base is not None:
                exact = (one for one in self._candidates(wanted) if _module(one) == wanted)
                return next(exact, "")
            roots = [
                (-_shared(record.path, path), len(path), path)
                for path in self._candidates(wanted)
                if self._is_root(_module(path)[: -len(wanted)].rstrip("/"), record, parts)
            ]
            return min(roots)[2] if roots else ""

        own, others = module(()) if parts or dots else "", []
        for taken in link.names:
            is_folder = not own or own.endswith(("__init__.py", "__init__.pyi"))
            if taken != "*" and is_folder and (found := module((taken,))):
                yield found, ()
            else:
                others.append(taken)
        if own and (others or not link.names):
            yield own, [one for one in others if one != "*"]

    def _is_root(self, root: str, record: FileRecord, parts: Sequence[str]) -> bool:
        """Tell whether packages may be found from a folder: it is no package itself.

        `import types` means the standard library's unless such a file lies beside the importer.
        """
        if root and any(f"{root}/__init__.{one}" in self._records for one in ("py", "pyi")):
            return False
        is_standard = parts[0] in sys.stdlib_module_names
        return not root or not is_standard or _folder(record.path) == root

    def _candidates(self, module: str) -> Iterator[str]:
        """Yield the files of Python whose path without its ending ends so."""
        for path in self._look(module):
            if path.endswith((".py", ".pyi")) and f"/{_module(path)}".endswith(f"/{module}"):
                yield path

    def _by_name(self, record: FileRecord, name: str, family: str) -> str:
        """Return the file that an import means by the longest end of its name."""
        name = re.sub(r"(?<!^)[?#].*$|^[\w-]+!", "", name).replace("::", "/").strip()
        beside = posixpath.normpath(posixpath.join(_folder(record.path), name))
        least = 1
        if name.startswith("."):
            return self._nearest(record, beside, exact=True)
        if family == "jvm":
            name = name.removesuffix(".*").replace(".", "/")
        elif family == "javascript":
            package = next((one for one in self._packages if f"{name}/".startswith(f"{one}/")), "")
            if package:
                found = f"{self._packages[package]}{name[len(package) :]}"
                return self._nearest(record, found, exact=True)
            least = 1 if name.startswith(("@/", "~", "#/", "/")) else 2
            name = name.lstrip("@~#/")
        elif family == "rust":
            name, least = _rust_path(record.path, name)
        elif beside in self._records:
            return beside
        parts = [one for one in name.split("/") if one not in ("", ".", "..", "*")]
        least = least if family in ("jvm", "rust") else max(least, len(parts))
        for count in range(len(parts), least - 1, -1):
            if found := self._nearest(record, "/".join(parts[:count])):
                return found
        return ""

    def _nearest(self, record: FileRecord, wanted: str, *, exact: bool = False) -> str:
        """Return the nearest file of a record's family whose path ends so, or is so."""
        stem, ending = posixpath.splitext(wanted)
        ends = {_bare(wanted), _bare(stem) if ending in _code_endings() else _bare(wanted)}
        found = []
        for path in self._look(wanted):
            forms = [_bare(one) for one in (path, posixpath.splitext(path)[0], _module(path))]
            fits = any(form == end or (not exact and form.endswith(f"/{end}"))
                       for form in forms for end in ends)  # fmt: skip
            if fits and (self._records[path].shape != "code" or self._is_kin(record, path)):
                found.append(path)
        key = lambda one: (-_shared(record.path, one), len(one), one)  # noqa: E731
        return min(found, key=key, default="")

    def _packaged(self, record: FileRecord, name: str, family: str) -> list[str]:
        """Return the files of a package or namespace that define what a file uses."""
        if family == "csharp":
            paths = self._definers.get(name, [])
        elif family == "jvm":
            ending = name.removesuffix(".*").replace(".", "/")
            paths = self._folder_files(ending)
        else:
            module = next((m for m in self._packages if f"{name}/".startswith(f"{m}/")), None)
            if module is not None:
                folder = posixpath.join(self._packages[module], name[len(module) + 1 :])
                paths = self._folders.get(folder.strip("/"), [])
            else:
                first, *parts = name.split("/")
                ends = ("/".join(parts[at:]) for at in range(len(parts) if "." in first else 0))
                paths = next((one for end in ends if (one := self._folder_files(end))), [])
        own = [p for p in paths if self._is_kin(record, p) and not self._records[p].test]
        uses = frozenset(record.uses)
        used = [path for path in own if not uses.isdisjoint(self._all_names(path))]
        return used or ([] if family == "csharp" else own[:MOST_OF_A_FOLDER])

    def _all_names(self, path: str) -> frozenset[str]:
        return frozenset(one.name.rpartition(".")[2] for one in self._records[path].definitions)

    def _folder_files(self, ending: str) -> list[str]:
        found = [one for one in self._folders if f"/{one}".endswith(f"/{ending}")]
        return self._folders[min(found, key=len)] if found else []

    def _is_kin(self, record: FileRecord, path: str) -> bool:
        return _family(self._records[path]) == _family(record)

    # --- links, bases, tests -------------------------------------------------------------

    def _linked(self, here: str, name: str) -> str:
        """Return the file that a wikilink or relative path means, as Obsidian finds it."""
        target = name.partition("|")[0].partition("#")[0].strip()
        if not target or target.startswith("//") or ":" in target.partition("/")[0]:
            return ""
        folder, called = _folder(here), self._look(target)
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

    def _base(self, record: FileRecord, link: Link) -> str:
        """Return the file that defines a base: through an import, or by its name alone."""
        head, _, last = link.name.rpartition(".")
        first = link.name.partition(".")[0]
        for one in record.links:
            if one.kind == "import" and (
                (head and head in (one.name, one.name.rpartition("/")[2])) or first in one.names
            ):
                name = last if head and first not in one.names else first
                targets = self._imported(record, one)
                definers = [path for path in targets if name in self._names_of(path).defined]
                return next(iter(definers or targets), "")
        names = self._names_of(record.path)
        if last in names.defined or _family(record) in ("python", "javascript"):
            stars = self._givers(record.path, last) if names.stars else []
            return next(iter(stars), "") if last not in names.defined else ""
        return self._only_definer(record, last)

    def _only_definer(self, record: FileRecord, name: str) -> str:
        """Return the one file of a family that defines a name, in languages without imports."""
        found = [path for path in self._definers.get(name, ()) if self._is_kin(record, path)]
        return found[0] if len(found) == 1 else ""

    def _tested(self, record: FileRecord, imports: Iterable[str]) -> Iterator[str]:
        """Yield the files that a test touches: named like it, imported, or used by name."""
        core = _core(record.path)
        found: list[str] = []
        if core not in _NO_NAMES and _is_named_test(record.path):
            for name in (core, core.replace("_", "-"), core.replace("_", "")):
                found += self._look(name)
            like = {path for path in found if self._is_kin(record, path) and self._is_code(path)}
            key = lambda one: (-_nearness(record.path, one), len(one), one)  # noqa: E731
            found = sorted(like, key=key)[:MOST_LIKE]
        found += [path for path in imports if self._is_code(path)]
        if _family(record) in _WITHOUT_IMPORTS:
            used = (self._only_definer(record, name) for name in record.uses)
            found += [path for path in used if path and self._is_code(path)][:MOST_USED]
        yield from dict.fromkeys(found)

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


def _keys(path: str) -> Iterator[str]:
    """Yield all that a file is looked up by; an index file by its folder's name too."""
    yield _key(path)
    if _is_index(path):
        yield from dict.fromkeys((_key(_folder(path)), _key(_bare(_folder(path)))))


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


def _rust_path(path: str, name: str) -> tuple[str, int]:
    """Return where a path of Rust's begins to look, and how many parts of it must be found."""
    first, *_ = parts = name.split("/")
    if first not in ("self", "super"):
        return "/".join(parts[first == "crate" :]).replace("-", "_"), 1
    base = _module(path)
    while parts and parts[0] in ("self", "super"):
        base = _folder(base) if parts.pop(0) == "super" else base
    return "/".join((base, *parts)), base.count("/") + 1


def _shared(one: str, other: str) -> int:
    """Return how many folders two paths lie in together, from the root on."""
    both = [each.split("/")[:-1] for each in (one, other)]
    pairs = enumerate(zip(*both, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(map(len, both)))


def _by_source(edge: Edge) -> tuple[str, int, str]:
    return edge.source, edge.line, edge.kind


def _core(path: str) -> str:
    """Return what a test's name is about: `cart` of `test_cart.py` and of `CartTest.java`."""
    name = path.rpartition("/")[2].partition(".")[0]
    return _key(_TEST_MARKS.sub("", _TEST_MARKS.sub("", name)))


def _is_named_test(path: str) -> bool:
    first, *more = path.rpartition("/")[2].split(".")
    return bool(_TEST_MARKS.search(first)) or not _TEST_MIDDLES.isdisjoint(more[:-1])


def _closeness(test: str, path: str) -> tuple[int, int]:
    """Return how close a test and a file are: by their names (-1: it is no test), by folders."""
    if not _is_named_test(test):
        return -1, _nearness(test, path)
    own = _key(path) if _key(path) not in ("__init__", "index", "mod") else _key(_folder(path))
    core, words = _core(test).split("_"), own.strip("_").split("_")
    like = 2 if core == words else int(own not in _NO_NAMES and core[: len(words)] == words)
    return like, _nearness(test, path)


def _nearness(test: str, path: str) -> int:
    """Return how many folders of a file a test lies below too, wherever the tests begin."""
    mine, theirs = ({one.casefold() for one in each.split("/")[:-1]} for each in (test, path))
    return 2 * len(mine & theirs) + _shared(test, path)
