"""What a host says of a tool that an agent used, reduced to what an episode keeps of it.

Standard library only: the hook imports this while its host waits, and what reads commands only
for one. Claude Code tells of a tool that went well with PostToolUse, and of one that failed with
PostToolUseFailure, which has `error` in the place of `tool_response`; neither names an exit
status. No content of a file is kept, and no command: what leaves the hook is paths, what was
searched for, and how a check went.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOOLS = (
    "Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "Grep", "Glob", "Bash", "Task", "Agent",
)  # fmt: skip
"""What Claude Code calls the tools that are looked at."""
FAILED = "PostToolUseFailure"
MAX_WORDS = 200
"""Of what was searched for."""
MAX_PATH = 4096
MAX_FOUND = 5
"""Files of what a search found."""
MAX_TOOK_MS = 86_400_000
"""What is said to have taken longer, or for ever, says nothing."""


def reduced(given: dict[str, Any], event: str) -> dict[str, Any] | None:
    """Return what an episode keeps of a tool's use; None where there is nothing to keep.

    {id, at, took, cwd, reads, edits, made, found, query, runs, commits, chars}: paths are
    absolute, `made` says that the edited file is new, `chars` how long what was read is; `took`
    is in seconds, and missing where the host does not say.
    """
    tool = str(given.get("tool_name") or "")
    if tool not in TOOLS or (event == FAILED and tool != "Bash"):
        return None
    if not given.get("session_id"):
        return None  # of no conversation: it belongs to no episode
    asked, answered = _object(given.get("tool_input")), _object(given.get("tool_response"))
    cwd = os.path.abspath(str(given.get("cwd") or os.getcwd()))
    if tool == "Bash":
        done = _bash(asked, answered, event, given)
    elif tool in ("Grep", "Glob"):
        done = _search(asked, answered, cwd)
    elif tool in ("Task", "Agent"):
        done = {"commits": True}
    else:
        done = _file(tool, asked, answered, cwd)
    for name in ("reads", "edits", "found"):
        done[name] = [one for one in done.get(name, ()) if _is_path(one)]
    if not any(done.values()):
        return None
    whole = {"id": str(given.get("tool_use_id") or "")[:MAX_WORDS], "at": time.time()}
    whole["took"] = _seconds(given.get("duration_ms"))
    whole |= {"cwd": cwd[:MAX_PATH], **done}
    return {name: value for name, value in whole.items() if value}


def _file(tool: str, asked: dict[str, Any], answered: dict[str, Any], cwd: str) -> dict[str, Any]:
    name = str(asked.get("file_path") or asked.get("notebook_path") or "")
    paths = [os.path.join(cwd, os.path.expanduser(name))] if name else []
    if tool != "Read":
        return {"edits": paths, "made": answered.get("type") == "create" and bool(paths)}
    content = _object(answered.get("file")).get("content")
    return {"reads": paths, "chars": len(content) if isinstance(content, str) and paths else 0}


def _search(asked: dict[str, Any], answered: dict[str, Any], cwd: str) -> dict[str, Any]:
    named = answered.get("filenames")
    names = [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
    found = [os.path.join(cwd, one) for one in names[:MAX_FOUND]]
    if not found and isinstance(content := answered.get("content"), str):
        from vaultmind.session.commands import paths_in

        found = paths_in(content, cwd)[:MAX_FOUND]
    return {"query": str(asked.get("pattern") or "")[:MAX_WORDS], "found": found}


def _bash(
    asked: dict[str, Any], answered: dict[str, Any], event: str, given: dict[str, Any]
) -> dict[str, Any]:
    from vaultmind.session.commands import told_of  # its patterns cost 10 ms

    failed = event == FAILED
    unknown = answered.get("interrupted") or given.get("is_interrupt")
    unknown = unknown or answered.get("backgroundTaskId")
    went = "" if unknown else "no" if failed else "yes"
    printed = str(given.get("error") or "") if failed else _printed(answered)
    return told_of(str(asked.get("command") or ""), printed, went)


def _printed(answered: dict[str, Any]) -> str:
    return f"{answered.get('stdout') or ''}\n{answered.get('stderr') or ''}"


def _is_path(path: str) -> bool:
    """Tell whether a text can be a path: no file has a NUL or half a character in its name."""
    if "\0" in path or len(path) > MAX_PATH:
        return False
    try:
        return bool(path.encode())
    except UnicodeEncodeError:
        return False


def _seconds(milliseconds: object) -> float:
    if not isinstance(milliseconds, int | float) or not 0 <= milliseconds <= MAX_TOOK_MS:
        return 0.0
    return round(milliseconds / 1000, 1) + 0.1


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
