"""Conversations that a host writes down itself, taken into sessions as they grow.

How far a transcript was read is held in memory alone: after a restart it is read from its start,
and what is known by its id is not written again. One call reads only so much; the rest follows
in the background, so that whoever waits for an answer never waits for a long file.
"""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.polling import Worker, quietly
from vaultmind.ports import Clock
from vaultmind.session.files import Pipe, parse_time, time_or_none
from vaultmind.session.log import SessionLog
from vaultmind.session.parts import Part
from vaultmind.session.transcripts import parse_line, read_on
from vaultmind.types import Caller, Message
from vaultmind.vault.paths import agent_name
from vaultmind.vault.transcript import PIPE

HOST = "claude-code"
WAITING_BYTES = 16 * 1024
"""Bytes that are read of a transcript while somebody waits for an answer."""
AT_A_TIME_BYTES = 256 * 1024
"""Bytes that are read at a time where nobody waits."""
MAX_SHOWN = 50
"""Texts that are remembered as given; the host of more has most likely let go of the first."""
OUT_OF_ORDER = timedelta(minutes=2)
"""A host may write a line this much later than the time that it bears."""
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,100}")


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
    since: datetime | None = None
    """What is older stands there, or the person has deleted it."""
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

    def given(self, part: Part) -> None:
        """Keep what the host was answered with."""
        self.held.update(part.messages)
        self.shown = [*self.shown, part.text][-MAX_SHOWN:]

    def let_go(self) -> None:
        """Keep that the host has nothing of what was said or given before it any more."""
        self.held, self.shown, self.compacted = set(), [], True

    def is_in(self, folder: str) -> None:
        """Keep what people call the folder that they work in, but for their home, of the first:
        a conversation may go to others in the course of it.
        """
        names = [one for one in re.split(r"[\\/]", folder) if one]
        if names and not self.caller.project and folder != str(Path.home()):
            self.caller = replace(self.caller, project=names[-1])


class Capture(Worker):
    """Takes transcripts down. Any thread; one look at a conversation at a time."""

    def __init__(self, sessions: SessionLog, clock: Clock) -> None:
        super().__init__("capture")
        self._sessions, self._clock = sessions, clock
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
        talk.is_in(folder)
        return talk

    def joined(self, caller: Caller, pipe: Pipe) -> Caller:
        """Return who calls by a pipe, with the conversation that they are in.

        That is the host's, where its hooks tell of it, else the pipe's own.
        """
        host = "-".join(re.findall(r"[a-z0-9_]+", caller.client.lower()))  # `claude-code`
        hosts = f"{host}:{pipe.host_id}" if pipe.host_id else ""
        talk = self._talks.get((caller.agent, hosts))
        running = (talk and not talk.ends) or self._sessions.open_session(caller.agent, hosts)
        project = talk.caller.project if talk else caller.project
        conversation = hosts if hosts and running else f"{PIPE}{pipe.name}"
        return replace(caller, conversation=conversation, project=project)

    def begins(self, talk: HostTalk, source: str) -> None:
        """Make ready for what the host begins: anew, after a pause, emptied or compacted."""
        talk.ends, talk.owed = False, source
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
            line = parse_line(raw, talk.tools, self._clock())
            if line.compacted:
                talk.let_go()
            talk.is_in(line.folder)
            talk.held.update(message.id for message in line.messages)
            messages += line.messages
        new, keeps = 0, self._sessions.keeps(talk.agent)
        if talk.since:
            messages = [one for one in messages if parse_time(one.time) >= talk.since]
        if messages and keeps:
            logged = self._sessions.log(
                talk.agent, *messages, caller=talk.caller, conversation=talk.conversation
            )
            new = len(logged.new)
            talk.session = logged.new[-1].session if new else talk.session
        talk.offset = offset  # it counts as read only once it is written
        if talk.ends and not more:
            self._talks.pop((talk.agent, talk.conversation), None)
            if keeps:
                name, caller = talk.conversation, talk.caller
                self._sessions.end(talk.agent, conversation=name, caller=caller)
        return new, more

    def _find(self, talk: HostTalk) -> None:
        """Find where a conversation stands, whose transcript is read from its start.

        What the person has deleted since it was captured is older than what was captured last.
        """
        talk.session, captured = "", list[datetime]()
        for head in self._sessions.heads(talk.agent):
            if head.is_of(talk.conversation):
                talk.session = head.id
                with suppress(VaultMindError):
                    said = [
                        one.message for one in self._sessions.read(talk.agent, head.id).messages
                    ]
                    times = (one.time for one in said if one.how == "captured" and not one.asked)
                    captured += filter(None, map(time_or_none, times))
        talk.since = max(captured) - OUT_OF_ORDER if captured else None
