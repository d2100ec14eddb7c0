"""The table of episodes: one SQLite file that is made from the notes, and thrown away in doubt.

A note is deleted and inserted as a whole. What another program did to the notes is seen by their
stamps. A file that is damaged or of another version is begun anew.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from vaultmind.episodes.causal import links_of
from vaultmind.episodes.files import EpisodeFiles
from vaultmind.episodes.types import CausalLink, Episode, Offer, Result
from vaultmind.errors import IndexUnavailable, VaultMindError
from vaultmind.redact import mask
from vaultmind.tables import adapter

FILE, VERSION = "episodes.db", 5
"""Raise the version when the same note would give other rows."""
MOST_TASKS = 5000
"""Of a source, the newest: those that a new one is compared with."""
MOST_NAMING = 500
"""Number of episodes that name an issue, the newest."""
AFFINITY = "f_affinity_score"
"""The feature of an offer's file that is kept here: whether earlier work spoke for it."""
_LINKS, _OFFERS = tuple[CausalLink, ...], tuple[Offer, ...]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TaskRow:
    """The task of an episode that is over: what it is compared by."""

    episode: str
    """`agent/id`."""
    task: str
    kind: str
    fingerprint: str
    outcome: Result
    started: int
    """In seconds since 1970."""


class Tables:
    """What is known of all episodes. Any thread. Names are `agent/id`."""

    def __init__(self, path: Path) -> None:
        """Open the file, or begin it anew. Raises IndexUnavailable where neither can be done."""
        self._path = path
        self._lock = threading.RLock()
        self.changes = 0
        """Grows whenever what is said of an episode that is over becomes other."""
        self.has_followed = False
        self._connection = sqlite3.connect(":memory:")
        """Until the file is open."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._connect()
            except sqlite3.DatabaseError as error:
                self._begin_anew(error)
        except (OSError, sqlite3.Error) as error:
            raise self._unavailable(error) from error

    # --- writing ---------------------------------------------------------------------------

    def follow(self, files: EpisodeFiles) -> list[str]:
        """Bring the table up to date with the notes; return those that are gone."""
        known = dict(self._rows("SELECT episode, stamp FROM episodes"))
        stamps = {one: files.stamp(one) for one in files.names()}  # after: what begins is not gone
        for name, stamp in stamps.items():
            if known.get(name) != stamp:
                self._take(files, name, stamp)
        gone = [name for name in known if name not in stamps]
        for name in gone:
            self._replace(name)
        self.has_followed = True
        return gone

    def take(self, files: EpisodeFiles, name: str) -> Episode | None:
        """Take one note as it stands now and return it, None where it cannot be read or is gone."""
        if self.holds(files, name):
            return self.load([name]).get(name)
        return self._take(files, name, files.stamp(name))

    def put(self, episode: Episode, offers: Iterable[Offer] = (), stamp: str = "") -> None:
        """Take an episode as it is, and of what was offered that for which earlier work spoke."""
        one = replace(
            episode,
            task=replace(episode.task, text=mask(episode.task.text).text),
            rationale=mask(episode.rationale).text,
            events=tuple(
                replace(it, text=mask(it.text).text) if it.kind in ("decision", "feedback") else it
                for it in episode.events
            ),
        )
        links = links_of(one) if one.state != "running" else ()
        lean = []
        for offer in offers:
            led = ((path, of.get(AFFINITY)) for path, of in offer.files.items())
            lean.append(replace(offer, files={path: {AFFINITY: it} for path, it in led if it}))
        kept = _dumped(Episode, one), _dumped(_LINKS, links), _dumped(_OFFERS, tuple(lean))
        self._replace(one.name, stamp, one.flaw, *kept)

    def scrub(self) -> str:
        """Leave no byte of what was dropped; return why that could not be done whole."""
        try:
            self._rows("VACUUM")
            ((busy, *_),) = self._rows("PRAGMA wal_checkpoint(TRUNCATE)")
        except VaultMindError as error:
            return f"the table of episodes could not be written anew ({error})"
        return "the log of the episodes' table is still being read" if busy else ""

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    # --- reading ---------------------------------------------------------------------------

    def tasks(self, source: str) -> tuple[TaskRow, ...]:
        """Return the tasks of episodes that are over, newest first, at most MOST_TASKS."""
        rows = self._rows(
            "SELECT episode, task_text, query_type, task_fingerprint, outcome, started_at "
            "FROM episodes WHERE source = ? AND state IN ('ended', 'shrunk') "
            "ORDER BY started_at DESC, rowid DESC LIMIT ?",
            source, MOST_TASKS,
        )  # fmt: skip
        return tuple(TaskRow(*row) for row in rows)

    def naming(self, source: str, issues: Sequence[str]) -> tuple[str, ...]:
        """Return the episodes that changed something for one of some issues, newest first."""
        if not issues:
            return ()
        rows = self._rows(
            "SELECT episode FROM episodes WHERE source = ? AND EXISTS (SELECT 1 FROM "
            "json_each(links_json) AS one JOIN json_each(?) AS wanted "
            "ON one.value ->> 'issue' = wanted.value) ORDER BY started_at DESC LIMIT ?",
            source, json.dumps([*issues]), MOST_NAMING,
        )  # fmt: skip
        return tuple(name for (name,) in rows)

    def names(self, **wanted: str) -> tuple[str, ...]:
        """Return the episodes with some values, those that began last first.

        By `source`, `agent`, `state`, `device` and `session_id`; an empty value wants nothing.
        """
        named = {key: value for key, value in wanted.items() if value}
        where = "".join(f" AND {key} = ?" for key in named)
        rows = self._rows(
            f"SELECT episode FROM episodes WHERE episode_json IS NOT NULL{where} "
            "ORDER BY started_at DESC, rowid DESC",
            *named.values(),
        )
        return tuple(name for (name,) in rows)

    def load(self, names: Sequence[str]) -> dict[str, Episode]:
        """Return some episodes with their events, by name; those that are not there left out."""
        rows = self._rows(
            "SELECT episode, episode_json FROM episodes WHERE episode_json IS NOT NULL "
            "AND episode IN (SELECT value FROM json_each(?)) ORDER BY started_at, rowid",
            json.dumps([*names]),
        )
        return {name: adapter(Episode).validate_json(raw) for name, raw in rows}

    def since(
        self, moment: datetime, agents: Iterable[str]
    ) -> list[tuple[Episode, tuple[Offer, ...]]]:
        """Return the episodes of some agents that began since a time, with what plans offered.

        Of the offers' files only those for which earlier work spoke, with that one feature.
        """
        rows = self._rows(
            "SELECT episode_json, offers_json FROM episodes WHERE started_at >= ? "
            "AND agent IN (SELECT value FROM json_each(?)) ORDER BY started_at, rowid",
            moment.timestamp(), json.dumps([*agents]),
        )  # fmt: skip
        read, offers = adapter(Episode).validate_json, adapter(_OFFERS).validate_json
        return [(read(one), offers(offered)) for one, offered in rows]

    def ended_before(self, before: datetime) -> tuple[str, ...]:
        """Return the episodes in full that ended before a time, the oldest first.

        None of those whose note is faulty, or does not say when it ended.
        """
        rows = self._rows(
            "SELECT episode FROM episodes WHERE state = 'ended' AND ended_at < ? AND fault = '' "
            "ORDER BY ended_at, episode",
            before.timestamp(),
        )
        return tuple(name for (name,) in rows)

    def faulty(self) -> dict[str, str]:
        """Return the episodes whose note cannot be read, or not relied on, and why."""
        query = "SELECT episode, fault FROM episodes WHERE fault != '' ORDER BY episode"
        return dict(self._rows(query))

    def holds(self, files: EpisodeFiles, name: str) -> bool:
        """Tell whether an episode is held as its note and its offers are now."""
        query = "SELECT 1 FROM episodes WHERE episode = ? AND stamp = ?"
        return bool(self._rows(query, name, files.stamp(name)))

    # --- the file --------------------------------------------------------------------------

    def _take(self, files: EpisodeFiles, name: str, stamp: str) -> Episode | None:
        if not stamp:
            self._replace(name)
            return None
        try:
            one = files.read(name)
        except VaultMindError as error:
            log.warning("the episode %s is left out: %s", name, error)
            self._replace(name, stamp, str(error), None, None, None)
            return None
        self.put(one, files.offers(name), stamp)
        return one

    def _replace(self, name: str, *row: str | None) -> None:
        """Have a row in the place of an episode's, or none."""
        state = "SELECT state FROM episodes WHERE episode = ?"
        with self._lock:
            before = self._rows(state, name)
            self._rows("DELETE FROM episodes WHERE episode = ?", name)
            if row:
                names = "episode, stamp, fault, episode_json, links_json, offers_json"
                self._rows(f"INSERT INTO episodes ({names}) VALUES (?, ?, ?, ?, ?, ?)", name, *row)
            self.changes += {*before, *self._rows(state, name)} != {("running",)}

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Run one statement. Raises IndexUnavailable; a damaged file is begun anew for the next."""
        with self._lock:
            try:
                return self._connection.execute(query, values).fetchall()
            except sqlite3.Error as error:
                if type(error) is sqlite3.DatabaseError:
                    self._begin_anew(error)
                raise self._unavailable(error) from error

    def _connect(self) -> None:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        self._connection = connection
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
            connection.execute(f"PRAGMA {pragma}")
        (made,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and made != VERSION:
            raise sqlite3.DatabaseError(f"it is of version {made}")
        if not tables:
            schema = (resources("vaultmind.episodes") / "schema.sql").read_text("utf-8")
            connection.executescript(f"{schema}PRAGMA user_version = {VERSION};")

    def _begin_anew(self, error: sqlite3.Error) -> None:
        """Delete a file that cannot be used, and begin another: the notes fill it."""
        log.warning("%s is begun anew (%s): the notes fill it", self._path, error)
        self.close()  # first: closed later, it would take away the log of the next
        for part in ("", "-wal", "-shm"):
            Path(f"{self._path}{part}").unlink(missing_ok=True)
        self.changes, self.has_followed = self.changes + 1, False
        self._connect()

    def _unavailable(self, error: Exception) -> IndexUnavailable:
        return IndexUnavailable(
            f"The table of episodes in {self._path} cannot be used: {error}.",
            hint="Check that the state folder can be written and the disk has room.",
        )


def _dumped(of: object, value: object) -> str:
    raw: bytes = adapter(of).dump_json(value, warnings=False)
    return raw.decode()
