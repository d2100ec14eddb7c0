"""What ties files to each other, as rows: what each is called, links to, and is tagged with.

Read from the chunks as they are stored, so that a question reads no file to follow a link.
"""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
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


def store_ties(
    connection: sqlite3.Connection, path: str, chunks: Sequence[Chunk], *, is_there: bool
) -> None:
    """Bring a file's rows to what its chunks say: (kind, name, target, anchor, chunk).

    `name` is what it is called; a `tag`, or the last part of the path of a `link`, lead elsewhere.
    `target` is all of a link's path where it names folders. Inside the caller's transaction.
    """
    connection.execute("DELETE FROM ties WHERE path = ?", (path,))
    if not is_there:
        return
    rows = [("name", name_of(path), "", "", "")]
    rows += islice(dict.fromkeys(_ties(path, chunks)), MOST_TIES)
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
                anchor = f"#^{link.block}" if link.block else heading_anchor(
                    link.heading.rpartition("#")[2]
                )  # fmt: skip
                yield "link", name, target, anchor, chunk.id


def leads_of(connection: sqlite3.Connection, hit: Hit) -> Iterator[Lead]:
    """Yield the ties of a hit: its links, the links to it and, of a note, its tags."""
    yield from _links(connection, hit)
    yield from _backlinks(connection, hit)
    tags = connection.execute(
        "SELECT name FROM ties WHERE path = ? AND kind = 'tag'", (hit.path,)
    ).fetchall()
    for (tag,) in tags if hit.kind == "note" else ():
        rows = connection.execute(
            "SELECT DISTINCT path FROM ties WHERE name = ? AND kind = 'tag' AND path <> ? LIMIT ?",
            (tag, hit.path, MOST_TAGGED + 1),
        ).fetchall()
        if len(rows) <= MOST_TAGGED:
            yield from (Lead("tag", hit.id, path, len(rows) - 1, name=tag) for (path,) in rows)


def _links(connection: sqlite3.Connection, hit: Hit) -> Iterator[Lead]:
    """Yield what a hit links to: those of its own chunk are fewer, and so say more."""
    rows = connection.execute(
        "SELECT name, target, anchor, chunk FROM ties WHERE path = ? AND kind = 'link'",
        (hit.path,),
    ).fetchall()
    inside = {row[:3] for row in rows if row[3] == hit.id}
    every = {row[:3] for row in rows} if hit.kind == "note" else inside
    named = _named(connection, {name for name, *_ in every})
    for name, target, anchor in sorted(every):
        path = _meant(named[name], target, hit.path)
        others = len(inside) if (name, target, anchor) in inside else len(every)
        if path and path != hit.path:
            yield Lead("link", hit.id, path, others - 1, anchor)


def _backlinks(connection: sqlite3.Connection, hit: Hit) -> Iterator[Lead]:
    """Yield what links to a hit's note, or to the very message or fact that it is."""
    name = name_of(hit.path)
    rows = connection.execute(
        "SELECT path, target, anchor, chunk FROM ties WHERE name = ? AND kind = 'link'"
        " ORDER BY path, rowid LIMIT ?",
        (name, MOST_LINKING + 1),
    ).fetchall()
    if len(rows) > MOST_LINKING:
        return
    named = _named(connection, {name})[name]
    linking: dict[str, str] = {}
    for path, target, anchor, chunk in rows:
        is_it = hit.kind == "note" or anchor in ("", hit.anchor)
        if path != hit.path and is_it and _meant(named, target, path) == hit.path:
            linking.setdefault(path, chunk)
    counts = connection.execute(
        "SELECT path, count(DISTINCT name) FROM ties WHERE kind = 'link'"
        " AND path IN (SELECT value FROM json_each(?)) GROUP BY path",
        (json.dumps(list(linking)),),
    )
    for path, links in counts.fetchall():
        others = max(len(linking), links) - 1
        yield Lead("backlink", hit.id, path, others, chunk=linking[path])


def _named(connection: sqlite3.Connection, names: Collection[str]) -> defaultdict[str, list[str]]:
    """Return the files that have each of some names."""
    rows = connection.execute(
        "SELECT name, path FROM ties WHERE kind = 'name'"
        " AND name IN (SELECT value FROM json_each(?))",
        (json.dumps(list(names)),),
    )
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name, path in rows:
        found[name].append(path)
    return found


def _meant(paths: Iterable[str], target: str, source: str) -> str:
    """Return the file that a link means, as Obsidian would: beside it, else the shortest path."""
    here = source.rpartition("/")[0]
    fitting = [one for one in paths if not target or f"/{folded(one)}".endswith(f"/{target}")]
    return min(
        fitting,
        key=lambda path: (path.rpartition("/")[0] != here, path.count("/"), path),
        default="",
    )
