"""The built-in rules, made ready to find the facts of any conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vaultmind.consolidate.extract import extract
from vaultmind.consolidate.talk import Understand
from vaultmind.consolidate.types import Extraction
from vaultmind.ports import Embedder
from vaultmind.types import Fact, Message


class Rules:
    """Implements `FactFinder`: surer with an embedder, once it is loaded."""

    def __init__(
        self,
        embedder: Callable[[], Embedder | None] = lambda: None,
        understand: Understand | None = None,
    ) -> None:
        """Take what hears a person's own phrases as `understand`."""
        self._embedder = embedder
        self._understand = understand

    def __call__(
        self, messages: Sequence[Message], brain: Sequence[Fact], *, max_facts: int
    ) -> Extraction:
        """Return what a conversation leaves behind; `brain` is what is known already."""
        return extract(
            messages,
            brain,
            max_facts=max_facts,
            embedder=self._embedder(),
            understand=self._understand,
        )
