"""What a host's hook could not tell the daemon, left in the state folder until it runs.

Standard library only, and little of it: the hook imports this while its host waits. A line says
which conversation was meant, in which folder, and where its transcript is, or what a tool was used
on and searched for; it never holds what was said.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress

NAME = "hooks.jsonl"
MAX_BYTES = 2_000_000
"""What happens once so much waits is not made up for."""
_taken: set[str] = set()
"""Files that this process sees to; those of a daemon that was killed are taken again."""


def leave(state_dir: str, event: dict[str, object]) -> None:
    """Leave an event of a conversation, {agent, session_id, ...}. Raises OSError."""
    os.makedirs(state_dir, mode=0o700, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    descriptor = os.open(os.path.join(state_dir, NAME), flags, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        if os.fstat(descriptor).st_size < MAX_BYTES:
            file.write(json.dumps(event).encode() + b"\n")


def take(state_dir: str) -> list[tuple[str, list[dict[str, object]]]]:
    """Return the events that wait, oldest first, by the file to remove once they are seen to."""
    path = os.path.join(state_dir, NAME)
    with suppress(FileNotFoundError):  # a hook that appends meanwhile begins another
        os.replace(path, f"{path}.{time.time_ns()}")
    names = sorted(os.listdir(state_dir)) if os.path.isdir(state_dir) else []
    every = [os.path.join(state_dir, one) for one in names if one.startswith(f"{NAME}.")]
    files = [file for file in every if file not in _taken]
    _taken.update(files)
    return [(file, events(file)) for file in files]


def events(path: str) -> list[dict[str, object]]:
    """Return the events that a file holds; a line that was cut off holds none."""
    found = []
    with suppress(OSError), open(path, "rb") as file:
        for line in file:
            with suppress(ValueError, RecursionError):
                found.append(json.loads(line))
    return [event for event in found if isinstance(event, dict)]
