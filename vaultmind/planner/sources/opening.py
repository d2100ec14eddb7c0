"""How the index of a linked folder and the structure of a source are opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.config import Config
from vaultmind.index.index import Index
from vaultmind.index.linked import MAX_BYTES, FolderGround, NamedLines
from vaultmind.index.outlet import Withheld
from vaultmind.planner.sources.sources import OpenIndex, OpenStructure, Sources, SourcesMeans
from vaultmind.ports import Clock, Embedder
from vaultmind.vault.files import VaultReader

if TYPE_CHECKING:
    from vaultmind.planner.structure import Structure


def open_sources(
    config: Config,
    index: Index,
    reader: VaultReader,
    withheld: Withheld,
    *,
    lend: Callable[[], Embedder | None],
    clock: Clock,
) -> Sources:
    """Return the vault, by its index and reader, and the folders linked to it, not yet started.

    `lend` gives the vault's embedder to their indexes.
    """
    means = SourcesMeans(
        config.vault,
        index,
        reader,
        config.state_dir,
        config.config_folder,
        folder_indexes(config, withheld, lend, clock),
        structures(clock),
    )
    return Sources(means)


def folder_indexes(
    config: Config, withheld: Withheld, lend: Callable[[], Embedder | None], clock: Clock
) -> OpenIndex:
    """Return what opens the index of a linked folder, with an embedder that is lent to it."""
    megabytes = min(config.index.max_file_mb, MAX_BYTES / 1_000_000)
    settings = replace(config.index, max_file_mb=megabytes)

    def opens(root: Path, state_dir: Path) -> tuple[Index, VaultReader]:
        own = replace(config, vault=root, state_dir=state_dir, index=settings)
        ground = FolderGround(root, config.index.exclude, cut_by_definitions, _cutter_format())
        index = Index(own, ground, withheld, clock=clock, embedder=lend)
        return index, index.outlet.reader

    return opens


def structures(clock: Clock) -> OpenStructure:
    """Return what opens the structure of a source; nothing is read before it is asked for."""

    def opens(name: str, database: Path, index: Index, reader: VaultReader) -> Structure:
        from vaultmind.planner.structure import Structure

        return Structure(name, database, index, reader, clock=clock)

    return opens


def cut_by_definitions(path: str, text: str) -> Sequence[NamedLines]:
    """Return where code is cut: whole definitions where the language's grammar is installed."""
    from vaultmind.planner.spans import code_spans

    return code_spans(path, text)


def _cutter_format() -> str:
    """Return which grammars there are: with others, code is cut elsewhere."""
    from vaultmind.planner.code import grammars

    return ",".join(grammars())
