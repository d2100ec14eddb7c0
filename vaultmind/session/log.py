"""Conversations written down, a session a file: it begins with a message, grows, and ends.

No timer runs: whether a session is over is seen when the next message comes, or when somebody
asks for what the last one left. Messages are appended to the file as they come, so a crash loses
at most those in flight. An agent has one open session for each conversation that its host or its
pipe names, and one for all that is said in none. Imported conversations go the same way: a message
comes, is masked, known again or not, appended to its session's file; then the listeners hear of it.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice

from vaultmind import errors
from vaultmind.index.when import with_dates
from vaultmind.language.secrets import mask_secrets
from vaultmind.language.text import plain_sentences
from vaultmind.memory.gate import Gate
from vaultmind.polling import quietly
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.session import files
from vaultmind.session.active import Own, ending, last_time, left_by, recent_of, telling
from vaultmind.session.parts import Recent
from vaultmind.session.unkept import BEYOND_DOUBT, is_off, refs_of, unkept
from vaultmind.times import iso, parse_time
from vaultmind.types import PERSON, Caller, MemoryWrite, Message, MessageRef, Outcome
from vaultmind.vault import transcript as written
from vaultmind.vault.files import VaultReader
from vaultmind.vault.oneline import safe
from vaultmind.vault.paths import agent_name
from vaultmind.vault.transcript import SessionMeta, is_hosts

FULL, MESSAGE = 2, 9
"""Part of what can be read of a file that a session grows to; part in characters of a message."""
MAX_CHARS = 100_000
"""Characters of a message that are kept at most; of a longer paste it is said how much is not."""
BEGINS, ENDED, BLANK = "a session begins", "\nstate: ended", ("\n\n", "\n\r\n")
SAYS_MORE, LATELY = 4, 400
"""Words from which a sentence beside a request says something; messages before a new one that are
looked at for what was asked not to be kept."""
RECENT, RECENT_DAYS = 4, timedelta(days=7)
"""Other conversations that the start of one is told of, and how old they may be."""
Listener = Callable[[str, str], object]
"""Hears of an agent's session."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Logged:
    """Where messages were written down."""

    session: str
    """The session that the last of them stands in; empty where there is none."""
    segment: int = 1
    """The segment that the session has come to."""
    refs: tuple[MessageRef, ...] = ()
    """Where each message stands, new or known."""
    new: tuple[MessageRef, ...] = ()
    """Where those stand that were not there before."""
    redacted: frozenset[str] = frozenset()
    """Kinds of secrets and private passages that were taken out."""
    cut: tuple[str, ...] = ()
    """Ids of the messages that were too long."""


@dataclass(slots=True)
class OpenSession:
    """A session that can grow."""

    id: str
    last: datetime
    """When something was said in it last."""
    size: int = 0
    """Bytes of the file, with what is not written yet."""
    newline: str = "\n"
    next: int = 1
    """Number of the next block id."""
    text: str = ""
    """What is not written yet."""


@dataclass(slots=True)
class Talk:
    """An agent's conversation during one call: its open session, and where its messages stand."""

    meta: SessionMeta
    """What a session that begins now is: whose, of which conversation or file."""
    caller: Caller
    session: OpenSession | None = None
    left: bool = False
    """Whether a session was left that fell silent, or is full."""
    known: dict[str, tuple[Message, MessageRef]] = field(default_factory=dict)
    """The messages that have an id, by it."""

    def learn(self, session: str, message: Message) -> MessageRef:
        """Keep where a message stands. One without its block id was torn by a crash.

        What was asked of the memory, or seen by a hook, has no id: it is known by its words.
        """
        ref = MessageRef(self.meta.agent, session, message.block, message.id)
        if message.block and (name := message.id or _words(message)):
            self.known[name] = message, ref
        return ref

    def place(self, given: Message) -> tuple[Message, MessageRef | None]:
        """Return a message, and where it stands already; another of its id gets its own: `1:2`.

        A transcript's message may stand there as a request, but for one that says more; and one
        request may ask for several facts, one after the other.
        """
        message, number = given, 1
        if request := self.known.get(_words(given)):
            newest = self.session and request[1].block == f"m{self.session.next - 1}"
            again = newest and request[0].asked == given.asked
            said = [one for one in plain_sentences(given.text) if len(one.split()) >= SAYS_MORE]
            if len(said) <= 1 if given.id else again:
                return given, request[1]
        while message.id in self.known:
            there, ref = self.known[message.id]
            if self._is_same(there, message):
                return message, ref
            number += 1
            message = replace(message, id=f"{given.id}:{number}")
        return message, None

    def _is_same(self, one: Message, other: Message) -> bool:
        """Tell whether two messages of an id are one.

        A host's ids are its own, and known whatever the words: it may hand over its transcript
        once more. A pipe's id is only as good as its words: the next chat may count from 1 again.
        That of an import is as good as its words or its time.
        """
        if one.erased or other.erased or (is_hosts(self.meta.conversation) and not one.asked):
            return True
        words = safe(one.text).split() == safe(other.text).split()
        return words or bool(self.meta.source and one.time == other.time)


def _words(message: Message) -> str:
    """Return the words by which it is known whether a message is a request written down before."""
    return " ".join(safe(message.text).split()) if message.asked or message.id else ""


class SessionLog(files.Shelf):
    """Writes conversations down. One per vault; safe to use from threads."""

    def __init__(
        self,
        gate: Gate,
        reader: VaultReader,
        clock: Clock,
        idle_minutes: float,
        ended: Listener = lambda agent, session: None,
        grew: Listener = lambda agent, session: None,
    ) -> None:
        """`ended` hears of each session that has ended, `grew` of each in which something was said;
        not of what was imported.
        """
        super().__init__(reader)
        self.gate, self.clock = gate, clock
        self.idle = timedelta(minutes=idle_minutes)
        self._ended, self._grew = ended, grew
        self.own: Own = lambda message: message
        """Takes out of a message what was pasted or quoted in it, for what a session leaves."""
        self._readable = reader.max_bytes or files.DEFAULT_SESSION_BYTES
        self._most = min(MAX_CHARS, self._readable // MESSAGE)
        self.keeps = gate.keeps_records
        """Tells whether an agent's conversations are written down."""
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
        self._off: dict[MessageRef, Message] = {}
        """What was asked not to be kept and is not written down: what follows may repeat it."""

    # --- what is said --------------------------------------------------------------------

    def log(
        self,
        agent: str,
        *messages: Message,
        caller: Caller | None = None,
        conversation: str = "",
        new_segment: bool = False,
    ) -> Logged:
        """Append messages to the agent's session of a conversation, a new one after a silence.

        A message whose id is known is not written again; secrets are masked. What was captured was
        said at its own time, everything else now, whatever time it tells. With `new_segment` a
        segment begins before them; not where one of them is known, since then the call is
        repeated. Without messages it begins in the open session, if there is one; twice in a row
        makes one. Raises NotAllowed for an agent that keeps no records.
        """
        agent = self._writable(agent)
        caller = caller or Caller("agent", agent)
        client = mask(caller.client).text if caller.kind == "agent" else ""
        project = mask(caller.project).text
        meta = SessionMeta("", agent, conversation=conversation, client=client, project=project)
        return self._arrive(Talk(meta, caller), messages, new_segment)

    def take_in(self, agent: str, source: str, topic: str, messages: Sequence[Message]) -> Logged:
        """Write down a conversation that took place elsewhere.

        What is new since the same source was imported gets a session of its own. What was erased of
        it stays erased, though the session that held it may have been deleted by hand: any of the
        message's day may be that.
        """
        agent, erased = agent_name(agent), self.gate.hiding.erased
        highest = files.numbers_used(self._paths, agent)

        def is_erased(one: Message) -> bool:
            days = (f"{one.time[:10]}_{n:03d}" for n in range(1, highest[one.time[:10]] + 1))
            return any(erased(MessageRef(agent, day, "", one.id)) for day in days if one.id)

        said = [replace(one, text="", erased=True) if is_erased(one) else one for one in messages]
        topics = (topic,) if topic else ()
        meta = SessionMeta("", agent, state="ended", topics=topics, source=source)
        return self._arrive(Talk(meta, PERSON), said)

    def _arrive(self, talk: Talk, messages: Sequence[Message], new_segment: bool = False) -> Logged:
        """Write down what is not known yet, safe to keep, and hide what it asks not to keep.

        A message that surely asks that of itself is written as one that was erased.
        """
        agent, now, said = talk.meta.agent, iso(self.clock()), list[Message]()
        kinds, cut = set[str](), list[str]()
        for one in messages:
            text, left = one.text, len(one.text) - self._most
            if left > 0:
                cut.append(one.id)
                text = f"{files.beginning(text, self._most)} […{left:,} characters left out]"
            masked = (mask if talk.meta.source else mask_secrets)(text)
            kinds.update(masked.kinds)
            own, speaker = mask(safe(one.id)).text, mask(one.speaker).text
            time = one.time or now
            said.append(replace(one, text=masked.text, time=time, id=own, speaker=speaker))
        kept = said if talk.meta.source else [_without_off(one) for one in said]
        with self._locks[agent]:
            self._look(talk)
            logged = self._write(talk, kept, new_segment)
        whole = zip(logged.refs, said, kept, strict=True)
        off = ((ref, one) for ref, one, it in whole if one != it)
        self._off |= {ref: replace(one, block=ref.block, id=ref.id) for ref, one in off}
        if talk.left:
            self.end_idle(agent)
        for session in dict.fromkeys(ref.session for ref in logged.new):
            if not talk.meta.source:
                self._grew(agent, session)
            quietly(partial(self._hide_unkept, agent, session, {one.block for one in logged.new}))
        return replace(logged, redacted=frozenset(kinds), cut=tuple(cut))

    def _hide_unkept(self, agent: str, session: str, new: set[str]) -> None:
        """Hide what `new` messages of a session ask not to keep, and those that repeat it.

        Only a wish that is beyond doubt counts here.
        """
        off, there = self._off, self.messages(agent, session)[-LATELY - len(new) :]
        there = [off.get(MessageRef(agent, session, one.block, one.id), one) for one in there]
        pairs = ((there[at], there[by]) for at, by in unkept(there, least=BEYOND_DOUBT).items())
        gone = (one for one, by in pairs if new & {one.block, by.block})
        self.gate.hide(agent, refs_of(agent, session, gone), Caller("agent", agent), asked=True)

    def ask(
        self, write: MemoryWrite, words: str = "", id: str = "", said: MessageRef | None = None
    ) -> Outcome:
        """Have the gate change a memory as somebody asks, with what the relative dates mean.

        The words asked with are logged just before, marked as a request: they are evidence, no part
        of the conversation, and never recalled. A request that comes to nothing leaves none; the
        words of one to forget say what is to be forgotten once more, and are hidden as well.
        `words`: what the person said, else the text; `said`: the message that asks for it, where it
        is written down already.
        """
        caller, is_person = write.caller, write.caller.kind == "person"
        to = write.agent if is_person else caller.agent

        def witness() -> MessageRef | None:
            ref = said
            if ref is None and self.keeps(to):  # else the agent is kept read-only
                # without the person's words it is the agent's own wording
                message = Message(
                    "user" if words.strip() or is_person else "assistant",
                    words.strip() or write.text, "", id,
                    how="cli" if is_person else "reported", asked=write.op,
                )  # fmt: skip
                logged = self.log(to, message, caller=caller, conversation=caller.conversation)
                ref = logged.refs[0]
            if ref and write.op == "forget":
                self.gate.hide(ref.agent, (ref,), caller, asked=True)
            return ref

        if write.op != "forget":
            write = replace(write, text=with_dates(write.text, self.clock()))
        return self.gate.write(write, witness)

    # --- how it ends ---------------------------------------------------------------------

    def end(
        self, agent: str, *, session: str = "", conversation: str = "", caller: Caller | None = None
    ) -> str:
        """End a session: the one named, else the conversation's open one; return its id.

        Empty where none is open. What it was about is written for the next one first. Raises
        NotFound for a session that is not there, and what a write raises.
        """
        agent, moment = self._writable(agent), self.clock()
        running = self._running(agent, None if session else conversation)
        current = next((one for one in running if session in ("", one.id)), None)
        if current is None:
            if session:
                self.read(agent, session)
            return ""
        when = current.last if moment - current.last >= self.idle else moment
        self._end(agent, current.id, when, caller or Caller("agent", agent))
        return current.id

    def end_idle(self, agent: str = "") -> None:
        """End the sessions that have been silent for too long.

        Of all agents where none is named. What cannot be ended is logged and left open. One whose
        last word lies as far ahead was written by a clock that was wrong.
        """
        for name in (agent_name(agent),) if agent else self._paths.agent_names():
            for one in self._running(name) if self.keeps(name) else ():
                if abs(self.clock() - one.last) >= self.idle:
                    quietly(partial(self._end, name, one.id, one.last, Caller("agent", name)))

    def _end(self, agent: str, session: str, when: datetime, caller: Caller) -> None:
        """Write an agent's active context and mark a session as ended.

        A kill between the two leaves a session that is open and is ended again by the same rule.
        """
        path, active = self._paths.session(agent, session), self._paths.active_context(agent)
        with self._locks[agent]:
            now = self.clock()
            leaves = left_by(self, self.gate.hiding.hides, agent, session, now, self.own)
            if leaves.body:
                why = "what a session leaves for the next"
                try:
                    self.gate.save(active, telling(leaves, now), caller, why)
                except (errors.PathRefused, errors.UnreadableNote) as error:
                    # it will be the same next time
                    log.warning("the active context was not written: %s", error)
            ended = self.gate.save(path, ending(leaves, when), caller, "a session ends")
        if ended:
            self._ended(agent, session)

    def recent(self, agent: str, session: str = "") -> tuple[Recent, ...]:
        """End what fell silent; return the newest other conversations of the last days.

        The one that the active context speaks of is among them.
        """
        self.end_idle(agent)
        since = (self.clock() - RECENT_DAYS).date().isoformat()
        late = (one for one in reversed(self.heads(agent)) if one.said and one.id[:10] >= since)
        others = (one.id for one in late if one.id != session and not one.meta.source)
        name, hides = agent_name(agent), self.gate.hiding.hides
        found = (recent_of(self, name, one, hides) for one in others)
        return tuple(islice(filter(None, found), RECENT))

    def open_session(self, agent: str, conversation: str = "") -> str:
        """Return the id of a conversation's open session; empty for none, or one gone silent."""
        current = next(self._running(agent_name(agent), conversation), None)
        return current.id if current and self.clock() - current.last < self.idle else ""

    # --- within an agent's lock ----------------------------------------------------------

    def _writable(self, agent: str) -> str:
        agent = agent_name(agent)
        if not self.keeps(agent):
            raise errors.NotAllowed(
                f"Nothing was recorded: {agent} may only read (autonomy 0 in its identity.md)."
            )
        return agent

    def _moment(self, message: Message) -> datetime:
        """Return when a message was said; what an agent reports is said now."""
        return parse_time(message.time) if message.how == "captured" else self.clock()

    def _look(self, talk: Talk) -> None:
        """Have a talk know its open session, and the messages that may come again."""
        agent, name, source = talk.meta.agent, talk.meta.conversation, talk.meta.source
        heads = self.heads(agent)
        if source:
            known = [one.id for one in heads if one.meta.source in (source, written.ERASED_SOURCE)]
        else:
            talk.session = next(self._running(agent, name), None)
            known = [one.id for one in heads if one.is_of(name)][0 if is_hosts(name) else -2 :]
        for session in known:
            for one in self.messages(agent, session):
                talk.learn(session, one)

    def _running(self, agent: str, conversation: str | None = None) -> Iterator[OpenSession]:
        """Yield an agent's open sessions, the newest first: all, or those of a conversation."""
        for head in reversed(self.heads(agent)):
            is_wanted = conversation is None or head.is_of(conversation)
            if is_wanted and ENDED not in head.raw and written.runs(head.meta):  # YAML is slow
                try:
                    file, there = self.file(agent, head.id)
                except (errors.NotFound, errors.UnreadableNote) as error:
                    log.warning("a session was passed over: %s", error)
                    continue
                last, next_ = last_time(there, self.clock()), written.next_block(there.messages)[1:]
                blank = "" if file.text.endswith(BLANK) else file.newline * 2  # a crash cut it off
                yield OpenSession(head.id, last, file.stat.size, file.newline, int(next_), blank)

    def _leave(self, talk: Talk, moment: datetime) -> None:
        """Leave the open session where a message of this moment does not belong to it."""
        session = talk.session
        silent = session and not talk.meta.source and moment - session.last >= self.idle
        if session and (silent or session.size > self._readable // FULL):
            self._flush(talk)
            talk.session, talk.left = None, True

    def _write(self, talk: Talk, said: Sequence[Message], new_segment: bool) -> Logged:
        """Write down what is not known yet, in a session of its own after each silence."""
        agent, refs, new = talk.meta.agent, list[MessageRef](), list[MessageRef]()
        self._leave(talk, self._moment(said[0]) if said else self.clock())
        if new_segment and talk.session and not any(talk.place(one)[1] for one in said):
            there = self.read(agent, talk.session.id)
            whole = [one.segment for one in there.messages if one.message.block]
            if whole[-1:] == [there.segment]:
                begun, newline = iso(self.clock()), talk.session.newline
                talk.session.text += written.render_segment(there.segment + 1, begun, newline)
        for given in said:
            message, ref = talk.place(given)
            if ref is None:
                moment = self._moment(message)
                self._leave(talk, moment)
                session = talk.session = talk.session or self._begin(talk, moment, said[-1].time)
                message = replace(message, block=f"m{session.next}")
                text = written.render_message(message, session.newline)
                session.text += text
                session.size += len(text.encode("utf-8", "replace"))
                session.next, session.last = session.next + 1, max(session.last, moment)
                ref = talk.learn(session.id, message)
                new.append(ref)
            refs.append(ref)
        self._flush(talk)
        last = refs[-1].session if refs else talk.session.id if talk.session else ""
        segment = self.read(agent, last).segment if last else 1
        return Logged(last, segment, tuple(refs), tuple(new))

    def _begin(self, talk: Talk, moment: datetime, ended: str) -> OpenSession:
        """Begin a session; its number was never used before. One imported has `ended`."""
        day, agent, is_import = moment.date().isoformat(), talk.meta.agent, bool(talk.meta.source)
        session = f"{day}_{files.numbers_used(self._paths, agent)[day] + 1:03d}"
        meta = replace(talk.meta, id=session, started=iso(moment), ended=ended if is_import else "")
        head = written.render_header(replace(meta, device=self.gate.settings.device))
        path, why = self._paths.session(agent, session), "an import" if is_import else BEGINS
        if not self.gate.save(path, lambda file: None if file else head, talk.caller, why):
            raise errors.WriteConflict(f"{path} was created a moment ago.", hint="Try again.")
        return OpenSession(session, moment)

    def _flush(self, talk: Talk) -> None:
        """Write down what the open session has not written yet."""
        if talk.session and talk.session.text:
            path = self._paths.session(talk.meta.agent, talk.session.id)
            self.gate.append(path, talk.session.text)
            talk.session.text = ""


def _without_off(one: Message) -> Message:
    """Return a message as it is written down: erased if the person surely asks that of it."""
    off = one.role == "user" and not one.asked and is_off(one.text)
    return replace(one, text="", erased=True) if off else one
