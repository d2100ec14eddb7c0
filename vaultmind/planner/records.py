"""Records: what is known of one file of a source, read from its text without secrets."""

from __future__ import annotations

import json
import logging
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate
from pathlib import PurePosixPath

from vaultmind import tokens
from vaultmind.planner.code import LONGEST, clean, language_of, read_code
from vaultmind.planner.types import FileRecord, Heading, Link, Shape, Task
from vaultmind.redact import blank_passages, unmarked
from vaultmind.vault.canvas import parse_canvas
from vaultmind.vault.files import FileText
from vaultmind.vault.markdown import Note, parse_note

DATA = frozenset({
    ".json", ".jsonl", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".csv", ".tsv", ".xml",
    ".lock", ".properties", ".gradle", ".mod", ".sum", ".csproj", ".plist",
})  # fmt: skip
NOTES = frozenset({".md", ".markdown", ".mdx", ".canvas"})
MAX_BYTES = 1_000_000
"""A larger file is named and not looked into."""
LONG_LINES = 400
"""Mean length of the lines of a file that nobody wrote by hand."""
MOST_HEADINGS, MOST_LINKS, MOST_TASKS, MOST_PROPERTIES = 400, 500, 300, 60
_ENTRY = re.compile(
    r"(?i)(?:readme|index|home|start(?: here)?|moc|_?dashboard|contents|overview|welcome)"
    r"|.*(?:[ _-]moc|[ _-]index)|(?:start|spis tre[śs]ci|оглавление|главная|indeks)"
)
"""Names of notes that lead to others."""
_ENTRY_TAGS = frozenset({"moc", "index", "hub", "home"})
_ABOUT = frozenset({"description", "summary", "abstract", "opis", "описание"})
_HIDDEN = frozenset({"position", "cssclass", "cssclasses", "aliases", "tags", "tag"})
_MARKUP = re.compile(
    r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]|\[([^\[\]]*)\]\([^)]{0,2000}\)|[*`]+|(?<!\w)_+|_+(?!\w)"
)
_NOT_PROSE = re.compile(r"\s*(?:\||>|!\[|<|\[!|\$\$|---|===)")
_BLOCK_ID = re.compile(r"\s\^[A-Za-z0-9-]+$")
_GO_MODULE = re.compile(r"(?m)^[ \t]*module\s+(\S+)")
log = logging.getLogger(__name__)


def record_of(file: FileText, language: str = "") -> FileRecord:
    """Return what a file holds; `language` of prose is what the index made out.

    Never raises for what stands in a file: what cannot be understood is a fault.
    """
    path, text = file.path, file.text
    pure = PurePosixPath(path)
    shape, code = _shape(pure.suffix.lower(), path, text)
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    plain = FileRecord(path, file.sha, shape, code, pure.name, lines, len(text) // 4)
    if file.stat.size > MAX_BYTES:
        size = f"{file.stat.size / 1e6:.1f} MB"
        return replace(plain, fault=f"{size} is over the limit of {MAX_BYTES / 1e6:g} MB")
    long = len(text) > 4 * LONG_LINES and len(text) / (lines or 1) > LONG_LINES
    if shape != "note" and (long or ".min." in pure.name):
        return replace(plain, fault="not looked into: minified or generated")
    try:
        text = blank_passages(text)  # nothing of them is read, no name either
        plain = replace(plain, tokens=tokens.count(text), language=code or language)
        return (_canvas if pure.suffix == ".canvas" else _READ[shape])(plain, text)
    except Exception as error:  # one odd file must not stop the others
        log.exception("%s could not be understood", path)
        return replace(plain, fault=f"could not be understood: {error!r}")


def unreadable(path: str, reason: str) -> FileRecord:
    """Return the record of a file that cannot be read."""
    return FileRecord(path, "", "text", "", PurePosixPath(path).name, 0, 0, fault=reason)


def is_package(path: str) -> bool:
    """Tell whether a file names what others import by that name."""
    return path.rpartition("/")[2] in ("package.json", "go.mod")


def _shape(suffix: str, path: str, text: str) -> tuple[Shape, str]:
    if suffix in NOTES:
        return "note", ""
    if code := language_of(path, text.partition("\n")[0]):
        return "code", code
    return ("data" if suffix in DATA else "text"), ""


def _data(plain: FileRecord, text: str) -> FileRecord:
    """Return the record of data; of a package.json or go.mod the name by which it is imported."""
    name = ""
    if plain.title == "go.mod" and (found := _GO_MODULE.search(text)):
        name = found[1]
    elif plain.title == "package.json":
        with suppress(ValueError, RecursionError):
            told = json.loads(text)
            name = str(told.get("name") or "") if isinstance(told, dict) else ""
    kind = PurePosixPath(plain.path).suffix.lower().lstrip(".")
    return replace(plain, language=kind, properties=(("name", name),) if name else ())


def _code(plain: FileRecord, text: str) -> FileRecord:
    return read_code(plain, unmarked(text))


def _note(plain: FileRecord, text: str) -> FileRecord:
    stem, note = PurePosixPath(plain.path).stem, parse_note(text)
    starts = [0, *accumulate(len(line) for line in text.splitlines(keepends=True))]

    def line_of(offset: int) -> int:
        return bisect_right(starts, offset)

    headings = tuple(
        Heading(_plain(one.text), one.level, line_of(one.start))
        for one in note.headings[:MOST_HEADINGS]
    )
    title = clean(note.title_property)
    is_readme = stem.casefold() in ("readme", "index")
    if not title and headings and headings[0].level == 1 and is_readme:
        title = headings[0].text
    tags = tuple(map(clean, note.tags))
    return replace(
        plain,
        title=title or stem,
        abstract=_abstract(note, text),
        entry=is_entry(plain.path) or not _ENTRY_TAGS.isdisjoint(map(str.casefold, tags)),
        headings=headings,
        links=tuple(
            Link("embed" if one.embed else "link", clean(one.target), line_of(one.start))
            for one in note.links[:MOST_LINKS]
            if one.target
        ),
        properties=tuple(dict(_properties(note)).items()),
        tags=tags,
        tasks=tuple(
            Task(_plain(_BLOCK_ID.sub("", one.text)), line_of(one.start), one.done)
            for one in note.tasks[:MOST_TASKS]
            if one.text
        ),
        fault="; ".join(note.faults),
    )


def _canvas(plain: FileRecord, text: str) -> FileRecord:
    """Return the record of a canvas: what its cards say and link to."""
    texts, faults = parse_canvas(text)
    cards = blank_passages("\n\n".join(texts))
    made = _note(replace(plain, tokens=tokens.count(cards)), cards)
    return replace(made, fault="; ".join(faults))


def is_entry(path: str) -> bool:
    """Tell whether a note leads to others by its name: a README, or one named as its folder."""
    pure = PurePosixPath(path)
    return bool(_ENTRY.fullmatch(pure.stem)) or pure.stem == pure.parent.name


def _plain(text: str) -> str:
    """Return a line of Markdown without its marks, as one reads it."""
    return clean(_MARKUP.sub(r"\1\2", text))


def _abstract(note: Note, text: str) -> str:
    """Return the first paragraph that is prose; a property that sums up goes before it."""
    for name, value in note.properties.items():
        if name.lower() in _ABOUT:
            return clean(str(value))
    for unit in note.units:
        said = text[unit.start : unit.end]
        if unit.kind == "paragraph" and not _NOT_PROSE.match(said):
            for first, last in reversed([*note.comments]):
                if first >= unit.start and last <= unit.end:
                    said = said[: first - unit.start] + said[last - unit.start :]
            shown = _plain(said[: LONGEST * 4])
            if len(shown) > 2:  # noqa: PLR2004  # a mark or two
                return shown
    return ""


def _properties(note: Note) -> Iterator[tuple[str, str]]:
    """Yield what a note says of itself; inline fields as well. A secret is known by its name."""
    fields = ((one.key, one.value) for one in note.fields)
    told = [*note.properties.items(), *fields]
    for name, value in told[:MOST_PROPERTIES]:
        shown = _value(value)
        if name.lower() not in _HIDDEN and shown:
            key, together = clean(name), clean(f"{name}: {shown}")
            start = f"{key}: "
            yield key, together.removeprefix(start) if together.startswith(start) else "…"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(filter(None, map(_value, value)))
    return " ".join(str(value).split()) if value is not None else ""


_READ: Mapping[Shape, Callable[[FileRecord, str], FileRecord]] = {
    "note": _note, "code": _code, "data": _data, "text": _note,
}  # fmt: skip
