"""Records of notes and other prose: headings, links, properties, tags, tasks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import partial
from itertools import accumulate, pairwise
from pathlib import PurePosixPath

from vaultmind import tokens
from vaultmind.planner.structure.records import FileRecord, Heading, Link, Task
from vaultmind.redact import blank_passages, mask
from vaultmind.vault.canvas import parse_canvas
from vaultmind.vault.inline import links_in
from vaultmind.vault.markdown import Note, parse_note

LONGEST = 240
"""Characters of an abstract, a task or a value."""
MOST_HEADINGS, MOST_LINKS, MOST_TASKS, MOST_PROPERTIES = 400, 500, 300, 60
"""Of one file: what has more is a list of everything, and says little of itself."""

_ENTRY = re.compile(
    r"(?i)(?:readme|index|home|start(?: here)?|moc|_?dashboard|contents|overview|welcome)"
    r"|.*(?:[ _-]moc|[ _-]index)|(?:start|spis tre[śs]ci|оглавление|главная|indeks)"
)
"""Names of notes that lead to others."""
_ENTRY_TAGS = frozenset({"moc", "index", "hub", "home"})
_MARKUP = re.compile(
    r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]|\[([^\[\]]*)\]\([^)]{0,2000}\)|[*`]+|(?<!\w)_+|_+(?!\w)"
)
_NOT_PROSE = re.compile(r"\s*(?:\||>|!\[|<|\[!|\$\$|---|===)")
_BLOCK_ID = re.compile(r"\s\^[A-Za-z0-9-]+$")
_UNDERLINE = re.compile(r"(=|-|~|\^|#|\*)\1{2,}\s*")
_HIDDEN_PROPERTIES = frozenset({"position", "cssclass", "cssclasses", "aliases", "tags", "tag"})
_HEADING_LEVELS = "=-~^#*"


def clean(text: str) -> str:
    """Return a text on one line without secrets in it, clipped."""
    line = " ".join(text.split())
    masked = mask(line).text if line else line
    return masked if len(masked) <= LONGEST else f"{masked[: LONGEST - 2].rstrip()} …"


def note_record(path: str, text: str, sha: str, language: str) -> FileRecord:
    """Return the record of a Markdown note. Private passages and secrets are not in it."""
    text = blank_passages(text)
    note = parse_note(text)
    line_of = _lines(text)
    stem = PurePosixPath(path).stem
    properties = dict(_properties(note))
    headings = tuple(
        Heading(plain(one.text), one.level, line_of(one.start))
        for one in note.headings[:MOST_HEADINGS]
    )
    title = clean(note.title_property)
    if not title and headings and headings[0].level == 1 and _is_readme(stem):
        title = headings[0].text
    return FileRecord(
        path=path,
        sha=sha,
        shape="note",
        language=language,
        title=title or stem,
        lines=_line_count(text),
        tokens=tokens.count(text),
        abstract=_abstract(note, text),
        entry=is_entry(path) or bool(_ENTRY_TAGS & {tag.casefold() for tag in note.tags}),
        headings=headings,
        links=tuple(_links(note, line_of)),
        properties=tuple(properties.items()),
        tags=tuple(map(clean, note.tags)),
        tasks=tuple(
            Task(plain(_BLOCK_ID.sub("", one.text)), line_of(one.start), one.done)
            for one in note.tasks[:MOST_TASKS]
            if one.text
        ),
        fault="; ".join(note.faults),
    )


def canvas_record(path: str, text: str, sha: str, language: str) -> FileRecord:
    """Return the record of a canvas: what its cards link to. It has no lines worth naming."""
    canvas = parse_canvas(text)
    cards = blank_passages("\n\n".join(node.text for node in canvas.nodes))
    found = dict.fromkeys(link.target for link in links_in(cards) if link.target)
    return FileRecord(
        path=path,
        sha=sha,
        shape="note",
        language=language,
        title=PurePosixPath(path).stem,
        lines=_line_count(text),
        tokens=tokens.count(cards),
        abstract=clean(cards.partition("\n\n")[0]),
        links=tuple(Link("link", clean(target), 1) for target in list(found)[:MOST_LINKS]),
        fault="; ".join(canvas.faults),
    )


def text_record(path: str, text: str, sha: str) -> FileRecord:
    """Return the record of other prose: underlined titles (reStructuredText) are headings."""
    lines = text.splitlines()
    headings = tuple(_underlined(lines))[:MOST_HEADINGS]
    paragraphs = (one for one in re.split(r"\n\s*\n", text) if re.search(r"\w{3}", one))
    prose = (one for one in paragraphs if not _NOT_PROSE.match(one) and "\n===" not in one)
    pure = PurePosixPath(path)
    title = headings[0].text if headings and _is_readme(pure.stem) else pure.name
    return FileRecord(
        path=path,
        sha=sha,
        shape="text",
        language="",
        title=title,
        lines=len(lines),
        tokens=tokens.count(text),
        abstract=clean(next(prose, "")[: LONGEST * 4]),
        entry=is_entry(path),
        headings=headings,
    )


def is_entry(path: str) -> bool:
    """Tell whether a note leads to others by its name: a README, an index, one named as its
    folder.
    """
    pure = PurePosixPath(path)
    return bool(_ENTRY.fullmatch(pure.stem)) or pure.stem == pure.parent.name


def plain(text: str) -> str:
    """Return a line of Markdown without its marks, as one reads it."""
    return clean(_MARKUP.sub(r"\1\2", text))


def _is_readme(stem: str) -> bool:
    return stem.casefold() in ("readme", "index")


def _lines(text: str) -> Callable[[int], int]:
    """Return what tells the line of an offset; the first is 1."""
    starts = [0, *accumulate(len(line) for line in text.splitlines(keepends=True))]
    return partial(bisect_right, starts)


def _line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and bool(text))


def _abstract(note: Note, text: str) -> str:
    """Return the first paragraph that is prose; a property that sums up goes before it."""
    for name, value in note.properties.items():
        if name.lower() in ("description", "summary", "abstract", "opis", "описание"):
            return clean(str(value))
    for unit in note.units:
        said = text[unit.start : unit.end]
        if unit.kind == "paragraph" and not _NOT_PROSE.match(said):
            shown = plain(_uncommented(said, unit.start, note.comments)[: LONGEST * 4])
            if len(shown) > 2:  # noqa: PLR2004  # a mark or two
                return shown
    return ""


def _uncommented(said: str, start: int, comments: Iterable[tuple[int, int]]) -> str:
    for first, last in reversed([*comments]):
        if first >= start and last <= start + len(said):
            said = said[: first - start] + said[last - start :]
    return said


def _properties(note: Note) -> Iterable[tuple[str, str]]:
    """Yield what a note says of itself; inline fields as well. A secret is known by its name."""
    fields = ((one.key, one.value) for one in note.fields)
    taken = 0
    for name, value in (*note.properties.items(), *fields):
        shown = _value(value)
        if name.lower() in _HIDDEN_PROPERTIES or not shown or taken >= MOST_PROPERTIES:
            continue
        taken += 1
        key = clean(name)
        together = clean(f"{name}: {shown}")
        yield key, together.removeprefix(f"{key}: ") if together.startswith(f"{key}: ") else "…"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(filter(None, map(_value, value)))
    return " ".join(str(value).split()) if value is not None else ""


def _links(note: Note, line_of: Callable[[int], int]) -> Iterable[Link]:
    for one in note.links[:MOST_LINKS]:
        if one.target:
            kind = "embed" if one.embed else "link"
            names = (clean(one.heading),) if one.heading else ()
            yield Link(kind, clean(one.target), line_of(one.start), names)  # type: ignore[arg-type]


def _underlined(lines: list[str]) -> Iterable[Heading]:
    for number, (line, below) in enumerate(pairwise(lines), 1):
        mark = _UNDERLINE.fullmatch(below)
        if mark and line.strip() and len(below.rstrip()) >= len(line.rstrip()) - 1:
            if _UNDERLINE.fullmatch(line):
                continue
            yield Heading(clean(line), 1 + _HEADING_LEVELS.index(mark[1]) % 6, number)
