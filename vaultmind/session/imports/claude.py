"""Claude's export: `conversations.json`, a list of conversations with `chat_messages`.

A conversation has `uuid`, `name`, `created_at` and `chat_messages`; a message has `uuid`,
`sender` (`human` or `assistant`), `text`, `content` (parts with a `type`), `created_at`,
`attachments` and `files`. `text` also renders tool use, so the text parts of `content` are
preferred; thinking and tool parts are left out.
"""

from __future__ import annotations

from datetime import tzinfo
from typing import Any

from vaultmind.session.imports.record import Conversation, local_time
from vaultmind.types import Message, Role

_ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}


def conversation(record: dict[str, Any], zone: tzinfo | None) -> Conversation:
    """Return a conversation of Claude's export."""
    time = local_time(record.get("created_at"), zone)
    messages: list[Message] = []
    left_out = 0
    for entry in record.get("chat_messages") or ():
        message = _message(entry, time, zone) if isinstance(entry, dict) else None
        if message is None:
            left_out += 1
            continue
        time = message.time
        messages.append(message)
    name = str(record.get("uuid") or record.get("name") or "")
    return Conversation(name, tuple(messages), str(record.get("name") or ""), left_out)


def _message(entry: dict[str, Any], before: str, zone: tzinfo | None) -> Message | None:
    """Return a message; None for one without words, of an unknown sender, or of no known time."""
    role = _ROLES.get(str(entry.get("sender")))
    text = "\n\n".join(part for part in (_words(entry), *_attached(entry)) if part)
    time = local_time(entry.get("created_at"), zone) or before
    if role is None or not text or not time:
        return None
    return Message(role, text, time, id=str(entry.get("uuid") or ""))


def _words(entry: dict[str, Any]) -> str:
    parts = entry.get("content")
    if isinstance(parts, list) and parts:
        texts = (p.get("text") for p in parts if isinstance(p, dict) and p.get("type") == "text")
        return "\n\n".join(text.strip("\n") for text in texts if isinstance(text, str)).strip()
    text = entry.get("text")
    return text.strip() if isinstance(text, str) else ""


def _attached(entry: dict[str, Any]) -> list[str]:
    """Return a line for each file that came with a message: its name, not its content."""
    files = [*(entry.get("attachments") or ()), *(entry.get("files") or ())]
    names = (file.get("file_name") for file in files if isinstance(file, dict))
    return [f"[attached: {name}]" for name in dict.fromkeys(names) if name]
