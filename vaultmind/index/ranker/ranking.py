"""Ranking at work: the scene of a search, the model that fits it, and what it makes of it."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

from vaultmind.index.embedders.scale import scale_of
from vaultmind.index.ranker.gather import Memory, gather
from vaultmind.index.ranker.model import Model, ordered
from vaultmind.index.ranker.pool import Found
from vaultmind.index.ranker.registry import Registry, Stamp, registry_of, stamp_of
from vaultmind.index.ranker.scene import Floats, Scene
from vaultmind.index.ranker.why import why
from vaultmind.index.storage.database import Database
from vaultmind.types import Reason


@dataclass(frozen=True, slots=True)
class Order:
    """Candidates as a model ranks them."""

    rowids: tuple[int, ...]
    """Best first."""
    scores: Mapping[int, float]
    """The model's; those of two queries do not compare."""
    closeness: Mapping[int, float]
    """In meaning, on the embedder's scale: 0 unrelated, 1 says the same; only of what has a
    vector."""
    when: Mapping[int, float]
    """How near each is to the time that the query names."""
    undated: Collection[int]
    """Those without a time of their own."""
    model: Model
    scene: Scene
    features: Floats
    """Of every candidate, as the model saw them."""

    def reasons(self, rowids: Collection[int]) -> dict[int, tuple[Reason, ...]]:
        """Return why some candidates stand where they stand."""
        return why(self.model, self.scene, self.features, rowids)


class Ranking:
    """Chooses models and ranks with them. Any thread."""

    def __init__(self, memory_folder: Path) -> None:
        """Take the vault's memory folder, which may hold models of its own."""
        self._folder = memory_folder
        self._lock = threading.Lock()
        self._held: tuple[Stamp, Registry] = ((), Registry())
        self.memory = Memory()

    def warm(self, database: Database) -> None:
        """Read what must be known of every chunk, so that the first search need not."""
        self.memory.follow(database)

    def rowids(self, database: Database, names: Sequence[str]) -> dict[str, int]:
        """Return the rowid of each chunk that there is, by its id."""
        self.memory.follow(database)
        with self.memory.chunks.lock:
            return self.memory.chunks.rowids(names)

    def order(self, database: Database, found: Found) -> Order | None:
        """Return what was found, ranked; None where nothing was."""
        scene = gather(database, found, self.memory)
        if scene is None:
            return None
        model = self.registry().choose("" if scene.meaning is None else found.embedder)
        scores, features = model.score(scene)
        best = ordered(scores, scene)
        rowids: list[int] = scene.rowids[: scene.count].tolist()
        written = scene.written
        return Order(
            tuple(rowid for rowid, _ in best),
            dict(best),
            _closeness(found, scene, rowids),
            dict(zip(rowids, written.when.tolist(), strict=True)),
            {*compress(rowids, (~written.dated).tolist())},
            model,
            scene,
            features,
        )

    def registry(self) -> Registry:
        """Return the models at hand; the vault's own are read again when their files change."""
        stamp = stamp_of(self._folder)
        with self._lock:
            if self._held[0] != stamp:
                self._held = (stamp, registry_of(self._folder, stamp))
            return self._held[1]


def _closeness(found: Found, scene: Scene, rowids: Sequence[int]) -> dict[int, float]:
    scale, meaning = scale_of(found.embedder), scene.meaning
    near = {rowid: scale.place(cosine) for rowid, cosine in found.near.items()}
    if meaning is not None:
        known = meaning.known[: len(rowids)].tolist()
        told = zip(rowids, meaning.closeness[: len(rowids)].tolist(), strict=True)
        near |= compress(told, known)
    return near
