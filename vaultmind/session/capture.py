"""Conversations that a host writes down itself, taken into sessions as they grow.

How far a transcript was read is held in memory alone: after a restart it is read from its start,
and what is known by its id is not written again. One call reads only so much; the rest follows
in the background, so that whoever waits for an answer never waits for a long file.

The format of Claude Code's transcripts is not documented by its maker; this follows what is written
to `~/.claude/projects/<project>/<session>.jsonl`. A line is an object with `type`, `uuid`,
`timestamp` and `message`; `content` is a text or a list of blocks. What nobody said is left out:
sub-agents' lines, summaries of a compaction, reminders and the output of local commands. A line
of an unknown kind says nothing.
"""

from __future__ import annotations

import json
import os
import re
import stat
import threading
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from vaultmind.errors import BadArgument, NotFound
from vaultmind.polling import Worker, quietly
from vaultmind.session import files
from vaultmind.session.log import SessionLog
from vaultmind.session.parts import Part
from vaultmind.times import local_time, seconds_of
from vaultmind.types import Caller, Message
from vaultmind.vault.files import OPEN_FLAGS
from vaultmind.vault.paths import agent_name
from vaultmind.vault.transcript import CALLED, OWN_TOOL, PIPE

HOST = "claude-code"
WAITING_BYTES = 16 * 1024
"""Bytes that are read of a transcript while somebody waits for an answer."""
AT_A_TIME_BYTES = 256 * 1024
"""Bytes that are read at a time where nobody waits."""
MAX_SHOWN = 50
"""Texts that are remembered as given; the host of more has most likely let go of the first."""
OUT_OF_ORDER = 120.0
"""A host may write a line this many seconds after the time it gives."""
NEWEST = 12
"""Sessions, the newest ones, in which copies of a transcript's beginning are looked for."""
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,100}")
TELLING = (b'"user"', b'"assistant"', b'"compact_boundary"', b'"queued_command"')
"""A line without any of these says nothing to us, and is not parsed."""
SYNTHETIC = "<synthetic>"
OWN_FILE = "the absolute path of a regular .jsonl file of your own"
CALL_CHARS = 300
"""Characters that are kept of what a tool was called with."""
_TELLS = re.compile(rf"{OWN_TOOL}__(?!memory_(?:search|fetch|show)$)")
"""Our tools that may be told what is not to be kept; the others only ask."""
NOT_SAID = ("isMeta", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""A line with one of these was said by nobody, or not in this conversation."""
_ASIDES = re.compile(
    r"(?s)<(system-reminder|ide_\w+|local-command-caveat|user-prompt-submit-hook)>.*?</\1>"
)
_LOCAL = re.compile(r"\s*<(local-command-std|bash-(input|std)|task-notification\b|tick\b)")
_COMMAND = re.compile(
    r"<command-name>\s*(/?[^<]*?)\s*</command-name>(?:.*?<command-args>(.*?)</command-args>)?", re.S
)
_EMPTY = frozenset({"", "(no content)", "No response requested."})


@dataclass(slots=True, eq=False)
class HostTalk:
    """What is known of a host's running conversation besides its messages."""

    agent: str
    conversation: str
    """As the session's front matter names it: `claude-code:<the host's id>`."""
    path: Path
    caller: Caller
    session: str = ""
    """Where its last messages stand; empty while none is known to be written down."""
    offset: int = 0
    """How far the transcript was read, in bytes."""
    tools: dict[str, str] = field(default_factory=dict)
    since: float = 0.0
    """In seconds since 1970: what is older is there, or the person has deleted it."""
    seen: set[str] = field(default_factory=set)
    """Ids of messages, and words of requests, that stand in other conversations: a host begins one
    that it resumes or forks with a copy.
    """
    held: set[str] = field(default_factory=set)
    """Ids of the messages that the host still has before it, word for word."""
    compacted: bool = False
    """Whether the host has let go of something."""
    shown: list[str] = field(default_factory=list)
    """Texts that the host was given and still has before it."""
    owed: str = ""
    """Why a start context is due; empty where none is."""
    ends: bool = False
    """Whether the conversation is over once all of it was read."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def is_new(self, message: Message) -> bool:
        """Tell whether a message is to be written down, if it is not known there."""
        known = {message.id, message.text} & self.seen
        return not known and not 0 < seconds_of(message.time) < self.since

    def given(self, part: Part) -> None:
        """Keep what the host was answered with."""
        self.held.update(part.messages)
        self.shown = [*self.shown, part.text][-MAX_SHOWN:]

    def let_go(self) -> None:
        """Keep that the host has nothing of what was said or given before it any more."""
        self.held, self.shown, self.compacted = set(), [], True


class Capture(Worker):
    """Takes transcripts down. Any thread; one look at a conversation at a time."""

    def __init__(self, sessions: SessionLog) -> None:
        super().__init__("capture")
        self._sessions = sessions
        self._talks: dict[tuple[str, str], HostTalk] = {}

    def talk(self, agent: str, session_id: str, path: str, folder: str = "") -> HostTalk:
        """Return what is known of a conversation; a new one where nothing is.

        `session_id` is what the host calls it, `folder` where it is held. Raises BadArgument.
        """
        if not _SESSION.fullmatch(session_id):
            raise BadArgument("session_id", session_id, "letters, digits, '-' and '_', up to 100")
        key, file = (agent_name(agent), f"{HOST}:{session_id}"), Path(path)
        talk = self._talks.setdefault(key, HostTalk(*key, file, Caller("agent", key[0], HOST)))
        if talk.path != file:
            talk = self._talks[key] = HostTalk(*key, file, talk.caller)
        names = [one for one in re.split(r"[\\/]", folder) if one]
        if names and not talk.caller.project and folder != str(Path.home()):
            # what people call the first folder: a conversation may go to others in its course
            talk.caller = replace(talk.caller, project=names[-1])
        return talk

    def joined(self, caller: Caller, pipe: str, host_id: str) -> Caller:
        """Return who calls by a pipe of a name, with the conversation that they are in.

        That is the host's, where its hooks tell of it, else the pipe's own. `host_id` is what the
        host called it when it started the connection; empty where it did not say.
        """
        host = "-".join(re.findall(r"[a-z0-9_]+", caller.client.lower()))  # `claude-code`
        hosts = f"{host}:{host_id}" if host_id else ""
        talk = self._talks.get((caller.agent, hosts))
        running = (talk and not talk.ends) or self._sessions.open_session(caller.agent, hosts)
        project = talk.caller.project if talk else caller.project
        conversation = hosts if hosts and running else f"{PIPE}{pipe}"
        return replace(caller, conversation=conversation, project=project)

    def is_compacted(self, caller: Caller) -> bool:
        """Tell whether a caller's host no longer has all of their conversation before it."""
        talk = self._talks.get((caller.agent, caller.conversation))
        return bool(talk and talk.compacted)

    def begins(self, talk: HostTalk, source: str) -> None:
        """Make ready for what the host begins: anew, after a pause, emptied or compacted."""
        talk.ends, talk.owed, talk.shown = False, source, []
        if source in ("clear", "compact"):
            talk.let_go()

    def take(self, talk: HostTalk, max_bytes: int = AT_A_TIME_BYTES) -> int:
        """Write down what a transcript has grown by, of much the beginning; the rest follows in the
        background, where it may be read just now. Return how many messages are new.

        Nothing is written for an agent whose conversations are not kept. A host may name a file
        that it has not made yet. Raises BadArgument for a file that is none of this user's.
        """
        new, more = 0, True
        if talk.lock.acquire(blocking=False):
            try:
                new, more = self._read(talk, max_bytes)
            finally:
                talk.lock.release()
        if more:
            self.then(partial(self.finish, talk))
        return new

    def finish(self, talk: HostTalk) -> None:
        """Write down all that a transcript says."""
        with talk.lock:
            while self._read(talk, AT_A_TIME_BYTES)[1]:
                pass

    def catch_up(self) -> None:
        """Write down what running conversations have grown by.

        What is to be forgotten is known by where it stands: what is taken down later would bring
        it back.
        """
        for talk in list(self._talks.values()):
            quietly(partial(self.finish, talk))

    def _read(self, talk: HostTalk, max_bytes: int) -> tuple[int, bool]:
        """Write down a piece of a transcript; return how many messages are new, and whether there
        is more. After the last piece a conversation may end.
        """
        try:
            lines, offset, more = read_on(talk.path, talk.offset, max_bytes)
        except NotFound:
            lines, offset, more = [], talk.offset, False
        if lines and offset == sum(map(len, lines)):  # from its start
            talk.held, talk.tools, talk.compacted = set(), {}, False
            self._find(talk)
        messages: list[Message] = []
        for raw in lines:
            said = parse_line(raw, talk.tools)
            if said is None:
                talk.let_go()
            talk.held.update(message.id for message in said or ())
            messages += filter(talk.is_new, said or ())
        new, keeps = 0, self._sessions.keeps(talk.agent)
        name, caller = talk.conversation, talk.caller
        if messages and keeps:
            logged = self._sessions.log(talk.agent, *messages, caller=caller, conversation=name)
            new = len(logged.new)
            talk.session = logged.new[-1].session if new else talk.session
        talk.offset = offset  # it counts as read only once it is written
        if talk.ends and not more:
            self._talks.pop((talk.agent, name), None)
            if keeps:
                self._sessions.end(talk.agent, conversation=name, caller=caller)
        return new, more

    def _find(self, talk: HostTalk) -> None:
        """Find where a conversation stands, whose transcript is read from its start.

        What the person has deleted since it was captured is older than what was captured last.
        """
        sessions, heads = self._sessions, self._sessions.heads(talk.agent)
        talk.session, talk.seen, talk.since = "", set(), 0.0
        for head in heads:
            is_own = head.is_of(talk.conversation)
            if is_own or head in heads[-NEWEST:]:
                every = sessions.messages(talk.agent, head.id)
                said = [one for one in every if not one.asked]
                talk.seen.update(one.id for one in said)
                talk.seen.update(one.text for one in every if one.asked and not is_own)
            if is_own:
                talk.session = head.id
                times = (seconds_of(one.time) for one in said if one.how == "captured")
                talk.since = max([talk.since, *(one - OUT_OF_ORDER for one in times)])


# --- what a transcript says ------------------------------------------------------------------


def read_on(path: Path, offset: int, max_bytes: int) -> tuple[list[bytes], int, bool]:
    """Return the whole lines that follow an offset, as many as fit, but one at least; the offset
    after them; and whether there is more.

    A file that has shrunk is read from its start. Raises NotFound where there is no file yet,
    BadArgument for anything but a regular file of this user.
    """
    try:
        if not path.is_absolute() or path.suffix != ".jsonl":
            raise ValueError(f"{path} is no transcript")
        file = os.fdopen(os.open(path, OPEN_FLAGS), "rb")  # no link followed, no pipe waited for
    except FileNotFoundError:
        raise NotFound(f"There is no transcript {str(path)!r} yet.") from None
    except (OSError, ValueError) as error:
        raise BadArgument("transcript_path", str(path), OWN_FILE) from error
    with file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
            raise BadArgument("transcript_path", str(path), OWN_FILE)
        size = found.st_size
        start = offset if offset <= size else 0
        file.seek(start)
        lines = [line for line in file.readlines(max_bytes) if line.endswith(b"\n")]
        end = start + sum(map(len, lines))
        return lines, end, end - start >= max_bytes and end < size


def parse_line(raw: bytes, tools: MutableMapping[str, str]) -> tuple[Message, ...] | None:
    """Return what a line says, nothing for one that is broken or of an unknown kind; None where the
    host has let go of what stands above the line, but for a summary.

    `tools` holds the names of the tools that were called, by call: a result does not repeat
    its tool's name. What is said in a line without a time has none.
    """
    try:
        record = json.loads(raw) if any(word in raw for word in TELLING) else None
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or record.get("isSidechain"):
        return ()
    if record.get("isCompactSummary") or record.get("subtype") == "compact_boundary":
        return None
    if any(record.get(name) for name in NOT_SAID) or not _is_human(record):
        return ()
    time = local_time(record.get("timestamp"))
    origin = record.get("forkedFrom")  # a forked conversation begins with another's lines
    copied = origin.get("messageUuid") if isinstance(origin, dict) else None
    own = str(copied or record.get("uuid") or files.hashed_id(raw.decode("utf-8", "replace")))
    said = enumerate(_messages(record, tools), 1)
    return tuple(replace(one, time=time, id=f"{own}/{n}" if n > 1 else own) for n, one in said)


def _messages(record: dict[str, Any], tools: MutableMapping[str, str]) -> Iterator[Message]:
    """Yield what a record says, without time and id."""
    kind, message, queued = record.get("type"), record.get("message"), record.get("attachment")
    content = message.get("content") if isinstance(message, dict) else None
    if kind == "attachment" and isinstance(queued, dict) and queued.get("type") == "queued_command":
        # what the person typed while the assistant was at work
        if queued.get("commandMode", "prompt") == "prompt" and _is_human(queued):
            yield from _typed(queued.get("prompt"))
    elif kind == "user":
        yield from _typed(content)
        for block in files.blocks(content, "tool_result"):
            words = files.beginning("\n".join(files.texts(block.get("content"))), files.TOOL_CHARS)
            name = tools.get(str(block.get("tool_use_id")), "tool")
            if not name.startswith(OWN_TOOL):
                yield Message("tool", words or "(no text)", "", speaker=name)
    elif kind == "assistant":
        words = "\n\n".join(text.strip("\n") for text in files.texts(content)).strip()
        if words not in _EMPTY and isinstance(message, dict) and message.get("model") != SYNTHETIC:
            yield Message("assistant", words, "")
        for block in files.blocks(content, "tool_use"):
            tools[str(block.get("id"))] = name = str(block.get("name") or "tool")
            given = {} if _TELLS.match(name) else block.get("input")
            yield Message("tool", _call(given), "", speaker=name)


def _call(given: object) -> str:
    """Return what a tool was called with, in a line."""
    named = given.items() if isinstance(given, dict) else ()
    said = " · ".join(f"{one}: {it}" for one, it in named)
    return files.beginning(said, CALL_CHARS) or CALLED


def _typed(content: object) -> Iterator[Message]:
    """Yield what a person typed, without what the host put beside it."""
    kept = [text for text in map(_own_words, files.texts(content)) if text]
    for kind in ("image", "document"):
        kept += [f"[attached: {kind}]" for _ in files.blocks(content, kind)]
    if kept:
        yield Message("user", "\n\n".join(kept), "")


def _own_words(text: str) -> str:
    if _LOCAL.match(text) or text.startswith("[Request interrupted by user"):
        return ""
    if command := _COMMAND.search(text):
        words = (command[2] or "").strip()
        return f"{command[1]} {words}" if words else ""
    words = _ASIDES.sub("", text).strip()
    return "" if words in _EMPTY else words


def _is_human(record: dict[str, Any]) -> bool:
    """Tell whether no machine is named as the one who speaks in the person's place."""
    origin = record.get("origin")
    return not isinstance(origin, dict) or origin.get("kind") in (None, "human")
