"""Layers as they are asked for: from what is held, made anew where the source has changed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, cast

from vaultmind import tokens
from vaultmind.planner.structure.layers.changing import Since, changes_view, since_of
from vaultmind.planner.structure.layers.overview import index_view, map_view, surface_view
from vaultmind.planner.structure.layers.rendering import render
from vaultmind.planner.structure.layers.routing import ROUTES
from vaultmind.planner.structure.layers.sight import Sight
from vaultmind.planner.structure.layers.tied import manifest_view, relations_view, work_view
from vaultmind.planner.structure.layers.views import Explored, LayerView, paths_in
from vaultmind.planner.types import CacheStatus, Detail, Layer, TaskKind
from vaultmind.plural import counted
from vaultmind.redact import mask
from vaultmind.types import Progress

if TYPE_CHECKING:
    from vaultmind.planner.structure.structure import Structure

SETTLE_SECONDS = 0.25
"""How long an answer waits for files that have just changed."""
_TRIES = 4
"""Times that layers are made anew since a file in them is not as it was read."""


@dataclass(frozen=True, slots=True)
class _Made:
    """A layer as it was made: what it says, and the files that it speaks of."""

    view: LayerView
    text: str
    tokens: int
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """How layers are asked for."""

    detail: Detail
    since: str


@dataclass(frozen=True, slots=True)
class _Current:
    """Layers as a look at the source found them."""

    sight: Sight
    made: list[_Made]
    cached: tuple[Layer, ...]
    is_sure: bool
    """Whether all that they speak of stood as it was read when they were done."""
    left_out: int
    """Layers that spoke of what was hidden meanwhile."""


def layers(
    structure: Structure,
    which: Sequence[Layer],
    *,
    since: str = "",
    detail: Detail = "compact",
    now: datetime,
) -> tuple[LayerView, ...]:
    """Return layers of a source, checked against the disk.

    Raises BadArgument for a `since` that is neither a time nor a revision.
    """
    current = _current(structure, now, which, _Asked(detail, since))
    return tuple(one.view for one in current.made)


def explore(
    structure: Structure,
    kind: TaskKind = "unknown",
    *,
    detail: Detail = "compact",
    since: str = "",
    which: Sequence[Layer] = (),
    now: datetime | None = None,
) -> Explored:
    """Return the layers that a kind of task needs, or those named.

    Raises BadArgument for a `since` that is neither a time nor a revision.
    """
    began = time.perf_counter()
    now = now or structure.clock()
    structure.settle(SETTLE_SECONDS)
    wanted = tuple(dict.fromkeys(which)) or ROUTES[kind]
    current = _current(structure, now, wanted, _Asked(detail, since))
    made, cached = current.made, current.cached
    progress = structure.progress
    unread = progress.total - progress.done
    freshness = _freshness(structure, unread)
    return Explored(
        source=structure.name,
        query_type=kind,
        detail=detail,
        cache_status=_status(len(cached), len(wanted), complete=not unread),
        freshness="stale" if freshness == "fresh" and not current.is_sure else freshness,
        layers=tuple(one.view for one in made),
        text="\n\n".join(one.text for one in made),
        tokens=sum(one.tokens for one in made),
        took_ms=(time.perf_counter() - began) * 1000,
        cached=cached,
        notes=tuple(_notes(current, progress)),
    )


def _current(
    structure: Structure, now: datetime, wanted: Sequence[Layer], asked: _Asked
) -> _Current:
    """Return layers that speak of no file which is not on disk as it was read, or is hidden.

    A layer was at hand when what it says is what it said the last time.
    """
    missed: set[Layer] = set()
    for _ in range(_TRIES + 1):
        sight = Sight(structure, now)  # each try looks anew: rules or commits may be others
        meant = since_of(sight, asked.since)
        made = []
        for layer in wanted:
            one, was_held = _layer(sight, layer, asked.detail, meant)
            made.append(one)
            missed |= set() if was_held else {layer}
        paths = {path for one in made for path in one.paths}
        is_sure = structure.verify(paths) and sight.is_current
        if is_sure:
            break
    # Of the last try is kept what was read anew a moment ago; nothing that is hidden by now.
    shown = [one for one in made if is_sure or all(map(structure.shows, one.paths))]
    cached = tuple(layer for layer in wanted if layer not in missed)
    if not is_sure and not sight.is_current:
        shown = [one for one in shown if one.view.layer != "L6"]
    return _Current(sight, shown, cached, is_sure, len(made) - len(shown))


def _layer(sight: Sight, layer: Layer, detail: Detail, since: Since) -> tuple[_Made, bool]:
    """Return a layer, and whether it was at hand: what it says has not changed since."""
    key = ("layer", layer, detail, since.words if layer == "L6" else "")
    stamp = _stamp(sight, layer, since)
    held = sight.structure.cache.get(key)

    def make() -> _Made:
        view = _view(sight, layer, detail, since)
        if held is not None and held[1].view == view:
            return cast(_Made, held[1])  # the change was none of this layer's
        text = mask(render(view, detail)).text
        return _Made(view, text, tokens.count(text), tuple(dict.fromkeys(paths_in(view))))

    made, _ = sight.held(key, stamp, make)
    return made, held is not None and made is held[1]


def _stamp(sight: Sight, layer: Layer, since: Since) -> Hashable:
    """Return what differs once a layer would say something else."""
    structure = sight.structure
    if layer == "L6":
        timed = since.at and sight.past is None
        return (sight.changes_stamp, since, structure.version if timed else 0)
    if layer == "L0":
        return (structure.stamp("L0"), sight.order_stamp, sight.changes_stamp)
    if layer == "L5":
        return (structure.stamp("L5", "L2"), sight.order_stamp)
    return (structure.stamp(layer), sight.order_stamp)


def _view(sight: Sight, layer: Layer, detail: Detail, since: Since) -> LayerView:
    if layer == "L6":
        return changes_view(sight, detail, since)
    return _VIEWS[layer](sight, detail)


_VIEWS: Mapping[Layer, Callable[[Sight, Detail], LayerView]] = {
    "L0": map_view, "L1": index_view, "L2": relations_view, "L3": surface_view,
    "L4": manifest_view, "L5": work_view,
}  # fmt: skip


def _notes(current: _Current, progress: Progress) -> Iterator[str]:
    """Yield in words what is missing."""
    sight = current.sight
    if current.left_out:
        yield "The source is changing: what may no longer be so is left out. Ask again."
    if progress.done < progress.total:
        yield f"Still reading: {progress.done:,} of {counted(progress.total, 'file')}."
    if sight.structure.fault:
        yield sight.structure.fault
    yield from sight.held("lacking", sight.structure.version, lambda: _lacking(sight))[0]


def _lacking(sight: Sight) -> tuple[str, ...]:
    """Return for which languages nothing reads code: their files are names and text only."""
    faults = Counter(
        one.fault for one in sight.records.values() if one.shape == "code" and not one.definitions
    )
    lacks = [(fault, count) for fault, count in faults.most_common() if "grammar" in fault]
    return tuple(
        f"{counted(count, 'file')} of code as text only: {fault}." for fault, count in lacks[:3]
    )


def _status(at_hand: int, wanted: int, *, complete: bool) -> CacheStatus:
    if at_hand == wanted and complete:
        return "hit"
    return "partial" if at_hand or not complete else "rebuilt"


def _freshness(structure: Structure, unread: int) -> Literal["fresh", "stale", "dirty"]:
    if structure.settled:
        return "fresh"
    return "dirty" if unread else "stale"
