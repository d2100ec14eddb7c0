"""Conversations that a host writes down itself, taken into sessions as they grow.

How far a transcript was read is held in memory alone: after a restart it is read from its start,
and what is known by its id is not written again. One call reads so much and no more; the rest
follows in the background, so that whoever waits for an answer never waits for a long file.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from vaultmind.errors import BadArgument, NotFound, UnreadableNote, VaultMindError
from vaultmind.ports import Clock
from vaultmind.session.capture.before import Before, captured_before
from vaultmind.session.capture.lines import parse_line
from vaultmind.session.capture.tail import Place, check_transcript, read_on
from vaultmind.session.records.adding import Logged
from vaultmind.session.records.shelf import Head
from vaultmind.session.records.store import session_ids
from vaultmind.types import Caller, Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import agent_name

HOST = "claude-code"
WAITING_BYTES = 16 * 1024
"""Read of a transcript while somebody waits for an answer: looking for secrets in what was said
takes two milliseconds a message."""
AT_A_TIME_BYTES = 256 * 1024
"""Read at a time where nobody does."""
MAX_TALKS = 64
"""Conversations whose place is held; an older one is read from its start again."""
MAX_SHOWN = 50
"""Texts that are remembered as given; the host of so many has most likely let go of the first."""
MAX_OFFERED = 8
"""Answers that wait to be confirmed; an older one came too late."""
NEWEST = 12
"""Sessions, the newest first, in which copies of a transcript's beginning are looked for."""
CLOSE_SECONDS = 5.0
CATCH_UP_SECONDS = 3.0
"""That whoever wants something forgotten waits for what was not taken down yet."""
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,100}")
_PARTS = re.compile(r"[\\/]")
_IDS = re.compile(r'%%\{"id":"((?:[^"\\]|\\.)*)"')
log = logging.getLogger(__name__)


class Log(Protocol):
    """Where messages are written down."""

    def log_many(
        self,
        agent: str,
        messages: Sequence[Message],
        *,
        caller: Caller | None = None,
        conversation: str = "",
    ) -> Logged:
        """Append messages to a conversation's session; those that are known are not repeated."""
        ...

    def new_segment(
        self, agent: str, *, conversation: str = "", caller: Caller | None = None
    ) -> Logged:
        """Begin a segment in a conversation's session."""
        ...

    def end(self, agent: str, *, conversation: str = "", caller: Caller | None = None) -> str:
        """End a conversation's open session; return its id."""
        ...

    def heads(self, agent: str) -> tuple[Head, ...]:
        """Return what the front matters of an agent's sessions say."""
        ...


@dataclass(frozen=True, slots=True)
class Transcript:
    """One host's conversation with an agent, and the file in which the host writes it."""

    agent: str
    conversation: str
    """As the session's front matter names it: `claude-code:<the host's id>`."""
    path: Path


@dataclass(frozen=True, slots=True)
class Taken:
    """What one look at a transcript came to."""

    new: int = 0
    """Messages that were written down."""
    more: bool = False
    """Whether there is more, which follows in the background."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a host was answered with. It counts as given once the host is known to have it."""

    start: str = ""
    """Why there is a start context in it; empty where there is none."""
    messages: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Talk:
    """What is known of a running conversation besides its messages. Locked while it is read."""

    transcript: Transcript
    caller: Caller
    session: str = ""
    """Where its last messages stand; empty while none is known to be written down."""
    place: Place = Place()  # noqa: RUF009 - frozen
    tools: dict[str, str] = field(default_factory=dict)
    elsewhere: frozenset[str] | None = None
    """Ids of messages that another conversation of this agent has: the host copied them. None
    until a message was read."""
    before: Before | None = None
    """What stood in its sessions when the transcript was last read from its start."""
    held: set[str] = field(default_factory=set)
    """Ids of the messages that the host still has before it, word for word."""
    compacted: bool = False
    """Whether the host has let go of something."""
    shown: list[str] = field(default_factory=list)
    """Texts that the host was given and still has before it."""
    owed: str = ""
    """Why a start context is due that the host is not known to have; empty where none is."""
    offered: OrderedDict[str, Given] = field(default_factory=OrderedDict)
    """Answers that the host is not known to have, by the name that each was given."""
    offers: int = 0
    emptied: bool = False
    """Whether the host emptied it, and has not begun it again."""
    ends: bool = False
    """Whether the conversation is over once all of it was read."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def offer(self, given: Given) -> str:
        """Keep what the host is answered with now; return the name to confirm it by."""
        self.offers += 1
        self.offered[str(self.offers)] = given
        while len(self.offered) > MAX_OFFERED:
            self.offered.popitem(last=False)
        return str(self.offers)

    def delivered(self, name: str) -> None:
        """Count an answer as given: the host has it."""
        given = self.offered.pop(name, Given())
        self.held.update(given.messages)
        self.shown = [*self.shown, *given.texts][-MAX_SHOWN:]
        if given.start and given.start == self.owed:
            self.owed = ""

    def let_go(self) -> None:
        """Keep that the host has nothing of what was said or given before it any more."""
        self.held, self.shown, self.compacted = set(), [], True
        self.offered.clear()


def transcript_of(agent: str, session_id: str, path: str) -> Transcript:
    """Return what a host calls a conversation, checked. Raises BadArgument."""
    if not _SESSION.fullmatch(session_id):
        raise BadArgument("session_id", session_id, "letters, digits, '-' and '_', up to 100")
    return Transcript(agent_name(agent), f"{HOST}:{session_id}", check_transcript(path))


def project_of(folder: str) -> str:
    """Return what people call the folder that they work in; empty for their home."""
    names = [one for one in _PARTS.split(folder) if one]
    return names[-1] if names and folder != str(Path.home()) else ""


class Capture:
    """Takes transcripts down. Safe to use from threads; one look at a conversation at a time."""

    def __init__(
        self,
        sessions: Log,
        reader: VaultReader,
        keeps_records: Callable[[str], bool],
        clock: Clock,
        heard: Callable[[str, Sequence[Message]], None] = lambda agent, messages: None,
    ) -> None:
        """`heard` is told what was written down of an agent."""
        self._sessions = sessions
        self._heard = heard
        self._reader = reader
        self._keeps_records = keeps_records
        self._clock = clock
        self._talks: OrderedDict[tuple[str, str], Talk] = OrderedDict()
        self._cleared: dict[str, list[Talk]] = {}
        """By agent: the conversations that were emptied, and not heard of since."""
        self._lock = threading.Lock()
        self._rest: deque[Talk] = deque()
        self._worker: threading.Thread | None = None
        self._closing = False

    def talk(self, transcript: Transcript, caller: Caller) -> Talk:
        """Return what is known of a conversation; a new one where nothing is.

        One that was emptied, and is heard of again, goes on under its own name.
        """
        key = (transcript.agent, transcript.conversation)
        with self._lock:
            waiting = self._cleared.get(transcript.agent, [])
            waiting[:] = [one for one in waiting if one.transcript.conversation != key[1]]
            talk = self._talks.get(key)
            if talk is None or talk.transcript.path != transcript.path:
                fresh = Talk(transcript, caller)
                if talk is not None:
                    fresh.shown, fresh.owed = talk.shown, talk.owed
                    fresh.offered, fresh.offers = talk.offered, talk.offers
                talk = self._talks[key] = fresh
            self._talks.move_to_end(key)
            while len(self._talks) > MAX_TALKS:
                self._talks.popitem(last=False)
            return talk

    def take(self, talk: Talk, max_bytes: int = AT_A_TIME_BYTES, *, wait: bool = True) -> Taken:
        """Write down what a transcript says that was not read yet, of a long one the beginning.

        Without `wait` it is left to whoever reads the same transcript just now. Nothing is
        written for an agent whose conversations are not kept. A host may name a file that it has
        not made yet. Raises BadArgument for a file that is none of this user's.
        """
        if not talk.lock.acquire(blocking=wait):
            return Taken(more=True)
        try:
            new, more = self._read(talk, max_bytes)
            if more:
                self._later(talk)
            elif talk.ends:
                talk.ends = False
                self._end(talk)
        finally:
            talk.lock.release()
        return Taken(new, more)

    def catch_up(self, seconds: float = CATCH_UP_SECONDS) -> bool:
        """Write down what running conversations have grown by.

        What is to be forgotten is known by where it stands: what is taken down later would bring
        it back. Returns whether all was read in that time; the rest follows in the background.
        """
        with self._lock:
            rest = deque(self._talks.values())
        until = time.monotonic() + seconds
        while rest and time.monotonic() < until:
            talk = rest.popleft()
            try:
                if self.take(talk).more:
                    rest.append(talk)
            except (VaultMindError, OSError) as error:
                log.warning("a transcript could not be taken down: %s", error)
        return not rest

    def end(self, talk: Talk) -> Taken:
        """Take down what is left of a conversation, then end its session."""
        talk.ends = True
        return self.take(talk)

    def cleared(self, talk: Talk) -> None:
        """Keep that the host emptied a conversation, which goes on under its name or another."""
        with self._lock:
            talk.emptied = True
            self._cleared.setdefault(talk.transcript.agent, []).append(talk)

    def begins(self, talk: Talk, source: str) -> None:
        """Make ready for what the host begins: anew, after a pause, emptied or compacted.

        Emptied (`clear`) under its own name the conversation has a new segment; under another
        name the one before it is over; of several windows' the one that was emptied first.
        """
        own, talk.emptied = talk.emptied, False
        if source == "clear":
            with self._lock:
                waiting = self._cleared.get(talk.transcript.agent)
                before = waiting.pop(0) if waiting and not own else None
            if before is not None:
                self.end(before)
            agent, conversation = talk.transcript.agent, talk.transcript.conversation
            if self._keeps_records(agent):
                self._sessions.new_segment(agent, conversation=conversation, caller=talk.caller)
        if source in ("clear", "compact"):
            with talk.lock:
                talk.let_go()

    def close(self) -> None:
        """Stop reading in the background; what was not read is read the next time."""
        with self._lock:
            self._closing = True
            worker = self._worker
        if worker is not None:
            worker.join(CLOSE_SECONDS)

    # --- reading ----------------------------------------------------------------------------

    def _read(self, talk: Talk, max_bytes: int) -> tuple[int, bool]:
        try:
            read = read_on(talk.transcript.path, talk.place, max_bytes)
        except NotFound:
            return 0, False
        if read.anew:
            talk.held, talk.tools, talk.compacted, talk.elsewhere = set(), {}, False, None
            talk.before = None
        messages: list[Message] = []
        for raw in read.lines:
            line = parse_line(raw, talk.tools, self._clock())
            if line.compacted:
                talk.let_go()
            messages += line.messages
            if not talk.caller.project:  # the first: it may go to others in the course of it
                talk.caller = replace(talk.caller, project=project_of(line.folder))
            talk.held.update(message.id for message in line.messages)
        new = self._write(talk, messages)
        talk.place = read.place
        return new, read.more

    def _write(self, talk: Talk, messages: list[Message]) -> int:
        """Write messages down; their place counts as read only once they are written."""
        agent, conversation = talk.transcript.agent, talk.transcript.conversation
        if not messages or not self._keeps_records(agent):
            return 0
        if talk.elsewhere is None:
            talk.elsewhere = self._copied(talk.transcript, messages[0].id)
        if talk.before is None:
            heads = self._sessions.heads(agent)
            talk.before = captured_before(self._reader, agent, conversation, heads)
        own = [message for message in messages if message.id not in talk.elsewhere]
        own, before = talk.before.without_deleted(own)
        if not own:
            talk.before = before
            return 0
        logged = self._sessions.log_many(agent, own, caller=talk.caller, conversation=conversation)
        self._heard(agent, own)
        talk.before = before
        talk.session = logged.session or talk.session
        return logged.new

    def _copied(self, transcript: Transcript, first: str) -> frozenset[str]:
        """Return the ids of the conversation that a transcript begins as a copy of; mostly none.

        A host that resumes or forks a conversation may copy it into a new file.
        """
        paths = self._reader.paths
        for session in reversed(session_ids(paths, transcript.agent)[-NEWEST:]):
            try:
                text = self._reader.read(paths.session(transcript.agent, session)).text
            except (NotFound, UnreadableNote):
                continue
            if f'"id":"{first}"' in text and transcript.conversation not in text[:2000]:
                return frozenset(_IDS.findall(text))
        return frozenset()

    def _end(self, talk: Talk) -> None:
        agent, conversation = talk.transcript.agent, talk.transcript.conversation
        if self._keeps_records(agent):
            self._sessions.end(agent, conversation=conversation, caller=talk.caller)

    # --- in the background ------------------------------------------------------------------

    def _later(self, talk: Talk) -> None:
        with self._lock:
            if self._closing or talk in self._rest:
                return
            self._rest.append(talk)
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="capture", daemon=True)
                self._worker.start()

    def _work(self) -> None:
        """Read on, a piece of each conversation in turn, until all was read."""
        while True:
            with self._lock:
                if self._closing or not self._rest:
                    self._worker = None
                    return
                talk = self._rest.popleft()
            try:
                self.take(talk)
            except (VaultMindError, OSError) as error:
                log.warning("a transcript could not be taken down: %s", error)
            except Exception:  # one conversation's fault must not keep the others from being read
                log.exception("a transcript could not be taken down")
