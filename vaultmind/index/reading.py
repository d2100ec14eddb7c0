"""A file, or a part of it, as it is shown: without comments, and without what is hidden."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from vaultmind.index.notes import TASK, Form, Span, uncommented
from vaultmind.index.ties import heading_anchor
from vaultmind.vault.markdown import Note, parse_canvas, parse_note
from vaultmind.vault.parts import bullets, hidden_spans
from vaultmind.vault.transcript import PlacedMessage, parse_session

_BLOCK_ID = re.compile(r"(?<![ \t])[ \t]+\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")


@dataclass(frozen=True, slots=True)
class Part:
    """What is to be read: a file of some form, or what an anchor (without `#`) names in it."""

    title: str
    anchor: str
    form: Form
    hides: Callable[..., bool]
    """Tells by a message's names, or a block's, whether it is forgotten."""


@dataclass(frozen=True, slots=True)
class Read:
    """A text to show, its title, and the time it speaks from, where there is one."""

    text: str
    title: str
    time: str = ""


def read_part(part: Part, text: str) -> Read | None:
    """Return the text of a part as it is shown; None where the anchor names nothing."""
    if part.form == "session":
        return _session(part, text)
    if part.form == "canvas":
        cards = "\n\n".join(filter(None, parse_canvas(text)[0]))
        return None if part.anchor else Read(cards, part.title)
    if part.form == "brain" and part.anchor.startswith("^"):
        return _fact(part, text)
    return _note(part, text)


def _session(part: Part, text: str) -> Read | None:
    transcript = parse_session(text)
    block = part.anchor.removeprefix("^")
    shown = [
        placed
        for placed in transcript.messages
        if not placed.message.asked  # kept as evidence, not as conversation
        and not placed.message.erased
        and not part.hides(placed.message.id, placed.message.block)
        and (not block or placed.message.block == block)
    ]
    if not shown and block:
        return None
    time = shown[0].message.time if block else transcript.meta.started
    return Read("\n\n".join(map(_said, shown)), part.title, time)


def _said(placed: PlacedMessage) -> str:
    message = placed.message
    who = " · ".join(one for one in (message.speaker or message.role, message.time) if one)
    return f"{who}\n{message.text}"


def _fact(part: Part, text: str) -> Read | None:
    block = part.anchor.removeprefix("^")
    for bullet in bullets(text):
        if bullet.block == block:
            return Read(bullet.text, bullet.heading or part.title)
    return None


def _note(part: Part, text: str) -> Read | None:
    note = parse_note(text)
    span = (0, len(text)) if not part.anchor else _span(note, part.anchor, len(text))
    if span is None:
        return None
    hidden = hidden_spans(note, part.hides) if part.form in ("summary", "episode") else ()
    if part.form == "episode" and part.hides(TASK):
        titles = (one for one in note.headings if one.level == 1)
        hidden = (*hidden, *((one.start, one.end) for one in titles))
    if part.form == "episode" and part.anchor == f"^{TASK}":
        span = (min((one.start for one in note.headings), default=span[0]), span[1])
    if any(start <= span[0] < end for start, end in hidden):
        return None
    shown = uncommented(text, span, sorted((*note.comments, *hidden)))
    if part.form != "note":
        shown = _BLOCK_ID.sub("", shown)
    return Read(_BLANK_LINES.sub("\n\n", shown).strip(), note.title_property or part.title)


def _span(note: Note, anchor: str, size: int) -> Span | None:
    """Return the span of a block, or of a heading with all below it."""
    if anchor.startswith("^"):
        blocks = (block for block in note.blocks if f"^{block.id}" == anchor)
        block = next(blocks, None)
        return (block.start, block.end) if block else None
    wanted = heading_anchor(anchor.rpartition("#")[2]).casefold()
    for at, heading in enumerate(note.headings):
        if heading_anchor(heading.text).casefold() == wanted:
            below = (one.start for one in note.headings[at + 1 :] if one.level <= heading.level)
            return heading.start, next(below, size)
    return None
