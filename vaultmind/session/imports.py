"""Importing conversations: JSON Lines, and the exports of Claude and ChatGPT, plain or zipped.

Each conversation becomes an ended session, the same file twice changes nothing; what cannot be
taken is a fault that names its line, never a silent gap. What Claude and ChatGPT themselves keep of
the person (memories, custom instructions) is suggested, a sentence each.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from vaultmind.errors import BadArgument, UnreadableNote
from vaultmind.language.text import plain_sentences
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
ASSISTANT_NAMES = frozenset({"assistant", "claude", "chatgpt", "bot", "ai"})
"""Speakers that count as the assistant where no role is given."""
MAX_NAME, MAX_FAULTS, MAX_KEPT = 300, 50, 50
"""Characters of a conversation's name and topic; faults that an answer tells; sentences of what a
service keeps of the person that are suggested."""
KEPT = frozenset(
    {"conversations_memory", "project_memories", "about_user_message", "about_model_message"}
)
"""Where Claude's memories.json and ChatGPT's custom instructions have it."""
TALK = frozenset({"chat_messages", "mapping", "session"})
"""What tells a conversation from what a service keeps."""
_TALKS = re.compile(r"(^|/)conversations[^/]*\.jsonl?$")
_KEPT_IN = re.compile(r"(^|/)(memories|user|custom_instructions)\.json$")
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
    kept: tuple[str, ...] = ()
    """What the service itself keeps of the person."""


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
    suggested: int = 0
    """Sentences of what the service keeps of the person that wait to be approved."""


def import_file(
    sessions: SessionLog,
    path: Path,
    agent: str,
    report: Report = silent,
    *,
    one: bool = False,
    suggest: Callable[[str], bool] = lambda text: False,
) -> Imported:
    """Import a file's conversations as ended sessions, marked with their source.

    With `one` all of them become one session, in the file's order, named after the file. `suggest`
    puts a sentence before the person, and tells whether it waits. Raises
    UnreadableNote or BadArgument for a file that holds none; single records that cannot be read are
    faults.
    """
    agent, file = agent_name(agent), safe(mask(path.name).text)
    faults, redacted, left_out, skipped = list[str](), set[str](), 0, 0
    gathered, kept = dict[str, Conversation](), dict[str, None]()
    for item in read_conversations(path, file if one else ""):
        if isinstance(item, str):
            faults.append(item)
            continue
        left_out += item.left_out
        kept |= dict.fromkeys(item.kept)
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
    if not (said or kept) and faults:
        raise BadArgument("file", path.name, f"{FORMATS}; first fault: {faults[0].rstrip('.')}")
    written, grown = 0, 0
    for done, session in enumerate(said, 1):
        many, new = sessions.take_in(agent, session.name, session.topic, session.messages)
        written, grown = written + many, grown + len(new)
        skipped += len(session.messages) - many
        report(Progress(done, len(said), "sessions"))
    more = [f"and {len(faults) - MAX_FAULTS} more"] if len(faults) > MAX_FAULTS else []
    told, kinds = (*faults[:MAX_FAULTS], *more), sorted(redacted) if written else ()
    suggested = sum(map(suggest, islice(kept, MAX_KEPT)))
    return Imported(grown, written, skipped, told, left_out, tuple(kinds), suggested)


def read_conversations(path: Path, session: str = "") -> Iterator[Conversation | str]:
    """Yield the conversations of an import file, and why a record could not be taken.

    A line of JSON that names no session is of `session`, where that is not empty. Raises
    UnreadableNote for a file that cannot be opened or is empty.
    """
    try:
        for name, raw in _contents(path):
            for where, record in _records(raw, path.name):
                try:
                    read = json.loads(record.decode()) if isinstance(record, bytes) else record
                    kept = tuple(_kept(read))
                    yield Conversation("", kept=kept)
                    if not _KEPT_IN.search(name) and (not kept or TALK & read.keys()):
                        yield _conversation(read, session)
                except BadArgument as error:
                    yield f"{where}: {error.message}"
                except ValueError as error:
                    yield f"{where}: broken JSON ({error})"
                except (AttributeError, KeyError, TypeError, RecursionError) as error:
                    yield f"{where}: not a message or conversation ({error})"
    except (OSError, zipfile.BadZipFile) as error:
        raise UnreadableNote(path.name, str(error) or type(error).__name__) from error


def _contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what a file holds, or those of a zip: ChatGPT numbers them if there are many."""
    if not zipfile.is_zipfile(path):
        yield path.name, path.read_bytes()
        return
    with zipfile.ZipFile(path) as archive:
        every = archive.namelist()
        if not any(map(_TALKS.search, every)):
            held = ", ".join(every[:5])
            raise UnreadableNote(path.name, f"no conversations.json in the archive ({held})")
        names = sorted(one for one in every if _TALKS.search(one) or _KEPT_IN.search(one))
        yield from ((name, archive.read(name)) for name in names)


def _kept(value: object, *, named: bool = False) -> Iterator[str]:
    """Yield what a service itself keeps of the person, sentence by sentence, without headings."""
    if isinstance(value, str) and named:
        lines = re.sub(r"(?m)^ *(?:#.*|\*\*[^*\n]*\*\*:?) *$", "", value)
        plain = (re.sub(r"[*_`]+", "", one).strip(" -•") for one in plain_sentences(lines))
        yield from filter(None, plain)
    elif isinstance(value, list):
        yield from (text for one in value for text in _kept(one, named=named))
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _kept(one, named=named or key in KEPT)


def _records(raw: bytes, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the records of a JSON array, one JSON object, or JSON Lines, each with its place."""
    raw = raw.removeprefix(codecs.BOM_UTF8)
    if not raw.strip():
        raise UnreadableNote(name, "it is empty; there is nothing to import")
    try:
        whole = json.loads(raw.decode())
    except (ValueError, RecursionError):
        lines = enumerate(raw.splitlines(), 1)
        yield from ((f"line {number}", line) for number, line in lines if line.strip())
    else:
        items = whole if isinstance(whole, list) else [whole]
        yield from ((f"item {number}", one) for number, one in enumerate(items, 1))


def _conversation(record: Any, session: str) -> Conversation:  # noqa: ANN401
    """Return a record as a conversation, by the shape it has.

    Raises BadArgument; and whatever an odd shape does.
    """
    title = str(record.get("name") or record.get("title") or "")
    messages: Iterable[Message | None]
    if "chat_messages" in record:
        messages, begun = map(_claude, record["chat_messages"]), record.get("created_at")
        name = record.get("uuid") or title
    elif "mapping" in record:
        messages, begun = map(_chatgpt, _branch(record)), record.get("create_time")
        name = record.get("conversation_id") or record.get("id") or f"{title} {begun or ''}"
    else:
        name, begun = str(record.get("session") or session).strip(), ""
        messages = [_flat(record, name)]
    found, time = Conversation(str(name).strip(), topic=title), local_time(begun)
    for one in messages:
        time = (one.time if one else "") or time  # one without has that of the one before
        if one and one.text.strip() and time:
            found.messages.append(replace(one, time=time))
        else:
            found.left_out += 1
    return found


def _claude(entry: dict[str, Any]) -> Message | None:
    """Return an entry of `chat_messages`; None for an unknown sender.

    `text` also renders tool use, so the text parts of `content` are preferred; thinking and tool
    parts are left out. A file that came with a message is told by its name.
    """
    said = [one.strip("\n") for one in texts(entry.get("content") or entry.get("text"))]
    files = [
        one.get("file_name") for key in ("attachments", "files") for one in entry.get(key) or ()
    ]
    attached = (f"[attached: {name}]" for name in dict.fromkeys(filter(None, files)))
    text = "\n\n".join(filter(None, ("\n\n".join(said).strip(), *attached)))
    role, time = _ROLES.get(str(entry.get("sender"))), local_time(entry.get("created_at"))
    return Message(role, text, time, id=str(entry.get("uuid") or "")) if role else None


def _chatgpt(entry: dict[str, Any]) -> Message | None:
    """Return a message of ChatGPT; None for what nobody said."""
    author, content = entry.get("author") or {}, entry.get("content") or {}
    role = _ROLES.get(str(author.get("role")))
    hidden = (entry.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    if role in (None, "system") or hidden or content.get("content_type") in _NOT_SAID:
        return None
    parts = content.get("parts") or [content.get("text") or content.get("result")]
    text = "\n\n".join(filter(None, map(_part, parts)))
    speaker, recipient = "", str(entry.get("recipient") or "all")
    if role == "tool" or recipient != "all":
        speaker = str(author.get("name") or "") if role == "tool" else recipient
        role, text = "tool", beginning(text, TOOL_CHARS)
    time, own = local_time(entry.get("create_time")), str(entry.get("id") or "")
    return Message(role or "tool", text, time, id=own, speaker=speaker)


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
    nodes, branch = record["mapping"], dict[str | None, Any]()
    leaves = [key for key, node in nodes.items() if not node.get("children")]
    key = record.get("current_node") or next(reversed(leaves), None)
    while key in nodes and key not in branch:
        branch[key] = nodes[key].get("message")
        key = nodes[key].get("parent")
    return [message for message in reversed(branch.values()) if message]


def _flat(record: dict[str, Any], session: str) -> Message:
    """Return the message of one `{session, time, role?, speaker?, content, id?}` record.

    `text` is taken for `content`. A message without an id gets one made of its words, so that the
    same file twice gives the same ids. Raises BadArgument for a field that cannot be read.
    """
    told, role, speaker = (str(record.get(name) or "") for name in ("time", "role", "speaker"))
    content = record.get("content", record.get("text"))
    if not session:
        raise BadArgument("session", session, "its name, unless with --one-session", missing=True)
    if not isinstance(content, str):
        raise BadArgument("content", content, "the message's text", missing=content is None)
    speaks = "assistant" if speaker.strip().lower() in ASSISTANT_NAMES else "user"
    if (who := _ROLES.get(role.strip().lower() or speaks)) is None:
        raise BadArgument("role", role, ", ".join(ROLES))
    if not (time := local_time(told)):
        raise BadArgument("time", told, ISO_TIME, missing=not told)
    joined = "\0".join((told.strip(), who, speaker, content)).encode("utf-8", "replace")
    own = str(record.get("id") or f"h{hashlib.sha256(joined).hexdigest()[:12]}")
    return Message(who, content, time, id=own, speaker=speaker)
