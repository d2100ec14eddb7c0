"""What a query finds, as a ranker sees it: for what trains one, and for trials of it.

It looks the same way as a search does, in the same index; nothing is shown of it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vaultmind.index.ranker.features import columns
from vaultmind.index.ranker.model import EXACT, Model
from vaultmind.index.ranker.names import FEATURES
from vaultmind.index.ranker.registry import registry_of
from vaultmind.index.ranker.scene import Floats
from vaultmind.index.storage.found import chunks_of
from vaultmind.index.words.terms import shortened
from vaultmind.types import PERSON, Caller, Chunk, Kind

if TYPE_CHECKING:
    from vaultmind.index.search.strongest import Strongest

_EXACT = list(FEATURES).index("exact")
_SAMPLED = "SELECT rowid FROM chunks WHERE kind = ? AND length(text) >= ? ORDER BY rowid"


@dataclass(frozen=True, slots=True)
class Seen:
    """The candidates of a query that may be shown to whoever asks."""

    query: str
    chunks: tuple[Chunk, ...]
    features: Floats
    """A row a candidate, a column a feature by `names`."""
    names: tuple[str, ...]
    """Of the features: those of meaning only where there are vectors."""
    embedder: str
    """The id of what measured closeness; empty for none."""

    def order(self, weights: Floats) -> list[int]:
        """Return the rows by a linear model, best first, as a search would have them."""
        scores = self.features @ weights
        exact = self.features[:, _EXACT] >= EXACT
        return [int(at) for at in np.lexsort((np.arange(len(scores)), -scores, ~exact))]


class Scenes:
    """Asks an index for candidates with their features. Any thread."""

    def __init__(self, strongest: Strongest) -> None:
        """Take what looks in the index and makes no answer of it."""
        self._strongest, self._outlet = strongest, strongest.outlet
        self._damage, self._database = strongest.damage, strongest.text.database

    def of(self, query: str, caller: Caller) -> Seen | None:
        """Return what a query finds; None where that is nothing. Raises IndexUnavailable."""
        with self._damage.noticed():
            found = self._strongest.candidates(query, caller)
            if found is None or found.order is None:
                return None
            scene = found.order.scene
            rowids = [int(rowid) for rowid in scene.rowids[: scene.count]]
            chunks = self._chunks(rowids)
        shows = self._outlet.shown_to(caller)
        rows = [at for at, one in enumerate(rowids) if one in chunks and shows(chunks[one])]
        told = columns(scene)
        names = tuple(name for name in FEATURES if name in told)
        stacked = np.stack([told[name] for name in names], axis=1)[rows]
        embedder = found.embedder if scene.meaning is not None else ""
        return Seen(
            shortened(query), tuple(chunks[rowids[at]] for at in rows), stacked, names, embedder
        )

    def sample(self, kind: Kind, count: int, least_letters: int) -> tuple[Chunk, ...]:
        """Return chunks of one kind, of all over the vault: of the same vault the same.

        As many files as there are come before a second chunk of any. For the person's eyes.
        """
        with self._damage.noticed():
            with self._database.read() as connection:
                rows = connection.execute(_SAMPLED, (kind, least_letters)).fetchall()
            rowids = [row[0] for row in rows]
            found = self._chunks(rowids[:: max(1, len(rowids) // (4 * count))] if rowids else ())
        mixed = sorted(found.values(), key=lambda one: zlib.crc32(one.id.encode()))
        shows = self._outlet.shown_to(PERSON)
        mixed = [one for one in mixed if shows(one)]
        by_path = {one.path: one for one in reversed(mixed)}
        first = [one for one in mixed if by_path[one.path] is one]
        rest = [one for one in mixed if by_path[one.path] is not one]
        return tuple([*first, *rest][:count])

    def active(self, embedder: str) -> Model:
        """Return the model that ranks now, of an embedder by its id, or of none (empty)."""
        paths = self._outlet.paths
        return registry_of(paths.root / paths.memory_dir).choose(embedder)

    def _chunks(self, rowids: Sequence[int]) -> dict[int, Chunk]:
        with self._database.read() as connection:
            return chunks_of(connection, rowids)
