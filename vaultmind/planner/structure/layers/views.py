"""The seven layers of a source as data: small typed records, ready to be rendered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from vaultmind.planner.types import CacheStatus, Layer


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with all that lies below it."""

    path: str
    """Ends in `/`; empty for the source itself."""
    files: int
    kinds: tuple[tuple[str, int], ...]
    """Languages of code, or shapes, with how many files; most first."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Where one begins to read."""

    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Hot:
    """A place where work goes on."""

    path: str
    changes: int
    """Commits among the last ones; 0 where only the file's time says so."""


@dataclass(frozen=True, slots=True)
class MapView:
    """L0: folders, entries, hot places."""

    files: int
    folders: tuple[Folder, ...]
    entries: tuple[Entry, ...]
    hot: tuple[Hot, ...]
    omitted: int = 0
    layer: Layer = "L0"


@dataclass(frozen=True, slots=True)
class Indexed:
    """A file with what it holds, by name."""

    path: str
    title: str
    parts: tuple[str, ...]
    """Headings of a note (with their marks); what code defines."""
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class IndexView:
    """L1: titles and headings, modules and definitions."""

    files: tuple[Indexed, ...]
    omitted: int = 0
    layer: Layer = "L1"


@dataclass(frozen=True, slots=True)
class Related:
    """A file with what it leads to and what leads to it."""

    path: str
    out: tuple[tuple[str, str], ...]
    """Kind of the tie and path."""
    into: tuple[tuple[str, str], ...]
    more_out: int = 0
    more_into: int = 0


@dataclass(frozen=True, slots=True)
class RelationsView:
    """L2: links, embeds and backlinks, imports and inheritance; the most tied files first."""

    files: tuple[Related, ...]
    omitted: int = 0
    layer: Layer = "L2"


@dataclass(frozen=True, slots=True)
class Surface:
    """What a file shows to the others."""

    path: str
    abstract: str
    properties: tuple[tuple[str, str], ...] = ()
    signatures: tuple[tuple[str, str], ...] = ()
    """Signature and the first line of its doc comment."""
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class SurfaceView:
    """L3: properties and abstracts of notes, public signatures of code."""

    files: tuple[Surface, ...]
    omitted: int = 0
    layer: Layer = "L3"


@dataclass(frozen=True, slots=True)
class Property:
    """A property that notes have."""

    name: str
    notes: int
    values: tuple[str, ...]
    """A few of them, most frequent first."""


@dataclass(frozen=True, slots=True)
class ManifestView:
    """L4: tags and the schema of properties."""

    kinds: tuple[tuple[str, int], ...]
    tags: tuple[tuple[str, int], ...]
    properties: tuple[Property, ...]
    omitted: int = 0
    layer: Layer = "L4"


@dataclass(frozen=True, slots=True)
class Work:
    """What is left to be done in a file."""

    path: str
    tasks: tuple[str, ...]
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class Tested:
    """A file of tests and what they touch."""

    path: str
    touches: tuple[str, ...]
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class WorkView:
    """L5: open tasks by note; which test touches what."""

    open: int
    done: int
    tasks: tuple[Work, ...]
    tests: tuple[Tested, ...]
    omitted: int = 0
    layer: Layer = "L5"


ChangeKind = Literal["added", "modified", "removed"]


@dataclass(frozen=True, slots=True)
class Changed:
    """A file that changed."""

    path: str
    kind: ChangeKind
    commits: int = 0
    """How many of the commits that are looked at changed it."""
    uncommitted: bool = False
    day: str = ""
    """When, where no commit says so."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, and how many of the files in it can be shown."""

    id: str
    day: str
    subject: str
    """Empty where it is about files that are not shown."""
    files: int


@dataclass(frozen=True, slots=True)
class ChangesView:
    """L6: what changed since a time or a revision."""

    since: str
    """In words: a commit, a day; where nobody said since when, what is shown then."""
    by: Literal["git", "time"]
    files: tuple[Changed, ...]
    commits: tuple[Commit, ...] = ()
    omitted: int = 0
    note: str = ""
    """Why git was not asked."""
    asked: bool = True
    """Whether somebody said since when."""
    layer: Layer = "L6"


LayerView = (
    MapView | IndexView | RelationsView | SurfaceView | ManifestView | WorkView | ChangesView
)


@dataclass(frozen=True, slots=True)
class Explored:
    """The layers that were asked for, and how they came about."""

    source: str
    query_type: str
    detail: str
    cache_status: CacheStatus
    """`hit`: every layer was at hand; `partial`: some were, or the source is still being read;
    `rebuilt`: none was."""
    freshness: Literal["fresh", "stale", "dirty"]
    layers: tuple[LayerView, ...]
    text: str
    tokens: int
    took_ms: float
    cached: tuple[Layer, ...] = ()
    """The layers that were at hand."""
    notes: tuple[str, ...] = ()


def paths_in(view: LayerView) -> Iterator[str]:
    """Yield every file that a layer names and that should be there."""
    if isinstance(view, MapView):
        yield from (one.path for one in view.entries)
        yield from (one.path for one in view.hot)
    elif isinstance(view, WorkView):
        yield from (one.path for one in view.tasks)
        for test in view.tests:
            yield from (test.path, *test.touches)
    elif isinstance(view, ChangesView):
        yield from (one.path for one in view.files if one.kind != "removed")
    elif isinstance(view, RelationsView):
        for file in view.files:
            yield file.path
            yield from (path for _, path in (*file.out, *file.into))
    elif not isinstance(view, ManifestView):
        yield from (one.path for one in view.files)
