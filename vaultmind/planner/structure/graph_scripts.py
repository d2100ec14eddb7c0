"""Which files an import of JavaScript or TypeScript means."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from vaultmind.planner.structure.graph_places import Asking, folder_of
from vaultmind.planner.structure.records import FileRecord, Link

_ENDINGS = (
    ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".json", ".vue",
    ".svelte",
)  # fmt: skip
_WRITTEN = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx",),
    ".mjs": (".mts",),
    ".cjs": (".cts",),
}
"""What an ending may stand for: TypeScript's imports name what is compiled from it."""
_ASKED = re.compile(r"(?<!^)[?#].*$|^[\w-]+!")
"""What bundlers put behind a name or before it: `./a.svg?raw`."""
_ALIASES = ("@/", "~/", "#/", "~", "src/")
_PLACES = ("src", "", "app", "lib")
"""Where an alias that no settings explain begins, in the folder of the package."""


def script_files(
    asking: Asking, record: FileRecord, link: Link
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the file that an import means, and the names that are taken from it."""
    name = _ASKED.sub("", link.name)
    found = next(
        (path for base in _bases(asking, record, name) if (path := _file(asking, base))), ""
    )
    if found:
        yield found, [one for one in link.names if one not in ("*", "default")]


def _bases(asking: Asking, record: FileRecord, name: str) -> Iterator[str]:
    """Yield what a name may stand for, as paths from the source's root."""
    if name.startswith("."):
        yield _normal(folder_of(record.path), name)
        return
    for aliases in asking.places.settings.aliases:
        if not aliases.folder or record.path.startswith(f"{aliases.folder}/"):
            yield from aliases.targets(name)
    if package := asking.places.settings.package(name):
        yield from _of_package(*package)
    for alias in _ALIASES:
        if name.startswith(alias) and name != alias:
            yield from _from_above(record.path, name[len(alias) :])
            break
    if name.startswith("/"):
        yield from _from_above(record.path, name.lstrip("/"))


def _of_package(folder: str, main: str, rest: str) -> Iterator[str]:
    if rest:
        yield from (_normal(folder, rest), _normal(folder, f"src/{rest}"))
    else:
        yield from (_normal(folder, f"src/{name}") for name in ("index", "main"))
        if main:
            yield _normal(folder, main)
            yield _normal(folder, main.replace("dist/", "src/").replace("lib/", "src/"))
        yield folder or "index"


def _from_above(path: str, rest: str) -> Iterator[str]:
    """Yield a name in the usual places of every folder above a file, the nearest first."""
    folder = folder_of(path)
    while True:
        yield from (_normal(folder, posixpath.join(place, rest)) for place in _PLACES)
        if not folder:
            return
        folder = folder_of(folder)


def _file(asking: Asking, base: str) -> str:
    """Return the file that a path without or with its ending means, or a folder's index."""
    if base.startswith("../"):
        return ""
    stem, ending = posixpath.splitext(base)
    paths = [base] if ending else []
    paths += [f"{stem}{other}" for other in _WRITTEN.get(ending, ())]
    paths += [f"{base}{one}" for one in _ENDINGS]
    if base in ("", "."):
        return asking.first_called("index", (f"index{one}" for one in _ENDINGS))
    paths += [f"{base}/index{one}" for one in _ENDINGS]
    return asking.first_called(base, paths)


def _normal(folder: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(folder, name))
