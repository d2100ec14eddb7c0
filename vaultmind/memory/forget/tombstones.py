"""tombstones-<device>.jsonl: what said a forgotten thing. Ids only, never a text.

A line names a message by its session, its own id and its block, a part of a summary by the
summary's path (without `.md`) and its block, or a line of a sub-agent's run by its file and number.
A file that is renamed, moved or copied keeps what it hides: a message's own id, and a block id that
was made of a paragraph's words or drawn for it, hide wherever they stand in the agent's memory.
One with `"lifted": true` shows it again, as an undo does. Over all devices' files the newest line
of a message counts; where a tombstone and a lift of two devices are of one time, it stays hidden.
One with `"erased": true` says that the words are gone: no lift outweighs it, however new.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from vaultmind.memory.brain import BLOCK_LENGTH, BLOCK_LETTERS
from vaultmind.memory.forget.kinds import Ref, SummaryRef
from vaultmind.types import MessageRef
from vaultmind.vault.files import FileStat, stat_of
from vaultmind.vault.paths import AGENT_NAME, VaultPaths

_NAME = re.compile(r"tombstones-[^/]+\.jsonl")
"""Copies that a sync program made count as well: too much hidden is better than too little."""

_UNIQUE = re.compile(
    r"(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-|h)[0-9a-f]{12}\b.*"
    r"|.*\d{4}-\d{2}-\d{2}_\d{3,}\W.+"
    r"|(?:.*[\W_])?(?=(?:[a-z]*\d){2})[0-9a-z]{16,}",
    re.IGNORECASE | re.DOTALL,
)
"""A message's own id that no other message has, as hosts make them: a UUID, one of ours, one with a
session's id before it, a long run of letters and digits. Not `7` or `msg-7`: each talk has one."""
_UNIQUE_PART = re.compile(rf"p[0-9a-f]{{10}}|[{BLOCK_LETTERS}]{{{BLOCK_LENGTH}}}")
"""A block id of a summary's part that no other part has: made of its words, or drawn for it. Those
of a sliding summary (`m7-1`) stand in each."""
_EPISODES = "/episodes/"
"""In an episode's path: its lines are only numbered (`e123`), and each has a `task`."""
ANYWHERE = ""
"""Stands for every session: a message with such an id is hidden wherever it is taken down again, as
it is when its session was deleted by hand and its transcript read anew."""
ANY_SUMMARY = "/"
"""Stands for every summary, as `ANYWHERE` does for every session."""

LATEST = datetime(9999, 12, 30, tzinfo=UTC).timestamp()
"""Later times count as this one, so that a device's clock that is broken leaves room after it. Not
measured from now: what outweighs such a line today must do so tomorrow, too."""

Stamp = tuple[tuple[str, FileStat], ...]
Name = tuple[str, str]
"""(session or summary, block or own id)."""


@dataclass(frozen=True, slots=True)
class _Line:
    """What a line of a tombstone file says."""

    time: float
    """Seconds since 1970; 0 where it is no time."""
    lifted: bool
    erased: bool
    ref: Ref

    @property
    def keys(self) -> tuple[Name, ...]:
        return _keys(self.ref)

    @property
    def weight(self) -> tuple[float, bool]:
        """Return what makes one device's line count more than another's."""
        return self.time, not self.lifted


@dataclass(frozen=True, slots=True)
class _Known:
    """An agent's tombstones as they stand in the files of one stamp."""

    stamp: Stamp
    lines: tuple[_Line, ...]
    ids: frozenset[Name]
    """What is hidden."""
    erased: frozenset[Name]
    """What of it is hidden for good."""


class Tombstones:
    """Implements `ports.Forgotten` over the files of all devices. Any thread.

    They are read again when a file's stamp changes, so that what another device has forgotten
    is hidden as soon as its file arrives.
    """

    def __init__(self, paths: VaultPaths) -> None:
        self._paths = paths
        self._lock = threading.Lock()
        self._agents: dict[str, _Known] = {}

    def hides(self, agent: str, record: str, part: str) -> bool:
        """Tell whether a message of a session, or a part of a summary, said what was forgotten.

        `part` is its block or a message's own id.
        """
        return self.hider(agent)(record, part)

    def hider(self, agent: str) -> Callable[[str, str], bool]:
        """Return what tells the same of an agent as it is hidden now, for many at once."""
        return partial(_hides, self.hidden(agent))

    def hidden(self, agent: str) -> frozenset[Name]:
        """Return (session or summary, block or own id) of all that is hidden of an agent.

        The session is `ANYWHERE` for an id that no other message has, the summary `ANY_SUMMARY`
        for one that no other part has.
        """
        known = self._known(agent)
        return known.ids if known else frozenset()

    def erased(self, ref: Ref) -> bool:
        """Tell whether a message is hidden for good, by every name that is known of it here."""
        known = self._known(ref.agent)
        every = ANY_SUMMARY if isinstance(ref, SummaryRef) else ANYWHERE
        return known is not None and all(
            key in known.erased or (every, key[1]) in known.erased for key in _keys(ref)
        )

    def buried(self, ref: Ref) -> tuple[Ref, ...]:
        """Return a message or part under every name by which it is hidden; nothing if it is not.

        A lift must name them all: one line may know it by its block, another by its own id. What
        was erased has none: no lift shows it.
        """
        known = self._known(ref.agent)
        if known is None:
            return ()
        wanted = {*_keys(ref)}
        lines = [line for line in known.lines if wanted & {*line.keys}]
        if any(known.erased & {*line.keys} for line in lines):
            return ()
        return tuple(dict.fromkeys(one.ref for one in lines if known.ids & {*one.keys}))

    def time_for(self, refs: Iterable[Ref], now: datetime) -> datetime:
        """Return a time for new lines on some messages, later than every line they have.

        Devices' clocks differ, and the newest line is the one that counts.
        """
        now, latest = now.replace(microsecond=0), 0.0
        for ref in refs:
            known, wanted = self._known(ref.agent), {*_keys(ref)}
            lines = known.lines if known else ()
            latest = max([latest, *(one.time for one in lines if wanted & {*one.keys})])
        if latest < now.timestamp():
            return now
        return datetime.fromtimestamp(min(latest + 1, LATEST), now.tzinfo or UTC)

    def _known(self, agent: str) -> _Known | None:
        if not AGENT_NAME.fullmatch(agent):
            return None
        folder = self._paths.root / self._paths.memory(agent)
        files = _files(folder)
        stamp = tuple((path.name, stat) for path, stat in files)
        with self._lock:
            known = self._agents.get(agent)
            if known is None or known.stamp != stamp:
                read = ([*_read(path, agent)] for path, _ in files)
                known = self._agents[agent] = _settled(list(read), stamp)
            return known


def _hides(ids: frozenset[Name], record: str, part: str) -> bool:
    name = part.removeprefix("^")
    if not ids or not name:
        return False
    if (record, name) in ids:
        return True
    every = ANY_SUMMARY if "/" in record else ANYWHERE
    return _EPISODES not in record and (every, name) in ids


def render_tombstones(
    refs: Iterable[Ref], time: str, *, lifted: bool = False, erased: bool = False
) -> str:
    """Return the lines that hide messages and parts of summaries, or show them again."""
    more: dict[str, Any] = {"lifted": True} if lifted else {}
    more |= {"erased": True} if erased else {}
    return "".join(json.dumps({"time": time, **_named(ref), **more}) + "\n" for ref in refs)


def _named(ref: Ref) -> dict[str, str]:
    if isinstance(ref, SummaryRef):
        return {"summary": ref.summary, "block": ref.block}
    return {"session": ref.session, "message": ref.id, "block": ref.block}


def _keys(ref: Ref) -> tuple[Name, ...]:
    if isinstance(ref, SummaryRef):
        return ((ref.summary, ref.block),)
    return tuple((ref.session, name) for name in (ref.id, ref.block) if name)


def _files(folder: Path) -> list[tuple[Path, FileStat]]:
    try:
        with os.scandir(folder) as entries:
            found = [
                (folder / entry.name, stat_of(entry.stat(follow_symlinks=False)))
                for entry in entries
                if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found, key=lambda pair: pair[0])


def _settled(files: list[list[_Line]], stamp: Stamp) -> _Known:
    """Return what is hidden by the newest line of each message."""
    newest: dict[Name, _Line] = {}
    for lines in files:
        own: dict[Name, _Line] = {}
        for line in lines:
            for key in line.keys:
                if key not in own or line.time >= own[key].time:  # in one file, the later line
                    own[key] = line
        for key, line in own.items():
            if key not in newest or line.weight > newest[key].weight:
                newest[key] = line
    every = tuple(line for lines in files for line in lines)
    erased = frozenset(key for line in every if line.erased for key in line.keys)
    ids = frozenset(key for key, line in newest.items() if not line.lifted)
    return _Known(stamp, every, _with_unique(ids | erased), _with_unique(erased))


def _with_unique(names: frozenset[Name]) -> frozenset[Name]:
    """Return names with those that hold wherever they stand. A run's lines are only numbered."""
    messages = {(ANYWHERE, n) for at, n in names if "/" not in at and _UNIQUE.fullmatch(n)}
    parts = {
        (ANY_SUMMARY, n)
        for at, n in names
        if "/" in at and _EPISODES not in at and _UNIQUE_PART.fullmatch(n)
    }
    return names | messages | parts


def _read(path: Path, agent: str) -> Iterator[_Line]:
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError:
        return
    for raw in text.split("\n"):
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and (ref := _ref(agent, value)):
            lifted, erased = (value.get(key) is True for key in ("lifted", "erased"))
            yield _Line(_seconds(value.get("time")), lifted, erased, ref)


def _ref(agent: str, value: dict[str, Any]) -> Ref | None:
    """Return what a line names; None where it names nothing."""
    block, own = (_name(value.get(key)) for key in ("block", "message"))
    session, summary = value.get("session"), value.get("summary")
    if isinstance(session, str) and session and (block or own):
        return MessageRef(agent, session, block, own)
    if isinstance(summary, str) and summary and block:
        return SummaryRef(agent, summary, block)
    return None


def _name(value: object) -> str:
    return value.removeprefix("^") if isinstance(value, str) else ""


def _seconds(value: object) -> float:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return 0.0
    return min((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), LATEST)
