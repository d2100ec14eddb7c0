"""Transcripts as Claude Code writes them, line by line, for the tests of what is taken down."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from vaultmind.session import spool

COMMON = {
    "userType": "external",
    "entrypoint": "cli",
    "cwd": "/home/anna/project",
    "version": "2.1.168",
    "gitBranch": "main",
}


class Script:
    """A transcript being written; each method adds a line and returns its uuid."""

    def __init__(
        self, path: Path, session_id: str = "5f1c-1", began: datetime | None = None
    ) -> None:
        self.path = path
        self.session_id = session_id
        self._numbers = itertools.count(1)
        self._parent: str | None = None
        self._time = began or datetime.now(UTC) - timedelta(minutes=15)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def add(self, record: dict[str, Any]) -> str:
        """Add a line; what every line has is filled in."""
        number = next(self._numbers)
        self._time += timedelta(seconds=5)
        whole = {
            "parentUuid": self._parent,
            "isSidechain": False,
            **COMMON,
            "sessionId": self.session_id,
            "uuid": f"{self.session_id}-{number:04d}",
            "timestamp": f"{self._time:%Y-%m-%dT%H:%M:%S}.000Z",
            **record,
        }
        with self.path.open("ab") as file:
            file.write(json.dumps(whole, ensure_ascii=False).encode() + b"\n")
        self._parent = str(whole["uuid"])
        return self._parent

    def user(self, content: Any, **more: Any) -> str:
        return self.add({"type": "user", "message": {"role": "user", "content": content}, **more})

    def says(self, *blocks: str | dict[str, Any], **more: Any) -> str:
        content = [{"type": "text", "text": one} if isinstance(one, str) else one for one in blocks]
        message = {
            "model": "claude-opus-4-5",
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "content": content,
            "usage": {"input_tokens": 10, "output_tokens": 20},
        }
        return self.add({"type": "assistant", "message": message, **more})

    def calls(self, name: str, call: str, **arguments: Any) -> str:
        return self.says({"type": "tool_use", "id": call, "name": name, "input": arguments})

    def result(self, call: str, content: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        return self.user([block], toolUseResult={"stdout": "x", "stderr": ""})

    def compacts(self) -> None:
        """Write what a compaction leaves: a boundary and the host's own summary."""
        boundary = {"trigger": "auto", "preTokens": 155_000}
        self.add({"type": "system", "subtype": "compact_boundary", "content": "Conversation "
                  "compacted", "compactMetadata": boundary})  # fmt: skip
        words = "This session is being continued from a previous conversation."
        self.user(words, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def tear(self, text: str = '{"type":"user","uuid":"torn","mess') -> None:
        """Write the beginning of a line."""
        with self.path.open("ab") as file:
            file.write(text.encode())


def left_in(state_dir: Path) -> list[dict[str, Any]]:
    """Return the events of hooks that nobody has seen to yet."""
    files = sorted(state_dir.glob(f"{spool.NAME}*"))
    return [event for file in files for event in spool.events(str(file))]
