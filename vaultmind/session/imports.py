"""Importing conversations: each becomes an ended session, the same file twice changes nothing.

A session is one write, so a kill leaves whole sessions and a repeat completes the rest.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from vaultmind.errors import AlreadyThere, BadArgument, NotFound, UnreadableNote
from vaultmind.ports import Report, silent
from vaultmind.redact import mask
from vaultmind.session.exports import FORMATS, Conversation, Skipped, read_conversations
from vaultmind.session.files import (
    Creation,
    Records,
    numbers_used,
    read_session,
    session_ids,
)
from vaultmind.session.log import DEFAULT_SESSION_BYTES
from vaultmind.session.running import cut
from vaultmind.types import PERSON, Message, MessageRef, Progress
from vaultmind.vault.edits import remove_property, set_property
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.nesting import ERASED_SOURCE, safe
from vaultmind.vault.paths import agent_name
from vaultmind.vault.transcript import (
    SessionMeta,
    completion,
    next_block,
    parse_meta,
    parse_session,
    render_header,
    render_message,
)

HEAD_BYTES = 3000
"""Kept free in a session's file for its front matter, and what is added to that later."""
DAY = "### {}\n\n"
MAX_NAME = 300
"""Characters of a conversation's name and topic."""
MAX_FAULTS = 50
MAX_NAMED = 20
"""Sessions that an answer names; of more, the first and the last."""


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
class _Stock:
    """What sessions an agent has: the highest number of each day, and who came from where."""

    agent: str
    highest: Counter[str]
    sources: dict[str, list[str]] = field(default_factory=dict)


class Importer:
    """Takes conversations from other programs into an agent's sessions."""

    def __init__(
        self,
        gate: Records,
        reader: VaultReader,
        erased: Callable[[MessageRef], bool] = lambda ref: False,
        logged: Callable[[str, str, Sequence[Message]], None] = lambda agent, session, said: None,
        *,
        device: str = "",
    ) -> None:
        """Of a message that is `erased` a marker is imported, whatever the file says.

        Sessions say which `device` made them. `logged` hears of each: the agent, the session, the
        messages.
        """
        self._gate = gate
        self._reader = reader
        self._paths = reader.paths
        self._erased = erased
        self._logged = logged
        self._device = device
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
        agent, file = agent_name(agent), safe(mask(path.name).text)
        faults: list[str] = []
        redacted: set[str] = set()
        gathered: dict[str, Conversation] = {}
        names, left_out = {file}, 0
        for item in read_conversations(path, None, file * one_session):
            if isinstance(item, Skipped):
                faults.append(item.reason)
                continue
            left_out += item.left_out
            own = safe(mask(item.name).text)[:MAX_NAME]
            if item.messages:
                names.add(own)
                name = file if one_session else own
                topic = "" if one_session else mask(item.topic).text[:MAX_NAME]
                session = gathered.setdefault(name, Conversation(name, topic=topic))
                session.messages += [_masked(message, redacted) for message in item.messages]
        if not gathered and faults:
            raise BadArgument("file", path.name, f"{FORMATS}; first fault: {faults[0].rstrip('.')}")
        parts = [part for one in gathered.values() for part in self._parts(one, faults)]
        stock = self._stock(agent)
        self._check(stock, parts, names - set(gathered))
        written, grown = 0, list[str]()
        for done, part in enumerate(parts):
            report(Progress(done, len(parts), "sessions"))
            session_id, new = self._take(stock, part)
            written += new
            grown += [session_id] if new else []
        report(Progress(len(parts), len(parts), "sessions"))
        more = [f"and {len(faults) - MAX_FAULTS} more"] if len(faults) > MAX_FAULTS else []
        return Imported(
            sessions=len(grown),
            messages=written,
            skipped=sum(len(part.messages) for part in parts) - written,
            faults=(*faults[:MAX_FAULTS], *more),
            left_out=left_out,
            redacted=tuple(sorted(redacted)) if written else (),
            session_ids=tuple(grown if len(grown) <= MAX_NAMED else (grown[0], grown[-1])),
        )

    def _parts(self, session: Conversation, faults: list[str]) -> Iterator[Conversation]:
        """Yield a session, cut where it would be too large to be read again.

        Each id stands once: a repeated message is left out, another gets `~2`.
        """
        part, number = Conversation(session.name, topic=session.topic), 1
        room = self._limit - HEAD_BYTES
        size, taken = 0, dict[str, list[Message]]()
        for position, message in enumerate(session.messages, 1):
            own = safe(message.id) or f"n{position}"
            twins = taken.setdefault(own, [])
            if message in twins:
                continue
            twins.append(message)
            one = replace(message, id=own if len(twins) == 1 else f"{own}~{len(twins)}")
            if (cost := _bytes(one)) > room:
                faults.append(f"message {own!r} of {session.name!r} was cut: too long")
                one = cut(one, room - 2 * len(DAY))
                cost = _bytes(one)
            if part.messages and size + cost > room:
                yield part
                size, number = 0, number + 1
                part = Conversation(f"{session.name} ({number})", topic=session.topic)
            part.messages.append(one)
            size += cost
        yield part

    def _stock(self, agent: str) -> _Stock:
        stock = _Stock(agent, numbers_used(self._paths, agent))
        for session in session_ids(self._paths, agent):
            with contextlib.suppress(NotFound, UnreadableNote):
                file = self._reader.read(self._paths.session(agent, session))
                if source := parse_meta(file.text).source:
                    stock.sources.setdefault(source, []).append(session)
        return stock

    def _check(self, stock: _Stock, parts: Sequence[Conversation], others: set[str]) -> None:
        """Raise AlreadyThere for messages that stand in sessions of other names of the same file.

        Nothing is looked for where the file was imported in the same way before.
        """
        if not parts or self._known(stock, parts[0]):
            return
        told = {(one.id, safe(one.text)) for part in parts for one in part.messages}
        for name in sorted(others):
            for known in stock.sources.get(name, []):
                there = {(one.id, one.text) for one in self._messages(stock.agent, known).values()}
                if there & told:
                    raise AlreadyThere(
                        f"These messages are in memory already: {known}, imported as {name!r}. "
                        "Nothing was taken in, so that nothing is there twice.",
                        hint="Import the file as before, with or without --one-session; or delete "
                        "what it was imported as first.",
                    )

    def _messages(self, agent: str, session: str) -> dict[str, Message]:
        try:
            _, transcript = read_session(self._reader, self._paths, agent, session)
        except (NotFound, UnreadableNote):
            return {}
        return {placed.message.id: placed.message for placed in transcript.messages}

    def _known(self, stock: _Stock, session: Conversation) -> str:
        """Return the session that this one was imported as before, or nothing.

        The name tells, unless the same ids stand there with other times and words: another
        conversation that is called the same. Where the name was erased, an id must be common.
        """
        nameless = stock.sources.get(ERASED_SOURCE, [])
        for known in stock.sources.get(session.name, []) + nameless:
            there = self._messages(stock.agent, known)
            common = [(there[one.id], one) for one in session.messages if one.id in there]
            same = any(old.text == safe(new.text) or old.time == new.time for old, new in common)
            if same or not (common or known in nameless):
                return known
        return ""

    def _take(self, stock: _Stock, session: Conversation) -> tuple[str, int]:
        """Write what is new of a session; return its id and how many messages were written."""
        agent = stock.agent
        if known := self._known(stock, session):
            said = self._spared(agent, [known], session.messages)
            growth = _Growth(said)
            path = self._paths.session(agent, known)
            if growth.change(self._reader.read(path)) is not None:
                self._gate.save(path, growth.change, PERSON, "an import grew")
            self._logged(agent, known, said)
            return known, growth.new
        day = session.messages[0].time[:10]
        there = set(session_ids(self._paths, agent))
        while True:
            stock.highest[day] += 1
            created = f"{day}_{stock.highest[day]:03d}"
            days = (f"{day}_{number:03d}" for number in range(1, stock.highest[day] + 1))
            gone = [one for one in days if one not in there]  # it may be one deleted by hand
            said = self._spared(agent, gone, session.messages)
            creation = Creation(self._rendered(agent, created, session, said))
            path = self._paths.session(agent, created)
            self._gate.save(path, creation.change, PERSON, "an import")
            if creation.done:
                stock.sources.setdefault(session.name, []).append(created)
                self._logged(agent, created, said)
                return created, len(said)

    def _rendered(
        self, agent: str, session_id: str, session: Conversation, said: Sequence[Message]
    ) -> str:
        meta = SessionMeta(
            id=session_id,
            agent=agent,
            started=said[0].time,
            ended=said[-1].time,
            state="ended",
            topics=(session.topic,) if session.topic else (),
            source=session.name,
            device=self._device,
        )
        return render_header(meta) + _callouts(said, 1)

    def _spared(
        self, agent: str, sessions: Sequence[str], messages: Sequence[Message]
    ) -> list[Message]:
        """Return the messages as they may be written: what was erased stays erased."""

        def erased(message: Message) -> bool:
            return any(self._erased(MessageRef(agent, one, "", message.id)) for one in sessions)

        return [replace(m, text="", erased=True) if erased(m) else m for m in messages]


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
        text += _callouts(new, number, before).replace("\n", file.newline)
        text = remove_property(text, "consolidated")  # what is new was not looked at yet
        try:
            return set_property(text, "ended", new[-1].time)
        except BadArgument:  # a person's front matter, broken: the messages count, not the date
            return text


def _callouts(messages: Sequence[Message], first: int, before: str = "") -> str:
    """Return messages as a session file holds them, with the block ids m<first> and on.

    Where they are of several days, or of others than the time `before` them, a date stands where
    a day begins.
    """
    day, text = before[:10], ""
    several = len({day, *(message.time[:10] for message in messages)} - {""}) > 1
    for number, message in enumerate(messages, first):
        if several and message.time[:10] not in ("", day):
            day = message.time[:10]
            text += DAY.format(day)
        text += render_message(replace(message, block=f"m{number}"))
    return text


def _masked(message: Message, redacted: set[str]) -> Message:
    """Return a message as it may be stored; the kinds of what it loses go to `redacted`."""
    text = mask(message.text)
    redacted.update(text.kinds)
    return replace(message, text=text.text, speaker=mask(message.speaker).text)


def _bytes(message: Message) -> int:
    return len(render_message(replace(message, block="m0000000")).encode()) + 2 * len(DAY)
