"""The tables of episodes: one SQLite file that is made from the notes, and thrown away in doubt.

A note is deleted and inserted as a whole. What another program did to the notes is seen by their
stamps. A file that is damaged or of another version is begun anew.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cache, partial
from importlib.resources import files as resources
from pathlib import Path
from typing import Any, Literal, TypeVar

from vaultmind.episodes.causal import links_of
from vaultmind.episodes.files import EpisodeFiles, Listed, line_of_offer, offer_of
from vaultmind.episodes.types import Episode, Event, Offer, Result, State, TaskMark, seconds_of
from vaultmind.errors import IndexUnavailable, VaultMindError
from vaultmind.index.db import is_damage
from vaultmind.redact import mask

FILE, VERSION = "episodes.db", 2
"""Raise the version when the same note would give other rows."""
BUSY_SECONDS = 30.0
"""How long SQLite waits for another process that writes."""
BATCH = 50
"""Number of notes of one transaction."""
MOST_TASKS = 5000
"""Of a source, the newest: those that a new one is compared with."""
MOST_NAMING = 50
"""Number of episodes of an agent that name an issue, the newest."""
AFFINITY = "f_affinity_score"
"""The feature of an offer's file that is kept here: whether earlier work spoke for it."""
_TABLES = ("notes", "episodes", "episode_events", "causal_links", "offers")
_BAD = (ArithmeticError, LookupError, TypeError, ValueError, RecursionError, sqlite3.DataError,
        sqlite3.InterfaceError)  # fmt: skip
"""Errors of what one note holds: whatever it is, the others are taken."""
_TASK, _EVENT = ([one.name for one in fields(it)] for it in (TaskMark, Event))
_REST = [one.name for one in fields(Episode) if one.name not in ("task", "events")]
_NoteRead = tuple[Listed, Episode | None, tuple[Offer, ...], str]
T = TypeVar("T")

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


@dataclass(frozen=True, slots=True)
class Stats:
    """How much the tables hold."""

    episodes: int = 0
    shrunk: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    """Of those that are not running."""
    events: int = 0
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """Notes that cannot be read or not relied on, and why."""
    renewed: str = ""
    """Why the tables were begun anew since the start; empty when they were not."""


class Tables:
    """What is known of all episodes. Any thread. Names are `agent/id`."""

    def __init__(self, path: Path) -> None:
        """Open the file, or begin it anew. Raises IndexUnavailable where neither can be done."""
        self._path = path
        self._lock = threading.RLock()
        self.changes = 0
        """Grows whenever what is said of an episode that is over becomes other."""
        self.renewed, self.has_followed = "", False
        self._connection: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._connection = self._opened()
            except sqlite3.DatabaseError as error:
                self._begin_anew(error)
        except (OSError, sqlite3.Error) as error:
            raise self._unavailable(error) from error

    # --- writing ---------------------------------------------------------------------------

    def follow(self, files: EpisodeFiles) -> int:
        """Bring the tables up to date with the notes; return how many were taken or dropped."""
        listed = {one.name: one for one in files.listed()}
        known = dict(self._rows("SELECT episode, stamp FROM notes"))
        changed = [one for name, one in listed.items() if known.get(name) != one.stamp]
        gone = [name for name in known if name not in listed]
        for at in range(0, len(changed), BATCH):
            read = [(one, *_read(files, one)) for one in changed[at : at + BATCH]]
            self._write(partial(self._put_all, read))
        self._write(partial(self._drop_all, gone))
        self.has_followed = True
        return len(changed) + len(gone)

    def take(self, files: EpisodeFiles, name: str) -> None:
        """Take one note as it stands now; drop what is known of one that is gone."""
        listed = files.listed_one(name)
        if listed is None:
            self._write(lambda it: self._drop(it, name))
        else:
            read = _read(files, listed)
            self._write(lambda it: self._put_one(it, listed, *read))

    def put(self, episode: Episode, offers: Iterable[Offer] = ()) -> None:
        """Take an episode as it is."""
        self._write(lambda it: self._insert(it, episode, tuple(offers), "", episode.flaw))

    def scrub(self) -> str:
        """Leave no byte of what was dropped; return why that could not be done whole."""
        try:
            with self._lock:
                self._open.execute("VACUUM")
                (busy, *_) = self._open.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                for path in self._path.parent.glob(f"{self._path.name}.aside*"):
                    path.unlink()
        except (sqlite3.Error, OSError) as error:
            return f"the tables of episodes could not be written anew ({error})"
        return "the log of the episodes' tables is still being read" if busy else ""

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    # --- reading ---------------------------------------------------------------------------

    def tasks(self, source: str) -> tuple[TaskRow, ...]:
        """Return the tasks of episodes that are over, newest first, at most MOST_TASKS."""
        rows = self._rows(
            "SELECT episode, task_text, query_type, task_fingerprint, outcome, started_at "
            "FROM episodes WHERE source = ? AND state != 'running' "
            "ORDER BY started_at DESC, rowid DESC LIMIT ?",
            source, MOST_TASKS,
        )  # fmt: skip
        return tuple(TaskRow(*row) for row in rows)

    def naming(self, source: str, issues: Sequence[str]) -> tuple[str, ...]:
        """Return the episodes whose task or commits name one of some issues, newest first.

        Of each agent some, so that none is left out for what another has done.
        """
        rows = self._rows(
            "SELECT episode FROM (SELECT episode, started_at, row_number() OVER "
            "(PARTITION BY agent ORDER BY started_at DESC) AS place FROM episodes "
            "WHERE episode IN (SELECT episode FROM causal_links "
            "WHERE source = ? AND issue_ref IN (SELECT value FROM json_each(?)))) "
            "WHERE place <= ? ORDER BY started_at DESC",
            source, json.dumps([*issues]), MOST_NAMING,
        )  # fmt: skip
        return tuple(name for (name,) in rows)

    def names(
        self, *, source: str = "", agent: str = "", state: State | Literal[""] = "",
        device: str = "", session: str = "",
    ) -> tuple[str, ...]:  # fmt: skip
        """Return the episodes with some values, those that began last first."""
        wanted = {"source": source, "agent": agent, "state": state, "device": device,
                  "session_id": session}  # fmt: skip
        named = {key: value for key, value in wanted.items() if value}
        where = "".join(f" AND {key} = ?" for key in named)
        query = f"SELECT episode FROM episodes WHERE 1{where} ORDER BY started_at DESC, rowid DESC"
        return tuple(name for (name,) in self._rows(query, *named.values()))

    def load(self, names: Sequence[str]) -> dict[str, Episode]:
        """Return some episodes with their events, by name; those that are not there left out."""
        wanted, events = json.dumps([*names]), dict[str, list[Event]]()
        for name, payload in self._rows(
            "SELECT episode, payload_json FROM episode_events "
            "WHERE episode IN (SELECT value FROM json_each(?)) ORDER BY id",
            wanted,
        ):
            events.setdefault(name, []).append(Event(*json.loads(payload)))
        found = {}
        for name, rest in self._rows(
            "SELECT episode, rest_json FROM episodes "
            "WHERE episode IN (SELECT value FROM json_each(?)) ORDER BY started_at, rowid",
            wanted,
        ):
            about, values = json.loads(rest)
            mark, told = dict(zip(_TASK, about, strict=True)), dict(zip(_REST, values, strict=True))
            task = TaskMark(**mark | {"issues": tuple(mark["issues"])})
            found[name] = Episode(task=task, events=tuple(events.get(name, ())), **told)
        return found

    def since(self, moment: datetime, agents: Iterable[str]) -> tuple[Episode, ...]:
        """Return the episodes of some agents that began since a time, with their events."""
        query = (
            "SELECT episode FROM episodes WHERE started_at >= ? "
            "AND agent IN (SELECT value FROM json_each(?)) ORDER BY started_at"
        )
        rows = self._rows(query, moment.timestamp(), json.dumps([*agents]))
        return tuple(self.load([name for (name,) in rows]).values())

    def offers(self, names: Sequence[str]) -> dict[str, tuple[Offer, ...]]:
        """Return what plans offered in some episodes, in order.

        Of `files` only those for which earlier work spoke, with that one feature.
        """
        found: dict[str, list[Offer]] = {}
        for name, line in self._rows(
            "SELECT episode, offer_json FROM offers "
            "WHERE episode IN (SELECT value FROM json_each(?)) ORDER BY id",
            json.dumps([*names]),
        ):
            if (offer := offer_of(line)) is not None:
                found.setdefault(name, []).append(offer)
        return {name: tuple(each) for name, each in found.items()}

    def ended_before(self, before: datetime) -> tuple[str, ...]:
        """Return the episodes in full that ended before a time, the oldest first.

        None of those whose note is faulty, or does not say when it ended.
        """
        rows = self._rows(
            "SELECT episode FROM episodes WHERE state = 'ended' AND ended_at < ? AND flaw = '' "
            "ORDER BY ended_at, episode",
            before.timestamp(),
        )
        return tuple(name for (name,) in rows)

    def faulty(self) -> dict[str, str]:
        """Return the episodes whose note cannot be read, or not relied on, and why."""
        query = "SELECT episode, fault FROM notes WHERE fault != '' ORDER BY episode"
        return dict(self._rows(query))

    def holds(self, listed: Listed) -> bool:
        """Tell whether an episode is held as its note and its offers are now."""
        query = "SELECT 1 FROM notes WHERE episode = ? AND stamp = ?"
        return bool(self._rows(query, listed.name, listed.stamp))

    def stats(self) -> Stats:
        """Return how much there is."""
        ((episodes, shrunk),) = self._rows(
            "SELECT count(*), coalesce(sum(state = 'shrunk'), 0) FROM episodes"
        )
        outcomes = "SELECT outcome, count(*) FROM episodes WHERE state != 'running' GROUP BY 1"
        ((events,),) = self._rows("SELECT count(*) FROM episode_events")
        return Stats(
            episodes, shrunk, dict(self._rows(f"{outcomes} ORDER BY 1")), events, self.faulty(),
            self.renewed,
        )  # fmt: skip

    def _put_all(self, read: Sequence[_NoteRead], connection: sqlite3.Connection) -> None:
        for one in read:
            self._put_one(connection, *one)

    def _drop_all(self, names: Iterable[str], connection: sqlite3.Connection) -> None:
        for name in names:
            self._drop(connection, name)

    # --- rows ------------------------------------------------------------------------------

    def _put_one(
        self, connection: sqlite3.Connection, listed: Listed, episode: Episode | None,
        offers: Sequence[Offer], fault: str,
    ) -> None:  # fmt: skip
        """Have the rows of a note; of one whose words cannot be kept, nothing but why."""
        if episode is not None:
            connection.execute("SAVEPOINT one_note")
            try:
                self._insert(connection, episode, offers, listed.stamp, fault)
                connection.execute("RELEASE one_note")
                return
            except _BAD as error:
                connection.execute("ROLLBACK TO one_note")
                connection.execute("RELEASE one_note")
                fault = f"It holds what cannot be kept: {error}"
        log.warning("the episode %s is left out: %s", listed.name, fault)
        self._drop(connection, listed.name)
        fault = fault.encode("utf-8", "replace").decode()
        connection.execute("INSERT INTO notes VALUES (?, ?, ?)", (listed.name, listed.stamp, fault))

    def _insert(
        self, connection: sqlite3.Connection, one: Episode, offers: Sequence[Offer], stamp: str,
        fault: str,
    ) -> None:  # fmt: skip
        self._drop(connection, one.name)
        self.changes += one.state != "running"
        text, why = mask(one.task.text).text, mask(one.rationale).text
        task = replace(one.task, text=text)
        rest = [_values(task, _TASK), _values(replace(one, rationale=why), _REST)]
        values = (
            one.name, one.agent, one.source, one.session, one.device, text, task.fingerprint,
            task.kind, seconds_of(one.started), seconds_of(one.ended), one.state, one.outcome,
            one.flaw, one.token_budget, one.token_used, one.latency_ms,
            json.dumps(rest, ensure_ascii=False),
        )  # fmt: skip
        connection.execute("INSERT INTO notes VALUES (?, ?, ?)", (one.name, stamp, fault))
        connection.execute(f"INSERT INTO episodes VALUES ({', '.join('?' * len(values))})", values)
        connection.executemany(
            "INSERT INTO episode_events (episode, event_type, file_path, symbol, payload_json, "
            "timestamp) VALUES (?, ?, ?, ?, ?, ?)",
            [(one.name, it.kind, it.path, it.symbol,
              json.dumps(_values(it, _EVENT), ensure_ascii=False), seconds_of(it.time))
             for it in one.events],
        )  # fmt: skip
        if one.state != "running":
            connection.executemany(
                "INSERT INTO causal_links (episode, source, issue_ref, commit_sha, change_path, "
                "change_kind, rationale, confidence, timestamp) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(one.name, one.source, it.issue, it.commit, it.path, it.change,
                  mask(it.rationale).text, it.confidence, seconds_of(it.time))
                 for it in links_of(one)],
            )  # fmt: skip
        connection.executemany(
            "INSERT INTO offers (episode, offer_json) VALUES (?, ?)",
            [(one.name, line_of_offer(_lean(offer))) for offer in offers],
        )

    def _drop(self, connection: sqlite3.Connection, name: str) -> None:
        state = "SELECT 1 FROM episodes WHERE episode = ? AND state != 'running'"
        self.changes += connection.execute(state, (name,)).fetchone() is not None
        for table in _TABLES:
            connection.execute(f"DELETE FROM {table} WHERE episode = ?", (name,))

    # --- the file --------------------------------------------------------------------------

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise IndexUnavailable("The tables of episodes are closed.")
        return self._connection

    def _write(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Run some work as one transaction. Raises IndexUnavailable where it cannot be written."""

        def transaction(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            try:
                work(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

        self._run(transaction)

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._run(lambda it: it.execute(query, values).fetchall())

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run some work; where the file turns out to be damaged, once more on a new one."""
        with self._lock:
            try:
                try:
                    return work(self._open)
                except sqlite3.DatabaseError as error:
                    if not is_damage(error):
                        raise
                    self._begin_anew(error)
                    return work(self._open)
            except (sqlite3.OperationalError, sqlite3.DatabaseError, OSError) as error:
                if isinstance(error, _BAD):
                    raise
                raise self._unavailable(error) from error

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
                connection.execute(f"PRAGMA {pragma}")
            made = connection.execute("PRAGMA user_version").fetchone()[0]
            empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
            if made != VERSION and not empty:
                raise sqlite3.DatabaseError(f"it is of version {made}")
            if empty:
                script = f"BEGIN EXCLUSIVE;{_schema()}PRAGMA user_version = {VERSION};COMMIT;"
                with suppress(sqlite3.OperationalError):  # another process was first
                    connection.executescript(script)
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except BaseException:
            connection.close()
            raise
        return connection

    def _begin_anew(self, error: sqlite3.Error) -> None:
        """Set a file aside that cannot be used, and begin another: the notes fill it."""
        if isinstance(error, sqlite3.OperationalError) and not is_damage(error):
            raise error
        log.warning("%s is set aside (%s): the notes fill a new one", self._path, error)
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        for part in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{self._path}{part}").replace(f"{self._path}.aside{part}")
        self.renewed, self.changes, self.has_followed = str(error), self.changes + 1, False
        self._connection = self._opened()

    def _unavailable(self, error: Exception) -> IndexUnavailable:
        return IndexUnavailable(
            f"The tables of episodes in {self._path} cannot be used: {error}.",
            hint="Check that the state folder can be written and the disk has room.",
        )


def _read(files: EpisodeFiles, listed: Listed) -> tuple[Episode | None, tuple[Offer, ...], str]:
    """Return an episode, what plans offered in it, and what is wrong with its note."""
    try:
        episode = files.read(listed.name)
        return episode, files.offers(listed.name) if listed.offers else (), episode.flaw
    except VaultMindError as error:
        return None, (), str(error)
    except _BAD as error:
        return None, (), f"It holds what cannot be kept: {error}"


def _values(one: object, names: Iterable[str]) -> list[Any]:
    return [getattr(one, name) for name in names]


def _lean(offer: Offer) -> Offer:
    """Return an offer with the files alone for which earlier work spoke."""
    led = {path: {AFFINITY: it} for path, of in offer.files.items() if (it := of.get(AFFINITY))}
    return replace(offer, files=led)


@cache
def _schema() -> str:
    return (resources("vaultmind.episodes") / "schema.sql").read_text("utf-8")
