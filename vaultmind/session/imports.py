"""Importing conversations: JSON Lines, and the exports of Claude and ChatGPT, plain or zipped.

Each conversation becomes an ended session, the same file twice changes nothing; what cannot be
taken is a fault that names its line, never a silent gap.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from pathlib import Path
from typing import Any

from vaultmind.errors import BadArgument, UnreadableNote
from vaultmind.ports import Report, silent
from vaultmind.redact import mask
from vaultmind.session.files import ISO_TIME, TOOL_CHARS, beginning
from vaultmind.session.log import SessionLog
from vaultmind.session.transcripts import local_time, texts
from vaultmind.types import ROLES, Message, Progress, Role
from vaultmind.vault.oneline import safe
from vaultmind.vault.paths import agent_name

FORMATS = (
    "JSON Lines of {session, time, role, speaker?, content, id?}, Claude's or ChatGPT's "
    "conversations.json, or the .zip it came in"
)
MAX_UNZIPPED_BYTES = 4_000_000_000
ASSISTANT_NAMES = frozenset({"assistant", "claude", "chatgpt", "bot", "ai"})
"""Speakers that count as the assistant where no role is given."""
MAX_NAME, MAX_FAULTS = 300, 50
"""Characters of a conversation's name and topic; faults that an answer tells."""
_ROLES: dict[str, Role] = {
    **{role: role for role in ROLES}, "human": "user", "ai": "assistant", "model": "assistant"
}  # fmt: skip
_NOT_SAID = frozenset(
    {"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context"}
)
"""Content types of ChatGPT that nobody said: reasoning, and custom instructions sent along."""
Timed = tuple[Message, object]
"""A message of an export, and its time as the export has it."""


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
class Imported:
    """What an import came to."""

    sessions: int
    """Sessions that were begun or grew."""
    messages: int
    """Messages that were written."""
    skipped: int
    """Messages that were there already."""
    faults: tuple[str, ...] = ()
    """What could not be taken, with line numbers, in words."""
    left_out: int = 0
    """Messages that hold no words of anyone: empty, hidden, a tool's machinery."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets and private passages that were taken out; never what they said."""


def import_file(
    sessions: SessionLog, path: Path, agent: str, report: Report = silent, *, one: bool = False
) -> Imported:
    """Import a file's conversations as ended sessions, marked with their source.

    With `one` all of them become one session, in the file's order, named after the file. Raises
    UnreadableNote or BadArgument for a file that holds none; single records that cannot be read are
    faults.
    """
    agent, file = agent_name(agent), safe(mask(path.name).text)
    faults, redacted, left_out = list[str](), set[str](), 0
    gathered: dict[str, Conversation] = {}
    for item in read_conversations(path, None, file if one else ""):
        if isinstance(item, str):
            faults.append(item)
            continue
        left_out += item.left_out
        name = file if one else safe(mask(item.name).text)[:MAX_NAME]
        topic = "" if one else mask(item.topic).text[:MAX_NAME]
        session = gathered.setdefault(name, Conversation(name, topic=topic))
        for message in item.messages:
            masked = mask(message.text)
            redacted.update(masked.kinds)
            own, text = safe(message.id) or f"n{len(session.messages) + 1}", masked.text
            if (fitting := sessions.fitting(text)) != text:
                faults.append(f"message {own!r} of {name!r} was cut: too long")
            speaker = mask(message.speaker).text
            session.messages.append(replace(message, id=own, text=fitting, speaker=speaker))
    said = [session for session in gathered.values() if session.messages]
    if not said and faults:
        raise BadArgument("file", path.name, f"{FORMATS}; first fault: {faults[0].rstrip('.')}")
    written, grown = 0, 0
    for done, session in enumerate(said, 1):
        many, new = sessions.take_in(agent, session.name, session.topic, session.messages)
        written, grown = written + many, grown + len(new)
        report(Progress(done, len(said), "sessions"))
    more = [f"and {len(faults) - MAX_FAULTS} more"] if len(faults) > MAX_FAULTS else []
    return Imported(
        sessions=grown,
        messages=written,
        skipped=sum(len(session.messages) for session in said) - written,
        faults=(*faults[:MAX_FAULTS], *more),
        left_out=left_out,
        redacted=tuple(sorted(redacted)) if written else (),
    )


def read_conversations(
    path: Path, zone: tzinfo | None = None, session: str = ""
) -> Iterator[Conversation | str]:
    """Yield the conversations of an import file, and why a record could not be taken.

    A line of JSON that names no session is of `session`, where that is not empty. Times without
    an offset are of `zone` (None: the system's). Raises UnreadableNote for a file that cannot be
    opened or is none of FORMATS.
    """
    try:
        for raw in _contents(path):
            for where, record in _records(raw, path.name):
                try:
                    yield _conversation(record, zone, session)
                except (BadArgument, ValueError) as error:
                    yield f"{where}: {getattr(error, 'message', error)}"
    except (OSError, zipfile.BadZipFile, RecursionError) as error:
        raise UnreadableNote(path.name, str(error) or type(error).__name__) from error


def _contents(path: Path) -> Iterator[bytes]:
    """Yield what a file holds, or those of a zip: ChatGPT numbers them if there are many."""
    if not zipfile.is_zipfile(path):
        yield path.read_bytes()
        return
    with zipfile.ZipFile(path) as archive:
        every = archive.namelist()
        names = [one for one in every if re.search(r"(^|/)conversations[^/]*\.jsonl?$", one)]
        if not names:
            held = ", ".join(every[:5])
            raise UnreadableNote(path.name, f"no conversations.json in the archive ({held})")
        if sum(archive.getinfo(one).file_size for one in names) > MAX_UNZIPPED_BYTES:
            raise UnreadableNote(path.name, "it unpacks to more than 4 GB")
        yield from map(archive.read, sorted(names))


def _records(raw: bytes, name: str) -> Iterator[tuple[str, object]]:
    """Yield the records of a JSON array, one JSON object, or JSON Lines, each with its place."""
    raw = raw.removeprefix(codecs.BOM_UTF8)
    if not raw.strip():
        raise UnreadableNote(name, "it is empty; there is nothing to import")
    try:
        whole = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        lines = enumerate(raw.splitlines(), 1)
        yield from ((f"line {number}", line) for number, line in lines if line.strip())
    else:
        items = whole if isinstance(whole, list) else [whole]
        yield from ((f"item {number}", one) for number, one in enumerate(items, 1))


def _conversation(record: object, zone: tzinfo | None, session: str) -> Conversation:
    """Return a record as a conversation, by the shape it has. Raises BadArgument, ValueError."""
    if isinstance(record, bytes):
        try:
            record = json.loads(record.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise ValueError(f"not UTF-8 (byte {error.start})") from error
        except (ValueError, RecursionError) as error:
            raise ValueError(f"broken JSON ({error})") from error
    if not isinstance(record, dict):
        raise ValueError(f"not an object but {type(record).__name__}")
    title = _str(record.get("name") or record.get("title"))
    messages: Iterator[Timed | None]
    if isinstance(record.get("chat_messages"), list):
        name, begun = _str(record.get("uuid") or title), record.get("created_at")
        messages = map(_claude, record["chat_messages"])
    elif "mapping" in record:
        begun = record.get("create_time")
        name = _str(record.get("conversation_id") or record.get("id") or f"{title} {begun or ''}")
        messages = map(_chatgpt, _branch(record))
    else:
        return _flat(record, zone, session)
    found, time = Conversation(name.strip(), topic=title), local_time(begun, zone)
    for one in messages:  # one without a time has that of the one before
        time = (local_time(one[1], zone) or time) if one else time
        if one and one[0].text and time:
            found.messages.append(replace(one[0], time=time))
        else:
            found.left_out += 1
    return found


def _claude(entry: object) -> Timed | None:
    """Return an entry of `chat_messages` and its time; None for an unknown sender.

    `text` also renders tool use, so the text parts of `content` are preferred; thinking and tool
    parts are left out. A file that came with a message is told by its name.
    """
    if not isinstance(entry, dict) or _str(entry.get("sender")) not in _ROLES:
        return None
    said = texts(entry.get("content") or entry.get("text"))
    files = (_dict(one) for key in ("attachments", "files") for one in _list(entry.get(key)))
    names = dict.fromkeys(name for one in files if (name := _str(one.get("file_name"))))
    words = "\n\n".join(text.strip("\n") for text in said).strip()
    text = "\n\n".join(filter(None, (words, *(f"[attached: {name}]" for name in names))))
    message = Message(_ROLES[entry["sender"]], text, "", id=_str(entry.get("uuid")))
    return message, entry.get("created_at")


def _chatgpt(entry: dict[str, Any]) -> Timed | None:
    """Return a message of ChatGPT and its time; None for what nobody said."""
    author, content = _dict(entry.get("author")), _dict(entry.get("content"))
    role = _ROLES.get(_str(author.get("role")))
    hidden = _dict(entry.get("metadata")).get("is_visually_hidden_from_conversation")
    if role in (None, "system") or hidden or content.get("content_type") in _NOT_SAID:
        return None
    parts = _list(content.get("parts")) or [content.get("text") or content.get("result")]
    text = "\n\n".join(filter(None, map(_part, parts)))
    speaker, recipient = "", _str(entry.get("recipient") or "all")
    if role == "tool" or recipient != "all":
        speaker = _str(author.get("name")) if role == "tool" else recipient
        role, text = "tool", beginning(text, TOOL_CHARS)
    message = Message(role or "tool", text, "", id=_str(entry.get("id")), speaker=speaker)
    return message, entry.get("create_time")


def _part(part: object) -> str:
    """Return a part as text: a string, a spoken part's transcription, or a mark for a picture."""
    if isinstance(part, dict) and part.get("content_type") == "image_asset_pointer":
        return "[image]"
    text = part.get("text") if isinstance(part, dict) else part
    return text.strip() if isinstance(text, str) else ""


def _branch(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of the branch that the person last saw, from the root.

    `mapping` holds nodes by id: editing a question or asking for another answer makes a branch,
    and `current_node` is the end of the one seen last. A loop in the tree ends it.
    """
    nodes = {key: node for key, node in _dict(record.get("mapping")).items() if _dict(node)}
    key: object = record.get("current_node")
    if not isinstance(key, str) or key not in nodes:
        key = next(reversed([one for one in nodes if not nodes[one].get("children")]), None)
    branch: dict[str, dict[str, Any]] = {}
    while isinstance(key, str) and key in nodes and key not in branch:
        branch[key] = _dict(nodes[key].get("message"))
        key = nodes[key].get("parent")
    return [message for message in reversed(branch.values()) if message]


def _flat(record: dict[str, Any], zone: tzinfo | None, session: str) -> Conversation:
    """Return the message of one `{session, time, role?, speaker?, content, id?}` record.

    `text` is taken for `content`. A message without an id gets one made of its words, so that the
    same file twice gives the same ids. Raises BadArgument for a field that cannot be read.
    """
    given = {name: _str(record.get(name)).strip() for name in ("session", "time", "role")}
    content, speaker = record.get("content", record.get("text")), _str(record.get("speaker"))
    name, told, role = given["session"] or session, given["time"], given["role"].lower()
    if not name:
        raise BadArgument("session", name, "its name, unless with --one-session", missing=True)
    if not isinstance(content, str):
        raise BadArgument("content", content, "the message's text", missing=content is None)
    speaks = "assistant" if speaker.strip().lower() in ASSISTANT_NAMES else "user"
    if (who := _ROLES.get(role or speaks)) is None:
        raise BadArgument("role", role, ", ".join(ROLES))
    if not (time := local_time(told, zone)):
        raise BadArgument("time", told, ISO_TIME, missing=not told)
    if not content.strip():
        return Conversation(name, left_out=1)
    joined = "\0".join((told, who, speaker, content)).encode("utf-8", "replace")
    own = _str(record.get("id")) or f"h{hashlib.sha256(joined).hexdigest()[:12]}"
    return Conversation(name, [Message(who, content, time, id=own, speaker=speaker)])


def _str(value: object) -> str:
    return "" if value is None else str(value)


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
