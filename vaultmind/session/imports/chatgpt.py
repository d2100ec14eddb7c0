"""ChatGPT's export: `conversations.json`, a list of conversations with a `mapping` tree.

`mapping` holds nodes by id, each with `message` (or null), `parent` and `children`: editing a
question or asking for another answer makes a branch. `current_node` is the end of the branch
that the person last saw; from there the parents lead back to the root. A message has
`author.role`, `create_time` (seconds since 1970, or null), `recipient` (`all`, or the tool that
is called) and `content` with a `content_type` and, as a rule, `parts`.
"""

from __future__ import annotations

from datetime import tzinfo
from typing import Any

from vaultmind.session.imports.record import TOOL_CHARS, Conversation, local_time
from vaultmind.session.records.keepable import beginning
from vaultmind.types import Message, Role

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}
_NOT_SAID = frozenset(
    {"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context"}
)
"""Content types that nobody said: reasoning, and custom instructions sent along."""


def conversation(record: dict[str, Any], zone: tzinfo | None) -> Conversation:
    """Return the branch of a conversation that the person last saw."""
    time = local_time(record.get("create_time"), zone)
    messages: list[Message] = []
    left_out = 0
    for entry in _branch(record):
        message = _message(entry, time, zone)
        if message is None:
            left_out += 1
            continue
        time = message.time
        messages.append(message)
    title = str(record.get("title") or "")
    name = record.get("conversation_id") or record.get("id")
    name = str(name or f"{title} {record.get('create_time') or ''}".strip())
    return Conversation(name, tuple(messages), title, left_out)


def _branch(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages from the root to the current node; a loop in the tree ends it."""
    mapping = record.get("mapping")
    if not isinstance(mapping, dict):
        return []
    nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    current = record.get("current_node")
    key = current if isinstance(current, str) and current in nodes else _newest_leaf(nodes)
    branch: list[dict[str, Any]] = []
    seen: set[str] = set()
    while isinstance(key, str) and key in nodes and key not in seen:
        seen.add(key)
        message = nodes[key].get("message")
        if isinstance(message, dict):
            branch.append(message)
        key = nodes[key].get("parent")
    return branch[::-1]


def _newest_leaf(nodes: dict[str, dict[str, Any]]) -> str | None:
    """Return the leaf written last, for an export whose `current_node` is missing."""
    leaves = [key for key, node in nodes.items() if not node.get("children")]
    return max(leaves, key=lambda key: _seconds(nodes[key].get("message")), default=None)


def _seconds(message: object) -> float:
    time = message.get("create_time") if isinstance(message, dict) else None
    return float(time) if isinstance(time, (int, float)) else 0.0


def _message(entry: dict[str, Any], before: str, zone: tzinfo | None) -> Message | None:
    """Return a message; None for what nobody said: hidden, empty, system, reasoning."""
    author = entry.get("author") if isinstance(entry.get("author"), dict) else {}
    assert isinstance(author, dict)
    metadata = entry.get("metadata") if isinstance(entry.get("metadata"), dict) else {}
    assert isinstance(metadata, dict)
    role = _ROLES.get(str(author.get("role")))
    time = local_time(entry.get("create_time"), zone) or before
    if role is None or not time or metadata.get("is_visually_hidden_from_conversation"):
        return None
    text = _words(entry.get("content"))
    speaker = ""
    recipient = str(entry.get("recipient") or "all")
    if role == "tool" or recipient != "all":
        speaker = str(author.get("name") or "") if role == "tool" else recipient
        role, text = "tool", beginning(text, TOOL_CHARS)
    if not text:
        return None
    return Message(role, text, time, id=str(entry.get("id") or ""), speaker=speaker)


def _words(content: object) -> str:
    """Return the words of a message's content: its text parts, code, or a tool's result."""
    if not isinstance(content, dict) or content.get("content_type") in _NOT_SAID:
        return ""
    parts = content.get("parts")
    if isinstance(parts, list):
        return "\n\n".join(word for word in map(_part, parts) if word).strip()
    text = content.get("text") or content.get("result")
    return text.strip() if isinstance(text, str) else ""


def _part(part: object) -> str:
    """Return a part as text: a string, a spoken part's transcription, or a mark for a picture."""
    if isinstance(part, str):
        return part.strip()
    if not isinstance(part, dict):
        return ""
    kind = str(part.get("content_type") or "")
    if kind == "image_asset_pointer":
        return "[image]"
    text = part.get("text")
    return text.strip() if isinstance(text, str) else ""
