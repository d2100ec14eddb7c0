"""Brings the database to what its ground holds: a vault, say. It is the truth, file by file.

Each file is read and cut outside the transaction and written inside it, where its stamp is
looked at once more: whoever read an older state than another thread has stored reads again.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from vaultmind.errors import (
    IndexUnavailable,
    NotFound,
    PathRefused,
    UnreadableNote,
    VaultMindError,
    VaultNotFound,
)
from vaultmind.index.chunking.files import Place
from vaultmind.index.fulltext.text_index import TextIndex
from vaultmind.index.ground.ground import Ground, walked
from vaultmind.index.storage.database import Database
from vaultmind.index.sync.freshness import Changes
from vaultmind.index.sync.rows import (
    MIN_MESSAGE_TOKENS,
    Gone,
    Prepared,
    Taken,
    Unreadable,
    drop_all,
    store,
)
from vaultmind.ports import Clock, Report, silent
from vaultmind.types import Fault, Progress
from vaultmind.vault.exclude import Rules
from vaultmind.vault.files import FileStat, FileText, VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.scan import conflict_fault

_BATCH_FILES = 64
_BATCH_SECONDS = 0.2
_TRIES = 3
_SETTLED_NS = 50_000_000
"""A file changed so shortly before it was read may change again within the same stamp."""
_CASE_BLIND = sys.platform in ("darwin", "win32")

TIDY_PAST = 200
"""So many files at once leave full text in many pieces, which are merged then."""

log = logging.getLogger(__name__)


class Sync:
    """Implements ports.FileIndexer over one database. Safe for many threads."""

    def __init__(
        self,
        database: Database,
        text: TextIndex,
        reader: VaultReader,
        ground: Ground,
        changes: Changes,
        clock: Clock,
    ) -> None:
        self._database = database
        self._text = text
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
        for folder in folders:
            if _is_storable(folder):
                paths.update(self._known_below(folder))
                paths.update(walked(self._paths.root, folder, self._ground, self.rules))
        self._process(sorted(paths), silent)

    def reconcile(self, report: Report = silent) -> None:
        """Compare the whole vault with the database and index the difference.

        Raises VaultNotFound when the vault cannot be listed; the database is left as it is.
        """
        self._rules = self._ground.rules()
        found = self._ground.scan(self._rules, self._reader.max_bytes)
        entries = {path: stat for path, stat in found.entries.items() if self._has_place(path)}
        self.total, self.scan_faults = len(entries), found.faults
        self._check_format()
        known = self._known()
        changed = [path for path, stat in entries.items() if known.get(path) != stat]
        lost = [path for path in known if path not in entries]
        changed.sort(key=lambda path: (not self._paths.in_memory(path), path))
        self._process(lost + changed, report)
        if self._stopped:
            return
        if len(changed) >= TIDY_PAST:
            self._text.tidy()
        self._text.warm()

    def forget_all(self) -> None:
        """Empty the index, so that the next comparison fills it anew; cached vectors stay."""
        with self._database.write() as connection:
            drop_all(connection)
        self._database.journal.everything()
        self._text.reset()

    def faults(self) -> tuple[Fault, ...]:
        """Return the files that could not be taken whole, one fault a file."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT path, fault, severity FROM files WHERE fault != '' ORDER BY path"
            ).fetchall()
        named = {fault.path: fault for fault in self.scan_faults}
        return tuple({**named, **{row[0]: Fault(*row) for row in rows}}.values())

    @property
    def _paths(self) -> VaultPaths:
        return self._reader.paths

    def _has_place(self, path: str) -> bool:
        return not self._paths.in_memory(path) or self._ground.place_of(path) is not None

    def _check_format(self) -> None:
        least = self.min_message_tokens
        format_ = self._ground.format
        if least != MIN_MESSAGE_TOKENS:
            format_ += f", messages of {least} tokens"
        if self._database.get("format") != format_:
            self.forget_all()
            self._database.set("format", format_)

    def _known(self) -> dict[str, FileStat | None]:
        """Return the stamps in the database; None for files that could not be read."""
        with self._database.read() as connection:
            rows = connection.execute("SELECT path, mtime_ns, ctime_ns, size, severity FROM files")
            return {
                path: None if severity == "skipped" else FileStat(mtime, ctime, size)
                for path, mtime, ctime, size, severity in rows
            }

    def _known_below(self, folder: str) -> list[str]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT path FROM files WHERE path >= ? AND path < ?", (f"{folder}/", f"{folder}0")
            )
            return [str(path) for (path,) in rows]

    def _process(self, paths: list[str], report: Report) -> None:
        done = 0
        report(Progress(done, len(paths), "indexing text"))
        for batch in self._batches([path for path in paths if _is_storable(path)]):
            self._store(batch)
            done += len(batch)
            report(Progress(done, len(paths), "indexing text"))
            if self._stopped:
                return

    def _batches(self, paths: list[str]) -> Iterator[list[Prepared]]:
        """Prepare files in batches that keep a transaction short."""
        batch: list[Prepared] = []
        began = time.monotonic()
        for path in paths:
            batch.append(self._prepare(path))
            if len(batch) >= _BATCH_FILES or time.monotonic() - began > _BATCH_SECONDS:
                yield batch
                batch, began = [], time.monotonic()
        if batch:
            yield batch

    def _prepare(self, path: str) -> Prepared:
        """Read a file and cut it, or tell why there is nothing to take."""
        place = self._ground.place_of(path)
        if place is None or not self._ground.takes(path) or self.rules.excluded(path):
            self._report_copy(path)
            return Gone(path, excluded=True)
        try:
            if _CASE_BLIND and not _is_listed(self._paths, path):
                return Gone(path)
            file = self._reader.read(path)
        except (NotFound, PathRefused):
            return Gone(path)
        except UnreadableNote as error:
            return self._unreadable(path, place, error.reason)
        is_known = self._held_sha(path) == file.sha
        return Taken(path, place, file, None) if is_known else self._cut(path, place, file)

    def _report_copy(self, path: str) -> None:
        """Report a sync program's copy of a conflict as it comes, and no longer once it is gone."""
        if self._ground.takes(path) and self.rules.is_conflict_copy(path):
            others = tuple(fault for fault in self.scan_faults if fault.path != path)
            there = self._stat(path) is not None
            self.scan_faults = (*others, conflict_fault(path)) if there else others

    def _cut(self, path: str, place: Place, file: FileText) -> Taken | Unreadable:
        try:
            return Taken(path, place, file, self._ground.cut(path, file, place))
        except Exception as error:  # one odd file must not stop the others
            log.exception("%s could not be cut into chunks", path)
            return Unreadable(path, place, f"could not be understood: {error!r}", file.stat)

    def _unreadable(self, path: str, place: Place, reason: str) -> Prepared:
        """Return the fault; what is no regular file (any more) is none, but simply not there."""
        try:
            stat = self._reader.stat(path)
        except UnreadableNote:
            return Unreadable(path, place, reason, None)
        except PathRefused:
            return Gone(path)
        return Unreadable(path, place, reason, stat) if stat else Gone(path)

    def _held_sha(self, path: str) -> str:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT sha FROM files WHERE path = ? AND severity != 'skipped'", (path,)
            ).fetchone()
        return str(row[0]) if row else ""

    def _store(self, batch: list[Prepared]) -> None:
        try:
            self._store_all(batch)
        except Exception as error:  # find the odd one out, and store the others
            if _is_of_database(error):
                raise
            for prepared in batch:
                self._store_alone(prepared)

    def _store_alone(self, prepared: Prepared) -> None:
        try:
            self._store_all([prepared])
        except Exception as error:  # one odd file must not stop the others
            if _is_of_database(error):
                raise
            log.exception("%s could not be indexed", prepared.path)
            place = self._ground.place_of(prepared.path) or Place("note", "", "note")
            reason = f"could not be indexed: {error!r}"
            self._store_all([Unreadable(prepared.path, place, reason, prepared.stat)])

    def _store_all(self, batch: list[Prepared]) -> None:
        now = self._clock().isoformat()
        restless = []
        with self._database.write() as connection:
            for prepared in batch:
                current, settled = self._current(prepared)
                if not settled:
                    restless.append(current.path)
                store(connection, self._text, current, now, self.min_message_tokens)
        if restless:
            self.mark(restless)

    def _current(self, prepared: Prepared) -> tuple[Prepared, bool]:
        """Return what is to be stored of a file now, and whether it can be relied on.

        The caller holds the write lock, so no other thread stores this file meanwhile.
        """
        for _ in range(_TRIES):
            if self._still_holds(prepared):
                return prepared, _is_settled(prepared.stat)
            prepared = self._prepare(prepared.path)
        if isinstance(prepared, Taken) and prepared.chunked is None:
            prepared = self._cut(prepared.path, prepared.place, prepared.file)
        return prepared, False

    def _still_holds(self, prepared: Prepared) -> bool:
        if isinstance(prepared, Gone):
            return prepared.excluded or self._stat(prepared.path) is None
        if self._stat(prepared.path) != prepared.stat:
            return False
        if isinstance(prepared, Taken) and prepared.chunked is None:
            return self._held_sha(prepared.path) == prepared.file.sha
        return True

    def _stat(self, path: str) -> FileStat | None:
        try:
            return self._reader.stat(path)
        except VaultNotFound:  # nothing leaves the index for a folder that is not there
            raise
        except VaultMindError:
            return None


def _is_of_database(error: Exception) -> bool:
    """Tell whether an error is no file's: the database cannot be written, the folder is gone."""
    return isinstance(error, (sqlite3.OperationalError, IndexUnavailable, VaultNotFound)) or (
        type(error) is sqlite3.DatabaseError
    )


def _is_settled(stat: FileStat | None) -> bool:
    if stat is None:
        return True
    age = time.time_ns() - max(stat.mtime_ns, stat.ctime_ns)
    return not 0 <= age < _SETTLED_NS


def _is_storable(path: str) -> bool:
    """Tell whether a path can be kept in the database: a name that is not UTF-8 cannot."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in path


def _is_listed(paths: VaultPaths, relative: str) -> bool:
    """Tell whether a file has this very name where another spelling opens it as well."""
    path = PurePosixPath(relative)
    try:
        with os.scandir(paths.root / path.parent) as entries:
            return any(entry.name == path.name for entry in entries)
    except OSError:
        return False
