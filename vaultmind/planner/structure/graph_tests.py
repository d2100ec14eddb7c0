"""Which files a test is about: what it imports, what it is named like, whose names it uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vaultmind.planner.structure.graph_places import (
    MOST_OF_A_NAME,
    Asking,
    family_of,
    folder_of,
    key_of,
    shared_folders,
)
from vaultmind.planner.structure.records import FileRecord

MOST_LIKE = 3
"""Files that a test is named like, of which the nearest are taken."""
MOST_USED = 12
_MARKS = re.compile(
    r"^(?:test|tests|spec)(?:[_-]|(?=[A-Z]))|(?:[_-](?:test|tests|spec|unittest)|Tests?|Spec|IT)$"
)
_MIDDLES = frozenset({"test", "spec", "cy", "e2e"})
"""What stands between dots in the name of a test: `cart.spec.ts`."""
_NO_NAMES = frozenset({"init", "index", "main", "mod", "lib", "conftest", "utils", "helpers", ""})
_SAME_PACKAGE = frozenset({"go", "jvm", "csharp", "ruby"})
"""Families that need no import for what lies in the same package, or is loaded by name."""


def about(asking: Asking, imports: Iterable[str]) -> Iterator[str]:
    """Yield the files that a test touches, each once, given those that it imports."""
    record = asking.record
    found = [
        *named_like(asking),
        *(path for path in imports if _is_code(asking, path)),
        *(_used(asking) if family_of(record) in _SAME_PACKAGE else ()),
    ]
    yield from dict.fromkeys(found)


def named_like(asking: Asking) -> list[str]:
    """Return the files that a test is named after, the nearest first."""
    core = core_of(asking.path)
    if core in _NO_NAMES or not is_named_a_test(asking.path):
        return []
    found = []
    for name in dict.fromkeys((core, core.replace("_", "-"), core.replace("_", ""))):
        for path in asking.files(name)[:MOST_OF_A_NAME]:
            if _is_code(asking, path) and family_of(asking.shape(path)) == family_of(asking.record):
                found.append(path)
    found.sort(key=lambda path: (-_nearness(asking.path, path), len(path), path))
    return list(dict.fromkeys(found))[:MOST_LIKE]


def core_of(path: str) -> str:
    """Return what a test's name is about: `cart` of `test_cart.py` and of `CartTest.java`."""
    name = path.rpartition("/")[2].partition(".")[0]
    return key_of(_MARKS.sub("", _MARKS.sub("", name)))


def is_named_a_test(path: str) -> bool:
    """Tell whether a file's own name says that it tests: one that tests share does not."""
    first, *more = path.rpartition("/")[2].split(".")
    return bool(_MARKS.search(first)) or bool(_MIDDLES.intersection(more[:-1]))


def likeness(test: str, path: str) -> int:
    """Return how much a test is named like a file: 2 the same, 1 it begins so, 0 not.

    -1: it is none itself but something that tests share.
    """
    if not is_named_a_test(test):
        return -1
    own = key_of(path)
    own = key_of(folder_of(path)) if own in ("__init__", "index", "mod") else own
    core = _words(core_of(test))
    words = _words(own)
    if core == words:
        return 2
    return int(bool(words) and own not in _NO_NAMES and core[: len(words)] == words)


def closeness(test: str, path: str) -> tuple[int, int]:
    """Return what tests of a file, or files of a test, are ordered by: more is closer."""
    return likeness(test, path), _nearness(test, path)


def _nearness(test: str, path: str) -> int:
    """Return how many folders of a file a test lies below too, wherever the tests begin."""
    mine = {folder.casefold() for folder in test.split("/")[:-1]}
    theirs = {folder.casefold() for folder in path.split("/")[:-1]}
    return 2 * len(mine & theirs) + shared_folders(test, path)


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[_\-.]+", name.strip("_")) if word]


def _is_code(asking: Asking, path: str) -> bool:
    asking.exists(path)
    record: FileRecord = asking.shape(path)
    return record.shape == "code" and not record.test


def _used(asking: Asking) -> list[str]:
    """Return the files that alone define a name which the test uses."""
    found = []
    for name in asking.record.uses:
        paths = [path for path in asking.named(name) if _is_code(asking, path)]
        same = [p for p in paths if family_of(asking.shape(p)) == family_of(asking.record)]
        if len(same) == 1:
            found.append(same[0])
    return found[:MOST_USED]
