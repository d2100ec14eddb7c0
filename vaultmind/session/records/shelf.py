"""What sessions an agent has, by the heads of their files: which are open, which is the newest.

A file is looked at again only when its stamp changes, the folder's names when the folder's does:
what stands on the shelf is asked for before every answer.
"""

from __future__ import annotations

import codecs
import os
import re
import threading
import time
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from vaultmind.errors import VaultMindError
from vaultmind.ports import Clock
from vaultmind.session.records.store import order, session_ids
from vaultmind.vault.files import OPEN_FLAGS, FileStat, VaultReader, read_bytes, stat_of
from vaultmind.vault.paths import SESSION_ID
from vaultmind.vault.session_meta import BOM, SessionMeta, parse_meta, runs
from vaultmind.vault.transcript import count_messages

HEAD_BYTES = 16_384
"""A session's front matter is looked for in so much of its beginning, then in all of it."""
SETTLED_NS = 50_000_000
"""A folder that changed so short a time ago may change again without a new stamp."""
EASTERNMOST = timedelta(hours=14)
"""So far ahead a day may be that somewhere has begun."""

_ENDED = re.compile(r"^state[ \t]*:[ \t]*ended[ \t]*\r?$", re.MULTILINE)
_CLOSED = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_SIMPLE = re.compile(r"[\w:./-]+", re.ASCII)
"""Names that stand in YAML as they are."""


@dataclass(slots=True)
class Head:
    """A session, by its front matter; valid while the file's stamp is `stat`."""

    id: str
    stat: FileStat
    raw: str
    """The front matter's text."""
    _meta: SessionMeta | None = None

    @property
    def meta(self) -> SessionMeta:
        """Return what the front matter says."""
        if self._meta is None:
            self._meta = parse_meta(self.raw)
        return self._meta

    @property
    def is_open(self) -> bool:
        """Tell whether it is a session of our own that has not ended."""
        if _ENDED.search(self.raw):  # most are; YAML is slow
            return False
        return runs(self.meta)

    def is_of(self, conversation: str) -> bool:
        """Tell whether it is a session of our own of a conversation."""
        if _SIMPLE.fullmatch(conversation) and conversation not in self.raw:
            return False
        return self.meta.conversation == conversation and not self.meta.source


@dataclass(slots=True)
class _Agent:
    """What is known of one agent's sessions."""

    folder: FileStat | None = None
    ids: tuple[str, ...] = ()
    heads: dict[str, Head] = field(default_factory=dict)
    said: dict[str, FileStat | None] = field(default_factory=dict)
    """Sessions in which something was said (None), or nothing while the stamp is this."""


class Shelf:
    """The sessions of a vault's agents. Any thread."""

    def __init__(self, reader: VaultReader, clock: Clock | None = None) -> None:
        """By `clock` it is told which sessions' days are still to come; without, none are."""
        self._reader = reader
        self._paths = reader.paths
        self._clock = clock
        self._lock = threading.Lock()
        self._agents: dict[str, _Agent] = {}

    def heads(self, agent: str) -> tuple[Head, ...]:
        """Return an agent's sessions that can be looked at, oldest first."""
        with self._lock:
            known = self._agents.setdefault(agent, _Agent())
            known.heads = {head.id: head for head in self._looked(agent, known.heads)}
            return tuple(sorted(known.heads.values(), key=lambda head: order(head.id)))

    def stamp(self, agent: str) -> FileStat | None:
        """Return what changes when a session begins, ends or goes; None where it may yet change.

        A session that only grows changes nothing here.
        """
        try:
            found = (self._paths.root / self._paths.sessions(agent)).stat()
        except OSError:
            return None
        return stat_of(found) if time.time_ns() - found.st_mtime_ns > SETTLED_NS else None

    def latest(self, agent: str) -> str:
        """Return the newest session in which something was said, imported ones too.

        Words that only asked something of the memory are no conversation. Empty without any. One
        of a day that is still to come, from a clock that was wrong, counts where there is no other.
        """
        last = (self._clock() + EASTERNMOST).date().isoformat() if self._clock else "9999"
        with self._lock:
            known = self._agents.setdefault(agent, _Agent())
            ids = self._ids(agent, known)
            begun = bisect_right(ids, last, key=lambda one: order(one)[0])
            for session in (*reversed(ids[:begun]), *reversed(ids[begun:])):
                if self._is_said(agent, session, known):
                    return session
        return ""

    def _looked(self, agent: str, known: dict[str, Head]) -> Iterator[Head]:
        try:
            with os.scandir(self._paths.root / self._paths.sessions(agent)) as entries:
                found = [
                    (entry.name[:-3], stat_of(entry.stat(follow_symlinks=False)))
                    for entry in entries
                    if entry.name.endswith(".md") and entry.is_file(follow_symlinks=False)
                ]
        except OSError:
            return
        for session, stat in found:
            if not SESSION_ID.fullmatch(session):
                continue
            head = known.get(session)
            if head is None or head.stat != stat:
                head = self._read(agent, session)
            if head is not None:
                yield head

    def _read(self, agent: str, session: str) -> Head | None:
        """Return a session's head; None for a file that is gone or cannot be read."""
        raw, stat = self._beginning(agent, session, HEAD_BYTES)
        if stat is None:
            return None
        text = _text(raw)
        if _CLOSED.search(text, 1) is None and len(raw) < stat.size:
            text = _text(self._beginning(agent, session, 0)[0])
        closed = _CLOSED.search(text, 1)
        return Head(session, stat, text[: closed.end() + 1] if closed else "")

    def _ids(self, agent: str, known: _Agent) -> tuple[str, ...]:
        try:
            found = (self._paths.root / self._paths.sessions(agent)).stat()
        except OSError:
            return ()
        stat = stat_of(found)
        if stat != known.folder:
            settled = time.time_ns() - stat.mtime_ns > SETTLED_NS
            known.ids = session_ids(self._paths, agent)
            known.folder = stat if settled else None
            known.said = {one: stamp for one, stamp in known.said.items() if one in known.ids}
        return known.ids

    def _is_said(self, agent: str, session: str, known: _Agent) -> bool:
        before = known.said.get(session, _UNKNOWN)
        if before is None:
            return True
        if before is not _UNKNOWN and before == self._stamp(agent, session):
            return False
        raw, stat = self._beginning(agent, session, HEAD_BYTES)
        said = count_messages(_text(raw)) > 0
        if not said and stat is not None and len(raw) < stat.size:
            said = count_messages(_text(self._beginning(agent, session, 0)[0])) > 0
        known.said[session] = None if said else (stat or _UNKNOWN)
        return said

    def _stamp(self, agent: str, session: str) -> FileStat | None:
        try:
            return self._reader.stat(self._paths.session(agent, session))
        except VaultMindError:
            return None

    def _beginning(self, agent: str, session: str, most: int) -> tuple[bytes, FileStat | None]:
        """Return the first bytes of a session, all where `most` is 0, and its stamp."""
        path = self._paths.session(agent, session)
        try:
            absolute = self._paths.absolute(path)
            if not most:
                return read_bytes(absolute, self._reader, path)
            descriptor = os.open(absolute, OPEN_FLAGS)
            try:
                return os.read(descriptor, most), stat_of(os.fstat(descriptor))
            finally:
                os.close(descriptor)
        except (VaultMindError, OSError):
            return b"", None


_UNKNOWN = FileStat(0, 0, -1)


def _text(raw: bytes) -> str:
    return codecs.getincrementaldecoder("utf-8")("replace").decode(raw).removeprefix(BOM)
