"""Conversations written down, a session a file: it begins with a message, grows, and ends.

No timer runs: whether a session is over is seen when the next message comes, or when somebody
asks for what the last one left. Messages are appended to the file as they come, so a crash loses
at most those in flight. An agent has one open session for each conversation that its host or its
pipe names, and one for all that is said in none. Imported conversations go the same way. Nothing of
a conversation is kept between two calls but what was read of its files.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

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
from vaultmind.session.active import ActiveContextFile, Recent, ending, last_time, recent_of
from vaultmind.session.files import Head, Hides, iso, parse_time
from vaultmind.session.talk import OpenSession, Talk
from vaultmind.types import PERSON, Caller, Message, MessageRef
from vaultmind.vault import transcript as written
from vaultmind.vault.edits import remove_property, set_property
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.nesting import ERASED_SOURCE, safe
from vaultmind.vault.paths import agent_name
from vaultmind.vault.session_meta import SessionMeta, is_hosts, parse_meta, render_header, runs
from vaultmind.vault.transcript import Transcript

FREE_SHARE, FREE_BYTES = 0.02, 3000
"""Share of a session's size that is kept free for what is added later; bytes for front matter."""
NEW_SESSION_TRIES = 20
RECENT, RECENT_DAYS = 4, timedelta(days=7)
"""Other conversations that the start of one is told of, and how old they may be."""
PARSED = 32
"""Sessions that are kept as they were read."""
log = logging.getLogger(__name__)
Timed = tuple[Message, datetime]
Read = tuple[FileText, Transcript]


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


class SessionLog:
    """Writes conversations down. One per vault; safe to use from threads."""

    def __init__(
        self,
        gate: Gate,
        reader: VaultReader,
        clock: Clock,
        idle_minutes: float,
        listeners: Listeners | None = None,
    ) -> None:
        self._gate, self._reader, self._paths, self._clock = gate, reader, reader.paths, clock
        self._idle = timedelta(minutes=idle_minutes)
        self._listeners = listeners or Listeners()
        self._active = ActiveContextFile(reader, self._listeners.hides)
        self._shelf = files.Shelf(reader)
        self.limit = int((reader.max_bytes or files.DEFAULT_SESSION_BYTES) * (1 - FREE_SHARE))
        """Bytes of a session's file."""
        self._parsed: dict[str, Read] = {}
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
        self._over: defaultdict[str, dict[str, datetime]] = defaultdict(dict)
        """By agent and path: sessions to be ended once the agent's lock is free, and when."""

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
        refs: tuple[MessageRef, ...] = ()
        try:
            with self._locks[agent]:
                moment = said[0][1] if said else now or self._clock()
                talk = self._mended(self._find(agent, conversation, caller, moment), messages)
                if said:
                    refs, new = self._log(talk, said, new_segment=new_segment)
                    session, last = talk.session, refs[-1].session
                else:
                    session, new = self._current(talk, moment), 0
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
            talk = Talk(agent, "", PERSON, source, topic)
            talk = self._mended(self._find_imported(talk, messages), messages)
            highest = files.numbers_used(self._paths, agent)
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
        self, agent: str, *, session: str = "", conversation: str = "", caller: Caller | None = None
    ) -> str:
        """End a session: the one named, else the conversation's open one; return its id.

        Empty where none is open. What it was about is written for the next one first. Raises
        NotFound for a session that is not there, and what a write raises.
        """
        agent, moment = self._writable(agent), self._clock()
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
                for head in heads:
                    current = self._open(name, head.id, moment)
                    if current and abs(moment - current.last) >= self._idle:
                        self._over[name][current.path] = current.last
            ended += self._end_over(name)
        return tuple(ended)

    # --- what there is -------------------------------------------------------------------

    def sessions(self, agent: str) -> tuple[str, ...]:
        """Return the ids of an agent's sessions, oldest first."""
        return files.session_ids(self._paths, agent_name(agent))

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
        since = (self._clock() - RECENT_DAYS).date().isoformat()
        found: list[Recent] = []
        for head in reversed(self.heads(agent)):
            if head.id[:10] < since or len(found) == RECENT:
                break
            if head.said and head.id != session and not head.meta.source:
                one = recent_of(self._reader, agent_name(agent), head.id, self._listeners.hides)
                found += [one] if one else []
        return tuple(found)

    def open_session(self, agent: str, conversation: str = "") -> str:
        """Return the id of a conversation's open session; empty for none, or one gone silent."""
        agent, moment = agent_name(agent), self._clock()
        with self._locks[agent]:
            current = self._find(agent, conversation, None, moment).session
        return current.id if current and moment - current.last < self._idle else ""

    def read(self, agent: str, session: str) -> Transcript:
        """Return a session. Raises NotFound, UnreadableNote."""
        return self._read(self._paths.session(agent_name(agent), session))[1]

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
            text=mask_secrets(message.text).text,
            time=message.time or iso(moment),
            id=files.keepable_id(message.id),
            speaker=mask(message.speaker).text,
        )
        return kept, moment

    def _read(self, path: str) -> Read:
        """Return a session's file and what it says. Raises NotFound, UnreadableNote."""
        known = self._parsed.get(path)
        if known and known[0].stat == self._reader.stat(path):
            return known
        file = self._reader.read(path)
        if len(self._parsed) >= PARSED:
            self._parsed.clear()
        found = self._parsed[path] = file, written.parse_session(file.text)
        return found

    def _find(self, agent: str, name: str, caller: Caller | None, moment: datetime) -> Talk:
        """Return a conversation as its files stand; of several open sessions the newest."""
        talk = Talk(agent, " ".join(name.split()), caller or Caller("agent", agent))
        heads = [head for head in self._shelf.heads(agent) if head.is_of(talk.name)]
        ended = [head for head in heads if not head.is_open]
        for head in ended if is_hosts(talk.name) else ended[-1:]:
            self._learn(talk, head)
        for head in heads:
            if head.is_open and self._paths.session(agent, head.id) not in self._over[agent]:
                talk.session = self._open(agent, head.id, moment) or talk.session
                self._learn(talk, head, torn=True)
        return talk

    def _find_imported(self, talk: Talk, messages: Sequence[Message]) -> Talk:
        """Find the sessions that a conversation was imported as before.

        The source's name tells, unless the same ids stand there with other times and words: another
        conversation that is called the same. Where the name was erased, an id must be common.
        """
        for head in self._shelf.heads(talk.agent):
            if head.meta.source not in (talk.source, ERASED_SOURCE):
                continue
            there = {one.id: one for one in self._messages(talk.agent, head)}
            common = [(there[one.id], one) for one in messages if one.id in there]
            same = any(old.text == safe(new.text) or old.time == new.time for old, new in common)
            if same or not (common or head.meta.source == ERASED_SOURCE):
                moment = parse_time(messages[0].time)
                talk.session = self._open(talk.agent, head.id, moment, imported=True)
                self._learn(talk, head, torn=True)
        return talk

    def _learn(self, talk: Talk, head: Head, *, torn: bool = False) -> None:
        """Have a talk know a session's messages; one that is `torn` off is written again."""
        for one in self._messages(talk.agent, head):
            if one.block or not torn:
                talk.learn(head.id, one)

    def _messages(self, agent: str, head: Head) -> Iterator[Message]:
        with suppress(NotFound, UnreadableNote):
            yield from (placed.message for placed in self.read(agent, head.id).messages)

    def _spared(self, talk: Talk, message: Message, highest: int) -> Message:
        """Return a message as it may be written: what was erased stays erased.

        The session that held it may have been deleted by hand: any of its day may be that.
        """
        days = (f"{message.time[:10]}_{number:03d}" for number in range(1, highest + 1))
        refs = (MessageRef(talk.agent, day, "", message.id) for day in days)
        erased = message.id and any(map(self._listeners.erased, refs))
        return replace(message, text="", erased=True) if erased else message

    def _open(
        self, agent: str, session: str, moment: datetime, *, imported: bool = False
    ) -> OpenSession | None:
        """Return a session if it can grow."""
        try:
            file, transcript = self._read(self._paths.session(agent, session))
        except (NotFound, UnreadableNote) as error:
            log.warning("a session was passed over: %s", error)
            return None
        if not runs(transcript.meta) and not imported:
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
            whole=not written.completion(file.text, transcript, file.newline),
        )

    def _log(
        self, talk: Talk, said: Sequence[Timed], *, new_segment: bool
    ) -> tuple[tuple[MessageRef, ...], int]:
        """Write down what is not known yet; return where each message stands, and how many are new.

        A segment begins first where one is asked for and all of them are new.
        """
        fresh: list[Timed] = []
        places: list[int | str] = []
        """The number of each message among the fresh ones, else the id by which it is known."""
        for given, moment in said:
            message, is_known = talk.place(given)
            places.append(message.id if is_known else len(fresh))
            if not is_known:
                fresh.append((message, moment))
                ref = MessageRef(talk.agent, "", "", message.id)
                talk.known.update({message.id: (ref, message.text)} if message.id else {})
        new = self._write(talk, fresh, begins=new_segment and len(fresh) == len(said))
        refs = (new[one] if isinstance(one, int) else talk.known[one][0] for one in places)
        return tuple(refs), len(new)

    def _write(self, talk: Talk, fresh: Sequence[Timed], *, begins: bool) -> list[MessageRef]:
        """Write messages down, in a session of their own wherever there was a silence."""
        refs: list[MessageRef] = []
        while rest := fresh[len(refs) :]:
            first = last = before = rest[0][1]
            session = self._current(talk, first)
            here = session or OpenSession("", "", first, FREE_BYTES)
            text = self._heading(here, first) if session and begins and not session.fresh else ""
            begins, taken, room = False, list[Message](), self.limit - here.size
            before = here.last
            for message, moment in rest:
                placed = replace(message, block=f"m{here.next + len(taken)}")
                placed = placed if session or taken else files.cut(placed, room)
                is_other_day = (session or taken) and moment.date() != before.date()
                one = f"### {moment.date()}{here.newline * 2}" if is_other_day else ""
                one += written.render_message(placed, here.newline)
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
            else:
                session = talk.session = self._begin(talk, text, first, last)
            session.next += len(taken)
            session.fresh, session.last = False, max(last, session.last)
            refs += [talk.learn(session.id, placed) for placed in taken]
        return refs

    def _heading(self, session: OpenSession, moment: datetime) -> str:
        session.segment, session.fresh = session.segment + 1, True
        return written.render_segment(session.segment, iso(moment), session.newline)

    def _append(
        self, talk: Talk, session: OpenSession, text: str, last: datetime | None = None
    ) -> None:
        """Append to a session; one of an import says that what is new was not looked at yet."""

        def grown(file: FileText | None) -> str:
            if file is None:
                raise NotFound("An imported session was deleted a moment ago.", hint="Try again.")
            whole = file.text + text
            with suppress(BadArgument):  # a person's front matter, broken
                whole = remove_property(whole, "consolidated")
                whole = set_property(whole, "ended", iso(last or session.last))
            return whole

        session.size += len(text.encode())
        if talk.source:
            self._gate.save(session.path, grown, PERSON, "an import grew")
        else:
            self._gate.append(session.path, text)

    def _begin(self, talk: Talk, text: str, first: datetime, last: datetime) -> OpenSession:
        """Write a new session with its first messages; its number was never used before."""
        agent, caller, day = talk.agent, talk.caller, first.date().isoformat()
        used = files.numbers_used(self._paths, agent)[day]
        reason = "an import" if talk.source else "a session begins"
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
                client=mask(caller.client).text if caller.kind == "agent" else "",
                project=mask(caller.project).text,
            )
            path, is_free, whole = self._paths.session(agent, session), False, render_header(meta)

            def change(file: FileText | None, whole: str = whole + text) -> str | None:
                nonlocal is_free
                is_free = file is None
                return whole if is_free else None

            self._gate.save(path, change, caller, reason)
            if is_free:
                return OpenSession(session, path, last, len((whole + text).encode()))
        raise WriteConflict(f"No free session id for {agent!r} on {day}.")

    def _mended(self, talk: Talk, messages: Sequence[Message]) -> Talk:
        """Complete the end of the open session's file, where it needs that."""
        session = talk.session
        if session and not session.whole:
            change = files.mending(messages)
            self._gate.save(session.path, change, talk.caller, "a torn session is mended")
            imported = bool(talk.source)
            talk.session = self._open(talk.agent, session.id, session.last, imported=imported)
            for one in self.read(talk.agent, session.id).messages:
                talk.learn(session.id, one.message)
        return talk

    def _current(self, talk: Talk, moment: datetime) -> OpenSession | None:
        """Return the session that a message of this moment belongs to, if there is one."""
        session = talk.session
        if session and not talk.source and moment - session.last >= self._idle:
            self._put_aside(talk, session)
        return talk.session

    def _put_aside(self, talk: Talk, session: OpenSession) -> None:
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
            if self._reader.stat(path) != leaves.stat:
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
