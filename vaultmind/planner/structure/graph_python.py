"""Which files a Python import means: packages, wherever their roots are, and relative ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from vaultmind.planner.structure.graph_places import Asking, folder_of, shared_folders
from vaultmind.planner.structure.records import FileRecord, Link

_Meant = tuple[str, Sequence[str]]
_FileOf = Callable[[Sequence[str]], str]
"""The file of the module that an import names, or of one below it."""

_ENDINGS = (".py", "/__init__.py", ".pyi", "/__init__.pyi")


def python_files(asking: Asking, record: FileRecord, link: Link) -> Iterator[_Meant]:
    """Yield the files that an import means, and the names that are taken from each.

    `from a import b` means the module `a.b` where there is one, else the file of `a`.
    """
    parts = [part for part in link.name.lstrip(".").split(".") if part]
    dots = len(link.name) - len(link.name.lstrip("."))
    if dots:
        base = folder_of(record.path)
        for _ in range(dots - 1):
            base = folder_of(base)
        module = "/".join((*([base] if base else []), *parts))
        yield from _taken(asking, link.names, lambda more: _file(asking, _join(module, more)))
    elif parts:
        yield from _taken(
            asking, link.names, lambda more: _absolute(asking, record, (*parts, *more))
        )


def _taken(asking: Asking, names: Sequence[str], file_of: _FileOf) -> Iterator[_Meant]:
    own = file_of(())
    others = []
    for name in names:
        is_module = not own or own.endswith(("/__init__.py", "/__init__.pyi", "__init__.py"))
        module = file_of((name,)) if is_module and name != "*" else ""
        if module:
            yield module, ()
        else:
            others.append(name)
    if own and (others or not names):
        yield own, [name for name in others if name != "*"]


def _file(asking: Asking, module: str) -> str:
    """Return the file of a module that is named by its path."""
    if not module:
        return asking.first(("__init__.py",))
    return asking.first_called(module, (f"{module}{ending}" for ending in _ENDINGS))


def _absolute(asking: Asking, record: FileRecord, parts: Sequence[str]) -> str:
    """Return the file of a module that is named from one of the roots there are."""
    wanted = "/".join(parts)
    roots = []
    for path in asking.files(parts[-1]):
        module = _module_of(path)
        if module.endswith(wanted) and f"/{module}".endswith(f"/{wanted}"):
            root = module[: -len(wanted)].rstrip("/")
            if _may_be_root(asking, record, root, parts):
                roots.append((-shared_folders(record.path, path), len(root), root))
    return _file(asking, _join(min(roots)[2], parts)) if roots else ""


@lru_cache(maxsize=65_536)
def _module_of(path: str) -> str:
    """Return the path that a file's module is named by; empty: it is none of Python's."""
    stem, dot, ending = path.rpartition(".")
    if not dot or ending not in ("py", "pyi"):
        return ""
    return stem.removesuffix("/__init__")


def _may_be_root(asking: Asking, record: FileRecord, root: str, parts: Sequence[str]) -> bool:
    """Tell whether packages may be found from a folder: it is itself no package.

    `import types` means the standard library's, unless such a file lies at the source's root or
    beside the one that imports it.
    """
    if not root:
        return True
    if asking.first_called(root, (f"{root}/__init__.py", f"{root}/__init__.pyi")):
        return False
    return parts[0] not in sys.stdlib_module_names or folder_of(record.path) == root


def _join(base: str, parts: Sequence[str]) -> str:
    return "/".join((*([base] if base else []), *parts))
