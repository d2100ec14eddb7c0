"""Errands: what a host's hook could not tell the daemon, left in the state folder until it runs.

Standard library only, and little of it: the hook imports this while its host waits. An errand
says which conversation was meant and where its transcript is, never what was said. What tools
were used on is kept beside it, a line a use, and is nobody's words either.
"""

from __future__ import annotations

import json
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Taken = tuple[str, str, str, list[dict[str, Any]]]
    """The file, the agent, the conversation, the uses."""

FOLDER = "hooks"
"""In the state folder; a file a conversation."""
MAX_BYTES = 100_000
USES = ".uses"
MAX_USES_BYTES = 1_000_000
"""Of one conversation; what is used after that is not made up for."""
_BEGUN = time.time_ns()
"""Tells this process from an earlier one that had its number, as in a container each has."""
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def leave(state_dir: str, errand: dict[str, Any]) -> None:
    """Leave an errand of a conversation: {agent, session_id, transcript_path, source, end}.

    A later one of the same conversation takes its place; a start that is owed stays owed.
    Raises OSError; a conversation without a proper name is nobody's errand.
    """
    name = f"{errand['agent']}--{errand['session_id']}"
    if not name or not _SAFE.issuperset(name):
        return
    folder = os.path.join(state_dir, FOLDER)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, f"{name}.json")
    before = _read(path)
    _write(path, {**errand, "source": errand.get("source") or before.get("source") or ""})


def waiting(state_dir: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the errands there are and their files, the oldest first."""
    folder = os.path.join(state_dir, FOLDER)
    try:
        with os.scandir(folder) as entries:
            found = [(one.stat().st_mtime_ns, one.path) for one in entries if _is_errand(one)]
    except OSError:
        return []
    return [(path, _read(path)) for _, path in sorted(found)]


def begun(path: str, errand: dict[str, Any]) -> None:
    """Keep that the start of an errand is seen to, and that its transcript is not read yet."""
    _write(path, {**errand, "source": ""})


def leave_use(state_dir: str, agent: str, use: dict[str, Any]) -> None:
    """Leave what a tool was used on: {session_id, transcript_path, ...}. Raises OSError."""
    name = f"{agent}--{use.get('session_id')}"
    if not _SAFE.issuperset(name):
        return
    folder = os.path.join(state_dir, FOLDER)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    descriptor = os.open(
        os.path.join(folder, name + USES), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600
    )
    try:
        if os.fstat(descriptor).st_size < MAX_USES_BYTES:
            os.write(descriptor, json.dumps(use).encode() + b"\n")
    finally:
        os.close(descriptor)


def take_uses(state_dir: str, agent: str = "", session_id: str = "") -> Iterator[Taken]:
    """Yield what was left of tools' uses, of one conversation or all: a file at a time.

    A file stays, under another name, until whoever takes it has seen to it and drops it; what a
    daemon took and was killed over is taken again. A line that is cut off is left out.
    """
    for path in _uses(state_dir):
        name, _, _ = os.path.basename(path).partition(USES)
        owner, _, session = name.partition("--")
        if session_id and (owner, session) != (agent, session_id):
            continue
        taken = f"{path.partition(USES)[0]}{_own()}-{time.time_ns()}"
        try:
            os.replace(path, taken)  # a hook that appends meanwhile begins another
            with open(taken, "rb") as file:
                lines = file.read(2 * MAX_USES_BYTES).splitlines()
        except OSError:
            continue  # another thread was as fast
        yield taken, owner, session, [use for line in lines if (use := _object(line))]


def drop(path: str) -> None:
    """Drop what was seen to."""
    try:
        os.unlink(path)
    except OSError:
        return  # it is gone


def _uses(state_dir: str) -> list[str]:
    """Return the files of uses that nobody sees to: not those that this process has taken."""
    folder, own = os.path.join(state_dir, FOLDER), _own()
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, one) for one in names if USES in one and own not in one]


def _own() -> str:
    """Return how the name of a file ends that this process has taken, but for when."""
    return f"{USES}.{os.getpid()}-{_BEGUN}"


def _object(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: str, errand: dict[str, Any]) -> None:
    temporary = f"{path}.{os.getpid()}"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(errand, file)
        os.replace(temporary, path)
    except BaseException:  # on a full disk every event would leave one
        drop(temporary)
        raise


def _is_errand(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)


def _read(path: str) -> dict[str, Any]:
    """Return what a file says; nothing for one that is gone or broken."""
    try:
        with open(path, "rb") as file:
            return _object(file.read(MAX_BYTES))
    except OSError:
        return {}
