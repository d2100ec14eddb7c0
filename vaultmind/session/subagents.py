"""The runs of scheduled sub-agents, which their host writes: the last completed ones, read.

`conversations/scheduler_<task>/*.jsonl` hold a message a line, `{role, type, content,
tool_calls?}`; the files' names sort by time. A run ends with an assistant's message that is no
tool call, wherever its file ends. Forgetting reaches them: a line that says a forgotten fact is
hidden by its file and number, and its words stay in the file, as a message's do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from vaultmind.errors import BadArgument, PathRefused, VaultMindError
from vaultmind.memory.forget.kinds import Edit, Ref, SummaryRef
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.memory.match import says
from vaultmind.plural import counted
from vaultmind.redact import mask
from vaultmind.session.parts import NO_ROOM, Dropped, Part
from vaultmind.tokens import clip, count
from vaultmind.types import ROLES, Fact
from vaultmind.vault.files import VaultReader, read_bytes
from vaultmind.vault.nesting import safe
from vaultmind.vault.paths import VaultPaths

RUNS = 5
MOST_RUNS = 100
"""`context.subagent_history` is at most this; forgetting looks at as many."""
MAX_FILE_BYTES = 32_000_000
"""A larger file is left out: a run is a few messages, and a context waits for it."""
MAX_FILES = 500
"""Files of a task that are read at most, from the newest back."""
SHOWN_FAULTS, SHOWN_TASKS = 5, 10
"""Lines and files that a warning names, and tasks where one never ran."""
MIN_RUN_TOKENS = 40
"""What the newest run is cut to at least where none fits whole."""
FOLDER = "scheduler_"
TASK_NAME = re.compile(r"[\w](?:[\w -]|\.(?!\.)){0,98}[\w-]|\w")


@dataclass(frozen=True, slots=True)
class RunMessage:
    """One line of a run; `file` and `line` (from 1) say where it stands, vault-relative."""

    role: str
    text: str
    tool_calls: str = ""
    """The calls as JSON, where the line holds some."""
    is_call: bool = False
    """Whether it calls a tool, so that the run goes on."""
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)

    @property
    def ends_run(self) -> bool:
        """Tell whether the message is the answer that a run ends with."""
        return self.role == "assistant" and not self.is_call

    @property
    def shown(self) -> str:
        """Return the message as it is shown, without secrets."""
        calls = f" [{self.tool_calls}]" if self.tool_calls else ""
        kind = " (call)" if self.is_call and not calls else ""
        return mask(f"{self.role}{kind}: {self.text.strip()}{calls}").text


@dataclass(frozen=True, slots=True)
class History:
    """What a sub-agent is shown of its past: its last completed runs, oldest first."""

    task: str
    runs: tuple[tuple[RunMessage, ...], ...] = ()
    notes: tuple[str, ...] = ()
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
        newest_first.append(messages)
        ended += sum(one.ends_run and not hides(one.file, one.line) for one in messages)
        if ended > runs:  # one more than wanted: where it ends the oldest one begins
            break
    found, said = list[tuple[RunMessage, ...]](), list[RunMessage]()
    for message in (one for messages in reversed(newest_first) for one in messages):
        said.append(message)
        if message.ends_run:
            shown = tuple(one for one in said if not hides(one.file, one.line))
            found += [shown] if shown else []
            said = []
    notes = faults[:SHOWN_FAULTS]
    if more := len(faults) - len(notes):
        notes.append(f"and {counted(more, 'more line or file', 'more lines or files')} left out")
    if not found and said:
        notes.append(f"No run of the task {task!r} is completed yet.")
    elif not found:
        known = [one for one in _tasks(paths) if one != task]
        there = f"; there are runs of {', '.join(known[:SHOWN_TASKS])}" if known else ""
        there += ", …" if len(known) > SHOWN_TASKS else ""
        notes.append(f"There are no runs of the task {task!r}{there}.")
    return History(task, tuple(found[-runs:]), tuple(notes), bool(said))


def runs_part(past: History, heading: str, room: int) -> tuple[Part | None, list[Dropped]]:
    """Return as many of the newest runs as fit, oldest first, and what is left out and why.

    Each is whole, but a lone one too large: of it the request and the answer, each cut.
    """
    unfinished = Dropped("the last run", "it is unfinished: no answer ends it")
    dropped = [unfinished] if past.unfinished else []
    left, texts = room - count(f"{heading}\n"), list[str]()
    for run in reversed(past.runs):
        text = "\n".join(one.shown for one in run)
        cost = count(f"{text}\n---\n")
        if cost > left:
            break
        texts.insert(0, text)
        left -= cost
    why = counted(len(texts), "completed run")
    if past.runs and not texts and left >= MIN_RUN_TOKENS:
        first, last, why = past.runs[-1][0], past.runs[-1][-1], "the last run, cut"
        request = f"{clip(first.shown, left // 3)}\n…\n" if first is not last else ""
        texts.append(request + clip(last.shown, left - count(request) - 1))
    if len(past.runs) > len(texts):
        dropped.append(Dropped(counted(len(past.runs) - len(texts), "older run"), NO_ROOM))
    if not texts:
        return None, dropped
    text = "\n".join([heading, "\n---\n".join(texts)])
    sources = tuple(dict.fromkeys(run[-1].file for run in past.runs[-len(texts) :]))
    return Part("history", text, count(text), sources, (), why), dropped


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
        """Yield the lines that hold the words which count, in any form.

        They are of as many runs of each task as a context could ever show.
        """
        wanted = Wanted([words])
        for task in _tasks(self._paths):
            ended = 0
            for messages in _files(self._paths, task, []):
                for one in messages:
                    text = "\n".join(filter(None, (one.text, one.tool_calls)))
                    if wanted.may_be_in(text):
                        yield SummaryRef(agent, one.file, block_of(one.line)), text
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
                message = _message(line, file, number)
                if isinstance(message, str):
                    faults.append(f"{shown}, line {number}, was left out: {message}")
                else:
                    messages.append(message)
        yield messages


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
    is_call = bool(calls) or data.get("type") == "tool_call"
    return RunMessage(role, _text(content), _text(calls or None), is_call, file, number)


def _text(content: object) -> str:
    if content is None:
        return ""
    return safe(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))
