"""`explore`, `delta`, `refresh`: what a source is made of, what changed, and a look at the disk."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaultmind.errors import IndexUnavailable
from vaultmind.planner.types import CacheStatus, Detail, Layer, TaskKind
from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call
from vaultmind.serve.calls.fencing import DATA, fenced, named
from vaultmind.serve.calls.operation import NOT_MCP, Operation
from vaultmind.serve.calls.schema import arg, to_json

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.planner.sources.sources import Source
    from vaultmind.planner.structure.layers import Explored
    from vaultmind.planner.structure.structure import Structure

MAX_ROOT, MAX_SINCE = 4096, 200
MAX_WAIT_SECONDS = 600.0
SLICE_SECONDS = 0.5
"""How long to read at a time before telling how far it is."""

_SOURCE = "The vault (default) or a linked folder, by name or root."
_SINCE = "A time ('2026-02-20', 'yesterday') or a revision (HEAD~3, main)."
_WAIT = "Wait so long for files that are not read yet."


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreArgs:
    """Arguments of explore."""

    source: str = arg(_SOURCE, default="", max=MAX_ROOT)
    query_type: TaskKind = arg("What kind of task it is for.", default="unknown")  # noqa: RUF009
    layers: tuple[Layer, ...] = arg("These layers and no others.", default=(), max=7)
    detail: Detail = arg("How much of each layer.", default="compact")  # noqa: RUF009
    since: str = arg(_SINCE, default="", max=MAX_SINCE)
    wait_seconds: float = arg(_WAIT, default=0.0, min=0.0, max=MAX_WAIT_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaArgs:
    """Arguments of delta."""

    source: str = arg(_SOURCE, default="", max=MAX_ROOT)
    since: str = arg(_SINCE, default="", max=MAX_SINCE)
    detail: Detail = arg("How much of it.", default="normal")  # noqa: RUF009
    wait_seconds: float = arg(_WAIT, default=0.0, min=0.0, max=MAX_WAIT_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshArgs:
    """Arguments of refresh."""

    source: str = arg(_SOURCE, default="", max=MAX_ROOT)
    wait_seconds: float = arg(_WAIT, default=60.0, min=0.0, max=MAX_WAIT_SECONDS)


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


def run(app: App, call: Call, args: ExploreArgs) -> Explored:
    """Return the layers that a kind of task needs. Raises NotFound for an unknown source."""
    from vaultmind.planner.structure.layers import explore  # not at the daemon's start

    source, structure = _found(app, args.source)
    _wait(source, call, args.wait_seconds)
    return explore(
        structure, args.query_type, detail=args.detail, since=args.since, which=args.layers
    )


def delta(app: App, call: Call, args: DeltaArgs) -> Explored:
    """Return what changed in a source since a time or a revision."""
    from vaultmind.planner.structure.layers import explore  # not at the daemon's start

    source, structure = _found(app, args.source)
    _wait(source, call, args.wait_seconds)
    return explore(structure, detail=args.detail, since=args.since, which=("L6",))


def refresh(app: App, call: Call, args: RefreshArgs) -> Refreshed:
    """Compare a source with the disk, whatever the watcher saw, and read what changed."""
    began = time.monotonic()
    source, structure = _found(app, args.source)
    before = structure.version
    source.index.everything()
    ready = source.index.wait_ready(args.wait_seconds, report=call.report)
    left = args.wait_seconds - (time.monotonic() - began)
    status = _wait(source, call, left)
    if structure.version != before and status == "hit":
        status = "partial"  # the background was faster
    progress = structure.progress
    complete = ready and progress.done >= progress.total
    took_ms = (time.monotonic() - began) * 1000
    return Refreshed(source.name, progress.total, progress.done, status, complete, took_ms)


def words(response: Explored, mark: str = "") -> str:
    """Return the layers as text, for an agent between fences, and how they came about."""
    lines = [DATA] if mark else []
    lines.append(fenced(response.text, f"{response.source}, structure", mark))
    return "\n".join([*lines, *(named(note, mark) for note in response.notes), _foot(response)])


def as_json(response: Explored, mark: str = "") -> dict[str, Any]:
    """Return the layers; for an agent as fenced text alone: every name in them is a file's."""
    answer = {
        "source": response.source,
        "query_type": response.query_type,
        "detail": response.detail,
        "cache_status": response.cache_status,
        "freshness": response.freshness,
        "layers": [one.layer for one in response.layers],
        "cached": list(response.cached),
        "text": fenced(response.text, f"{response.source}, structure", mark),
        "tokens": response.tokens,
        "took_ms": round(response.took_ms, 2),
        "notes": [named(note, mark) for note in response.notes],
    }
    return answer if mark else answer | {"views": to_json(response.layers)}


def refreshed_words(response: Refreshed, mark: str = "") -> str:
    """Return what a refresh came to."""
    state = "up to date" if response.complete else "still being read"
    return (
        f"{response.source} is {state}: {response.read:,} of {counted(response.files, 'file')}, "
        f"{response.took_ms:,.0f} ms."
    )


def _foot(response: Explored) -> str:
    return (
        f"({response.source}, {response.freshness}, cache {response.cache_status}, "
        f"{counted(response.tokens, 'token')}, {response.took_ms:.1f} ms)"
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


TABLE = (
    Operation(
        name="explore",
        title="What a source is made of",
        request=ExploreArgs,
        help="The layers of the vault or of a linked folder that a kind of task needs: map, "
        "index, relations, surface, manifest, tasks and tests, changes.",
        run=run,
        words=words,
        json=as_json,
        surfaces=NOT_MCP,
    ),
    Operation(
        name="delta",
        title="What changed in a source",
        request=DeltaArgs,
        help="What changed in the vault or in a linked folder since a time or a revision.",
        run=delta,
        words=words,
        json=as_json,
        surfaces=NOT_MCP,
    ),
    Operation(
        name="refresh",
        title="Look at a source's disk",
        request=RefreshArgs,
        help="Compare the vault or a linked folder with the disk and read what changed.",
        run=refresh,
        words=refreshed_words,
        surfaces=NOT_MCP,
    ),
)
