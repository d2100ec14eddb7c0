"""What consolidation works with, put together from the parts of the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from vaultmind.config import Config
from vaultmind.consolidate import state
from vaultmind.consolidate.means import ConsolidationSettings, Engines, Means, MemoryGate
from vaultmind.ports import Clock, Embedder
from vaultmind.session.records.reading import Hides
from vaultmind.session.records.shelf import Head
from vaultmind.vault.files import VaultReader

if TYPE_CHECKING:
    from vaultmind.consolidate.model.thinking import Thinker
    from vaultmind.consolidate.model.writing import ModelWriter


@dataclass(frozen=True, slots=True)
class Common:
    """What consolidation and the making of levels both need."""

    gate: MemoryGate
    reader: VaultReader
    hides: Hides
    heads: Callable[[str], Sequence[Head]]
    clock: Clock
    device: str
    embedder: Callable[[], Embedder | None]
    """Waits a while for one that is being loaded."""


def means_of(
    common: Common,
    config: Config,
    *,
    writer: Callable[[], ModelWriter],
    thinker: Callable[[], Thinker],
    end_idle: Callable[[str], object],
    seconds_today: Callable[[], float],
) -> Means:
    """Return the means; what understands and sums up is made when it is first needed."""

    @cache
    def engines() -> Engines:
        from vaultmind.consolidate.levels.making import Levels, LevelsMeans

        made = writer()
        means = LevelsMeans(
            common.gate,
            common.reader,
            made,
            common.hides,
            common.heads,
            common.clock,
            common.device,
            config.levels,
            made.plain,
            common.embedder,
        )
        return Engines(thinker(), Levels(means))

    settings = ConsolidationSettings(
        auto=config.consolidation.auto,
        delay_seconds=config.consolidation.delay_seconds,
        max_facts=config.extraction.max_facts,
    )
    return Means(
        gate=common.gate,
        reader=common.reader,
        engines=engines,
        hides=common.hides,
        heads=common.heads,
        clock=common.clock,
        device=common.device,
        state=config.state_dir / state.FILE,
        settings=settings,
        end_idle=end_idle,
        embedder=common.embedder,
        seconds_today=seconds_today,
    )
