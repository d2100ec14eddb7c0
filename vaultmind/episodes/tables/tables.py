"""The tables of episodes: what their notes say, to be counted and looked up.

The notes are the truth. `follow` brings the tables up to date with them, from nothing if need be.
Any thread; several processes may write.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from vaultmind.episodes.affinity import Deeds
from vaultmind.episodes.tables import reading, writing
from vaultmind.episodes.tables.database import Database
from vaultmind.episodes.tables.following import Notes, follow, put_or_drop, stamp_of
from vaultmind.episodes.tables.holding import Holding
from vaultmind.episodes.tables.projecting import projected
from vaultmind.episodes.tables.retrying import Retrying
from vaultmind.episodes.tables.rows import (
    AffinityRow,
    Completeness,
    Counters,
    EventRow,
    ModelRow,
    Row,
    Stats,
    TaskNews,
    TaskRow,
    Told,
    TouchedFile,
)
from vaultmind.episodes.types import CausalLink, Episode, Offer, State
from vaultmind.ports import Clock
from vaultmind.vault.files import FileStat

FILE = "episodes.db"
MOST_TASKS = 5000
"""Of a source, the newest: those that a new one is compared with."""
_MANY = 1_000_000_000


class Tables:
    """What is known of all episodes. Names are `agent/id`."""

    def __init__(self, path: Path, clock: Clock, how: Retrying | None = None) -> None:
        """Open the file, or begin it anew. Raises IndexUnavailable where neither can be done."""
        self._clock = clock
        self._database = Database(path, how)
        self._counters: tuple[int, Counters] | None = None
        """As of which version of the file, which grows with whatever is written."""
        self._holding = Holding(self._database)

    @property
    def path(self) -> Path:
        """Return the file."""
        return self._database.path

    @property
    def version(self) -> tuple[int, Counters]:
        """Return what differs once `tasks` or `deeds` answers otherwise, whoever wrote that. Cheap.

        What is done in an episode that runs does not change it.
        """
        epoch, seen = self._database.epoch, self._database.version()
        held = self._counters
        if held is None or held[0] != seen:
            self._counters = held = (seen, self._database.read(reading.counters))
        return epoch, held[1]

    @property
    def renewed(self) -> str:
        """Return why the file was begun anew; empty when it was not."""
        return self._database.renewed

    # --- writing ---------------------------------------------------------------------------

    def follow(self, notes: Notes) -> int:
        """Bring the tables up to date with the notes; return how many were taken or dropped.

        What another program wrote, changed or deleted is seen by its stamp, then by its hash.
        """
        return follow(self._database, notes)

    def put(
        self, episode: Episode, stat: FileStat | None = None, offers: Sequence[Offer] | None = None
    ) -> None:
        """Take an episode as it is; of which state of its note that is, `stat` may say.

        Without `offers` those that are held stay.
        """
        row = projected(episode, None if offers is None else tuple(offers))
        stamp = stamp_of(stat, None) if stat else ""
        kept = writing.Kept(episode.name, stamp, fault=episode.flaw)
        self._database.write(lambda it: put_or_drop(it, row, kept))

    def drop(self, name: str) -> None:
        """Forget an episode."""
        self._database.write(lambda it: writing.drop(it, name))

    def put_models(self, models: Iterable[ModelRow]) -> None:
        """Have the models there are instead of those there were."""
        rows = [
            (one.id, one.kind, one.version, one.params_json, one.created_at, int(one.active))
            for one in models
        ]

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM model_registry")
            connection.executemany("INSERT INTO model_registry VALUES (?, ?, ?, ?, ?, ?)", rows)

        self._database.write(work)

    def scrub(self) -> str:
        """Leave no byte of what was dropped; return why that could not be done whole."""
        return self._database.scrub()

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    # --- what planning asks ------------------------------------------------------------------

    def tasks(self, source: str) -> tuple[TaskRow, ...]:
        """Return the tasks of episodes that are over, newest first, at most MOST_TASKS."""
        return self._database.read(lambda it: reading.tasks(it, source, MOST_TASKS))

    def tasks_since(self, source: str, version: tuple[int, Counters] | None) -> TaskNews:
        """Return what of `tasks` changed since it was of some version; all where that is unclear.

        All as well once an episode was dropped: nothing is left that would tell which.
        """
        epoch = self._database.epoch

        def work(connection: sqlite3.Connection) -> TaskNews:
            now = reading.counters(connection)
            if version is None or (epoch, now.dropped) != (version[0], version[1].dropped):
                return TaskNews((epoch, now), reading.tasks(connection, source, MOST_TASKS))
            rows, gone = reading.tasks_since(connection, source, version[1].uses)
            return TaskNews((epoch, now), rows, gone, is_whole=False)

        return self._database.read(work)

    def naming(self, source: str, issues: Sequence[str]) -> tuple[str, ...]:
        """Return the episodes whose task or commits name one of some issues, newest first.

        Of each agent some, so that none is left out for what another has done.
        """
        if not issues:
            return ()
        return self._database.read(lambda it: reading.naming(it, source, issues))

    def touched(self, names: Sequence[str]) -> dict[str, tuple[TouchedFile, ...]]:
        """Return what some episodes did with files, by episode."""
        return self._database.read(lambda it: reading.touched(it, names))

    def first_changes(self, names: Sequence[str]) -> dict[str, dict[str, int]]:
        """Return when some episodes first changed each file, in seconds since 1970, by episode."""
        return self._database.read(lambda it: reading.first_changes(it, names))

    def deeds(self, source: str, names: Sequence[str]) -> list[Deeds]:
        """Return what some episodes of a source did that are over, for `affinity.used`.

        Held in memory, and up to date.
        """
        found = self._holding.find(tuple(dict.fromkeys(names)), self.version)
        return [one for one in found if one.source == source]

    def causal(self, source: str, names: Sequence[str]) -> tuple[CausalLink, ...]:
        """Return why some episodes of a source changed files, the latest first."""
        zone = self._clock().tzinfo
        return self._database.read(lambda it: reading.causal(it, source, names, zone))

    def told(self, names: Sequence[str]) -> dict[str, Told]:
        """Return what there is to tell of some episodes, by episode."""
        return self._database.read(lambda it: reading.told(it, names))

    def changed_parts(self, names: Sequence[str]) -> list[tuple[str, str, str, str]]:
        """Return which parts of files some episodes changed: episode, path, part, block."""
        return self._database.read(lambda it: reading.changed_parts(it, names)) if names else []

    def holds(self, name: str, *stats: FileStat | None) -> bool:
        """Tell whether an episode is held as its note and its offers are now, by their stats."""
        stamp = writing.stamped(stamp_of(*stats))
        query = "SELECT 1 FROM notes WHERE episode = ? AND stamp = ?"
        return self._database.read(
            lambda it: it.execute(query, (name, stamp)).fetchone() is not None
        )

    def affinity(self, fingerprint: str) -> tuple[AffinityRow, ...]:
        """Return what was done for tasks of one fingerprint, by all agents, heaviest first."""
        return self._database.read(lambda it: reading.affinity(it, fingerprint))

    # --- what reports ask --------------------------------------------------------------------

    def episodes(
        self,
        source: str = "",
        agent: str = "",
        since: datetime | None = None,
        limit: int | None = None,
        state: State | None = None,
    ) -> tuple[Row, ...]:
        """Return episodes, those that began last first."""
        wanted = {"source": source, "agent": agent, "state": state or ""}
        after = since.timestamp() if since else 0
        zone = self._clock().tzinfo
        most = _MANY if limit is None else limit
        return self._database.read(lambda it: reading.episodes(it, wanted, after, most, zone))

    def ended_before(self, before: datetime) -> tuple[Row, ...]:
        """Return the episodes in full that ended before a time, the oldest first.

        None of those whose note is faulty, or does not say when it ended.
        """
        at, zone = before.timestamp(), before.tzinfo
        return self._database.read(lambda it: reading.ended_before(it, at, zone))

    def faulty(self) -> dict[str, str]:
        """Return the episodes whose note cannot be read, or not relied on, and why."""
        return self._database.read(reading.faulty)

    def find(self, names: Sequence[str]) -> dict[str, Row]:
        """Return the episodes of some names, by name; those that are not there are left out."""
        zone = self._clock().tzinfo
        return self._database.read(lambda it: reading.find(it, names, zone))

    def events(self, names: Sequence[str]) -> dict[str, tuple[EventRow, ...]]:
        """Return the events of some episodes, by episode, in order."""
        zone = self._clock().tzinfo
        return self._database.read(lambda it: reading.events(it, names, zone))

    def offers(self, names: Sequence[str]) -> dict[str, tuple[Offer, ...]]:
        """Return what plans offered in some episodes, by episode, in order.

        Of `files` only those for which earlier work spoke, with that one feature.
        """
        zone = self._clock().tzinfo
        return self._database.read(lambda it: reading.offers(it, names, zone))

    def completeness(self, since: datetime | None = None) -> Completeness:
        """Return how many of the episodes that ended tell their whole chain."""
        after = since.timestamp() if since else 0
        return self._database.read(lambda it: reading.completeness(it, after))

    def models(self) -> tuple[ModelRow, ...]:
        """Return the models there are, the newest first."""
        return self._database.read(reading.models)

    def stats(self) -> Stats:
        """Return how much there is."""
        renewed, path = self.renewed, self.path
        bytes_ = sum(one.stat().st_size for one in (path, Path(f"{path}-wal")) if one.exists())
        return self._database.read(lambda it: reading.stats(it, renewed, bytes_))
