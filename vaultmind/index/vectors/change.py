"""A change of embedder: all chunks get a vector of the new one in a second set, then they swap.

Until then the old vectors are searched, with the embedder that made them if it can still be opened.
The second set stands in the store and in the table `staged`; a process that is killed goes on where
it was, and who changes back before the end finds everything as it was.
"""

from __future__ import annotations

from dataclasses import dataclass

from vaultmind.index.embedders.patient import Patient
from vaultmind.index.storage.database import NOT_EMBEDDED, Database
from vaultmind.index.vectors.cached import compare, compare_staged, keep_only
from vaultmind.index.vectors.filling import Filling
from vaultmind.index.vectors.store import OwnedStore
from vaultmind.types import Progress

IN_USE, IN_USE_SPEC, STAGING, STAGING_SPEC = (
    "embedder",
    "embedder_spec",
    "staging",
    "staging_spec",
)
"""Keys of the database: ids of the embedders whose vectors are served and filled, and how each is
opened again."""
_MEGABYTE = 1_000_000
_SIZE_EVERY = 20
"""Steps after which the disk use is looked at again."""


@dataclass(frozen=True, slots=True)
class Made:
    """An embedder, as it is kept beside its vectors."""

    by: str
    """Its id."""
    spec: str
    """What it can be opened by again."""


class Change:
    """The change to another embedder. One thread."""

    def __init__(
        self, database: Database, store: OwnedStore, embedder: Patient, made: Made
    ) -> None:
        """Take the new embedder, and what is kept of it."""
        self._database = database
        self._store = store
        self.embedder = embedder
        self._made = made
        self._steps = 0
        self._size = ""
        self.progress = Progress(0, 0, "embedding")

    def begin(self) -> None:
        """Begin, or go on with what an earlier process began."""
        with self._database.write() as connection:
            if self._database.get(STAGING) != self._made.by:
                connection.execute("DELETE FROM staged")
            self._database.set(STAGING, self._made.by)
            self._database.set(STAGING_SPEC, self._made.spec)
        self._store.stage(self._made.by)
        compare_staged(self._database, self._store)
        keep_only(self._database, (self._database.get(IN_USE), self.embedder.id))
        self._count()

    def step(self, filling: Filling) -> bool:
        """Give some chunks their new vector; False once all have one. Raises EmbedderAway."""
        more = filling.stage_some(self.embedder)
        self._count()
        return more

    def note(self, answering: str) -> str:
        """Return how far it is, in words; `answering` is the embedder that is asked meanwhile."""
        done, total = self.progress.done, self.progress.total
        how = f"Re-embedding for {self.embedder.id}: {done:,} of {total:,} chunks"
        if self.embedder.away:
            how = f"{how}, but it does not answer now ({self.embedder.reason})"
        rest = f"search goes by {answering}" if answering else "search goes by words only"
        return f"{how}. Until then {rest}, and the old vectors stay beside the new{self._size}."

    def _count(self) -> None:
        with self._database.read() as connection:
            (total,) = connection.execute(
                "SELECT count(*) FROM chunks WHERE embedded != ?", (NOT_EMBEDDED,)
            ).fetchone()
            (done,) = connection.execute("SELECT count(*) FROM staged").fetchone()
        self.progress = Progress(min(done, total), total, "embedding anew")
        if self._steps % _SIZE_EVERY == 0:
            self._size = f" ({self._store.size_bytes() / _MEGABYTE:.0f} MB on disk)"
        self._steps += 1


def promote(database: Database, store: OwnedStore) -> None:
    """Serve the second set from now on. The old vectors are gone from disk, but for the cache.

    A process that is killed between the two steps is told by the store whose vectors it serves:
    see `finish`. Can be done again when the second step failed.
    """
    if store.made_by != database.get(STAGING):
        store.promote()
    _adopt(database)


def finish(database: Database, store: OwnedStore) -> None:
    """Do what a process that was killed in the middle of a swap did not do."""
    if store.made_by and store.made_by == database.get(STAGING) != database.get(IN_USE):
        _adopt(database)


def agree(database: Database, store: OwnedStore, filling: Filling, made: Made) -> None:
    """Make store and database agree on vectors of an embedder; begin anew if they are another's.

    A second set is thrown away: the embedder that is served is the configured one (again).
    """
    previous = database.get(IN_USE)
    if previous != made.by and (previous or store.collections()):
        store.reset()
        filling.begin_anew()
    store.unstage()
    own(database, store, made)
    compare(database, store)


def own(database: Database, store: OwnedStore, made: Made) -> None:
    """Note whose vectors are served, and that there is no second set."""
    with database.write() as connection:
        connection.execute("DELETE FROM staged")
        database.set(IN_USE, made.by)
        database.set(IN_USE_SPEC, made.spec)
        database.set(STAGING, "")
    store.stamp(made.by)


def _adopt(database: Database) -> None:
    """Count as embedded what has a vector in the set that is served now."""
    with database.write() as connection:
        connection.execute(
            "UPDATE chunks SET embedded = EXISTS (SELECT 1 FROM staged s WHERE s.id = chunks.id"
            " AND s.text_hash = chunks.text_hash) WHERE embedded != ?",
            (NOT_EMBEDDED,),
        )
        connection.execute("DELETE FROM staged")
        database.set(IN_USE, database.get(STAGING))
        database.set(IN_USE_SPEC, database.get(STAGING_SPEC))
        database.set(STAGING, "")
