"""Chunks of notes and summaries by heading, of a canvas by its text nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from vaultmind.index.chunking.draft import TITLE_JOINT, Draft, faults_of, new_chunk, uncommented
from vaultmind.index.chunking.splitting import Span, split
from vaultmind.index.ties import heading_anchor
from vaultmind.index.words.language import detect
from vaultmind.redact import blank_passages
from vaultmind.types import Chunk
from vaultmind.vault.bullets import COMMENT
from vaultmind.vault.canvas import Canvas, parse_canvas
from vaultmind.vault.markdown import Note, parse_note
from vaultmind.vault.parts import block_spans

TARGET = 600
"""Characters of a chunk. A section with all below it stays whole up to WHOLE."""
WHOLE = 800
SMALL = 160
"""Sections shorter than this join their neighbour."""
SUMMARY_TARGET = 400
LANGUAGE_SAMPLE = 160
"""Characters of a chunk that are looked at for a language other than the note's."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
_MARKUP = re.compile(
    r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]|\[([^\[\]]*)\]\([^)]{0,2000}\)|[*`]+|(?<!\w)_+|_+(?!\w)"
)
_SOURCES = re.compile(r"(?:(?:^|(?<=\s))\[\[[^\[\]|]+\|source\]\]\s*)+")
_DATE_KEYS = ("date", "created", "data", "дата")
_UNSHOWN = {"tags", "tag", "cssclass", "cssclasses", "position", "publish"}
_MAX_PROPERTY = 200


@dataclass(slots=True)
class _Section:
    """A heading with its own text (start to own_end) and what lies below it (to end)."""

    level: int
    heading: str
    raw: str
    start: int
    own_end: int
    end: int
    parent: _Section | None = None
    children: list[_Section] = field(default_factory=list)

    def path(self) -> list[str]:
        """Return the headings from the top down to this one."""
        above = self.parent.path() if self.parent else []
        return [*above, self.heading] if self.heading else above


@dataclass(frozen=True, slots=True)
class _Piece:
    """A span that becomes one chunk or, if it is long, several."""

    section: _Section
    span: Span
    bare: bool = False
    """Whether it is a heading and nothing else: such a one always joins the next."""


def chunk_note(path: str, text: str) -> Draft:
    """Return a note's chunks: small notes whole, long ones by section."""
    note = parse_note(text)
    title = note.title_property or PurePosixPath(path).stem
    pieces = [
        (p.section, span)
        for p in _pieces(_tree(note, text), text)
        for span in split(text, p.span, TARGET)
    ]
    lang = detect(text[note.body_start :])
    chunks = [_section_chunk(text, note, title, *piece) for piece in pieces]
    chunks = _with_properties(chunks, note, title)
    tags = tuple(dict.fromkeys(tag.casefold() for tag in note.tags))
    done = tuple(
        replace(chunk, lang=detect(chunk.text, lang, sample_size=LANGUAGE_SAMPLE), tags=tags)
        for chunk in chunks
    )
    time = _time_of(path, note)
    done = tuple(replace(chunk, time=time) for chunk in done) if time else done
    return Draft(done, title, time, lang, faults_of(path, note.faults))


def chunk_summary(path: str, text: str) -> Draft:
    """Return a summary's chunks: paragraphs, small neighbours together.

    What has a block id stands alone under it: by that id it may be hidden. The links to sources
    in which a paragraph of ours ends are no part of what it says.
    """
    note = parse_note(text)
    title = PurePosixPath(path).stem
    lang = detect(text[note.body_start :])
    time = _time_of(path, note)
    chunks = []
    for section in _flat(_tree(note, text)):
        for span, anchor in _named_spans(text, note, (section.start, section.own_end)):
            chunk = _section_chunk(text, note, title, section, span)
            chunk = replace(chunk, anchor=anchor or chunk.anchor, text=_said(chunk.text))
            if chunk.text.lstrip("#").strip() not in ("", section.raw):
                chunks.append(replace(chunk, lang=lang, time=time))
    return Draft(tuple(chunks), title, time, lang, faults_of(path, note.faults))


def _said(text: str) -> str:
    """Return a piece of a summary without the links to its sources."""
    return _SOURCES.sub("", text).strip()


def _named_spans(text: str, note: Note, whole: Span) -> Iterator[tuple[Span, str]]:
    """Yield the pieces of a section, each with the anchor of the named block that it is of."""
    at = whole[0]
    for block, (start, end) in block_spans(note):
        if at <= start and end <= whole[1]:
            for span in split(text, (at, start), SUMMARY_TARGET):
                yield span, ""
            for span in split(text, (start, block.end), SUMMARY_TARGET):
                yield span, f"#^{block.id}"
            at = end
    for span in split(text, (at, whole[1]), SUMMARY_TARGET):
        yield span, ""


def chunk_canvas(path: str, text: str) -> Draft:
    """Return a chunk for each text node; their spans are the whole file."""
    canvas = parse_canvas(text)
    title = PurePosixPath(path).stem
    cards = _cards(canvas)
    lang = detect(" \n".join(cards))
    chunks = [
        replace(new_chunk(title, card[start:end], (0, len(text))), lang=detect(card, lang))
        for card in cards
        for start, end in split(card, (0, len(card)), TARGET)
    ]
    return Draft(tuple(chunks), title, "", lang, faults_of(path, canvas.faults))


def _cards(canvas: Canvas) -> list[str]:
    """Return what the text nodes say, without private passages: one may reach over several."""
    whole = blank_passages("\n\n".join(node.text for node in canvas.nodes))
    cards, at = [], 0
    for node in canvas.nodes:
        cards.append(whole[at : at + len(node.text)])
        at += len(node.text) + len("\n\n")
    return cards


def _tree(note: Note, text: str) -> _Section:
    """Return the note's sections as a tree; its root holds what stands above all headings."""
    size = len(text)
    root = _Section(0, "", "", note.body_start, size, size)
    open_sections = [root]
    for heading in note.headings:
        last = open_sections[-1]
        last.own_end = heading.start
        while open_sections[-1].level >= heading.level:
            open_sections.pop().end = heading.start
        parent = open_sections[-1]
        shown = " ".join(_MARKUP.sub(r"\1\2", COMMENT.sub("", heading.text)).split())
        section = _Section(heading.level, shown, heading.text, heading.start, size, size, parent)
        parent.children.append(section)
        open_sections.append(section)
    return root


def _pieces(section: _Section, text: str) -> Iterator[_Piece]:
    """Yield a section whole where it is short enough, else its own text, then its children."""
    if section.end - section.start <= WHOLE or not section.children:
        yield _Piece(section, (section.start, section.end))
        return
    own = text[section.start : section.own_end].strip()
    bare = "\n" not in own and own.lstrip("# ").startswith(section.raw)
    below = [_Piece(section, (section.start, section.own_end), bare)]
    for child in section.children:
        below += _pieces(child, text)
    yield from _joined(below)


def _joined(pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    """Yield the pieces; a small one joins the next, under the lower heading of parent and child."""
    current: _Piece | None = None
    for piece in pieces:
        if current is None:
            current = piece
        elif current.bare or (_small(current) and piece.span[1] - current.span[0] <= TARGET):
            section = piece.section if _above(current.section, piece.section) else current.section
            current = _Piece(section, (current.span[0], piece.span[1]), piece.bare)
        else:
            yield current
            current = piece
    if current is not None:
        yield current


def _small(piece: _Piece) -> bool:
    return piece.span[1] - piece.span[0] < SMALL


def _above(upper: _Section, lower: _Section) -> bool:
    at: _Section | None = lower
    while at is not None and at is not upper:
        at = at.parent
    return at is upper


def _flat(section: _Section) -> Iterator[_Section]:
    yield section
    for child in section.children:
        yield from _flat(child)


def _section_chunk(text: str, note: Note, title: str, section: _Section, span: Span) -> Chunk:
    headings = section.path()
    if headings[:1] == [title]:
        headings = headings[1:]
    shown = TITLE_JOINT.join([title, *headings])
    return new_chunk(
        shown, uncommented(text, span, note.comments), span, heading_anchor(section.raw)
    )


def _with_properties(chunks: list[Chunk], note: Note, title: str) -> list[Chunk]:
    """Return the chunks that have text, the properties before the first or on their own."""
    chunks = [chunk for chunk in chunks if chunk.text]
    properties = _properties_text(note)
    if not properties:
        return chunks
    if chunks and len(properties) + len(chunks[0].text) <= WHOLE:
        first = chunks[0]
        return [replace(first, text=f"{properties}\n\n{first.text}", start=0), *chunks[1:]]
    return [new_chunk(title, properties, (0, note.body_start)), *chunks]


def _properties_text(note: Note) -> str:
    lines = []
    for key, value in note.properties.items():
        shown = _value_text(value)
        if shown and key.lower() not in _UNSHOWN and shown != note.title_property:
            lines.append(f"{key}: {shown}"[:_MAX_PROPERTY])
    return "\n".join(lines)


def _value_text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value_text(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(filter(None, map(_value_text, value)))
    return " ".join(str(value).split()) if value is not None else ""


def _time_of(path: str, note: Note) -> str:
    """Return the date that a daily note's name or a property gives, as ISO; else nothing."""
    named = _DATE.match(PurePosixPath(path).stem)
    if named:
        return named.group()
    for key in _DATE_KEYS:
        value = _DATE.match(str(note.properties.get(key, "")).strip())
        if value:
            return value.group()
    return ""
