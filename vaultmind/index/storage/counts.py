"""How much of a vault is in its index: numbers of one version of the database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vaultmind.index.storage.database import EMBEDDED, NOT_EMBEDDED, Database
from vaultmind.types import Fault


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of one version of the database."""

    version: int
    files: int = 0
    chunks: int = 0
    vectors: int = 0
    embeddable: int = 0
    faults: tuple[Fault, ...] = ()
    scanned: tuple[Fault, ...] = ()

    @property
    def known(self) -> int:
        """Return how many files there are, those that could not be read among them."""
        return self.files + sum(fault.severity == "skipped" for fault in self.faults)


def searchable_by_meaning(counts: Counts) -> str:
    """Return how much can be found by meaning, while that is not all."""
    if counts.vectors >= counts.embeddable:
        return ""
    return (
        f"Meaning is searchable for {counts.vectors:,} of {counts.embeddable:,} chunks so far; "
        "words for all."
    )


def counted(
    database: Database,
    held: Counts,
    scanned: tuple[Fault, ...],
    faults: Callable[[], tuple[Fault, ...]],
) -> Counts:
    """Return the numbers of the database: those held, if nothing was written since."""
    version = database.version
    if held.version == version and held.scanned is scanned:
        return held
    with database.read() as connection:
        files, chunks, vectors, embeddable = connection.execute(
            "SELECT (SELECT count(*) FROM files WHERE severity != 'skipped'),"
            " (SELECT count(*) FROM chunks),"
            " (SELECT count(*) FROM chunks WHERE embedded = ?),"
            " (SELECT count(*) FROM chunks WHERE embedded != ?)",
            (EMBEDDED, NOT_EMBEDDED),
        ).fetchone()
    return Counts(version, files, chunks, vectors, embeddable, faults(), scanned)
