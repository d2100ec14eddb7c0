"""The parts of a text that have an id of their own: a brain's bullets, a summary's paragraphs.

Bullets are read leniently, whoever typed them. A part is known by its block id (`^f3k9`, as
Obsidian has it): it stays when the text around it moves or the part itself is edited, and tells
nothing of what the part says.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vaultmind.vault.files import newline_of
from vaultmind.vault.markdown import Note, Span, blocks_of, parse_note
from vaultmind.vault.oneline import unescape
from vaultmind.vault.properties import body_start

# --- bullets ----------------------------------------------------------------------------

MARKER = re.compile(r"(?:(?<![ \t])[ \t]+)?(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?(?=\S)")
"""A bullet's indent, mark and tick box."""
HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
COMMENT = re.compile(r"(?:(?<![ \t])[ \t]+)?%%.*?%%", re.DOTALL)
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
BLOCK_AT_END = re.compile(r"(?<![ \t])[ \t]+\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
_BLOCK = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Bullet:
    """A list item with the indented lines that continue it.

    `start` and `end` are offsets in the text: from the first character of its first line to
    the end of its last line, without the newline.
    """

    text: str
    """One line, as a reader sees it: marker, comments and block id taken out."""
    raw: str
    block: str
    """The block id without `^`; empty where there is none."""
    start: int
    end: int
    heading: str
    """The nearest heading above it; empty where there is none."""


def bullets(text: str) -> tuple[Bullet, ...]:
    """Return every bullet outside front matter, code fences and comments, in order."""
    found: list[Bullet] = []
    heading, first, last = "", -1, -1

    def add() -> None:
        raw = text[first:last] if first >= 0 else ""
        shown, block = plain(MARKER.sub("", raw, count=1))
        if shown:
            found.append(Bullet(unescape(shown), raw, block, first, last, heading))

    for start, end, line in prose(text):
        marker = MARKER.match(line)
        indented = line[:1] in (" ", "\t") and line.strip() and not marker
        if indented and first >= 0 and start <= last + len("\r\n"):
            last = end
            continue
        add()
        first = -1
        if title := HEADING.match(line):
            heading = plain(title[1])[0]
        elif marker and not _RULE.match(line):
            first, last = start, end
    add()
    return tuple(found)


def plain(raw: str) -> tuple[str, str]:
    """Return a line as a reader sees it and its block id: no `%%comment%%`, no ` ^id`."""
    shown = COMMENT.sub("", raw)
    block = _BLOCK.search(shown.rstrip())
    if block:
        shown = shown[: block.start()]
    return " ".join(shown.split()), block.group(1) if block else ""


def prose(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, line) of each line that is no front matter, code or whole comment.

    The line that a comment begins in is given, those below it within the comment are not. A
    comment that never closes is text: a mark that was forgotten hides no fact.
    """
    body = body_start(text)
    blocks = blocks_of(text, body)
    closed = [span for span in blocks.comments if text.endswith("%%", span[0] + 2, span[1])]
    hidden = [(start + 1, end) for start, end in closed]
    hidden = sorted([*hidden, *((start, end + 1) for start, end in blocks.fences)])
    at = 0
    for match in _LINE.finditer(text, body):
        start = match.start()
        while at < len(hidden) and hidden[at][1] <= start:
            at += 1
        if at == len(hidden) or start < hidden[at][0]:
            line = match.group().rstrip("\r\n")
            yield start, start + len(line), line


# --- parts that can be hidden -----------------------------------------------------------

_ID_ALONE = re.compile(r"\^[A-Za-z0-9-]+\s*")


@dataclass(frozen=True, slots=True)
class Part:
    """A paragraph, a list item without those inside it, a quotation."""

    text: str
    start: int
    end: int
    block: str
    """Its id without `^`; empty where it has none."""


def parts(text: str) -> tuple[Part, ...]:
    """Return every part of a text that may have an id of its own, in order."""
    note = parse_note(text)
    alone = [one for one in note.tree.units if one.kind in ("paragraph", "quote")]
    spans = sorted([*note.tree.items, *((one.start, one.end) for one in alone)])
    return tuple(
        _part(text, note, span) for span in spans if not _ID_ALONE.fullmatch(text[slice(*span)])
    )


def name_part(text: str, part: Part, block: str) -> str:
    """Return the text with an id for a part that has none; as it was where none can stand.

    The id ends the part's last line, or stands below what must not be written into: quotations
    and tables.
    """
    newline = newline_of(text)
    end = part.start + len(text[part.start : part.end].rstrip())
    rest = text[end:]
    gap = "" if not rest.strip() or rest.lstrip(" \t").startswith(newline * 2) else newline
    last = text[part.start : end].rpartition("\n")[2].lstrip()
    ours = text[part.start] not in ">|" and last[:1] not in (">", "|")
    named = text[:end] + (f" ^{block}{rest}" if ours else f"{newline * 2}^{block}{gap}{rest}")
    said = COMMENT.sub("", part.text)
    fits = any(one.block == block and COMMENT.sub("", one.text) == said for one in parts(named))
    return named if fits else text


def content_block(words: str) -> str:
    """Return a block id that is made of a paragraph's words: the same ones have the same id."""
    return "p" + hashlib.blake2b(words.encode(), digest_size=5).hexdigest()


def hidden_spans(note: Note, hides: Callable[[str], bool]) -> tuple[Span, ...]:
    """Return the spans of the named blocks that are hidden, by their ids."""
    return tuple((one.start, one.stop) for one in note.blocks if hides(one.id))


def without_hidden(text: str, hides: Callable[[str], bool]) -> str:
    """Return the text without the named blocks that are hidden."""
    for start, end in reversed(hidden_spans(parse_note(text), hides)):
        text = text[:start] + text[end:]
    return text


def _part(text: str, note: Note, span: Span) -> Part:
    start, end = span
    known = (one for one in note.blocks if one.start == start and one.end <= end)
    block = next(known, None)
    if block is None:
        return Part(text[start:end].rstrip(), start, end, "")
    return Part(text[start : min(end, block.end)].rstrip(), start, end, block.id)
