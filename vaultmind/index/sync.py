"""Brings the database to what its folder holds, which is the truth, file by file.

One thread at a time reads files and writes their rows, so nobody overwrites what is newer.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from itertools import islice

from vaultmind import tokens
from vaultmind.errors import NotFound, PathRefused, UnreadableNote
from vaultmind.index.db import CHUNK_COLUMNS, Database, file_stamps
from vaultmind.index.embed import embedded_text
from vaultmind.index.folder import VaultFolder
from vaultmind.index.notes import Chunked, Place, folded, heading_anchor, name_of
from vaultmind.index.words import flags_of, index_terms
from vaultmind.ports import Report, silent
from vaultmind.types import Chunk, Fault, Progress
from vaultmind.vault.files import FileStat, FileText
from vaultmind.vault.markdown import links_in

MIN_MESSAGE_TOKENS = 10
"""Shorter messages ("ok, thanks") are found by their words alone."""
MOST_TIES = 500
"""Of one file: what links to more is a list of everything, and ties nothing together."""
MIN_REMARK_TOKENS = 4
"""The same of an episode's remarks ("kept", "it works")."""
_NOTHING = Chunked(())
_BATCH_SECONDS = 0.2
_SETTLED_NS = 50_000_000
"""A file changed so shortly before it was read may change again within the same stamp."""
_HASH_BYTES = 16
_COLUMNS = f"{CHUNK_COLUMNS}, ordinal, block, text_hash, embeds, flags, letters, cost, tokens"
_FIELDS = [name.strip(' "') for name in CHUNK_COLUMNS.split(",")]
_PUT = f"INSERT INTO chunks ({_COLUMNS}) VALUES ({', '.join('?' * len(_COLUMNS.split(',')))})"
_MOVE = 'UPDATE chunks SET ordinal = ?, start = ?, "end" = ? WHERE id = ?'
_PUT_FILE = f"INSERT INTO files VALUES ({', '.join('?' * 12)})"
_PUT_TIE = "INSERT INTO ties (path, kind, name, target, anchor, chunk) VALUES (?, ?, ?, ?, ?, ?)"

Describe = Callable[[FileText, str], bytes]
"""Returns what plans are to know of a file in a language: of its title, parts, links and tasks."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A path as it was read, ready to be stored; without a place and stamp it leaves the index."""

    path: str
    place: Place | None = None
    """None with a stamp: its bytes are those of the index."""
    stat: FileStat | None = None
    sha: str = ""
    """Empty for a file that is there and cannot be taken: only its fault is kept."""
    chunked: Chunked = _NOTHING
    record: bytes = b""
    """What plans know of it."""


class Sync:
    """Keeps one database in step with one folder. Safe for many threads."""

    def __init__(
        self,
        database: Database,
        folder: VaultFolder,
        min_tokens: int = MIN_MESSAGE_TOKENS,
        describe: Describe = lambda file, lang: b"",
    ) -> None:
        """Messages of fewer than `min_tokens` get no vector; `describe` makes records of notes."""
        self._database, self._folder, self.paths = database, folder, folder.paths
        self._min_tokens, self._describe = min_tokens, describe
        self.condition = threading.Condition()
        """Notified when something is said to have changed. Whoever waits for work waits on it."""
        self.marked = {""}
        """Files, and folders (`A/`), that changed and are not indexed yet; empty for the whole."""
        self._lock = threading.RLock()
        self._stopped = False
        self.total = 0
        """Files that the last scan found."""
        self.scan_faults: tuple[Fault, ...] = ()

    # --- what is known to have changed ----------------------------------------------------

    def mark(self, paths: Iterable[str]) -> None:
        """Note that files changed, or whole folders; empty for all. Never blocks."""
        with self.condition:
            self.marked.update(paths)
            self.condition.notify_all()

    def take(self) -> set[str]:
        """Return what changed, and forget it."""
        with self.condition:
            taken, self.marked = self.marked, set()
            return taken

    # --- bringing it into the index -------------------------------------------------------

    def stop(self) -> None:
        """Make a long piece of work end after its current batch, and whoever waits look up."""
        self._stopped = True
        self.mark([])

    def refresh(self, paths: Iterable[str], patience: float = -1) -> None:
        """Index files as they stand on disk now, or drop them; and all below folders (`A/`).

        With `patience` it waits no longer than so many seconds behind another batch, and leaves it
        at that. Raises VaultNotFound while nothing is there: an unplugged disk drops no file.
        """
        self._folder.check()
        found: set[str] = set()
        for path in paths:
            if path == path.encode(errors="ignore").decode():  # else it cannot be stored
                found.update(self._changed(path) if path.endswith("/") else (path,))
        self._process(sorted(found), silent, patience)

    def reconcile(self, report: Report = silent) -> None:
        """Compare the whole folder with the database and index the difference.

        Raises VaultNotFound when it cannot be listed; the database is left as it is.
        """
        self._folder.check()
        self._folder.rules = self._folder.new_rules()
        format_ = f"{self._folder.format}, messages of {self._min_tokens} tokens"
        if self._database.get("format") != format_:
            self.forget_all()
            self._database.set("format", format_)
        in_memory = self.paths.in_memory
        changed = sorted(self._changed(""), key=lambda path: (not in_memory(path), path))
        self._process(changed, report)

    def _changed(self, below: str) -> set[str]:
        """Return the files of a folder (`A/`, or empty for all) that are not indexed as they are,
        or are not there any more.
        """
        found = self._folder.scan(below)
        others = (one for one in self.scan_faults if not one.path.startswith(below))
        self.scan_faults = (*others, *found.faults)
        if not below:
            self.total = len(found.entries)
        stamps = file_stamps(self._database)
        changed = {path for path, stat in found.entries.items() if stamps.get(path) != stat}
        known = {path for path in stamps if path.startswith(below)}
        return changed | (known - found.entries.keys())

    def forget_all(self) -> None:
        """Empty the index, so that the next comparison fills it anew; cached vectors stay."""
        with self._database.write() as connection:
            for table in ("chunks", "ties", "files", "records"):
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

    def _process(self, paths: Sequence[str], report: Report, patience: float = -1) -> None:
        """Read and store files in batches that keep a transaction short."""
        report(Progress(0, len(paths), "indexing text"))
        done = 0
        while done < len(paths) and not self._stopped:
            if not self._lock.acquire(timeout=patience):
                return
            try:
                batch: list[Prepared] = []
                until = time.monotonic() + _BATCH_SECONDS
                while done < len(paths) and time.monotonic() < until:
                    batch.append(self._read(paths[done]))
                    done += 1
                with self._database.write():
                    for prepared in batch:
                        store(self._database, prepared, self._min_tokens)
            finally:
                self._lock.release()
            report(Progress(done, len(paths), "indexing text"))

    def _read(self, path: str) -> Prepared:
        """Read a file and cut it, or tell why there is nothing to take."""
        place = self._folder.place_of(path)
        if place is None or self._folder.rules.excluded(path):
            return Prepared(path)
        try:
            file = self._folder.reader.read(path)
        except (NotFound, PathRefused):
            return Prepared(path)
        except UnreadableNote as error:
            stat, chunked = None, Chunked((), faults=(error.reason,))
            with suppress(UnreadableNote):
                stat = self._folder.reader.stat(path)
            return Prepared(path, place if stat else None, stat, chunked=chunked)
        if 0 <= time.time_ns() - max(file.stat.mtime_ns, file.stat.ctime_ns) < _SETTLED_NS:
            self.mark([path])
        with self._database.read() as connection:
            row = connection.execute("SELECT sha FROM files WHERE path = ?", (path,)).fetchone()
        if row == (file.sha,):
            return Prepared(path, stat=file.stat)
        try:
            chunked = self._folder.cut(path, file, place)
            "\n".join(f"{chunk.title}{chunk.text}" for chunk in chunked.chunks).encode()
            record = self._describe(file, chunked.lang) if place.kind == "note" else b""
            return Prepared(path, place, file.stat, file.sha, chunked, record)
        except Exception as error:  # one odd file must not stop the others
            log.exception("%s could not be cut into chunks", path)
            fault = f"could not be understood: {error!r}"
            return Prepared(path, place, file.stat, chunked=Chunked((), faults=(fault,)))


# --- one file's rows ----------------------------------------------------------------------


def store(database: Database, one: Prepared, min_tokens: int = MIN_MESSAGE_TOKENS) -> None:
    """Bring one file's rows to what was prepared: in the caller's transaction, or in its own."""
    path, place, chunked = one.path, one.place, one.chunked
    stamp = astuple(one.stat) if one.stat else ()
    with database.write(path) as connection:
        if stamp and place is None:
            statement = "UPDATE files SET mtime_ns = ?, ctime_ns = ?, size = ? WHERE path = ?"
            connection.execute(statement, (*stamp, path))
            return
        _store_chunks(connection, path, chunked.chunks, min_tokens)
        for table in ("ties", "files", "records"):
            connection.execute(f"DELETE FROM {table} WHERE path = ?", (path,))
        ties = [*islice(dict.fromkeys(_ties(path, chunked.chunks)), MOST_TIES)]
        connection.executemany(_PUT_TIE, [(path, *tie) for tie in ties])
        if place is not None:
            fault = "; ".join(chunked.faults)
            told = (chunked.lang, fault, "partial" if fault and one.sha else fault and "skipped")
            links = sum(kind == "link" for kind, *_ in ties)
            row = (path, name_of(path), place.kind, place.agent, *stamp, one.sha, *told, links)
            connection.execute(_PUT_FILE, row)
            connection.execute("INSERT INTO records VALUES (?, ?)", (path, one.record))


def _store_chunks(
    connection: sqlite3.Connection, path: str, chunks: Sequence[Chunk], min_tokens: int
) -> None:
    """Bring a file's chunks to these: of one that stays, all but its place is in its id."""
    held = {row[0] for row in connection.execute("SELECT id FROM chunks WHERE path = ?", (path,))}
    gone = [(name,) for name in held.difference(chunk.id for chunk in chunks)]
    connection.executemany("DELETE FROM chunks WHERE id = ?", gone)
    for ordinal, chunk in enumerate(chunks):
        if chunk.id in held:
            connection.execute(_MOVE, (ordinal, chunk.start, chunk.end, chunk.id))
            continue
        fields = [getattr(chunk, name) for name in _FIELDS]
        fields[_FIELDS.index("tags")] = f" {' '.join(chunk.tags)} " if chunk.tags else ""
        block = chunk.anchor[2:] if chunk.anchor.startswith("#^") else ""
        least = {"message": min_tokens, "episode": MIN_REMARK_TOKENS}.get(chunk.kind, 0)
        is_said = chunk.kind != "message" or chunk.role in ("user", "assistant")
        is_heading = chunk.text.startswith("#") and "\n" not in chunk.text
        cost = tokens.count(chunk.text)
        is_said &= not is_heading and cost >= least
        rest = (is_said, flags_of(chunk.text), len(chunk.text), cost, tokens_of(chunk))
        connection.execute(_PUT, (*fields, ordinal, block, text_hash(chunk), *rest))


def _ties(path: str, chunks: Sequence[Chunk]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield what a file's chunks say of others: kind, name, target, anchor, chunk.

    The name is a `tag`, or the last part of the path of a `link`; `target` is all of that path
    where it names folders.
    """
    for tag in dict.fromkeys(tag for chunk in chunks for tag in chunk.tags):
        parts = tag.split("/")  # a nested tag ties to whoever has what it is nested in
        for depth in range(len(parts), 0, -1):
            yield "tag", "/".join(parts[:depth]), "", "", ""
    for chunk in chunks:
        for link in links_in(chunk.text):
            name = name_of(link.target)
            if name and name != name_of(path):
                parts = [one for one in folded(link.target).split("/") if one.strip(".")]
                target = "/".join(parts) if len(parts) > 1 else ""
                heading = link.heading.rpartition("#")[2]
                anchor = f"#^{link.block}" if link.block else heading_anchor(heading)
                yield "link", name, target, anchor, chunk.id


def tokens_of(chunk: Chunk) -> str:
    """Return the tokens of a chunk as they are stored: a line each of words, stems and title."""
    words, stems = index_terms(chunk.text, chunk.lang)
    folders = chunk.path.rpartition("/")[0].replace("/", " ") if chunk.kind == "note" else ""
    named, also = index_terms(" ".join((chunk.title, *chunk.tags, folders)), chunk.lang)
    title = [named, *sorted(set(also.split()).difference(named.split()))]
    return f"{words}\n{stems}\n{' '.join(title)}"


def text_hash(chunk: Chunk) -> bytes:
    """Return the key under which a chunk's vector is cached."""
    text = embedded_text(chunk.kind, chunk.title, chunk.text)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=_HASH_BYTES).digest()
