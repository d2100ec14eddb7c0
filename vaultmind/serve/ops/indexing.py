"""How far the index is, waited for, built anew, and what an answer lacks for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call
from vaultmind.serve.op import NOT_MCP, Arg, operation
from vaultmind.serve.show import Name, Reader, words
from vaultmind.types import Caller, IndexState, SearchResponse

if TYPE_CHECKING:
    from vaultmind.app import App

WAIT_SECONDS = 2.0
"""How long to wait at a time before looking whether the index has failed."""
SHOWN_FAULTS = 10
"""Faulty files that words name; the rest is a number."""


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
    state = app.index.state()
    if caller.kind == "person":
        return state
    shown = app.index.outlet.names
    return replace(state, faults=tuple(one for one in state.faults if shown(one.path, caller)))


def state_for(state: IndexState, to: Reader, faults: int = 0) -> Any:  # noqa: ANN401
    """Return an index's state; for an agent with its first faults only: there can be thousands."""
    if not to.mark:
        return state
    from dataclasses import asdict

    told = asdict(replace(state, faults=state.faults[:faults]))
    return told | {"fault_count": len(state.faults)}


def why_empty(found: SearchResponse) -> str:
    """Return which of the empty answers this is; empty where there are hits."""
    if found.hits:
        return ""
    if found.answer == "nothing_found" and not found.state.embedder:
        return "indexing" if found.state.loading else "no_embedder"
    return found.answer


def explain(found: SearchResponse) -> str:
    """Return in words how complete an answer is."""
    state, empty = found.state, why_empty(found)
    if empty == "no_query":
        return "The query holds nothing to search for. Give a question or keywords."
    if empty == "indexing" and state.loading and state.phase == "ready":
        return (
            "Nothing holds these words, and meaning cannot be searched yet: vectors are still "
            "being loaded. This is not a no: ask again in a moment."
        )
    if empty == "indexing":
        return (
            f"Still indexing: {indexed(state)}, and none of these matches yet. "
            "This is not a no: ask again in a moment."
        )
    if empty == "no_embedder":
        return (
            "Nothing holds these words, and with no embedder at work meaning could not be "
            f"searched. Try other words. {_lacks(found)}"
        ).strip()
    if empty:
        meaning = "" if state.vectors < state.embeddable else ", by words and by meaning"
        return f"Nothing found: {indexed(state)}{meaning}. {_lacks(found)}".strip()
    told = [f"{found.omitted} more left out by max_tokens."] if found.omitted else []
    if state.phase in ("starting", "indexing"):
        told.append(f"Still indexing: {indexed(state)}; there may be more.")
    return " ".join([*told, _lacks(found)]).strip()


def indexed(state: IndexState) -> str:
    """Return how much of the vault is searchable."""
    if _is_starting(state):
        return "the vault's files are being listed"
    unread = sum(fault.severity == "skipped" for fault in state.faults)
    rest = f"; {unread:,} could not be read (vaultmind status lists it)" if unread else ""
    return f"{state.indexed} of {state.files} files are searchable{rest}"


def _is_starting(state: IndexState) -> bool:
    """Tell whether the index does not know yet how many files there are."""
    return state.phase in ("starting", "indexing") and not state.files


def _lacks(found: SearchResponse) -> str:
    """Return what the answer or the index lacks, as sentences."""
    said = found.message
    return " ".join(filter(None, (said, *(one for one in found.state.notes if one not in said))))


@words(IndexState)
def index_words(state: IndexState, to: Reader) -> Iterator[str]:
    """Yield how far the index is."""
    parts = [indexed(state)]
    if not _is_starting(state):
        meaning = f"vectors of {state.vectors:,} of {counted(state.embeddable, 'embeddable one')}"
        parts += [counted(state.chunks, "chunk")]
        words_only = "vectors are being loaded" if state.loading else "by words only"
        parts += [f"{meaning} ({state.embedder})" if state.embedder else words_only]
    yield f"Index {state.phase}: {', '.join(parts)}."
    yield from state.notes
    if state.sends_to:
        yield sends_words(state.sends_to)
    faults = state.faults[:SHOWN_FAULTS]
    yield from (Name(f"{one.severity}: {one.path}: {one.reason}") for one in faults)
    if more := len(state.faults) - len(faults):
        yield f"… and {counted(more, 'more file')}."


def sends_words(host: str) -> str:
    """Return that texts leave the machine, and where to."""
    return (
        f"Texts of notes and questions leave this machine: they are sent to {host} to be embedded."
    )
