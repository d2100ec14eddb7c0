"""The runs of scheduled sub-agents, which their host writes: the last completed ones, read.

`conversations/scheduler_<task>/*.jsonl` hold a message a line, `{role, type, content,
tool_calls?}`; the files' names sort by time. A run ends with an assistant's message that is no
tool call, wherever its file ends. Forgetting reaches them: a line that says a forgotten fact is
hidden by its file and number, and its words stay in the file, as a message's do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from vaultmind.errors import BadArgument, PathRefused, VaultMindError
from vaultmind.memory.forget.hiding import Edit, Ref
from vaultmind.memory.forget.taking import Wanted
from vaultmind.memory.match import says
from vaultmind.plural import counted
from vaultmind.redact import mask
from vaultmind.session.parts import NO_ROOM, Dropped, Part
from vaultmind.tokens import clip, count
from vaultmind.types import ROLES, Fact
from vaultmind.vault.files import VaultReader, read_bytes
from vaultmind.vault.nesting import safe
from vaultmind.vault.paths import VaultPaths

RUNS, MOST_RUNS = 5, 100
"""`context.subagent_history` by default and at most; forgetting looks at as many."""
MAX_FILE_BYTES = 32_000_000
"""A larger file is left out: a run is a few messages, and a context waits for it."""
MAX_FILES = 500
"""Files of a task that are read at most, from the newest back."""
SHOWN = 5
"""Faults that a warning names, and tasks where one never ran."""
FOLDER = "scheduler_"
TASK_NAME = re.compile(r"[\w](?:[\w -]|\.(?!\.)){0,98}[\w-]|\w")


class RunMessage(NamedTuple):
    """One line of a run; `file` and `line` (from 1) say where it stands, vault-relative."""

    text: str
    """What it says, tool calls too, with its role in front; without secrets."""
    ends_run: bool
    """Whether it is the answer that a run ends with: an assistant's, which calls no tool."""
    file: str
    line: int


class History(NamedTuple):
    """What a sub-agent is shown of its past: its last completed runs, oldest first."""

    runs: Sequence[Sequence[RunMessage]] = ()
    notes: Sequence[str] = ()
    """What could not be read; that there is no run, and which tasks have some."""
    unfinished: bool = False
    """Whether a last run is left out, which no answer has ended yet."""


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
    that is no name of a task.
    """
    if not TASK_NAME.fullmatch(task):
        raise BadArgument("task", task, "letters, digits, spaces, '-', '_' and '.', up to 100")
    faults, newest_first, ended = list[str](), list[list[RunMessage]](), 0
    for messages in _files(paths, task, faults, excludes):
        newest_first.append([one for one in messages if not hides(one.file, one.line)])
        ended += sum(one.ends_run for one in newest_first[-1])
        if ended > runs:  # one more than wanted: where it ends the oldest one begins
            break
    found, said = list[list[RunMessage]](), list[RunMessage]()
    for message in (one for messages in reversed(newest_first) for one in messages):
        said.append(message)
        if message.ends_run:
            found, said = [*found, said], []
    notes = faults[:SHOWN]
    if not found and said:
        notes.append(f"No run of the task {task!r} is completed yet.")
    elif not found:
        known = ", ".join([one for one in _tasks(paths) if one != task][:SHOWN])
        there = f"; there are runs of {known}" if known else ""
        notes.append(f"There are no runs of the task {task!r}{there}.")
    return History(found[-runs:], notes, bool(said))


def runs_part(past: History, heading: str, room: int) -> tuple[Part | None, list[Dropped]]:
    """Return as many of the newest runs as fit, oldest first, and what is left out and why.

    Each is whole, but the newest is cut where it must be.
    """
    unfinished = Dropped("the last run", "it is unfinished: no answer ends it")
    dropped = [unfinished] if past.unfinished else []
    left, texts = room - count(f"{heading}\n"), list[str]()
    for run in reversed(past.runs):
        text = "\n".join(one.text for one in run)
        if (cost := count(f"{text}\n---\n")) > left:
            texts += [] if texts else filter(None, [clip(text, left)])
            break
        texts.insert(0, text)
        left -= cost
    if len(past.runs) > len(texts):
        dropped.append(Dropped(counted(len(past.runs) - len(texts), "older run"), NO_ROOM))
    if not texts:
        return None, dropped
    text = "\n".join([heading, "\n---\n".join(texts)])
    sources = tuple(dict.fromkeys(run[-1].file for run in past.runs[-len(texts) :]))
    why = counted(len(texts), "completed run")
    return Part("history", text, count(text), sources, (), why), dropped


def block_of(line: int) -> str:
    """Return what a line of a run is called where it is hidden."""
    return f"L{line}"


class RunLines:
    """Implements the gate's `RecordKind`: messages of all tasks' runs that say a fact."""

    name = "scheduled runs"

    def __init__(self, paths: VaultPaths) -> None:
        self._paths = paths

    def said(self, agent: str, fact: Fact, edit: Edit) -> Iterator[Ref]:
        """Yield the lines whose words contain what the fact says.

        They are of as many runs of each task as a context could ever show.
        """
        wanted = Wanted([fact.text])
        for task in _tasks(self._paths):
            ended = 0
            for messages in _files(self._paths, task, []):
                for one in messages:
                    if wanted.may_be_in(one.text) and says(one.text, fact.text):
                        yield Ref(agent, one.file, block_of(one.line))
                    ended += one.ends_run
                if ended > MOST_RUNS:
                    break


def _tasks(paths: VaultPaths) -> list[str]:
    """Return the tasks that the host keeps runs of, by name."""
    try:
        entries = [one.name for one in paths.absolute(_folder(paths, "")).parent.iterdir()]
    except (OSError, PathRefused):
        return []
    names = (one.removeprefix(FOLDER) for one in entries if one.startswith(FOLDER))
    return sorted(filter(TASK_NAME.fullmatch, names))


def _folder(paths: VaultPaths, task: str) -> str:
    return f"{paths.memory_dir}/conversations/{FOLDER}{task}"


def _files(
    paths: VaultPaths,
    task: str,
    faults: list[str],
    excludes: Callable[[str], bool] = lambda path: False,
) -> Iterator[list[RunMessage]]:
    """Yield the messages of a task's files, the newest file first.

    Only regular files of sane size are opened: a pipe of that name would be waited for.
    """
    folder, reader = _folder(paths, task), VaultReader(paths, MAX_FILE_BYTES)
    try:
        names = sorted((one.name for one in paths.absolute(folder).iterdir()), reverse=True)
    except OSError:
        return
    for name in [one for one in names if one.endswith(".jsonl")][:MAX_FILES]:
        file = f"{folder}/{name}"
        if excludes(file):
            continue
        shown = " ".join(safe(file).split())[:200]
        try:
            raw = read_bytes(paths.absolute(file), reader, file)[0]
        except VaultMindError as error:
            faults.append(f"{shown} was left out: {getattr(error, 'reason', 'gone')}")
            continue
        messages: list[RunMessage] = []
        for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
            if line.strip():
                try:
                    messages.append(_message(line, file, number))
                except (ValueError, RecursionError) as error:
                    told = str(error) if type(error) is ValueError else "it is not JSON in UTF-8"
                    faults.append(f"{shown}, line {number}, was left out: {told}")
        yield messages


def _message(line: bytes, file: str, number: int) -> RunMessage:
    """Return the message of a line. Raises ValueError, with what is wrong with it."""
    data = json.loads(line.decode("utf-8"))
    if not isinstance(data, dict):
        raise ValueError("it is no object")
    role, calls = data.get("role"), data.get("tool_calls")
    if role not in ROLES:
        raise ValueError(f"its 'role' is not one of {', '.join(ROLES)}")
    is_call = bool(calls) or data.get("type") == "tool_call"
    kind = f" [{_text(calls)}]" if calls else " (call)" if is_call else ""
    text = mask(f"{role}: {_text(data.get('content')).strip()}{kind}").text
    return RunMessage(text, role == "assistant" and not is_call, file, number)


def _text(content: object) -> str:
    if content is None:
        return ""
    return safe(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))
