"""The vault and the folders linked to it: what they are made of, what changed, how they are."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.errors import BadArgument
from vaultmind.planner.types import CacheStatus, Detail, Layer, TaskKind
from vaultmind.plural import counted
from vaultmind.serve.call import Call
from vaultmind.serve.op import LOCAL, MAX_PATH, MAX_TEXT, NOT_MCP, Arg, operation
from vaultmind.serve.show import DATA, Reader, Recalled, plain, tells, words

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.planner.layers import Explored
    from vaultmind.planner.sources import Source, SourceState

SLICE_SECONDS = 0.5
"""How long to read at a time before telling how far it is."""
SHOWN_FAULTS = 10
"""Files that could not be taken whole, named; the rest is a number."""

Where = Annotated[str, Arg("The vault (default) or a linked folder.", max=MAX_PATH)]
Since = Annotated[str, Arg("A time (2026-02-20, yesterday) or a revision (main).", max=200)]
Layers = Annotated[tuple[Layer, ...], Arg("These and no others.", max=7, option="--layer")]
Wait = Annotated[float, Arg("Wait so long for files that are not read yet.", min=0, max=600)]


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a look at the whole of a source came to."""

    message: str
    source: str
    files: int
    read: int
    """Of these, files whose structure is known as they stand."""
    cache_status: CacheStatus
    complete: bool
    took_ms: float


@dataclass(frozen=True, slots=True)
class SourceList:
    """The vault and what is linked to it."""

    sources: tuple[SourceState, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Linked:
    """What was linked or unlinked."""

    message: str
    name: str
    root: str


@operation("What a source is made of", surfaces=NOT_MCP)
def explore(
    app: App,
    call: Call,
    source: Where = "",
    query_type: Annotated[TaskKind, Arg("What kind of task it is for.")] = "unknown",
    layers: Layers = (),
    detail: Annotated[Detail, Arg("How much of each layer.")] = "compact",
    since: Since = "",
    wait_seconds: Wait = 0.0,
) -> Explored:
    """The layers of the vault or of a linked folder that a kind of task needs: map, index,
    relations, surface, manifest, tasks and tests, changes.
    """
    from vaultmind.planner.layers import explore as look

    where = app.sources.find(source)
    _wait(where, call, wait_seconds)
    return look(where.structure, query_type, detail=detail, since=since, which=layers)


@operation("What changed in a source", surfaces=NOT_MCP)
def delta(
    app: App,
    call: Call,
    source: Where = "",
    since: Since = "",
    detail: Annotated[Detail, Arg("How much of it.")] = "normal",
    wait_seconds: Wait = 0.0,
) -> Explored:
    """What changed in the vault or in a linked folder since a time or a revision."""
    return explore(
        app, call, source, layers=("L6",), detail=detail, since=since, wait_seconds=wait_seconds
    )


@operation("Look at a source's disk", surfaces=NOT_MCP)
def refresh(app: App, call: Call, source: Where = "", wait_seconds: Wait = 60.0) -> Refreshed:
    """Compare the vault or a linked folder with the disk and read what changed."""
    began = time.monotonic()
    where = app.sources.find(source)
    structure = where.structure
    before = structure.version
    where.index.everything()
    ready = where.index.wait_ready(wait_seconds, report=call.report)
    status = _wait(where, call, wait_seconds - (time.monotonic() - began))
    if structure.version != before and status == "hit":
        status = "partial"  # the background was faster
    progress = structure.progress
    complete = ready and progress.done >= progress.total
    took_ms = (time.monotonic() - began) * 1000
    state = "up to date" if complete else "still being read"
    read = f"{progress.done:,} of {counted(progress.total, 'file')}, {took_ms:,.0f} ms"
    said = f"{where.name} is {state}: {read}."
    return Refreshed(
        said, where.name, progress.total, progress.done, status, complete, round(took_ms, 2)
    )


@operation("What is linked", surfaces=LOCAL, persons=True)
def links(app: App, call: Call) -> SourceList:
    """List the vault and the folders linked to it, with the state of each index."""
    found = tuple(app.sources.states())
    how = "No folder is linked. To link one: vaultmind link ~/code/shop --as shop"
    return SourceList(found, (how,) if len(found) == 1 else ())


@operation("Link a folder", writes=True, surfaces=LOCAL, persons=True)
def link(
    app: App,
    call: Call,
    path: Annotated[str, Arg("Absolute path of the folder.", min=1, max=MAX_PATH)],
    name: Annotated[str, Arg("What to call it; default: after the folder.", max=MAX_TEXT)] = "",
) -> Linked:
    """Link a folder, read only, to be searched and planned over. The person's alone."""
    if not Path(path).is_absolute():
        raise BadArgument("path", path, "an absolute path: the daemon has its own folder")
    new = app.sources.link(path, name)
    said = f"{new.root} is linked as {new.name}. It is being indexed; `vaultmind links` tells how "
    said += f"far it is.\nNext: vaultmind plan {new.name} --task TEXT"
    return Linked(said, new.name, str(new.root))


@operation("Unlink a folder", writes=True, surfaces=LOCAL, persons=True)
def unlink(
    app: App,
    call: Call,
    name: Annotated[str, Arg("The linked folder's name or path.", min=1, max=MAX_PATH)],
) -> Linked:
    """Unlink a folder and drop its index; the folder is not touched."""
    found = app.sources.unlink(name)
    said = f"{found.name} is no longer linked; its index is gone. {found.root} is as it was."
    return Linked(said, found.name, str(found.root))


@tells("planner.sources.SourceState", words="name root kind words notes")
def _state_json(state: SourceState, to: Reader) -> dict[str, Any]:
    """Return how a source is; an agent is told no folder outside the vault."""
    index = state.index
    told = {"name": state.name, "kind": state.kind, "there": state.there, "phase": phase(state)}
    told |= {"files": index.files if index else 0, "words": state_words(state)}
    return told if to.mark else told | {"root": str(state.root), "notes": state_notes(state)}


def phase(state: SourceState) -> str:
    """Return the phase of a source's index; `waiting` before that is opened."""
    return state.index.phase if state.index else "waiting"


def state_words(state: SourceState) -> str:
    """Return in a line how a source is."""
    index = state.index
    if index is None:
        return "waits for the vault's index" if state.there else "gone"
    files = f"{index.indexed:,} of {counted(index.files, 'file')}"
    meaning = f"{counted(index.vectors, 'vector')}" if index.embedder else "by words only"
    told = f"{index.phase} · {files} · {counted(index.chunks, 'chunk')} · {meaning}"
    return told if state.there else f"gone · {told}"


def state_notes(state: SourceState) -> list[str]:
    """Return what is amiss, and which files could not be taken whole: the first of them."""
    notes, index = [state.note] if state.note else [], state.index
    if index is not None:
        faults = index.faults if state.kind == "linked" else ()  # `status` tells the vault's
        notes += [*index.notes, *(f"{one.path}: {one.reason}" for one in faults[:SHOWN_FAULTS])]
        more = len(faults) - SHOWN_FAULTS
        notes += [f"{counted(more, 'more file')} could not be taken whole."] if more > 0 else []
    return notes


def _wait(source: Source, call: Call, seconds: float) -> CacheStatus:
    """Read what is not read yet, as far as there is time; tell how far it is."""
    deadline = time.monotonic() + seconds
    if seconds > 0:
        source.index.wait_ready(seconds, report=call.report)
    structure = source.structure
    first = status = structure.settle(0.0)
    while status == "partial" and (left := deadline - time.monotonic()) > 0:
        call.report(structure.progress)
        status = structure.settle(min(left, SLICE_SECONDS))
    return first if status == "hit" else status


# --- how it is told -----------------------------------------------------------------------


@tells("planner.layers.Explored")
def _explored_json(found: Explored, to: Reader) -> dict[str, Any]:
    """Return the layers; for an agent as fenced text alone: every name in them is a file's."""
    return plain(found) | {"text": Recalled(found.text, f"{found.source}, structure")}


@words("planner.layers.Explored")
def _explored_words(found: Explored, to: Reader) -> Iterator[str]:
    yield DATA if to.mark else ""
    yield Recalled(found.text, f"{found.source}, structure")
    yield from found.notes
    told = f"{counted(found.tokens, 'token')} · {found.took_ms:,.1f} ms"
    yield f"({found.source} · {found.freshness} · cache {found.cache_status} · {told})"
