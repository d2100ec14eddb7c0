"""What is known of one file of a source, as it was read: the stuff that all layers are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Shape = Literal["note", "code", "text", "data"]
"""`data`: configuration, manifests, lock files; `text`: whatever else can be read."""
LinkKind = Literal["link", "embed", "import", "inherits"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a note or document."""

    text: str
    level: int
    line: int


@dataclass(frozen=True, slots=True)
class Definition:
    """Something that code defines."""

    name: str
    """Qualified within its file: `Gate.write`."""
    kind: str
    """class, function, method, constant, type, interface, enum, module."""
    line: int
    last_line: int
    """Both count from 1."""
    signature: str
    """On one line, without the body."""
    summary: str = ""
    """The first line of its doc comment."""
    public: bool = True
    bases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """What a file says of another: a wikilink's target, an imported module, a base class."""

    kind: LinkKind
    name: str
    """As it is written: `Projects/Shop`, `vaultmind.index.search`, `./cart`."""
    line: int
    names: tuple[str, ...] = ()
    """What is taken from it: `from x import a, b`."""


@dataclass(frozen=True, slots=True)
class Task:
    """A tick box of a note, or a TODO of code."""

    text: str
    line: int
    done: bool = False


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What one file holds. Lines count from 1."""

    path: str
    """Relative to its source."""
    sha: str
    shape: Shape
    language: str
    """Of code `python`, `typescript`, …; of prose `en`, `pl`, …; empty where not known."""
    title: str
    lines: int
    tokens: int
    """Of the whole file."""
    abstract: str = ""
    """The first paragraph, or the module's doc comment, on one line and clipped."""
    entry: bool = False
    """Where one begins to read: a README, an index note, `__main__.py`."""
    test: bool = False
    headings: tuple[Heading, ...] = ()
    definitions: tuple[Definition, ...] = ()
    links: tuple[Link, ...] = ()
    uses: tuple[str, ...] = ()
    """Names that code calls or mentions, each once, most frequent first, a bounded number."""
    properties: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ()
    fault: str = ""
    """Why less is known than could be: `no grammar for kotlin`, `2.1 MB is over the limit`."""
