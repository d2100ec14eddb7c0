"""The audit of all agents and devices as one story, read from its end.

The last twenty changes cost the same in a log of a hundred lines and of a hundred thousand:
files are read backwards in blocks, and only the lines that are asked for are taken apart.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from heapq import merge
from pathlib import Path

from vaultmind.errors import BadArgument, NotFound
from vaultmind.memory.audit.lines import (
    DROP,
    ID_CHARS,
    AuditLine,
    begins,
    chained_digest,
    ends,
    load,
    may_tell_of_facts,
    parse_line,
)
from vaultmind.vault.paths import VaultPaths

BLOCK_BYTES = 1 << 16
MIN_ID_CHARS = 4
"""Fewer letters of an id name nothing."""
_NAME = re.compile(r"audit-([A-Za-z0-9-]+)\.jsonl")
_BEGUN = '"outcome": "begun"'
_DROPPED = f'"op": "{DROP}"'
_OURS = re.compile(r'\{"time": "([^"\\]{10,40})", ')
"""How a line of ours begins; another is taken apart before anything is known of it."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A line, where it was written, and whether it still holds."""

    line: AuditLine
    device: str
    undone_by: str = ""
    """The id of the line that undid it; empty where it stands."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which lines are asked for."""

    agents: tuple[str, ...]
    since: datetime | None = None
    ops: tuple[str, ...] = ()
    limit: int = 0
    """The newest so many; 0 for all."""
    check: bool = False
    """Whether to find out which texts are not the ones that were written."""


@dataclass(frozen=True, slots=True)
class _Raw:
    """A line that is not taken apart yet."""

    time: float
    text: str
    device: str


@dataclass(slots=True)
class _Undone:
    """What was undone, learned from the newest line on."""

    by: dict[str, str] = field(default_factory=dict)

    def learn(self, line: AuditLine) -> None:
        """Take note of an undo, unless it was itself undone."""
        if line.undoes and line.outcome == "written" and line.id not in self.by:
            self.by[line.undoes] = line.id


@dataclass(slots=True)
class _Begun:
    """What was begun, learned from a file's newest line on: it is told while nothing came of it."""

    agent: str
    is_over: bool = False

    def tells(self, raw: str) -> bool:
        """Tell whether a line says more than that something was begun which has ended since."""
        if self.is_over and _BEGUN not in raw:
            return True
        line = parse_line(raw) if may_tell_of_facts(raw) else None
        if line is None:
            return True
        if begins(line):
            was_over, self.is_over = self.is_over, True
            return not was_over
        self.is_over = self.is_over or ends(line, self.agent)
        return True


def history(paths: VaultPaths, wanted: Wanted) -> tuple[tuple[Logged, ...], bool]:
    """Return the lines that are wanted, newest last, and whether there are older ones.

    What cannot be read as a line is left out: `doctor` counts it.
    """
    found: list[Logged] = []
    for logged in newest_first(paths, wanted):
        if wanted.limit and len(found) == wanted.limit:
            return tuple(reversed(found)), True
        found.append(logged)
    return tuple(reversed(found)), False


def newest_first(paths: VaultPaths, wanted: Wanted) -> Iterator[Logged]:
    """Yield the lines that are wanted, as many as there are."""
    undone = _Undone()
    since = wanted.since.timestamp() if wanted.since else 0.0
    for raw in _raw_newest_first(paths, wanted.agents):
        tells_of_undo = '"undoes"' in raw.text
        if not tells_of_undo and (raw.time < since or not _may_be(raw.text, wanted.ops)):
            continue
        line = parse_line(raw.text, check=wanted.check)
        if line is None:
            continue
        undone.learn(line)
        if raw.time >= since and (line.op in wanted.ops if wanted.ops else line.op != DROP):
            yield Logged(line, raw.device, undone.by.get(line.id, ""))


def find_line(paths: VaultPaths, agents: Sequence[str], line_id: str) -> AuditLine:
    """Return the line that an id, or the beginning of one, names in the audit of some agents.

    Raises NotFound, and BadArgument for a beginning that fits several lines.
    """
    wanted = line_id.strip().lower()
    found: dict[str, AuditLine] = {}
    for raw in _raw_newest_first(paths, agents) if len(wanted) >= MIN_ID_CHARS else ():
        value = load(raw.text)
        if value is None or not chained_digest(value)[:ID_CHARS].startswith(wanted):
            continue
        if line := parse_line(raw.text):
            found.setdefault(line.id, line)
            if wanted == line.id:
                break
    if not found:
        raise NotFound(f"The log has no change {line_id!r}.", hint="Its ids are the first column.")
    if len(found) > 1:
        raise BadArgument("id", line_id, f"one of {', '.join(sorted(found))}")
    return found.popitem()[1]


def lines_holding(paths: VaultPaths, agent: str, mark: str, *more: str) -> list[AuditLine]:
    """Return an agent's lines, oldest first, that hold some marks as they stand in the file.

    Such as `"op": "forget"`: much faster than the whole story where few lines hold the first.
    """
    found: list[AuditLine] = []
    wanted = [one.encode() for one in (mark, *more)]
    for path, _ in audit_files(paths, (agent,)):
        last = b""
        for raw in _raw_holding(path.read_bytes(), wanted[0]):
            line = None
            if raw != last and all(one in raw for one in wanted[1:]):
                line = parse_line(raw.decode("utf-8", "replace"))
            last = raw
            found += [line] if line else []
    return sorted(found, key=lambda line: moment(line.time))


def _raw_holding(data: bytes, mark: bytes) -> Iterator[bytes]:
    at = data.find(mark)
    while at >= 0:
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield data[data.rfind(b"\n", 0, at) + 1 : end]
        at = data.find(mark, end)


def unfinished(path: Path, agent: str) -> AuditLine | None:
    """Return the change of an agent's facts that was begun last, if nothing came of it yet."""
    if not path.is_file() or path.is_symlink():
        return None
    for raw in backwards(path):
        line = parse_line(raw) if may_tell_of_facts(raw) else None
        if line and begins(line):
            return line
        if line and ends(line, agent):
            return None
    return None


def audit_files(paths: VaultPaths, agents: Sequence[str]) -> tuple[tuple[Path, str], ...]:
    """Return the audit files of some agents, each with its device's name."""
    found = []
    for agent in agents:
        folder = paths.absolute(paths.memory(agent))
        if folder.is_dir():
            with os.scandir(folder) as entries:
                names = [one.name for one in entries if one.is_file(follow_symlinks=False)]
            matches = (_NAME.fullmatch(name) for name in sorted(names))
            found += [(folder / match[0], match[1]) for match in matches if match]
    return tuple(found)


def moment(text: str) -> float:
    """Return a line's time in seconds since 1970, across time zones; 0 for what is no time."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def backwards(path: Path) -> Iterator[str]:
    """Yield a file's lines from the last to the first, without their newlines."""
    with path.open("rb") as file:
        position, rest = file.seek(0, os.SEEK_END), b""
        while position > 0:
            size = min(BLOCK_BYTES, position)
            position -= size
            file.seek(position)
            block = file.read(size) + rest
            rest, *lines = block.split(b"\n")
            yield from (one.decode("utf-8", "replace") for one in reversed(lines))
        yield rest.decode("utf-8", "replace")


def _raw_newest_first(paths: VaultPaths, agents: Sequence[str]) -> Iterator[_Raw]:
    """Yield the lines of all devices by time; within a file always by their order."""
    streams = [_raw_lines(path, device) for path, device in audit_files(paths, agents)]
    return merge(*streams, key=lambda one: one.time, reverse=True)


def _raw_lines(path: Path, device: str) -> Iterator[_Raw]:
    """Yield a file's lines, newest first; one that an interrupted append wrote twice, once.

    Nor those that say what was begun, once another says what came of it.
    """
    last, begun = "", _Begun(path.parent.parent.name)
    for raw in backwards(path):
        text = raw.rstrip("\r")
        if text and text != last and begun.tells(text):
            last = text
            yield _Raw(_time_of(text), text, device)


def _time_of(raw: str) -> float:
    if begins := _OURS.match(raw):
        return moment(begins[1])
    value = load(raw)
    return moment(str(value.get("time") or "")) if value else 0.0


def _may_be(raw: str, ops: Sequence[str]) -> bool:
    """Tell whether a line may be one of some operations, or of any that changes something,
    without taking it apart.

    Within a text quotation marks are escaped, so that words cannot look like a key.
    """
    if not _OURS.match(raw):
        return True
    return any(f'"op": "{op}"' in raw for op in ops) if ops else _DROPPED not in raw
