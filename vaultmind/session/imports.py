"""Importing conversations: JSON Lines, and the exports of Claude and ChatGPT, plain or zipped.

Each conversation becomes an ended session, the same file twice changes nothing; what cannot be
taken is a fault that names its line, never a silent gap. A session is one write, so a kill leaves
whole sessions and a repeat completes the rest.
"""

from __future__ import annotations

import codecs
import contextlib
import hashlib
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from pathlib import Path
from typing import Any

from vaultmind.errors import BadArgument, NotFound, UnreadableNote
from vaultmind.ports import Report, silent
from vaultmind.redact import mask
from vaultmind.session.files import (
    DEFAULT_SESSION_BYTES,
    ISO_TIME,
    TOOL_CHARS,
    Creation,
    Records,
    beginning,
    cut,
    iso,
    numbers_used,
    parse_time,
    read_session,
    session_ids,
)
from vaultmind.session.transcripts import local_time
from vaultmind.types import PERSON, ROLES, Message, MessageRef, Progress, Role
from vaultmind.vault.edits import remove_property, set_property
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.nesting import ERASED_SOURCE, safe
from vaultmind.vault.paths import agent_name
from vaultmind.vault.transcript import (
    SessionMeta,
    completion,
    next_block,
    parse_meta,
    parse_session,
    render_header,
    render_message,
)

FORMATS = (
    "JSON Lines of {session, time, role, speaker?, content, id?}, Claude's or ChatGPT's "
    "conversations.json, or the .zip it came in"
)
MAX_UNZIPPED_BYTES = 4_000_000_000
ASSISTANT_NAMES = frozenset({"assistant", "claude", "chatgpt", "bot", "ai"})
"""Speakers that count as the assistant where no role is given."""
HEAD_BYTES = 3000
"""Kept free in a session's file for its front matter, and what is added to that later."""
DAY = "### {}\n\n"
MAX_NAME, MAX_FAULTS, MAX_NAMED = 300, 50, 20
"""Characters of a conversation's name and topic; faults that an answer tells; sessions that it
names: of more, the first and the last."""
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
class Skipped:
    """A record that could not be taken, and why."""

    reason: str


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
    session_ids: tuple[str, ...] = ()
    """The sessions that were begun or grew; of more than MAX_NAMED the first and the last."""


# --- reading ------------------------------------------------------------------------------


def read_conversations(
    path: Path, zone: tzinfo | None = None, session: str = ""
) -> Iterator[Conversation | Skipped]:
    """Yield the conversations of an import file, and what was left out.

    A line of JSON that names no session is of `session`, where that is not empty. Times without
    an offset are of `zone` (None: the system's). Raises UnreadableNote for a file that cannot be
    opened or is none of FORMATS.
    """
    try:
        for raw in _contents(path):
            for where, record in _records(raw, path.name):
                try:
                    yield _conversation(record, zone, session)
                except BadArgument as error:
                    yield Skipped(f"{where}: {error.message}")
                except ValueError as error:
                    yield Skipped(f"{where}: {error}")
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
        places = [(f"line {n}", line) for n, line in enumerate(raw.splitlines(), 1) if line.strip()]
        yield from places
    else:
        items = whole if isinstance(whole, list) else [whole]
        yield from ((f"item {number}", one) for number, one in enumerate(items, 1))


def _conversation(record: object, zone: tzinfo | None, session: str) -> Conversation:
    """Return a record as a conversation, by the shape it has. Raises BadArgument."""
    if isinstance(record, bytes):
        try:
            record = json.loads(record.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise ValueError(f"not UTF-8 (byte {error.start})") from error
        except (ValueError, RecursionError) as error:
            raise ValueError(f"broken JSON ({error})") from error
    if not isinstance(record, dict):
        raise ValueError(f"not an object but {type(record).__name__}")
    messages: Iterator[Timed | None]
    if isinstance(record.get("chat_messages"), list):
        found = Conversation(_str(record.get("uuid") or record.get("name")))
        messages, begun = map(_claude, record["chat_messages"]), "created_at"
    elif "mapping" in record:
        title = _str(record.get("title"))
        name = record.get("conversation_id") or record.get("id")
        found = Conversation(_str(name or f"{title} {record.get('create_time') or ''}".strip()))
        messages, begun = map(_chatgpt, _branch(record)), "create_time"
    else:
        return _flat(record, zone, session)
    found.topic = _str(record.get("name") or record.get("title"))
    time = local_time(record.get(begun), zone)
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
    parts = [one for one in _list(entry.get("content")) if isinstance(one, dict)]
    texts = [one.get("text") for one in parts if one.get("type") == "text"]
    texts = texts if parts else [entry.get("text")]
    words = "\n\n".join(text.strip("\n") for text in texts if isinstance(text, str)).strip()
    files = [*_list(entry.get("attachments")), *_list(entry.get("files"))]
    names = dict.fromkeys(_str(file.get("file_name")) for file in files if isinstance(file, dict))
    text = "\n\n".join(filter(None, (words, *(f"[attached: {name}]" for name in names if name))))
    message = Message(_ROLES[entry["sender"]], text, "", id=_str(entry.get("uuid")))
    return message, entry.get("created_at")


def _chatgpt(entry: dict[str, Any]) -> Timed | None:
    """Return a message of ChatGPT and its time; None for what nobody said."""
    author, content = _dict(entry.get("author")), _dict(entry.get("content"))
    role = _ROLES.get(_str(author.get("role")))
    hidden = _dict(entry.get("metadata")).get("is_visually_hidden_from_conversation")
    if role in (None, "system") or hidden or content.get("content_type") in _NOT_SAID:
        return None
    parts = content.get("parts")
    parts = parts if isinstance(parts, list) else [content.get("text") or content.get("result")]
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

    def said(key: str) -> float:
        time = _dict(nodes[key].get("message")).get("create_time")
        return float(time) if isinstance(time, (int, float)) else 0.0

    key = record.get("current_node")
    if not isinstance(key, str) or key not in nodes:
        leaves = [one for one, node in nodes.items() if not node.get("children")]
        key = max(leaves, key=said, default=None)
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
    given = session if session and record.get("session") is None else record.get("session")
    name = _field(given, "session", "the name of its session, unless with --one-session")
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
    joined = "\0".join((told, role, speaker, content)).encode("utf-8", "replace")
    own = _str(record.get("id")) or f"h{hashlib.sha256(joined).hexdigest()[:12]}"
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


# --- writing ------------------------------------------------------------------------------


class Importer:
    """Takes conversations from other programs into an agent's sessions."""

    def __init__(
        self,
        gate: Records,
        reader: VaultReader,
        erased: Callable[[MessageRef], bool] = lambda ref: False,
        logged: Callable[[str, str, Sequence[Message]], None] = lambda agent, session, said: None,
        *,
        device: str = "",
    ) -> None:
        """Of a message that is `erased` a marker is imported, whatever the file says.

        Sessions say which `device` made them. `logged` hears of each: the agent, the session, the
        messages.
        """
        self._gate, self._reader, self._paths = gate, reader, reader.paths
        self._erased, self._logged, self._device = erased, logged, device
        self._limit = reader.max_bytes or DEFAULT_SESSION_BYTES

    def import_file(
        self, path: Path, agent: str, report: Report = silent, *, one_session: bool = False
    ) -> Imported:
        """Import a file's conversations as ended sessions, marked with their source.

        With `one_session` all of them become one session of one segment, in the file's order,
        named after the file. Only what is too large for one readable file is cut in several.
        Raises UnreadableNote or BadArgument for a file that holds none; single records that
        cannot be read are faults.
        """
        agent, file = agent_name(agent), safe(mask(path.name).text)
        faults, redacted, left_out = list[str](), set[str](), 0
        gathered: dict[str, Conversation] = {}
        for item in read_conversations(path, None, file * one_session):
            if isinstance(item, Skipped):
                faults.append(item.reason)
                continue
            left_out += item.left_out
            name = file if one_session else safe(mask(item.name).text)[:MAX_NAME]
            topic = "" if one_session else mask(item.topic).text[:MAX_NAME]
            if item.messages:
                session = gathered.setdefault(name, Conversation(name, topic=topic))
                for message in item.messages:
                    text = mask(message.text)
                    redacted.update(text.kinds)
                    speaker = mask(message.speaker).text
                    session.messages.append(replace(message, text=text.text, speaker=speaker))
        if not gathered and faults:
            raise BadArgument("file", path.name, f"{FORMATS}; first fault: {faults[0].rstrip('.')}")
        parts = [part for one in gathered.values() for part in self._parts(one, faults)]
        sources, highest = self._sources(agent), numbers_used(self._paths, agent)
        grown: dict[str, int] = {}
        for done, part in enumerate(parts):
            report(Progress(done, len(parts), "sessions"))
            if known := self._known(agent, sources, part):
                grown[known] = self._grow(agent, known, part)
            else:
                created = self._create(agent, part, highest)
                sources.setdefault(part.name, []).append(created)
                grown[created] = len(part.messages)
        report(Progress(len(parts), len(parts), "sessions"))
        more = [f"and {len(faults) - MAX_FAULTS} more"] if len(faults) > MAX_FAULTS else []
        written, new = sum(grown.values()), [one for one, many in grown.items() if many]
        return Imported(
            sessions=len(new),
            messages=written,
            skipped=sum(len(part.messages) for part in parts) - written,
            faults=(*faults[:MAX_FAULTS], *more),
            left_out=left_out,
            redacted=tuple(sorted(redacted)) if written else (),
            session_ids=tuple(new if len(new) <= MAX_NAMED else (new[0], new[-1])),
        )

    def _parts(self, session: Conversation, faults: list[str]) -> Iterator[Conversation]:
        """Yield a session, cut where it would be too large to be read again.

        Each id stands once: a repeated message is left out, another gets `~2`.
        """
        part, number = Conversation(session.name, topic=session.topic), 1
        room, size = self._limit - HEAD_BYTES, 0
        taken: dict[str, list[Message]] = {}
        for position, message in enumerate(session.messages, 1):
            own = safe(message.id) or f"n{position}"
            twins = taken.setdefault(own, [])
            if message in twins:
                continue
            twins.append(message)
            one = replace(message, id=own if len(twins) == 1 else f"{own}~{len(twins)}")
            if (cost := _bytes(one)) > room:
                faults.append(f"message {own!r} of {session.name!r} was cut: too long")
                one = cut(one, room - 2 * len(DAY))
                cost = _bytes(one)
            if part.messages and size + cost > room:
                yield part
                size, number = 0, number + 1
                part = Conversation(f"{session.name} ({number})", topic=session.topic)
            part.messages.append(one)
            size += cost
        yield part

    def _sources(self, agent: str) -> dict[str, list[str]]:
        """Return which sessions came from where."""
        sources: dict[str, list[str]] = {}
        for session in session_ids(self._paths, agent):
            with contextlib.suppress(NotFound, UnreadableNote):
                file = self._reader.read(self._paths.session(agent, session))
                if source := parse_meta(file.text).source:
                    sources.setdefault(source, []).append(session)
        return sources

    def _known(self, agent: str, sources: dict[str, list[str]], session: Conversation) -> str:
        """Return the session that this one was imported as before, or nothing.

        The name tells, unless the same ids stand there with other times and words: another
        conversation that is called the same. Where the name was erased, an id must be common.
        """
        nameless = sources.get(ERASED_SOURCE, [])
        for known in sources.get(session.name, []) + nameless:
            there: dict[str, Message] = {}
            with contextlib.suppress(NotFound, UnreadableNote):
                placed = read_session(self._reader, self._paths, agent, known)[1].messages
                there = {one.message.id: one.message for one in placed}
            common = [(there[one.id], one) for one in session.messages if one.id in there]
            same = any(old.text == safe(new.text) or old.time == new.time for old, new in common)
            if same or not (common or known in nameless):
                return known
        return ""

    def _grow(self, agent: str, session: str, part: Conversation) -> int:
        """Append the messages that a session does not hold; return how many they are."""
        said = self._spared(agent, [session], part.messages)
        path, written = self._paths.session(agent, session), 0

        def change(file: FileText | None) -> str | None:
            nonlocal written
            if file is None:
                raise NotFound("An imported session was deleted a moment ago.", hint="Try again.")
            transcript = parse_session(file.text)
            there = {placed.message.id for placed in transcript.messages}
            new = [message for message in said if message.id not in there]
            written = len(new)
            if not new:
                return None
            text = file.text + completion(file.text, transcript, file.newline)
            number = int(next_block(parse_session(text).messages)[1:])
            before = transcript.messages[-1].message.time if there else ""
            text += _callouts(new, number, before).replace("\n", file.newline)
            with contextlib.suppress(BadArgument):  # a person's front matter, broken
                text = remove_property(text, "consolidated")  # what is new was not looked at yet
                text = set_property(text, "ended", new[-1].time)
            return text

        if change(self._reader.read(path)) is not None:
            self._gate.save(path, change, PERSON, "an import grew")
        self._logged(agent, session, said)
        return written

    def _create(self, agent: str, part: Conversation, highest: Counter[str]) -> str:
        """Write a new session; return its id, which was never used before."""
        day, there = part.messages[0].time[:10], set(session_ids(self._paths, agent))
        while True:
            highest[day] += 1
            created = f"{day}_{highest[day]:03d}"
            days = (f"{day}_{number:03d}" for number in range(1, highest[day] + 1))
            gone = [one for one in days if one not in there]  # it may be one deleted by hand
            said = self._spared(agent, gone, part.messages)
            meta = SessionMeta(
                id=created,
                agent=agent,
                started=said[0].time,
                ended=said[-1].time,
                state="ended",
                topics=(part.topic,) if part.topic else (),
                source=part.name,
                device=self._device,
            )
            creation = Creation(render_header(meta) + _callouts(said, 1))
            path = self._paths.session(agent, created)
            self._gate.save(path, creation.change, PERSON, "an import")
            if creation.done:
                self._logged(agent, created, said)
                return created

    def _spared(
        self, agent: str, sessions: Sequence[str], messages: Sequence[Message]
    ) -> list[Message]:
        """Return the messages as they may be written: what was erased stays erased."""
        return [
            replace(one, text="", erased=True)
            if any(self._erased(MessageRef(agent, it, "", one.id)) for it in sessions)
            else one
            for one in messages
        ]


def _callouts(messages: Sequence[Message], first: int, before: str = "") -> str:
    """Return messages as a session file holds them, with the block ids m<first> and on.

    Where they are of several days, or of others than the time `before` them, a date stands where
    a day begins.
    """
    day, text = before[:10], ""
    several = len({day, *(message.time[:10] for message in messages)} - {""}) > 1
    for number, message in enumerate(messages, first):
        if several and message.time[:10] not in ("", day):
            day = message.time[:10]
            text += DAY.format(day)
        text += render_message(replace(message, block=f"m{number}"))
    return text


def _bytes(message: Message) -> int:
    return len(render_message(replace(message, block="m0000000")).encode()) + 2 * len(DAY)
