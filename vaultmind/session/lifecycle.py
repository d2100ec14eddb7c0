"""The life of a session: it begins with a message, grows, and ends after a silence.

No timer runs: whether a session is over is seen when the next message comes. A message is
appended to the file as it comes, so a crash loses at most the one in flight.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from vaultmind.errors import BadArgument, NotFound, UnreadableNote, WriteConflict
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.session.store import (
    Creation,
    Records,
    iso,
    next_id,
    parse_time,
    read_session,
    session_ids,
)
from vaultmind.types import Caller, Message, MessageRef
from vaultmind.vault.edits import set_property
from vaultmind.vault.files import Change, FileStat, FileText, VaultReader
from vaultmind.vault.paths import VaultPaths, agent_name
from vaultmind.vault.transcript import (
    PlacedMessage,
    SessionMeta,
    Transcript,
    completion,
    next_block,
    parse_session,
    render_header,
    render_message,
)

NEW_SESSION_TRIES = 20
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Open:
    """An open session, as far as it was read; valid while the file's stamp is `stat`."""

    id: str
    path: str
    blocks: dict[str, str]
    """Block id by message id."""
    next: int
    """Number of the next block id."""
    last: datetime
    stat: FileStat | None
    newline: str
    whole: bool
    """Whether the file ends as we end it, so that appending is enough."""


@dataclass(frozen=True, slots=True)
class Logged:
    """Where messages were written down."""

    agent: str
    session: str
    """The session that the last of them stands in; empty where there is none."""
    segment: int = 1
    refs: tuple[MessageRef, ...] = ()
    """Where each message stands, new or known."""
    new: int = 0
    """How many were not there before."""


class SessionLog:
    """Writes conversations down, a session a file. One per vault; safe to use from threads."""

    def __init__(
        self,
        gate: Records,
        reader: VaultReader,
        paths: VaultPaths,
        clock: Clock,
        idle_minutes: float,
    ) -> None:
        self._gate = gate
        self._reader = reader
        self._paths = paths
        self._clock = clock
        self._idle = timedelta(minutes=idle_minutes)
        self._opened: dict[str, _Open] = {}
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)

    def log(
        self,
        agent: str,
        message: Message,
        *,
        caller: Caller | None = None,
        now: datetime | None = None,
        conversation: str = "",
    ) -> MessageRef:
        """Append a message to the agent's session, a new one after a silence.

        A message whose id stands in the session is not written again. Without a time it is
        of `now`; secrets are masked. Returns where it stands.
        """
        agent = agent_name(agent)
        caller = caller or Caller("agent", agent)
        moment = now or (parse_time(message.time) if message.time else self._clock())
        message = replace(message, time=message.time or iso(moment), text=mask(message.text).text)
        with self._locks[agent]:
            opened = self._current(agent, moment, caller)
            if opened is None:
                return self._begin(agent, message, moment, caller)
            if opened.whole and message.id and message.id in opened.blocks:
                return MessageRef(agent, opened.id, opened.blocks[message.id], message.id)
            return self._continue(agent, opened, message, moment, caller)

    def log_many(
        self,
        agent: str,
        messages: Sequence[Message],
        *,
        caller: Caller | None = None,
        now: datetime | None = None,
        conversation: str = "",
        new_segment: bool = False,
    ) -> Logged:
        """Append messages to the agent's session of a conversation, as `log` does with one.

        With `new_segment` a segment begins before them.
        """
        raise NotImplementedError

    def new_segment(
        self,
        agent: str,
        *,
        caller: Caller | None = None,
        now: datetime | None = None,
        conversation: str = "",
    ) -> Logged:
        """Begin a segment in the open session; twice in a row makes one."""
        raise NotImplementedError

    def end_idle(self, agent: str = "", *, now: datetime | None = None) -> tuple[str, ...]:
        """End the sessions that have been silent for too long; return their paths.

        Of all agents where none is named. What cannot be ended is logged and left open.
        """
        raise NotImplementedError

    def latest(self, agent: str) -> str:
        """Return the id of the agent's newest session, imported ones too; empty without any."""
        raise NotImplementedError

    def open_session(
        self, agent: str, conversation: str = "", *, now: datetime | None = None
    ) -> str:
        """Return the id of a conversation's open session; empty where there is none."""
        raise NotImplementedError

    def end(
        self,
        agent: str,
        *,
        session: str = "",
        conversation: str = "",
        caller: Caller | None = None,
        now: datetime | None = None,
    ) -> str:
        """End a session: the one named, else the conversation's open one; return its id."""
        agent = agent_name(agent)
        caller = caller or Caller("agent", agent)
        with self._locks[agent]:
            opened = self._find(agent)
            if opened is None:
                return ""
            self._end(opened, now or self._clock(), caller)
            return opened.id

    def sessions(self, agent: str) -> tuple[str, ...]:
        """Return the ids of an agent's sessions, oldest first."""
        return session_ids(self._paths, agent_name(agent))

    def read(self, agent: str, session: str) -> Transcript:
        """Return a session. Raises NotFound, UnreadableNote."""
        return read_session(self._reader, self._paths, agent_name(agent), session)[1]

    def _current(self, agent: str, moment: datetime, caller: Caller) -> _Open | None:
        """Return the session that a message of this moment belongs to, if there is one."""
        opened = self._opened.get(agent)
        if opened is None or opened.stat != self._stamp(opened.path):
            opened = self._find(agent)
        if opened is not None and moment - opened.last >= self._idle:
            self._end(opened, opened.last, caller)
            opened = None
        if opened is None:
            self._opened.pop(agent, None)
        else:
            self._opened[agent] = opened
        return opened

    def _find(self, agent: str) -> _Open | None:
        """Return the agent's newest session of our own, if it is open."""
        for session in reversed(self.sessions(agent)):
            try:
                file, transcript = read_session(self._reader, self._paths, agent, session)
            except (NotFound, UnreadableNote) as error:
                log.warning("a session was passed over: %s", error)
                continue
            if transcript.meta.source:
                continue
            return _opened(session, file, transcript) if _is_open(transcript) else None
        return None

    def _stamp(self, path: str) -> FileStat | None:
        try:
            return self._reader.stat(path)
        except UnreadableNote:
            return None

    def _begin(self, agent: str, message: Message, moment: datetime, caller: Caller) -> MessageRef:
        message = replace(message, block="m1")
        known = set(self.sessions(agent))
        for _ in range(NEW_SESSION_TRIES):
            session = next_id(known, moment.date())
            known.add(session)
            header = render_header(SessionMeta(session, agent, started=iso(moment)))
            creation = Creation(header + render_message(message))
            path = self._paths.session(agent, session)
            self._gate.save(path, creation.change, caller, "a session begins")
            if creation.done:
                return MessageRef(agent, session, message.block, message.id)
        raise WriteConflict(f"No free session id for {agent!r} on {moment.date()}.")

    def _continue(
        self, agent: str, opened: _Open, message: Message, moment: datetime, caller: Caller
    ) -> MessageRef:
        """Append to the open session; by compare-and-swap where its end has to be mended."""
        if not opened.whole:
            self._opened.pop(agent, None)
            mending = _Mending(message)
            self._gate.save(opened.path, mending.change, caller, "a torn session is mended")
            return MessageRef(agent, opened.id, mending.block, message.id)
        message = replace(message, block=f"m{opened.next}")
        rendered = render_message(message, opened.newline)
        self._gate.append(opened.path, rendered)
        if message.id:
            opened.blocks[message.id] = message.block
        opened.next += 1
        opened.last = moment
        self._follow(agent, opened, len(rendered.encode()))
        return MessageRef(agent, opened.id, message.block, message.id)

    def _follow(self, agent: str, opened: _Open, grown: int) -> None:
        """Trust what is known of a file only if it grew by just what was appended."""
        before, opened.stat = opened.stat, self._stamp(opened.path)
        if not before or not opened.stat or opened.stat.size != before.size + grown:
            self._opened.pop(agent, None)

    def _end(self, opened: _Open, when: datetime, caller: Caller) -> None:
        for agent, known in list(self._opened.items()):
            if known.path == opened.path:
                del self._opened[agent]
        self._gate.save(opened.path, _ending(when), caller, "a session ends")


class _Mending:
    """Appends a message to a session whose end a crash tore or a person left otherwise."""

    def __init__(self, message: Message) -> None:
        self._message = message
        self.block = ""

    def change(self, file: FileText | None) -> str | None:
        """Return the file's text, its last callout completed, with the message."""
        if file is None:
            raise NotFound("The open session was deleted a moment ago.", hint="Log it again.")
        transcript = parse_session(file.text)
        torn = _torn(transcript, self._message)
        if torn is not None:
            head = file.text[: torn.start]
        else:
            head = file.text + completion(file.text, transcript, file.newline)
        transcript = parse_session(head)
        known = _placed(transcript, self._message.id)
        if known is not None:
            self.block = known.message.block
            return head
        self.block = next_block(transcript.messages)
        return head + render_message(replace(self._message, block=self.block), file.newline)


def _opened(session: str, file: FileText, transcript: Transcript) -> _Open:
    messages = transcript.messages
    last = messages[-1].message.time if messages else transcript.meta.started
    return _Open(
        id=session,
        path=file.path,
        blocks={m.message.id: m.message.block for m in messages if m.message.id},
        next=int(next_block(messages)[1:]),
        last=_time_or_long_ago(last),
        stat=file.stat,
        newline=file.newline,
        whole=not completion(file.text, transcript, file.newline),
    )


def _time_or_long_ago(value: str) -> datetime:
    """Return a time; for one that a person made unreadable the session counts as over."""
    try:
        return parse_time(value)
    except ValueError:
        return parse_time("1970-01-02T00:00:00+00:00")


def _is_open(transcript: Transcript) -> bool:
    return transcript.meta.state == "open" and not transcript.meta.ended


def _placed(transcript: Transcript, message_id: str) -> PlacedMessage | None:
    if not message_id:
        return None
    return next((m for m in transcript.messages if m.message.id == message_id), None)


def _torn(transcript: Transcript, message: Message) -> PlacedMessage | None:
    """Return the last message where it is only the beginning of the one that is logged now."""
    known = _placed(transcript, message.id)
    if known is None or known is not transcript.messages[-1] or known.message.block:
        return None
    before = known.message.text
    return known if before != message.text and message.text.startswith(before) else None


def _ending(when: datetime) -> Change:
    """Return the change that marks a session as ended, in its front matter alone."""

    def change(file: FileText | None) -> str | None:
        if file is None or not _is_open(parse_session(file.text)):
            return None
        try:
            return set_property(set_property(file.text, "ended", iso(when)), "state", "ended")
        except BadArgument as error:
            log.warning("%s was left open: %s", file.path, error)
            return None

    return change
