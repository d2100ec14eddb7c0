"""Fetch: the whole text behind a hit or a path, fresh from disk, through the outlet.

It is shown without comments, and without what is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import NamedTuple

from vaultmind import tokens
from vaultmind.errors import NotFound
from vaultmind.index import notes
from vaultmind.index.db import Database, chunks_of
from vaultmind.index.notes import TASK, Form, Place, Span, heading_anchor
from vaultmind.index.outlet import Outlet
from vaultmind.redact import blank_passages, mask
from vaultmind.types import Caller, Kind, LinkedKind, Message
from vaultmind.vault.markdown import Note, parse_canvas, parse_note
from vaultmind.vault.parts import BLOCK_AT_END, bullets, hidden_spans
from vaultmind.vault.transcript import parse_session

LETTERS_PER_TOKEN = 16
"""More than texts have: so much is looked at for what fits a budget."""
_INK = re.compile(r"\S")
_ID = re.compile(r"[0-9a-f]{20}")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
Hides = Callable[..., bool]
"""Tells by a message's names, or a block's, whether it is forgotten."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A text, or as much of it as the budget holds."""

    path: str
    anchor: str
    kind: Kind | LinkedKind
    agent: str
    title: str
    text: str
    time: str
    tokens: int
    """Of `text`."""
    next_offset: int | None
    """Where to go on; None at the end."""


class Part(NamedTuple):
    """A text to show, its title, and the time it speaks from, where there is one."""

    text: str
    title: str
    time: str = ""


class Fetch:
    """Reads what a hit's id or a path names. Any thread."""

    def __init__(self, database: Database, outlet: Outlet) -> None:
        self._database = database
        self._outlet = outlet

    def fetch(
        self, id_or_path: str, caller: Caller, *, max_tokens: int = 2000, offset: int = 0
    ) -> Fetched:
        """Return the text of a hit's section or message, of `Note.md`, or of `Note.md#Heading`.

        Raises NotFound for what is not there or not shown to the caller: the answer is the same.
        """
        name = id_or_path.strip()
        path, anchor = self._named(name, caller)
        place = self._outlet.folder.place_of(path)
        if place is None or not self._outlet.shows(path, caller):
            raise _not_found(name)
        found = self._read(path, anchor.lstrip("#"), place)
        if found is None:
            raise NotFound(
                f"{path} has no part {anchor!r} (any more): the file may have changed since.",
                hint=f"Fetch {path!r} for all of it.",
            )
        text, title = (mask(one).text for one in found[:2])
        piece, after = _piece(text, offset, max_tokens)
        cost, kind = tokens.count(piece), place.kind
        return Fetched(path, anchor, kind, place.agent, title, piece, found.time, cost, after)

    def _read(self, path: str, anchor: str, place: Place) -> Part | None:
        """Return a file, or what an anchor names in it; None where that is nothing."""
        text, form = self._outlet.reader.read(path).text, place.form
        text = text if form == "canvas" else blank_passages(text)
        if form in ("code", "text", "data"):
            shown = self._outlet.folder.defined(path, text, anchor) if anchor else text
            return None if shown is None else Part(shown, path)
        record, title = path.removesuffix(".md"), PurePosixPath(path).stem
        hides = partial(self._outlet.hides, place.agent, title if form == "session" else record)
        if form == "session":
            return _session(text, title, anchor, hides)
        if form == "canvas":
            cards = "\n\n".join(filter(None, parse_canvas(text)[0]))
            return None if anchor else Part(cards, title)
        if form == "brain" and anchor.startswith("^"):
            facts = (one for one in bullets(text) if f"^{one.block}" == anchor)
            return next((Part(one.text, one.heading or title) for one in facts), None)
        return _note(text, form, title, anchor, hides)

    def _named(self, name: str, caller: Caller) -> tuple[str, str]:
        """Return the path and anchor that an id, a path or a note's name stands for."""
        if _ID.fullmatch(name):
            with self._database.read() as connection:
                chunks = chunks_of(connection, [name], "id").values()
            for chunk in filter(self._outlet.shown_to(caller), chunks):
                return chunk.path, chunk.anchor
            raise _not_found(name)
        wanted = name.removeprefix("[[").removesuffix("]]").partition("|")[0]
        path, mark, anchor = wanted.partition("#")
        for found, part in ((wanted, ""), (path, mark + anchor), (f"{path}.md", mark + anchor)):
            if found and self._outlet.reader.exists(found):
                return found, part
        named = "SELECT path FROM files WHERE name = ? AND path LIKE '%.md'"
        with self._database.read() as connection:
            rows = connection.execute(named, (notes.name_of(path),)).fetchall()
        paths = [one for (one,) in rows if not self._outlet.paths.in_memory(one)]
        if len(paths) != 1 or "/" in path:
            raise _not_found(name)
        return paths[0], mark + anchor


def _session(text: str, title: str, anchor: str, hides: Hides) -> Part | None:
    transcript, block = parse_session(text), anchor.removeprefix("^")
    told = [one.message for one in transcript.messages if block in ("", one.message.block)]
    said = [one for one in told if not (one.asked or one.erased)]  # asked: evidence, no talk
    shown = [one for one in said if not hides(one.id, one.block)]
    if not shown and block:
        return None
    time = shown[0].time if block else transcript.meta.started
    return Part("\n\n".join(map(_told, shown)), title, time)


def _told(message: Message) -> str:
    who = " · ".join(one for one in (message.speaker or message.role, message.time) if one)
    return f"{who}\n{message.text}"


def _note(text: str, form: Form, title: str, anchor: str, hides: Hides) -> Part | None:
    note = parse_note(text)
    span = _span(note, text, anchor) if anchor else (0, len(text))
    if span is None:
        return None
    hidden = hidden_spans(note, hides) if form in ("summary", "episode") else ()
    if form == "episode" and hides(TASK):
        titles = (one for one in note.headings if one.level == 1)
        hidden = (*hidden, *((one.start, one.end) for one in titles))
    if form == "episode" and anchor == f"^{TASK}":
        span = (min((one.start for one in note.headings), default=span[0]), span[1])
    if any(start <= span[0] < end for start, end in hidden):
        return None
    shown = notes.uncommented(text, span, (*note.tree.comments, *hidden))
    if form != "note":
        shown = BLOCK_AT_END.sub("", shown)
    return Part(_BLANK_LINES.sub("\n\n", shown).strip(), note.title_property or title)


def _span(note: Note, text: str, anchor: str) -> Span | None:
    """Return the span of a block, or of a heading with all below it."""
    if anchor.startswith("^"):
        blocks = (one for one in note.blocks if f"^{one.id}" == anchor)
        return next(((one.start, one.end) for one in blocks), None)
    wanted = heading_anchor(anchor.rpartition("#")[2]).casefold()
    sections = notes.sections(note, text)
    named = (one for one in sections if heading_anchor(one.raw).casefold() == wanted)
    return next(((one.start, one.end) for one in named), None)


def _piece(text: str, offset: int, max_tokens: int) -> tuple[str, int | None]:
    """Return what fits of a text from an offset on, and where to go on; None at the end."""
    window = text[offset : offset + max_tokens * LETTERS_PER_TOKEN]
    piece = tokens.clip(window, max_tokens, mark="") or window[:1]
    rest = _INK.search(text, offset + len(piece))
    return piece, rest.start() if rest else None


def _not_found(name: str) -> NotFound:
    return NotFound(
        f"There is nothing to fetch under {name[:200]!r}.",
        hint="Search again for a current id, or give a path like 'Folder/Note.md#Heading'.",
    )
