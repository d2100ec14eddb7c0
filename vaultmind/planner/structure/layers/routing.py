"""Which layers a kind of task needs, and the files that these layers put first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from vaultmind.planner.structure.layers.changing import change_files
from vaultmind.planner.structure.layers.overview import (
    by_turns,
    index_files,
    map_files,
    surface_files,
)
from vaultmind.planner.structure.layers.sight import Sight
from vaultmind.planner.structure.layers.tied import manifest_files, relation_files, work_files
from vaultmind.planner.types import Layer, TaskKind

if TYPE_CHECKING:
    from vaultmind.planner.structure.structure import Structure

ROUTES: Mapping[TaskKind, tuple[Layer, ...]] = {
    "bugfix": ("L6", "L1", "L3", "L5"),
    "feature": ("L0", "L1", "L3", "L5"),
    "refactor": ("L2", "L1", "L3", "L5"),
    "incident": ("L6", "L4", "L2", "L3"),
    "research": ("L0", "L1", "L2", "L4"),
    "writing": ("L0", "L1", "L3", "L6"),
    "unknown": ("L0", "L1", "L6"),
}
"""The layers of each kind, the most telling first: a bug sits where things changed, a feature
begins with the map, a refactoring with what leans on what, an incident with the last changes and
what they depend on, research and writing with the map."""

FIRST: Mapping[Layer, Callable[[Sight], list[str]]] = {
    "L0": map_files, "L1": index_files, "L2": relation_files, "L3": surface_files,
    "L4": manifest_files, "L5": work_files, "L6": change_files,
}  # fmt: skip


def routed_files(
    structure: Structure, kind: TaskKind, limit: int, now: datetime | None = None
) -> list[str]:
    """Return the files that a kind's layers put first, each layer's by turns.

    Nothing of the task's words is looked at: this is what routing by type alone can do.
    """
    sight = Sight(structure, now or structure.clock())
    lists = [list(islice(FIRST[layer](sight), limit)) for layer in ROUTES[kind]]
    return [path for path in by_turns(lists) if structure.shows(path)][:limit]
