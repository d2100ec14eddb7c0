"""Conversations written down, a session a file: it begins with a message, grows, and ends.

No timer runs: whether a session is over is seen when the next message comes, or when somebody
asks for what the last one left. Messages are appended to the file as they come, so a crash loses
at most those in flight. An agent has one open session for each conversation that its host or its
pipe names, and one for all that is said in none. Imported conversations go the same way.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

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
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.session.active import ActiveContextFile, Recent, ending, last_time, recent_of
from vaultmind.session.files import (
    DEFAULT_SESSION_BYTES,
    ISO_TIME,
    Head,
    Hides,
    Records,
    Shelf,
    cut,
    iso,
    keepable_id,
    mending,
    numbers_used,
    parse_time,
    read_session,
    session_ids,
    session_of,
)
from vaultmind.types import PERSON, Caller, Message, MessageRef
from vaultmind.vault.edits import remove_property, set_property
from vaultmind.vault.files import FileStat, FileText, VaultReader
from vaultmind.vault.nesting import ERASED_SOURCE, safe
from vaultmind.vault.paths import agent_name
from vaultmind.vault.session_meta import is_hosts, parse_meta, runs
from vaultmind.vault.transcript import (
    SessionMeta,
    Transcript,
    completion,
    next_block,
    render_header,
    render_message,
    render_segment,
)

FREE_SHARE, FREE_BYTES = 0.02, 3000
"""Share of a session's size that is kept free for what is added later; bytes for front matter."""
NEW_SESSION_TRIES = 20
RECENT, RECENT_DAYS = 4, timedelta(days=7)
"""Other conversations that the start of one is told of, and how old they may be."""
log = logging.getLogger(__name__)


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
    """An open session as far as it was read; valid while the file's stamp is `stat`."""

    id: str
    path: str
    next: int
    """Number of the next block id."""
    segment: int
    fresh: bool
    """Whether nothing was said in the segment yet."""
    last: datetime
    stat: FileStat | None
    newline: Literal["\n", "\r\n"]
    whole: bool
    """Whether the file ends as we end it, so that appending is enough."""


@dataclass(slots=True)
class RunningConversation:
    """An agent's conversation: its open session, and the messages that stand in all of them.

    A host may hand over its transcript once more, from the start; its ids are its own and known
    whatever the words, and so are those of one import. Where a pipe names the conversation an id is
    only as good as its words: the next chat may count from 1 again.
    """

    agent: str
    name: str
    caller: Caller
    session: OpenSession | None = None
    known: dict[str, tuple[MessageRef, str]] = field(default_factory=dict)
    """Where the message of an id stands, with its words where only they tell it from another."""
    source: str = ""
    """What it is called in the file that it is imported from."""
    topic: str = ""

    def learn(self, session: str, message: Message) -> MessageRef:
        """Keep where a message stands."""
        ref = MessageRef(self.agent, session, message.block, message.id)
        if message.id:
            by_id = message.erased or ((is_hosts(self.name) or self.source) and not message.asked)
            known = self.known[message.id] = (ref, "" if by_id else message.text)
            given, _, number = message.id.rpartition(":")
            if known[1] and given and number.isdigit():  # it was given as that
                self.known.setdefault(given, known)
        return ref

    def place(self, message: Message) -> tuple[Message, bool]:
        """Return a message, and whether it is known; another of the same id gets its own: `1:2`."""
        number, given = 1, message.id
        while message.id:
            ref, words = self.known.get(message.id, (None, ""))
            if ref and message.asked and ref.session != (self.session and self.session.id):
                ref = None
            if ref is None:
                return message, False
            if not words or words.split() == safe(message.text).split():
                return message, True
            number += 1
            message = replace(message, id=f"{given}:{number}")
        return message, False


Timed = tuple[Message, datetime]


class SessionLog:
    """Writes conversations down. One per vault; safe to use from threads."""

    def __init__(
        self,
        gate: Records,
        reader: VaultReader,
        clock: Clock,
        idle_minutes: float,
        listeners: Listeners | None = None,
    ) -> None:
        self._gate, self._reader, self._paths, self._clock = gate, reader, reader.paths, clock
        self._idle = timedelta(minutes=idle_minutes)
        self._listeners = listeners = listeners or Listeners()
        self._active = ActiveContextFile(reader, listeners.hides)
        self._shelf = Shelf(reader)
        self.limit = int((reader.max_bytes or DEFAULT_SESSION_BYTES) * (1 - FREE_SHARE))
        """Bytes of a session's file."""
        self._conversations: dict[tuple[str, str], RunningConversation] = {}
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
        self._over: defaultdict[str, dict[str, datetime]] = defaultdict(dict)
        """By agent and path: sessions to be ended once the agent's lock is free, and when."""

    # --- what is said --------------------------------------------------------------------

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

        A message whose id is known is not written again. Without a time it is of `now`; secrets
        are masked. Returns where it stands. Raises NotAllowed for an agent that keeps no records,
        BadArgument for a time that is none.
        """
        many = self.log_many(agent, [message], caller=caller, now=now, conversation=conversation)
        return many.refs[0]

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

        With `new_segment` a segment begins before them; not where one of them is known, since
        then the call is repeated. Without messages it begins in the open session, if there is
        one; twice in a row makes one.
        """
        agent = self._writable(agent)
        said = [self._prepared(message, now) for message in messages]
        try:
            with self._locks[agent]:
                moment = said[0][1] if said else now or self._clock()
                talk = self._find(agent, conversation, caller, moment)
                self._mend(talk, messages)
                if said:
                    refs, new = self._log(talk, said, new_segment=new_segment)
                    session, last = talk.session, refs[-1].session
                else:
                    refs, new, session = (), 0, self._current(talk, moment)
                    if new_segment and session and not session.fresh:
                        self._append(talk, session, self._heading(session, moment))
                    last = session.id if session else ""
        finally:
            self._end_over(agent)
        for one in dict.fromkeys(ref.session for ref in refs):
            self._listeners.logged(agent, one, [message for message, _ in said])
        segment = session.segment if session and session.id == last else 1
        return Logged(agent, last, segment, refs, new)

    def take_in(
        self, agent: str, source: str, topic: str, messages: Sequence[Message]
    ) -> tuple[int, tuple[str, ...]]:
        """Write down a conversation that took place elsewhere; return how many messages are new,
        and in which sessions they are.

        It goes on in the ended session of the same source. What was erased of it stays erased.
        """
        agent = agent_name(agent)
        with self._locks[agent]:
            talk = RunningConversation(agent, "", PERSON, source=source, topic=topic)
            self._find_imported(talk, messages)
            self._mend(talk, messages)
            highest = numbers_used(self._paths, agent)
            said = [
                (self._spared(talk, one, highest[one.time[:10]]), parse_time(one.time))
                for one in messages
            ]
            refs, new = self._log(talk, said, new_segment=False)
        sessions = tuple(dict.fromkeys(ref.session for ref in refs)) if new else ()
        for session in sessions:
            self._listeners.imported(agent, session, messages)
        return new, sessions

    # --- how it ends ---------------------------------------------------------------------

    def end(
        self,
        agent: str,
        *,
        session: str = "",
        conversation: str = "",
        caller: Caller | None = None,
        now: datetime | None = None,
    ) -> str:
        """End a session: the one named, else the conversation's open one; return its id.

        Empty where none is open. What it was about is written for the next one first. Raises
        NotFound for a session that is not there, and what a write raises.
        """
        agent, moment = self._writable(agent), now or self._clock()
        with self._locks[agent]:
            if session:
                self.read(agent, session)
                current = self._open(agent, session, moment)
            else:
                current = self._find(agent, conversation, caller, moment).session
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
            heads = [head for head in self._shelf.heads(name) if head.is_open]
            if not heads or not self._gate.keeps_records(name):
                continue
            with self._locks[name]:
                kept = {one.session.id: one.session for one in self._conversations.values()
                        if one.agent == name and one.session}  # fmt: skip
                for head in heads:
                    current = kept.get(head.id)
                    if current is None or current.stat != head.stat:
                        current = self._open(name, head.id, moment)
                    if current and abs(moment - current.last) >= self._idle:
                        self._over[name][current.path] = current.last
            ended += self._end_over(name)
        return tuple(ended)

    # --- what there is -------------------------------------------------------------------

    def sessions(self, agent: str) -> tuple[str, ...]:
        """Return the ids of an agent's sessions, oldest first."""
        return session_ids(self._paths, agent_name(agent))

    def heads(self, agent: str) -> tuple[Head, ...]:
        """Return what the front matters of an agent's sessions say, oldest first."""
        return self._shelf.heads(agent_name(agent))

    def latest(self, agent: str) -> str:
        """Return the newest session in which something was said, imported ones too."""
        return self._shelf.latest(agent_name(agent))

    def recent(self, agent: str, session: str = "") -> tuple[Recent, ...]:
        """End what fell silent; return the newest other conversations of the last days.

        The one that the active context speaks of is among them.
        """
        self.end_idle(agent)
        agent, since = agent_name(agent), (self._clock() - RECENT_DAYS).date().isoformat()
        found: list[Recent] = []
        for head in reversed(self._shelf.heads(agent)):
            if head.id[:10] < since or len(found) == RECENT:
                break
            if head.said and head.id != session and not head.meta.source:
                one = recent_of(self._reader, agent, head.id, self._listeners.hides)
                found += [one] if one else []
        return tuple(found)

    def open_session(
        self, agent: str, conversation: str = "", *, now: datetime | None = None
    ) -> str:
        """Return the id of a conversation's open session; empty for none, or one gone silent."""
        agent, moment = agent_name(agent), now or self._clock()
        with self._locks[agent]:
            current = self._find(agent, conversation, None, moment).session
        return current.id if current and moment - current.last < self._idle else ""

    def read(self, agent: str, session: str) -> Transcript:
        """Return a session. Raises NotFound, UnreadableNote."""
        return read_session(self._reader, self._paths, agent_name(agent), session)[1]

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
            raise BadArgument("time", message.time, ISO_TIME) from error
        kept = replace(
            message,
            text=mask_secrets(message.text).text,
            time=message.time or iso(moment),
            id=keepable_id(message.id),
            speaker=mask(message.speaker).text,
        )
        return kept, moment

    def _find(
        self, agent: str, name: str, caller: Caller | None, moment: datetime
    ) -> RunningConversation:
        """Return a conversation as its files stand; of several open sessions the newest."""
        name = " ".join(name.split())
        talk = self._conversations.get((agent, name))
        if talk and talk.session and talk.session.stat == self._stat(talk.session.path):
            talk.caller = caller or talk.caller
            return talk
        talk = RunningConversation(agent, name, caller or Caller("agent", agent))
        heads = [head for head in self._shelf.heads(agent) if head.is_of(name)]
        for head in reversed(heads):
            over = self._paths.session(agent, head.id) in self._over[agent]
            if head.is_open and not over and not talk.session:
                talk.session = self._open(agent, head.id, moment, talk)
        ended = [head.id for head in heads if not head.is_open]
        for session in ended if is_hosts(name) else ended[-1:]:
            for one in self._messages(agent, session):
                if one.id not in talk.known:
                    talk.learn(session, one)
        self._conversations[agent, name] = talk
        return talk

    def _find_imported(self, talk: RunningConversation, messages: Sequence[Message]) -> None:
        """Find the sessions that a conversation was imported as before.

        The source's name tells, unless the same ids stand there with other times and words: another
        conversation that is called the same. Where the name was erased, an id must be common.
        """
        for head in self._shelf.heads(talk.agent):
            if head.meta.source not in (talk.source, ERASED_SOURCE):
                continue
            there = {one.id: one for one in self._messages(talk.agent, head.id)}
            common = [(there[one.id], one) for one in messages if one.id in there]
            same = any(old.text == safe(new.text) or old.time == new.time for old, new in common)
            if same or not (common or head.meta.source == ERASED_SOURCE):
                moment = parse_time(messages[0].time)
                talk.session = self._open(talk.agent, head.id, moment, talk)

    def _messages(self, agent: str, session: str) -> list[Message]:
        try:
            return [placed.message for placed in self.read(agent, session).messages]
        except (NotFound, UnreadableNote):
            return []

    def _spared(self, talk: RunningConversation, message: Message, highest: int) -> Message:
        """Return a message as it may be written: what was erased stays erased.

        The session that held it may have been deleted by hand: any of its day may be that.
        """
        days = (f"{message.time[:10]}_{number:03d}" for number in range(1, highest + 1))
        refs = (MessageRef(talk.agent, day, "", message.id) for day in days)
        erased = message.id and any(map(self._listeners.erased, refs))
        return replace(message, text="", erased=True) if erased else message

    def _open(
        self, agent: str, session: str, moment: datetime, talk: RunningConversation | None = None
    ) -> OpenSession | None:
        """Return a session if it can grow; its messages become known to `talk`."""
        try:
            file, transcript = read_session(self._reader, self._paths, agent, session)
        except (NotFound, UnreadableNote) as error:
            log.warning("a session was passed over: %s", error)
            return None
        if not runs(transcript.meta) and not (talk and talk.source):
            return None
        messages = transcript.messages
        for placed in messages if talk else ():
            if talk and placed.message.block:
                talk.learn(session, placed.message)
        return OpenSession(
            id=session,
            path=file.path,
            next=int(next_block(messages)[1:]),
            segment=transcript.segment,
            fresh=not messages or messages[-1].segment != transcript.segment,
            last=last_time(transcript, max(self._clock(), moment)),
            stat=file.stat,
            newline=file.newline,
            whole=not completion(file.text, transcript, file.newline),
        )

    def _stat(self, path: str) -> FileStat | None:
        try:
            return self._reader.stat(path)
        except VaultMindError:
            return None

    def _log(
        self, talk: RunningConversation, said: Sequence[Timed], *, new_segment: bool
    ) -> tuple[tuple[MessageRef, ...], int]:
        """Write down what is not known yet; return where each message stands, and how many are new.

        A segment begins first where one is asked for and all of them are new.
        """
        fresh: list[Timed] = []
        places: list[int | str] = []
        """The number of each message among the fresh ones, else the id by which it is known."""
        awaited: set[str] = set()
        for given, moment in said:
            message, is_known = talk.place(given)
            if is_known:
                places.append(message.id)
                continue
            places.append(len(fresh))
            fresh.append((message, moment))
            if message.id:
                awaited.add(message.id)
                talk.known[message.id] = MessageRef(talk.agent, "", "", message.id), message.text
        repeated = any(isinstance(one, str) and one not in awaited for one in places)
        try:
            written = self._write(talk, fresh, begins=new_segment and not repeated)
        except BaseException:
            self._conversations.pop((talk.agent, talk.name), None)  # what it awaits never came
            raise
        refs = (written[one] if isinstance(one, int) else talk.known[one][0] for one in places)
        return tuple(refs), len(written)

    def _write(
        self, talk: RunningConversation, fresh: Sequence[Timed], *, begins: bool
    ) -> list[MessageRef]:
        """Write messages down, in a session of their own wherever there was a silence."""
        written: list[MessageRef] = []
        while rest := fresh[len(written) :]:
            session, first = self._current(talk, rest[0][1]), rest[0][1]
            size = session.stat.size if session and session.stat else FREE_BYTES
            number, newline = (session.next, session.newline) if session else (1, "\n")
            heads = begins and session and not session.fresh
            text = self._heading(session, first) if heads and session else ""
            begins, taken = False, list[Message]()
            room, before, last = self.limit - size, first, session.last if session else first
            for message, moment in rest:
                placed = replace(message, block=f"m{number + len(taken)}")
                placed = placed if session or taken else cut(placed, room)
                one = _day(moment, session or taken, before if taken else last, newline)
                one += render_message(placed, newline)
                room -= len(one.encode("utf-8", "replace"))
                silence = taken and not talk.source and moment - before >= self._idle
                if silence or (room < 0 and (session or taken)):
                    break
                text, before, last = text + one, moment, max(last, moment)
                taken.append(placed)
            if session and not taken:  # there is no room in it
                self._put_aside(talk, session)
                continue
            if session:
                self._append(talk, session, text, last)
                session.next += len(taken)
                session.fresh, session.last = False, last
            else:
                self._begin(talk, text, first, last)
            where = talk.session.id if talk.session else ""
            written += [talk.learn(where, placed) for placed in taken]
        return written

    def _heading(self, session: OpenSession, moment: datetime) -> str:
        session.segment, session.fresh = session.segment + 1, True
        return render_segment(session.segment, iso(moment), session.newline)

    def _append(
        self,
        talk: RunningConversation,
        session: OpenSession,
        text: str,
        last: datetime | None = None,
    ) -> None:
        """Append; what is known of the file is trusted only if it grew by just that."""

        def grown(file: FileText | None) -> str:
            if file is None:
                raise NotFound("An imported session was deleted a moment ago.", hint="Try again.")
            whole = file.text + text
            try:  # what is new was not looked at yet
                whole = remove_property(whole, "consolidated")
                return set_property(whole, "ended", iso(last)) if last else whole
            except BadArgument:  # a person's front matter, broken
                return whole

        if talk.source:
            self._gate.save(session.path, grown, PERSON, "an import grew")
            session.stat = self._stat(session.path)
            return
        before = session.stat
        self._gate.append(session.path, text)
        after = self._stat(session.path)
        is_ours = before and after and after.size == before.size + len(text.encode())
        session.stat = after if is_ours else None

    def _begin(self, talk: RunningConversation, text: str, first: datetime, last: datetime) -> None:
        """Write a new session with its first messages; its number was never used before."""
        agent, caller, day = talk.agent, talk.caller, first.date().isoformat()
        used = numbers_used(self._paths, agent)[day]
        ours = caller.kind == "agent" and not talk.source
        for number in range(used + 1, used + NEW_SESSION_TRIES):
            session = f"{day}_{number:03d}"
            meta = SessionMeta(
                session,
                agent,
                iso(first),
                ended=iso(last) if talk.source else "",
                state="ended" if talk.source else "open",
                topics=(talk.topic,) if talk.topic else (),
                source=talk.source,
                conversation=talk.name,
                device=self._listeners.device,
                client=mask(caller.client).text if ours else "",
                project=mask(caller.project).text,
            )
            path, is_free = self._paths.session(agent, session), False

            def change(
                file: FileText | None, whole: str = render_header(meta) + text
            ) -> str | None:
                nonlocal is_free
                is_free = file is None
                return whole if is_free else None

            self._gate.save(
                path, change, caller, "an import" if talk.source else "a session begins"
            )
            if is_free:
                talk.session = self._open(agent, session, first, talk if talk.source else None)
                return
        raise WriteConflict(f"No free session id for {agent!r} on {day}.")

    def _mend(self, talk: RunningConversation, messages: Sequence[Message]) -> None:
        """Complete the end of the open session's file, where it needs that."""
        session = talk.session
        if session and not session.whole:
            change = mending(messages)
            self._gate.save(session.path, change, talk.caller, "a torn session is mended")
            talk.session = self._open(talk.agent, session.id, session.last, talk)

    def _current(self, talk: RunningConversation, moment: datetime) -> OpenSession | None:
        """Return the session that a message of this moment belongs to, if there is one."""
        session = talk.session
        if session and session.stat != self._stat(session.path):
            session = talk.session = self._open(talk.agent, session.id, moment, talk)
        if session and not talk.source and moment - session.last >= self._idle:
            self._put_aside(talk, session)
        return talk.session

    def _put_aside(self, talk: RunningConversation, session: OpenSession) -> None:
        """Have a session ended once the lock is free: until then nothing is added to it."""
        talk.session = None
        if not talk.source:
            self._over[talk.agent][session.path] = session.last

    # --- without the lock: what takes long -----------------------------------------------

    def _end_over(self, agent: str) -> list[str]:
        """End what was put aside; return what could be ended. Whatever fails is logged."""
        with self._locks[agent]:
            over = dict(self._over[agent])
        ended = []
        for path, last in over.items():
            try:
                if self._end(agent, path, last, Caller("agent", agent)):
                    ended.append(path)
            except Exception as error:  # what is said next counts more than what was
                known = isinstance(error, VaultMindError | OSError)
                log.warning("%s was left open: %s", path, error, exc_info=not known)
            finally:
                self._over[agent].pop(path, None)
        return ended

    def _end(self, agent: str, path: str, when: datetime, caller: Caller) -> bool:
        """Write an agent's active context and mark a session as ended; tell whether it is.

        A kill between the two leaves a session that is open and is ended again by the same rule.
        """
        leaves = self._active.read(agent, path, self._clock())
        with self._locks[agent]:
            for key, talk in list(self._conversations.items()):
                if talk.session and talk.session.path == path:
                    del self._conversations[key]
            if self._stat(path) != leaves.stat:
                leaves = self._active.read(agent, path, self._clock())
            change = self._active.change(leaves, self._clock())
            active = self._paths.active_context(agent)
            if leaves.body:
                try:
                    self._gate.save(active, change, caller, "what a session leaves for the next")
                except (PathRefused, UnreadableNote) as error:  # it will be the same next time
                    log.warning("the active context was not written: %s", error)
            done = ending(leaves, when, self._listeners.device)
            self._gate.save(path, done, caller, "a session ends")
            ended = not runs(parse_meta(self._reader.read(path).text))
        if ended:
            self._listeners.ended(agent, session_of(path))
        return ended


def _day(moment: datetime, later: object, before: datetime, newline: str) -> str:
    """Return a heading with the date where a message is of another day than what is before it."""
    day = moment.date()
    return f"### {day}{newline * 2}" if later and day != before.date() else ""
