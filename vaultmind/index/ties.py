"""What ties files to each other, as rows: what each is called, links to, and is tagged with.

Read from the chunks as they are stored, so that a question reads no file to follow a link.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from vaultmind.types import Chunk, Hit, TieName
from vaultmind.vault.markdown import links_in

MOST_TIES = 500
"""Of one file: what links to more is a list of everything, and ties nothing together."""
MOST_LINKING, MOST_TAGGED = 40, 20
"""Files that link to one, or have a tag: more say nothing about any of them."""
_NO_LINK = re.compile(r"[#|^\[\]%:\\]+")


@dataclass(frozen=True, slots=True)
class Lead:
    """A tie from a hit to another file."""

    tie: TieName
    to: str
    """Id of the hit."""
    path: str
    others: int
    """How many more it leads to, or how many more lead here: the more, the less it says."""
    anchor: str = ""
    """Of the part of the file that is meant, where a link names one."""
    chunk: str = ""
    """The id of that part, where the link stands in it."""
    name: str = ""
    """The tag."""


def heading_anchor(heading: str) -> str:
    """Return the link part that Obsidian opens at a heading; empty for no heading."""
    name = " ".join(_NO_LINK.sub(" ", heading).split())
    return f"#{name}" if name else ""


def name_of(path: str) -> str:
    """Return what a link calls a file at the least: its name, folded, without `.md`."""
    return folded(path).rpartition("/")[2]


def folded(path: str) -> str:
    """Return a path, or what a link says, as names are compared: Obsidian ignores case."""
    return unicodedata.normalize("NFC", path).casefold().removesuffix(".md")


def store_ties(connection: sqlite3.Connection, path: str, chunks: Sequence[Chunk] | None) -> None:
    """Bring a file's rows to what its chunks say (kind, name, target, anchor, chunk), or drop them.

    `name` is what it is called; a `tag`, or the last part of the path of a `link`, lead elsewhere.
    `target` is all of a link's path where it names folders. Inside the caller's transaction.
    """
    connection.execute("DELETE FROM ties WHERE path = ?", (path,))
    if chunks is not None:
        rows = [
            ("name", name_of(path), "", "", ""),
            *islice(dict.fromkeys(_ties(path, chunks)), MOST_TIES),
        ]
        connection.executemany(
            "INSERT INTO ties (path, kind, name, target, anchor, chunk) VALUES (?, ?, ?, ?, ?, ?)",
            [(path, *row) for row in rows],
        )


def _ties(path: str, chunks: Sequence[Chunk]) -> Iterator[tuple[str, str, str, str, str]]:
    for tag in dict.fromkeys(tag for chunk in chunks for tag in chunk.tags):
        parts = tag.split("/")  # a nested tag ties to whoever has what it is nested in
        for depth in range(len(parts), 0, -1):
            yield "tag", "/".join(parts[:depth]), "", "", ""
    for chunk in chunks:
        for link in links_in(chunk.text):
            name = name_of(link.target)
            if name and name != name_of(path):
                parts = [one for one in folded(link.target).split("/") if one.strip(".")]
                target = "/".join(parts) if len(parts) > 1 else ""
                heading = link.heading.rpartition("#")[2]
                anchor = f"#^{link.block}" if link.block else heading_anchor(heading)
                yield "link", name, target, anchor, chunk.id


def leads_of(connection: sqlite3.Connection, hit: Hit) -> Iterator[Lead]:
    """Yield the ties of a hit: its links, the links to it and, of a note, its tags.

    A link to a message or fact means that very one.
    """
    is_note = hit.kind == "note"
    rows = connection.execute(
        "SELECT kind, name, target, anchor, chunk FROM ties WHERE path = ?", (hit.path,)
    ).fetchall()
    links = {row[1:4] for row in rows if row[0] == "link" and (is_note or row[4] == hit.id)}
    for name, target, anchor in sorted(links):
        path = _meant(connection, name, target, hit.path)
        if path and path != hit.path:
            yield Lead("link", hit.id, path, len(links) - 1, anchor)
    name = name_of(hit.path)
    linking: dict[str, str] = {}
    for path, target, anchor, chunk in _named(connection, "link", name, MOST_LINKING):
        is_it = path != hit.path and (is_note or anchor in ("", hit.anchor))
        if is_it and _meant(connection, name, target, path) == hit.path:
            linking.setdefault(path, chunk)
    for path, chunk in linking.items():
        yield Lead("backlink", hit.id, path, len(linking) - 1, chunk=chunk)
    for tag in (row[1] for row in rows if row[0] == "tag" and is_note):
        paths = {row[0] for row in _named(connection, "tag", tag, MOST_TAGGED + 1)} - {hit.path}
        for path in sorted(paths):
            yield Lead("tag", hit.id, path, len(paths) - 1, name=tag)


def _named(
    connection: sqlite3.Connection, kind: str, name: str, most: int
) -> list[tuple[str, str, str, str]]:
    """Return the ties of a kind to a name; none where there are more than so many."""
    rows = connection.execute(
        "SELECT path, target, anchor, chunk FROM ties WHERE name = ? AND kind = ?"
        " ORDER BY path, rowid LIMIT ?",
        (name, kind, most + 1),
    ).fetchall()
    return rows if len(rows) <= most else []


def _meant(connection: sqlite3.Connection, name: str, target: str, source: str) -> str:
    named = connection.execute("SELECT path FROM ties WHERE kind = 'name' AND name = ?", (name,))
    return meant((path for (path,) in named), target, source)


def meant(named: Iterable[str], target: str, source: str) -> str:
    """Return which of some files a link in another means, as Obsidian would: one beside it, else
    that of the shortest path.

    `target`: what their folded paths end in; empty for any. Empty where there is none.
    """
    here = source.rpartition("/")[0]
    return min(
        (one for one in named if not target or f"/{folded(one)}".endswith(f"/{target}")),
        key=lambda path: (path.rpartition("/")[0] != here, path.count("/"), path),
        default="",
    )
