"""Records: what is known of one file of a source, read from its text without secrets."""

from __future__ import annotations

import logging
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from pathlib import PurePosixPath

from vaultmind import tokens
from vaultmind.index.linked import shape_of
from vaultmind.planner.code import LONGEST, clean, language_of, read_code
from vaultmind.planner.types import FileRecord, Link, Part, Shape, Task
from vaultmind.redact import blank_passages, unmarked
from vaultmind.vault.files import FileText
from vaultmind.vault.markdown import Note, blanked, parse_canvas, parse_note

MAX_BYTES = 1_000_000
"""A larger file is named and not looked into."""
LONG_LINES = 400
"""Mean length of the lines of a file that nobody wrote by hand."""
MOST_PARTS, MOST_LINKS, MOST_PROPERTIES = 400, 500, 60
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
log = logging.getLogger(__name__)


def record_of(file: FileText, language: str = "") -> FileRecord:
    """Return what a file holds; `language` of prose is what the index made out.

    Never raises for what stands in a file: what cannot be understood is a fault.
    """
    path, text = file.path, file.text
    pure = PurePosixPath(path)
    code = language_of(path)
    shape: Shape = "code" if code else shape_of(path) or "text"
    if pure.suffix.lower() in (".md", ".canvas"):
        shape, code = "note", ""
    plain = FileRecord(path, file.sha, shape, code, pure.name, len(text) // 4)
    if file.stat.size > MAX_BYTES:
        return replace(plain, fault=f"{file.stat.size / 1e6:.1f} MB is over the limit of 1 MB")
    long = len(text) > 4 * LONG_LINES and len(text) / (text.count("\n") + 1) > LONG_LINES
    if shape != "note" and (long or ".min." in pure.name):
        return replace(plain, fault="not looked into: minified or generated")
    try:
        text = blank_passages(text)  # nothing of them is read, no name either
        faults: tuple[str, ...] = ()
        if pure.suffix == ".canvas":
            cards, faults = parse_canvas(text)
            text = blank_passages("\n\n".join(cards))
        plain = replace(plain, tokens=tokens.count(text), language=code or language)
        plain = replace(plain, fault="; ".join(faults))
        if shape == "code":
            return read_code(plain, unmarked(text))
        return plain if shape == "data" else _note(plain, text)
    except Exception as error:  # one odd file must not stop the others
        log.exception("%s could not be understood", path)
        return replace(plain, fault=f"could not be understood: {error!r}")


def _note(plain: FileRecord, text: str) -> FileRecord:
    pure, note = PurePosixPath(plain.path), parse_note(text)
    starts = [0, *accumulate(len(line) for line in text.splitlines(keepends=True))]
    lines = [bisect_right(starts, one.start) for one in note.headings[:MOST_PARTS]]
    ends = [*(line - 1 for line in lines[1:]), len(starts) - 1]
    parts = tuple(
        Part(_plain(one.text), f"h{one.level}", line, max(line, end))
        for one, line, end in zip(note.headings, lines, ends, strict=False)
    )
    title = clean(note.title_property)
    if not title and parts and parts[0].kind == "h1" and pure.stem.lower() in ("readme", "index"):
        title = parts[0].name
    tags = tuple(map(clean, note.tags))
    is_entry = bool(_ENTRY.fullmatch(pure.stem)) or pure.stem == pure.parent.name
    return replace(
        plain,
        title=title or pure.stem,
        abstract=_abstract(note, text),
        entry=is_entry or not _ENTRY_TAGS.isdisjoint(map(str.casefold, tags)),
        parts=parts,
        links=tuple(
            Link("embed" if one.embed else "link", clean(one.target))
            for one in note.links[:MOST_LINKS]
            if one.target
        ),
        properties=tuple(dict(_properties(note)).items()),
        tags=tags,
        tasks=tuple(
            Task(_plain(_BLOCK_ID.sub("", one.text)), one.done)
            for one in note.tasks[:MOST_PARTS]
            if one.text
        ),
        fault="; ".join(filter(None, (plain.fault, *note.faults))),
    )


def _plain(text: str) -> str:
    """Return a line of Markdown without its marks, as one reads it."""
    return clean(_MARKUP.sub(r"\1\2", text))


def _abstract(note: Note, text: str) -> str:
    """Return the first paragraph that is prose; a property that sums up goes before it."""
    for name, value in note.properties.items():
        if name.lower() in _ABOUT:
            return clean(str(value))
    prose = blanked(text, note.comments)
    for unit in note.units:
        said = prose[unit.start : unit.end].strip()
        if unit.kind == "paragraph" and not _NOT_PROSE.match(said):
            shown = _plain(said[: LONGEST * 4])
            if len(shown) > 2:  # noqa: PLR2004  # a mark or two
                return shown
    return ""


def _properties(note: Note) -> Iterator[tuple[str, str]]:
    """Yield what a note says of itself. A secret is known by its name."""
    for name, value in [*note.properties.items()][:MOST_PROPERTIES]:
        shown = _value(value)
        if name.lower() not in _HIDDEN and shown:
            start, together = f"{clean(name)}: ", clean(f"{name}: {shown}")
            yield clean(name), together.removeprefix(start) if together.startswith(start) else "…"


def _value(value: object) -> str:
    if isinstance(value, dict):
        value = [f"{key} {_value(item)}" for key, item in value.items()]
    if isinstance(value, list):
        return ", ".join(filter(None, map(_value, value)))
    return " ".join(str(value).split()) if value is not None else ""
