"""Which files an import means: by the rules of its language, as far as paths tell."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence

from vaultmind.planner.structure.code.languages import language
from vaultmind.planner.structure.graph_places import Asking, family_of, folder_of
from vaultmind.planner.structure.graph_python import python_files
from vaultmind.planner.structure.graph_scripts import script_files
from vaultmind.planner.structure.records import FileRecord, Link

MOST_OF_A_FOLDER = 12
"""Files of a package that an import of all of it means, where no name tells which."""
_DEEP = 6
"""Files that may hand on a name to each other before it is given up."""

Found = list[str]


def imported(asking: Asking, link: Link, record: FileRecord | None = None) -> Found:
    """Return the files that an import means, and those that the names it takes come from.

    The file that is imported stands first. Empty: it is not of this source.
    """
    record = record or asking.record
    found: dict[str, None] = {}
    for path, names in _meant(asking, record, link):
        found[path] = None
        for name in names:
            found.update(dict.fromkeys(handed_on(asking, path, name)))
    found.pop(asking.path, None)
    return list(found)


def handed_on(asking: Asking, path: str, name: str) -> Found:
    """Return the files from which a name comes that one file hands on, the last first.

    Empty where the file defines it itself, or nobody knows it.
    """
    found: Found = []
    seen = {path}
    waiting = [(path, name)]
    for _ in range(_DEEP):
        step: list[tuple[str, str]] = []
        for here, what in waiting:
            step.extend(_one_step(asking, here, what))
        step = [(there, what) for there, what in step if there not in seen]
        seen.update(there for there, _ in step)
        found.extend(there for there, what in step if _defines(asking, there, what))
        if found or not step:
            break
        waiting = step
    return found


def _one_step(asking: Asking, path: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the files that a file takes a name from, and the name."""
    face = asking.face(path, name)
    if name in face.defined:
        return
    record = asking.places.records[path]
    links = [face.taken[name]] if name in face.taken else list(face.stars)
    for link in links:
        for there, _ in _meant(asking, record, Link("import", link.name, link.line, (name,))):
            yield there, name


def _defines(asking: Asking, path: str, name: str) -> bool:
    return name in asking.face(path, name).defined or asking.path == path


Meant = Iterator[tuple[str, Sequence[str]]]
"""Files, and the names that are taken from each."""


def _meant(asking: Asking, record: FileRecord, link: Link) -> Meant:
    way = _WAYS.get(language(record.language).resolve, _by_ending)
    return way(asking, record, link)


def _dotted(asking: Asking, record: FileRecord, link: Link) -> Meant:
    """Java, Kotlin: `com.shop.Cart`, a member of it, or `com.shop.*`."""
    parts = link.name.removesuffix(".*").split(".")
    if "*" in link.names or link.name.endswith(".*"):
        yield from _of_folder(asking, record, "/".join(parts))
    for count in (len(parts), len(parts) - 1, len(parts) - 2):
        if count < 1:
            return
        found = _like(asking, record, "/".join(parts[:count]))
        if found:
            yield found[0], ()
            return
    folder, name = "/".join(parts[:-1]), parts[-1]
    for path in asking.named(name):
        if f"/{folder_of(path)}".endswith(f"/{folder}") and _kin(asking, record, path):
            yield path, ()


def _folders(asking: Asking, record: FileRecord, link: Link) -> Meant:
    """Go: an import means a folder."""
    for module, root in asking.places.settings.modules:
        if link.name == module or link.name.startswith(f"{module}/"):
            rest = link.name[len(module) :].strip("/")
            yield from _of_folder(asking, record, posixpath.join(root, rest), exact=True)
            return
    parts = link.name.split("/")
    if "." not in parts[0]:
        return  # of the standard library
    for first in range(1, len(parts)):
        found = list(_of_folder(asking, record, "/".join(parts[first:])))
        if found:
            yield from found
            return


def _of_folder(asking: Asking, record: FileRecord, folder: str, exact: bool = False) -> Meant:
    """Yield the files of a folder that define what a file uses; a few of them if none does."""
    found = [folder] if exact else asking.folders(folder)[:1]
    paths = sorted(path for one in found for path in asking.folder(one))
    paths = [p for p in paths if _kin(asking, record, p) and not asking.shape(p).test]
    uses = set(record.uses)
    used = [path for path in paths if _uses_of(asking, path, uses)]
    for path in used or paths[:MOST_OF_A_FOLDER]:
        yield path, ()


def _uses_of(asking: Asking, path: str, uses: set[str]) -> bool:
    face = asking.places.face(path)
    asking.asked.update(f"x:{path}:{name}" for name in face.defined & uses)
    asking.asked.add(f"d:{folder_of(path).rpartition('/')[2]}")
    return bool(face.defined & uses)


def _crates(asking: Asking, record: FileRecord, link: Link) -> Meant:
    """Rust: `crate::a::b::Name`, `super::x`, `self::x`, `mod x`, a crate of this source."""
    parts = [part for part in link.name.replace("::", "/").split("/") if part and part != "*"]
    if not parts:
        return
    here = _module_folder(record.path)
    first, rest = parts[0], parts[1:]
    if first == "crate":
        roots = [root] if (root := _crate_root(asking, record.path)) is not None else []
    elif first in ("self", "super"):
        ups = sum(part == "super" for part in parts)
        rest = [part for part in parts if part not in ("self", "super")]
        for _ in range(ups):
            here = folder_of(here)
        roots = [here]
    else:
        rest = parts
        roots = [here, *(f"{one}/src" for one in asking.folders(first.replace("_", "-")))]
        roots += [f"{root}/src" for root in _crates_named(asking, first)]
    for root in roots:
        found = _module_file(asking, root, rest if first in ("self", "super", "crate") else parts)
        found = found or _module_file(asking, root, parts[1:])
        if found:
            yield found, ()
            return


def _crates_named(asking: Asking, name: str) -> list[str]:
    found = asking.places.folders(f"{name}") or asking.places.folders(name.replace("_", "-"))
    return [path for path in found if asking.exists(f"{path}/src/lib.rs")]


def _module_folder(path: str) -> str:
    """Return the folder that the modules within a file's own lie in."""
    stem = path.removesuffix(".rs")
    name = stem.rpartition("/")[2]
    return folder_of(path) if name in ("mod", "lib", "main") else stem


def _crate_root(asking: Asking, path: str) -> str | None:
    folder = folder_of(path)
    while True:
        base = f"{folder}/" if folder else ""
        if asking.first((f"{base}lib.rs", f"{base}main.rs")):
            return folder
        if not folder:
            return None
        folder = folder_of(folder)


def _module_file(asking: Asking, root: str, parts: Sequence[str]) -> str:
    """Return the deepest module that a path of names leads to; what is left names an item."""
    for count in range(len(parts), 0, -1):
        base = "/".join((*([root] if root else []), *parts[:count]))
        found = asking.first_called(base, (f"{base}.rs", f"{base}/mod.rs"))
        if found:
            return found
    base = f"{root}/" if root else ""
    return asking.first((f"{base}lib.rs", f"{base}mod.rs", f"{root}.rs")) if parts else ""


def _included(asking: Asking, record: FileRecord, link: Link) -> Meant:
    """C, C++: beside the file, else whatever path ends so."""
    beside = posixpath.normpath(posixpath.join(folder_of(record.path), link.name))
    if asking.exists(beside):
        yield beside, ()
        return
    ending = f"/{link.name.removeprefix('./').replace('../', '')}"
    found = [path for path in asking.files(link.name) if f"/{path}".endswith(ending)]
    if found:
        yield _nearest(record.path, found), ()


def _namespaces(asking: Asking, record: FileRecord, link: Link) -> Meant:
    """C#: files that define a namespace, and in it what this file uses."""
    uses = set(record.uses)
    for path in asking.named(link.name):
        asking.face(path, link.name)
        own = {one.name.rpartition(".")[2] for one in asking.places.records[path].definitions}
        if own & uses and _kin(asking, record, path):
            yield path, ()


def _by_ending(asking: Asking, record: FileRecord, link: Link) -> Meant:
    """Ruby and others: relative to the file, else whatever path ends so."""
    name = link.name.replace("::", "/")
    if name.startswith("."):
        base = posixpath.normpath(posixpath.join(folder_of(record.path), name))
        found = [path for path in asking.files(base) if path.partition(".")[0] == base]
        found = found or [path for path in asking.files(base) if path == base]
    else:
        found = _like(asking, record, name)
    if found:
        yield _nearest(record.path, found), ()


def _like(asking: Asking, record: FileRecord, name: str) -> Found:
    """Return the files of a family whose path, without its ending, ends so; the nearest first."""
    found = [
        path
        for path in asking.files(name)
        if _kin(asking, record, path) and f"/{posixpath.splitext(path)[0]}".endswith(f"/{name}")
    ]
    return sorted(found, key=lambda path: (-_near(record.path, path), len(path), path))


def _kin(asking: Asking, record: FileRecord, path: str) -> bool:
    return family_of(asking.shape(path)) == family_of(record)


def _nearest(path: str, found: Sequence[str]) -> str:
    return min(found, key=lambda one: (-_near(path, one), len(one), one))


def _near(one: str, other: str) -> int:
    return len(posixpath.commonprefix([folder_of(one) + "/", folder_of(other) + "/"]))


_WAYS: dict[str, Callable[[Asking, FileRecord, Link], Meant]] = {
    "python": python_files,
    "relative": script_files,
    "dotted": _dotted,
    "folder": _folders,
    "crate": _crates,
    "include": _included,
    "namespace": _namespaces,
    "suffix": _by_ending,
}
