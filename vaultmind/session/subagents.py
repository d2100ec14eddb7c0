"""The runs of scheduled sub-agents, which their host writes: the last completed ones, read.

`conversations/scheduler_<task>/*.jsonl` hold a message a line, `{role, type, content,
tool_calls?}`; the files' names sort by time. A run ends with an assistant's message that is no
tool call, wherever its file ends. Forgetting reaches them: a line that says a forgotten fact is
hidden by its file and number, and its words stay in the file, as a message's do.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import cast

from vaultmind.errors import BadArgument, NotFound, PathRefused, UnreadableNote
from vaultmind.memory.forget.kinds import Edit, Ref, SummaryRef
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.memory.match import says
from vaultmind.plural import counted
from vaultmind.types import ROLES, Fact, Role
from vaultmind.vault.files import VaultReader, read_bytes
from vaultmind.vault.nesting import safe
from vaultmind.vault.paths import VaultPaths

RUNS = 5
MOST_RUNS = 100
"""`context.subagent_history` is at most this; forgetting looks at as many."""
MAX_FILE_BYTES = 32_000_000
"""A larger file is left out: a run is a few messages, and a context waits for it."""
MAX_BYTES, MAX_FILES = 64_000_000, 500
"""What is read at most, from the newest file back, however few runs it holds."""
SHOWN_FAULTS = 5
"""Lines and files that a warning names; the rest are counted."""
FOLDER = "scheduler_"
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


def history(
    paths: VaultPaths,
    task: str,
    runs: int = RUNS,
    *,
    excludes: Callable[[str], bool] = lambda path: False,
    hides: Callable[[str, int], bool] = lambda file, line: False,
) -> History:
    """Return the last completed runs of a task; none where it never ran.

    `excludes` tells which files are never shown, `hides` which lines. An unfinished last run is
    skipped, a line that cannot be read is named and passed over. Raises BadArgument for a name
    that is no name of a task, PathRefused for one that leads away.
    """
    folder = _folder(paths, task)
    if runs < 1:
        raise BadArgument("runs", runs, "1 or more")
    if not paths.absolute(folder).is_dir():
        return History(task, others=_tasks(paths))
    faults: list[str] = []
    newest_first: list[list[RunMessage]] = []
    ended = 0
    for messages in _files(paths, folder, faults, excludes):
        newest_first.append(messages)
        ended += sum(one.ends_run and not hides(one.file, one.line) for one in messages)
        if ended > runs:  # one more than wanted: where it ends the oldest one begins
            break
    found: list[Run] = []
    said: list[RunMessage] = []
    for message in chain.from_iterable(reversed(newest_first)):
        said.append(message)
        if message.ends_run:
            shown = tuple(one for one in said if not hides(one.file, one.line))
            found += [Run(message.file, shown)] if shown else []
            said = []
    if len(faults) > SHOWN_FAULTS:
        more = counted(len(faults) - SHOWN_FAULTS, "more line or file", "more lines or files")
        faults = [*faults[:SHOWN_FAULTS], f"and {more} left out"]
    for fault in faults:
        log.warning("%s", fault)
    return History(task, tuple(found[-runs:]), tuple(faults), bool(said))


def block_of(line: int) -> str:
    """Return what a line of a run is called where it is hidden."""
    return f"L{line}"


class RunLines:
    """Implements the gate's `RecordKind`: messages of all tasks' runs that say a fact."""

    name = "scheduled runs"

    def __init__(self, paths: VaultPaths) -> None:
        self._paths = paths

    def said(self, agent: str, fact: Fact, edit: Edit) -> Iterable[Ref]:
        """Return the lines whose words contain what the fact says."""
        return [ref for ref, text in self.near(agent, fact.text) if says(text, fact.text)]

    def near(self, agent: str, words: str) -> Iterator[tuple[Ref, str]]:
        """Yield the lines that hold the words which count, in any form."""
        wanted = Wanted([words])
        for message in self._messages():
            text = "\n".join(filter(None, (message.text, message.tool_calls)))
            if wanted.may_be_in(text):
                yield SummaryRef(agent, message.file, block_of(message.line)), text

    def _messages(self) -> Iterator[RunMessage]:
        """Yield the messages of as many files of each task as a context could ever show."""
        for task in _tasks(self._paths):
            ended = 0
            for messages in _files(self._paths, _folder(self._paths, task), []):
                yield from messages
                ended += sum(one.ends_run for one in messages)
                if ended > MOST_RUNS:
                    break


def _tasks(paths: VaultPaths) -> tuple[str, ...]:
    """Return the tasks that the host keeps runs of, by name."""
    try:
        entries = list(paths.absolute(f"{paths.memory_dir}/conversations").iterdir())
    except (OSError, PathRefused):
        return ()
    names = (one.name.removeprefix(FOLDER) for one in entries if one.name.startswith(FOLDER))
    return tuple(sorted(filter(_is_name, names)))


def _is_name(task: str) -> bool:
    return bool(TASK_NAME.fullmatch(task)) and ".." not in task and task == task.strip(" .")


def _folder(paths: VaultPaths, task: str) -> str:
    if not _is_name(task):
        raise BadArgument("task", task, "letters, digits, spaces, '-', '_' and '.', up to 100")
    return f"{paths.memory_dir}/conversations/{FOLDER}{task}"


def _files(
    paths: VaultPaths,
    folder: str,
    faults: list[str],
    excludes: Callable[[str], bool] = lambda path: False,
) -> Iterator[list[RunMessage]]:
    """Yield the messages of a task's files, the newest file first.

    Only regular files of sane size are opened: a pipe of that name would be waited for.
    """
    reader = VaultReader(paths, MAX_FILE_BYTES)
    try:
        names = sorted(entry.name for entry in paths.absolute(folder).iterdir())
    except (OSError, PathRefused):
        return
    size = 0
    for name in [name for name in reversed(names) if name.endswith(".jsonl")][:MAX_FILES]:
        file = f"{folder}/{name}"
        if excludes(file):
            continue
        shown = " ".join(safe(file).split())[:200]
        try:
            raw = read_bytes(paths.absolute(file), reader, file)[0]
        except (NotFound, UnreadableNote, PathRefused) as error:
            reason = "gone" if isinstance(error, NotFound) else error.reason
            faults.append(f"{shown} was left out: {reason}")
            continue
        messages: list[RunMessage] = []
        for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
            if line.strip():
                message = _message(line, file, number)
                if isinstance(message, RunMessage):
                    messages.append(message)
                else:
                    faults.append(f"{shown}, line {number}, was left out: {message}")
        yield messages
        size += len(raw)
        if size > MAX_BYTES:
            return


def _message(line: bytes, file: str, number: int) -> RunMessage | str:
    """Return the message of a line, or what is wrong with it."""
    try:
        data = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return "it is not JSON in UTF-8"
    if not isinstance(data, dict):
        return "it is no object"
    role, content, calls = data.get("role"), data.get("content"), data.get("tool_calls")
    if role not in ROLES:
        return f"its 'role' is not one of {', '.join(ROLES)}"
    kind = data.get("type")
    return RunMessage(
        role=cast("Role", role),
        text=_text(content),
        type=kind if isinstance(kind, str) and kind else "text",
        tool_calls=_text(calls) if calls else "",
        file=file,
        line=number,
    )


def _text(content: object) -> str:
    if content is None:
        return ""
    whole = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return safe(whole)
