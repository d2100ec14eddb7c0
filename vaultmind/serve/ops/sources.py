"""The vault and the folders linked to it: what they are made of, what changed, how they are."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.errors import BadArgument, IndexUnavailable
from vaultmind.planner.types import CacheStatus, Detail, Layer, TaskKind
from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call
from vaultmind.serve.op import LOCAL, MAX_PATH, MAX_TEXT, NOT_MCP, Arg, operation
from vaultmind.serve.show import DATA, Name, Reader, Recalled, dumps, for_person, words
from vaultmind.types import Fault

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.planner.layers import Explored
    from vaultmind.planner.sources import Source, SourceState
    from vaultmind.planner.structure import Structure

SLICE_SECONDS = 0.5
"""How long to read at a time before telling how far it is."""
MOST_FAULTS, SHOWN_FAULTS = 100, 10
"""That are named as data, and in words; the rest is a number."""

Where = Annotated[
    str, Arg("The vault (default) or a linked folder, by name or root.", max=MAX_PATH)
]
Since = Annotated[
    str, Arg("A time ('2026-02-20', 'yesterday') or a revision (HEAD~3, main).", max=200)
]
Wait = Annotated[float, Arg("Wait so long for files that are not read yet.", min=0, max=600)]


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a look at the whole of a source came to."""

    source: str
    files: int
    read: int
    """Of these, files whose structure is known as they stand."""
    cache_status: CacheStatus
    complete: bool
    took_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """How a source is, in numbers and in words; an agent is told no folder outside the vault."""

    name: str
    root: str = for_person()
    kind: str
    there: bool
    phase: str
    """Of its index; `waiting` before that is opened."""
    files: int
    chunks: int = for_person()
    vectors: int = for_person()
    words: str
    notes: tuple[str, ...] = for_person(default=())
    faults: tuple[Fault, ...] = for_person(default=())
    """Which files could not be taken whole, and why: the first of them."""
    fault_count: int = for_person(default=0)


@dataclass(frozen=True, slots=True)
class SourceList:
    """The vault and what is linked to it."""

    sources: tuple[SourceStatus, ...]


@dataclass(frozen=True, slots=True)
class Unlinked:
    """What was unlinked."""

    name: str
    root: str


@operation("What a source is made of", surfaces=NOT_MCP)
def explore(
    app: App,
    call: Call,
    source: Where = "",
    query_type: Annotated[TaskKind, Arg("What kind of task it is for.")] = "unknown",
    layers: Annotated[
        tuple[Layer, ...], Arg("These layers and no others.", max=7, option="--layer")
    ] = (),
    detail: Annotated[Detail, Arg("How much of each layer.")] = "compact",
    since: Since = "",
    wait_seconds: Wait = 0.0,
) -> Explored:
    """The layers of the vault or of a linked folder that a kind of task needs: map, index,
    relations, surface, manifest, tasks and tests, changes.
    """
    from vaultmind.planner.layers import explore as look

    where, structure = _found(app, source)
    _wait(where, call, wait_seconds)
    return look(structure, query_type, detail=detail, since=since, which=layers)


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
    from vaultmind.planner.layers import explore as look

    where, structure = _found(app, source)
    _wait(where, call, wait_seconds)
    return look(structure, detail=detail, since=since, which=("L6",))


@operation("Look at a source's disk", surfaces=NOT_MCP)
def refresh(app: App, call: Call, source: Where = "", wait_seconds: Wait = 60.0) -> Refreshed:
    """Compare the vault or a linked folder with the disk and read what changed."""
    began = time.monotonic()
    where, structure = _found(app, source)
    before = structure.version
    where.index.everything()
    ready = where.index.wait_ready(wait_seconds, report=call.report)
    status = _wait(where, call, wait_seconds - (time.monotonic() - began))
    if structure.version != before and status == "hit":
        status = "partial"  # the background was faster
    progress = structure.progress
    complete = ready and progress.done >= progress.total
    took_ms = (time.monotonic() - began) * 1000
    return Refreshed(where.name, progress.total, progress.done, status, complete, took_ms)


@operation("What is linked", surfaces=LOCAL, persons=True)
def links(app: App, call: Call) -> SourceList:
    """List the vault and the folders linked to it, with the state of each index."""
    return SourceList(source_statuses(app))


@operation("Link a folder", writes=True, surfaces=LOCAL, persons=True)
def link(
    app: App,
    call: Call,
    path: Annotated[str, Arg("Absolute path of the folder.", min=1, max=MAX_PATH)],
    name: Annotated[str, Arg("What to call it; default: after the folder.", max=MAX_TEXT)] = "",
) -> SourceStatus:
    """Link a folder, read only, to be searched and planned over. The person's alone."""
    if not Path(path).is_absolute():
        raise BadArgument("path", path, "an absolute path: the daemon has its own folder")
    new = app.sources.link(path, name).name
    return next(one for one in source_statuses(app) if one.name == new and one.kind == "linked")


@operation("Unlink a folder", writes=True, surfaces=LOCAL, persons=True)
def unlink(
    app: App,
    call: Call,
    name: Annotated[str, Arg("The linked folder's name or path.", min=1, max=MAX_PATH)],
) -> Unlinked:
    """Unlink a folder and drop its index; the folder is not touched."""
    found = app.sources.unlink(name)
    return Unlinked(found.name, str(found.root))


def source_statuses(app: App) -> tuple[SourceStatus, ...]:
    """Return how each source is, the vault first."""
    return tuple(map(_status, app.sources.states()))


def _status(state: SourceState) -> SourceStatus:
    index = state.index
    about: Any = {"name": state.name, "root": state.root, "kind": state.kind, "there": state.there}
    notes: tuple[str, ...] = (state.note,) if state.note else ()
    if index is None:
        gone = "gone" if state.root else "the linked folders cannot be read"
        said = "waits for the vault's index" if state.there else gone
        none: Any = {"phase": "waiting", "files": 0, "chunks": 0, "vectors": 0}
        return SourceStatus(**about, **none, words=said, notes=notes)
    files = f"{index.indexed:,} of {counted(index.files, 'file')}"
    meaning = f"{counted(index.vectors, 'vector')}" if index.embedder else "by words only"
    said = f"{index.phase} · {files} · {counted(index.chunks, 'chunk')} · {meaning}"
    notes = (*notes, *index.notes)
    if skipped := len(index.faults):
        notes = (*notes, f"{counted(skipped, 'file')} could not be taken whole.")
    return SourceStatus(
        **about,
        phase=index.phase,
        files=index.files,
        chunks=index.chunks,
        vectors=index.vectors,
        words=said if state.there else f"gone · {said}",
        notes=notes,
        faults=index.faults[:MOST_FAULTS],
        fault_count=skipped,
    )


def _found(app: App, name: str) -> tuple[Source, Structure]:
    source = app.sources.find(name.strip()) if name.strip() else app.sources.all()[0]
    return source, _structure(source)


def _structure(source: Source) -> Structure:
    if source.structure is None:
        raise IndexUnavailable(f"The structure of {source.name!r} cannot be had.")
    return source.structure


def _wait(source: Source, call: Call, seconds: float) -> CacheStatus:
    """Read what is not read yet, as far as there is time; tell how far it is."""
    deadline = time.monotonic() + seconds
    if seconds > 0:
        source.index.wait_ready(seconds, report=call.report)
    structure = _structure(source)
    first = status = structure.settle(0.0)
    while status == "partial" and (left := deadline - time.monotonic()) > 0:
        call.report(structure.progress)
        status = structure.settle(min(left, SLICE_SECONDS))
    return first if status == "hit" else status


# --- how it is told -----------------------------------------------------------------------


@dumps("planner.layers.Explored")
def _explored_json(found: Explored, to: Reader) -> dict[str, Any]:
    """Return the layers; for an agent as fenced text alone: every name in them is a file's."""
    return {
        "source": found.source,
        "query_type": found.query_type,
        "detail": found.detail,
        "cache_status": found.cache_status,
        "freshness": found.freshness,
        "layers": found.layers,
        "cached": found.cached,
        "text": Recalled(found.text, f"{found.source}, structure"),
        "tokens": found.tokens,
        "took_ms": round(found.took_ms, 2),
        "notes": [Name(note) for note in found.notes],
    }


@words("planner.layers.Explored")
def _explored_words(found: Explored, to: Reader) -> Iterator[str]:
    yield DATA if to.mark else ""
    yield Recalled(found.text, f"{found.source}, structure")
    yield from map(Name, found.notes)
    parts = [found.source, found.freshness, f"cache {found.cache_status}"]
    parts += [counted(found.tokens, "token"), f"{found.took_ms:,.1f} ms"]
    yield f"({' · '.join(parts)})"


@words(Refreshed)
def _refreshed_words(done: Refreshed, to: Reader) -> Iterator[str]:
    state = "up to date" if done.complete else "still being read"
    yield (
        f"{done.source} is {state}: {done.read:,} of {counted(done.files, 'file')}, "
        f"{done.took_ms:,.0f} ms."
    )


@words(SourceList)
def _list_words(found: SourceList, to: Reader) -> Iterator[str]:
    from vaultmind.vault.oneline import one_line

    if len(found.sources) == 1:
        yield "No folder is linked. To link one: vaultmind link ~/code/shop --as shop"
        return
    for one in found.sources:
        yield f"{one.name}{' (the vault)' if one.kind == 'vault' else ''}  {one.root}"
        yield f"  {one.words}"
        if one.kind == "vault":  # `status` tells what is wrong with it
            continue
        yield from (f"  ! {note}" for note in one.notes)
        shown = one.faults[:SHOWN_FAULTS]
        yield from (f"    {one_line(f'{fault.path}: {fault.reason}')}" for fault in shown)
        if (more := one.fault_count - SHOWN_FAULTS) > 0:
            yield f"    … and {more:,} more; --json names {len(one.faults):,}"


@words(SourceStatus)
def _link_words(one: SourceStatus, to: Reader) -> Iterator[str]:
    yield f"{one.root} is linked as {one.name}."
    yield "It is being indexed; `vaultmind links` tells how far it is."
    yield f"Next: vaultmind plan {one.name} --task TEXT"


@words(Unlinked)
def _unlink_words(gone: Unlinked, to: Reader) -> Iterator[str]:
    yield f"{gone.name} is no longer linked; its index is gone. {gone.root} is as it was."
