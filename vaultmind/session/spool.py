"""What a host's hook could not tell the daemon, left in the state folder until it runs.

Standard library only, and little of it: the hook imports this while its host waits. A line says
which conversation was meant and where its transcript is, or what a tool was used on; it never
holds what was said.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "hooks.jsonl"
MAX_BYTES = 2_000_000
"""What happens once so much waits is not made up for."""
_taken: set[str] = set()
"""Files that this process sees to; those of a daemon that was killed are taken again."""


def leave(state_dir: str, event: dict[str, Any]) -> None:
    """Leave an event of a conversation, {agent, session_id, ...}. Raises OSError."""
    os.makedirs(state_dir, mode=0o700, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    descriptor = os.open(os.path.join(state_dir, NAME), flags, 0o600)
    try:
        if os.fstat(descriptor).st_size < MAX_BYTES:
            os.write(descriptor, json.dumps(event).encode() + b"\n")
    finally:
        os.close(descriptor)


def take(state_dir: str) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the events that wait, oldest first, by the file to `drop` once they are seen to."""
    path = os.path.join(state_dir, NAME)
    if os.path.exists(path):
        os.replace(path, f"{path}.{time.time_ns()}")  # a hook that appends meanwhile begins another
    files = [file for file in _files(state_dir) if file != path and file not in _taken]
    _taken.update(files)
    return [(file, _events(file)) for file in files]


def waiting(state_dir: str) -> list[dict[str, Any]]:
    """Return the events that nobody has seen to yet."""
    return [event for file in _files(state_dir) for event in _events(file)]


def give_back(path: str) -> None:
    """Let a file's events be taken again: they could not be seen to."""
    _taken.discard(path)


def drop(path: str) -> None:
    """Drop a file whose events were seen to."""
    with suppress(OSError):
        os.unlink(path)


def _files(state_dir: str) -> list[str]:
    names = sorted(os.listdir(state_dir)) if os.path.isdir(state_dir) else []
    return [os.path.join(state_dir, one) for one in names if one.startswith(NAME)]


def _events(path: str) -> list[dict[str, Any]]:
    events = []
    with suppress(OSError), open(path, "rb") as file:
        for line in file:
            with suppress(ValueError, RecursionError):  # it was cut off
                events.append(json.loads(line))
    return [event for event in events if isinstance(event, dict)]
