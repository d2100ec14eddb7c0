"""How far the index is, waited for, built anew, and what an answer lacks for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.plural import counted
from vaultmind.serve.call import Call
from vaultmind.serve.op import NOT_MCP, Arg, operation
from vaultmind.serve.show import Reader, dumps, plain, words
from vaultmind.types import Caller, IndexState, SearchResponse

if TYPE_CHECKING:
    from vaultmind.app import App

WAIT_SECONDS = 2.0
"""How long to wait at a time before looking whether the index has failed."""
SHOWN_FAULTS = 10
"""Faulty files that are named; the rest is a number."""
AGAIN = "This is not a no: ask again in a moment."


@operation("Wait for the index", surfaces=NOT_MCP)
def index(
    app: App,
    call: Call,
    vectors: Annotated[bool, Arg("Wait for the vectors too.")] = True,
    timeout_seconds: Annotated[float, Arg("Give up after this long.", min=0, max=86400)] = 3600.0,
) -> IndexState:
    """Wait until all text (and all vectors) are searchable; tells how far it is."""
    deadline = time.monotonic() + timeout_seconds
    while (left := deadline - time.monotonic()) > 0:
        began, slice_seconds = time.monotonic(), min(left, WAIT_SECONDS)
        if app.index.wait_ready(slice_seconds, vectors=vectors, report=call.report):
            break
        cut_short = time.monotonic() - began < slice_seconds / 2  # the app is closing
        if cut_short or app.index.state().phase == "failed":
            break
    return seen_state(app, call.caller)


@operation("Build the index anew", surfaces=NOT_MCP)
def reindex(app: App, call: Call) -> IndexState:
    """Build the index anew from the vault; cached vectors are used again."""
    app.index.reindex(call.report)
    return seen_state(app, call.caller)


def seen_state(app: App, caller: Caller) -> IndexState:
    """Return how far the index is, without the faults of files that a caller may not see."""
    state, shown = app.index.state(), app.index.outlet.names
    return replace(state, faults=tuple(one for one in state.faults if shown(one.path, caller)))


def why_empty(found: SearchResponse) -> str:
    """Return which of the empty answers this is; empty where there are hits."""
    if found.answer == "nothing_found" and not found.hits and not found.state.embedder:
        return "indexing" if found.state.loading else "no_embedder"
    return "" if found.hits else found.answer


def explain_answer(found: SearchResponse) -> str:
    """Return in words how complete an answer is."""
    state, empty, said = found.state, why_empty(found), found.message
    lacks = " ".join(filter(None, (said, *(one for one in state.notes if one not in said))))
    if empty == "no_query":
        return "The query holds nothing to search for. Give a question or keywords."
    if empty == "indexing" and state.phase == "ready":
        return (
            "Nothing holds these words, and meaning cannot be searched yet: vectors are still "
            f"being loaded. {AGAIN}"
        )
    if empty == "indexing":
        return f"Still indexing: {_indexed(state)}, and none of these matches yet. {AGAIN}"
    if empty == "no_embedder":
        told = "Nothing holds these words, and with no embedder at work meaning could not be "
        told += "searched. Try other words."
    elif empty:
        meaning = "" if state.vectors < state.embeddable else ", by words and by meaning"
        told = f"Nothing found: {_indexed(state)}{meaning}."
    else:
        told = f"{found.omitted} more left out by max_tokens." if found.omitted else ""
        if state.phase in ("starting", "indexing"):
            told += f" Still indexing: {_indexed(state)}; there may be more."
    return f"{told} {lacks}".strip()


def _indexed(state: IndexState) -> str:
    """Return how much of the vault is searchable."""
    if state.phase in ("starting", "indexing") and not state.files:
        return "the vault's files are being listed"
    unread = sum(fault.severity == "skipped" for fault in state.faults)
    rest = f"; {unread:,} could not be read (vaultmind status lists it)" if unread else ""
    return f"{state.indexed} of {state.files} files are searchable{rest}"


@dumps(IndexState)
def _state_json(state: IndexState, to: Reader) -> dict[str, Any]:
    """Return how far the index is; of thousands of faults an agent is told the first."""
    faults = state.faults[:SHOWN_FAULTS] if to.mark else state.faults
    return plain(state) | {"faults": faults, "fault_count": len(state.faults)}


@words(IndexState)
def index_words(state: IndexState, to: Reader) -> Iterator[str]:
    """Yield how far the index is."""
    vectors = "vectors are being loaded" if state.loading else "by words only"
    if state.embedder:
        of = counted(state.embeddable, "embeddable one")
        vectors = f"vectors of {state.vectors:,} of {of} ({state.embedder})"
    chunks = counted(state.chunks, "chunk")
    yield f"Index {state.phase}: {_indexed(state)}, {chunks}, {vectors}."
    yield from state.notes
    yield sends_words(state.sends_to)
    faults = state.faults[:SHOWN_FAULTS]
    yield from (f"{one.severity}: {one.path}: {one.reason}" for one in faults)
    if more := len(state.faults) - len(faults):
        yield f"… and {counted(more, 'more file')}."


def sends_words(host: str) -> str:
    """Return that texts leave the machine, and where to; empty where they stay."""
    what = "Texts of notes and questions leave this machine: they are sent to"
    return f"{what} {host} to be embedded." if host else ""
