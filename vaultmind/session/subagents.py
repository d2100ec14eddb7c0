"""The runs of scheduled sub-agents, which their host writes: the last completed ones, read.

`conversations/scheduler_<task>/*.jsonl` hold a message a line, `{role, type, content,
tool_calls?}`; the files' names sort by time. A run ends with an assistant's message that is no
tool call; a line that cannot be read says nothing. Forgetting reaches them: a line that says a
forgotten fact is hidden by its file and number, and its words stay in the file, as a message's do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from vaultmind.errors import BadArgument, VaultMindError
from vaultmind.memory.forget.hiding import Edit, Ref
from vaultmind.memory.match import Wanted, says
from vaultmind.redact import mask
from vaultmind.types import ROLES, Fact
from vaultmind.vault.files import VaultReader
from vaultmind.vault.oneline import safe
from vaultmind.vault.paths import VaultPaths

MAX_FILE_BYTES = 32_000_000
"""A larger file is left out."""
FOLDER = "scheduler_"
TASK_NAME = re.compile(r"[\w](?:[\w -]|\.(?!\.)){0,98}[\w-]|\w")


class RunMessage(NamedTuple):
    """One line of a run."""

    text: str
    """What it says, tool calls too, with its role in front; without secrets."""
    ends_run: bool
    """Whether it is the answer that a run ends with: an assistant's, which calls no tool."""
    file: str
    """Where it stands, vault-relative."""
    block: str
    """What it is called where it is hidden: `L` and the number of its line, from 1."""


Runs = list[list[RunMessage]]


def history(paths: VaultPaths, task: str, most: int, hides: Callable[[str, str], bool]) -> Runs:
    """Return the last completed runs of a task, newest first; none where it never ran.

    `hides` tells which lines are not shown, by file and block. Raises BadArgument for a name that
    is no name of a task.
    """
    if not TASK_NAME.fullmatch(task):
        raise BadArgument("task", task, "letters, digits, spaces, '-', '_' and '.', up to 100")
    runs: Runs = []
    for message in _newest_first(paths, task):
        if hides(message.file, message.block):
            continue
        if message.ends_run:
            if len(runs) == most:
                break
            runs.append([])
        if runs:  # what comes after the last end belongs to a run that goes on
            runs[-1].insert(0, message)
    return runs


def runs_said(paths: VaultPaths, agent: str, fact: Fact, edit: Edit) -> Iterator[Ref]:
    """Yield the lines of all tasks' runs whose words contain what a fact says."""
    wanted = Wanted([fact.text])
    for one in _newest_first(paths, "*"):
        if wanted.may_be_in(one.text) and says(one.text, fact.text):
            yield Ref(agent, one.file, one.block)


def _newest_first(paths: VaultPaths, task: str) -> Iterator[RunMessage]:
    """Yield the messages of a task's files, or of all tasks' (`*`)."""
    folder = paths.root / paths.memory_dir / "conversations"
    reader = VaultReader(paths, MAX_FILE_BYTES)
    for path in sorted(folder.glob(f"{FOLDER}{task}/*.jsonl"), reverse=True):
        file = path.relative_to(paths.root).as_posix()
        with suppress(VaultMindError):
            lines = [*enumerate(reader.read_broken(file).split("\n"), 1)]
            for number, line in reversed(lines):
                with suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):
                    yield _message(json.loads(line), file, f"L{number}")


def _message(data: Any, file: str, block: str) -> RunMessage:  # noqa: ANN401
    """Return the message of a line; raise where it holds none."""
    role, calls = ROLES[ROLES.index(data["role"])], data.get("tool_calls")
    is_call = bool(calls) or data.get("type") == "tool_call"
    kind = f" [{_text(calls)}]" if calls else " (call)" if is_call else ""
    text = mask(f"{role}: {_text(data.get('content')).strip()}{kind}").text
    return RunMessage(text, role == "assistant" and not is_call, file, block)


def _text(content: object) -> str:
    shown = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return safe(shown if content else "")
