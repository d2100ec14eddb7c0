"""The parts of a summary that can be hidden: paragraphs, list items, quotations, each by its id.

A part is known by its block id (`^f3k9`, as Obsidian has it). The id stays when the text around
it moves or the part itself is edited, and tells nothing of what the part says.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from vaultmind.vault.bullets import COMMENT
from vaultmind.vault.files import newline_of
from vaultmind.vault.markdown import BlockId, Note, parse_note

Span = tuple[int, int]

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
    spans = [*note.items]
    spans += [(unit.start, unit.end) for unit in note.units if unit.kind in ("paragraph", "quote")]
    return tuple(
        _part(text, note, span)
        for span in sorted(spans)
        if not _ID_ALONE.fullmatch(text[span[0] : span[1]])
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


def block_spans(note: Note) -> tuple[tuple[BlockId, Span], ...]:
    """Return the named blocks of a note, each with its span up to the end of its id."""
    return tuple(
        (block, (block.start, block.mark + 1 + len(block.id)))
        for block in sorted(note.blocks, key=lambda one: one.start)
    )


def hidden_spans(note: Note, hides: Callable[[str], bool]) -> tuple[Span, ...]:
    """Return the spans of the named blocks that are hidden, by their ids."""
    return tuple(span for block, span in block_spans(note) if hides(block.id))


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
