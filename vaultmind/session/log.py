"""Conversations written down, a session a file: it begins with a message, grows, and ends.

No timer runs: whether a session is over is seen when the next message comes, or when somebody
asks for what the last one left. Messages are appended to the file as they come, so a crash loses
at most those in flight. An agent has one open session for each conversation that its host or its
pipe names, and one for all that is said in none. Imported conversations go the same way. Nothing of
a conversation is kept between two calls but what was read of its files.
"""

from __future__ import annotations

import logging
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice

from vaultmind.errors import (
    BadArgument,
    NotAllowed,
    NotFound,
    PathRefused,
    UnreadableNote,
    VaultMindError,
    WriteConflict,
)
from vaultmind.language.secrets import mask_secrets
from vaultmind.memory.gate import Gate
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.session import files
from vaultmind.session.active import ActiveContextFile, ending, last_time, recent_of
from vaultmind.session.files import Head, Hides, iso, parse_time
from vaultmind.session.parts import Recent
from vaultmind.types import PERSON, Caller, Message, MessageRef
from vaultmind.vault import transcript as written
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.oneline import safe
from vaultmind.vault.paths import agent_name
from vaultmind.vault.transcript import (
    ERASED_SOURCE,
    SessionMeta,
    is_hosts,
    parse_meta,
    render_header,
    runs,
)

FULL, MESSAGE = 2, 9
"""Part of what can be read of a file that a session grows to; part in characters of a message."""
RECENT, RECENT_DAYS = 4, timedelta(days=7)
"""Other conversations that the start of one is told of, and how old they may be."""
_TORN = re.compile(
    r"(?:> \[!(?:user|assistant|tool|system)\]|## Segment \d+ )(?:[^\n]*\Z|.*%%\{)", re.DOTALL
)
"""How what we were writing begins, of which there is no end."""
log = logging.getLogger(__name__)
Timed = tuple[Message, datetime]


def _unheard(agent: str, session: str, messages: Sequence[Message]) -> None:
    """Hear nothing."""


@dataclass(frozen=True, slots=True)
class Listeners:
    """What the log tells others, and what it needs to know from them."""

    hides: Hides = lambda agent, record, part: False
    """What was forgotten: no active context repeats it."""
    device: str = ""
    """Which device writes: the sessions are its own."""
    ended: Callable[[str, str], None] = lambda agent, session: None
    """Hears of each session that has ended."""
    logged: Callable[[str, str, Sequence[Message]], None] = _unheard
    """Hears of what was logged: the agent, the session, the messages."""
    imported: Callable[[str, str, Sequence[Message]], None] = _unheard
    """Hears of what was imported."""
    erased: Callable[[MessageRef], bool] = lambda ref: False
    """Tells which messages were erased: a marker is imported in their place."""


@dataclass(frozen=True, slots=True)
class Logged:
    """Where messages were written down."""

    agent: str
    session: str
    """The session that the last of them stands in; empty where there is none."""
    segment: int = 1
    """The segment that the session has come to."""
    refs: tuple[MessageRef, ...] = ()
    """Where each message stands, new or known."""
    new: int = 0
    """How many were not there before."""


@dataclass(slots=True)
class OpenSession:
    """A session that can grow."""

    id: str
    path: str
    last: datetime
    """When something was said in it last."""
    size: int = 0
    """Bytes of the file, with what is not written yet."""
    newline: str = "\n"
    next: int = 1
    """Number of the next block id."""
    segment: int = 1
    fresh: bool = True
    """Whether nothing was said in the segment yet."""
    begun: datetime | None = None
    """When it began, while it has no file yet."""
    text: str = ""
    """What is not written yet."""

    def begin_segment(self, moment: datetime) -> None:
        """Add a segment's heading."""
        self.segment, self.fresh = self.segment + 1, True
        self.text += written.render_segment(self.segment, iso(moment), self.newline)

    def add(self, message: Message, moment: datetime) -> Message:
        """Add a message; return it as it stands there."""
        placed = replace(message, block=f"m{self.next}")
        text = written.render_message(placed, self.newline)
        self.text, self.size = self.text + text, self.size + len(text.encode("utf-8", "replace"))
        self.next, self.fresh, self.last = self.next + 1, False, max(self.last, moment)
        return placed


@dataclass(slots=True)
class Talk:
    """An agent's conversation during one call: its open session, and where its messages stand.

    A host's ids are its own, and known whatever the words: it may hand over its transcript once
    more. A pipe's id is only as good as its words: the next chat may count from 1 again. That of an
    import is as good as its words or its time.
    """

    agent: str
    name: str
    caller: Caller
    source: str = ""
    """What it is called in the file that it is imported from."""
    topic: str = ""
    session: OpenSession | None = None
    over: list[OpenSession] = field(default_factory=list)
    """Sessions that are to be ended: they fell silent, or are full."""
    known: dict[tuple[str, str], MessageRef] = field(default_factory=dict)
    """Where the message of an id, and of words or a time, stands."""
    ids: set[str] = field(default_factory=set)

    def keys(self, message: Message) -> list[tuple[str, str]]:
        """Return by what a message is known again."""
        if not message.id:
            return []
        if message.erased or (is_hosts(self.name) and not message.asked):
            return [(message.id, "")]
        words = (message.id, " ".join(safe(message.text).split()))
        return [words, (message.id, message.time)] if self.source else [words]

    def learn(self, session: str, message: Message) -> MessageRef:
        """Keep where a message stands."""
        ref = MessageRef(self.agent, session, message.block, message.id)
        self.ids.add(message.id)
        self.known.update(dict.fromkeys(self.keys(message), ref))
        return ref

    def place(self, message: Message) -> tuple[Message, tuple[str, str] | None]:
        """Return a message and by what it is known; another of the same id gets its own: `1:2`."""
        given, number = message.id, 1
        while given and message.id in self.ids:
            for key in ((message.id, ""), *self.keys(message)):
                if key in self.known:
                    return message, key
            number += 1
            message = replace(message, id=f"{given}:{number}")
        return message, None


class SessionLog(files.Shelf):
    """Writes conversations down. One per vault; safe to use from threads."""

    def __init__(
        self,
        gate: Gate,
        reader: VaultReader,
        clock: Clock,
        idle_minutes: float,
        listeners: Listeners | None = None,
    ) -> None:
        super().__init__(reader)
        self._gate, self._clock = gate, clock
        self._idle = timedelta(minutes=idle_minutes)
        self._listeners = listeners or Listeners()
        self._active = ActiveContextFile(reader, self._listeners.hides)
        self._readable = reader.max_bytes or files.DEFAULT_SESSION_BYTES
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)

    # --- what is said --------------------------------------------------------------------

    def log(
        self, agent: str, message: Message, *, caller: Caller | None = None, conversation: str = ""
    ) -> MessageRef:
        """Append a message to the agent's session, a new one after a silence.

        A message whose id is known is not written again; secrets are masked. Returns where it
        stands. Raises NotAllowed for an agent that keeps no records, BadArgument for a time that is
        none.
        """
        return self.log_many(agent, [message], caller=caller, conversation=conversation).refs[0]

    def log_many(
        self,
        agent: str,
        messages: Sequence[Message],
        *,
        caller: Caller | None = None,
        conversation: str = "",
        now: datetime | None = None,
        new_segment: bool = False,
    ) -> Logged:
        """Append messages to the agent's session of a conversation, as `log` does with one.

        With `new_segment` a segment begins before them; not where one of them is known, since
        then the call is repeated. Without messages it begins in the open session, if there is
        one; twice in a row makes one. They belong to the session of `now`, whatever their times.
        """
        agent = self._writable(agent)
        said = [self._prepared(message, now) for message in messages]
        moment = said[0][1] if said else now or self._clock()
        with self._locks[agent]:
            talk = self._talk(agent, conversation, caller, moment)
            self._leave(talk, moment)
            refs, new = self._log(talk, said, moment if new_segment else None)
        for gone in talk.over:
            self._end_over(agent, gone)
        for one in dict.fromkeys(ref.session for ref in refs):
            self._listeners.logged(agent, one, [message for message, _ in said])
        session = talk.session
        last = refs[-1].session if refs else session.id if session else ""
        segment = session.segment if session and session.id == last else 1
        return Logged(agent, last, segment, refs, len(new))

    def take_in(
        self, agent: str, source: str, topic: str, messages: Sequence[Message]
    ) -> tuple[int, tuple[str, ...]]:
        """Write down a conversation that took place elsewhere; return how many messages are new,
        and in which sessions they are.

        What is new since the same source was imported gets a session of its own. What was erased of
        it stays erased.
        """
        agent = agent_name(agent)
        with self._locks[agent]:
            talk = Talk(agent, "", PERSON, source, topic)
            for head in self.heads(agent):
                if head.meta.source in (source, ERASED_SOURCE):
                    self._learn(talk, head)
            highest = files.numbers_used(self._paths, agent)
            said = [
                (self._spared(agent, one, highest[one.time[:10]]), parse_time(one.time))
                for one in messages
            ]
            new = self._log(talk, said, None)[1]
        grown = tuple(dict.fromkeys(ref.session for ref in new))
        for session in grown:
            self._listeners.imported(agent, session, messages)
        return len(new), grown

    def fitting(self, text: str) -> str:
        """Return a text that a session has room for, with a mark where it was cut."""
        most = self._readable // MESSAGE
        return text if len(text) <= most else f"{text[:most]} …"

    # --- how it ends ---------------------------------------------------------------------

    def end(
        self, agent: str, *, session: str = "", conversation: str = "", caller: Caller | None = None
    ) -> str:
        """End a session: the one named, else the conversation's open one; return its id.

        Empty where none is open. What it was about is written for the next one first. Raises
        NotFound for a session that is not there, and what a write raises.
        """
        agent, moment = self._writable(agent), self._clock()
        if session:
            self.read(agent, session)
            current = self._open(agent, session, moment)
        else:
            current = self._running(agent, conversation, moment)
        if current is None:
            return ""
        when = current.last if moment - current.last >= self._idle else moment
        self._end(agent, current.path, when, caller or Caller("agent", agent))
        return current.id

    def end_idle(self, agent: str = "", *, now: datetime | None = None) -> tuple[str, ...]:
        """End the sessions that have been silent for too long; return their paths.

        Of all agents where none is named. What cannot be ended is logged and left open. One whose
        last word lies as far ahead was written by a clock that was wrong.
        """
        moment, ended = now or self._clock(), list[str]()
        for name in (agent_name(agent),) if agent else self._paths.agent_names():
            heads = [head for head in self.heads(name) if head.is_open]
            if not heads or not self._gate.keeps_records(name):
                continue
            for head in heads:
                current = self._open(name, head.id, moment)
                silent = current and abs(moment - current.last) >= self._idle
                if current and silent and self._end_over(name, current):
                    ended.append(current.path)
        return tuple(ended)

    def recent(self, agent: str, session: str = "") -> tuple[Recent, ...]:
        """End what fell silent; return the newest other conversations of the last days.

        The one that the active context speaks of is among them.
        """
        self.end_idle(agent)
        since = (self._clock() - RECENT_DAYS).date().isoformat()
        heads = (one for one in reversed(self.heads(agent)) if one.id[:10] >= since and one.said)
        found = (
            recent_of(self._reader, agent_name(agent), one.id, self._listeners.hides)
            for one in heads
            if one.id != session and not one.meta.source
        )
        return tuple(islice(filter(None, found), RECENT))

    def open_session(self, agent: str, conversation: str = "") -> str:
        """Return the id of a conversation's open session; empty for none, or one gone silent."""
        moment = self._clock()
        current = self._running(agent_name(agent), conversation, moment)
        return current.id if current and moment - current.last < self._idle else ""

    # --- within an agent's lock ----------------------------------------------------------

    def _writable(self, agent: str) -> str:
        agent = agent_name(agent)
        if not self._gate.keeps_records(agent):
            raise NotAllowed(
                f"Nothing was written down: {agent} may only read (autonomy 0 in its identity.md)."
            )
        return agent

    def _prepared(self, message: Message, now: datetime | None) -> Timed:
        """Return a message without secrets, as a file can hold it, and its moment."""
        try:
            moment = now or (parse_time(message.time) if message.time else self._clock())
        except (ValueError, OverflowError) as error:
            raise BadArgument("time", message.time, files.ISO_TIME) from error
        kept = replace(
            message,
            text=self.fitting(mask_secrets(message.text).text),
            time=message.time or iso(moment),
            id=files.keepable_id(message.id),
            speaker=mask(message.speaker).text,
        )
        return kept, moment

    def _spared(self, agent: str, message: Message, highest: int) -> Message:
        """Return a message as it may be written: what was erased stays erased.

        The session that held it may have been deleted by hand: any of its day may be that.
        """
        days = (f"{message.time[:10]}_{number:03d}" for number in range(1, highest + 1))
        refs = (MessageRef(agent, day, "", message.id) for day in days)
        erased = message.id and any(map(self._listeners.erased, refs))
        return replace(message, text="", erased=True) if erased else message

    def _talk(self, agent: str, name: str, caller: Caller | None, moment: datetime) -> Talk:
        """Return a conversation as its files stand; a torn end of the open one is mended."""
        talk = Talk(agent, name, caller or Caller("agent", agent))
        talk.session = self._running(agent, name, moment)
        if talk.session:
            session = talk.session.id
            file = self.file(agent, session)[0]
            if not file.text.endswith(("\n\n", "\n\r\n")):
                self._gate.save(file.path, _mended, talk.caller, "a torn session is mended")
                talk.session = self._open(agent, session, moment)
        heads = [head for head in self.heads(agent) if head.is_of(name)]
        for head in heads if is_hosts(name) else heads[-2:]:
            self._learn(talk, head)
        return talk

    def _running(self, agent: str, name: str, moment: datetime) -> OpenSession | None:
        """Return a conversation's open session; of several the newest."""
        heads = (one for one in reversed(self.heads(agent)) if one.is_open)
        found = (self._open(agent, one.id, moment) for one in heads if one.is_of(name))
        return next(filter(None, found), None)

    def _learn(self, talk: Talk, head: Head) -> None:
        """Have a talk know a session's messages."""
        with suppress(NotFound, UnreadableNote):
            for placed in self.read(talk.agent, head.id).messages:
                talk.learn(head.id, placed.message)

    def _open(self, agent: str, session: str, moment: datetime) -> OpenSession | None:
        """Return a session if it can grow."""
        try:
            file, transcript = self.file(agent, session)
        except (NotFound, UnreadableNote) as error:
            log.warning("a session was passed over: %s", error)
            return None
        if not runs(transcript.meta):
            return None
        messages = transcript.messages
        return OpenSession(
            id=session,
            path=file.path,
            last=last_time(transcript, max(self._clock(), moment)),
            size=file.stat.size,
            newline=file.newline,
            next=int(written.next_block(messages)[1:]),
            segment=transcript.segment,
            fresh=not messages or messages[-1].segment != transcript.segment,
        )

    def _leave(self, talk: Talk, moment: datetime) -> None:
        """Leave the open session where a message of this moment does not belong to it."""
        session = talk.session
        if session is None:
            return
        silent = not talk.source and moment - session.last >= self._idle
        if silent or session.size > self._readable // FULL:
            talk.over += [] if talk.source else [session]
            talk.session = None

    def _log(
        self, talk: Talk, said: Sequence[Timed], segment: datetime | None
    ) -> tuple[tuple[MessageRef, ...], list[MessageRef]]:
        """Write down what is not known yet; return where each message stands, and each new one.

        A segment begins first, at its time, where all of them are new.
        """
        fresh: list[Timed] = []
        places: list[int | tuple[str, str]] = []
        """The number of each message among the fresh ones, else by what it is known."""
        for given, moment in said:
            message, known = talk.place(given)
            places.append(known or len(fresh))
            if not known:
                fresh.append((message, moment))
                talk.learn("", message)
        session = talk.session
        if segment and session and not session.fresh and len(fresh) == len(said):
            session.begin_segment(segment)
        new = self._write(talk, fresh)
        refs = (new[one] if isinstance(one, int) else talk.known[one] for one in places)
        return tuple(refs), new

    def _write(self, talk: Talk, fresh: Sequence[Timed]) -> list[MessageRef]:
        """Write messages down, in a session of their own wherever there was a silence."""
        refs: list[MessageRef] = []
        for message, moment in fresh:
            before = talk.session
            self._leave(talk, moment)
            if talk.session is None:
                self._flush(talk, before)
                talk.session = self._begin(talk.agent, moment)
            refs.append(talk.learn(talk.session.id, talk.session.add(message, moment)))
        self._flush(talk, talk.session)
        return refs

    def _begin(self, agent: str, moment: datetime) -> OpenSession:
        """Return a new session; its number was never used before."""
        day = moment.date().isoformat()
        session = f"{day}_{files.numbers_used(self._paths, agent)[day] + 1:03d}"
        return OpenSession(session, self._paths.session(agent, session), moment, begun=moment)

    def _flush(self, talk: Talk, session: OpenSession | None) -> None:
        """Write down what a session has not written yet."""
        if session is None or not session.text:
            return
        if session.begun is None:
            self._gate.append(session.path, session.text)
        else:
            meta = SessionMeta(
                session.id,
                talk.agent,
                iso(session.begun),
                ended=iso(session.last) if talk.source else "",
                state="ended" if talk.source else "open",
                topics=(talk.topic,) if talk.topic else (),
                source=talk.source,
                conversation=talk.name,
                device=self._listeners.device,
                client=mask(talk.caller.client).text if talk.caller.kind == "agent" else "",
                project=mask(talk.caller.project).text,
            )
            whole = render_header(meta) + session.text

            def new(file: FileText | None) -> str:
                if file:
                    raise WriteConflict(f"{file.path} came up a moment ago.", hint="Try again.")
                return whole

            reason = "an import" if talk.source else "a session begins"
            self._gate.save(session.path, new, talk.caller, reason)
        session.begun, session.text = None, ""

    # --- without the lock: what takes long -----------------------------------------------

    def _end_over(self, agent: str, session: OpenSession) -> bool:
        """End a session; tell whether it is ended. Whatever fails is logged."""
        try:
            return self._end(agent, session.path, session.last, Caller("agent", agent))
        except Exception as error:  # what is said next counts more than what was
            known = isinstance(error, VaultMindError | OSError)
            log.warning("%s was left open: %s", session.path, error, exc_info=not known)
            return False

    def _end(self, agent: str, path: str, when: datetime, caller: Caller) -> bool:
        """Write an agent's active context and mark a session as ended; tell whether it is.

        A kill between the two leaves a session that is open and is ended again by the same rule.
        """
        with self._locks[agent]:
            leaves = self._active.read(agent, path, self._clock())
            if leaves.body:
                change, active = self._active.change(leaves, self._clock()), self._paths
                try:
                    self._gate.save(
                        active.active_context(agent), change, caller,
                        "what a session leaves for the next",
                    )  # fmt: skip
                except (PathRefused, UnreadableNote) as error:  # it will be the same next time
                    log.warning("the active context was not written: %s", error)
            done = ending(leaves, when, self._listeners.device)
            self._gate.save(path, done, caller, "a session ends")
            ended = not runs(parse_meta(self._reader.read(path).text))
        if ended:
            self._listeners.ended(agent, files.session_of(path))
        return ended


def _mended(file: FileText | None) -> str:
    """Return a session's text without what a crash left half-written at its end."""
    if file is None:
        raise NotFound("The open session was deleted a moment ago.", hint="Log it again.")
    before, blank, last = file.text.rpartition(file.newline * 2)
    if blank and _TORN.match(last):
        return before + blank
    return file.text.rstrip("\r\n") + file.newline * 2
