"""Importing conversations: each becomes a session, the same file twice changes nothing.

A session is one write, so a kill leaves whole sessions and a repeat completes the rest. Two
imports at once double nothing: a new session takes the first free id of its day by
compare-and-swap, and whoever comes second reads what took it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from vaultmind.errors import AlreadyThere, BadArgument, NotFound, UnreadableNote, WriteConflict
from vaultmind.ports import Report, silent
from vaultmind.redact import mask
from vaultmind.session.imports.days import DAY_BYTES, callouts
from vaultmind.session.imports.formats import FORMATS, Skipped, read_conversations
from vaultmind.session.imports.twice import moment, mostly_the_same
from vaultmind.session.records.adding import DEFAULT_SESSION_BYTES, cut
from vaultmind.session.records.numbers import numbers_used
from vaultmind.session.records.store import Creation, Records, order, read_session, session_ids
from vaultmind.types import PERSON, Message, MessageRef, Progress
from vaultmind.vault.edits import remove_property, set_property
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.nesting import ERASED_SOURCE, safe
from vaultmind.vault.paths import VaultPaths, agent_name
from vaultmind.vault.transcript import (
    SessionMeta,
    Transcript,
    completion,
    next_block,
    parse_meta,
    parse_session,
    render_header,
    render_message,
)

LONGEST_BLOCK = "m0000000"
LATER_BYTES = 400
"""Kept free in a front matter for the device, and for the marks of a consolidation."""
MAX_FAULTS = 50
MAX_NAMED = 20
"""Sessions that an answer names; of more, the first and the last."""
NEW_SESSION_TRIES = 100


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


@dataclass(slots=True)
class _Gathered:
    """A session as the file has it."""

    name: str
    topic: str = ""
    messages: list[Message] = field(default_factory=list)


@dataclass(slots=True)
class _Shelf:
    """What sessions an agent has: the highest number of each day that there ever was, and who
    came from where."""

    seen: set[str] = field(default_factory=set)
    highest: Counter[str] = field(default_factory=Counter)
    sources: dict[str, list[str]] = field(default_factory=dict)

    def put(self, session: str, source: str) -> None:
        """Remember a session, by its source when it was imported."""
        day, number = order(session)
        self.seen.add(session)
        self.highest[day] = max(self.highest[day], number)
        if source:
            self.sources.setdefault(source, []).append(session)

    def gone(self, day: str) -> list[str]:
        """Return the sessions of a day that there were once."""
        names = (f"{day}_{number:03d}" for number in range(1, self.highest[day] + 1))
        return [name for name in names if name not in self.seen]


def _nothing_is(ref: MessageRef) -> bool:
    return False


class Importer:
    """Takes conversations from other programs into an agent's sessions."""

    def __init__(
        self,
        gate: Records,
        reader: VaultReader,
        paths: VaultPaths,
        erased: Callable[[MessageRef], bool] = _nothing_is,
        logged: Callable[[str, str, Sequence[Message]], None] = lambda agent, session, said: None,
        *,
        device: str = "",
    ) -> None:
        """Times without an offset are of the system's zone.

        Of a message that is `erased` a marker is imported, whatever the file says. Sessions say
        which `device` made them. `logged` hears of each: the agent, the session, the messages.
        """
        self._logged = logged
        self._device = device
        self._gate = gate
        self._reader = reader
        self._paths = paths
        self._erased = erased
        self._limit = reader.max_bytes or DEFAULT_SESSION_BYTES

    def import_file(
        self, path: Path, agent: str, report: Report = silent, *, one_session: bool = False
    ) -> Imported:
        """Import a file's conversations as ended sessions, marked with their source.

        With `one_session` all of them become one session of one segment, in the file's order,
        named after the file. Only what is too large for one readable file is cut in several.
        Raises UnreadableNote or BadArgument for a file that holds none, AlreadyThere for one that
        was imported the other way; single records that cannot be read are faults.
        """
        agent = agent_name(agent)
        faults: list[str] = []
        redacted: set[str] = set()
        file = safe(mask(path.name).text)
        names: set[str] = set()
        gathered, left_out = self._gather(path, file * one_session, names, faults, redacted)
        if not gathered and faults:
            raise BadArgument("file", path.name, f"{FORMATS}; first fault: {faults[0].rstrip('.')}")
        shelf = _Shelf(highest=numbers_used(self._paths, agent))
        self._look(shelf, agent)
        self._check(agent, gathered, names - {file} if one_session else {file} - names, shelf)
        written = there = 0
        grown: list[str] = []
        report(Progress(0, len(gathered), "sessions"))
        for done, session in enumerate(gathered, 1):
            name, new = self._take(agent, session, shelf, faults)
            written, there = written + new, there + len(session.messages) - new
            grown += [name] if new else []
            report(Progress(done, len(gathered), "sessions"))
        taken_out = tuple(sorted(redacted)) if written else ()
        named = tuple(grown if len(grown) <= MAX_NAMED else (grown[0], grown[-1]))
        return Imported(len(grown), written, there, _first(faults), left_out, taken_out, named)

    def _gather(
        self, path: Path, whole: str, names: set[str], faults: list[str], redacted: set[str]
    ) -> tuple[list[_Gathered], int]:
        """Return the file's sessions in its order, secrets masked, and how many messages held no
        words. Their names in the file are added to `names`, the kinds of what was taken out to
        `redacted`. All are one session of the name `whole`, where that is not empty.
        """
        sessions: dict[str, _Gathered] = {}
        left_out = 0
        for item in read_conversations(path, None, whole):
            if isinstance(item, Skipped):
                faults.append(item.reason)
                continue
            left_out += item.left_out
            if item.messages:
                names.add(safe(mask(item.name).text))
                name = whole or safe(mask(item.name).text)
                topic = "" if whole else mask(item.topic).text
                session = sessions.setdefault(name, _Gathered(name, topic))
                session.messages += [_masked(message, redacted) for message in item.messages]
        parts = [part for one in sessions.values() for part in self._parts(one, faults)]
        return parts, left_out

    def _parts(self, session: _Gathered, faults: list[str]) -> Iterator[_Gathered]:
        """Yield a session, cut where it would be too large to be read again."""
        part = _Gathered(session.name, session.topic)
        room = self._limit - _header_bytes(session)
        size, number = 0, 1
        for whole in _with_own_ids(session.messages):
            message = replace(whole, block=LONGEST_BLOCK)
            if (cost := _bytes(message)) > room:
                faults.append(f"message {whole.id!r} of {session.name!r} was cut: too long")
                message = cut(message, room - DAY_BYTES)
                cost = _bytes(message)
            if part.messages and size + cost > room:
                yield part
                size, number = 0, number + 1
                part = _Gathered(f"{session.name} ({number})", session.topic)
            part.messages.append(replace(message, block=""))
            size += cost
        yield part

    def _look(self, shelf: _Shelf, agent: str) -> None:
        """Read the front matter of the sessions that the shelf does not know yet."""
        for session in session_ids(self._paths, agent):
            if session in shelf.seen:
                continue
            try:
                file = self._reader.read(self._paths.session(agent, session))
            except (NotFound, UnreadableNote):
                shelf.put(session, "")
            else:
                shelf.put(session, parse_meta(file.text).source)

    def _check(
        self, agent: str, gathered: Sequence[_Gathered], names: set[str], shelf: _Shelf
    ) -> None:
        """Raise AlreadyThere for messages that stand in sessions of other names of the same file.

        Nothing is looked for where the file was imported in the same way before.
        """
        if not gathered or self._known(agent, gathered[0], shelf):
            return
        told = [message for session in gathered for message in session.messages]
        for name in sorted(names):
            for known in shelf.sources.get(name, []):
                stored = self._stored(agent, known)
                if mostly_the_same(stored, told):
                    raise AlreadyThere(
                        f"These messages are in memory already: {known}, imported as {name!r}. "
                        "Nothing was taken in, so that nothing is there twice.",
                        hint="Import the file as before, with or without --one-session; or delete "
                        "what it was imported as first.",
                    )

    def _stored(self, agent: str, session: str) -> Sequence[Message]:
        try:
            _, transcript = read_session(self._reader, self._paths, agent, session)
        except (NotFound, UnreadableNote):
            return ()
        return [placed.message for placed in transcript.messages]

    def _take(
        self, agent: str, session: _Gathered, shelf: _Shelf, faults: list[str]
    ) -> tuple[str, int]:
        """Write what is new of a session; return its id and how many messages were written."""
        day = _day(session.messages[0])
        for _ in range(NEW_SESSION_TRIES):
            known = self._known(agent, session, shelf)
            if known:
                spared = self._spared(agent, [known], session.messages)
                grown = self._grow(self._paths.session(agent, known), spared)
                self._logged(agent, known, spared)
                return known, grown
            created = f"{day}_{shelf.highest[day] + 1:03d}"
            names = [created, *shelf.gone(day)]  # it may be one that was deleted by hand
            spared = self._spared(agent, names, session.messages)
            spared_of = replace(session, messages=list(spared))
            creation = Creation(_rendered(agent, created, spared_of, self._device))
            path = self._paths.session(agent, created)
            self._gate.save(path, creation.change, PERSON, "an import")
            if creation.done:
                shelf.put(created, session.name)
                self._logged(agent, created, spared)
                return created, len(session.messages)
            self._look(shelf, agent)
        raise WriteConflict(f"No free session id for {agent!r} on {day}.")

    def _spared(
        self, agent: str, sessions: Sequence[str], messages: Sequence[Message]
    ) -> tuple[Message, ...]:
        """Return the messages as they may be written: what was erased stays erased."""
        return tuple(
            replace(message, text="", erased=True)
            if any(self._erased(MessageRef(agent, one, "", message.id)) for one in sessions)
            else message
            for message in messages
        )

    def _grow(self, path: str, messages: Sequence[Message]) -> int:
        """Append to a session what it does not hold; return how many messages that is."""
        growth = _Growth(messages)
        if growth.change(self._reader.read(path)) is not None:
            self._gate.save(path, growth.change, PERSON, "an import grew")
        return growth.new

    def _known(self, agent: str, session: _Gathered, shelf: _Shelf) -> str:
        """Return the session that this one was imported as before, or nothing.

        The name tells, unless the same ids stand there with other times and words: another
        conversation that is called the same. Where the name was erased, an id must be common.
        """
        nameless = shelf.sources.get(ERASED_SOURCE, [])
        for known in shelf.sources.get(session.name, []) + nameless:
            try:
                _, transcript = read_session(self._reader, self._paths, agent, known)
            except (NotFound, UnreadableNote):
                continue
            ids = {placed.message.id for placed in transcript.messages}
            shares = any(message.id in ids for message in session.messages)
            if _same(transcript, session.messages) and (shares or known not in nameless):
                return known
        return ""


class _Growth:
    """A change that appends the messages that a session does not hold, and counts them."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self.new = 0

    def change(self, file: FileText | None) -> str | None:
        """Return the session with what is new at its end; None when nothing is."""
        if file is None:
            raise NotFound("An imported session was deleted a moment ago.", hint="Import again.")
        transcript = parse_session(file.text)
        there = {placed.message.id for placed in transcript.messages}
        new = [message for message in self._messages if message.id not in there]
        before = transcript.messages[-1].message.time if transcript.messages else ""
        self.new = len(new)
        if not new:
            return None
        text = file.text + completion(file.text, transcript, file.newline)
        number = int(next_block(parse_session(text).messages)[1:])
        text += callouts(new, number, file.newline, before)
        text = remove_property(text, "consolidated")  # what is new was not looked at yet
        try:
            return set_property(text, "ended", new[-1].time)
        except BadArgument:  # a person's front matter, broken: the messages count, not the date
            return text


def _masked(message: Message, redacted: set[str]) -> Message:
    """Return a message as it may be stored; the kinds of what it loses go to `redacted`."""
    text = mask(message.text)
    redacted.update(text.kinds)
    return replace(message, text=text.text, speaker=mask(message.speaker).text)


def _rendered(agent: str, session_id: str, session: _Gathered, device: str) -> str:
    meta = SessionMeta(
        id=session_id,
        agent=agent,
        started=session.messages[0].time,
        ended=session.messages[-1].time,
        state="ended",
        topics=(session.topic,) if session.topic else (),
        source=session.name,
        device=device,
    )
    return render_header(meta) + callouts(session.messages, 1)


def _bytes(message: Message) -> int:
    return len(render_message(message).encode()) + DAY_BYTES


def _header_bytes(session: _Gathered) -> int:
    """Return the size of a session's front matter, whatever its id, agent and number."""
    time = session.messages[0].time.ljust(40)
    topics = (session.topic,) if session.topic else ()
    name = f"{session.name} (10000)"
    later = "x" * LATER_BYTES
    meta = SessionMeta("0000-00-00_000000", "x" * 40, time, time, "ended", 1, topics, later, name)
    return len(render_header(meta).encode())


def _with_own_ids(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield the messages, each id once: a repeated message is left out, another gets `~2`."""
    taken: dict[str, list[Message]] = {}
    for position, message in enumerate(messages, 1):
        own = safe(message.id) or f"n{position}"
        twins = taken.setdefault(own, [])
        if message in twins:
            continue
        twins.append(message)
        yield replace(message, id=own if len(twins) == 1 else f"{own}~{len(twins)}")


def _same(transcript: Transcript, messages: Sequence[Message]) -> bool:
    there = {placed.message.id: placed.message for placed in transcript.messages}
    common = [(there[m.id], m) for m in messages if m.id in there]
    return not common or any(
        old.text == safe(new.text) or moment(old.time) == moment(new.time) for old, new in common
    )


def _day(message: Message) -> str:
    return message.time[:10]


def _first(faults: list[str]) -> tuple[str, ...]:
    """Return the faults, but not thousands of them."""
    if len(faults) <= MAX_FAULTS:
        return tuple(faults)
    return (*faults[:MAX_FAULTS], f"and {len(faults) - MAX_FAULTS} more")
