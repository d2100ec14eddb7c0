"""Making what understands conversations and sums them up, around the models of a configuration."""

from __future__ import annotations

from collections.abc import Callable

from vaultmind.consolidate.model.rules import Rules
from vaultmind.consolidate.model.thinking import Thinker
from vaultmind.consolidate.model.writing import ModelWriter
from vaultmind.consolidate.summarise import ExtractiveSummariser
from vaultmind.consolidate.talk import Understand
from vaultmind.minion.choice import Minion
from vaultmind.ports import Embedder


def writer_of(
    minion: Minion, hear: Understand, embedder: Callable[[], Embedder | None] = lambda: None
) -> ModelWriter:
    """Return what writes summaries: a model where there is one, else the built-in writer."""
    plain = ExtractiveSummariser(hear, embedder)
    return ModelWriter(minion, plain, understand=hear, embedder=embedder)


def thinker_of(
    minion: Minion,
    hear: Understand,
    embedder: Callable[[], Embedder | None],
    writer: ModelWriter | None = None,
) -> Thinker:
    """Return what understands conversations, by a model or by rules.

    `hear` knows a person's own phrases; `writer` is one of the same models.
    """
    writer = writer or writer_of(minion, hear, embedder)
    rules = Rules(embedder, hear)
    return Thinker(minion, rules, writer, plain=writer.plain, understand=hear, embedder=embedder)
