"""What a source's settings say of how its imports are meant: tsconfig, package.json, go.mod."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vaultmind.planner.structure.records import FileRecord

_GO_MODULE = re.compile(r"(?m)^[ \t]*module\s+(\S+)")
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.S)
_LAST_COMMA = re.compile(r",(\s*[}\]])")
MOST_PATHS = 200


def is_settings(path: str) -> bool:
    """Tell whether a file's settings tell how imports are meant."""
    return _kind(path) != ""


def import_properties(path: str, text: str) -> tuple[tuple[str, str], ...]:
    """Return what a record's `properties` must hold for imports to be resolved by them.

    `baseUrl`, `paths:@/*` of a tsconfig; `name`, `main` of a package.json; `module` of a go.mod.
    Empty where there is none, or it cannot be read.
    """
    kind = _kind(path)
    if kind == "go":
        found = _GO_MODULE.search(text)
        return (("module", found.group(1)),) if found else ()
    if not kind:
        return ()
    try:
        loaded = json.loads(_LAST_COMMA.sub(r"\1", _COMMENT.sub(_kept, text)))
    except (ValueError, RecursionError):
        return ()
    if not isinstance(loaded, dict):
        return ()
    return tuple(_package(loaded) if kind == "package" else _compiler(loaded))


@dataclass(frozen=True, slots=True)
class Aliases:
    """Of one tsconfig: patterns with at most one `*`, and the paths that they stand for."""

    folder: str
    base: str
    """What the paths are relative to."""
    has_base: bool
    """Whether every name that is not relative may begin there."""
    paths: tuple[tuple[str, str], ...]

    def targets(self, name: str) -> Iterator[str]:
        """Yield the paths, without endings, that a name may stand for."""
        for pattern, target in self.paths:
            head, star, tail = pattern.partition("*")
            if not star and name == pattern:
                yield posixpath.normpath(posixpath.join(self.base, target))
            elif star and name.startswith(head) and name.endswith(tail):
                middle = name[len(head) : len(name) - len(tail)]
                yield posixpath.normpath(posixpath.join(self.base, target.replace("*", middle)))
        if self.has_base:
            yield posixpath.normpath(posixpath.join(self.base, name))


@dataclass(frozen=True, slots=True)
class Settings:
    """Of a whole source."""

    aliases: tuple[Aliases, ...] = ()
    """Of the deepest folders first."""
    packages: Mapping[str, tuple[str, str]] | None = None
    """Folder and main file by a package's name."""
    modules: tuple[tuple[str, str], ...] = ()
    """Name and folder of Go's modules, the longest name first."""

    @classmethod
    def of(cls, records: Mapping[str, FileRecord]) -> Settings:
        """Return what the records of settings files say."""
        aliases: list[Aliases] = []
        packages: dict[str, tuple[str, str]] = {}
        modules: list[tuple[str, str]] = []
        for path in sorted(path for path in records if is_settings(path)):
            properties = records[path].properties
            said = dict(properties)
            folder = path.rpartition("/")[0]
            if _kind(path) == "go" and "module" in said:
                modules.append((said["module"], folder))
            elif _kind(path) == "package" and "name" in said:
                packages.setdefault(said["name"], (folder, said.get("main", "")))
            elif _kind(path) == "compiler" and said:
                aliases.append(_aliases(folder, properties))
        return cls(
            tuple(sorted(aliases, key=lambda one: (-len(one.folder), one.folder))),
            packages,
            tuple(sorted(modules, key=lambda one: (-len(one[0]), one))),
        )

    def package(self, name: str) -> tuple[str, str, str] | None:
        """Return folder, main file and the rest of a name that begins with a package's."""
        parts = name.split("/")
        for count in (2, 1) if name.startswith("@") else (1,):
            found = (self.packages or {}).get("/".join(parts[:count]))
            if found:
                return *found, "/".join(parts[count:])
        return None


def _kind(path: str) -> str:
    name = path.rpartition("/")[2]
    if name == "package.json":
        return "package"
    if name == "go.mod":
        return "go"
    named = name.startswith(("tsconfig", "jsconfig")) and name.endswith(".json")
    return "compiler" if named else ""


def _kept(found: re.Match[str]) -> str:
    return found.group(1) or " "


def _package(loaded: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in ("name", "source", "module", "main", "types"):
        value = loaded.get(key)
        if isinstance(value, str):
            yield key if key == "name" else "main", value
            if key != "name":
                return


def _compiler(loaded: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    options = loaded.get("compilerOptions")
    if not isinstance(options, dict):
        return
    if isinstance(options.get("baseUrl"), str):
        yield "baseUrl", options["baseUrl"]
    paths = options.get("paths")
    if isinstance(paths, dict):
        for pattern, targets in list(paths.items())[:MOST_PATHS]:
            for target in targets if isinstance(targets, list) else ():
                if isinstance(target, str):
                    yield f"paths:{pattern}", target


def _aliases(folder: str, said: Sequence[tuple[str, str]]) -> Aliases:
    url = dict(said).get("baseUrl")
    base = posixpath.normpath(posixpath.join(folder, url or "."))
    paths = tuple((key[6:], value) for key, value in said if key.startswith("paths:"))
    return Aliases(folder, "" if base == "." else base, url is not None, paths)
