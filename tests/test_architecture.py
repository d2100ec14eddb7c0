"""The shape of the house: imports point one way, files stay small, one gate writes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "vaultmind"
FILES = sorted(PACKAGE.rglob("*.py"))

FLOORS: tuple[frozenset[str], ...] = (
    frozenset(
        {
            "types",
            "address",
            "errors",
            "tokens",
            "redact",
            "fence",
            "ports",
            "heavy",
            "plural",
            "times",
        }
    )
    | frozenset({"tally", "tables", "jsonfile"}),
    frozenset({"config", "locate"}),
    frozenset({"vault"}),
    frozenset({"language", "polling"}),
    frozenset({"memory", "index", "minion"}),
    frozenset({"session"}),
    frozenset({"client"}),
    frozenset({"consolidate"}),
    frozenset({"episodes"}),
    frozenset({"planner"}),
    frozenset({"learn"}),
    frozenset({"gguf_embedder", "overview"}),
    frozenset({"app"}),
    frozenset({"serve"}),
    frozenset({"cli"}),
    frozenset({"entry", "__main__"}),
)
PEERS = frozenset({"memory", "index", "minion"})
"""Rooms on one floor that must not know each other."""

INSIDE: dict[str, tuple[frozenset[str], ...]] = {
    "cli": (
        frozenset({"options"}),
        frozenset({"made", "processes", "connect"}),
        frozenset({"commands", "bundle"}),
        frozenset({"main"}),
        frozenset({"demo"}),
    ),
    "index": (
        frozenset({"words"}),
        frozenset({"when_rules"}),
        frozenset({"when", "db", "models"}),
        frozenset({"notes", "embed"}),
        frozenset({"folder"}),
        frozenset({"linked", "outlet"}),
        frozenset({"columns", "results"}),
        frozenset({"matching", "sync", "training", "vectors", "chroma"}),
        frozenset({"rank"}),
        frozenset({"search", "fetch"}),
        frozenset({"erasing", "related"}),
        frozenset({"index"}),
    ),
    "session": (
        frozenset({"sentences", "spool", "parts", "unkept"}),
        frozenset({"summary", "recall", "subagents", "uses"}),
        frozenset({"files", "talk"}),
        frozenset({"active", "conversation"}),
        frozenset({"log"}),
        frozenset({"imports", "capture", "context"}),
        frozenset({"voice"}),
    ),
    "planner": (
        frozenset({"types"}),
        frozenset({"task", "records", "scorer"}),
        frozenset({"graph"}),
        frozenset({"git"}),
        frozenset({"source"}),
        frozenset({"layers", "sources"}),
        frozenset({"candidates"}),
        frozenset({"pack", "earlier"}),
        frozenset({"episodes"}),
        frozenset({"plan"}),
    ),
    "serve": (
        frozenset({"call"}),
        frozenset({"lines", "show"}),
        frozenset({"op"}),
        frozenset({"ops", "guard"}),
        frozenset({"mcp"}),
        frozenset({"http"}),
        frozenset({"lock"}),
        frozenset({"daemon", "inprocess"}),
    ),
}
"""The rooms and files inside a room, lowest first: each imports those below it and its own."""

ONE_ROOM = {
    "chromadb": {"index/chroma.py"},
    "watchdog": {"index/folder.py"},
    "llama_cpp": {"minion/worker.py"},
    "mcp": {"serve/mcp.py"},
    "tree_sitter": {"planner/records.py"},
    "vaultmind.vault.writer": {"memory/gate.py"},
}
MAX_LINES = 600
MAX_FILES = 34
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 6


def room(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


ROOMS = {name: [*paths] for name, paths in groupby(sorted(FILES, key=room), key=room)}


def floor(name: str) -> int:
    for number, rooms in enumerate(FLOORS):
        if name in rooms:
            return number
    raise AssertionError(f"vaultmind/{name} stands on no floor: add it to FLOORS")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def imports(path: Path) -> tuple[str, ...]:
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("here", ROOMS)
def test_imports_point_down(here: str) -> None:
    if here == "__init__":
        return
    for path, name in ((one, name) for one in ROOMS[here] for name in imports(one)):
        parts = name.split(".")
        if parts[0] != "vaultmind" or len(parts) == 1 or parts[1].startswith("__version"):
            continue
        there = parts[1]
        if there == here:
            continue
        assert floor(there) <= floor(here), f"{path.name} imports {name}, which stands above it"
        assert not {here, there} <= PEERS, f"{path.name} imports its neighbour {name}"


@pytest.mark.parametrize("package", INSIDE)
def test_imports_inside_a_room_point_down(package: str) -> None:
    order = {name: number for number, names in enumerate(INSIDE[package]) for name in names}
    home = PACKAGE / package
    for path in sorted(home.rglob("*.py")):
        here = path.relative_to(home).with_suffix("").parts[0]
        if here == "__init__":
            continue
        assert here in order, f"vaultmind/{package}/{here} has no place: add it to INSIDE"
        for name in imports(path):
            parts = name.split(".")
            if parts[:2] == ["vaultmind", package] and len(parts) > 2:
                there = parts[2]
                below = order[there] < order[here] or {here, there} == {"episodes", "ops"}
                assert there == here or below, f"{path} imports {name}"


@pytest.mark.parametrize("package", INSIDE)
def test_a_room_is_taken_in_at_a_glance(package: str) -> None:
    home = PACKAGE / package
    for folder in (home, *(path.parent for path in home.rglob("__init__.py"))):
        assert len(list(folder.glob("*.py"))) <= MAX_FILES, folder


@pytest.mark.parametrize("library", ONE_ROOM)
def test_a_library_is_imported_in_one_room_only(library: str) -> None:
    users = {
        str(path.relative_to(PACKAGE))
        for path in FILES
        if any(name == library or name.startswith(f"{library}.") for name in imports(path))
    }
    assert users <= ONE_ROOM[library]


@pytest.mark.parametrize("here", ROOMS)
def test_files_and_functions_stay_small(here: str) -> None:
    wrong = [one for path in ROOMS[here] for one in _too_large(path)]
    assert wrong == [], "a file is one noun, a function one paragraph"


def _too_large(path: Path) -> Iterator[str]:
    lines = path.read_text("utf-8").count("\n")
    if lines > MAX_LINES:
        yield f"{path} is {lines} lines long"
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield f"{path}: {node.name} is {length} lines long"
            arguments = [a.arg for a in (*node.args.args, *node.args.posonlyargs)]
            named = [a for a in arguments if a not in ("self", "cls")]
            is_operation = any("operation(" in ast.unparse(one) for one in node.decorator_list)
            if len(named) > MAX_PARAMETERS and not is_operation:  # its parameters are its schema
                yield f"{path}: {node.name} takes {len(named)} parameters"


@pytest.mark.parametrize("here", ROOMS)
def test_public_functions_say_what_they_do(here: str) -> None:
    wrong = [one for path in ROOMS[here] for one in _silent(path)]
    assert wrong == [], "a module and all that is public says what it does"


def _silent(path: Path) -> Iterator[str]:
    module = tree(path)
    if not ast.get_docstring(module):
        yield f"{path} has no docstring"
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            public = not node.name.startswith("_")
            if public and not ast.get_docstring(node):
                yield f"{path}: {node.name} has no docstring"


def test_the_core_is_synchronous() -> None:
    for path in FILES:
        if room(path) != "serve":
            nodes = ast.walk(tree(path))
            assert not any(isinstance(node, ast.AsyncFunctionDef) for node in nodes), path


def test_nothing_prints_outside_the_command_line() -> None:
    for path in FILES:
        if room(path) != "cli":
            for node in ast.walk(tree(path)):
                is_print = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
                assert not (is_print and node.func.id == "print"), path  # type: ignore[attr-defined]
