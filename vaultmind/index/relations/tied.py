"""Which files the ties of a file lead to, as rows of the database say. No file is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from vaultmind.index.relations.ties import leads_to, name_of
from vaultmind.index.vectors.cached import marks
from vaultmind.types import Hit, TieName

MOST_LINKING = 40
"""Files that link to one: more say that everything does, and nothing about any of them."""
MOST_TAGGED = 20
"""Files that have a tag, likewise."""


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


def leads_of(connection: sqlite3.Connection, hit: Hit) -> Iterator[Lead]:
    """Yield the ties of a hit: its links, the links to it and, of a note, its tags."""
    yield from _links(connection, hit)
    yield from _backlinks(connection, hit)
    if hit.kind == "note":
        yield from _tagged(connection, hit)


def _links(connection: sqlite3.Connection, hit: Hit) -> Iterator[Lead]:
    """Yield what a hit links to: those of its own chunk are fewer, and so say more."""
    rows = connection.execute(
        "SELECT name, target, anchor, chunk FROM ties WHERE path = ? AND kind = 'link'",
        (hit.path,),
    ).fetchall()
    inside = {row[:3] for row in rows if row[3] == hit.id}
    outside = {row[:3] for row in rows} - inside if hit.kind == "note" else set()
    named = _named(connection, {name for name, _, _ in (*inside, *outside)})
    for links, others in ((inside, len(inside) - 1), (outside, len(inside) + len(outside) - 1)):
        for name, target, anchor in sorted(links):
            path = _meant(named.get(name, ()), target, hit.path)
            if path and path != hit.path:
                yield Lead("link", hit.id, path, others, anchor)


def _backlinks(connection: sqlite3.Connection, hit: Hit) -> Iterator[Lead]:
    """Yield what links to a hit's note, or to the very message or fact that it is."""
    name = name_of(hit.path)
    rows = connection.execute(
        "SELECT path, target, anchor, chunk FROM ties WHERE name = ? AND kind = 'link'"
        " ORDER BY path, rowid LIMIT ?",
        (name, MOST_LINKING + 1),
    ).fetchall()
    if not 0 < len(rows) <= MOST_LINKING:
        return
    named = _named(connection, {name})[name]
    linking: dict[str, str] = {}
    for path, target, anchor, chunk in rows:
        is_it = hit.kind == "note" or anchor in ("", hit.anchor)
        if path != hit.path and is_it and _meant(named, target, path) == hit.path:
            linking.setdefault(path, chunk)
    counts = connection.execute(
        "SELECT path, count(DISTINCT name) FROM ties WHERE kind = 'link'"
        f" AND path IN ({marks(linking)}) GROUP BY path",
        tuple(linking),
    )
    for path, links in counts.fetchall():
        others = max(len(linking), links) - 1
        yield Lead("backlink", hit.id, path, others, chunk=linking[path])


def _tagged(connection: sqlite3.Connection, hit: Hit) -> Iterator[Lead]:
    """Yield the notes that share a tag with a hit's note; under the most special one."""
    rows = connection.execute(
        "SELECT name FROM ties WHERE path = ? AND kind = 'tag'", (hit.path,)
    ).fetchall()
    for (tag,) in rows:
        paths = [
            row[0]
            for row in connection.execute(
                "SELECT DISTINCT path FROM ties WHERE name = ? AND kind = 'tag' LIMIT ?",
                (tag, MOST_TAGGED + 2),
            )
            if row[0] != hit.path
        ]
        if len(paths) <= MOST_TAGGED:
            yield from (Lead("tag", hit.id, path, len(paths) - 1, name=tag) for path in paths)


def _named(connection: sqlite3.Connection, names: Collection[str]) -> dict[str, list[str]]:
    """Return the files that have each of some names."""
    rows = connection.execute(
        f"SELECT name, path FROM ties WHERE name IN ({marks(names)}) AND kind = 'name'",
        tuple(names),
    )
    found: dict[str, list[str]] = {name: [] for name in names}
    for name, path in rows:
        found[name].append(path)
    return found


def _meant(paths: Iterable[str], target: str, source: str) -> str:
    """Return the file that a link means, as Obsidian would: beside it, else the shortest path."""
    fitting = (path for path in paths if leads_to(target, path))
    return min(fitting, key=lambda path: _distance(path, source), default="")


def _distance(path: str, source: str) -> tuple[bool, int, str]:
    beside = path.rpartition("/")[0] == source.rpartition("/")[0]
    return not beside, path.count("/"), path
