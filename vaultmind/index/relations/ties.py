"""What ties files to each other, as rows: what each is called, links to, and is tagged with.

Read from the chunks as they are stored, so that a question reads no file to follow a link.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from vaultmind.index.chunking.memory import heading_anchor
from vaultmind.types import Chunk
from vaultmind.vault.inline import Link, links_in

MOST_TIES = 500
"""Of one file: what links to more is a list of everything, and ties nothing together."""
_COLUMNS = "kind, name, target, anchor, chunk"
_INSERT = f"INSERT INTO ties (path, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Tie:
    """A row of a file. `kind`: `name` is what it is called, the others lead elsewhere."""

    kind: str
    """`name`, `link` or `tag`."""
    name: str
    """Folded: a tag, or the last part of a path, without `.md`."""
    target: str = ""
    """Of a link that names folders: all of its path, folded, without `.md`."""
    anchor: str = ""
    """Of a link: the heading or block it leads to, as `Chunk.anchor` has it."""
    chunk: str = ""
    """Of a link: the id of the chunk it stands in."""


def store_ties(
    connection: sqlite3.Connection, path: str, chunks: Sequence[Chunk], *, is_there: bool = True
) -> None:
    """Bring a file's rows to what its chunks say. Inside the caller's transaction."""
    wanted = dict.fromkeys(_ties(path, chunks) if is_there else ())
    rows = connection.execute(f"SELECT rowid, {_COLUMNS} FROM ties WHERE path = ?", (path,))
    held = {Tie(*row[1:]): row[0] for row in rows.fetchall()}
    gone = [(rowid,) for tie, rowid in held.items() if tie not in wanted]
    connection.executemany("DELETE FROM ties WHERE rowid = ?", gone)
    new = [tie for tie in wanted if tie not in held]
    connection.executemany(
        _INSERT, [(path, one.kind, one.name, one.target, one.anchor, one.chunk) for one in new]
    )


def name_of(path: str) -> str:
    """Return what a link calls a file at the least: its name, folded, without `.md`."""
    return folded(path).rpartition("/")[2]


def folded(path: str) -> str:
    """Return a path, or what a link says, as names are compared: Obsidian ignores case."""
    return unicodedata.normalize("NFC", path).casefold().removesuffix(".md")


def leads_to(target: str, path: str) -> bool:
    """Tell whether a link that names folders means a path; one that names none means any."""
    return not target or f"/{folded(path)}".endswith(f"/{target}")


def _ties(path: str, chunks: Sequence[Chunk]) -> Iterator[Tie]:
    yield Tie("name", name_of(path))
    yield from islice(chain(_tags(chunks), _links(path, chunks)), MOST_TIES)


def _tags(chunks: Sequence[Chunk]) -> Iterator[Tie]:
    """Yield a file's tags; a nested one ties it to whoever has what it is nested in."""
    for tag in dict.fromkeys(tag for chunk in chunks for tag in chunk.tags):
        parts = tag.split("/")
        for depth in range(len(parts), 0, -1):
            yield Tie("tag", "/".join(parts[:depth]))


def _links(path: str, chunks: Iterable[Chunk]) -> Iterator[Tie]:
    own = name_of(path)
    for chunk in chunks:
        for link in links_in(chunk.text):
            name = name_of(link.target)
            if name and name != own:
                yield Tie("link", name, _target(link), _anchor(link), chunk.id)


def _target(link: Link) -> str:
    parts = [part for part in folded(link.target).split("/") if part not in ("", ".", "..")]
    return "/".join(parts) if len(parts) > 1 else ""


def _anchor(link: Link) -> str:
    if link.block:
        return f"#^{link.block}"
    return heading_anchor(link.heading.rpartition("#")[2])
