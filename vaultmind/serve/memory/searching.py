"""Searches and reads notes and memory; waits for the index and builds it anew."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaultmind.errors import BadArgument, NotFound
from vaultmind.index.search.asked import folder_of
from vaultmind.index.when.days import first_day, last_day
from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call
from vaultmind.serve.calls.requests import (
    FetchArgs,
    Filters,
    IndexArgs,
    NoArgs,
    SearchArgs,
    SearchManyArgs,
)
from vaultmind.types import Caller, Hit, IndexState, Progress, SearchRequest, SearchResponse
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.index.search.fetch import Fetched

WAIT_SECONDS = 2.0
"""How long to wait at a time before looking whether the index has failed."""
ANY_TOKENS = 10**9
"""A budget that leaves no hit out, where hits are only counted."""


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of one query of many."""

    id: str
    hits: tuple[Hit, ...]
    answer: str
    omitted: int = 0
    next_offset: int | None = None


@dataclass(frozen=True, slots=True)
class FoundMany:
    """The hits of many queries, in their order, and the index they were found in."""

    results: tuple[Found, ...]
    state: IndexState


def search(app: App, call: Call, args: SearchArgs) -> SearchResponse:
    """Search notes and memory. Raises BadArgument for an offset behind the end."""
    request = _request(app, call.caller, args, args.query)
    found = app.index.search(request, call.caller)
    if args.offset and not found.hits and found.answer == "nothing_found":
        raise _no_more(app, call.caller, request)
    return replace(found, explained=args.explain)


def _no_more(app: App, caller: Caller, request: SearchRequest) -> BadArgument:
    """Return what to say of an offset behind the last hit: how many hits there are."""
    all_ = replace(request, offset=0, limit=request.offset, max_tokens=ANY_TOKENS)
    number = len(app.index.search(all_, caller).hits)
    there = f"this search has {counted(number, 'hit')} in all" if number else "it finds nothing"
    return BadArgument(
        "offset",
        request.offset,
        "next_offset of the last answer",
        said=f"There are no more hits from 'offset' {request.offset} on: {there}. "
        "To begin again, leave the offset out.",
    )


def search_many(app: App, call: Call, args: SearchManyArgs) -> FoundMany:
    """Search for many queries, telling how far it is."""
    results = []
    for number, query in enumerate(args.queries, 1):
        request = _request(app, call.caller, args, query.query)
        found = app.index.search(request, call.caller)
        next_offset = found.next_offset
        results.append(Found(query.id, found.hits, found.answer, found.omitted, next_offset))
        call.report(Progress(number, len(args.queries), "queries"))
    return FoundMany(tuple(results), seen_state(app, call.caller))


def fetch(app: App, call: Call, args: FetchArgs) -> Fetched:
    """Return the whole text of a hit or a note.

    Raises BadArgument for an offset behind the end. A person is told of a file that is withheld;
    to an agent it is not there.
    """
    try:
        found = app.index.fetch(
            args.id, call.caller, max_tokens=args.max_tokens, offset=args.offset
        )
    except NotFound as error:
        if call.caller.kind == "person":
            _tell_withheld(app, call.caller, args.id, error)
        raise
    if args.offset and not found.text:
        raise BadArgument(
            "offset",
            args.offset,
            "next_offset of the last answer",
            said=f"The text ends before 'offset' {args.offset}. To begin again, leave the offset "
            "out.",
        )
    return found


def index(app: App, call: Call, args: IndexArgs) -> IndexState:
    """Wait until the index is complete, has failed, or the time is up; the state tells which."""
    deadline = time.monotonic() + args.timeout_seconds
    while (left := deadline - time.monotonic()) > 0:
        began, slice_seconds = time.monotonic(), min(left, WAIT_SECONDS)
        if app.index.wait_ready(slice_seconds, vectors=args.vectors, report=call.report):
            break
        cut_short = time.monotonic() - began < slice_seconds / 2  # the app is closing
        if cut_short or app.index.state().phase == "failed":
            break
    return seen_state(app, call.caller)


def reindex(app: App, call: Call, args: NoArgs) -> IndexState:
    """Build the index anew from the vault."""
    app.index.reindex(call.report)
    return seen_state(app, call.caller)


def seen_state(app: App, caller: Caller) -> IndexState:
    """Return how far the index is, without the faults of files that a caller may not see."""
    state = app.index.state()
    if caller.kind == "person":
        return state
    shown = app.index.outlet.names
    return replace(state, faults=tuple(one for one in state.faults if shown(one.path, caller)))


def _tell_withheld(app: App, caller: Caller, asked: str, error: NotFound) -> None:
    """Say in the error's place that a file is there and never shown, where that is so."""
    path = asked.strip()
    path = path if app.reader.exists(path) else path.partition("#")[0]
    if not path or not app.reader.exists(path) or app.index.outlet.shows(path, caller):
        return
    raise NotFound(
        f"{path!r} is in the vault and withheld: it is never indexed nor shown.",
        hint="Withheld by default are all but notes and canvases, dot folders and secrets "
        "(.env, *.pem, *.key, id_rsa*, secrets/); besides Obsidian's excluded files and "
        "index.exclude.",
    ) from error


def _request(app: App, caller: Caller, args: Filters, query: str) -> SearchRequest:
    defaults, now = app.config.search, app.clock()
    return SearchRequest(
        query=query,
        limit=args.limit or defaults.limit,
        kinds=args.kinds,
        agent=args.agent if args.agent in ("", "*") else agent_name(args.agent),
        folder=folder_of(args.folder, caller, app.index.outlet),
        tag=args.tag,
        after=first_day("after", args.after, now) if args.after.strip() else "",
        before=last_day("before", args.before, now) if args.before.strip() else "",
        per_note=args.per_note or defaults.per_note,
        max_tokens=args.max_tokens or defaults.max_tokens,
        offset=args.offset,
    )
