"""The history of a scheduled sub-agent: its last completed runs, as the host wrote them.

`conversations/scheduler_<task>/*.jsonl` hold a message a line, `{role, type, content,
tool_calls?}`; the files' names sort by time. A run ends with an assistant's message that is no
tool call, wherever its file ends.
"""

from __future__ import annotations

import json
import logging
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import cast

from vaultmind.errors import BadArgument, NotFound, PathRefused, UnreadableNote
from vaultmind.plural import counted
from vaultmind.types import ROLES, Role
from vaultmind.vault.files import VaultReader, read_bytes
from vaultmind.vault.nesting import safe
from vaultmind.vault.paths import VaultPaths

RUNS = 5
MAX_FILE_BYTES = 32_000_000
"""A larger file is left out: a run is a few messages, and a context waits for it."""
MAX_BYTES, MAX_FILES = 64_000_000, 500
"""So much is read at most, from the newest file back, however few runs that holds."""
SHOWN_FAULTS = 5
"""Lines and files that are named; of the rest their number is told."""
FOLDER = "scheduler_"
"""What the folder of a task's runs begins with."""
MAX_SHOWN_NAME = 200
"""Characters of a path in a warning."""
TASK_NAME = re.compile(r"[\w][\w .-]{0,99}")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunMessage:
    """One line of a run."""

    role: Role
    text: str
    type: str = "text"
    tool_calls: str = ""
    """The calls as JSON, where the line holds some."""
    file: str = field(default="", compare=False)
    """Where it stands, vault-relative."""
    line: int = field(default=0, compare=False)
    """Its number in that file, from 1."""

    @property
    def is_call(self) -> bool:
        """Tell whether the message calls a tool, so that the run goes on."""
        return self.type == "tool_call" or bool(self.tool_calls)

    @property
    def ends_run(self) -> bool:
        """Tell whether the message is the answer that a run ends with."""
        return self.role == "assistant" and not self.is_call


@dataclass(frozen=True, slots=True)
class Run:
    """A completed run: the request, the tools' calls and results, the answer."""

    file: str
    """The file in which it ends, vault-relative."""
    messages: tuple[RunMessage, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """What of the runs may be shown at all."""

    excludes: Callable[[str], bool] = lambda path: False
    """Tells whether a vault-relative path is never shown."""
    hides: Callable[[str, int], bool] = lambda file, line: False
    """Tells whether a line of a file said what was forgotten."""


EVERYTHING = Kept()


@dataclass(frozen=True, slots=True)
class History:
    """What a sub-agent is shown of its past, oldest run first."""

    task: str
    runs: tuple[Run, ...] = ()
    warnings: tuple[str, ...] = ()
    """Lines and files that could not be read, in words."""
    unfinished: bool = False
    """Whether a last run is left out, which no answer has ended yet."""
    others: tuple[str, ...] = ()
    """The tasks there are, where this one has no folder."""

    @property
    def messages(self) -> tuple[RunMessage, ...]:
        """Return the messages of all runs in order."""
        return tuple(message for run in self.runs for message in run.messages)


def history(paths: VaultPaths, task: str, runs: int = RUNS, kept: Kept = EVERYTHING) -> History:
    """Return the last completed runs of a task; none where it never ran.

    An unfinished last run is skipped, a line that cannot be read is named and passed over.
    Raises BadArgument for a name that is no name of a task, PathRefused for one that leads away.
    """
    folder = folder_of(paths, task)
    if runs < 1:
        raise BadArgument("runs", runs, "1 or more")
    if not paths.absolute(folder).is_dir():
        return History(task, others=tasks(paths))
    faults = _Faults()
    found: deque[Run] = deque(maxlen=runs)
    said: list[RunMessage] = []
    for message in _last_messages(paths, folder, runs, kept, faults):
        said.append(message)
        if message.ends_run:
            shown = tuple(one for one in said if not kept.hides(one.file, one.line))
            if shown:
                found.append(Run(message.file, shown))
            said = []
    warnings = faults.words()
    for warning in warnings:
        log.warning("%s", warning)
    return History(task, tuple(found), warnings, bool(said))


def tasks(paths: VaultPaths) -> tuple[str, ...]:
    """Return the tasks that the host keeps runs of, by name."""
    try:
        entries = list(paths.absolute(f"{paths.memory_dir}/conversations").iterdir())
    except (OSError, PathRefused):
        return ()
    names = (one.name.removeprefix(FOLDER) for one in entries if one.name.startswith(FOLDER))
    return tuple(sorted(name for name in names if TASK_NAME.fullmatch(name)))


def folder_of(paths: VaultPaths, task: str) -> str:
    """Return the folder of a task's runs. Raises BadArgument."""
    if not TASK_NAME.fullmatch(task) or ".." in task or task != task.strip(" ."):
        raise BadArgument("task", task, "letters, digits, spaces, '-', '_' and '.', up to 100")
    return f"{paths.memory_dir}/conversations/{FOLDER}{task}"


def run_files(paths: VaultPaths, folder: str) -> list[str]:
    """Return the files of a task's runs by name, which is by time; none where there is no folder.

    Raises PathRefused for a folder that leads away.
    """
    try:
        names = sorted(entry.name for entry in paths.absolute(folder).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [f"{folder}/{name}" for name in names if name.endswith(".jsonl")]


def run_bytes(paths: VaultPaths, relative: str) -> bytes:
    """Return a file of runs as it stands. Raises NotFound, UnreadableNote, PathRefused.

    Only a regular file of sane size is opened: a pipe of that name would be waited for.
    """
    reader = VaultReader(paths, MAX_FILE_BYTES)
    return read_bytes(paths.absolute(relative), reader, relative)[0]


def run_lines(relative: str, raw: bytes) -> Iterator[tuple[int, RunMessage | None, str]]:
    """Yield (number, message, what is wrong with it) of each line that is not blank."""
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            message, fault = _parsed(line)
            if message is not None:
                message = replace(message, file=relative, line=number)
            yield number, message, fault


class _Faults:
    """What could not be read: the first few in words, the rest counted."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._more = 0

    def add(self, fault: str) -> None:
        if len(self._first) < SHOWN_FAULTS:
            self._first.append(fault)
        else:
            self._more += 1

    def words(self) -> tuple[str, ...]:
        more = f"and {counted(self._more, 'more line or file', 'more lines or files')} left out"
        return (*self._first, *([more] if self._more else []))


def _last_messages(
    paths: VaultPaths, folder: str, runs: int, kept: Kept, faults: _Faults
) -> list[RunMessage]:
    """Return the messages of the newest files, in order: of as many as hold the wanted runs.

    One run more is looked for, since where it ends the oldest wanted one begins.
    """
    newest_first: list[list[RunMessage]] = []
    ended = size = 0
    for relative in reversed(run_files(paths, folder)):
        if kept.excludes(relative):
            continue
        if ended > runs or size > MAX_BYTES or len(newest_first) >= MAX_FILES:
            break
        try:
            raw = run_bytes(paths, relative)
        except (NotFound, UnreadableNote, PathRefused) as error:
            reason = error.reason if isinstance(error, UnreadableNote | PathRefused) else "gone"
            faults.add(f"{_shown(relative)} was left out: {reason}")
            continue
        size += len(raw)
        messages = []
        for number, message, fault in run_lines(relative, raw):
            if message is None:
                faults.add(f"{_shown(relative)}, line {number}, was left out: {fault}")
            else:
                messages.append(message)
        ended += sum(not kept.hides(one.file, one.line) for one in messages if one.ends_run)
        newest_first.append(messages)
    return [message for messages in reversed(newest_first) for message in messages]


def _shown(relative: str) -> str:
    """Return a path as a warning names it: on one line, and not without end."""
    return " ".join(safe(relative).split())[:MAX_SHOWN_NAME]


def _parsed(line: bytes) -> tuple[RunMessage | None, str]:
    """Return the message of a line, or what is wrong with it."""
    try:
        data = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None, "it is not JSON in UTF-8"
    if not isinstance(data, dict):
        return None, "it is no object"
    role = data.get("role")
    if role not in ROLES:
        return None, f"its 'role' is not one of {', '.join(ROLES)}"
    calls = data.get("tool_calls")
    message = RunMessage(cast("Role", role), _text(data.get("content")))
    kind = data.get("type")
    if isinstance(kind, str) and kind:
        message = replace(message, type=kind)
    return (replace(message, tool_calls=_json(calls)) if calls else message), ""


def _text(content: object) -> str:
    if content is None:
        return ""
    return safe(content if isinstance(content, str) else _json(content))


def _json(value: object) -> str:
    return safe(json.dumps(value, ensure_ascii=False))
