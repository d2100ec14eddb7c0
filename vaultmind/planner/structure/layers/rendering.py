"""Layers in words: one short line for each thing, the most telling first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vaultmind.planner.structure.layers.views import (
    ChangesView,
    IndexView,
    LayerView,
    ManifestView,
    MapView,
    RelationsView,
    Surface,
    SurfaceView,
    WorkView,
)
from vaultmind.planner.types import Detail, Layer
from vaultmind.plural import counted

TITLES: Mapping[Layer, str] = {
    "L0": "map", "L1": "index", "L2": "relations", "L3": "surface", "L4": "manifest",
    "L5": "tasks and tests", "L6": "changes",
}  # fmt: skip
CLIPS: Mapping[Detail, int] = {"compact": 90, "normal": 160, "verbose": 240}
"""Characters of a sentence: an abstract, a signature, a task."""
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
"""A file may be called anything; each thing stands on one line all the same."""
_INTO = {"import": "imported by", "link": "linked from", "embed": "embedded in",
         "inherits": "base of", "tests": "tested by"}  # fmt: skip
_OUT = {"import": "imports", "link": "links to", "embed": "embeds", "inherits": "inherits from",
        "tests": "tests"}  # fmt: skip


def render(view: LayerView, detail: Detail) -> str:
    """Return a layer in words, under its heading."""
    lines = [f"## {view.layer} {TITLES[view.layer]}", *_RENDERED[type(view)](view, detail)]
    if len(lines) == 1:
        lines.append("Nothing.")
    if view.omitted:
        lines.append(f"… and {view.omitted:,} more.")
    return "\n".join(_BREAKS.sub(" ", line) for line in lines)


def _map(view: MapView, detail: Detail) -> Iterator[str]:
    for folder in view.folders:
        kinds = ", ".join(f"{count:,} {kind or 'other'}" for kind, count in folder.kinds[:4])
        yield f"{folder.path or './'} {counted(folder.files, 'file')}: {kinds}"
    if view.entries:
        yield "Begin with:"
        yield from (f"- {_titled(one.path, one.title)}" for one in view.entries)
    if view.hot:
        yield "Where work goes on:"
        for hot in view.hot:
            times = f" ({counted(hot.changes, 'commit')})" if hot.changes else ""
            yield f"- {hot.path}{times}"


def _index(view: IndexView, detail: Detail) -> Iterator[str]:
    for one in view.files:
        parts = _list(map(_clipped(detail), one.parts), one.omitted)
        yield f"{_titled(one.path, one.title)}{': ' if parts else ''}{parts}"


def _relations(view: RelationsView, detail: Detail) -> Iterator[str]:
    for one in view.files:
        said = [f"{_INTO[kind]} {_list(paths)}" for kind, paths in _grouped(one.into)]
        said += [f"+{one.more_into} more"] if one.more_into else []
        said += [f"{_OUT[kind]} {_list(paths)}" for kind, paths in _grouped(one.out)]
        said += [f"+{one.more_out} more"] if one.more_out else []
        yield f"{one.path}: {'; '.join(said)}"


def _surface(view: SurfaceView, detail: Detail) -> Iterator[str]:
    for one in view.files:
        yield from _surface_of(one, detail)


def _surface_of(one: Surface, detail: Detail) -> Iterator[str]:
    clip = _clipped(detail)
    yield f"{one.path}{': ' if one.abstract else ''}{clip(one.abstract)}"
    if one.properties:
        said = _list(clip(f"{name}: {value}") for name, value in one.properties)
        yield f"  {said}"
    for signature, summary in one.signatures:
        more = f"  # {summary}" if summary and detail != "compact" else ""
        yield f"  {clip(signature)}{clip(more)}"
    if one.omitted:
        yield f"  +{one.omitted} more"


def _manifest(view: ManifestView, detail: Detail) -> Iterator[str]:
    if view.kinds:
        kinds = _list(f"{kind or 'other'} {count:,}" for kind, count in view.kinds)
        yield f"Files: {kinds}"
    if view.tags:
        yield f"Tags: {_list(f'#{tag} ({count})' for tag, count in view.tags)}"
    if view.properties:
        yield "Properties of notes:"
        clip = _clipped(detail)
        for one in view.properties:
            yield f"- {one.name} ({one.notes}): {_list(map(clip, one.values))}"


def _work(view: WorkView, detail: Detail) -> Iterator[str]:
    clip = _clipped(detail)
    if view.open or view.done:
        yield f"{counted(view.open, 'open task')}, {view.done:,} done."
    for one in view.tasks:
        yield f"{one.path}:"
        yield from (f"- [ ] {clip(task)}" for task in one.tasks)
        if one.omitted:
            yield f"  +{one.omitted} more"
    for test in view.tests:
        touched = _list(test.touches, test.omitted)
        yield f"{test.path}{' tests ' if touched else ''}{touched}"


def _changes(view: ChangesView, detail: Detail) -> Iterator[str]:
    head = f"Since {view.since}" if view.asked else view.since[:1].upper() + view.since[1:]
    yield f"{head}:" + (f" ({view.note})" if view.note else "")
    for one in view.files:
        plain = one.kind == "modified" and bool(one.commits or one.day)
        said: list[str] = [] if plain else [one.kind]
        said += ["not committed"] if one.uncommitted else []
        said += [counted(one.commits, "commit")] if one.commits else []
        said += [one.day] if one.day else []
        yield f"- {one.path} ({', '.join(said)})"
    if not view.files:
        yield "No file changed."
    if view.commits and detail != "compact":
        yield "Commits:"
        for commit in view.commits:
            yield f"- {commit.id} {commit.day} {_clipped(detail)(commit.subject)}".rstrip()


def _grouped(ties: Iterable[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    grouped: dict[str, list[str]] = {}
    for kind, path in ties:
        grouped.setdefault(kind, []).append(path)
    yield from grouped.items()


def _titled(path: str, title: str) -> str:
    name = path.rpartition("/")[2].casefold()
    return path if title.casefold() in ("", name, name.rpartition(".")[0]) else f"{path} “{title}”"


def _list(items: Iterable[str], omitted: int = 0) -> str:
    said = [*items, *([f"+{omitted} more"] if omitted else [])]
    return ", ".join(said)


def _clipped(detail: Detail) -> Any:  # noqa: ANN401
    most = CLIPS[detail]
    return lambda text: text if len(text) <= most else f"{text[: most - 2].rstrip()} …"


_RENDERED: Mapping[type[Any], Any] = {
    MapView: _map, IndexView: _index, RelationsView: _relations, SurfaceView: _surface,
    ManifestView: _manifest, WorkView: _work, ChangesView: _changes,
}  # fmt: skip
