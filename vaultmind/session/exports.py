"""Reading conversations: JSON Lines, and the exports of Claude and ChatGPT, plain or zipped.

Every reader turns a record into one `Conversation`; what cannot be taken is a fault that names its
line, never a silent gap.
"""

from __future__ import annotations

import codecs
import contextlib
import hashlib
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from pathlib import Path
from typing import IO, Any

from vaultmind.errors import BadArgument, UnreadableNote
from vaultmind.session.files import (
    ISO_TIME,
    TOOL_CHARS,
    beginning,
    iso,
    parse_time,
)
from vaultmind.session.transcripts import local_time
from vaultmind.types import ROLES, Message, Role

FORMATS = (
    "JSON Lines of {session, time, role, speaker?, content, id?}, Claude's or ChatGPT's "
    "conversations.json, or the .zip it came in"
)
MAX_UNZIPPED_BYTES = 4_000_000_000
ASSISTANT_NAMES = frozenset({"assistant", "claude", "chatgpt", "bot", "ai"})
"""Speakers that count as the assistant where no role is given."""
_ROLES: dict[str, Role] = {
    **{role: role for role in ROLES}, "human": "user", "ai": "assistant", "model": "assistant"
}  # fmt: skip
_NOT_SAID = frozenset(
    {"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context"}
)
"""Content types of ChatGPT that nobody said: reasoning, and custom instructions sent along."""


@dataclass(slots=True)
class Conversation:
    """Messages of one session, in order; a session may come in several pieces."""

    name: str
    """The session's name in its file: what tells it from others at the next import."""
    messages: list[Message] = field(default_factory=list)
    topic: str = ""
    left_out: int = 0
    """Messages that hold no words of anyone: empty, hidden, a tool's machinery."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that could not be taken, and why."""

    reason: str


def read_conversations(
    path: Path, zone: tzinfo | None = None, session: str = ""
) -> Iterator[Conversation | Skipped]:
    """Yield the conversations of an import file, and what was left out.

    A line of JSON that names no session is of `session`, where that is not empty. Times without
    an offset are of `zone` (None: the system's). Raises UnreadableNote for a file that cannot be
    opened or is none of FORMATS.
    """
    try:
        with contextlib.ExitStack() as stack:
            if zipfile.is_zipfile(path):
                archive = stack.enter_context(zipfile.ZipFile(path))
                streams = [(stack.enter_context(archive.open(name)), name)
                           for name in _exports(archive, path.name)]  # fmt: skip
            else:
                streams = [(stack.enter_context(path.open("rb")), path.name)]
            for file, name in streams:
                for where, record in _records(file, name):
                    yield _taken(where, record, zone, session)
    except (OSError, zipfile.BadZipFile, RecursionError) as error:
        raise UnreadableNote(path.name, str(error) or type(error).__name__) from error


def _exports(archive: zipfile.ZipFile, name: str) -> list[str]:
    """Return the zipped files that hold conversations: ChatGPT numbers them if there are many."""
    every = archive.namelist()
    names = [one for one in every if re.search(r"(^|/)conversations[^/]*\.jsonl?$", one)]
    if not names:
        held = ", ".join(every[:5])
        raise UnreadableNote(name, f"no conversations.json in the archive ({held})")
    if sum(archive.getinfo(one).file_size for one in names) > MAX_UNZIPPED_BYTES:
        raise UnreadableNote(name, "it unpacks to more than 4 GB")
    return sorted(names)


def _records(file: IO[bytes], name: str) -> Iterator[tuple[str, object]]:
    """Yield the records of a JSON array, one JSON object, or JSON Lines, each with its place."""
    raw = file.read().removeprefix(codecs.BOM_UTF8)
    if not raw.strip():
        raise UnreadableNote(name, "it is empty; there is nothing to import")
    try:
        whole = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        if raw.lstrip().startswith(b"["):
            yield "", Skipped(f"broken JSON ({error}); the file may have been cut off")
            return
    else:
        items = whole if isinstance(whole, list) else [whole]
        yield from ((f"item {number}", one) for number, one in enumerate(items, 1))
        return
    for number, line in enumerate(raw.splitlines(), 1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line.decode("utf-8"))
            except UnicodeDecodeError as error:
                yield "", Skipped(f"line {number}: not UTF-8 (byte {error.start})")
            except (ValueError, RecursionError) as error:
                yield "", Skipped(f"line {number}: broken JSON ({error})")


def _taken(where: str, record: object, zone: tzinfo | None, session: str) -> Conversation | Skipped:
    """Return a record as a conversation, by the shape it has."""
    if isinstance(record, Skipped):
        return record
    if not isinstance(record, dict):
        return Skipped(f"{where}: not an object but {type(record).__name__}")
    if isinstance(record.get("chat_messages"), list):
        found = Conversation(_str(record.get("uuid") or record.get("name")))
        return _gathered(found, map(_claude, record["chat_messages"]), record, "created_at", zone)
    if "mapping" in record:
        title = _str(record.get("title"))
        name = record.get("conversation_id") or record.get("id")
        found = Conversation(_str(name or f"{title} {record.get('create_time') or ''}".strip()))
        return _gathered(found, map(_chatgpt, _branch(record)), record, "create_time", zone)
    try:
        return _flat(record, zone, session)
    except BadArgument as error:
        return Skipped(f"{where}: {error.message}")


def _gathered(
    found: Conversation,
    messages: Iterable[tuple[Message, object] | None],
    record: dict[str, Any],
    begun: str,
    zone: tzinfo | None,
) -> Conversation:
    """Return a conversation of an export; a message without a time has that of the one before."""
    found.topic = _str(record.get("name") or record.get("title"))
    time = local_time(record.get(begun), zone)
    for one in messages:
        time = (local_time(one[1], zone) or time) if one else time
        if one and one[0].text and time:
            found.messages.append(replace(one[0], time=time))
        else:
            found.left_out += 1
    return found


def _claude(entry: object) -> tuple[Message, object] | None:
    """Return an entry of `chat_messages` and its time; None for an unknown sender.

    `text` also renders tool use, so the text parts of `content` are preferred; thinking and tool
    parts are left out. A file that came with a message is told by its name.
    """
    if not isinstance(entry, dict) or _str(entry.get("sender")) not in ("human", *_ROLES):
        return None
    parts = entry.get("content")
    texts = [entry.get("text")]
    if isinstance(parts, list) and parts:
        texts = [p.get("text") for p in parts if isinstance(p, dict) and p.get("type") == "text"]
    words = "\n\n".join(text.strip("\n") for text in texts if isinstance(text, str)).strip()
    files = [*_list(entry.get("attachments")), *_list(entry.get("files"))]
    names = dict.fromkeys(_str(file.get("file_name")) for file in files if isinstance(file, dict))
    text = "\n\n".join(filter(None, (words, *(f"[attached: {name}]" for name in names if name))))
    message = Message(_ROLES[entry["sender"]], text, "", id=_str(entry.get("uuid")))
    return message, entry.get("created_at")


def _chatgpt(entry: dict[str, Any]) -> tuple[Message, object] | None:
    """Return a message of ChatGPT and its time; None for what nobody said."""
    author, metadata = _dict(entry.get("author")), _dict(entry.get("metadata"))
    role = _ROLES.get(_str(author.get("role")))
    hidden = metadata.get("is_visually_hidden_from_conversation")
    content = _dict(entry.get("content"))
    if role in (None, "system") or hidden or content.get("content_type") in _NOT_SAID:
        return None
    parts = content.get("parts")
    if not isinstance(parts, list):
        parts = [content.get("text") or content.get("result")]
    text = "\n\n".join(filter(None, map(_part, parts)))
    speaker, recipient = "", _str(entry.get("recipient") or "all")
    if role == "tool" or recipient != "all":
        speaker = _str(author.get("name")) if role == "tool" else recipient
        role, text = "tool", beginning(text, TOOL_CHARS)
    assert role is not None
    message = Message(role, text, "", id=_str(entry.get("id")), speaker=speaker)
    return message, entry.get("create_time")


def _branch(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of the branch that the person last saw, from the root.

    `mapping` holds nodes by id: editing a question or asking for another answer makes a branch,
    and `current_node` is the end of the one seen last. A loop in the tree ends it.
    """
    nodes = {key: node for key, node in _dict(record.get("mapping")).items() if _dict(node)}

    def said(key: str) -> float:
        time = _dict(nodes[key].get("message")).get("create_time")
        return float(time) if isinstance(time, (int, float)) else 0.0

    key = record.get("current_node")
    if not isinstance(key, str) or key not in nodes:
        leaves = [one for one, node in nodes.items() if not node.get("children")]
        key = max(leaves, key=said, default=None)
    branch: list[dict[str, Any]] = []
    seen: set[str] = set()
    while isinstance(key, str) and key in nodes and key not in seen:
        seen.add(key)
        branch.append(_dict(nodes[key].get("message")))
        key = nodes[key].get("parent")
    return [message for message in reversed(branch) if message]


def _part(part: object) -> str:
    """Return a part as text: a string, a spoken part's transcription, or a mark for a picture."""
    if isinstance(part, dict) and part.get("content_type") == "image_asset_pointer":
        return "[image]"
    text = part.get("text") if isinstance(part, dict) else part
    return text.strip() if isinstance(text, str) else ""


def _flat(record: dict[str, Any], zone: tzinfo | None, session: str) -> Conversation:
    """Return the message of one `{session, time, role?, speaker?, content, id?}` record.

    `text` is taken for `content`. A message without an id gets one made of its words, so that the
    same file twice gives the same ids. Raises BadArgument for a field that cannot be read.
    """
    given = record.get("session")
    name = _field(given, "session", "the name of its session, unless with --one-session") \
        if given is not None or not session else session  # fmt: skip
    content = record.get("content", record.get("text"))
    if not isinstance(content, str):
        raise BadArgument("content", content, "the message's text", missing=content is None)
    told, speaker = _field(record.get("time"), "time", ISO_TIME), _str(record.get("speaker"))
    role: Role | None = "assistant" if speaker.strip().lower() in ASSISTANT_NAMES else "user"
    if record.get("role") not in (None, ""):
        role = _ROLES.get(_str(record["role"]).strip().lower())
    if role is None:
        raise BadArgument("role", record["role"], ", ".join(ROLES))
    try:
        time = iso(parse_time(told, zone))
    except (ValueError, OverflowError) as error:
        raise BadArgument("time", told, ISO_TIME) from error
    if not content.strip():
        return Conversation(name, left_out=1)
    own = _str(record.get("id"))
    if not own:
        joined = "\0".join((told, role, speaker, content)).encode("utf-8", "replace")
        own = f"h{hashlib.sha256(joined).hexdigest()[:12]}"
    return Conversation(name, [Message(role, content, time, id=own, speaker=speaker)])


def _field(value: object, name: str, wanted: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).strip():
        raise BadArgument(name, value, wanted, missing=value is None)
    return str(value).strip()


def _str(value: object) -> str:
    return "" if value is None else str(value)


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
