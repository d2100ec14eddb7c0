"""The life of a session: it begins with a message, grows, and ends after a silence.

No timer runs: whether a session is over is seen when the next message comes, or when somebody
asks for what the last one left. Messages are appended to the file as they come, so a crash loses
at most those in flight. An agent has one open session for each talk that its host tells apart,
and one for all that is said in no such talk.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from vaultmind.errors import NotAllowed, NotFound, UnreadableNote, VaultMindError
from vaultmind.ports import Clock
from vaultmind.session.lifecycle.ending import Endings, Ends
from vaultmind.session.lifecycle.lately import Recent
from vaultmind.session.records.adding import (
    Adding,
    Logged,
    Said,
    Talk,
    Written,
    fresh,
    prepared,
    until_silence,
)
from vaultmind.session.records.earlier import Earlier
from vaultmind.session.records.opened import Known, Opened, is_open, opened
from vaultmind.session.records.shelf import Head, Shelf
from vaultmind.session.records.stamps import await_saved, stamp_of
from vaultmind.session.records.store import Records, read_session, session_ids
from vaultmind.types import Caller, Message, MessageRef
from vaultmind.vault.files import FileStat, VaultReader
from vaultmind.vault.paths import VaultPaths, agent_name
from vaultmind.vault.transcript import Transcript

NOTHING = Ends()
BESIDE = 3
"""Open sessions, the newest, that whoever begins another is told of."""
log = logging.getLogger(__name__)


class SessionLog:
    """Writes conversations down, a session a file. One per vault; safe to use from threads."""

    def __init__(
        self,
        gate: Records,
        reader: VaultReader,
        paths: VaultPaths,
        clock: Clock,
        idle_minutes: float,
        ends: Ends = NOTHING,
    ) -> None:
        self._gate = gate
        self._reader = reader
        self._paths = paths
        self._clock = clock
        self._idle = timedelta(minutes=idle_minutes)
        self._shelf = Shelf(reader, clock)
        self._earlier = Earlier(reader, self._shelf)
        self._told = ends.logged
        self._adding = Adding(gate, reader, ends.device)
        self._opened: dict[tuple[str, str], Opened] = {}
        self._stuck: dict[str, FileStat | None] = {}
        """Sessions that cannot be read or ended, by their paths, with the stamps they had."""
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
        self._over: defaultdict[str, dict[str, Opened]] = defaultdict(dict)
        """By agent and path: sessions that are to be ended once the agent's lock is free."""
        self._endings = Endings(gate, reader, clock, self._locks.__getitem__, ends)

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

        All that are of one session are one write. With `new_segment` a segment begins before
        them; not where one of them is known, since then the call is repeated. Ids count in all
        sessions of a named conversation.
        """
        if not messages and new_segment:
            return self.new_segment(agent, caller=caller, now=now, conversation=conversation)
        talk = self._talk(agent, conversation, caller)
        said = [prepared(message, now, self._clock) for message in messages]
        try:
            with self._locks[talk.agent]:
                logged = self._logged(talk, said, new_segment=new_segment)
            for session in dict.fromkeys(ref.session for ref in logged.refs):
                self._told(talk.agent, session, [one.message for one in said])
            return logged
        finally:
            self._end_over(talk.agent)

    def new_segment(
        self,
        agent: str,
        *,
        caller: Caller | None = None,
        now: datetime | None = None,
        conversation: str = "",
    ) -> Logged:
        """Begin a segment in the open session; twice in a row makes one.

        Where no session is open there is nothing to part: the next message begins one.
        """
        talk = self._talk(agent, conversation, caller)
        moment = now or self._clock()
        try:
            with self._locks[talk.agent]:
                return self._segmented(talk, moment)
        finally:
            self._end_over(talk.agent)

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
        talk = self._talk(agent, conversation, caller)
        moment = now or self._clock()
        with self._locks[talk.agent]:
            if session:
                file, transcript = read_session(self._reader, self._paths, talk.agent, session)
                here = is_open(transcript)
                current = opened(session, file, transcript, moment) if here else None
            else:
                current = self._find(talk.agent, talk.conversation)
            if current is None:
                return ""
            over = moment - current.last >= self._idle
        self._end(talk.agent, current, current.last if over else moment, talk.caller)
        return current.id

    def end_idle(self, agent: str = "", *, now: datetime | None = None) -> tuple[str, ...]:
        """End the sessions that have been silent for too long; return their paths.

        Of all agents where none is named. What cannot be ended is logged and left open.
        """
        moment = now or self._clock()
        agents = (agent_name(agent),) if agent else self._paths.agent_names()
        ended: list[str] = []
        for name in agents:
            try:
                ended += self._end_silent(name, moment)
            except Exception:  # whoever asks for something else must still get it
                log.exception("idle sessions of %s were left open", name)
        return tuple(ended)

    # --- what there is -------------------------------------------------------------------

    def sessions(self, agent: str) -> tuple[str, ...]:
        """Return the ids of an agent's sessions, oldest first."""
        return session_ids(self._paths, agent_name(agent))

    def heads(self, agent: str) -> tuple[Head, ...]:
        """Return what the front matters of an agent's sessions say, oldest first."""
        return self._shelf.heads(agent_name(agent))

    def beside(self, agent: str, session: str = "") -> tuple[Recent, ...]:
        """End what fell silent; return what goes on in the others but one, in a line or two."""
        self.end_idle(agent)
        others = [one.id for one in self.heads(agent) if one.is_open and one.id != session]
        newest = map(partial(self._paths.session, agent_name(agent)), others[-BESIDE:])
        return self._endings.running(agent_name(agent), list(newest))

    def latest(self, agent: str) -> str:
        """Return the newest session in which something was said, imported ones too.

        Empty where there is none.
        """
        return self._shelf.latest(agent_name(agent))

    def open_session(
        self, agent: str, conversation: str = "", *, now: datetime | None = None
    ) -> str:
        """Return the id of a conversation's open session; empty for none, or one gone silent."""
        agent = agent_name(agent)
        with self._locks[agent]:
            current = self._find(agent, conversation.strip())
        if current is None or (now or self._clock()) - current.last >= self._idle:
            return ""
        return current.id

    def read(self, agent: str, session: str) -> Transcript:
        """Return a session. Raises NotFound, UnreadableNote."""
        return read_session(self._reader, self._paths, agent_name(agent), session)[1]

    # --- within an agent's lock ----------------------------------------------------------

    def _talk(self, agent: str, conversation: str, caller: Caller | None) -> Talk:
        """Return whose words are meant; raise NotAllowed where none are kept."""
        agent = agent_name(agent)
        if not self._gate.keeps_records(agent):
            raise NotAllowed(
                f"Nothing was written down: {agent} may only read (autonomy 0 in its identity.md)."
            )
        return Talk(agent, " ".join(conversation.split()), caller or Caller("agent", agent))

    def _logged(self, talk: Talk, said: Sequence[Said], *, new_segment: bool) -> Logged:
        first = said[0].moment if said else None
        current = self._find(talk.agent, talk.conversation, first)
        batch: dict[str, Known] = {}
        placed = [self._earlier.placed(talk, current, one, batch) for one in said]
        known = [ref for _, ref in placed]
        new, numbers = fresh([one for one, _ in placed], known)
        begins = new_segment and not any(known)
        written = self._write(talk, new, begins=begins)
        refs = [ref or written.refs[number] for ref, number in zip(known, numbers, strict=True)]
        session = refs[-1].session if refs else current.id if current else ""
        segment = current.segment if current and current.id == session else 1
        return Logged(talk.agent, session, written.segment or segment, tuple(refs), written.new)

    def _segmented(self, talk: Talk, moment: datetime) -> Logged:
        current = self._current(talk, moment)
        if current is None:
            return Logged(talk.agent, "")
        segment = current.segment
        if not current.fresh:
            segment = self._adding.segment(talk, current, moment)
            self._follow(talk, current)
        return Logged(talk.agent, current.id, segment)

    def _write(self, talk: Talk, fresh: Sequence[Said], *, begins: bool) -> Written:
        """Write messages down, in a session of their own wherever there was a silence."""
        done = Written()
        rest = list(fresh)
        while rest:
            current = self._current(talk, rest[0].moment)
            group = rest[: until_silence(rest, self._idle)]
            begins = begins and current is not None and not current.fresh
            written = self._adding.add(talk, current, group, begins=begins)
            if current is not None and not written.refs:  # there is no room in it
                self._put_aside(talk.agent, current)
                continue
            self._follow(talk, current)
            done, rest, begins = done + written, rest[len(written.refs) :], False
        return done

    def _follow(self, talk: Talk, current: Opened | None) -> None:
        """Trust what is known of a file only if it grew by just what was appended."""
        if current is None or current.stat is None:
            self._opened.pop((talk.agent, talk.conversation), None)

    def _current(self, talk: Talk, moment: datetime) -> Opened | None:
        """Return the session that a message of this moment belongs to, if there is one."""
        current = self._find(talk.agent, talk.conversation, moment)
        if current is not None and moment - current.last >= self._idle:
            self._put_aside(talk.agent, current)
            return None
        return current

    def _put_aside(self, agent: str, current: Opened) -> None:
        """Have a session ended once the lock is free: until then nothing is added to it."""
        self._over[agent][current.path] = current
        self._let_go(current.path)

    def _let_go(self, path: str) -> None:
        for key, known in list(self._opened.items()):
            if known.path == path:
                self._opened.pop(key, None)

    def _find(self, agent: str, conversation: str, moment: datetime | None = None) -> Opened | None:
        """Return the open session of a conversation; of several the newest.

        It is at least as late as `moment`, that of a message.
        """
        key = agent, conversation
        known = self._opened.get(key)
        if known is not None and known.stat == stamp_of(self._reader, known.path):
            return known
        self._opened.pop(key, None)
        if known is not None:
            await_saved(self._reader, known.path)
        aside = self._over[agent]
        for head in reversed(self._shelf.heads(agent)):
            if head.is_open and head.is_of(conversation):
                if aside and self._paths.session(agent, head.id) in aside:
                    continue
                found = self._read_open(agent, head, moment)
                if found is not None:
                    self._opened[key] = found
                    return found
        return None

    def _read_open(self, agent: str, head: Head, moment: datetime | None = None) -> Opened | None:
        path = self._paths.session(agent, head.id)
        if self._stuck.get(path) == head.stat:
            return None
        try:
            file, transcript = read_session(self._reader, self._paths, agent, head.id)
        except (NotFound, UnreadableNote) as error:
            log.warning("a session was passed over: %s", error)
            self._stuck[path] = head.stat
            return None
        now = max(self._clock(), moment) if moment else self._clock()
        return opened(head.id, file, transcript, now) if is_open(transcript) else None

    def _end_silent(self, agent: str, moment: datetime) -> list[str]:
        """End an agent's sessions that have been silent for too long; return their paths.

        One whose last word lies so far ahead was written by a clock that was wrong.
        """
        heads = [head for head in self._shelf.heads(agent) if head.is_open]
        if not heads or not self._gate.keeps_records(agent):
            return []
        over = []
        with self._locks[agent]:
            known = {one.path: one for one in self._opened.values()}
            for head in heads:
                current = known.get(self._paths.session(agent, head.id))
                if current is None or current.stat != stamp_of(self._reader, current.path):
                    current = self._read_open(agent, head)
                if current is not None and abs(moment - current.last) >= self._idle:
                    over.append(current)
        return [one.path for one in over if self._end_quietly(agent, one)]

    # --- without the lock: what takes long -----------------------------------------------

    def _end_over(self, agent: str) -> None:
        """End what was put aside."""
        while self._over[agent]:
            with self._locks[agent]:
                over = list(self._over.pop(agent).values())
            for one in over:
                self._end_quietly(agent, one)

    def _end_quietly(self, agent: str, current: Opened) -> bool:
        """End a session that is over; tell whether it could be. What could not is told the log."""
        try:
            return self._end(agent, current, current.last, Caller("agent", agent))
        except (VaultMindError, OSError) as error:
            log.warning("%s was left open: %s", current.path, error)
        except Exception:  # what is said next counts more than what was
            log.exception("%s was left open", current.path)
        return False

    def _end(self, agent: str, current: Opened, when: datetime, caller: Caller) -> bool:
        self._let_go(current.path)
        done = self._endings.end(agent, current.path, when, caller)
        if not done:
            self._stuck[current.path] = stamp_of(self._reader, current.path)
        return done
