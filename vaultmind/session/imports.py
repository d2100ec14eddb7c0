"""Importing conversations: JSON Lines, and the exports of Claude and ChatGPT, plain or zipped.

Each conversation becomes an ended session, the same file twice changes nothing; what cannot be
taken is a fault that names its line, never a silent gap. What Claude and ChatGPT themselves keep of
the person (memories, custom instructions) is suggested, a sentence each.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from vaultmind.errors import BadArgument, UnreadableNote
from vaultmind.language.text import plain_sentences
from vaultmind.ports import Report, silent
from vaultmind.redact import mask
from vaultmind.session.files import ISO_TIME, TOOL_CHARS, beginning, hashed_id, texts
from vaultmind.session.log import SessionLog
from vaultmind.times import local_time
from vaultmind.types import ROLES, Message, MessageRef, Progress, Role
from vaultmind.vault.oneline import safe
from vaultmind.vault.paths import agent_name
from vaultmind.vault.transcript import BOM

FORMATS = (
    "JSON Lines of {session, time, role, speaker?, content, id?}, Claude's or ChatGPT's "
    "conversations.json, or the .zip it came in"
)
ASSISTANT_NAMES = frozenset({"assistant", "claude", "chatgpt", "bot", "ai"})
"""Speakers that count as the assistant where no role is given."""
MAX_NAME, MAX_FAULTS, MAX_KEPT = 300, 50, 50
"""Characters of a conversation's name and topic; faults that an answer tells; sentences of what a
service keeps of the person that are suggested."""
KEPT = ("conversations_memory", "project_memories", "about_user_message", "about_model_message")
"""Where Claude's memories.json and ChatGPT's custom instructions have it."""
TALK = frozenset({"chat_messages", "mapping", "session"})
"""What tells a conversation from what a service keeps."""
_TALKS = re.compile(r"(^|/)conversations[^/]*\.jsonl?$")
_KEPT_IN = re.compile(r"(^|/)(memories|user|custom_instructions)\.json$")
_ROLES: dict[str, Role] = {role: role for role in ROLES}
_ROLES |= {"human": "user", "ai": "assistant", "model": "assistant"}
_NOT_SAID = ("thoughts", "reasoning_recap", "user_editable_context", "model_editable_context")
"""Content types of ChatGPT that nobody said: reasoning, and custom instructions sent along."""
Words = tuple[Role | None, str, str]
"""Who says it (None: nobody), what, and the name of the speaker or tool."""


@dataclass(slots=True)
class Export:
    """What a file holds."""

    conversations: dict[str, tuple[str, list[Message]]] = field(default_factory=dict)
    """Topic and messages by the session's name: what tells it from others at the next import."""
    kept: dict[str, None] = field(default_factory=dict)
    """Sentences that the service itself keeps of the person."""
    faults: list[str] = field(default_factory=list)
    """What could not be taken, with its place, in words."""
    left_out: int = 0
    """Messages that hold no words of anyone: empty, hidden, a tool's machinery."""

    def add(self, record: Any, session: str) -> None:  # noqa: ANN401
        """Take a record's messages, by the shape it has. With a `session` all are of that.

        Raises BadArgument; and whatever an odd shape does, with nothing taken.
        """
        topic = str(record.get("name") or record.get("title") or "")
        begun = record.get("created_at") or record.get("create_time")
        read: Callable[[Any], Words] = _words
        if "chat_messages" in record:
            entries, name = record["chat_messages"], record.get("uuid") or topic
        elif "mapping" in record:
            entries = _branch(record)
            name = record.get("conversation_id") or record.get("id") or f"{topic} {begun or ''}"
        else:
            entries, read, name = [record], _flat, str(record.get("session") or session).strip()
            if not name:
                allowed = "its name, unless with --one-session"
                raise BadArgument("session", name, allowed, missing=True)
        found, time = list[Message](), local_time(begun)
        for entry in entries:
            role, text, speaker = read(entry)
            told = entry.get("time") or entry.get("created_at") or entry.get("create_time")
            time = local_time(told) or time  # one without has that of the one before
            if role and text.strip() and time:
                joined = "\0".join((str(told or "").strip(), role, speaker, text))
                own = str(entry.get("id") or entry.get("uuid") or hashed_id(joined))
                found.append(Message(role, text, time, id=safe(own), speaker=speaker))
        self.left_out += len(entries) - len(found)
        name = session or safe(mask(str(name).strip()).text)[:MAX_NAME]
        topic = "" if session else mask(topic).text[:MAX_NAME]
        self.conversations.setdefault(name, (topic, []))[1].extend(found)


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
    export = read_export(path, file if one else "")
    faults, redacted, new = export.faults, set[str](), list[MessageRef]()
    said = [(name, *talk) for name, talk in export.conversations.items() if talk[1]]
    if not (said or export.kept) and faults:
        raise BadArgument("file", path.name, f"{FORMATS}; first fault: {faults[0].rstrip('.')}")
    for done, (name, topic, messages) in enumerate(said, 1):
        logged = sessions.take_in(agent, name, topic, messages)
        faults += [f"message {one!r} of {name!r} was cut: too long" for one in logged.cut]
        redacted |= logged.redacted
        new += logged.new
        report(Progress(done, len(said), "sessions"))
    more = [f"and {len(faults) - MAX_FAULTS} more"] if len(faults) > MAX_FAULTS else []
    told, kinds = (*faults[:MAX_FAULTS], *more), tuple(sorted(redacted)) if new else ()
    grown, skipped = len({ref.session for ref in new}), sum(len(it) for *_, it in said) - len(new)
    suggested = sum(map(suggest, islice(export.kept, MAX_KEPT)))
    return Imported(grown, len(new), skipped, told, export.left_out, kinds, suggested)


def read_export(path: Path, session: str = "") -> Export:
    """Return what an export file holds, and why a record could not be taken.

    With a `session` all that it holds is of that. Raises UnreadableNote for a file that cannot be
    opened or is empty.
    """
    export = Export()
    try:
        for name, raw in _contents(path):
            for where, record in _records(raw, path.name):
                try:
                    read = json.loads(record.decode()) if isinstance(record, bytes) else record
                    kept = dict.fromkeys(_kept(read))
                    export.kept |= kept
                    if not _KEPT_IN.search(name) and (not kept or TALK & read.keys()):
                        export.add(read, session)
                except BadArgument as error:
                    export.faults.append(f"{where}: {error.message}")
                except ValueError as error:
                    export.faults.append(f"{where}: broken JSON ({error})")
                except (AttributeError, KeyError, TypeError, RecursionError) as error:
                    export.faults.append(f"{where}: not a message or conversation ({error})")
    except (OSError, zipfile.BadZipFile) as error:
        raise UnreadableNote(path.name, str(error) or type(error).__name__) from error
    return export


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
    raw = raw.removeprefix(BOM.encode())
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


# --- who said what, by the shape of an entry ------------------------------------------------


def _words(entry: dict[str, Any]) -> Words:
    """Return who said what in an entry of Claude's or ChatGPT's; no role for what nobody said.

    Claude's `text` also renders tool use, so the text parts of `content` are preferred; thinking
    and tool parts are left out. A file that came with a message is told by its name.
    """
    author, content = entry.get("author") or {}, entry.get("content") or entry.get("text")
    role = _ROLES.get(str(entry.get("sender") or author.get("role")))
    kind = content.get("content_type") if isinstance(content, dict) else ""
    hidden = (entry.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    if role == "system" or hidden or kind in _NOT_SAID:
        return None, "", ""
    files = [*(entry.get("attachments") or ()), *(entry.get("files") or ())]
    names = dict.fromkeys(filter(None, (one.get("file_name") for one in files)))
    attached = (f"[attached: {name}]" for name in names)
    text = "\n\n".join(filter(None, (*(one.strip() for one in texts(content)), *attached)))
    if (to := str(entry.get("recipient") or "all")) == "all" and role != "tool":
        return role, text, ""
    speaker = str(author.get("name") or "") if role == "tool" else to
    return role and "tool", beginning(text, TOOL_CHARS), speaker


def _branch(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of the branch that the person last saw, from the root.

    `mapping` holds nodes by id: editing a question or asking for another answer makes a branch,
    and `current_node` is the end of the one seen last. A loop in the tree ends it.
    """
    nodes, branch = record["mapping"], dict[str | None, Any]()
    key = record.get("current_node") or next(reversed(nodes), None)
    while key in nodes and key not in branch:
        branch[key] = nodes[key].get("message")
        key = nodes[key].get("parent")
    return [message for message in reversed(branch.values()) if message]


def _flat(record: dict[str, Any]) -> Words:
    """Return who said what in a `{session, time, role?, speaker?, content, id?}` record.

    `text` is taken for `content`. Raises BadArgument for a field that cannot be read.
    """
    role, speaker, time = (str(record.get(name) or "") for name in ("role", "speaker", "time"))
    content = record.get("content", record.get("text"))
    if not isinstance(content, str):
        raise BadArgument("content", content, "the message's text", missing=content is None)
    speaks = "assistant" if speaker.strip().lower() in ASSISTANT_NAMES else "user"
    if (who := _ROLES.get(role.strip().lower() or speaks)) is None:
        raise BadArgument("role", role, ", ".join(ROLES))
    if not local_time(time):
        raise BadArgument("time", time, ISO_TIME, missing=not time)
    return who, content, speaker
