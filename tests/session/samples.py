"""Import files as Claude and ChatGPT write them, by hand, and LoCoMo-like JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vaultmind.session.files import read_session, session_ids
from vaultmind.types import Caller, MessageRef
from vaultmind.vault.files import Change, VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.writer import VaultWriter


class Files:
    """The gate's record side over real files, for tests that are not about the gate."""

    def __init__(self, paths: VaultPaths) -> None:
        self._writer = VaultWriter(paths)
        self.saves = 0
        self.read_only: set[str] = set()

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> object:
        """Change a file by compare-and-swap."""
        self.saves += 1
        return self._writer.edit(relative, change)

    def append(self, relative: str, text: str) -> object:
        """Append and flush."""
        self._writer.append(relative, text)
        return None

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent may keep records: all but those that are `read_only`."""
        return agent not in self.read_only


def claude_message(number: int, sender: str, text: str) -> dict[str, Any]:
    """Return one entry of `chat_messages`."""
    created = f"2025-11-03T19:{number:02d}:07.123456Z"
    content = [{"type": "text", "text": text, "citations": []}]
    own = {"uuid": f"5f0c9a52-0000-4000-8000-{number:012d}", "text": text, "content": content}
    return own | {"sender": sender, "created_at": created, "attachments": [], "files": []}


def claude_conversation(*messages: dict[str, Any], name: str = "Rye bread") -> dict[str, Any]:
    """Return one conversation of Claude's export."""
    own = {"uuid": "c1a0de00-0000-4000-8000-000000000001", "name": name, "summary": ""}
    return own | {"created_at": "2025-11-03T19:00:00.000000Z", "chat_messages": list(messages)}


def gpt_node(
    key: str, parent: str | None, role: str, content: dict[str, Any], **more: Any
) -> dict[str, Any]:
    """Return one node of ChatGPT's `mapping`; its children are filled in by the conversation."""
    author = {"role": role, "name": more.pop("author_name", None), "metadata": {}}
    usual = {"create_time": 1730662806.5, "metadata": {}, "recipient": "all"}
    message = {"id": key, "author": author, "content": content, **usual, **more}
    return {"id": key, "message": message, "parent": parent, "children": []}


def gpt_text(*parts: Any) -> dict[str, Any]:
    """Return the content of a text message."""
    return {"content_type": "text", "parts": list(parts)}


def gpt_conversation(
    *nodes: dict[str, Any], current: str | None, key: str = "gpt-1"
) -> dict[str, Any]:
    """Return one conversation of ChatGPT's export."""
    root = {"id": "client-created-root", "message": None, "parent": None, "children": []}
    mapping = {node["id"]: dict(node, children=[]) for node in (root, *nodes)}
    for node in mapping.values():
        if node["parent"] in mapping:
            mapping[node["parent"]]["children"].append(node["id"])
    own = {"title": "Planning a trip", "create_time": 1730662800.0, "mapping": mapping}
    return own | {"current_node": current, "conversation_id": key, "id": key}


def write_json(path: Path, value: object) -> Path:
    """Write a JSON file as the exports are: one line, no escapes for other alphabets."""
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    return path


def write_lines(path: Path, *records: dict[str, Any]) -> Path:
    """Write JSON Lines."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def locomo(sessions: int = 19, turns: int = 600) -> list[dict[str, Any]]:
    """Return records like those of a long conversation of two named people."""
    each = turns // sessions + 1
    records = [
        {
            "session": f"session_{session}",
            "time": f"2023-05-{session:02d}T13:{turn:02d}:00",
            "speaker": "Caroline" if turn % 2 else "Melanie",
            "content": f"Turn {turn} of talk {session}: the pottery class was great! " * 3,
            "id": f"D{session}:{turn}",
        }
        for session in range(1, sessions + 1)
        for turn in range(1, each + 1)
    ]
    return records[:turns]


class Marked:
    """A FileIndexer that only remembers what it was told."""

    def __init__(self) -> None:
        self.paths: set[str] = set()

    def refresh(self, paths: Iterable[str]) -> None:
        """Remember the paths."""
        self.paths.update(paths)

    def mark(self, paths: Iterable[str]) -> None:
        """Remember the paths."""
        self.paths.update(paths)


class EveryMessage:
    """A MessageFinder without an index: every message of the agent is a candidate."""

    def __init__(self, reader: VaultReader) -> None:
        self._reader = reader

    def messages_about(self, agent: str, text: str, limit: int) -> list[tuple[MessageRef, str]]:
        """Return the agent's messages, oldest first."""
        return [
            (MessageRef(agent, session, m.message.block, m.message.id), m.message.text)
            for session in session_ids(self._reader.paths, agent)
            for m in read_session(self._reader, self._reader.paths, agent, session)[1].messages
        ][:limit]
