"""Fetch: the whole text behind a hit or a path, fresh from disk, through the outlet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from vaultmind import tokens
from vaultmind.errors import BadArgument, NotFound
from vaultmind.index.db import Database, chunks_with_ids
from vaultmind.index.notes import Place
from vaultmind.index.outlet import Outlet
from vaultmind.index.reading import Part, Read
from vaultmind.index.ties import name_of
from vaultmind.types import Caller, Kind, LinkedKind

LETTERS_PER_TOKEN = 8
"""More than most texts have: so much is looked at first for what fits a budget."""
_INK = re.compile(r"\S")
_ID = re.compile(r"[0-9a-f]{20}")


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


class Fetch:
    """Reads what a hit's id or a path names. Any thread."""

    def __init__(self, database: Database, outlet: Outlet) -> None:
        self._database = database
        self._outlet = outlet

    def fetch(
        self, id_or_path: str, caller: Caller, *, max_tokens: int = 2000, offset: int = 0
    ) -> Fetched:
        """Return the text of a hit's section or message, of `Note.md`, or of `Note.md#Heading`.

        Raises NotFound for what is not there or not shown to the caller (the answer is the same),
        BadArgument for an offset or budget that is none.
        """
        if offset < 0:
            raise BadArgument("offset", offset, "0 or more")
        if max_tokens < 1:
            raise BadArgument("max_tokens", max_tokens, "1 or more")
        name = id_or_path.strip()
        path, anchor = self._named(name, caller)
        place = self._outlet.folder.place_of(path)
        if place is None or not self._outlet.shows(path, caller):
            raise _not_found(name)
        read = self._read(path, anchor, place)
        piece, after = _piece(self._outlet.clean(read.text), offset, max_tokens)
        return Fetched(
            path=path,
            anchor=anchor,
            kind=place.kind,
            agent=place.agent,
            title=self._outlet.clean(read.title),
            text=piece,
            time=read.time,
            tokens=tokens.count(piece),
            next_offset=after,
        )

    def _read(self, path: str, anchor: str, place: Place) -> Read:
        file = self._outlet.reader.read(path)
        record = path.removesuffix(".md")
        if place.form == "session":
            record = record.rpartition("/")[2]

        def hides(*names: str) -> bool:
            return self._outlet.hides(place.agent, record, *names)

        part = Part(PurePosixPath(path).stem, anchor.lstrip("#"), place.form, hides)
        found = self._outlet.folder.read(path, part, file.text)
        if found is None:
            raise NotFound(
                f"{path} has no part {anchor!r} (any more): the file may have changed since.",
                hint=f"Fetch {path!r} for all of it.",
            )
        return found

    def _named(self, name: str, caller: Caller) -> tuple[str, str]:
        """Return the path and anchor that an id, a path or a note's name stands for."""
        if _ID.fullmatch(name):
            with self._database.read() as connection:
                chunk = chunks_with_ids(connection, [name]).get(name)
            if chunk is None or not self._outlet.shown_to(caller)(chunk):
                raise _not_found(name)
            return chunk.path, chunk.anchor
        wanted = name.removeprefix("[[").removesuffix("]]").partition("|")[0]
        path, mark, anchor = wanted.partition("#")
        for found, part in ((wanted, ""), (path, mark + anchor), (f"{path}.md", mark + anchor)):
            if found and self._outlet.reader.exists(found):
                return found, part
        named = "SELECT path FROM ties WHERE kind = 'name' AND name = ? AND path LIKE '%.md'"
        with self._database.read() as connection:
            paths = [row[0] for row in connection.execute(named, (name_of(path),))]
        notes = [one for one in paths if not self._outlet.paths.in_memory(one)]
        if len(notes) != 1 or "/" in path:
            raise _not_found(name)
        return notes[0], mark + anchor


def _piece(text: str, offset: int, max_tokens: int) -> tuple[str, int | None]:
    """Return what fits of a text from an offset on, and where to go on; None at the end."""
    size = max_tokens * LETTERS_PER_TOKEN
    while offset + size < len(text) and tokens.count(text[offset : offset + size]) <= max_tokens:
        size *= 2
    window = text[offset : offset + size]
    piece = tokens.clip(window, max_tokens, mark="") or window[:1]
    rest = _INK.search(text, offset + len(piece))
    return piece, rest.start() if rest else None


def _not_found(name: str) -> NotFound:
    return NotFound(
        f"There is nothing to fetch under {name[:200]!r}.",
        hint="Search again for a current id, or give a path like 'Folder/Note.md#Heading'.",
    )
