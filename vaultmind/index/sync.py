"""Brings the database to what its ground holds: a vault, say. It is the truth, file by file.

Each file is read and cut outside the transaction and written inside it, where its stamp is
looked at once more: whoever read an older state than another thread has stored reads again.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath

from vaultmind import tokens
from vaultmind.errors import NotFound, PathRefused, UnreadableNote, VaultMindError, VaultNotFound
from vaultmind.index.asking import flags_of
from vaultmind.index.chroma import collection_of
from vaultmind.index.columns import packed
from vaultmind.index.db import CHUNK_COLUMNS, NOT_EMBEDDED, WAITING, Database
from vaultmind.index.embed import embedded_text
from vaultmind.index.ground import Ground, walked
from vaultmind.index.notes import Chunked, Place
from vaultmind.index.ties import store_ties
from vaultmind.ports import Clock, Report, silent
from vaultmind.types import Chunk, Fault, Freshness, Progress
from vaultmind.vault.exclude import Rules
from vaultmind.vault.files import FileStat, FileText, VaultReader
from vaultmind.vault.scan import conflict_fault

MIN_MESSAGE_TOKENS = 10
"""Shorter messages ("ok, thanks") are found by their words alone."""
LONGEST_WAIT_SECONDS = 1.0
"""A file that never rests is indexed all the same, this long after its first change."""
_BATCH_FILES, _BATCH_SECONDS = 64, 0.2
_TRIES = 3
_SETTLED_NS = 50_000_000
"""A file changed so shortly before it was read may change again within the same stamp."""
_CASE_BLIND = sys.platform in ("darwin", "win32")
_HASH_BYTES = 16
_NOWHERE = FileStat(0, 0, 0)
_COLUMNS = [
    *(name.strip() for name in CHUNK_COLUMNS.split(",")),
    *("ordinal", "block", "text_hash", "flags", "letters", "tokens", "embedded"),
]
_COMPARED = len(_COLUMNS) - 4
"""Columns by which a chunk that is there is told from another: the rest follows from them."""
_INSERT = f"INSERT INTO chunks ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
_UPDATE = f"UPDATE chunks SET ({', '.join(_COLUMNS)}) = ({', '.join('?' * len(_COLUMNS))})"

log = logging.getLogger(__name__)


class Changes:
    """Paths to index, each when it has been quiet; whole folders; and "cannot tell: rescan".

    Times are of a monotonic clock, in seconds. Safe for many threads.
    """

    def __init__(self, quiet_seconds: float) -> None:
        self.condition = threading.Condition()
        """Notified at every change. Whoever waits for work waits on it."""
        self._quiet_seconds = quiet_seconds
        self._due: dict[str, tuple[float, float]] = {}
        self._folders: dict[str, float] = {}
        self._dirty = True

    def mark(self, paths: Iterable[str], now: float) -> None:
        """Note that files changed."""
        with self.condition:
            for path in paths:
                first, _ = self._due.get(path, (now, now))
                latest = first + max(LONGEST_WAIT_SECONDS, self._quiet_seconds)
                self._due[path] = (first, min(now + self._quiet_seconds, latest))
            self.condition.notify_all()

    def mark_folder(self, folder: str, now: float) -> None:
        """Note that a folder came, went or was renamed: all below it must be looked at."""
        with self.condition:
            self._folders[folder] = now + self._quiet_seconds
            self.condition.notify_all()

    def mark_all(self) -> None:
        """Note that changes were lost: the whole vault must be compared."""
        with self.condition:
            self._dirty = True
            self.condition.notify_all()

    def state(self, path: str) -> Freshness:
        """Return what is known of one file."""
        with self.condition:
            if self._dirty or any(path.startswith(f"{folder}/") for folder in self._folders):
                return "DIRTY"
            return "STALE" if path in self._due else "FRESH"

    def take_all(self) -> bool:
        """Return whether the whole vault must be compared, and take it as being done."""
        with self.condition:
            taken, self._dirty = self._dirty, False
            return taken

    def take(self, now: float) -> tuple[list[str], list[str]]:
        """Return the files that have been quiet, oldest first, and the folders; forget them."""
        with self.condition:
            ripe = sorted((due, path) for path, (_, due) in self._due.items() if due <= now)
            folders = [folder for folder, due in self._folders.items() if due <= now]
            for _, path in ripe:
                del self._due[path]
            for folder in folders:
                del self._folders[folder]
            return [path for _, path in ripe], folders

    def next_due(self) -> float | None:
        """Return when there will be work; None while nothing is known to have changed."""
        with self.condition:
            if self._dirty:
                return float("-inf")
            times = [due for _, due in self._due.values()] + list(self._folders.values())
            return min(times, default=None)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A path as it was read, ready to be stored.

    With neither chunks nor a fault, and not `known`, there is nothing to index (any more).
    """

    path: str
    place: Place | None = None
    """None: it is not indexed whatever lies there."""
    stat: FileStat | None = None
    file: FileText | None = None
    chunked: Chunked | None = None
    known: bool = False
    """Whether its bytes are those of the index."""
    fault: str = ""
    """Why a file that is there cannot be taken: it leaves the index and stays a fault."""


class Sync:
    """Implements ports.FileIndexer over one database. Safe for many threads."""

    def __init__(
        self,
        database: Database,
        reader: VaultReader,
        ground: Ground,
        changes: Changes,
        clock: Clock,
    ) -> None:
        self._database = database
        self._reader = reader
        self._ground = ground
        self._changes = changes
        self._clock = clock
        self._rules: Rules | None = None
        self._stopped = False
        self.min_message_tokens = MIN_MESSAGE_TOKENS
        """Shorter messages get no vector. With another number all is indexed anew."""
        self.total = 0
        """Files that the last scan found."""
        self.scan_faults: tuple[Fault, ...] = ()

    @property
    def rules(self) -> Rules:
        """Return the rules in force, as they were at the last comparison."""
        if self._rules is None:
            self._rules = self._ground.rules()
        return self._rules

    def stop(self) -> None:
        """Make a long piece of work end after its current batch."""
        self._stopped = True

    def refresh(self, paths: Iterable[str]) -> None:
        """Index files as they stand on disk now, or drop them.

        Raises VaultNotFound while nothing is there at all: an unplugged disk drops no file.
        """
        self._ground.check()
        self._process(sorted(set(paths)), silent)

    def mark(self, paths: Iterable[str]) -> None:
        """Say that files changed; the background indexes them soon. Never blocks."""
        self._changes.mark(paths, time.monotonic())

    def refresh_folders(self, folders: Iterable[str]) -> None:
        """Index all that lies, or lay, below folders."""
        self._ground.check()
        paths: set[str] = set()
        for folder in filter(_is_storable, folders):
            with self._database.read() as connection:
                statement = "SELECT path FROM files WHERE path >= ? AND path < ?"
                rows = connection.execute(statement, (f"{folder}/", f"{folder}0"))
                paths.update(path for (path,) in rows)
            paths.update(walked(self._reader.paths.root, folder, self._ground, self.rules))
        self._process(sorted(paths), silent)

    def reconcile(self, report: Report = silent) -> None:
        """Compare the whole vault with the database and index the difference.

        Raises VaultNotFound when the vault cannot be listed; the database is left as it is.
        """
        self._rules = self._ground.rules()
        found = self._ground.scan(self._rules, self._reader.max_bytes)
        in_memory, place_of = self._reader.paths.in_memory, self._ground.place_of
        entries = {
            path: stat
            for path, stat in found.entries.items()
            if not in_memory(path) or place_of(path) is not None
        }
        self.total, self.scan_faults = len(entries), found.faults
        format_ = self._ground.format
        if self.min_message_tokens != MIN_MESSAGE_TOKENS:
            format_ += f", messages of {self.min_message_tokens} tokens"
        if self._database.get("format") != format_:
            self.forget_all()
            self._database.set("format", format_)
        with self._database.read() as connection:
            rows = connection.execute("SELECT path, severity, mtime_ns, ctime_ns, size FROM files")
            known = {
                path: None if severity == "skipped" else FileStat(*stamp)
                for path, severity, *stamp in rows
            }
        changed = [path for path, stat in entries.items() if known.get(path) != stat]
        lost = [path for path in known if path not in entries]
        changed.sort(key=lambda path: (not in_memory(path), path))
        self._process(lost + changed, report)

    def forget_all(self) -> None:
        """Empty the index, so that the next comparison fills it anew; cached vectors stay."""
        with self._database.write() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO vector_deletes (id, collection) "
                "SELECT id, iif(agent = '', kind, kind || '-' || agent) FROM chunks"
                " WHERE embedded != ?",
                (NOT_EMBEDDED,),
            )
            for table in ("chunks", "ties", "files"):
                connection.execute(f"DELETE FROM {table}")
        self._database.journal.everything()

    def faults(self) -> tuple[Fault, ...]:
        """Return the files that could not be taken whole, one fault a file."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT path, fault, severity FROM files WHERE fault != '' ORDER BY path"
            ).fetchall()
        named = {fault.path: fault for fault in self.scan_faults}
        return tuple({**named, **{row[0]: Fault(*row) for row in rows}}.values())

    def _process(self, paths: list[str], report: Report) -> None:
        """Prepare and store files in batches that keep a transaction short."""
        report(Progress(0, len(paths), "indexing text"))
        batch: list[Prepared] = []
        began = time.monotonic()
        for done, path in enumerate(paths, 1):
            if _is_storable(path):
                batch.append(self._prepare(path))
            is_due = len(batch) >= _BATCH_FILES or time.monotonic() - began > _BATCH_SECONDS
            if batch and (is_due or done == len(paths)):
                self._store(batch)
                batch, began = [], time.monotonic()
                report(Progress(done, len(paths), "indexing text"))
                if self._stopped:
                    return

    def _prepare(self, path: str, *, anew: bool = False) -> Prepared:
        """Read a file and cut it, or tell why there is nothing to take."""
        place = self._ground.place_of(path)
        if place is None or not self._ground.takes(path) or self.rules.excluded(path):
            self._report_copy(path)
            return Prepared(path)
        try:
            return self._read(path, place, anew=anew)
        except (NotFound, PathRefused):
            return Prepared(path, place)
        except UnreadableNote as error:  # what is no regular file (any more) is simply not there
            with suppress(PathRefused, UnreadableNote):
                stat = self._reader.stat(path)
                return Prepared(path, place, stat, fault=error.reason if stat else "")
            return Prepared(path, place, fault=error.reason)

    def _read(self, path: str, place: Place, *, anew: bool) -> Prepared:
        if _CASE_BLIND and not self._is_listed(path):
            return Prepared(path, place)
        file = self._reader.read(path)
        if not anew and self._held_sha(path) == file.sha:
            return Prepared(path, place, file.stat, file, known=True)
        try:
            chunked = self._ground.cut(path, file, place)
            "\n".join(f"{chunk.title}{chunk.text}" for chunk in chunked.chunks).encode()
            return Prepared(path, place, file.stat, file, chunked)
        except Exception as error:  # one odd file must not stop the others
            log.exception("%s could not be cut into chunks", path)
            return Prepared(path, place, file.stat, fault=f"could not be understood: {error!r}")

    def _report_copy(self, path: str) -> None:
        """Report a sync program's copy of a conflict as it comes, and no longer once it is gone."""
        if self._ground.takes(path) and self.rules.is_conflict_copy(path):
            others = tuple(fault for fault in self.scan_faults if fault.path != path)
            there = self._stat(path) is not None
            self.scan_faults = (*others, conflict_fault(path)) if there else others

    def _held_sha(self, path: str) -> str:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT sha FROM files WHERE path = ? AND severity != 'skipped'", (path,)
            ).fetchone()
        return str(row[0]) if row else ""

    def _store(self, batch: Iterable[Prepared]) -> None:
        now = self._clock().isoformat()
        restless = []
        with self._database.write():
            for prepared in batch:
                current, settled = self._current(prepared)
                if not settled:
                    restless.append(current.path)
                store(self._database, current, now, self.min_message_tokens)
        if restless:
            self.mark(restless)

    def _current(self, prepared: Prepared) -> tuple[Prepared, bool]:
        """Return what is to be stored of a file now, and whether it can be relied on.

        The caller holds the write lock, so no other thread stores this file meanwhile.
        """
        for _ in range(_TRIES):
            if self._still_holds(prepared):
                stat = prepared.stat
                age = time.time_ns() - max(stat.mtime_ns, stat.ctime_ns) if stat else -1
                return prepared, not 0 <= age < _SETTLED_NS
            prepared = self._prepare(prepared.path)
        return self._prepare(prepared.path, anew=True), False

    def _still_holds(self, prepared: Prepared) -> bool:
        if prepared.place is None:
            return True
        if self._stat(prepared.path) != prepared.stat:
            return False
        if prepared.known and prepared.file:
            return self._held_sha(prepared.path) == prepared.file.sha
        return True

    def _stat(self, path: str) -> FileStat | None:
        try:
            return self._reader.stat(path)
        except VaultNotFound:  # nothing leaves the index for a folder that is not there
            raise
        except VaultMindError:
            return None

    def _is_listed(self, relative: str) -> bool:
        """Tell whether a file has this very name where another spelling opens it as well."""
        path = PurePosixPath(relative)
        try:
            with os.scandir(self._reader.paths.root / path.parent) as entries:
                return any(entry.name == path.name for entry in entries)
        except OSError:
            return False


def _is_storable(path: str) -> bool:
    """Tell whether a path can be kept in the database: a name that is not UTF-8 cannot."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in path


# --- one file's rows ----------------------------------------------------------------------


def store(
    database: Database, prepared: Prepared, now: str, min_message_tokens: int = MIN_MESSAGE_TOKENS
) -> None:
    """Bring one file's rows to what was prepared: in the caller's transaction, or in its own."""
    path, stat = prepared.path, prepared.stat or _NOWHERE
    stamp = (stat.mtime_ns, stat.ctime_ns, stat.size)
    with database.write() as connection:
        database.touch(path)
        if prepared.known:
            connection.execute(
                "UPDATE files SET mtime_ns = ?, ctime_ns = ?, size = ? WHERE path = ?",
                (*stamp, path),
            )
            return
        chunked = prepared.chunked
        chunks = chunked.chunks if chunked else ()
        _store_chunks(database, connection, path, chunks, min_message_tokens)
        store_ties(connection, path, chunks, is_there=chunked is not None)
        if prepared.place is None or not (chunked or prepared.fault):
            connection.execute("DELETE FROM files WHERE path = ?", (path,))
            return
        told: tuple[str, ...] = ("", "", "", "", now, prepared.fault, "skipped")
        if chunked and prepared.file:
            fault = "; ".join(one.reason for one in chunked.faults)
            named = (prepared.file.sha, chunked.title, chunked.lang, chunked.time)
            told = (*named, now, fault, "partial" if fault else "")
        connection.execute(
            f"INSERT OR REPLACE INTO files VALUES ({', '.join('?' * 13)})",
            (path, prepared.place.kind, prepared.place.agent, *stamp, *told),
        )


def _store_chunks(
    database: Database,
    connection: sqlite3.Connection,
    path: str,
    chunks: Sequence[Chunk],
    least: int,
) -> None:
    found = connection.execute(
        f"SELECT rowid, {', '.join(_COLUMNS)} FROM chunks WHERE path = ?", (path,)
    )
    held = {row[1]: row for row in found.fetchall()}
    wanted = {chunk.id for chunk in chunks}
    for name, row in held.items():
        if name not in wanted:
            connection.execute("DELETE FROM chunks WHERE rowid = ?", (row[0],))
            if row[-1] != NOT_EMBEDDED:
                connection.execute(
                    "INSERT OR IGNORE INTO vector_deletes (id, collection) VALUES (?, ?)",
                    (name, collection_of(row[3], row[4])),
                )
    for ordinal, chunk in enumerate(chunks):
        tags = f" {' '.join(chunk.tags)} " if chunk.tags else ""
        block = chunk.anchor[2:] if chunk.anchor.startswith("#^") else ""
        key = text_hash(chunk)
        values = (
            *(chunk.id, chunk.path, chunk.kind, chunk.agent, chunk.anchor, chunk.title, chunk.text),
            *(chunk.start, chunk.end, chunk.lang, tags, chunk.time, chunk.session, chunk.message),
            *(chunk.speaker, chunk.role, ordinal, block, key),
        )
        old = held.get(chunk.id)
        if old and old[1 : _COMPARED + 1] == values:
            continue
        is_said = chunk.kind != "message" or (
            chunk.role in ("user", "assistant") and tokens.count(chunk.text) >= least
        )
        embedded = (
            old[-1] if old and old[_COMPARED] == key else WAITING if is_said else NOT_EMBEDDED
        )
        told = (flags_of(chunk.text), len(chunk.text), packed(database, chunk), embedded)
        if old:
            connection.execute(f"{_UPDATE} WHERE rowid = ?", (*values, *told, old[0]))
        else:
            connection.execute(_INSERT, (*values, *told))
            connection.execute(
                "DELETE FROM vector_deletes WHERE id = ? AND collection = ?",
                (chunk.id, collection_of(chunk.kind, chunk.agent)),
            )


def text_hash(chunk: Chunk) -> bytes:
    """Return the key under which a chunk's vector is cached."""
    text = embedded_text(chunk.title, chunk.text)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=_HASH_BYTES).digest()
