"""Which files the ties of a file lead to, as rows of the database say. No file is read."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vaultmind.index.ties import leads_to, name_of
from vaultmind.types import Hit, TieName

MOST_LINKING = 40
"""Files that link to one: more say that everything does, and nothing about any of them."""
MOST_TAGGED = 20
"""Files that have a tag, likewise."""
MOST_NAMED = 50
"""Files of one name that are told apart."""


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
    for links, others in ((inside, len(inside) - 1), (outside, len(inside) + len(outside) - 1)):
        for name, target, anchor in sorted(links):
            path = _resolved(connection, name, target, hit.path)
            if path and path != hit.path:
                yield Lead("link", hit.id, path, others, anchor)


def _backlinks(connection: sqlite3.Connection, hit: Hit) -> Iterator[Lead]:
    """Yield what links to a hit's note, or to the very message or fact that it is."""
    rows = connection.execute(
        "SELECT path, target, anchor, chunk FROM ties WHERE name = ? AND kind = 'link'"
        " ORDER BY path, rowid LIMIT ?",
        (name_of(hit.path), MOST_LINKING + 1),
    ).fetchall()
    linking = [
        (path, chunk)
        for path, target, anchor, chunk in rows
        if path != hit.path
        and leads_to(target, hit.path)
        and (hit.kind == "note" or anchor in ("", hit.anchor))
        and _resolved(connection, name_of(hit.path), target, path) == hit.path
    ]
    if len(rows) > MOST_LINKING:
        return
    files = len({path for path, _ in linking})
    for path, chunk in dict(reversed(linking)).items():
        (links,) = connection.execute(
            "SELECT count(DISTINCT name) FROM ties WHERE path = ? AND kind = 'link'", (path,)
        ).fetchone()
        yield Lead("backlink", hit.id, path, max(files, links) - 1, chunk=chunk)


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


def _resolved(connection: sqlite3.Connection, name: str, target: str, source: str) -> str:
    """Return the file that a link means, as Obsidian would: beside it, else the shortest path."""
    rows = connection.execute(
        "SELECT path FROM ties WHERE name = ? AND kind = 'name' LIMIT ?", (name, MOST_NAMED)
    )
    paths = [row[0] for row in rows if leads_to(target, row[0])]
    return min(paths, key=lambda path: _distance(path, source), default="")


def _distance(path: str, source: str) -> tuple[bool, int, str]:
    beside = path.rpartition("/")[0] == source.rpartition("/")[0]
    return not beside, path.count("/"), path


def special_first(leads: Sequence[Lead]) -> list[Lead]:
    """Return leads, those first that say most; a file that several lead to before others."""
    times = Counter(lead.path for lead in leads)
    return sorted(leads, key=lambda lead: (lead.others - 2 * times[lead.path], lead.path))
