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
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from vaultmind.errors import BadArgument, PathRefused
from vaultmind.types import ROLES, Role
from vaultmind.vault.paths import VaultPaths

RUNS = 5
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

    @property
    def is_call(self) -> bool:
        """Tell whether the message calls a tool, so that the run goes on."""
        return self.type == "tool_call" or bool(self.tool_calls)


@dataclass(frozen=True, slots=True)
class Run:
    """A completed run: the request, the tools' calls and results, the answer."""

    file: str
    """The file in which it ends, vault-relative."""
    messages: tuple[RunMessage, ...]


@dataclass(frozen=True, slots=True)
class History:
    """What a sub-agent is shown of its past, oldest run first."""

    task: str
    runs: tuple[Run, ...] = ()
    warnings: tuple[str, ...] = ()
    """Lines and files that could not be read, in words."""

    @property
    def messages(self) -> tuple[RunMessage, ...]:
        """Return the messages of all runs in order."""
        return tuple(message for run in self.runs for message in run.messages)


def history(paths: VaultPaths, task: str, runs: int = RUNS) -> History:
    """Return the last completed runs of a task; none where it never ran.

    An unfinished last run is skipped, a line that cannot be read is named and passed over.
    Raises BadArgument for a name that is no name of a task, PathRefused for one that leads away.
    """
    folder = folder_of(paths, task)
    if runs < 1:
        raise BadArgument("runs", runs, "1 or more")
    if not paths.absolute(folder).is_dir():
        return History(task)
    warnings: list[str] = []
    kept: deque[Run] = deque(maxlen=runs)
    said: list[RunMessage] = []
    for file, message in _messages(paths, folder, warnings):
        said.append(message)
        if message.role == "assistant" and not message.is_call:
            kept.append(Run(file, tuple(said)))
            said = []
    for warning in warnings:
        log.warning("%s", warning)
    return History(task, tuple(kept), tuple(warnings))


def folder_of(paths: VaultPaths, task: str) -> str:
    """Return the folder of a task's runs. Raises BadArgument."""
    if not TASK_NAME.fullmatch(task) or ".." in task or task != task.strip(" ."):
        raise BadArgument("task", task, "letters, digits, spaces, '-', '_' and '.', up to 100")
    return f"{paths.memory_dir}/conversations/scheduler_{task}"


def _messages(
    paths: VaultPaths, folder: str, warnings: list[str]
) -> Iterator[tuple[str, RunMessage]]:
    """Yield (file, message) of all files of a folder in order."""
    names = sorted(entry.name for entry in paths.absolute(folder).iterdir())
    for name in names:
        if not name.endswith(".jsonl"):
            continue
        relative = f"{folder}/{name}"
        try:
            raw = paths.absolute(relative).read_bytes()
        except (OSError, PathRefused) as error:
            warnings.append(f"{relative} was left out: {error}")
            continue
        for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
            if not line.strip():
                continue
            message, fault = _parsed(line)
            if message is not None:
                yield relative, message
            else:
                warnings.append(f"{relative}, line {number}, was left out: {fault}")


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
        return None, f"'role' is {role!r}, not one of {', '.join(ROLES)}"
    calls = data.get("tool_calls")
    message = RunMessage(cast("Role", role), _text(data.get("content")))
    kind = data.get("type")
    if isinstance(kind, str) and kind:
        message = replace(message, type=kind)
    return (replace(message, tool_calls=_json(calls)) if calls else message), ""


def _text(content: object) -> str:
    if content is None:
        return ""
    return content if isinstance(content, str) else _json(content)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
