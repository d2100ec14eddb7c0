"""Records of data files, and what manifests ask for: package and version, nothing run."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

from vaultmind import tokens
from vaultmind.planner.structure.graph_settings import import_properties
from vaultmind.planner.structure.notes import clean
from vaultmind.planner.structure.records import FileRecord

MOST_DEPENDENCIES = 400
DATA_SUFFIXES = frozenset({
    ".json", ".jsonl", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".csv", ".tsv", ".xml",
    ".lock", ".properties", ".gradle", ".mod", ".sum", ".csproj", ".plist",
})  # fmt: skip

Found = Iterator[tuple[str, str]]

_REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*([^#;@]*)")
_GO = re.compile(
    r"(?m)^[ \t]*(?:require[ \t]+)?([\w.-]{1,100}\.[\w.-]{1,100}/\S+|gopkg\.in/\S+)\s+(v\S+)"
)
_GEM = re.compile(r"""(?m)^[ \t]*gem\s+['"]([\w.-]+)['"](?:\s*,\s*['"]([^'"]+)['"])?""")
_GRADLE = re.compile(
    r"""(?m)^[ \t]*(?:\w{0,40}(?:implementation|api|compileOnly|runtimeOnly|kapt|ksp))"""
    r"""\s*\(?\s*['"]([\w.-]+:[\w.-]+)(?::([^'"]+))?['"]"""
)
_POM = re.compile(
    r"<dependency>\s*<groupId>([^<]+)</groupId>\s*<artifactId>([^<]+)</artifactId>"
    r"(?:\s*<version>([^<]+)</version>)?"
)
_NUGET = re.compile(r'<PackageReference\s+Include="([^"]+)"(?:\s+Version="([^"]+)")?')


def data_record(path: str, text: str, sha: str) -> FileRecord:
    """Return the record of a configuration, a manifest or other data. Broken ones have a fault."""
    fault = ""
    found: tuple[tuple[str, str], ...] = ()
    reader = _reader(path)
    if reader is not None:
        try:
            found = tuple(dict.fromkeys(_clean(reader(text))))[:MOST_DEPENDENCIES]
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            fault = clean(f"not understood as a manifest: {error}")
    pure = PurePosixPath(path)
    return FileRecord(
        path=path,
        sha=sha,
        shape="data",
        language=pure.suffix.lstrip(".").lower(),
        title=pure.name,
        lines=text.count("\n") + (not text.endswith("\n") and bool(text)),
        tokens=tokens.count(text),
        properties=import_properties(path, text),
        dependencies=found,
        fault=fault,
    )


def is_manifest(path: str) -> bool:
    """Tell whether a file says what a project depends on."""
    return _reader(path) is not None


def _clean(found: Found) -> Found:
    """Yield packages without secrets: an address may hold a token."""
    for name, version in found:
        yield clean(name), clean(re.sub(r"//[^/@\s]*@", "//", version.strip()))


def _reader(path: str) -> Callable[[str], Found] | None:
    name = path.rpartition("/")[2].lower()
    if name in _READERS:
        return _READERS[name]
    if re.fullmatch(r".*requirements.*\.(?:txt|in)|constraints.*\.txt", name):
        return _requirements
    if name.endswith((".gradle", ".gradle.kts")):
        return lambda text: ((m[1], m[2] or "") for m in _GRADLE.finditer(text))
    if name.endswith((".csproj", ".fsproj")):
        return lambda text: ((m[1], m[2] or "") for m in _NUGET.finditer(text))
    return None


def _pyproject(text: str) -> Found:
    loaded = tomllib.loads(text)
    project = loaded.get("project", {})
    groups = [project.get("dependencies", ())]
    groups += project.get("optional-dependencies", {}).values()
    groups += [g for g in loaded.get("dependency-groups", {}).values() if isinstance(g, list)]
    for line in (one for group in groups for one in group if isinstance(one, str)):
        yield from _requirements(line)
    poetry = loaded.get("tool", {}).get("poetry", {})
    tables = [poetry.get("dependencies", {}), poetry.get("dev-dependencies", {})]
    tables += [one.get("dependencies", {}) for one in poetry.get("group", {}).values()]
    for table in tables:
        yield from _versions(table)


def _requirements(text: str) -> Found:
    for line in text.splitlines():
        stripped = line.strip()
        if stripped and not stripped.startswith(("#", "-")):
            match = _REQUIREMENT.match(stripped)
            if match:
                yield match[1], match[2].strip()


def _package_json(text: str) -> Found:
    loaded = json.loads(text)
    for group in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
        yield from _versions(loaded.get(group, {}))


def _composer(text: str) -> Found:
    loaded = json.loads(text)
    for group in ("require", "require-dev"):
        yield from _versions(loaded.get(group, {}))


def _cargo(text: str) -> Found:
    loaded = tomllib.loads(text)
    tables = [loaded, loaded.get("workspace", {}), *loaded.get("target", {}).values()]
    for table in tables:
        for group in ("dependencies", "dev-dependencies", "build-dependencies"):
            yield from _versions(table.get(group, {}))


def _pipfile(text: str) -> Found:
    loaded = tomllib.loads(text)
    for group in ("packages", "dev-packages"):
        yield from _versions(loaded.get(group, {}))


def _versions(table: dict[str, Any]) -> Found:
    for name, value in table.items():
        version = value.get("version", "") if isinstance(value, dict) else value
        yield str(name), version if isinstance(version, str) else ""


_READERS: dict[str, Callable[[str], Found]] = {
    "pyproject.toml": _pyproject,
    "package.json": _package_json,
    "composer.json": _composer,
    "cargo.toml": _cargo,
    "pipfile": _pipfile,
    "go.mod": lambda text: ((m[1], m[2]) for m in _GO.finditer(text)),
    "gemfile": lambda text: ((m[1], m[2] or "") for m in _GEM.finditer(text)),
    "pom.xml": lambda text: ((f"{m[1]}:{m[2]}", m[3] or "") for m in _POM.finditer(text)),
}
