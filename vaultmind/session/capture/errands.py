"""Errands: what a host's hook could not tell the daemon, left in the state folder until it runs.

Standard library only, and little of it: the hook imports this while its host waits. An errand
says which conversation was meant and where its transcript is, never what was said.
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = "hooks"
"""In the state folder; a file a conversation."""
MAX_BYTES = 100_000
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


def _write(path: str, errand: dict[str, Any]) -> None:
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(errand, file)
    os.replace(temporary, path)


def _is_errand(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)


def _read(path: str) -> dict[str, Any]:
    """Return what a file says; nothing for one that is gone or broken."""
    try:
        with open(path, "rb") as file:
            errand = json.loads(file.read(MAX_BYTES))
    except (OSError, ValueError):
        return {}
    return errand if isinstance(errand, dict) else {}
