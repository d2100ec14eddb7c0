"""A folder that the person linked, as the source of an index: read only. Code is cut by its
definitions, prose by paragraphs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from vaultmind.errors import VaultNotFound
from vaultmind.index.folder import VaultFolder
from vaultmind.index.notes import (
    TITLE_JOINT,
    Chunked,
    Place,
    Span,
    chunk_file,
    faults_of,
    new_chunk,
    placed,
    split,
)
from vaultmind.index.reading import Part, Read, read_part
from vaultmind.index.taken import MACHINE_MADE, FolderRules, governs, shape_of
from vaultmind.index.words.language import detect
from vaultmind.redact import blank_passages, unmarked
from vaultmind.types import Chunk
from vaultmind.vault.files import FileText
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.scan import Rules

NamedLines = tuple[int, int, str]
"""First and last line, counted from 1, and the qualified name of what stands there, or nothing."""
Cutter = Callable[[str, str], Sequence[NamedLines]]
"""Takes a path and a text, returns where to cut it, in order, every line that says something once.
"""
WHAT = "linked folder"
MAX_BYTES = 1_000_000
"""Of a file: larger ones are made by tools."""
FOLDER_FORMAT = "4"
"""Raise it when the same bytes of a folder would give other chunks, terms, ties or records."""
TARGET = 600
"""Characters of a chunk of prose or data."""
LARGEST, PART = 1_800, 1_200
"""A piece of code is cut again past the first, into such as the second: what is embedded of a
chunk is not much more."""
DATA_CHARACTERS = 8_000
"""So much of a data file is searched: its beginning says what it is."""
MINIFIED_ABOVE, MINIFIED_LINE = 2_000, 250
"""Characters of a file, and of its lines on the average, above which nobody wrote it."""
FOREIGN_LINES = 3
"""With so many lines of other letters, code is asked for its language."""
_FOREIGN = re.compile(r"[^\W\d_\x00-\x7f]")


def cut_plainly(path: str, text: str) -> Sequence[NamedLines]:
    """Return pieces between blank lines: for where nothing is known of a language."""
    found = []
    for start, end in split(text, (0, len(text)), PART):
        first = text.count("\n", 0, start) + 1
        found.append((first, first + text.count("\n", start, max(start, end - 1)), ""))
    return found


class FolderPaths(VaultPaths):
    """The names of a folder that is no vault: it has no memory folder, and nothing is written."""

    def __init__(self, root: Path) -> None:
        """Take a real path."""
        super().__init__(root, os.devnull)

    def absolute(self, relative: str) -> Path:
        """Return the real path of one in the linked folder; see VaultPaths.

        Every read and stat comes by here: nothing is read through a link in the folder's place.
        """
        if self.root.is_symlink() or not self.root.is_dir():
            raise VaultNotFound(f"The {WHAT} {self.root} is not there, or a symbolic link now.")
        return super().absolute(relative)


class LinkedFolder(VaultFolder):
    """One linked folder. `cutter` says where code is cut, and `format` changes when it does."""

    what = WHAT

    def __init__(
        self,
        root: Path,
        exclude: tuple[str, ...] = (),
        cutter: Cutter = cut_plainly,
        cutter_format: str = "",
    ) -> None:
        """Take a real path, the globs of what the person never wants indexed, and a cutter."""
        super().__init__(FolderPaths(root), exclude)
        self._cutter = cutter
        self.format = f"folder {FOLDER_FORMAT} {cutter_format}".rstrip()

    def check(self) -> None:
        """Raise VaultNotFound while the folder is not there, leads elsewhere or is empty.

        An empty one may be where a disk was mounted.
        """
        root = self.paths.root
        self.paths.absolute("any")
        with suppress(OSError):
            if root.resolve() == root and any(root.iterdir()):
                return
        raise VaultNotFound(f"The {WHAT} {root} is empty, not readable, or leads elsewhere now.")

    def rules(self) -> Rules:
        """Return what is left out, as `.gitignore` files and settings say now."""
        return FolderRules(self.paths.root, self.exclude)

    def place_of(self, path: str) -> Place | None:
        """Return what a file is, or None for one that is not taken."""
        shape = shape_of(path)
        return Place("note", "", shape) if shape else None

    def governs(self, path: str) -> bool:
        """Tell whether a file says what is left out."""
        return governs(path)

    def cut(self, path: str, file: FileText, place: Place) -> Chunked:
        """Return the chunks of a file."""
        if place.form == "note":
            return chunk_file(path, file, place)
        text = blank_passages(file.text)
        if place.form == "code":
            found = cut_code(path, text, self._cutter)
        else:
            found = cut_text(path, text, is_data=place.form == "data")
        return placed(path, found, place)

    def read(self, path: str, part: Part, text: str) -> Read | None:
        """Return a file, a note's section, or the lines of what code defines under a name."""
        text = blank_passages(text)
        if part.form == "note":
            return read_part(part, text)
        if not part.anchor:
            return Read(text, path)
        found = named_text(path, text, part.anchor, self._cutter) if part.form == "code" else None
        return None if found is None else Read(found, path)


def cut_code(path: str, text: str, cutter: Cutter) -> Chunked:
    """Return the chunks of code: each stands under the name of what it defines."""
    size = len(text)
    if size > MINIFIED_ABOVE and size > MINIFIED_LINE * (text.count("\n") + 1):
        return Chunked((), faults=faults_of(path, ["minified: its text is not searched"]))
    lang = _language(text)
    chunks = [
        _chunk(f"{path}{TITLE_JOINT}{name}" if name else path, text, part, name, lang)
        for span, name in _cut(path, text, cutter)
        for part in _parts(text, span)
    ]
    return Chunked(tuple(chunk for chunk in chunks if chunk.text), lang)


def cut_text(path: str, text: str, *, is_data: bool = False) -> Chunked:
    """Return the chunks of prose without headings that we know, or of the beginning of a data file;
    none of what a tool writes for itself.
    """
    if is_data and path.lower().endswith(MACHINE_MADE):
        return Chunked(())
    shown = text[:DATA_CHARACTERS] if is_data else text
    lang = _language(shown) if is_data else detect(shown)
    spans = split(shown, (0, len(shown)), TARGET)
    return Chunked(tuple(_chunk(path, text, span, "", lang) for span in spans), lang)


def named_text(path: str, text: str, name: str, cutter: Cutter) -> str | None:
    """Return the lines that stand under a name, in order; None where there are none.

    A small class stands as one: of a method in it all of that class is returned.
    """
    spans = _cut(path, text, cutter)
    while name:
        found = [text[start:end] for (start, end), one in spans if f"{one}.".startswith(f"{name}.")]
        if shown := "".join(found).strip("\r\n").rstrip():
            return shown
        name = name.rpartition(".")[0]
    return None


def _cut(path: str, text: str, cutter: Cutter) -> list[tuple[Span, str]]:
    """Return where to cut code, with the names of what is defined there."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    starts += [len(text)] if starts[-1] != len(text) else []
    last = len(starts) - 1
    return [
        ((starts[min(max(first, 1) - 1, last)], starts[min(end, last)]), name)
        for first, end, name in cutter(path, unmarked(text))
    ]


def _chunk(title: str, text: str, span: Span, name: str, lang: str) -> Chunk:
    shown = text[span[0] : span[1]].replace("\r\n", "\n").strip("\n").rstrip()
    return new_chunk(title, shown, span, f"#{name}" if name else "", lang=lang)


def _parts(text: str, span: Span) -> Iterator[Span]:
    """Yield a span whole, or in pieces at the ends of lines where it is very long."""
    start, end = span
    while end - start > LARGEST:
        at = text.rfind("\n", start + 1, start + PART)
        at = start + PART if at < 0 else at + 1
        yield start, at
        start = at
    if end > start:
        yield start, end


def _language(text: str) -> str:
    """Return the language of code's words: English, but for those who write comments in theirs."""
    foreign = [line for line in text.split("\n") if _FOREIGN.search(line)]
    return detect(" ".join(foreign), "en") if len(foreign) >= FOREIGN_LINES else "en"
