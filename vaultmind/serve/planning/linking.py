"""The folders linked to a vault: linking them, which is the person's, and searching in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.errors import BadArgument, VaultNotFound
from vaultmind.index.ranker.names import of_a_file
from vaultmind.index.search.asked import folder_of
from vaultmind.serve.calls.operation import LOCAL, NOT_MCP, Operation
from vaultmind.serve.calls.requests import (
    MAX_LIMIT,
    MAX_OFFSET,
    MAX_TEXT,
    MAX_TOKENS,
    MAX_WORDS,
    NoArgs,
)
from vaultmind.serve.calls.schema import arg
from vaultmind.serve.memory import answers, render
from vaultmind.serve.planning.standing import Standing, standings
from vaultmind.types import Kind, LinkedKind, SearchRequest, SearchResponse

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.index.index import Index
    from vaultmind.index.search.fetch import Fetched
    from vaultmind.serve.calls.call import Call

LOOK_SECONDS = 1.0
"""After so long a folder that is waited for is looked at again: it may be gone."""
_SOURCE = "A linked folder's name or path, or `vault`."


@dataclass(frozen=True, slots=True)
class LinkArgs:
    """Arguments of link."""

    path: str = arg("Absolute path of the folder.", min=1, max=4096)
    name: str = arg("What to call it; default: after the folder.", default="", max=MAX_TEXT)


@dataclass(frozen=True, slots=True)
class UnlinkArgs:
    """Arguments of unlink."""

    name: str = arg("The linked folder's name or path.", min=1, max=4096)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSearchArgs:
    """Arguments of source_search; what is left out comes from the configuration."""

    source: str = arg(_SOURCE, min=1, max=4096)
    query: str = arg("A question or keywords, in any language.", max=MAX_WORDS, loose=True)
    limit: int | None = arg("Hits at most.", default=None, min=1, max=MAX_LIMIT)
    folder: str = arg("Only files below this folder of it.", default="", max=MAX_TEXT)
    per_note: int | None = arg("Hits of one file at most.", default=None, min=1, max=MAX_LIMIT)
    max_tokens: int | None = arg("Size of the answer.", default=None, min=50, max=MAX_TOKENS)
    offset: int = arg("Where to go on: the last next_offset.", default=0, min=0, max=MAX_OFFSET)
    explain: bool = arg("Say why each hit is there.", default=False)
    wait_seconds: float = arg("Wait so long for its index.", default=0.0, min=0.0, max=3600.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFetchArgs:
    """Arguments of source_fetch."""

    source: str = arg(_SOURCE, min=1, max=4096)
    id: str = arg("A hit's id, or a path like `src/cart.py#Cart.add`.", min=1, max=MAX_TEXT)
    max_tokens: int = arg("Size of the answer.", default=4000, min=50, max=MAX_TOKENS)
    offset: int = arg("Where to go on: next_offset of the last answer.", default=0, min=0)


@dataclass(frozen=True, slots=True)
class Linked:
    """The vault and what is linked to it."""

    sources: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class Unlinked:
    """What was unlinked."""

    name: str
    root: str


def listed(app: App, call: Call, args: NoArgs) -> Linked:
    """Return the vault and what is linked to it."""
    return Linked(standings(app))


def listed_words(response: Linked, mark: str) -> str:
    """Return a line for each source."""
    return "\n".join(f"{one.name}: {one.words}" for one in response.sources)


def link(app: App, call: Call, args: LinkArgs) -> Standing:
    """Link a folder and begin to index it."""
    if not Path(args.path).is_absolute():
        raise BadArgument("path", args.path, "an absolute path: the daemon has its own folder")
    name = app.sources.link(args.path, args.name).name
    return next(one for one in standings(app) if one.name == name and one.kind == "linked")


def link_words(response: Standing, mark: str) -> str:
    """Return what was linked."""
    return f"{response.root} is linked as {response.name}: {response.words}"


def unlink(app: App, call: Call, args: UnlinkArgs) -> Unlinked:
    """Unlink a folder and drop its index."""
    found = app.sources.unlink(args.name)
    return Unlinked(found.name, str(found.root))


def unlinked_words(response: Unlinked, mark: str) -> str:
    """Return what was unlinked."""
    return f"{response.name} ({response.root}) is no longer linked; its index is gone."


def search(app: App, call: Call, args: SourceSearchArgs) -> SearchResponse:
    """Search in one source."""
    source, defaults = app.sources.find(args.source), app.config.search
    if args.wait_seconds:
        wait_for(source.index, args.wait_seconds, call)
    request = SearchRequest(
        query=args.query,
        limit=args.limit or defaults.limit,
        folder=folder_of(args.folder, call.caller, source.index.outlet),
        per_note=args.per_note or defaults.per_note,
        max_tokens=args.max_tokens or defaults.max_tokens,
        offset=args.offset,
    )
    found = source.index.search(request, call.caller)
    if source.kind == "linked":
        hits = tuple(
            replace(hit, kind=_kind(hit.path), why=tuple(map(of_a_file, hit.why)))
            for hit in found.hits
        )
        found = replace(found, hits=hits)
    return replace(found, explained=args.explain)


def wait_for(index: Index, seconds: float, call: Call) -> None:
    """Wait until all texts are searchable; no longer than their folder can be used."""
    while seconds > 0 and not index.wait_ready(min(seconds, LOOK_SECONDS), report=call.report):
        seconds -= LOOK_SECONDS
        try:
            index.outlet.ground.check()
        except VaultNotFound:  # it may never come back; the state of the index says why
            return


def fetch(app: App, call: Call, args: SourceFetchArgs) -> Fetched:
    """Return the whole text of a hit or file of one source."""
    source = app.sources.find(args.source)
    found = source.index.fetch(args.id, call.caller, max_tokens=args.max_tokens, offset=args.offset)
    return replace(found, kind=_kind(found.path)) if source.kind == "linked" else found


def _kind(path: str) -> Kind | LinkedKind:
    """Return what a file of a linked folder is: to its index all of them are notes."""
    from vaultmind.index.linked.taking import shape_of  # not at the daemon's start

    return shape_of(path) or "text"


TABLE = (
    Operation(
        name="source_search",
        title="Search in a linked folder",
        request=SourceSearchArgs,
        help="Search in a folder that the person linked, by words and meaning.",
        run=search,
        words=render.search,
        json=answers.search,
        surfaces=NOT_MCP,
    ),
    Operation(
        name="source_fetch",
        title="Read a file of a linked folder",
        request=SourceFetchArgs,
        help="Read the whole text of a hit or a file of a linked folder.",
        run=fetch,
        words=render.fetched,
        json=answers.fetched,
        surfaces=NOT_MCP,
    ),
    Operation(
        name="links",
        title="What is linked",
        request=NoArgs,
        help="List the vault and the folders linked to it, with the state of each index.",
        run=listed,
        words=listed_words,
        surfaces=LOCAL,
        persons=True,
    ),
    Operation(
        name="link",
        title="Link a folder",
        request=LinkArgs,
        help="Link a folder, read only, to be searched and planned over. The person's alone.",
        run=link,
        words=link_words,
        writes=True,
        surfaces=LOCAL,
        persons=True,
    ),
    Operation(
        name="unlink",
        title="Unlink a folder",
        request=UnlinkArgs,
        help="Unlink a folder and drop its index; the folder is not touched.",
        run=unlink,
        words=unlinked_words,
        writes=True,
        surfaces=LOCAL,
        persons=True,
    ),
)
