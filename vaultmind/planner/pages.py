"""Pages: files of a source as they stand on disk now, and whether they still do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmind.errors import IndexUnavailable, VaultMindError
from vaultmind.redact import blank_passages
from vaultmind.types import Freshness
from vaultmind.vault.files import FileStat

if TYPE_CHECKING:
    from vaultmind.index.db import FileRow
    from vaultmind.planner.sources import Source
    from vaultmind.planner.types import FileRecord

MOST_SHAS = 400
"""Names that are looked up in one statement."""


@dataclass(frozen=True, slots=True)
class Page:
    """A file as it was read for a plan."""

    path: str
    text: str
    """Without private passages and keys; every offset and line as on disk."""
    sha: str
    stat: FileStat
    record: FileRecord | None
    """What is known of it, if that is of these very bytes."""
    indexed: bool
    """Whether the index holds these very bytes: only then its offsets are right."""
    outdated: bool
    """Whether the index holds other bytes of it."""
    guarded: bool
    """Whether it is an agent's memory, of which only what a search let through may be shown."""


def indexed_rows(source: Source, paths: Sequence[str]) -> list[FileRow]:
    """Return files as the index has them; none while it cannot be read."""
    try:
        return source.index.rows(paths)
    except IndexUnavailable:
        return []


def indexed_shas(source: Source, paths: Iterable[str]) -> dict[str, str]:
    """Return the hashes that files had when they were indexed."""
    wanted = list(dict.fromkeys(paths))[:MOST_SHAS]
    return {row.path: row.sha for row in indexed_rows(source, wanted)}


def read_page(source: Source, path: str, indexed_sha: str) -> Page | None:
    """Read a file anew; None where it is gone or cannot be read."""
    try:
        file = source.reader.read(path)
    except VaultMindError:
        return None
    record = source.structure.record(path) if source.structure else None
    return Page(
        path,
        blank_passages(file.text),
        file.sha,
        file.stat,
        record if record is not None and record.sha == file.sha else None,
        indexed_sha == file.sha,
        indexed_sha not in ("", file.sha),
        bool(source.index.outlet.paths.agent_of(path)),
    )


def state_of(source: Source, page: Page) -> Freshness:
    """Return how a page stands to the disk: FRESH where the file is as it was read."""
    try:
        now = source.reader.stat(page.path)
    except VaultMindError:
        return "DIRTY"
    if now is None or now != page.stat:
        return "STALE"
    return "FRESH"
