"""A folder that the person linked, as the source of an index: read only. Code is cut by its
definitions, prose by paragraphs.

Which files are taken is told by their names, and not what git ignores, nor secrets. Patterns are
those of `.gitignore` files at every depth and of `.git/info/exclude`, without git, which may be
missing. Of a repository that the folder lies in, its `.gitignore` files above the folder are read
too: what they name may be secret. What git tracks although a pattern names it counts as ignored,
and the user's own global list is not read. Unlike in a vault some dot names are taken: a project's
workflows are part of it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, cast

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from vaultmind.errors import VaultMindError, VaultNotFound
from vaultmind.index import notes
from vaultmind.index.folder import VaultFolder
from vaultmind.index.notes import TITLE_JOINT, Chunked, Place, Span, new_chunk, split
from vaultmind.index.words import detect
from vaultmind.redact import blank_passages, unmarked
from vaultmind.tables import table
from vaultmind.types import Chunk, Fault
from vaultmind.vault.files import FileText, VaultReader, read_bytes
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.scan import SECRET_NAMES, Rules, ignoring, obsidian_filters

Shape = Literal["note", "code", "text", "data"]
_TABLES: dict[str, dict[str, Any]] = {
    table: {name: tuple(words.split()) for name, words in lists.items()}
    for table, lists in table(__file__, "linked.toml").items()
}
_BY_ENDING, _BY_NAME = (
    {one: cast("Shape", shape) for shape, some in _TABLES[table].items() for one in some}
    for table in ("endings", "names")
)
_LEFT_OUT = _TABLES["left_out"]
MACHINE_MADE = _LEFT_OUT["machine_made"]
"""Endings of names of what no person wrote: such files are known, and not searched."""
_IDENTITY = "identity.md"
IGNORE_FILE = ".gitignore"
MAX_RULES = 500_000
"""Bytes of one file of patterns."""
_IGNORES_CASE = sys.platform in ("darwin", "win32")


def shape_of(path: str) -> Shape | None:
    """Return what a file is by its name, or None for one that is not taken.

    A name without a dot may be a script or a LICENSE: it is taken, and read as text.
    """
    name = path[path.rfind("/") + 1 :].lower()
    _, dot, ending = name.rpartition(".")
    if name in _BY_NAME or name.endswith(_LEFT_OUT["never"]):
        return _BY_NAME.get(name)
    return _BY_ENDING.get(ending) if dot else "text" if name else None


def is_memory(folder: str | Path) -> bool:
    """Tell whether a folder is the memory folder of some vault: it has `agents/*/identity.md`.

    Whatever its name: who may read it is said there, and for that vault alone.
    """
    return any(Path(folder).glob(f"agents/*/{_IDENTITY}"))


def lies_in_memory(folder: Path) -> bool:
    """Tell whether a folder is, or lies in, the memory folder of some vault."""
    return any(map(is_memory, (folder, *folder.parents)))


Patterns = tuple[str, GitIgnoreSpec]
"""The folder they are relative to, empty or with `/` at its end, and the patterns of its file."""


class FolderRules(Rules):
    """The rules of one linked folder at one time. Any thread.

    Files of patterns are read when a folder is first asked of.
    """

    def __init__(self, root: Path, exclude: Iterable[str] = ()) -> None:
        self._root = root
        self._filters, self.faults = obsidian_filters(VaultPaths(root))
        around = (one for one in (root, *root.parents) if os.path.lexists(one / ".git"))
        self._top = next(around, None) or root
        """The repository that the folder lies in, or is."""
        self._prefix = "".join(f"{name}/" for name in root.relative_to(self._top).parts)
        self._patterns = cache(self._patterns_for)
        self._leaves_out = cache(self._is_left_out)
        has_git = os.path.lexists(self._top / ".git")
        made = _LEFT_OUT["made"] + (() if has_git else _LEFT_OUT["made_without_git"])
        self._named = ignoring([*SECRET_NAMES, *_LEFT_OUT["secrets"], *made, *exclude])

    def excluded(self, relative: str) -> bool:
        """Tell whether a file, or a folder ending in `/`, is never indexed nor shown."""
        if relative.endswith("/"):
            return self._leaves_out(relative.rstrip("/"))
        leaves_out = self._leaves_out(relative.rpartition("/")[0])
        return leaves_out or self._is_named(relative) or self.ignored(relative)

    def is_conflict_copy(self, relative: str) -> bool:
        """Tell that no sync program's copies are looked for."""
        return False

    def _is_left_out(self, folder: str) -> bool:
        """Tell whether a folder is left out, for itself or for one that it lies in.

        Nothing is read through a symbolic link.
        """
        if not folder:
            return lies_in_memory(self._root)
        path = self._root / folder
        return (
            self._leaves_out(folder.rpartition("/")[0])
            or self._is_named(f"{folder}/")
            or self.ignored(f"{folder}/")
            or path.is_symlink()
            or any(os.path.lexists(path / name) for name in _LEFT_OUT["markers"])
            or is_memory(path)
        )

    def _is_named(self, relative: str) -> bool:
        """Tell whether a name is left out; those of folders around it were asked about."""
        name = relative.rstrip("/").rpartition("/")[2].lower()
        is_hidden = name.startswith(".") and not name.startswith(_LEFT_OUT["not_hidden"])
        is_named = is_hidden or self._named.match_file(relative.lower())
        return is_named or any(one.search(relative) for one in self._filters)

    # --- what git ignores -----------------------------------------------------------------

    def ignored(self, item: str) -> bool:
        """Tell whether a file, or a folder ending in `/`, is ignored by itself.

        What lies in an ignored folder is ignored: the caller asks about the folders first.
        """
        full = self._prefix + item
        for base, patterns in self._patterns(full.rstrip("/").rpartition("/")[0]):
            verdict = patterns.check_file(_cased(full[len(base) :])).include
            if verdict is not None:
                return verdict
        return False

    def _patterns_for(self, folder: str) -> tuple[Patterns, ...]:
        """Return the patterns that speak of what lies in a folder, the nearest first."""
        if not folder:
            return tuple(("", self._read(name)) for name in (IGNORE_FILE, ".git/info/exclude"))
        own = self._read(f"{folder}/{IGNORE_FILE}")
        above = self._patterns(folder.rpartition("/")[0])
        return ((f"{folder}/", own), *above) if len(own) else above

    def _read(self, file: str) -> GitIgnoreSpec:
        """Return the patterns of a file; none where there is no such regular file."""
        patterns: list[GitIgnoreSpecPattern] = []
        try:
            raw, _ = read_bytes(self._top / file, VaultReader(VaultPaths(self._top), MAX_RULES), "")
        except VaultMindError:
            raw = b""
        for line in os.fsdecode(raw.removeprefix(b"\xef\xbb\xbf")).splitlines():
            try:
                pattern = GitIgnoreSpecPattern(_cased(line))
                patterns += [pattern] if pattern.include is not None else []
            except ValueError as error:
                fault = f"{line[:60]!r} was not used: {error}"
                self.faults.append(Fault(file, fault, "partial"))
        return GitIgnoreSpec(patterns)


def _cased(text: str) -> str:
    return text.casefold() if _IGNORES_CASE else text


NamedLines = tuple[int, int, str]
"""First and last line, counted from 1, and the qualified name of what stands there, or nothing."""
Cutter = Callable[[str, str], Sequence[NamedLines]]
"""Takes a path and a text, returns where to cut it, in order, every line that says something once.
"""
WHAT = "linked folder"
MAX_BYTES = 1_000_000
"""Of a file: larger ones are made by tools."""
FOLDER_FORMAT = "7"
"""Raise it when the same bytes of a folder would give other chunks, terms, ties or records."""
TARGET = 600
"""Characters of a chunk of prose or data."""
PART = 1_200
"""Characters of a piece of code; of one and a half as many it stays whole. What is embedded of a
chunk is not much more."""
DATA_CHARACTERS = 8_000
"""So much of a data file is searched: its beginning says what it is."""
MINIFIED_ABOVE, MINIFIED_LINE = 2_000, 250
"""Characters of a file, and of its lines on the average, above which nobody wrote it."""


def cut_plainly(path: str, text: str) -> Sequence[NamedLines]:
    """Return pieces between blank lines: for where nothing is known of a language."""
    found = []
    for start, end in split(text, (0, len(text)), PART):
        first = text.count("\n", 0, start) + 1
        found.append((first, first + text.count("\n", start, max(start, end - 1)), ""))
    return found


class FolderPaths(VaultPaths):
    """The names of a folder that is no vault: it has no memory folder, and nothing is written."""

    def absolute(self, relative: str) -> Path:
        """Return the real path of one in the linked folder; see VaultPaths.

        Every read and stat comes by here: nothing is read through a link in the folder's place.
        """
        if self.root.is_symlink() or not self.root.is_dir():
            raise VaultNotFound(f"The {WHAT} {self.root} does not exist or is a symbolic link.")
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
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """Take a real path, the globs of what the person never wants indexed, and a cutter."""
        super().__init__(FolderPaths(root, os.devnull), exclude, max_bytes)
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

    def new_rules(self) -> Rules:
        """Return what is left out, as `.gitignore` files and settings say now."""
        return FolderRules(self.paths.root, self.exclude)

    def place_of(self, path: str) -> Place | None:
        """Return what a file is, or None for one that is not taken."""
        shape = shape_of(path)
        return Place("note", "", shape) if shape else None

    def governs(self, path: str) -> bool:
        """Tell whether a file says what is left out."""
        return path[path.rfind("/") + 1 :] in (IGNORE_FILE, _IDENTITY, *_LEFT_OUT["markers"])

    def cut(self, path: str, file: FileText, place: Place) -> Chunked:
        """Return the chunks of a file."""
        if place.form == "note":
            return notes.chunk_file(path, file, place)
        text, form = blank_passages(file.text), place.form
        faults: tuple[str, ...] = ()
        spans: list[tuple[Span, str]] = []
        if form == "code" and is_minified(text):
            faults = ("minified: its text is not searched",)
        elif form == "code":
            cut = self._named(path, text)
            spans = [(part, name) for span, name in cut for part in _parts(text, span)]
        elif form == "text" or not path.lower().endswith(MACHINE_MADE):
            end = min(len(text), len(text) if form == "text" else DATA_CHARACTERS)
            spans = [(span, "") for span in split(text, (0, end), TARGET)]
        lang = detect(text) if form == "text" else "en"  # of code and data
        chunks = (_chunk(path, text, *one, lang) for one in spans)
        found = Chunked(tuple(one for one in chunks if one.text), lang, faults)
        return notes.placed(path, found, place)

    def defined(self, path: str, text: str, name: str) -> str | None:
        """Return the lines that code defines under a name, in order; None where there are none.

        A small class stands as one: of a method in it all of that class is returned.
        """
        spans = self._named(path, text) if shape_of(path) == "code" else ()
        while name:
            found = [text[slice(*span)] for span, one in spans if f"{one}.".startswith(f"{name}.")]
            if shown := "".join(found).strip("\r\n").rstrip():
                return shown
            name = name.rpartition(".")[0]
        return None

    def _named(self, path: str, text: str) -> list[tuple[Span, str]]:
        """Return where to cut code, with the names of what is defined there."""
        lines = re.findall(r"[^\n]*\n|[^\n]+", text)
        starts, last = [0, *accumulate(map(len, lines))], len(lines)
        return [
            ((starts[min(max(first, 1) - 1, last)], starts[min(end, last)]), name)
            for first, end, name in self._cutter(path, unmarked(text))
        ]


def is_minified(text: str) -> bool:
    """Tell whether nobody wrote a text by hand: its lines are too long."""
    return len(text) > max(MINIFIED_ABOVE, MINIFIED_LINE * (text.count("\n") + 1))


def _chunk(path: str, text: str, span: Span, name: str, lang: str) -> Chunk:
    """Return a chunk that stands under the name of what it defines, if it has one."""
    shown = text[span[0] : span[1]].replace("\r\n", "\n").strip("\n").rstrip()
    title, anchor = (f"{path}{TITLE_JOINT}{name}", f"#{name}") if name else (path, "")
    return new_chunk(title, shown, span, anchor, lang=lang)


def _parts(text: str, span: Span) -> Iterator[Span]:
    """Yield a span whole, or in pieces where it is very long; each with its indentation."""
    done = span[0]
    for start, end in split(text, span, PART):
        yield max(done, text.rfind("\n", 0, start) + 1), end
        done = end
