"""The languages there are: a data file each, and which of their grammars are installed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

_TOPS = frozenset({"", "src", "app", "bin", "lib", "server", "client", "cmd"})
"""Folders whose index is where a program begins."""
PLAIN = "plain.toml"
"""Names languages that no grammar is known for, by extension."""


@dataclass(frozen=True, slots=True)
class Language:
    """A data file of `languages/`; README.md there says how one is written."""

    name: str
    grammar: str = ""
    """The module that carries it; empty where none is known."""
    function: str = "language"
    """What that module gives the grammar out by."""
    extensions: tuple[str, ...] = ()
    """Without the dot, in lower case. One with dots within is asked first."""
    file_names: tuple[str, ...] = ()
    shebangs: tuple[str, ...] = ()
    """Words of a first line that begins with `#!`."""
    test_files: tuple[str, ...] = ()
    """Patterns of file names."""
    test_folders: tuple[str, ...] = ()
    entry_files: tuple[str, ...] = ()
    """Where one begins to read: `__main__.py`."""
    index_files: tuple[str, ...] = ()
    """Stems that stand for the folder they lie in: `__init__`, `index`, `mod`."""
    resolve: str = "suffix"
    """How an import leads to a file: see `graph_imports`."""
    family: str = ""
    """Languages of one family import each other; empty: a family of its own."""
    public: str = "underscore"
    """How a definition says that it is for others: no `underscore`, a `capital`, `exported`."""
    public_words: tuple[str, ...] = ()
    """Of which one stands before a name that is for others: `pub`."""
    private_words: tuple[str, ...] = ("private", "protected")
    """Of which none stands before a name that is for others."""
    docs: str = "comment"
    """Where a definition's doc stands: `comment` before it, or `docstring` within."""
    starts: str = ""
    """What a line at the margin looks like that begins a definition: see `mending`."""
    macros: bool = False
    """A syntax that is not understood is nothing unusual: the preprocessor knows it."""
    otherwise: str = ""
    """The language it is instead when `otherwise_when` is found in the text: C++ in a `.h`."""
    otherwise_when: str = ""
    base_kinds: Mapping[str, str] = field(default_factory=dict)
    """What a class is called that has such a base: `Protocol` makes an interface."""
    queries: Mapping[str, str] = field(default_factory=dict)
    """`definitions`, `imports`, `uses`, `comments`, `exports`: of tree-sitter."""


def language_of(path: str, first_line: str = "") -> str:
    """Return what a file is written in by its name, or by its `#!` line; empty: not code."""
    name = path.rpartition("/")[2]
    by_name = _by_name().get(name)
    if by_name:
        return by_name
    _, *endings = name.lower().split(".")
    for first in range(len(endings)):
        found = _by_extension().get(".".join(endings[first:]))
        if found:
            return found
    return _by_shebang(first_line) if first_line.startswith("#!") else ""


def grammars() -> dict[str, bool]:
    """Return the languages that have a grammar, and whether it is installed."""
    return {name: installed(one) for name, one in languages().items() if one.grammar}


def installed(language: Language) -> bool:
    """Tell whether a language can be parsed here. Imports nothing."""
    return bool(language.grammar) and _found("tree_sitter") and _found(language.grammar)


def language(name: str) -> Language:
    """Return a language by its name; one that nothing is known of has the name alone."""
    return languages().get(name) or Language(name)


def is_test(path: str, one: Language) -> bool:
    """Tell whether a path is a test's, by its name or a folder it lies in."""
    *folders, name = path.split("/")
    return any(fnmatchcase(name, pattern) for pattern in one.test_files) or any(
        folder in one.test_folders for folder in folders
    )


def is_entry(path: str, one: Language) -> bool:
    """Tell whether one begins to read a language's code at a path.

    A file that stands for its folder, as `index.ts` does, is one only near the top.
    """
    folder, _, name = path.rpartition("/")
    if name.partition(".")[0] in one.index_files and folder.rpartition("/")[2] not in _TOPS:
        return False
    return name in one.entry_files


@cache
def languages() -> Mapping[str, Language]:
    """Return all languages by name."""
    read = {}
    for file in sorted(files(__package__).joinpath("languages").iterdir(), key=lambda f: f.name):
        if file.name.endswith(".toml") and file.name != PLAIN:
            one = tomllib.loads(file.read_text("utf-8"))
            read[one["name"]] = one
    known = {name: _language(one, read) for name, one in read.items()}
    plain = files(__package__).joinpath("languages", PLAIN).read_text("utf-8")
    for name, endings in tomllib.loads(plain).items():
        known[name] = Language(
            name,
            extensions=tuple(one for one in endings if one[0] != "="),
            file_names=tuple(one[1:] for one in endings if one[0] == "="),
        )
    return known


def _language(one: Mapping[str, Any], read: Mapping[str, Mapping[str, Any]]) -> Language:
    like = read.get(one.get("like", ""))
    base = replace(_language(like, read), name=one["name"]) if like else Language(one["name"])
    known = {each.name for each in fields(Language)}
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in one.items()
        if key in known and key != "queries"
    }
    return replace(base, **values, queries={**base.queries, **one.get("queries", {})})


@cache
def _by_extension() -> Mapping[str, str]:
    return {ending: one.name for one in languages().values() for ending in one.extensions}


@cache
def _by_name() -> Mapping[str, str]:
    return {name: one.name for one in languages().values() for name in one.file_names}


def _by_shebang(first_line: str) -> str:
    words = first_line[2:].replace("/", " ").split()
    for one in languages().values():
        if any(word.rstrip("0123456789.") in one.shebangs for word in words):
            return one.name
    return ""


@cache
def _found(module: str) -> bool:
    return find_spec(module) is not None
