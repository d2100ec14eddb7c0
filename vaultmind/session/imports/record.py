"""What an import file holds, whoever wrote it: conversations of messages."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from vaultmind.errors import BadArgument
from vaultmind.session.records.store import iso, parse_time
from vaultmind.types import ROLES, Message, Role

ASSISTANT_NAMES = frozenset({"assistant", "claude", "chatgpt", "bot", "ai"})
"""Speakers that count as the assistant where no role is given."""
TOOL_CHARS = 200
"""Characters of a tool's result that are kept."""

_ROLE_WORDS: dict[str, Role] = {
    **{role: role for role in ROLES},
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
}


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages of one session, in order; a session may come in several pieces."""

    name: str
    """The session's name in its file: what tells it from others at the next import."""
    messages: tuple[Message, ...]
    topic: str = ""
    left_out: int = 0
    """Messages that hold no words of anyone: empty, hidden, a tool's machinery."""


def flat_message(record: dict[str, Any], zone: tzinfo | None, session: str = "") -> Conversation:
    """Return the message of one `{session, time, role?, speaker?, content, id?}` record.

    One without words is left out. `text` is taken for `content`, and without a session of its own
    it is of `session`. Raises BadArgument for a field that is missing or cannot be read. A message
    without an id gets one made of its words, so that the same file twice gives the same ids.
    """
    if not session or record.get("session") is not None:
        session = _text(record, "session", "the name of its session, unless with --one-session")
    if record.get("content") is None and "text" in record:
        record = record | {"content": record["text"]}
    content = _given(record, "content", "the message's text")
    if not isinstance(content, str):
        raise BadArgument("content", content, "the message's text")
    speaker = str(record.get("speaker") or "")
    role = _role(record.get("role"), speaker)
    given = _text(record, "time", "ISO 8601, e.g. 2026-02-20T10:00:03+01:00")
    if not content.strip():
        return Conversation(session, (), left_out=1)
    own = record.get("id")
    message = Message(
        role=role,
        text=content,
        time=_time(given, zone),
        id=str(own) if own not in (None, "") else _made_id(given, role, speaker, content),
        speaker=speaker,
    )
    return Conversation(session, (message,))


def local_time(value: object, zone: tzinfo | None) -> str:
    """Return an export's time (ISO 8601 or seconds since 1970) as local time; empty if none."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            moment = datetime.fromtimestamp(value, UTC)
        elif isinstance(value, str):
            moment = parse_time(value, zone)
        else:
            return ""
        return iso(moment.astimezone(zone))
    except (ValueError, OverflowError, OSError):
        return ""


def _time(given: str, zone: tzinfo | None) -> str:
    try:
        return iso(parse_time(given, zone))
    except (ValueError, OverflowError) as error:
        raise BadArgument("time", given, "ISO 8601, e.g. 2026-02-20T10:00:03+01:00") from error


def _role(given: object, speaker: str) -> Role:
    if given in (None, ""):
        return "assistant" if speaker.strip().lower() in ASSISTANT_NAMES else "user"
    role = _ROLE_WORDS.get(str(given).strip().lower())
    if role is None:
        raise BadArgument("role", given, ", ".join(ROLES))
    return role


def _text(record: dict[str, Any], key: str, wanted: str) -> str:
    value = _given(record, key, wanted)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise BadArgument(key, value, wanted)
    return value.strip()


def _given(record: dict[str, Any], key: str, wanted: str) -> object:
    value = record.get(key)
    if value is None:
        raise BadArgument(key, value, wanted, missing=True)
    return value


def _made_id(*parts: str) -> str:
    joined = "\0".join(parts).encode("utf-8", "replace")
    return f"h{hashlib.sha256(joined).hexdigest()[:12]}"
