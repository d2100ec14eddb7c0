"""An erasure reaches what is kept of a vault's files for planning, too. Implements IndexErasing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vaultmind.errors import VaultMindError
from vaultmind.ports import IndexErasing
from vaultmind.types import Chunk, Scrubbed

if TYPE_CHECKING:
    from vaultmind.planner.sources.sources import Sources

SETTLE_SECONDS = 60.0


class SourcesErasing:
    """Takes erased texts out of the vault's index, and out of the records made of its files."""

    def __init__(self, index: IndexErasing, sources: Sources) -> None:
        self._index = index
        self._sources = sources

    def begin(self) -> None:
        """Note that files are about to change."""
        self._index.begin()

    def scrub(self, paths: Iterable[str]) -> Scrubbed:
        """Index the paths as they stand, and clean all that was made of what they said."""
        scrubbed = self._index.scrub(paths)
        for source in self._sources.all():
            if source.kind == "vault" and source.structure is not None:
                try:
                    source.structure.settle(SETTLE_SECONDS)
                except VaultMindError as error:
                    fault = f"what planning keeps could not be cleaned ({error})"
                    return Scrubbed(scrubbed.traces, (*scrubbed.faults, fault))
        return scrubbed

    def saying(self, text: str, limit: int) -> list[Chunk]:
        """Return the chunks that hold words of a text, likeliest first."""
        return self._index.saying(text, limit)

    def nearest_to(self, texts: Sequence[str], limit: int) -> list[tuple[Chunk, float]] | None:
        """Return the chunks that mean nearly the same as a text."""
        return self._index.nearest_to(texts, limit)
